"""Numbers reported in bins, each closed on a stated side."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import SottovoceError
from sottovoce.schemas.attribute import (
    Attribute,
    Columns,
    Label,
    Variable,
    checked_labels,
    checked_missing,
    checked_name,
    label_array,
    missing_label,
    narrow,
)

Side = Literal["left", "right"]


@dataclass(frozen=True)
class Binned(Variable):
    """Numbers cut at `edges` into bins closed on one side: [20, 40) if "left", (20, 40] if "right".

    The outermost edges may be infinite; a number outside them is refused. Missing values go to
    the category `missing`, which is added to the bins, or are refused.

    >>> age = Binned("age", [18, 40, 65, float("inf")], closed="left")
    >>> age.categories
    ('[18, 40)', '[40, 65)', '[65, inf)')
    >>> age.encode([18, 39.5, 40, 90])
    (array([0, 0, 1, 2], dtype=uint8),)
    """

    kind = "bins"

    name: str
    edges: tuple[float, ...]
    closed: Side
    categories: tuple[Label, ...]
    missing: Label | None = None

    def __init__(
        self,
        name: str,
        edges: Iterable[float],
        *,
        closed: Side,
        labels: Iterable[str] | None = None,
        missing: str | None = None,
    ) -> None:
        """Check the edges, and name the bins after them unless labels are given."""
        object.__setattr__(self, "name", checked_name(name))
        cuts = _checked_edges(edges)
        if closed not in ("left", "right"):
            raise SottovoceError("closed", "must be 'left' or 'right'", closed)
        names = checked_labels("labels", _bin_names(cuts, closed) if labels is None else labels, at_least=1)
        if len(names) != len(cuts) - 1:
            raise SottovoceError("labels", f"must name each of the {len(cuts) - 1} bins", names)
        categories = checked_labels("labels", [*names, missing] if missing is not None else names, at_least=2)
        object.__setattr__(self, "edges", cuts)
        object.__setattr__(self, "closed", closed)
        object.__setattr__(self, "categories", categories)
        object.__setattr__(self, "missing", checked_missing(missing, categories))

    @property
    def sizes(self) -> tuple[int, ...]:
        """One column, with one code for each bin and one for missing numbers if they are allowed."""
        return (len(self.categories),)

    @property
    def midpoints(self) -> tuple[float, ...]:
        """Midpoint of each category; NaN for a bin without an end, and for missing numbers.

        >>> Binned("age", [18, 40, 65, float("inf")], closed="left").midpoints
        (29.0, 52.5, nan)
        """
        middles = [(low + high) / 2 if math.isfinite(high - low) else math.nan for low, high in pairwise(self.edges)]
        return (*middles, *[math.nan] * (len(self.categories) - len(middles)))

    def encode(self, values: Iterable[Any]) -> Columns:
        """Find the bin of each number; text is read as a number."""
        numbers = _numbers(self.name, values)
        side: Side = "right" if self.closed == "left" else "left"
        bins = np.searchsorted(self.edges, numbers, side=side) - 1
        absent = np.isnan(numbers)
        if absent.any():
            bins[absent] = self.categories.index(missing_label(self.name, self.missing, None))
        self._refuse_outside(numbers, (bins < 0) | (bins > len(self.edges) - 2) | np.isinf(numbers), absent)
        return (narrow(bins, len(self.categories)),)

    def decode(self, columns: Columns) -> NDArray[Any]:
        """Labels of the bins."""
        return self._labels[columns[0]]

    def as_report(self) -> Attribute:
        """Attribute whose categories are the labels of the bins."""
        return Attribute.trusted(self.name, self.categories)

    def to_json(self) -> dict[str, Any]:
        """Edges as text, so that every language reads the same numbers."""
        json: dict[str, Any] = {
            "kind": self.kind,
            "name": self.name,
            "edges": [_edge(e) for e in self.edges],
            "closed": self.closed,
            "labels": list(self.categories[: len(self.edges) - 1]),
        }
        return json if self.missing is None else json | {"missing": self.missing}

    @classmethod
    def from_json(cls, json: dict[str, Any]) -> "Binned":
        """Read what `to_json` wrote."""
        edges = _numbers("edges", json["edges"])
        missing = json.get("missing")
        return cls(json["name"], edges, closed=json["closed"], labels=json["labels"], missing=missing)

    @cached_property
    def _labels(self) -> NDArray[Any]:
        return label_array(self.categories)

    def _refuse_outside(self, numbers: NDArray[Any], outside: NDArray[Any], absent: NDArray[Any]) -> None:
        outside &= ~absent
        if outside.any():
            rule = f"must lie in {self.categories[0]} ... {self.categories[len(self.edges) - 2]}"
            raise SottovoceError(self.name, rule, numbers[outside][0])


def _checked_edges(edges: Any) -> tuple[float, ...]:
    rule = "must be at least two increasing numbers"
    if isinstance(edges, str) or not isinstance(edges, Iterable):
        raise SottovoceError("edges", rule, edges)
    cuts = tuple(_numbers("edges", edges).tolist())
    if len(cuts) < 2 or not all(low < high for low, high in pairwise(cuts)):
        raise SottovoceError("edges", rule, cuts)
    return cuts


def _numbers(name: str, values: Iterable[Any]) -> NDArray[np.float64]:
    """Floats from numbers or text; None becomes NaN, and anything else is an error."""
    given = values if isinstance(values, np.ndarray) else np.array(list(values), dtype=object)
    try:
        return given.astype(np.float64)
    except (TypeError, ValueError):
        invalid = next(v for v in given.tolist() if not _is_number(v))
        raise SottovoceError(name, "must be a number", invalid) from None


def _is_number(value: Any) -> bool:
    try:
        float("nan" if value is None else value)
    except (TypeError, ValueError):
        return False
    return True


def _bin_names(edges: tuple[float, ...], closed: Side) -> Iterable[str]:
    for low, high in pairwise(edges):
        opening = "[" if closed == "left" and math.isfinite(low) else "("
        closing = "]" if closed == "right" and math.isfinite(high) else ")"
        yield f"{opening}{_edge(low)}, {_edge(high)}{closing}"


def _edge(edge: float) -> str:
    """Shortest text that reads back as the same number.

    >>> _edge(20.0), _edge(0.1), _edge(float("-inf"))
    ('20', '0.1', '-inf')
    """
    return repr(edge).removesuffix(".0")
