"""What MOPSO's figures share: FRAPP's front, the swarm's and the certified one, under epsilon in rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from papers.comparison import Row, claim, unanimous
from papers.rerun import Progress
from sottovoce.checks import Array
from sottovoce.datasets.published import car, connect_4
from sottovoce.designs.certified import information_front
from sottovoce.designs.front import INFORMATION_AND_DISTORTION, Front
from sottovoce.designs.mopso import Settings, mopso_front
from sottovoce.designs.requirement import named_prior
from sottovoce.designs.sweeps import warner_sweep

PAPER = "Y. Gao et al. (2018), Security and Communication Networks"
RESPONDENTS = 10_000
CATEGORIES = 8
EPSILON = 2
GENERATIONS, QUICK = 200, 60
SWARMS, QUICK_SWARMS = 5, 2
AGREE = "A claim holds or fails if it does so in each swarm."
PRIORS = ("uniform", "t", "chi2", "binomial", "beta", "gamma")
"""Of figure 6, (a) to (f)."""

ROW_WISE = (
    "The paper writes its bound on ratios per column of a column-stochastic matrix, which is no differential privacy; "
    "here every report, a row, keeps epsilon, as its section 5.2 prints it."
)


FARTHEST = (
    "FRAPP's range of distortion is the wider one where it goes on beyond 1 - max p. Matrices there are dominated by "
    "one that reports the likeliest category always; a swarm that finds that one ends there."
)


@dataclass(frozen=True)
class Fronts:
    """Fronts for one prior and epsilon: FRAPP's, those of some swarms, and the certified one."""

    frapp: Front
    swarms: tuple[Front, ...]
    certified: Front

    def all(self) -> tuple[Front, Front, Front]:
        """In this order, with the first swarm."""
        return self.frapp, self.swarms[0], self.certified

    def beaten(self) -> list[float]:
        """Share of FRAPP's matrices that some matrix of a swarm dominates or equals, for each swarm."""
        theirs = self.frapp.losses()
        return [
            float(np.mean(np.any(np.all(swarm.losses()[None] <= theirs[:, None] + 1e-9, axis=2), axis=1)))
            for swarm in self.swarms
        ]


def fronts(prior: Any, epsilon: float, *, quick: bool, seed: int, progress: Progress) -> Fronts:
    """Swarms with Table 2's parameters, sweep of 999 matrices, certified front."""
    settings = Settings(generations=generations(quick=quick))
    swarms = tuple(
        mopso_front(prior, RESPONDENTS, epsilon=epsilon, settings=settings, seed=own, progress=progress)
        for own in seeds(quick=quick, seed=seed)
    )
    return Fronts(frapp(prior, epsilon), swarms, information_front(prior, RESPONDENTS, epsilon=epsilon))


def seeds(*, quick: bool, seed: int) -> range:
    """Of as many swarms."""
    return range(seed, seed + (QUICK_SWARMS if quick else SWARMS))


def six(*, quick: bool, seed: int, progress: Progress) -> list[tuple[str, Fronts]]:
    """Fronts of the six priors of eight categories, of figures 6 and 7."""
    return [(name, fronts(prior_of(name), EPSILON, quick=quick, seed=seed, progress=progress)) for name in PRIORS]


def about_six(*, quick: bool, seed: int) -> dict[str, Any]:
    """Settings of figures 6 and 7."""
    return about(quick=quick, seed=seed, priors=PRIORS, categories=CATEGORIES, epsilon=EPSILON)


def frapp(prior: Any, epsilon: float) -> Front:
    """FRAPP's undominated matrices within epsilon, of 999 with a diagonal of .001 ... .999."""
    swept = warner_sweep(prior, RESPONDENTS, objectives=INFORMATION_AND_DISTORTION)
    found = swept.within(epsilon=epsilon).non_dominated()
    return Front(found.points, found.prior, RESPONDENTS, "FRAPP", INFORMATION_AND_DISTORTION)


def generations(*, quick: bool) -> int:
    """Table 2's, or few."""
    return QUICK if quick else GENERATIONS


def short(row: Row, *, quick: bool, improves: bool = True) -> Row:
    """The row, which a quick flight of the swarm may leave open."""
    return row.of_short_search(generations(quick=quick), GENERATIONS, improves=improves)


def about(*, quick: bool, seed: int, **more: Any) -> dict[str, Any]:
    """Settings of a figure."""
    swarms = len(seeds(quick=quick, seed=seed))
    settings = {"respondents": RESPONDENTS, "generations": generations(quick=quick), "swarms": swarms}
    return {**settings, "seed": seed, "quick": quick, **more}


def prior_of(name: str) -> Array:
    """A named prior of eight categories, or the classes of a data set, the likeliest first."""
    if name in ("car", "Connect-4"):
        classes = car()["class"] if name == "car" else connect_4()["outcome"]
        counts = np.sort(np.unique(classes, return_counts=True)[1])[::-1]
        return np.asarray(counts / counts.sum())
    return named_prior(name, CATEGORIES)


def spans(front: Front) -> tuple[Array, Array]:
    """Least and largest bits and distortion."""
    losses = front.losses()
    return losses.min(axis=0), losses.max(axis=0)


def wider(name: str, words: str, found: Fronts, measure: int, *, quick: bool) -> Row:
    """Row of the claim that a swarm covers a wider range of a measure, 0 for bits and 1 for distortion."""
    ends = [(low[measure], high[measure]) for low, high in map(spans, found.swarms)]
    (least, most) = (end[measure] for end in spans(found.frapp))
    shown = ", ".join(f"{low:.4f} to {high:.4f}" for low, high in ends)
    larger = unanimous(high - low > most - least for low, high in ends)
    row = claim(name, words, f"{shown} instead of {least:.4f} to {most:.4f}", larger)
    return short(row, quick=quick, improves=False)


def lower(name: str, found: Fronts, *, quick: bool) -> Row:
    """Row of what a wider range of utility is good for: fewer wrong reports."""
    ours = [float(spans(swarm)[0][1]) for swarm in found.swarms]
    theirs, certified = (float(spans(front)[0][1]) for front in (found.frapp, found.certified))
    shown = ", ".join(f"{each:.4f}" for each in ours)
    said = f"{shown} instead of {theirs:.4f}; the certified least is {certified:.4f}"
    return short(
        claim(name, "better utility than FRAPP's", said, unanimous(each < theirs for each in ours)), quick=quick
    )


def dominance(name: str, words: str, found: Fronts, *, quick: bool) -> Row:
    """Row of the claim that a swarm dominates almost all of FRAPP's matrices."""
    shares = found.beaten()
    said = f"{', '.join(f'{share:.0%}' for share in shares)} of FRAPP's matrices are dominated"
    return short(
        claim(name, words, said, unanimous(share >= 0.9 for share in shares), "read as: nine of ten"), quick=quick
    )


def draw(figure: Any, panels: Sequence[tuple[str, Fronts]]) -> None:
    """Fronts of bits against distortion, the certified one over the papers'."""
    columns = min(len(panels), 3)
    for place, (title, found) in enumerate(panels, start=1):
        axes = figure.add_subplot(-(-len(panels) // columns), columns, place)
        found.frapp.plot(*found.all()[1:], axes=axes)
        axes.set_title(title)


def draw_boxes(figure: Any, panels: Sequence[tuple[str, Fronts]]) -> None:
    """Boxes of bits and of distortion, side by side for each prior."""
    for place, label in enumerate(("mutual information in bits", "wrong reports"), start=1):
        axes = figure.add_subplot(2, 1, place)
        for shift, one in enumerate(zip(*(found.all() for _, found in panels), strict=True)):
            axes.boxplot(
                [front.losses()[:, place - 1] for front in one],
                positions=[4 * prior + shift for prior in range(len(panels))],
                widths=0.8,
                patch_artist=True,
                boxprops={"facecolor": f"C{shift}", "alpha": 0.5},
                medianprops={"color": "black"},
                label=one[0].name,
                manage_ticks=False,
            )
        axes.set_xticks([4 * prior + 1 for prior in range(len(panels))], [title for title, _ in panels])
        axes.set_ylabel(label)
        axes.grid(axis="y", alpha=0.3)
        if place == 1:
            axes.legend(ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1), frameon=False)
