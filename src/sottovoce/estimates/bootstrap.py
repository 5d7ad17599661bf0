"""The parametric bootstrap: estimates from simulated reports, as if the estimate were the truth."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from sottovoce.checks import Array, Progress, whole_number
from sottovoce.estimates.covariance import InversionCovariance
from sottovoce.estimates.likelihood import nearest_distribution
from sottovoce.mechanisms.coins import Randomness

DRAWS = 2000
"""Default number of samples: tails of 2.5 % have a standard error of a third of a point."""

FEWEST_DRAWS = 100
"""Fewest samples from which tails can be estimated."""

MOST_NUMBERS = 2**26
"""Most numbers, samples times cells, that are kept for their quantiles: half a gibibyte."""

BLOCK_NUMBERS = 2**21
"""Numbers, samples times report cells, that are drawn at once."""


def bootstrap_ends(
    source: InversionCovariance,
    level: float,
    *,
    simultaneous: bool = False,
    draws: int = DRAWS,
    rng: Randomness = None,
    progress: Progress | None = None,
) -> tuple[Array, Array]:
    """Return studentised bootstrap intervals, `p - t_(1 - a/2) se` to `p - t_(a/2) se`, cut to [0, 1].

    t are quantiles of `(p* - p) / se*` over bootstrap samples (Efron & Tibshirani 1993, 12.5). With 100 to 1,000
    disguised reports they covered 94.5 to 97.4 % (mean over cells, 500 samples), where percentile intervals fell to
    92.2 % and basic ones to 93.2 %. Simultaneous intervals take the quantile of the largest |t| of a sample over all
    cells. Where answers are hardly disguised and a category is rare, prefer score intervals.
    """
    value, deviations = source.value, studentised_errors(source, draws, rng, progress)
    error = np.sqrt(source.variances)
    if simultaneous:
        largest = np.quantile(np.abs(deviations).max(axis=1), level, method="inverted_cdf")
        below, above = np.full_like(value, -largest), np.full_like(value, largest)
    else:
        tails = [(1 - level) / 2, (1 + level) / 2]
        below, above = np.quantile(deviations, tails, axis=0, method="inverted_cdf")
    # A cell without variance has no interval, even if t is infinite.
    low, high = (value - np.where(error > 0, t, 0) * error for t in (above, below))
    return np.clip(low, 0, 1), np.clip(high, 0, 1)


def studentised_errors(source: InversionCovariance, draws: int, rng: Randomness, progress: Progress | None) -> Array:
    """Return `(p* - p) / se*` of every bootstrap sample and cell, p the distribution nearest to the estimate.

    For the population, reports have the distribution `A p`; for the table, the estimated table is held fixed, and only
    the coins are tossed anew for each of its respondents.
    """
    distribution = nearest_distribution(source.value)
    checked_draws(draws, len(distribution))
    deviations, done = np.empty((draws, len(distribution))), 0
    for reported, center in simulated_reports(source, distribution, draws, np.random.default_rng(rng)):
        value = source.channel.solve(reported)[source.order]
        square_of_mean = value**2 if source.target == "population" else value
        second_moments = source.channel.solve_squared(reported)[source.order]
        variances = np.maximum(second_moments - square_of_mean, 0) / source.respondents
        errors = value - center[:, None]
        # An error in a sample without variance is infinitely many standard errors, but no error is none.
        errors[np.abs(errors) < 1e-12] = 0
        with np.errstate(divide="ignore"):
            ratios = np.divide(errors, np.sqrt(variances), out=np.zeros_like(errors), where=errors != 0)
        deviations[done : done + reported.shape[1]] = ratios.T
        done += reported.shape[1]
        if progress is not None:
            progress(done, draws)
    return deviations


def simulated_reports(
    source: InversionCovariance, distribution: Array, draws: int, rng: np.random.Generator
) -> Iterator[tuple[Array, Array]]:
    """Yield the frequencies of simulated reports, a column for each sample, and the distribution they came from.

    Cells are in the estimate's order. A table has whole numbers of people, so its samples come from the nearest such
    table.
    """
    people = round(source.respondents)
    center = distribution if source.target == "population" else whole_numbers(distribution, people) / people
    grouped = np.empty_like(center)
    grouped[source.order] = center
    rows = max(1, BLOCK_NUMBERS // source.channel.n_out)
    for start in range(0, draws, rows):
        size = min(rows, draws - start)
        if source.target == "population":
            counts = rng.multinomial(people, _normalised(source.channel.matvec(grouped)), size)
        else:
            counts = np.zeros((size, source.channel.n_out), np.int64)
            for truth in np.flatnonzero(grouped):
                column = _normalised(source.channel.column(int(truth)))
                counts += rng.multinomial(round(grouped[truth] * people), column, size)
        yield counts.T / people, center


def whole_numbers(distribution: Array, people: int) -> NDArray[np.int64]:
    """Return whole numbers of people in each cell, with this sum, as close to the distribution as possible.

    >>> whole_numbers(np.array([0.5, 0.3, 0.2]), 7)
    array([4, 2, 1])
    """
    expected = distribution * people
    numbers = np.floor(expected + 1e-9).astype(np.int64)
    left = people - int(numbers.sum())
    numbers[np.argsort(numbers - expected, kind="stable")[:left]] += 1
    return numbers


def checked_draws(draws: int, cells: int) -> int:
    """Return a number of samples that is large enough for their tails, and small enough for memory."""
    return whole_number("draws", draws, least=FEWEST_DRAWS, most=MOST_NUMBERS // cells)


def _normalised(probabilities: Array) -> Array:
    """Return probabilities without the rounding errors that numpy would refuse."""
    kept = np.maximum(probabilities, 0)
    return np.asarray(kept / kept.sum())
