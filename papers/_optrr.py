"""What OptRR's figures share: Warner's front, the search's and the certified one, for 10,000 respondents."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from papers.comparison import Row, claim
from papers.rerun import Progress
from sottovoce.checks import Array
from sottovoce.designs.certified import certified_front
from sottovoce.designs.front import Front
from sottovoce.designs.optrr.matrices import Settings
from sottovoce.designs.optrr.search import optrr_front
from sottovoce.designs.sweeps import warner_sweep

PAPER = "Z. Huang & W. Du (2008), OptRR, ICDE, 705-714"
RESPONDENTS = 10_000
DELTA = 0.75
GENERATIONS, QUICK = 20_000, 600
"""The paper's, and few."""

SEARCHES, QUICK_SEARCHES = 5, 2
"""With the paper's operators alone, to see how far searches differ."""


@dataclass(frozen=True)
class Fronts:
    """Three fronts for one prior and delta."""

    warner: Front
    optrr: Front
    certified: Front

    @property
    def ranges(self) -> tuple[float, ...]:
        """Least privacy, one minus the largest accuracy, of each."""
        return tuple(1 - float(front.losses()[:, 0].max()) for front in (self.warner, self.optrr, self.certified))

    def gains(self) -> Array:
        """Warner's error over OptRR's at each of Warner's accuracies that OptRR reaches."""
        return gains(self.warner, self.optrr)


def fronts(prior: Any, delta: float, *, quick: bool, seed: int, progress: Progress) -> Fronts:
    """Search, sweep and certify."""
    settings = Settings(generations=generations(quick=quick))
    searched = optrr_front(prior, RESPONDENTS, delta=delta, settings=settings, seed=seed, progress=progress)
    swept = replace(warner_sweep(prior, RESPONDENTS).within(delta=delta).non_dominated(), name="Warner's scheme")
    return Fronts(swept, searched, certified_front(prior, RESPONDENTS, delta=delta, accuracies=6 if quick else 25))


def generations(*, quick: bool) -> int:
    """The paper's, or few."""
    return QUICK if quick else GENERATIONS


def settings(prior: Any, delta: float, *, quick: bool, seed: int) -> dict[str, Any]:
    """Settings of a figure for one prior."""
    shares = [round(float(share), 6) for share in prior]
    return {
        "prior": shares,
        "respondents": RESPONDENTS,
        "delta": delta,
        "generations": generations(quick=quick),
        "seed": seed,
        "quick": quick,
    }


def gains(worse: Front, better: Front) -> Array:
    """Error of one front over that of another at each accuracy of the first that the second reaches."""
    ours, theirs = better.losses(), worse.losses()
    found = []
    for accuracy, error in theirs[np.isfinite(theirs).all(axis=1)]:
        reached = ours[ours[:, 0] <= accuracy + 1e-12, 1]
        if len(reached):
            found.append(error / reached.min())
    return np.array(found)


def lower_everywhere(name: str, gain: Array, *, quick: bool) -> Row:
    """Row of the claim that OptRR has the lower error wherever both have a matrix."""
    said = f"{(gain > 1).mean():.1%} of Warner's matrices beaten, by a factor of {np.median(gain):.2f} at the median"
    row = claim(name, "lower error than Warner's scheme at the same privacy", said, bool((gain > 1).all()))
    return short(row, quick=quick)


def short(row: Row, *, quick: bool, improves: bool = True) -> Row:
    """The row, which a quick search may leave open."""
    return row.of_short_search(generations(quick=quick), GENERATIONS, improves=improves)


def papers_ranges(prior: Any, delta: float, *, quick: bool, seed: int, progress: Progress) -> list[float]:
    """Least privacy of some searches with the paper's operators alone."""
    found = []
    for own in range(seed, seed + (QUICK_SEARCHES if quick else SEARCHES)):
        settings = Settings(generations=generations(quick=quick), neighbours=0, levelling=0)
        front = optrr_front(prior, RESPONDENTS, delta=delta, settings=settings, seed=own, progress=progress)
        found.append(1 - float(front.losses()[:, 0].max()))
    return found


def excess(found: Fronts) -> str:
    """How far the search is from the optimum, in words."""
    over = gains(found.optrr, found.certified)
    return f"OptRR's errors exceed the certified optimum by {np.median(over) - 1:.0%} at the median"


def draw(figure: Any, panels: Sequence[tuple[str, Sequence[Front]]]) -> None:
    """One panel for each group of fronts, privacy growing to the right as in the paper."""
    rows = -(-len(panels) // 2)
    for place, (title, group) in enumerate(panels, start=1):
        axes = figure.add_subplot(rows, min(len(panels), 2), place)
        group[0].plot(*group[1:], axes=axes)
        least = min(front.losses()[:, 1].min() for front in group)
        axes.set(title=title, ylim=(least / 2, least * 100), ylabel="mean squared error")
        axes.invert_xaxis()
