"""Association rules with labels: every number of a rule with its standard error and interval."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import Any

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.errors import SottovoceError
from sottovoce.estimate.intervals import Ends, critical_value
from sottovoce.estimate.rows import Backend, new_frame, row_lines
from sottovoce.estimate.spread import Target
from sottovoce.mine.rule_measures import MEASURES, turned, valued
from sottovoce.schema.variable import Label

Labels = tuple[Label, ...]


@dataclass(frozen=True, eq=False)
class Rules:
    """Rules A -> C: `supports[rule]` of both together, of A and of C, and their covariance.

    The surest come first, those whose confidence has the highest lower end of a 95 % interval.

    Standard errors and intervals are those of a rule that one asks about. Of rules picked because their confidence
    is high the confidence is too high on the average, the more so the larger its standard error.
    """

    antecedents: tuple[Labels, ...]
    consequents: tuple[Labels, ...]
    supports: Array
    covariances: Array
    respondents: int
    min_confidence: float
    target: Target

    def value(self, measure: str) -> Array:
        """A measure of each rule, by mlxtend's name: support, confidence, lift, leverage, conviction ..."""
        value, _ = self._of(measure)
        return turned(value) if measure == "conviction" else value

    def standard_error(self, measure: str) -> Array:
        """How far it scatters, by the delta method."""
        value, error = self._of(measure)
        if measure != "conviction":
            return error
        return np.multiply(error, turned(value) ** 2, out=np.zeros_like(error), where=error > 0)

    def interval(self, measure: str, level: float = 0.95) -> Ends:
        """Ends of each rule's interval; that of conviction is the one of its reciprocal, turned."""
        value, error = self._of(measure)
        half = critical_value(level) * error
        if measure == "conviction":
            return turned(value + half), turned(value - half)
        return value - half, value + half

    def columns(self, level: float = 0.95) -> dict[str, list[float]]:
        """Numbers by mlxtend's names, then their standard errors and ends."""
        found = {name: self.value(name) for name in MEASURES}
        for name in MEASURES:
            low, high = self.interval(name, level)
            own = {"standard_error": self.standard_error(name), "low": low, "high": high}
            found |= {f"{name}_{kind}": numbers for kind, numbers in own.items()}
        return {name: numbers.tolist() for name, numbers in found.items()}

    def to_rows(self, level: float = 0.95) -> list[dict[str, Any]]:
        """Everything about each rule, as plain Python; None for what has no bound."""
        columns = self.columns(level)
        sides = zip(self.antecedents, self.consequents, strict=True)
        numbers = zip(*columns.values(), strict=True)
        return [
            {"antecedents": list(first), "consequents": list(then)}
            | {name: number if isfinite(number) else None for name, number in zip(columns, row, strict=True)}
            for (first, then), row in zip(sides, numbers, strict=True)
        ]

    def to_json(self, level: float = 0.95) -> dict[str, Any]:
        """Everything, for programs."""
        return {
            "respondents": self.respondents,
            "min_confidence": self.min_confidence,
            "target": self.target,
            "level": level,
            "rules": self.to_rows(level),
        }

    def to_frame(self, backend: Backend = "pandas", level: float = 0.95) -> Any:
        """Data frame that begins with mlxtend's columns; sets are lists but in pandas."""
        kind: Callable[[Labels], Any] = frozenset if backend == "pandas" else list
        sides = {"antecedents": self.antecedents, "consequents": self.consequents}
        sets = {name: [kind(labels) for labels in side] for name, side in sides.items()}
        return new_frame({**sets, **self.columns(level)}, backend)

    def __len__(self) -> int:
        """Number of rules."""
        return len(self.antecedents)

    @property
    def headline(self) -> str:
        """How many there are, of how many reports."""
        number = f"{len(self)} rule" + ("" if len(self) == 1 else "s")
        return f"{self.respondents} reports, min_confidence {self.min_confidence:g}, in the {self.target}: {number}"

    def __str__(self) -> str:
        """Readable table of confidences."""
        names = ("standard_error", "low", "high")
        rows = [
            {
                "values": {
                    "rule": f"{', '.join(map(str, row['antecedents']))} -> {', '.join(map(str, row['consequents']))}"
                }
            }
            | {"confidence": row["confidence"], **{name: row[f"confidence_{name}"] for name in names}}
            for row in self.to_rows()
        ]
        return "\n".join([self.headline, *(row_lines(rows, "confidence") if rows else [])])

    def _of(self, measure: str) -> tuple[Array, Array]:
        if measure not in MEASURES:
            raise SottovoceError("measure", f"must be one of {', '.join(MEASURES)}", measure)
        return self._valued[measure]

    @cached_property
    def _valued(self) -> dict[str, tuple[Array, Array]]:
        with np.errstate(divide="ignore", invalid="ignore"):
            return {name: valued(name, self.supports, self.covariances) for name in MEASURES}
