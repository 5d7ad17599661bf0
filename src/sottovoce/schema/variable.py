"""What every kind of attribute can do: name itself, code values as integers, give labels back."""

import re
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import SottovoceError
from sottovoce.schema.cells import Columns

Label = str | int | bool
"""What a category may be called: kinds that mean the same in Python, JSON and every data frame."""


LARGEST_LABEL = 2**53
"""Beyond, some readers of JSON round integers."""

INTEGER = re.compile(r"-?(0|[1-9][0-9]*)")
"""Text that a whole number prints as; 007 is a name, not a number."""

Labels = Sequence[Any] | NDArray[Any]
"""Decoded values of a column."""


class Variable(ABC):
    """One column of a table of truths, or of reports: a frozen value."""

    kind: ClassVar[str]
    name: str

    @property
    @abstractmethod
    def sizes(self) -> tuple[int, ...]:
        """Number of categories of each coded column that this variable occupies."""

    @abstractmethod
    def encode(self, values: Iterable[Any]) -> Columns:
        """Codes of these values; an unknown or missing value is an error that names it."""

    @abstractmethod
    def decode(self, columns: Columns) -> Labels:
        """Labels of these codes."""

    @abstractmethod
    def as_report(self) -> "Variable":
        """Variable whose values are this one's disguises."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """Plain JSON, without numbers that some language would read differently."""


def is_missing(value: object) -> bool:
    """Whether a value is one of the ways to write "nothing here".

    >>> [is_missing(v) for v in (None, float("nan"), "", 0)]
    [True, True, False, False]
    """
    if isinstance(value, float | np.floating):
        return bool(np.isnan(value))
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def checked_name(name: object) -> str:
    """A variable's name: text that is not empty."""
    if not isinstance(name, str) or not name:
        raise SottovoceError("name", "must be a text that is not empty", name)
    return name


def checked_labels(parameter: str, labels: Iterable[Any], at_least: int) -> tuple[Label, ...]:
    """Labels of one kind (text, integers or booleans) that differ, also when written as text."""
    plain = tuple(v.item() if isinstance(v, np.generic) else v for v in labels)
    kinds = {type(v) for v in plain}
    if len(kinds) > 1 or not kinds <= {str, int, bool}:
        raise SottovoceError(parameter, "must be all text, all integers or all booleans", plain)
    if any(isinstance(v, int) and abs(v) > LARGEST_LABEL for v in plain):
        raise SottovoceError(parameter, "must be at most 2^53 in size, for every language to read them alike", plain)
    repeated = sorted({str(v) for v in plain if plain.count(v) > 1}) if len(set(plain)) < len(plain) else []
    if repeated:
        raise SottovoceError(parameter, f"must differ; {', '.join(repeated)} is repeated", plain)
    if len(plain) < at_least:
        raise SottovoceError(parameter, f"must be at least {at_least}", plain)
    return plain


def label_codes(labels: Sequence[Label]) -> dict[Hashable, int]:
    """Code of each label, of its text as a CSV file would hold it, and of the number its text stands for.

    >>> label_codes([1, 2]) == label_codes(["1", "2"])
    True
    """
    codes: dict[Hashable, int] = {}
    for code, label in enumerate(labels):
        for form in (label, *_other_forms(str(label))):
            codes.setdefault(form, code)
    return codes


def _other_forms(text: str) -> tuple[Label, ...]:
    """How else a table may hold a label that is written so."""
    if text in ("True", "False"):
        return (text, text.lower(), text.upper(), text == "True")
    return (text, int(text)) if INTEGER.fullmatch(text) else (text,)


def look_up(parameter: str, codes: Mapping[Hashable, int], labels: Sequence[Label], value: Any) -> int:
    """Code of one value, or an error that names what would have been allowed."""
    try:
        return codes[value]
    except (KeyError, TypeError):
        allowed = ", ".join(map(str, labels))
        rule = f"must be one of its categories ({_shortened(allowed)})"
        raise SottovoceError(parameter, rule, value) from None


def _shortened(text: str, longest: int = 160) -> str:
    return text if len(text) <= longest else text[: longest - 4] + " ..."
