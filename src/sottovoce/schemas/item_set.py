"""Sets of items out of a fixed universe: market baskets, or questions with several answers."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import SottovoceError
from sottovoce.schemas.attribute import (
    Attribute,
    Columns,
    Label,
    Variable,
    checked_labels,
    checked_name,
    is_missing,
    label_array,
    label_codes,
    look_up,
    warn_of_white_space,
)

SEPARATOR = ";"
"""Separates the items of a set that is written as one text, as in a CSV file."""


@dataclass(frozen=True)
class ItemSet(Variable):
    """A name and a universe of items; a value is a collection of items, coded as one bit for each item.

    >>> symptoms = ItemSet("symptoms", ["cough", "fever", "rash"])
    >>> symptoms.encode([["fever"], [], "cough;rash"])
    (array([0, 0, 1], dtype=uint8), array([1, 0, 0], dtype=uint8), array([0, 0, 1], dtype=uint8))
    >>> symptoms.decode(symptoms.encode([["rash", "cough"]]))
    [['cough', 'rash']]
    """

    kind = "items"

    name: str
    items: tuple[Label, ...]

    def __init__(self, name: str, items: Iterable[Any]) -> None:
        """Check the name and the items."""
        self._set_fields(name, items)
        warn_of_white_space(self.name, self.items)

    @classmethod
    def trusted(cls, name: str, items: Iterable[Any]) -> "ItemSet":
        """Item set from a stored document or from other variables: checked, but without warnings."""
        item_set = cls.__new__(cls)
        item_set._set_fields(name, items)
        return item_set

    def _set_fields(self, name: str, items: Iterable[Any]) -> None:
        object.__setattr__(self, "name", checked_name(name))
        object.__setattr__(self, "items", checked_labels("items", items, at_least=1))
        ambiguous = [item for item in self.items if SEPARATOR in str(item)]
        if ambiguous:
            raise SottovoceError("items", f"must not contain {SEPARATOR!r}, which separates items", ambiguous[0])

    @property
    def sizes(self) -> tuple[int, ...]:
        """One column of bits for each item."""
        return (2,) * len(self.items)

    def encode(self, values: Iterable[Any]) -> Columns:
        """Bits of the items of each set; an item outside the universe is an error."""
        starts, members = self.encode_sparse(values)
        bits = np.zeros((len(self.items), len(starts) - 1), np.uint8)
        bits[members, np.repeat(np.arange(len(starts) - 1), np.diff(starts))] = 1
        return tuple(bits)

    def decode(self, columns: Columns) -> list[list[Any]]:
        """Items of each set, in the order of the universe."""
        rows, members = np.nonzero(np.stack(columns, axis=1))
        return self.decode_sparse(np.searchsorted(rows, np.arange(len(columns[0]) + 1)), members)

    def encode_sparse(self, values: Iterable[Any]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Offsets of the sets and the codes of their items, in the order given: the rows of a CSR matrix.

        >>> ItemSet("symptoms", ["cough", "fever", "rash"]).encode_sparse([["rash", "fever"], [], "cough"])
        (array([0, 2, 2, 3]), array([2, 1, 0], dtype=int32))
        """
        sets = [self._collection(value) for value in values]
        starts = np.cumsum([0, *map(len, sets)], dtype=np.int64)
        try:
            members = np.fromiter(map(self._codes.__getitem__, chain.from_iterable(sets)), np.int32, starts[-1])
        except (KeyError, TypeError):  # slower, but the error names the item
            members = np.array([look_up(self.name, self._codes, self.items, i) for i in chain.from_iterable(sets)])
        return starts, members

    def decode_sparse(self, starts: NDArray[Any], members: NDArray[Any]) -> list[list[Any]]:
        """Items of each set from offsets and codes: the inverse of `encode_sparse`.

        >>> ItemSet("symptoms", ["cough", "fever", "rash"]).decode_sparse(np.array([0, 2, 2]), np.array([2, 1]))
        [['rash', 'fever'], []]
        """
        labels = self._labels[members].tolist()
        return [labels[start:end] for start, end in pairwise(starts.tolist())]

    def as_report(self) -> "ItemSet":
        """Item set over the same universe."""
        return self

    def to_json(self) -> dict[str, Any]:
        """Name and items."""
        return {"kind": self.kind, "name": self.name, "items": list(self.items)}

    @classmethod
    def from_json(cls, json: dict[str, Any]) -> "ItemSet":
        """Read what `to_json` wrote."""
        return cls.trusted(json["name"], json["items"])

    @cached_property
    def _codes(self) -> dict[Any, int]:
        return label_codes(self.items)

    @cached_property
    def _labels(self) -> Any:
        return label_array(self.items)

    def _collection(self, value: Any) -> Collection[Any]:
        if isinstance(value, list):  # the usual case first: the checks below are slower
            return value
        if isinstance(value, str):
            return value.split(SEPARATOR) if value else []
        if is_missing(value) or not isinstance(value, Iterable):
            raise SottovoceError(self.name, "must be a collection of items, empty if there are none", value)
        return value if isinstance(value, Collection) else list(value)


def category_set(variable: Variable) -> ItemSet:
    """Item set whose items are an attribute's categories, under the attribute's name.

    >>> category_set(Attribute("drug", ["no", "yes"])).items
    ('no', 'yes')
    """
    report = variable.as_report()
    if not isinstance(report, Attribute):
        raise SottovoceError(variable.name, "must have categories for a set of them to be reported", variable.kind)
    return ItemSet.trusted(variable.name, report.categories)
