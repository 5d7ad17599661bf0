import sys

import numpy as np
import pytest

from sottovoce.errors import MissingExtraError, SottovoceError, SottovoceWarning, Words, check_installed, file_errors


def test_messages_name_parameter_rule_and_value():
    error = SottovoceError("keep", "must be between 0 and 1", 1.2)
    assert str(error) == "keep must be between 0 and 1. Got 1.2 instead."
    assert (error.parameter, error.rule, error.value) == ("keep", "must be between 0 and 1", 1.2)


def test_numpy_numbers_are_shown_as_numbers():
    assert "Got 1.5 instead" in str(SottovoceError("p", "must be small", np.float64(1.5)))


def test_long_values_are_shortened():
    assert len(str(SottovoceError("values", "must be few", list(range(10_000))))) < 200


def test_words_are_shown_without_quotation_marks():
    assert str(SottovoceError("table", "must have rows", Words("none"))) == "table must have rows. Got none instead."


def test_warnings_are_no_errors_and_can_be_filtered():
    assert issubclass(SottovoceWarning, UserWarning)
    assert not issubclass(SottovoceWarning, SottovoceError)


def test_a_missing_extra_names_the_command():
    message = "Parquet needs pyarrow; install it with: pip install 'sottovoce[tables]'"
    assert str(MissingExtraError("Parquet", "pyarrow", "tables")) == message


@pytest.mark.parametrize("module", ["no_such_library", "no_such_library.part"])
def test_a_module_that_is_not_installed_is_named_by_its_library(module):
    check_installed("a test", "survey", "json", "importlib.util")
    with pytest.raises(MissingExtraError, match=r"^a test needs no_such_library; .*'sottovoce\[survey\]'"):
        check_installed("a test", "survey", "json", module)


def test_libraries_are_called_as_they_are_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(MissingExtraError, match=r"^a test needs scikit-learn"):
        check_installed("a test", "mine", "sklearn")


@pytest.mark.parametrize(
    ("reason", "name"),
    [
        (OSError(28, "No space left on device"), "reports.csv"),
        (OSError(2, "No such file", "other.csv"), "other.csv"),
        (OSError("Not a Parquet file"), None),
    ],
)
def test_file_errors_name_the_file_unless_they_name_one(reason, name):
    with pytest.raises(OSError, match=reason.strerror or str(reason)) as caught, file_errors("reports.csv"):
        raise reason
    assert caught.value.filename == name


def test_numbers_too_long_to_write_out_are_described():
    assert str(SottovoceError("weight", "must be small", 2**20_000)).endswith(
        "Got a whole number of 20001 bits instead."
    )
