"""Attributes with a fixed list of categories, the codes of their values, and the numbering of joint cells.

A *code* is the index of a category. A *joint cell* is a combination of categories of several attributes; its number is
the row-major index of the combination (`ravel`).
"""

import math
import re
import warnings
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import SottovoceError, SottovoceWarning

Codes = NDArray[np.integer]
"""One column of a coded table: the code of each row."""

Columns = tuple[Codes, ...]
"""A coded table, column by column."""

Label = str | int | bool
"""Types of category labels: those that mean the same in Python, in JSON and in every data frame."""

Labels = Sequence[Any] | NDArray[Any]
"""Decoded values of a column."""

LARGEST_DOMAIN = 2**63 - 1
"""Joint cells are numbered by 64-bit integers."""

LARGEST_LABEL = 2**53
"""Some JSON readers round larger integers."""

LONGEST_TABLE = 2**20
"""Most integers in a table that gives the code of each."""

INTEGER = re.compile(r"-?(0|[1-9][0-9]*)")
"""Text that an integer prints as; 007 is a name, not a number."""


def narrow(codes: Codes, size: int) -> Codes:
    """Convert codes below `size` to the smallest unsigned integer type that holds them.

    >>> narrow(np.array([0, 1, 1]), 2).dtype
    dtype('uint8')
    """
    return codes.astype(np.min_scalar_type(size - 1), copy=False)


def ravel(columns: Sequence[Codes], sizes: Sequence[int]) -> NDArray[np.int64]:
    """Number of each row's joint cell; the domain itself is never built.

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
    """Codes of each attribute from the numbers of joint cells: the inverse of `ravel`.

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
    """Number of joint cells; an error if 64-bit integers cannot number them."""
    cells = math.prod(sizes)
    if cells > LARGEST_DOMAIN:
        rule = f"must have at most 2^63 - 1 joint cells to be numbered; {len(sizes)} columns give"
        raise SottovoceError("sizes", f"{rule} about {float(cells):.2g}", tuple(sizes))
    return cells


class Variable(ABC):
    """A variable of a schema: one column of a table of truths or of reports. Immutable."""

    kind: ClassVar[str]
    name: str

    @property
    @abstractmethod
    def sizes(self) -> tuple[int, ...]:
        """Number of categories of each coded column of this variable."""

    @abstractmethod
    def encode(self, values: Iterable[Any]) -> Columns:
        """Codes of the values; an unknown or missing value is an error that names it."""

    @abstractmethod
    def decode(self, columns: Columns) -> Labels:
        """Labels of the codes."""

    @abstractmethod
    def as_report(self) -> "Variable":
        """Variable that describes the reports, if they have the categories of the truth."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """Plain JSON, without numbers that other languages might read differently."""


def is_missing(value: object) -> bool:
    """Whether a value is None, NaN or pandas' NA or NaT.

    >>> [is_missing(v) for v in (None, float("nan"), "", 0)]
    [True, True, False, False]
    """
    if isinstance(value, float | np.floating):
        return bool(np.isnan(value))
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def checked_name(name: object) -> str:
    """Return a variable's name, which must be text that is not empty."""
    if isinstance(name, str) and name:
        return name
    rule = "must be a text that is not empty"
    if isinstance(name, int | np.integer):
        rule += "; rename columns whose names are numbers"
    elif isinstance(name, Iterable) and not isinstance(name, str):
        rule += ", given before the list of categories, items or edges"
    raise SottovoceError("name", rule, name)


def checked_labels(parameter: str, labels: Iterable[Any], at_least: int) -> tuple[Label, ...]:
    """Return labels as plain Python values; they must all be text, all integers or all booleans, and differ."""
    if isinstance(labels, str) or not isinstance(labels, Iterable):
        raise SottovoceError(parameter, "must be a list of labels, such as ['no', 'yes']", labels)
    plain = tuple(v.item() if isinstance(v, np.generic) else v for v in labels)
    kinds = {type(v) for v in plain}
    if len(kinds) > 1 or not kinds <= {str, int, bool}:
        raise SottovoceError(parameter, "must be all text, all integers or all booleans", plain)
    if any(isinstance(v, int) and abs(v) > LARGEST_LABEL for v in plain):
        raise SottovoceError(parameter, "must be at most 2^53 in size, which every JSON reader reads exactly", plain)
    repeated = sorted({str(v) for v in plain if plain.count(v) > 1}) if len(set(plain)) < len(plain) else []
    if repeated:
        raise SottovoceError(parameter, f"must differ; {', '.join(repeated)} is repeated", plain)
    if len(plain) < at_least:
        raise SottovoceError(parameter, f"must be at least {at_least}", plain)
    return plain


def warn_of_white_space(name: str, labels: Sequence[Label]) -> None:
    """Warn of labels that differ only in white space at their ends, as " yes" and "yes" of an untidy file do."""
    first: dict[str, Label] = {}
    for label in labels:
        if isinstance(label, str) and (other := first.setdefault(label.strip(), label)) != label:
            differing = f"{other!r} and {label!r}, which differ only in white space at their ends"
            remedy = "Strip the values of this column if both mean the same."
            warnings.warn(f"{name} has the labels {differing}. {remedy}", SottovoceWarning, stacklevel=3)


def label_codes(labels: Sequence[Label]) -> dict[Hashable, int]:
    """Code of each label, of the label as text in a CSV file, and of the number that such text stands for.

    >>> label_codes([1, 2]) == label_codes(["1", "2"])
    True
    """
    codes: dict[Hashable, int] = {}
    for code, label in enumerate(labels):
        for form in (label, *_other_forms(str(label))):
            codes.setdefault(form, code)
    return codes


def _other_forms(text: str) -> tuple[Label, ...]:
    """Other forms in which a table may hold a label that prints as this text."""
    if text in ("True", "False"):
        return (text, text.lower(), text.upper(), text == "True")
    return (text, int(text)) if INTEGER.fullmatch(text) else (text,)


def look_up(parameter: str, codes: Mapping[Hashable, int], labels: Sequence[Label], value: Any) -> int:
    """Code of one value, or an error that lists the categories."""
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
    """A categorical question: a name and at least two categories.

    `missing` names the category that missing values are coded as; without it they are refused.

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
        """Check the name, the categories and the category of missing values."""
        self._set_fields(name, categories, missing)
        warn_of_white_space(self.name, self.categories)

    @classmethod
    def trusted(cls, name: str, categories: Iterable[Any], missing: Any = None) -> "Attribute":
        """Attribute from a stored document or from another attribute: checked, but without warnings."""
        attribute = cls.__new__(cls)
        attribute._set_fields(name, categories, missing)
        return attribute

    def _set_fields(self, name: str, categories: Iterable[Any], missing: Any) -> None:
        object.__setattr__(self, "name", checked_name(name))
        object.__setattr__(self, "categories", checked_labels("categories", categories, at_least=2))
        object.__setattr__(self, "missing", checked_missing(missing, self.categories))

    @property
    def sizes(self) -> tuple[int, ...]:
        """One column, with a code for each category."""
        return (len(self.categories),)

    def encode(self, values: Iterable[Any]) -> Columns:
        """Codes of labels, or of labels as text in a CSV file."""
        plain = values if isinstance(values, np.ndarray) else list(values)
        codes = self.find(plain)
        if codes is None:
            listed = plain.tolist() if isinstance(plain, np.ndarray) else plain
            codes = narrow(np.array([self._code(value) for value in listed], np.int64), len(self.categories))
        return (codes,)

    def find(self, values: list[Any] | NDArray[Any]) -> Codes | None:
        """Codes of values as `encode` gives them, fast; None if one is refused, or must be looked at, as NaN.

        >>> drug = Attribute("drug", ["never", "once"])
        >>> drug.find(["once", "never"]), drug.find(["once", "daily"])
        (array([1, 0], dtype=uint8), None)
        """
        listed = values.tolist() if isinstance(values, np.ndarray) else values
        try:
            codes = map(self._forms.__getitem__, listed)
            if len(self.categories) <= 256:
                return np.frombuffer(bytearray(codes), np.uint8)  # faster than numpy makes an array of integers
            return narrow(np.fromiter(codes, np.int64, len(listed)), len(self.categories))
        except (KeyError, TypeError):
            return None

    def code_table(self, labels: Iterable[Hashable]) -> Codes:
        """Codes of labels as `encode` gives them, and the number of categories for a label that it refuses.

        >>> Attribute("drug", ["never", "once"]).code_table(["once", "daily", None])
        array([1, 2, 2], dtype=uint8)
        """
        size = len(self.categories)
        return narrow(np.array([self._forms.get(label, size) for label in labels], np.int64), size + 1)

    def decode(self, columns: Columns) -> NDArray[Any]:
        """Labels of the codes, as an array of text, integers or booleans."""
        return self._labels.take(columns[0])

    def as_report(self) -> "Attribute":
        """The same categories; a report is never missing."""
        return Attribute.trusted(self.name, self.categories)

    def to_json(self) -> dict[str, Any]:
        """Name, categories and, if given, the category of missing values."""
        json: dict[str, Any] = {"kind": self.kind, "name": self.name, "categories": list(self.categories)}
        return json if self.missing is None else json | {"missing": self.missing}

    @classmethod
    def from_json(cls, json: dict[str, Any]) -> "Attribute":
        """Read what `to_json` wrote."""
        return cls.trusted(json["name"], json["categories"], json.get("missing"))

    @cached_property
    def _codes(self) -> dict[Any, int]:
        return label_codes(self.categories)

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """All text that stands for a label, in files, too."""
        return tuple(form for form in self._codes if isinstance(form, str))

    @cached_property
    def _forms(self) -> dict[Any, int]:
        """Code of each form of each label, and of None if it has one."""
        return self._codes if self.missing is None else self._codes | {None: self._codes[self.missing]}

    @cached_property
    def _labels(self) -> NDArray[Any]:
        return label_array(self.categories)

    @cached_property
    def integer_table(self) -> tuple[int, Codes]:
        """Smallest integer that has a code, and the `code_table` of all up to the largest; empty if they lie far apart.

        >>> Attribute("children", [0, 1, 2, 4]).integer_table
        (0, array([0, 1, 2, 4, 3], dtype=uint8))
        """
        integers = sorted(int(form) for form in self._codes if isinstance(form, int))
        if not integers or integers[-1] - integers[0] >= LONGEST_TABLE:
            return 0, self.code_table([])
        return integers[0], self.code_table(range(integers[0], integers[-1] + 1))

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
    """Return the category of missing values, which must be one of the categories or None."""
    if missing is not None and missing not in categories:
        raise SottovoceError("missing", f"must be one of the categories {tuple(categories)}", missing)
    label: Label | None = missing
    return label


def missing_label(name: str, missing: Label | None, value: Any) -> Label:
    """Return the category of missing values, or raise an error if there is none."""
    if missing is None:
        rule = "must not be missing (give the attribute a category for it with `missing=`)"
        raise SottovoceError(name, rule, value)
    return missing


def label_array(labels: Sequence[Label]) -> NDArray[Any]:
    """Labels as an array that codes index: integers and booleans typed, text as objects."""
    return np.array(labels, dtype=object if isinstance(labels[0], str) else None)


def with_not_asked(variable: Variable) -> Attribute:
    """Attribute with a last category "not asked" added, for reports that leave the attribute out.

    >>> with_not_asked(Attribute("children", [0, 1, 2])).categories
    ('0', '1', '2', 'not asked')
    """
    if not isinstance(variable, Attribute):
        raise SottovoceError(variable.name, "must have categories, for one more to say 'not asked'", variable.kind)
    label = "not asked"
    labels = [str(category) for category in variable.categories]
    while label in labels:
        label += "*"
    return Attribute.trusted(variable.name, [*labels, label])


def check_codes(columns: Sequence[Codes], sizes: Sequence[int]) -> None:
    """Refuse codes outside the range of their attribute: compiled loops would read beyond their tables.

    >>> check_codes([np.array([0, 1, 2])], (3,))
    """
    for codes, size in zip(columns, sizes, strict=True):
        ends = (codes.min().item(), codes.max().item()) if len(codes) else (0, 0)
        if ends[0] < 0 or ends[1] >= size:
            raise SottovoceError("codes", f"must be whole numbers from 0 to {size - 1}", ends)
