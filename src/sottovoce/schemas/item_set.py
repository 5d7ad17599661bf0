"""A set of items out of a known universe: a market basket, or a question with several answers."""

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
)

SEPARATOR = ";"
"""Between the items of a set where it is written as one text, as in a CSV file."""


@dataclass(frozen=True)
class ItemSet(Variable):
    """A name and a universe of items; a value is any collection of them, coded as one bit an item.

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
        """Check the name and the universe."""
        universe = checked_labels("items", items, at_least=1)
        clash = [item for item in universe if SEPARATOR in str(item)]
        if clash:
            raise SottovoceError("items", f"must not contain {SEPARATOR!r}, which separates items", clash[0])
        object.__setattr__(self, "name", checked_name(name))
        object.__setattr__(self, "items", universe)

    @property
    def sizes(self) -> tuple[int, ...]:
        """One column of bits for each item."""
        return (2,) * len(self.items)

    def encode(self, values: Iterable[Any]) -> Columns:
        """Set the bits of the items in each set; an item outside the universe is refused."""
        starts, members = self.listed(values)
        bits = np.zeros((len(self.items), len(starts) - 1), np.uint8)
        bits[members, np.repeat(np.arange(len(starts) - 1), np.diff(starts))] = 1
        return tuple(bits)

    def decode(self, columns: Columns) -> list[list[Any]]:
        """List the items of each set, in the order of the universe."""
        rows, members = np.nonzero(np.stack(columns, axis=1))
        return self.labelled(np.searchsorted(rows, np.arange(len(columns[0]) + 1)), members)

    def listed(self, values: Iterable[Any]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Where each set starts and ends among the items of them all, by number, as they are given.

        >>> ItemSet("symptoms", ["cough", "fever", "rash"]).listed([["rash", "fever"], [], "cough"])
        (array([0, 2, 2, 3]), array([2, 1, 0], dtype=int32))
        """
        sets = [self._collection(value) for value in values]
        starts = np.cumsum([0, *map(len, sets)], dtype=np.int64)
        try:
            members = np.fromiter(map(self._codes.__getitem__, chain.from_iterable(sets)), np.int32, starts[-1])
        except (KeyError, TypeError):  # once more, to say which one it was
            members = np.array([look_up(self.name, self._codes, self.items, i) for i in chain.from_iterable(sets)])
        return starts, members

    def labelled(self, starts: NDArray[Any], members: NDArray[Any]) -> list[list[Any]]:
        """Items of each set by name: what `listed` was given.

        >>> ItemSet("symptoms", ["cough", "fever", "rash"]).labelled(np.array([0, 2, 2]), np.array([2, 1]))
        [['rash', 'fever'], []]
        """
        named = self._labels[members].tolist()
        return [named[start:end] for start, end in pairwise(starts.tolist())]

    def as_report(self) -> "ItemSet":
        """Reports are sets over the same universe."""
        return self

    def to_json(self) -> dict[str, Any]:
        """Name and universe."""
        return {"kind": self.kind, "name": self.name, "items": list(self.items)}

    @classmethod
    def from_json(cls, json: dict[str, Any]) -> "ItemSet":
        """Read what `to_json` wrote."""
        return cls(json["name"], json["items"])

    @cached_property
    def _codes(self) -> dict[Any, int]:
        return label_codes(self.items)

    @cached_property
    def _labels(self) -> Any:
        return label_array(self.items)

    def _collection(self, value: Any) -> Collection[Any]:
        if isinstance(value, list):  # most are; the others take longer to tell
            return value
        if isinstance(value, str):
            return value.split(SEPARATOR) if value else []
        if is_missing(value) or not isinstance(value, Iterable):
            raise SottovoceError(self.name, "must be a collection of items, empty if there are none", value)
        return value if isinstance(value, Collection) else list(value)


def category_set(variable: Variable) -> ItemSet:
    """Sets of an attribute's categories, under the attribute's name.

    >>> category_set(Attribute("drug", ["no", "yes"])).items
    ('no', 'yes')
    """
    report = variable.as_report()
    if not isinstance(report, Attribute):
        raise SottovoceError(variable.name, "must have categories for a set of them to be reported", variable.kind)
    return ItemSet(variable.name, report.categories)
