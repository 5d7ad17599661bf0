"""Audits of sites that tests serve."""

import os
import shutil

import pytest

from sottovoce.surveys.audit.run import Effort, outside_audit


@pytest.fixture(scope="session")
def installed():
    """Where everything must be there, the absence of Chromium is a failure."""
    if shutil.which("chromium") is None:
        assert os.environ.get("CI") != "true", "chromium must be installed"
        pytest.skip("chromium is not installed")


@pytest.fixture
def audit(installed):
    """Audit a site, with a new invitation if it needs one, and with less effort than usual unless told otherwise."""

    def run(site, walks=10, *, effort=None, **options):
        if site.survey.invitation == "single" and "invitation" not in options:
            (options["invitation"],) = site.invite()
        effort = Effort(walks, **({"seed": 1, "edges": 4, "twins": 2, "retries": 1} | (effort or {})))
        return outside_audit(site.link(), effort=effort, **options)

    return run
