"""Frames of the libraries there are."""

import sys

import pytest

from sottovoce.errors import SottovoceError
from sottovoce.estimate.rows import new_frame


def test_a_library_that_is_not_installed_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(
        SottovoceError, match=r"^backend must be the name of a library that is installed\. Got 'polars'"
    ):
        new_frame({"a": [1]}, "polars")
