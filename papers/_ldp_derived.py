"""What figures 3 and 4 of Wang, Wu & Hu (2016) share: a derived measure against epsilon, from both mechanisms."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from papers._ldp_picture import draw_estimates
from papers._ldp_table import (
    MECHANISMS,
    STAND_IN,
    TARGETS,
    Array,
    channel_of,
    epsilons,
    everywhere,
    exact,
    simulated,
)
from papers.comparison import Measured, Row
from papers.rerun import Progress, Rerun
from sottovoce.designs.compare_measures import derived_error
from sottovoce.estimates.derived import delta_method, functional_named
from sottovoce.estimates.likelihood import nearest_distribution
from sottovoce.estimates.sample_size import expected_estimate

Lines = dict[str, tuple[list[float], list[float]]]
Losses = dict[str, list[tuple[Measured, Measured]]]
"""Mean squared distance and variance at every epsilon, by mechanism."""


def rerun_measure(
    table: Any, name: str, measure: Callable[[Array], float], *, quick: bool, seed: int, progress: Progress
) -> Rerun:
    """Simulated estimates at the nearest distribution with their spread; exact errors by the delta method."""
    grid, draws = epsilons(quick=quick), 150 if quick else 10_000
    truth, rng, rows = measure(table.ravel() / table.sum()), np.random.default_rng(seed), list[Row]()
    lines: dict[str, Lines] = {}
    for step, target in enumerate(TARGETS):
        lines[target], losses = _lines(table, target, measure, truth, grid, draws, rng)
        rows += _claims(lines[target], losses, truth, grid, target)
        rows += _by_delta(table, name, target, grid)
        progress(step + 1, len(TARGETS))
    settings = {"epsilons": grid, "draws": draws, "seed": seed, "respondents": int(table.sum()), "truth": truth}
    notes = (
        STAND_IN,
        "Noise carries cells below zero, where the measure is not defined: it is taken at the nearest distribution. "
        "That bounds it, so that its spread is small, and its bias large, where the noise is worst.",
        "The delta method is not to be trusted where noise reaches cells at zero or the curvature rules; its errors "
        "are then what the paper's formula says, not what estimates do.",
    )
    return Rerun(settings, rows, notes, draw_estimates(grid, lines, truth, name.replace("-", " ")))


def _lines(
    table: Any, target: str, measure: Any, truth: float, grid: Sequence[float], draws: int, rng: Any
) -> tuple[Lines, Losses]:
    """Mean and standard deviation of the estimates of each mechanism, and their losses."""
    lines: Lines = {}
    losses: Losses = {}
    for mechanism in MECHANISMS:
        middle, spread, lost = [], [], []
        for epsilon in grid:
            estimates = simulated(channel_of(mechanism, epsilon, table.shape), table, target, draws, rng)
            values = np.array([measure(nearest_distribution(estimate)) for estimate in estimates])
            middle.append(float(values.mean()))
            spread.append(float(values.std()))
            squares = (values - truth) ** 2, (values - values.mean()) ** 2
            lost.append((Measured.mean_of(squares[0]), Measured.mean_of(squares[1])))
        lines[mechanism], losses[mechanism] = (middle, spread), lost
    return lines, losses


def _claims(lines: Lines, losses: Losses, truth: float, grid: Sequence[float], target: str) -> list[Row]:
    """Closer to the truth, with a smaller standard deviation: as the estimates really are."""
    (coin, coin_spread), (noise, noise_spread) = lines["randomized_response"], lines["laplace"]
    pairs = list(zip(losses["randomized_response"], losses["laplace"], strict=True))
    nearer, steadier = ([ours[k].below(theirs[k]) for ours, theirs in pairs] for k in (0, 1))
    off_coin, off_noise = ([each[0].value ** 0.5 for each in losses[name]] for name in MECHANISMS)
    said = f"root mean squared {_shown(off_coin, off_noise)}; means {_shown(coin, noise)}, truth {truth:.4g}"
    read = "read as: by the mean squared distance"
    return [
        everywhere(f"distance, {target}", "closer to the real value", grid, nearer, said, read),
        everywhere(f"standard deviation, {target}", "smaller", grid, steadier, _shown(coin_spread, noise_spread)),
    ]


def _by_delta(table: Any, name: str, target: Any, grid: Sequence[float]) -> list[Row]:
    """Standard deviations by the paper's formula, and where the delta method may be trusted."""
    measure, about = f"{name.replace('-', '_')}_error", {"respondents": float(table.sum()), "target": target}
    measures = {"error": partial(derived_error, name=measure, **about), "sure": partial(_trusted, name, about)}
    found = exact(table, measures, grid)
    coin, noise = (found[mechanism, "error"] for mechanism in MECHANISMS)
    smaller = [a < b for a, b in zip(coin, noise, strict=True)]
    trusted = [f"{e:g}" for e, sure in zip(grid, found["randomized_response", "sure"], strict=True) if sure]
    said = f"{_shown(coin, noise)}; to be trusted at epsilon {', '.join(trusted) or 'none'}"
    return [everywhere(f"delta method, {target}", "smaller standard deviation", grid, smaller, said)]


def _trusted(name: str, about: dict[str, Any], channel: Any, prior: Any) -> bool:
    """Whether noise stays clear of where the measure bends or ends."""
    found = expected_estimate(channel, prior, **about)
    return delta_method(found, functional_named(name, found)).reason is None


def _shown(coin: Sequence[float], noise: Sequence[float]) -> str:
    return "RR/LM " + " ".join(f"{a:.3g}/{b:.3g}" for a, b in zip(coin, noise, strict=True))
