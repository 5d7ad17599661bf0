"""The public face: lazy, complete, and no name that hides a room."""

import subprocess
import sys
from pkgutil import iter_modules

import pytest

import sottovoce


def test_every_public_name_is_there_and_documented():
    for name in sottovoce.__all__:
        assert (getattr(sottovoce, name).__doc__ or "").strip(), name
    assert set(sottovoce.__all__) <= set(dir(sottovoce))
    assert set(sottovoce.__all__) == set(sottovoce._HOMES)


def test_no_public_name_is_a_rooms_name():
    rooms = {module.name for module in iter_modules(sottovoce.__path__)}
    assert not rooms & set(sottovoce.__all__)


def test_unknown_names_are_refused():
    with pytest.raises(AttributeError, match="has no attribute 'magic'"):
        sottovoce.magic  # noqa: B018


def test_importing_the_package_loads_nothing_heavy():
    script = "import sys, sottovoce; assert 'numpy' not in sys.modules"
    subprocess.run([sys.executable, "-c", script], check=True)
