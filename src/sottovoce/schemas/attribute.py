"""Attributes: questions with a fixed list of answers, codes of their values, and joint cells by number."""

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import SottovoceError

Codes = NDArray[np.integer]
"""One column of a coded table: the number of a category for each row."""

Columns = tuple[Codes, ...]
"""A coded table, column by column."""

LARGEST_DOMAIN = 2**63 - 1
"""Joint cells are numbered by 64-bit integers."""
Label = str | int | bool
"""What a category may be called: kinds that mean the same in Python, JSON and every data frame."""


LARGEST_LABEL = 2**53
"""Beyond, some readers of JSON round integers."""

INTEGER = re.compile(r"-?(0|[1-9][0-9]*)")
"""Text that a whole number prints as; 007 is a name, not a number."""

Labels = Sequence[Any] | NDArray[Any]
"""Decoded values of a column."""


def narrow(codes: Codes, size: int) -> Codes:
    """Store codes below `size` in as few bytes as they need.

    >>> narrow(np.array([0, 1, 1]), 2).dtype
    dtype('uint8')
    """
    return codes.astype(np.min_scalar_type(size - 1), copy=False)


def ravel(columns: Sequence[Codes], sizes: Sequence[int]) -> NDArray[np.int64]:
    """Number of the joint cell of each row, computed row by row; the domain itself is never built.

    >>> ravel([np.array([0, 1]), np.array([2, 0])], (2, 3))
    array([2, 3])
    """
    check_domain(sizes)
    joint = np.zeros(len(columns[0]), np.int64)
    for codes, size in zip(columns, sizes, strict=True):
        joint *= size
        joint += codes.astype(np.int64, copy=False)
    return joint


def unravel(joint: Codes, sizes: Sequence[int]) -> Columns:
    """Codes of each attribute from the number of the joint cell: the inverse of `ravel`.

    >>> unravel(np.array([2, 3]), (2, 3))
    (array([0, 1], dtype=uint8), array([2, 0], dtype=uint8))
    """
    check_domain(sizes)
    columns = []
    for size in reversed(sizes):
        joint, codes = np.divmod(joint, size)
        columns.append(narrow(codes, size))
    return tuple(reversed(columns))


def check_domain(sizes: Sequence[int]) -> int:
    """Count the joint cells, refusing more than 64-bit integers can number."""
    cells = math.prod(sizes)
    if cells > LARGEST_DOMAIN:
        rule = f"must have at most 2^63 - 1 joint cells to be numbered; {len(sizes)} columns give"
        raise SottovoceError("sizes", f"{rule} about {float(cells):.2g}", tuple(sizes))
    return cells


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


@dataclass(frozen=True)
class Attribute(Variable):
    """A name and at least two categories; `missing` names the category that stands for no answer.

    >>> drug = Attribute("drug", ["never", "once", "often"])
    >>> drug.encode(["often", "never"])
    (array([2, 0], dtype=uint8),)
    >>> drug.encode(["sometimes"])
    Traceback (most recent call last):
    ...
    sottovoce.errors.SottovoceError: drug must be one of its categories (never, once, often). Got 'sometimes' instead.
    >>> Attribute("drug", ["never", "often", "no answer"], missing="no answer").encode([None])
    (array([2], dtype=uint8),)
    """

    kind = "categories"

    name: str
    categories: tuple[Label, ...]
    missing: Label | None = None

    def __init__(self, name: str, categories: Iterable[Any], *, missing: Any = None) -> None:
        """Check the name, the labels and the category for missing values."""
        labels = checked_labels("categories", categories, at_least=2)
        object.__setattr__(self, "name", checked_name(name))
        object.__setattr__(self, "categories", labels)
        object.__setattr__(self, "missing", checked_missing(missing, labels))

    @property
    def sizes(self) -> tuple[int, ...]:
        """One column, with one code for each category."""
        return (len(self.categories),)

    def encode(self, values: Iterable[Any]) -> Columns:
        """Look up each label, or its text, as a CSV file would hold it."""
        plain = values.tolist() if isinstance(values, np.ndarray) else list(values)
        codes = [self._code(value) for value in plain]
        return (narrow(np.array(codes, np.int64), len(self.categories)),)

    def decode(self, columns: Columns) -> NDArray[Any]:
        """Labels, as an array of the kind they are."""
        return self._labels[columns[0]]

    def as_report(self) -> "Attribute":
        """Reports of a category are categories; none of them is missing."""
        return Attribute(self.name, self.categories)

    def to_json(self) -> dict[str, Any]:
        """Name and categories, and the missing one where there is one."""
        json: dict[str, Any] = {"kind": self.kind, "name": self.name, "categories": list(self.categories)}
        return json if self.missing is None else json | {"missing": self.missing}

    @classmethod
    def from_json(cls, json: dict[str, Any]) -> "Attribute":
        """Read what `to_json` wrote."""
        return cls(json["name"], json["categories"], missing=json.get("missing"))

    @cached_property
    def _codes(self) -> dict[Any, int]:
        return label_codes(self.categories)

    @cached_property
    def _labels(self) -> NDArray[Any]:
        return label_array(self.categories)

    def _code(self, value: Any) -> int:
        if is_missing(value):
            return self._codes[missing_label(self.name, self.missing, value)]
        return look_up(self.name, self._codes, self.categories, value)


def boolean(name: str) -> Attribute:
    """Make a yes/no attribute whose labels are False and True.

    >>> boolean("convicted").categories
    (False, True)
    """
    return Attribute(name, (False, True))


def checked_missing(missing: Any, categories: Sequence[Label]) -> Label | None:
    """Label for missing values: one of the categories, or none."""
    if missing is not None and missing not in categories:
        raise SottovoceError("missing", f"must be one of the categories {tuple(categories)}", missing)
    label: Label | None = missing
    return label


def missing_label(name: str, missing: Label | None, value: Any) -> Label:
    """Category that stands for a missing value; without one, missing values are refused."""
    if missing is None:
        rule = "must not be missing (give the attribute a category for it with `missing=`)"
        raise SottovoceError(name, rule, value)
    return missing


def label_array(labels: Sequence[Label]) -> NDArray[Any]:
    """Labels as an array from which codes pick: integers and booleans typed, text as objects."""
    return np.array(labels, dtype=object if isinstance(labels[0], str) else None)


def with_not_asked(variable: Variable) -> Attribute:
    """An attribute of reports with one more category at the end, for answers that were not asked for.

    >>> with_not_asked(Attribute("children", [0, 1, 2])).categories
    ('0', '1', '2', 'not asked')
    """
    if not isinstance(variable, Attribute):
        raise SottovoceError(variable.name, "must have categories for it to be left out", variable.kind)
    label = "not asked"
    labels = [str(category) for category in variable.categories]
    while label in labels:
        label += "*"
    return Attribute(variable.name, [*labels, label])
