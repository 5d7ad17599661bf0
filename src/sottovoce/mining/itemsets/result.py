"""Frequent itemsets with labels: supports, standard errors, intervals, and probabilities of being frequent."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sottovoce.checks import Array, Target, number
from sottovoce.display import html_table
from sottovoce.estimates.presentation import Backend, IntervalTable, row_lines
from sottovoce.mining.itemsets.reconstruct import Covariances
from sottovoce.mining.itemsets.selection import Level, Mask, Posterior, highest_superset_support, posterior
from sottovoce.mining.itemsets.tuning import DEFAULT_TUNING, Tuning
from sottovoce.schemas.attribute import Label

if TYPE_CHECKING:
    from sottovoce.mining.rules import Rules

Items = tuple[Label, ...]

BIAS_NOTE = "Selected supports are too high on average; intervals are corrected for that, supports are not."


@dataclass(frozen=True, eq=False, repr=False)
class Itemsets(IntervalTable):
    """Frequent sets of items, shorter ones first, in the order of the items.

    `support` is unbiased for any given set, but sets were selected for high ones: `bias` says by how much a selected
    estimate is too high on average, under the prior of `selection`, and intervals subtract it. Long sets that
    were selected by their subsets as well have none. `probability` is that of being frequent, under the same prior or,
    if the subsets contributed, as `smoothing` learned it. `covariances` are for rules.
    """

    shown: ClassVar[str] = "support"

    labels: tuple[Label, ...]
    levels: tuple[Level, ...]
    respondents: int
    min_support: float
    target: Target
    covariances: Covariances | None = None
    tuning: Tuning = DEFAULT_TUNING

    @cached_property
    def itemsets(self) -> tuple[Items, ...]:
        """Labels of the items of each set."""
        return tuple(tuple(self.labels[i] for i in row) for level in self.levels for row in level.items.tolist())

    @cached_property
    def support(self) -> Array:
        """Share of the transactions that hold all items of each set, never clipped."""
        return self._concatenate([level.support for level in self.levels])

    @cached_property
    def standard_error(self) -> Array:
        """Standard error of each support."""
        return self._concatenate([level.standard_error for level in self.levels])

    @cached_property
    def bias(self) -> Array:
        """Mean excess of each support over the truth, due to selection."""
        pairs = zip(self.levels, self._posteriors, strict=True)
        return self._concatenate([each.bias if level.selected_by_support else 0 * each.bias for level, each in pairs])

    @cached_property
    def probability(self) -> Array:
        """Probability that each set is frequent."""
        return self._concatenate(self._probabilities)

    @cached_property
    def length(self) -> NDArray[np.int64]:
        """Number of items of each set."""
        return np.repeat([level.items.shape[1] for level in self.levels], [len(level.items) for level in self.levels])

    @property
    def by_length(self) -> dict[int, int]:
        """Number of sets of each length."""
        return {level.items.shape[1]: len(level.items) for level in self.levels}

    @property
    def value(self) -> Array:
        """Supports less their bias, the centres of the intervals."""
        return self.support - self.bias

    def likely(self, probability: float) -> "Itemsets":
        """Return the sets that are frequent with at least this probability."""
        least = number("probability", probability, 0, 1)
        return self.select([each >= least for each in self._probabilities])

    def maximal(self) -> "Itemsets":
        """Return the sets that are in no longer set."""
        return self.select([np.isneginf(highest) for highest in highest_superset_support(self.levels)])

    def closed(self) -> "Itemsets":
        """Return the sets whose support no longer set reaches; between disguised supports, noise decides ties."""
        pairs = zip(self.levels, highest_superset_support(self.levels), strict=True)
        return self.select([level.support > highest for level, highest in pairs])

    def select(self, masks: Sequence[Mask]) -> "Itemsets":
        """Return the sets of a mask for each level."""
        levels = [level.select(kept) for level, kept in zip(self.levels, masks, strict=True)]
        return replace(self, levels=tuple(level for level in levels if len(level.items)))

    def rules(self, min_confidence: float = 0.8) -> "Rules":
        """Return the association rules between these sets that hold at least so often."""
        from sottovoce.mining.rules import association_rules

        return association_rules(self, min_confidence)

    def to_rows(self, level: float = 0.95) -> list[dict[str, Any]]:
        """Return everything about each set, as plain Python."""
        arrays = (self.length, self.support, self.standard_error, *self.interval(level), self.probability)
        names = ("length", "support", "standard_error", "low", "high", "probability")
        numbers = zip(*(array.tolist() for array in arrays), strict=True)
        return [
            {"items": list(items), **dict(zip(names, row, strict=True))}
            for items, row in zip(self.itemsets, numbers, strict=True)
        ]

    def to_json(self, level: float = 0.95) -> dict[str, Any]:
        """Return everything, for programs."""
        return {
            "respondents": self.respondents,
            "min_support": self.min_support,
            "target": self.target,
            "level": level,
            "itemsets": self.to_rows(level),
        }

    def to_columns(self, backend: Backend, level: float = 0.95) -> dict[str, Any]:
        """Return columns that begin with mlxtend's, `support` and `itemsets`: frozensets in pandas, else lists."""
        low, high = self.interval(level)
        kind = frozenset if backend == "pandas" else list
        return {
            "support": self.support.tolist(),
            "itemsets": [kind(items) for items in self.itemsets],
            "standard_error": self.standard_error.tolist(),
            "low": low.tolist(),
            "high": high.tolist(),
            "length": self.length.tolist(),
            "probability": self.probability.tolist(),
        }

    def __len__(self) -> int:
        """Return the number of sets."""
        return len(self.support)

    @property
    def headline(self) -> str:
        """Summary in one line: reports, threshold, number of sets of each length."""
        lengths = ", ".join(f"{count} of length {length}" for length, count in self.by_length.items()) or "none"
        return f"{self.respondents} reports, min_support {self.min_support:g}, supports in the {self.target}: {lengths}"

    def to_lines(self, level: float = 0.95) -> list[str]:
        """Return a line for each set."""
        return row_lines([{"values": dict(enumerate(row["items"])), **row} for row in self.to_rows(level)], self.shown)

    def _repr_html_(self) -> str:
        numbers = ("support", "standard_error", "low", "high", "probability")
        rows = [(", ".join(map(str, row["items"])), *(row[name] for name in numbers)) for row in self.to_rows()]
        columns = ("items", "support", "standard error", "95 % low", "95 % high", "probability of being frequent")
        return html_table(self.headline, columns, rows, self.notes)

    @property
    def notes(self) -> list[str]:
        """Remark about the bias of selection, where there is any."""
        return [BIAS_NOTE] if len(self) and self.bias.max() > 0 else []

    @cached_property
    def _posteriors(self) -> list[Posterior]:
        return [posterior(each.support, each.standard_error, self.min_support, self.tuning) for each in self.levels]

    @cached_property
    def _probabilities(self) -> list[Array]:
        """As learned by smoothing or a model, else from each set's own support."""
        pairs = zip(self.levels, self._posteriors, strict=True)
        return [each.probability if level.probability is None else level.probability for level, each in pairs]

    @staticmethod
    def _concatenate(arrays: Sequence[Array]) -> Array:
        return np.concatenate([np.zeros(0), *arrays])
