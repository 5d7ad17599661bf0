"""Products of many channels, item by item: their joint worst report is too rare ever to be seen."""

from itertools import accumulate, pairwise
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from sottovoce.channel.channel import Channel
from sottovoce.channel.kronecker import Kronecker
from sottovoce.disguise.audit.evidence import Finding, log_ratio
from sottovoce.disguise.audit.sampler import Event
from sottovoce.schema.cells import Columns


class Parts:
    """Factors of a product, each with its own worst report; a channel that is no product has none.

    The joint worst case is that of all factors at once, so the same draws serve them all.
    """

    def __init__(self, channel: Channel) -> None:
        """Find the worst case of every different factor once."""
        self.factors = channel.factors if isinstance(channel, Kronecker) else ()
        events = {factor: Event(factor) for factor in set(self.factors)}
        self._events = [events[factor] for factor in self.factors]
        ends = accumulate((len(factor.shape_out) for factor in self.factors), initial=0)
        self._columns = [slice(*pair) for pair in pairwise(ends)]

    def count(self, reports: Columns) -> NDArray[np.int64]:
        """How many of these reports belong to each factor's event."""
        counts = [event.count(reports[own]) for event, own in zip(self._events, self._columns, strict=True)]
        return np.array(counts, np.int64)

    def findings(self, often: NDArray[np.int64], seldom: NDArray[np.int64], samples: int, risk: float) -> list[Finding]:
        """Bound of every factor; all of them together have this risk."""
        each = risk / (2 * max(len(self.factors), 1))
        bounds: dict[tuple[int, int], float] = {}
        found = []
        for number, pair in enumerate(zip(often.tolist(), seldom.tolist(), strict=True)):
            if pair not in bounds:
                bounds[pair] = log_ratio(*pair, samples, each)
            event = self._events[number]
            found.append(Finding(bounds[pair], f"{event.reports} of part {number}", event.most, event.least))
        return found

    def smallest_share(self, findings: list[Finding]) -> float | None:
        """Least share of its stated epsilon that any factor reached; None without factors to reach it."""
        pairs = [(found.bound, factor.epsilon) for found, factor in zip(findings, self.factors, strict=True)]
        return min((bound / epsilon for bound, epsilon in pairs if epsilon > 0 and isfinite(epsilon)), default=None)
