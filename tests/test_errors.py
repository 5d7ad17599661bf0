import numpy as np

from sottovoce.errors import MissingExtraError, SottovoceError, Words


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


def test_a_missing_extra_names_the_command():
    message = "Parquet needs pyarrow; install it with: pip install 'sottovoce[tables]'"
    assert str(MissingExtraError("Parquet", "pyarrow", "tables")) == message
