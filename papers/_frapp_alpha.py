"""Figures 4.3 and 4.4: what RAN-GD's private parameter does to posteriors, and what it does not do to errors."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from papers._frapp import GAMMA, MIN_SUPPORT, Data
from papers._frapp_schemes import mined
from papers._repeated import MEASURES, Errors, counted, repeated
from papers.comparison import Measured, Printed, Row, all_of, claim, compare
from papers.rerun import Progress, Rerun
from sottovoce.measures.private_parameter import PosteriorRange, posterior_range
from sottovoce.schemes.randomized_gamma_diagonal import RandomizedGammaDiagonal

DISGUISES, QUICK = 100, 4
BEFORE, LENGTH = 0.05, 4
ALPHAS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Shares of gamma x; quick takes every other one."""


def rerun(data: Data, *, quick: bool, seed: int, progress: Progress) -> Rerun:
    """Ranges by formula; errors at length 4 over repeated disguises."""
    disguises = QUICK if quick else DISGUISES
    alphas = ALPHAS[::2] if quick else ALPHAS
    ranges = [posterior_range(BEFORE, GAMMA, data.cells, alpha) for alpha in alphas]
    errors = []
    for place, alpha in enumerate(alphas):
        first, moved = seed + place * disguises, counted(progress, place * disguises, len(alphas) * disguises)
        mine = mined(data, RandomizedGammaDiagonal(gamma=GAMMA, alpha=alpha))
        found = repeated(mine, data.truth, range(first, first + disguises), moved)
        errors.append(found[:, LENGTH - 1])
    rows = [*_ranges(ranges[len(alphas) // 2], ranges[-1]), *_errors(errors, alphas)]
    notes = [
        "The range is not protection: r is independent of everything, so reports are distributed as DET-GD's, and a "
        "miner who averages over it reaches 50 % for every alpha. If a client's r leaks, the upper end is reached.",
    ]
    settings = {"gamma": GAMMA, "prior": BEFORE, "min_support": MIN_SUPPORT, "joint cells": data.cells}
    about = {**settings, "disguises of each alpha": disguises, "seed": seed}
    return Rerun(
        about, rows, [*notes, data.note] if data.note else notes, lambda figure: _draw(figure, alphas, ranges, errors)
    )


def _ranges(half: PosteriorRange, whole: PosteriorRange) -> list[Row]:
    """At half of gamma x, as the thesis says, and at all of it."""
    lowest = f"{whole.low:.3f} at alpha = gamma x; the miner who averages has {half.averaged:.3f} everywhere"
    return [
        compare("lower end at alpha = gamma x / 2", Printed("0.33"), half.low),
        compare("upper end at alpha = gamma x / 2", Printed("0.60"), half.high),
        claim(
            "high alpha",
            "very low determinable posterior probability",
            lowest,
            whole.low < BEFORE,
            "read as: below the probability before the report",
        ),
    ]


def _errors(errors: list[Errors], alphas: Sequence[float]) -> list[Row]:
    """Whether errors depend on alpha; beside it the p-value of Kruskal & Wallis' rank test (1952)."""
    from scipy.stats import kruskal

    rows = []
    for column, measure in enumerate(MEASURES):
        samples = [found[:, column].compressed() for found in errors]
        means = [Measured.mean_of(sample) for sample in samples]
        near = all_of(mean.distance(means[0]).below(float(samples[0].std(ddof=1))) for mean in means[1:])
        chance = float(kruskal(*samples).pvalue)
        said = "; ".join(f"{mean} % at {alpha} gamma x" for mean, alpha in zip(means, alphas, strict=True))
        words = "does not deviate much from DET-GD over the range"
        read = f"read as: by less than a standard deviation between disguises. The rank test's p-value is {chance:.2f}"
        rows.append(claim(f"length {LENGTH} {measure}", words, said, near, read))
    return rows


def _draw(figure: Any, alphas: Sequence[float], ranges: list[PosteriorRange], errors: list[Errors]) -> None:
    axes = figure.subplots(2, 2).ravel()
    axes[0].fill_between(alphas, [r.low for r in ranges], [r.high for r in ranges], alpha=0.3, label="if r is known")
    axes[0].plot(alphas, [r.averaged for r in ranges], label="who averages over r")
    axes[0].set(xlabel="alpha / (gamma x)", ylabel="posterior")
    axes[0].legend()
    for panel, (column, measure) in zip(axes[1:], reversed(list(enumerate(MEASURES))), strict=True):
        means = np.array([float(found[:, column].mean()) for found in errors])
        spread = np.array([float(found[:, column].std(ddof=1)) for found in errors])
        panel.errorbar(alphas, means, spread, marker="o", capsize=3, label="mean and spread of disguises")
        panel.set(xlabel="alpha / (gamma x)", ylabel=f"{measure} at length {LENGTH} (%)", ylim=(0, None))
    panel.legend(loc="lower left")
