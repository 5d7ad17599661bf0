"""Ask a random subset of the attributes, and report which were asked."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from sottovoce.channels.channel import Channel, MatrixChannel, Part, checked_axes, checked_shape, checked_vector
from sottovoce.channels.keep_or_uniform import KeepOrUniform
from sottovoce.checks import Array
from sottovoce.errors import SottovoceError
from sottovoce.schemas.attribute import ravel, unravel


@dataclass(frozen=True)
class Sampled(MatrixChannel):
    """One part is drawn by weight; its attributes are reported through its channel, the others as "not asked".

    Each column of the report has one code more than its attribute, the last one, for "not asked". The part is drawn
    independently of the truth, so the odds are those of the worst part: the whole budget is spent on what is asked.
    Attributes that are never asked together cannot be estimated jointly.

    >>> coin = KeepOrUniform((2,), Fraction(1, 2))
    >>> Sampled((2, 2), [Part((0,), coin), Part((1,), coin)]).odds
    Fraction(3, 1)
    """

    samples = True

    shape_in: tuple[int, ...]
    parts: tuple[Part, ...] = ()

    def __init__(self, shape_in: Iterable[int], parts: Iterable[Part]) -> None:
        """Check that every part's channel fits the part's attributes."""
        object.__setattr__(self, "shape_in", checked_shape(shape_in))
        object.__setattr__(self, "parts", tuple(parts))
        if not self.parts:
            raise SottovoceError("parts", "must be at least one", self.parts)
        for part in self.parts:
            asked = tuple(self.shape_in[a] for a in part.axes)
            if part.channel is not None and not asked == part.channel.shape_in == part.channel.shape_out:
                raise SottovoceError("parts", f"must have a channel from shape {asked} to the same shape", part)

    @property
    def shape_out(self) -> tuple[int, ...]:
        """One code more for each attribute, for "not asked"."""
        return tuple(size + 1 for size in self.shape_in)

    @property
    def odds(self) -> Fraction | None:
        """Odds of the worst part."""
        odds = [part.channel.odds for part in self.parts if part.channel is not None]
        bounded = [ratio for ratio in odds if ratio is not None]
        return max(bounded, default=Fraction(1)) if len(bounded) == len(odds) else None

    @property
    def gains_by_weighting(self) -> bool:
        """Yes: there are more reports than truths."""
        return True

    def worst_case(self) -> tuple[int, int, int]:
        """Worst case of the worst part; the truths agree in the attributes that it does not ask."""
        asking = [(part, part.channel) for part in self.parts if part.channel is not None]
        if not asking:
            return self.n_out - 1, 0, 0
        part, channel = max(asking, key=lambda pair: _severity(pair[1].odds, pair[0].weight))
        return self._worst_case_of(part.axes, channel)

    def entry(self, report: int, truth: int) -> Fraction:
        """Sum, over the parts that ask just the answered attributes, of their probability times their entry."""
        report_codes = [int(c[0]) for c in unravel(np.array([report]), self.shape_out)]
        truth_codes = list(unravel(np.array([truth]), self.shape_in))
        asked = tuple(a for a, code in enumerate(report_codes) if code < self.shape_in[a])
        total = Fraction(0)
        for part in self.parts:
            if part.axes == asked:
                total += self._chance(part) * self._part_entry(part, report_codes, truth_codes)
        return total

    def matvec(self, truths: Any) -> Array:
        """Sum over the parts of the distribution of their attributes, passed through their channels."""
        vector = checked_vector("truths", self.n_in, truths)
        tail = vector.shape[1:]
        table = vector.reshape(*self.shape_in, *tail)
        reports = np.zeros((*self.shape_out, *tail))
        for part in self.parts:
            asked = table.sum(axis=self._unasked(part))
            done = asked if part.channel is None else part.channel.matvec(asked.reshape(part.channel.n_in, *tail))
            reports[self._report_cells(part)] += float(self._chance(part)) * done.reshape(asked.shape)
        return reports.reshape(self.n_out, *tail)

    def rmatvec(self, reports: Any) -> Array:
        """Sum over the parts of their adjoints, constant in the attributes that they do not ask."""
        vector = checked_vector("reports", self.n_out, reports)
        tail = vector.shape[1:]
        table = vector.reshape(*self.shape_out, *tail)
        truths = np.zeros((*self.shape_in, *tail))
        for part in self.parts:
            answers = table[self._report_cells(part)]
            done = answers if part.channel is None else part.channel.rmatvec(answers.reshape(part.channel.n_out, *tail))
            truths += float(self._chance(part)) * np.expand_dims(done.reshape(answers.shape), self._unasked(part))
        return truths.reshape(self.n_in, *tail)

    def marginal(self, axes: Sequence[int]) -> "Sampled":
        """Restrict every part to the kept attributes that it asks, which may be none."""
        kept = checked_axes(axes, len(self.shape_in))
        parts = [_restricted(part, kept) for part in self.parts]
        return Sampled((self.shape_in[a] for a in kept), parts)

    @classmethod
    def cases(cls) -> Iterator["Sampled"]:
        """One attribute at a time, pairs, all or one or none by weight, without noise."""
        bit, three = KeepOrUniform((2,), Fraction(1, 2)), KeepOrUniform((3,), Fraction(1, 3))
        yield cls((2, 3), [Part((0,), bit), Part((1,), three)])
        pairs = [Part(axes, KeepOrUniform((2, 2), Fraction(1, 4))) for axes in ((0, 1), (0, 2), (1, 2))]
        yield cls((2, 2, 2), pairs)
        yield cls((2, 3), [Part((0, 1), KeepOrUniform((2, 3), Fraction(1, 2)), 2), Part((0,), bit), Part((), None)])
        yield cls((2,), [Part((0,), KeepOrUniform((2,), 1))])

    def _chance(self, part: Part) -> Fraction:
        return Fraction(part.weight, sum(p.weight for p in self.parts))

    def _part_entry(self, part: Part, report_codes: list[int], truth_codes: list[Any]) -> Fraction:
        if part.channel is None:
            return Fraction(1)
        sizes = part.channel.shape_in
        report = ravel([np.array([report_codes[a]]) for a in part.axes], sizes)
        truth = ravel([truth_codes[a] for a in part.axes], sizes)
        return part.channel.entry(int(report[0]), int(truth[0]))

    def _worst_case_of(self, axes: tuple[int, ...], channel: Channel) -> tuple[int, int, int]:
        """Worst case of a part, numbered among the joint cells of all attributes."""
        report, *truths = (unravel(np.array([cell]), channel.shape_in) for cell in channel.worst_case())
        codes = [np.array([size]) for size in self.shape_in]
        records = [[np.array([0]) for _ in self.shape_in] for _ in truths]
        for index, a in enumerate(axes):
            codes[a] = report[index]
            for record, truth in zip(records, truths, strict=True):
                record[a] = truth[index]
        most, least = (int(ravel(record, self.shape_in)[0]) for record in records)
        return int(ravel(codes, self.shape_out)[0]), most, least

    def _unasked(self, part: Part) -> tuple[int, ...]:
        return tuple(a for a in range(len(self.shape_in)) if a not in part.axes)

    def _report_cells(self, part: Part) -> tuple[Any, ...]:
        """Index of a part's reports in the table of all reports."""
        return tuple(slice(0, size) if a in part.axes else size for a, size in enumerate(self.shape_in))


def _severity(odds: Fraction | None, weight: int) -> tuple[bool, Fraction, int]:
    """Sort key of parts: by odds, unbounded ones last, then by weight."""
    return odds is None, odds or Fraction(1), weight


def _restricted(part: Part, kept: tuple[int, ...]) -> Part:
    """Part restricted to the kept attributes, which are renumbered."""
    shared = [a for a in part.axes if a in kept]
    if not shared or part.channel is None:
        return Part((), None, part.weight)
    channel = part.channel.marginal([part.axes.index(a) for a in shared])
    return Part(tuple(kept.index(a) for a in shared), channel, part.weight)
