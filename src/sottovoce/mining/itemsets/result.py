"""Frequent itemsets with labels: supports, standard errors, intervals, and probabilities of being frequent."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from sottovoce.checks import Array, Target, number, whole_number
from sottovoce.display import html_table
from sottovoce.estimates.cell_tests import Ends
from sottovoce.estimates.intervals import wald
from sottovoce.estimates.presentation import MOST_LINES, Backend, ResultTable
from sottovoce.mining.itemsets.reconstruct import Covariances
from sottovoce.mining.itemsets.selection import Level, Mask, Posterior, highest_superset_support, posterior
from sottovoce.mining.itemsets.shrinkage import possible_supports
from sottovoce.mining.itemsets.tuning import DEFAULT_TUNING, Tuning
from sottovoce.mining.picked import Picked, Unresolved, checked_kind, possible_interval
from sottovoce.schemas.attribute import Label

if TYPE_CHECKING:
    from sottovoce.mining.rules import Rules

Items = tuple[Label, ...]

ItemsetInterval = Literal["default", "posterior", "wald"]
"""Kinds of intervals of supports; see `Itemsets.interval`."""

SHRUNKEN_NOTE = "Supports are shrunken estimates; raw=True shows the unbiased ones, too."


@dataclass(frozen=True, eq=False, repr=False)
class Itemsets(ResultTable):
    """Frequent sets of items, shorter ones first, in the order of the items.

    `support` is what is shown: shrunken, and never above that of a subset (`shrinkage`). `estimate` is the estimate
    itself, unbiased for a set given in advance (unless by a model), and `standard_error` its standard error. Intervals
    are adjusted for having been picked (`picked`). `probability` is that of being frequent, under the prior of
    `selection` or, if the subsets contributed, as `smoothing` learned it. `covariances` are for rules. `searched` are
    the candidates of each length that were estimated. With `halves`, `picks` is what one half of the reports
    found, and all numbers come from the other half.
    """

    shown: ClassVar[str] = "support"

    labels: tuple[Label, ...]
    levels: tuple[Level, ...]
    respondents: int
    min_support: float
    target: Target
    covariances: Covariances | None = None
    tuning: Tuning = DEFAULT_TUNING
    searched: Mapping[int, int] = field(default_factory=dict)
    picks: "Itemsets | None" = None

    @cached_property
    def itemsets(self) -> tuple[Items, ...]:
        """Labels of the items of each set."""
        return tuple(tuple(self.labels[i] for i in row) for level in self.levels for row in level.items.tolist())

    @cached_property
    def support(self) -> Array:
        """Shrunken share of the transactions that hold all items of each set, at most that of any subset."""
        return self._concatenate(self.shown_supports)

    @cached_property
    def estimate(self) -> Array:
        """Estimated share of the transactions that hold all items of each set, neither shrunk nor clipped."""
        return self._concatenate([level.support for level in self.levels])

    @cached_property
    def standard_error(self) -> Array:
        """Standard error of each estimate."""
        return self._concatenate([level.standard_error for level in self.levels])

    @cached_property
    def bias(self) -> Array:
        """Mean excess of each estimate over the truth due to selection, under the prior of `selection`."""
        pairs = zip(self.levels, self._posteriors, strict=True)
        biased = [level.selected_by_support and self.picks is None for level in self.levels]
        return self._concatenate([each.bias * kept for (_, each), kept in zip(pairs, biased, strict=True)])

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
    def picked(self) -> Picked:
        """How many sets were picked out of how many that were searched, of all lengths."""
        return Picked(len(self), sum(self.searched.values()), 0 if self.picks is None else self.picks.respondents)

    def interval(self, level: float = 0.95, kind: ItemsetInterval = "default") -> Ends:
        """Return the ends of the interval of each set's support.

        By default, of all intervals of this list at least a share `level` hold on average, although its sets were
        picked: `estimate +- z standard_error` at the level of the false coverage rate (`picked`), cut to [0, 1].
        "posterior" subtracts the mean bias of a set that was selected by its support (`selection`), and
        "wald" is for a set that was given in advance; neither is cut.
        """
        if checked_kind(kind, ItemsetInterval) != "default":
            centre = self.estimate - (self.bias if kind == "posterior" else 0)
            return wald(centre, self.standard_error, self.picked.deviations(level, "wald"))
        everyone = np.full(len(self), self.respondents)
        unresolved = Unresolved(everyone, np.ones(len(self)), exact=self.target == "table")
        estimate = self.estimate, self.standard_error
        low, high = possible_interval(estimate, self.picked, level, (0, 1), unresolved)
        return np.minimum(low, self.support), np.maximum(high, self.support)

    def likely(self, probability: float) -> "Itemsets":
        """Return the sets that are frequent with at least this probability."""
        least = number("probability", probability, 0, 1)
        return self.select([each >= least for each in self._decides._probabilities])

    def maximal(self) -> "Itemsets":
        """Return the sets that are in no longer set."""
        return self.select([np.isneginf(highest) for highest in highest_superset_support(self.levels)])

    def closed(self) -> "Itemsets":
        """Return the sets whose estimate no longer set reaches; between disguised supports, noise decides ties."""
        levels = self._decides.levels
        pairs = zip(levels, highest_superset_support(levels), strict=True)
        return self.select([level.support > highest for level, highest in pairs])

    def top(self, count: int) -> "Itemsets":
        """Return so many sets, divided among the lengths: of each length, those with the highest supports."""
        room, masks = whole_number("count", count), {}
        supports = self._decides.shown_supports
        by_size = sorted(range(len(supports)), key=lambda index: len(supports[index]))
        for done, index in enumerate(by_size):
            taken = min(len(supports[index]), room // (len(by_size) - done))
            masks[index] = np.zeros(len(supports[index]), bool)
            masks[index][np.argsort(-supports[index], kind="stable")[:taken]] = True
            room -= taken
        return self.select([masks[index] for index in range(len(supports))])

    def select(self, masks: Sequence[Mask]) -> "Itemsets":
        """Return the sets of a mask for each level."""
        pairs = zip(self.levels, self.shown_supports, strict=True)
        levels = [replace(level, shown=shown).select(kept) for (level, shown), kept in zip(pairs, masks, strict=True)]
        picks = None if self.picks is None else self.picks.select(masks)
        return replace(self, levels=tuple(level for level in levels if len(level.items)), picks=picks)

    def estimated_on(self, levels: Sequence[Level], respondents: int, covariances: Covariances | None) -> "Itemsets":
        """Return these sets as picks, with the estimates of other reports."""
        return replace(self, levels=tuple(levels), respondents=respondents, covariances=covariances, picks=self)

    def rules(self, min_confidence: float = 0.8, *, sort_by: str = "confidence", top: int | None = None) -> "Rules":
        """Return the association rules between these sets that hold at least so often: see `association_rules`."""
        from sottovoce.mining.rules import association_rules

        return association_rules(self, min_confidence, sort_by=sort_by, top=top)

    def to_rows(self, level: float = 0.95, *, raw: bool = False) -> list[dict[str, Any]]:
        """Return everything about each set, as plain Python; with `raw`, the estimates as well."""
        low, high = self.interval(level)
        numbers = {
            "length": self.length,
            "support": self.support,
            **({"estimate": self.estimate} if raw else {}),
            "standard_error": self.standard_error,
            "low": low,
            "high": high,
            "probability": self.probability,
        }
        rows = zip(*(array.tolist() for array in numbers.values()), strict=True)
        return [
            {"items": list(items), **dict(zip(numbers, row, strict=True))}
            for items, row in zip(self.itemsets, rows, strict=True)
        ]

    def ranked_rows(self, level: float = 0.95, *, raw: bool = False) -> list[dict[str, Any]]:
        """Return the rows by length and, within each length, with the highest support first."""
        return sorted(self.to_rows(level, raw=raw), key=lambda row: (row["length"], -row["support"]))

    def to_json(self, level: float = 0.95, *, raw: bool = False) -> dict[str, Any]:
        """Return everything, for programs."""
        return {
            "respondents": self.respondents,
            "min_support": self.min_support,
            "target": self.target,
            "level": level,
            "interval": self.picked.to_json(level),
            "itemsets": self.to_rows(level, raw=raw),
        }

    def to_columns(self, backend: Backend, level: float = 0.95, *, raw: bool = False) -> dict[str, Any]:
        """Return columns that begin with mlxtend's, `support` and `itemsets`: frozensets in pandas, else lists."""
        low, high = self.interval(level)
        kind = frozenset if backend == "pandas" else list
        return {
            "support": self.support.tolist(),
            "itemsets": [kind(items) for items in self.itemsets],
            **({"estimate": self.estimate.tolist()} if raw else {}),
            "standard_error": self.standard_error.tolist(),
            "low": low.tolist(),
            "high": high.tolist(),
            "length": self.length.tolist(),
            "probability": self.probability.tolist(),
        }

    def __len__(self) -> int:
        """Return the number of sets."""
        return sum(len(level.items) for level in self.levels)

    @property
    def headline(self) -> str:
        """Summary in one line: reports, threshold, number of sets of each length."""
        lengths = ", ".join(f"{count} of length {length}" for length, count in self.by_length.items()) or "none"
        return f"{self.respondents} reports, min_support {self.min_support:g}, supports in the {self.target}: {lengths}"

    def to_lines(self, level: float = 0.95) -> list[str]:
        """Return a line for each set, at most 60 of them: then those with the highest supports of each length."""
        rows = self.top(MOST_LINES).ranked_rows(level)
        labels = [", ".join(map(str, row["items"])) for row in rows]
        width = max(map(len, labels), default=0)
        lines = [
            f"  {label:<{width}}  {row['support']:.4f}  [{row['low']:.4f}, {row['high']:.4f}]"
            for label, row in zip(labels, rows, strict=True)
        ]
        return lines if len(self) <= MOST_LINES else [*lines, f"  ... and {len(self) - MOST_LINES} more sets"]

    def _repr_html_(self) -> str:
        numbers = ("support", "low", "high", "probability")
        rows = self.top(MOST_LINES).ranked_rows()
        cells = [(", ".join(map(str, row["items"])), *(row[name] for name in numbers)) for row in rows]
        columns = ("items", "support", "95 % low", "95 % high", "probability of being frequent")
        more = [f"{len(self) - MOST_LINES} more sets"] if len(self) > MOST_LINES else []
        return html_table(self.headline, columns, cells, [*more, *self.notes])

    @property
    def notes(self) -> list[str]:
        """Remarks about the sets that are printed: that supports are shrunken, and what their intervals are."""
        if not len(self) or not self.standard_error.any():
            return []
        return [SHRUNKEN_NOTE, self.top(MOST_LINES).picked.note(0.95)]

    @cached_property
    def shown_supports(self) -> list[Array]:
        """Shrunken supports of each level."""
        known = [level.shown for level in self.levels if level.shown is not None]
        return known if len(known) == len(self.levels) else possible_supports(self.levels)

    @property
    def _decides(self) -> "Itemsets":
        """The half of the reports that picks, or all of them."""
        return self if self.picks is None else self.picks

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
