"""An audit over HTTPS: a stranger, a local authority, and Debian's nginx or Caddy as `deploy/` configures them."""

import socket

import pytest

from sottovoce.surveys.blind_rsa import SecretKey
from sottovoce.surveys.collect.store import Store
from sottovoce.surveys.definition.definition import survey_from_text
from sottovoce.surveys.links import Link
from tests.surveys.audit.dishonest import INVITED
from tests.surveys.audit.test_outside_audit import SHORT
from tests.surveys.browser.conftest import KEY, Site
from tests.surveys.proxies import HOST, Authority, free_port, proxy, servers

pytestmark = pytest.mark.slow


@pytest.fixture
def site(tmp_path, monkeypatch, request):
    """A survey with invitations behind a proxy, at a name that leads to this machine, and the proxy's authority."""
    for each in (tmp_path, *tmp_path.parents[:2]):
        each.chmod(0o755)  # nginx's workers are another user
    authority, port, database = Authority(tmp_path), free_port(), tmp_path / "surveys.db"
    resolve = socket.getaddrinfo
    monkeypatch.setattr(
        socket, "getaddrinfo", lambda host, *rest, **more: resolve("127.0.0.1" if host == HOST else host, *rest, **more)
    )
    monkeypatch.setattr(SecretKey, "generate", lambda: KEY)
    store = Store(str(database))
    survey = store.freeze(survey_from_text(INVITED))
    store.close()
    with (
        servers(1, str(database), tmp_path, f"https://{HOST}:{port}", "--respondents-only") as behind,
        proxy(request.param, tmp_path, authority, port, 2 * behind.ports) as front,
    ):
        yield Site(front.address, survey, database, None), authority


@pytest.mark.parametrize("site", ["nginx", "caddy"], indirect=True)
def test_an_honest_survey_over_https(site, audit, monkeypatch):
    """All of it passes two proxies: the audit's, which checks the certificate, and the survey's."""
    served, authority = site
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.folder / "ca.pem"))
    result = audit(served, 8, effort=SHORT)
    assert result.passed, result
    assert result.address.startswith(f"https://{HOST}:")
    assert served.reports() == []


@pytest.mark.parametrize("site", ["nginx"], indirect=True)
def test_a_certificate_of_an_unknown_authority(site, audit):
    served, _ = site
    with pytest.raises(ValueError, match="certificate"):
        audit(served, 8, effort=SHORT, invitation=str(Link(served.address, served.survey.hash, "x" * 22)))
