"""MOPSO, figure 8: how many matrices each method offers, by epsilon."""

from typing import Any

import numpy as np

from papers._mopso import AGREE, PAPER, ROW_WISE, about, frapp, generations, prior_of, seeds, short
from papers.comparison import claim, unanimous
from papers.rerun import Progress, Rerun
from sottovoce.designs.mopso import Settings, Swarm

TITLE = "Numbers of undominated matrices of FRAPP and MOPSO for epsilon = 0 ... 2"
SOURCE = f"{PAPER}, figure 8"

SIZES = {0: 200, 0.1: 200, 0.5: 200, 1: 200, 1.5: 400, 2: 400}
"""Of repository and archive, by epsilon."""


def rerun(*, quick: bool, seed: int, progress: Progress) -> Rerun:
    """A swarm and a sweep for each epsilon, on the gamma prior."""
    prior = prior_of("gamma")
    counts: dict[float, tuple[int, list[int]]] = {}
    for done, (epsilon, size) in enumerate(SIZES.items(), start=1):
        settings = Settings(repository=size, archive=size, generations=generations(quick=quick))
        found = []
        for own in seeds(quick=quick, seed=seed):
            swarm = Swarm(prior, float(np.exp(epsilon)), settings, np.random.default_rng(own))
            swarm.run()
            found.append(len(swarm.front()[1]))
        counts[epsilon] = len(frapp(prior, epsilon)), found
        progress(done, len(SIZES))
    positive = [pair for epsilon, pair in counts.items() if epsilon > 0]
    stable = claim(
        "MOPSO as epsilon falls",
        "almost stable",
        "; ".join(f"{', '.join(map(str, ours))} at {epsilon}" for epsilon, (_, ours) in counts.items()),
        unanimous(min(each) > 0.5 * max(each) for each in zip(*(ours for _, ours in positive), strict=True)),
        "read as: never fewer than half of the most, from epsilon .1 to 2",
    )
    more = claim(
        "small epsilon",
        "MOPSO finds more matrices than FRAPP",
        f"{', '.join(map(str, counts[0.1][1]))} against {counts[0.1][0]} at epsilon .1",
        unanimous(ours > counts[0.1][0] for ours in counts[0.1][1]),
    )
    rows = [
        claim(
            "FRAPP as epsilon falls",
            "a sharp drop of the number of matrices",
            ", ".join(f"{theirs} at {epsilon}" for epsilon, (theirs, _) in counts.items()),
            positive[0][0] < 0.1 * positive[-1][0],
            "read as: to less than a tenth, from epsilon 2 to .1",
        ),
        *(short(row, quick=quick, improves=False) for row in (stable, more)),
    ]
    notes = [
        ROW_WISE,
        AGREE,
        "At epsilon 0 no report depends on the truth: no matrix is invertible, and all tell 0 bits, so that only the "
        "one with the least distortion is undominated. The number of matrices is no measure of quality: the certified "
        "front is a curve, of as many matrices as one computes, and at small epsilon a single point (figure 9).",
        "The figure does not say which prior it is for: gamma here.",
    ]
    return Rerun(about(quick=quick, seed=seed, prior="gamma"), rows, notes, lambda figure: _draw(figure, counts))


def _draw(figure: Any, counts: dict[float, tuple[int, list[int]]]) -> None:
    axes = figure.add_subplot()
    places = np.arange(len(counts))
    both = {"FRAPP": [theirs for theirs, _ in counts.values()], "MOPSO": [ours[0] for _, ours in counts.values()]}
    for shift, (label, numbers) in enumerate(both.items()):
        axes.bar(places + 0.4 * shift, numbers, 0.4, label=label)
    axes.set_xticks(places + 0.2, [str(epsilon) for epsilon in counts])
    axes.set(xlabel="epsilon", ylabel="undominated matrices")
    axes.legend()
