"""Draw many reports of one truth with the code of a respondent's device, and count them in bounded memory."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sottovoce.channels.channel import Channel
from sottovoce.checks import Array
from sottovoce.mechanisms.coins import Coin, Coins, RandomWords, flip
from sottovoce.schemas.attribute import Columns, narrow, ravel

COINS_AT_ONCE = 2**20
"""Coins flipped at once: enough for numpy to be fast, and few enough for memory however many a report takes."""

LARGEST_LIST = 2**20
"""Most reports and truths for which all reports with the worst odds are listed."""


class Auditable(Protocol):
    """Protocol of mechanisms that can be audited."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of categories of each attribute of the truth."""

    @property
    def coins(self) -> tuple[Coin, ...]:
        """Coins that one report uses."""

    @property
    def channel(self) -> Channel:
        """Distribution that the reports are said to follow."""

    def respond(self, truth: Columns, flips: Coins) -> Columns:
        """Reports of coded truths, given what the coins show, row by row."""


class Event:
    """The report of a channel with the worst odds between two truths, and all others with the same odds between them.

    Together they are drawn more often than one of them, and their odds are the same.
    """

    def __init__(self, channel: Channel) -> None:
        """Find the worst report, and list those that are as bad if the channel is small."""
        self.report, self.most, self.least = channel.worst_case()
        self.shape = channel.shape_out
        self.listed: NDArray[np.bool_] | None = None
        if max(channel.n_in, channel.n_out) > LARGEST_LIST or channel.odds == 1:
            high, low = (float(channel.entry(self.report, truth)) for truth in (self.most, self.least))
        else:
            likely, unlikely = channel.column(self.most), channel.column(self.least)
            self.listed = _log_ratios(likely, unlikely) >= channel.epsilon - 1e-9
            self.listed[self.report] = True
            high, low = float(likely[self.listed].sum()), float(unlikely[self.listed].sum())
        self.chance_most, self.chance_least = high, 0.0 if channel.odds is None else low

    @property
    def reports(self) -> str:
        """Name of the event: one report, and how many others are as bad."""
        others = 0 if self.listed is None else int(self.listed.sum()) - 1
        return f"report {self.report}" + (f" (or one of {others} as bad)" if others else "")

    def count(self, reports: Columns) -> int:
        """Number of these reports that belong to the event."""
        if self.listed is not None:
            return int(self.listed[ravel(reports, self.shape)].sum())
        same = [column == code for column, code in zip(reports, codes_of(self.report, self.shape), strict=True)]
        return int(np.logical_and.reduce(same).sum())


@dataclass
class Sampler:
    """Draws reports of one mechanism; rows that are not reports of its channel are left out and counted in `strays`."""

    mechanism: Auditable
    words: RandomWords
    drawn: Callable[[int], None]
    strays: int = field(default=0, init=False)

    def reports(self, truth: int, count: int) -> Iterator[Columns]:
        """Draw reports of one truth, batch by batch."""
        at_once = max(COINS_AT_ONCE // max(len(self.mechanism.coins), 32), 1)
        codes = codes_of(truth, self.mechanism.sizes)
        for start in range(0, count, at_once):
            rows = min(at_once, count - start)
            columns = tuple(narrow(np.full(rows, c), s) for c, s in zip(codes, self.mechanism.sizes, strict=True))
            yield self._known(self.mechanism.respond(columns, flip(self.mechanism.coins, rows, self.words)))
            self.drawn(rows)

    def table(self, count: int) -> NDArray[np.int64]:
        """Counts of reports (rows) by truth (columns), from `count` draws of each truth."""
        channel = self.mechanism.channel
        counts = np.zeros((channel.n_out, channel.n_in), np.int64)
        for truth in range(channel.n_in):
            for report in self.reports(truth, count):
                counts[:, truth] += np.bincount(ravel(report, channel.shape_out), minlength=channel.n_out)
        return counts

    def _known(self, reports: Columns) -> Columns:
        shape = self.mechanism.channel.shape_out
        inside = [(column >= 0) & (column < size) for column, size in zip(reports, shape, strict=True)]
        known = np.logical_and.reduce(inside)
        if known.all():
            return reports
        self.strays += int((~known).sum())
        return tuple(column[known] for column in reports)


def _log_ratios(likely: Array, unlikely: Array) -> Array:
    """Logarithm of the ratio of two distributions, by report; minus infinity where the first is zero."""
    ratios = np.full(len(likely), -np.inf)
    possible = likely > 0
    with np.errstate(divide="ignore"):
        ratios[possible] = np.log(likely[possible]) - np.log(unlikely[possible])
    return ratios


def codes_of(number: int, sizes: tuple[int, ...]) -> tuple[int, ...]:
    """Codes of one joint cell by its number, which may exceed 64 bits.

    >>> codes_of(2**100, (2,) * 101)[:3]
    (1, 0, 0)
    """
    codes = []
    for size in reversed(sizes):
        number, code = divmod(number, size)
        codes.append(code)
    return tuple(reversed(codes))
