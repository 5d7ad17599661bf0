"""Frames of the libraries there are."""

import pytest

from sottovoce.errors import SottovoceError
from sottovoce.estimates import presentation


def test_a_library_that_is_not_installed_is_named(monkeypatch):
    def missing(columns, backend):
        raise ModuleNotFoundError(backend)

    monkeypatch.setattr(presentation.nw, "from_dict", missing)
    with pytest.raises(
        SottovoceError, match=r"^backend must be the name of a library that is installed\. Got 'polars'"
    ):
        presentation.new_frame({"a": [1]}, "polars")
