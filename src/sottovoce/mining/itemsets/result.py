"""Frequent itemsets with labels: supports, standard errors, intervals, and how sure it is that they are frequent."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.channels.channel import Array
from sottovoce.errors import SottovoceError
from sottovoce.estimates.covariance import Target
from sottovoce.estimates.intervals import Ends, critical_value
from sottovoce.estimates.presentation import Backend, new_frame, row_lines
from sottovoce.mining.itemsets.candidates import Level, highest_above
from sottovoce.mining.itemsets.reconstruct import (
    Covariances,
)
from sottovoce.mining.itemsets.selection import Judged, judged
from sottovoce.schemas.attribute import Label

Items = tuple[Label, ...]


@dataclass(frozen=True, eq=False)
class Itemsets:
    """Sets of items that are frequent, shorter ones first, each in the order of the universe.

    `support` is unbiased for any set, but sets were picked for large ones: `bias` says by how much a picked
    estimate is too high on the average, and intervals have it taken off; it rests on the prior that
    `selection` states. Long sets that were picked by their subsets, too, have none: see there.
    `probability` is that of being truly frequent, by the same prior, or, where long sets were judged by their subsets,
    too, as `smoothing` learns it. `covariances` are for rules.
    """

    labels: tuple[Label, ...]
    levels: tuple[Level, ...]
    respondents: int
    min_support: float
    target: Target
    covariances: Covariances | None = None

    @cached_property
    def itemsets(self) -> tuple[Items, ...]:
        """Labels of the items of each set."""
        return tuple(tuple(self.labels[i] for i in row) for level in self.levels for row in level.items.tolist())

    @cached_property
    def support(self) -> Array:
        """Share of the transactions that hold all items of each set, never clipped."""
        return self._joined([level.support for level in self.levels])

    @cached_property
    def standard_error(self) -> Array:
        """How far supports scatter."""
        return self._joined([level.standard_error for level in self.levels])

    @cached_property
    def bias(self) -> Array:
        """How much too high a support is on the average because its set was picked."""
        pairs = zip(self.levels, self._judged, strict=True)
        return self._joined([own.bias if level.picked_by_support else 0 * own.bias for level, own in pairs])

    @cached_property
    def probability(self) -> Array:
        """Probability that each set is truly frequent."""
        return self._joined(self._probabilities)

    @cached_property
    def length(self) -> NDArray[np.int64]:
        """Number of items of each set."""
        return np.repeat([level.items.shape[1] for level in self.levels], [len(level.items) for level in self.levels])

    @property
    def by_length(self) -> dict[int, int]:
        """How many sets there are of each length."""
        return {level.items.shape[1]: len(level.items) for level in self.levels}

    def interval(self, level: float = 0.95) -> Ends:
        """Ends of each set's interval, around the support less its bias."""
        half = critical_value(level) * self.standard_error
        return self.support - self.bias - half, self.support - self.bias + half

    def likely(self, probability: float) -> "Itemsets":
        """Sets that are truly frequent with at least this probability."""
        least = checked_share("probability", probability)
        return self.chosen([found >= least for found in self._probabilities])

    def maximal(self) -> "Itemsets":
        """Sets that no longer set here contains."""
        return self.chosen([np.isneginf(highest) for highest in highest_above(self.levels)])

    def closed(self) -> "Itemsets":
        """Sets of which every longer set here has a lower support; between disguised ones noise decides ties."""
        pairs = zip(self.levels, highest_above(self.levels), strict=True)
        return self.chosen([level.support > highest for level, highest in pairs])

    def to_rows(self, level: float = 0.95) -> list[dict[str, Any]]:
        """Everything about each set, as plain Python."""
        arrays = (self.length, self.support, self.standard_error, *self.interval(level), self.probability)
        names = ("length", "support", "standard_error", "low", "high", "probability")
        numbers = zip(*(array.tolist() for array in arrays), strict=True)
        return [
            {"items": list(items), **dict(zip(names, row, strict=True))}
            for items, row in zip(self.itemsets, numbers, strict=True)
        ]

    def to_json(self, level: float = 0.95) -> dict[str, Any]:
        """Everything, for programs."""
        return {
            "respondents": self.respondents,
            "min_support": self.min_support,
            "target": self.target,
            "level": level,
            "itemsets": self.to_rows(level),
        }

    def to_frame(self, backend: Backend = "pandas", level: float = 0.95) -> Any:
        """Data frame that begins with mlxtend's columns, `support` and `itemsets`; sets are lists but in pandas."""
        low, high = self.interval(level)
        kind = frozenset if backend == "pandas" else list
        columns = {
            "support": self.support.tolist(),
            "itemsets": [kind(items) for items in self.itemsets],
            "standard_error": self.standard_error.tolist(),
            "low": low.tolist(),
            "high": high.tolist(),
            "length": self.length.tolist(),
            "probability": self.probability.tolist(),
        }
        return new_frame(columns, backend)

    def __len__(self) -> int:
        """Number of sets."""
        return len(self.support)

    @property
    def headline(self) -> str:
        """How many there are, of how many reports."""
        lengths = ", ".join(f"{count} of length {length}" for length, count in self.by_length.items()) or "none"
        return f"{self.respondents} reports, min_support {self.min_support:g}, supports in the {self.target}: {lengths}"

    def __str__(self) -> str:
        """Readable table, with a word about picked supports where they are biased."""
        rows = [{"values": dict(enumerate(row["items"])), **row} for row in self.to_rows()]
        lines = [self.headline, *(row_lines(rows, "support") if rows else [])]
        if rows and self.bias.max() > 0:
            lines.append("  Picked supports are too high on the average; intervals are corrected, supports are not.")
        return "\n".join(lines)

    @cached_property
    def _judged(self) -> list[Judged]:
        return [judged(level.support, level.standard_error, self.min_support) for level in self.levels]

    @cached_property
    def _probabilities(self) -> list[Array]:
        """As long sets were judged by their subsets, too; of others by their own supports."""
        pairs = zip(self.levels, self._judged, strict=True)
        return [own.probability if level.probability is None else level.probability for level, own in pairs]

    def chosen(self, masks: Sequence[NDArray[np.bool_]]) -> "Itemsets":
        """Sets that are kept, by level."""
        chosen = [level.chosen(kept) for level, kept in zip(self.levels, masks, strict=True)]
        return replace(self, levels=tuple(level for level in chosen if len(level.items)))

    @staticmethod
    def _joined(arrays: Sequence[Array]) -> Array:
        return np.concatenate([np.zeros(0), *arrays])


def checked_share(parameter: str, value: Any) -> float:
    """A share or a probability.

    >>> checked_share("min_confidence", 0.8)
    0.8
    """
    if not _is_number(value) or not 0 <= value <= 1:
        raise SottovoceError(parameter, "must be from 0 to 1", value)
    return float(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)
