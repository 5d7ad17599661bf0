"""MOPSO, figure 10: what the matrices of least distortion estimate, at epsilon 2."""

from typing import Any

import numpy as np

from papers._mopso import AGREE, EPSILON, PAPER, RESPONDENTS, ROW_WISE, about, fronts, prior_of, short
from papers.comparison import Row, claim, unanimous
from papers.rerun import Progress, Rerun
from sottovoce.checks import Array
from sottovoce.designs.certified import design
from sottovoce.designs.front import Point
from sottovoce.estimates.likelihood import em_stack

TITLE = "Estimates of the classes of car and Connect-4 at the best utility, epsilon = 2"
SOURCE = f"{PAPER}, figure 10"


def rerun(*, quick: bool, seed: int, progress: Progress) -> Rerun:
    """Two swarms, and reports simulated with the best matrix of each method."""
    rows: list[Row] = []
    panels = {}
    for name in ("car", "Connect-4"):
        prior = prior_of(name)
        found = fronts(prior, EPSILON, quick=quick, seed=seed, progress=progress)
        best = [front[0] for front in found.all()]  # in order of distortion
        frapp, _, certified = best
        swarms = [front[0] for front in found.swarms]
        better = claim(
            f"distortion, {name}",
            "better than FRAPP",
            f"{_shown([each['distortion'] for each in swarms])} instead of {frapp['distortion']:.4f}; "
            f"none has less than {certified['distortion']:.4f}",
            unanimous(each["distortion"] < frapp["distortion"] for each in swarms),
        )
        closer = claim(
            f"error of an estimated share, {name}",
            "the best utility estimates the distribution best",
            f"standard error {_shown([each['mse'] ** 0.5 for each in swarms])} against FRAPP's "
            f"{frapp['mse'] ** 0.5:.4f}; at least "
            f"{design(prior, RESPONDENTS, epsilon=EPSILON)['mse'] ** 0.5:.4f} is possible",
            unanimous(each["mse"] < frapp["mse"] for each in swarms),
        )
        rows += [short(better, quick=quick), short(closer, quick=quick, improves=False)]
        labels = ("truth", "FRAPP", "MOPSO", "least distortion, certified")
        panels[name] = dict(zip(labels, [prior, *(_estimated(one, prior, seed) for one in best)], strict=True))
    notes = [
        ROW_WISE,
        AGREE,
        "Distortion is not the error of an estimate: matrices of least distortion leave rare classes out, and what is "
        "never reported is estimated badly. Designs for estimation minimise the error (see `design`).",
        "Estimates of the figure are the most likely distributions behind 10,000 simulated reports.",
    ]
    return Rerun(about(quick=quick, seed=seed, epsilon=EPSILON), rows, notes, lambda figure: _draw(figure, panels))


def _shown(numbers: list[float]) -> str:
    return ", ".join(f"{number:.4f}" for number in numbers)


def _estimated(point: Point, prior: Array, seed: int) -> Array:
    """Most likely distribution behind simulated reports."""
    matrix = point.channel.dense()
    expected = matrix @ prior
    counts = np.random.default_rng(seed).multinomial(RESPONDENTS, expected / expected.sum())
    return np.asarray(em_stack([matrix], [counts])[0])


def _draw(figure: Any, panels: dict[str, dict[str, Array]]) -> None:
    for place, (name, distributions) in enumerate(panels.items(), start=1):
        axes = figure.add_subplot(1, 2, place)
        for shift, (label, shares) in enumerate(distributions.items()):
            axes.bar(np.arange(len(shares)) + 0.2 * (shift - 1.5), shares, 0.2, label=label)
        axes.set_xticks(
            range(len(distributions["truth"])), [str(number + 1) for number in range(len(distributions["truth"]))]
        )
        axes.set(title=name, xlabel="class, the likeliest first", ylabel="share")
        axes.legend()
