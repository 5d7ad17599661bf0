"""A categorical attribute: a question with a fixed list of answers."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import SottovoceError
from sottovoce.schema.cells import Columns, narrow
from sottovoce.schema.variable import (
    Label,
    Variable,
    checked_labels,
    checked_name,
    is_missing,
    label_codes,
    look_up,
)


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
