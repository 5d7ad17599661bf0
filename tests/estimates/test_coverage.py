"""Intervals cover as often as they say: for the table and for the population, through every kind of channel.

Report counts are drawn from the channel itself (that the samplers follow it is tested elsewhere), 4,000
times with a fixed seed. The mean coverage of the cells' 95 % intervals must lie between 93.5 and 96.5 %,
and the mean estimate within five Monte-Carlo errors of the truth. The table of docs/coverage.md must say what was
found, to a tenth of a percent.
"""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from sottovoce.channels.channel import Channel
from sottovoce.channels.kronecker import Kronecker
from sottovoce.estimates.counted import Counted
from sottovoce.estimates.derived import derive
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.proportions import by_blue, by_inversion
from sottovoce.measures.association import PearsonCorrelation
from sottovoce.schemes.attribute_sampling import AttributeSampling
from sottovoce.schemes.emask import Emask
from sottovoce.schemes.gamma_diagonal import GammaDiagonal
from sottovoce.schemes.randomized_response import RandomizedResponse
from sottovoce.schemes.subset_selection import SubsetSelection
from sottovoce.schemes.unrelated_question import UnrelatedQuestion
from sottovoce.schemes.warner import Warner

SIMULATIONS = 4000


def _kronecker() -> Channel:
    return Kronecker([RandomizedResponse(epsilon=1).mechanism((k,)).channel for k in (3, 4)])


SETTINGS: dict[str, tuple[Channel, int]] = {
    "Warner, binary": (Warner(p=Fraction(3, 4)).mechanism((2,)).channel, 1000),
    "gamma-diagonal, k = 10": (GammaDiagonal(gamma=19).mechanism((10,)).channel, 5000),
    "Kronecker 3 x 4": (_kronecker(), 20_000),
    "unrelated question": (UnrelatedQuestion(theta=0.6, known=[0.2, 0.3, 0.5]).mechanism((3,)).channel, 2000),
    "EMASK pair": (Emask(p=0.5051, q=0.9696).mechanism((2, 2)).channel, 50_000),
    "subset selection": (SubsetSelection(odds=3, size=2).mechanism((6,)).channel, 5000),
    "attribute sampling": (AttributeSampling(odds=4).mechanism((3, 4)).channel.marginal([1]), 10_000),
}


CORRELATION = "correlation, 2 x 3"


def _shown_in_the_docs() -> dict[tuple[str, str], str]:
    """Coverage by setting and target, as the table in the documentation has it."""
    text = (Path(__file__).parents[2] / "docs/coverage.md").read_text()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]
    start = rows.index(["setting", "respondents", "population", "table"])
    (_, _, *targets), _, *body = rows[start:]
    return {(row[0], target): cell for row in body for target, cell in zip(targets, row[2:], strict=True)}


def truths(cells: int) -> np.ndarray:
    """An uneven law without tiny cells: Wald intervals are for those."""
    return np.arange(2, cells + 2) / np.arange(2, cells + 2).sum()


Draw = Callable[[], np.ndarray]


def drawn(channel: Channel, law: np.ndarray, people: int, target: str, seed: list[int]) -> tuple[np.ndarray, Draw]:
    """The truth, and a function that draws counts of reports: of a new sample, or of the same table."""
    rng = np.random.default_rng(seed)
    columns = channel.matvec(np.eye(channel.n_in)).clip(0)
    columns /= columns.sum(axis=0)
    if target == "population":
        return law, lambda: rng.multinomial(people, columns @ law)
    fixed = np.round(law * people).astype(int)
    return fixed / fixed.sum(), lambda: sum(rng.multinomial(n, c) for n, c in zip(fixed, columns.T, strict=True))


def estimate(channel: Channel, counts: np.ndarray, target: str) -> Estimate:
    counted = Counted(("a",), (tuple(range(channel.n_in)),), channel, counts, np.arange(channel.n_in))
    return by_blue(counted, target) if channel.n_out > channel.n_in else by_inversion(counted, target)


def check(name: str, target: str, covered: float, values: np.ndarray, truth: np.ndarray) -> None:
    assert 0.935 < covered < 0.965
    errors = values.std(axis=0, ddof=1) / np.sqrt(SIMULATIONS)
    assert (np.abs(values.mean(axis=0) - truth) < 5 * errors).all()
    assert _shown_in_the_docs()[name, target] == f"{100 * covered:.1f} %"


@pytest.mark.slow
@pytest.mark.parametrize("target", ["population", "table"])
@pytest.mark.parametrize("name", SETTINGS)
def test_intervals_cover(name, target):
    channel, people = SETTINGS[name]
    truth, draw = drawn(channel, truths(channel.n_in), people, target, [len(name), len(target)])
    covered, values = np.zeros(channel.n_in), np.zeros((SIMULATIONS, channel.n_in))
    for run in range(SIMULATIONS):
        found = estimate(channel, draw(), target)
        low, high = found.interval(0.95, kind="wald")
        covered += (low <= truth) & (truth <= high)
        values[run] = found.value
    check(name, target, covered.mean() / SIMULATIONS, values, truth)


@pytest.mark.slow
@pytest.mark.parametrize("target", ["population", "table"])
def test_correlations_cover(target):
    channel = Kronecker([RandomizedResponse(odds=9).mechanism((k,)).channel for k in (2, 3)])
    functional = PearsonCorrelation([0, 1], [0, 1, 2])
    law = np.array([0.30, 0.15, 0.05, 0.10, 0.15, 0.25])
    table, draw = drawn(channel, law, 5000, target, [7])
    truth = functional.value(table)
    found = [derive(estimate(channel, draw(), target), functional) for _ in range(SIMULATIONS)]
    covered = np.mean([number.low <= truth <= number.high for number in found])
    check(CORRELATION, target, covered, np.array([[number.value] for number in found]), np.array([truth]))
