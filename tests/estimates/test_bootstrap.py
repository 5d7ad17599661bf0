"""The parametric bootstrap: what is drawn anew, intervals that cover, and their repeatability."""

from fractions import Fraction

import numpy as np
import pytest

from sottovoce.channels.keep_or_uniform import KeepOrUniform
from sottovoce.channels.kronecker import Kronecker
from sottovoce.errors import SottovoceError
from sottovoce.estimates import bootstrap
from sottovoce.estimates.bootstrap import simulated_reports, studentised_errors, whole_numbers
from sottovoce.estimates.counted import Counted
from sottovoce.estimates.proportions import by_blue, by_inversion

COIN = KeepOrUniform((3,), Fraction(1, 2))
WARNER = KeepOrUniform((2,), Fraction(1, 2))
PAIR = Kronecker([KeepOrUniform((2,), Fraction(3, 4)), KeepOrUniform((3,), Fraction(1, 2))])


def counted(channel, counts, order=None):
    cells = channel.n_in
    order = np.arange(cells) if order is None else np.asarray(order)
    return Counted(("a",), (tuple(range(cells)),), channel, np.asarray(counts), order)


@pytest.mark.parametrize("target", ["population", "table"])
def test_samples_scatter_as_the_covariance_says(target, monkeypatch):
    """Mean and covariance of 40,000 estimates drawn anew, in blocks, against the formulas: 5 Monte-Carlo errors."""
    monkeypatch.setattr(bootstrap, "BLOCK_NUMBERS", 6 * 17_000)
    law = np.array([0.10, 0.30, 0.20, 0.15, 0.05, 0.20])
    order = [3, 1, 5, 0, 4, 2]  # truth cells in another order than the channel's
    grouped = np.empty(6)
    grouped[order] = law
    source = by_inversion(counted(PAIR, np.round(2000 * PAIR.matvec(grouped)).astype(int), order), target).covariances
    blocks = list(simulated_reports(source, law, 40_000, np.random.default_rng(1)))
    assert [seen.shape[1] for seen, _ in blocks] == [17_000, 17_000, 6_000]
    found = PAIR.solve(np.concatenate([seen for seen, _ in blocks], axis=1))[order]
    error = source.variances.max() ** 0.5 / 200
    np.testing.assert_allclose(found.mean(axis=1), law, atol=5 * error)
    expected = source.block(np.arange(6))
    np.testing.assert_allclose(np.cov(found), expected, atol=5 * np.sqrt(2) * source.variances.max() / 200)


@pytest.mark.slow
@pytest.mark.parametrize("target", ["population", "table"])
@pytest.mark.parametrize(
    ("channel", "law", "people"),
    [(WARNER, [0.7, 0.3], 100), (COIN, [0.69, 0.30, 0.01], 300)],
    ids=["Warner, 100 people", "a cell of 1 %"],
)
def test_intervals_cover(channel, law, people, target):
    """2,000 samples, 200 draws each: 93.5 to 96.5 % of the cells, and 92.5 to 97.5 % of samples in all of them.

    Quantiles of 200 draws are coarse; the default has ten times as many.
    """
    rng, law = np.random.default_rng([people, len(target)]), np.array(law)
    fixed, columns = np.round(people * law).astype(int), channel.dense()
    covered = together = 0
    for _ in range(2000):
        if target == "population":
            counts = rng.multinomial(people, columns @ law)
        else:
            counts = sum(rng.multinomial(n, column) for n, column in zip(fixed, columns.T, strict=True))
        source = by_inversion(counted(channel, counts), target).covariances
        deviations = studentised_errors(source, 200, rng, None)
        error = np.sqrt(source.variances)
        low, high = source.value - np.quantile(deviations, [0.975, 0.025], axis=0, method="inverted_cdf") * error
        covered += ((low <= law) & (law <= high)).mean()
        largest = np.quantile(np.abs(deviations).max(axis=1), 0.95, method="inverted_cdf")
        together += (np.abs(source.value - law) <= largest * error).all()
    assert 0.935 < covered / 2000 < 0.965
    assert 0.925 < together / 2000 < 0.975


def test_intervals_are_the_quantiles_cut_to_proportions():
    found = by_inversion(counted(COIN, [600, 330, 170]), "population")
    deviations = studentised_errors(found.covariances, 500, 7, None)
    below, above = np.quantile(deviations, [0.05, 0.95], axis=0, method="inverted_cdf")
    low, high = found.interval(0.9, kind="bootstrap", draws=500, rng=7)
    np.testing.assert_allclose(low, np.clip(found.value - above * found.standard_error, 0, 1))
    np.testing.assert_allclose(high, np.clip(found.value - below * found.standard_error, 0, 1))
    assert low[2] == 0  # an estimate of .015 with standard error .024
    wide = found.interval(0.9, kind="bootstrap", draws=500, rng=7, simultaneous=True)
    largest = np.quantile(np.abs(deviations).max(axis=1), 0.9, method="inverted_cdf")
    np.testing.assert_allclose(wide[1] - found.value, largest * found.standard_error)


def test_with_many_reports_they_are_walds():
    found = by_inversion(counted(COIN, [40_000, 35_000, 25_000]), "population")
    width = np.diff(found.interval(kind="bootstrap", draws=20_000, rng=1), axis=0)
    np.testing.assert_allclose(width, np.diff(found.interval(), axis=0), rtol=0.03)


@pytest.mark.parametrize("yes", [0, 1])
def test_samples_without_scatter(yes):
    """Undisguised, with no or one yes among 50: samples of noes alone have no variance; ends stay proportions."""
    plain = KeepOrUniform((2,), 1)
    low, high = by_inversion(counted(plain, [50 - yes, yes]), "population").interval(kind="bootstrap", rng=2)
    assert (low >= 0).all()
    assert (high <= 1).all()
    assert np.isfinite([low, high]).all()
    assert high[1] == yes  # nothing at all is known above one yes whose samples often have none


def test_progress_and_rows():
    found, progress_calls = by_inversion(counted(COIN, [400, 350, 250]), "table"), []
    rows = found.to_rows(
        kind="bootstrap", draws=200, rng=3, progress=lambda done, total: progress_calls.append((done, total))
    )
    assert progress_calls == [(200, 200)]
    low, _ = found.interval(kind="bootstrap", draws=200, rng=3)
    assert [row["low"] for row in rows] == low.tolist()
    assert found.to_json(kind="bootstrap", draws=200)["interval"] == "bootstrap"
    assert found.to_frame("polars", kind="bootstrap", draws=200, rng=3)["low"].to_list() == low.tolist()


@pytest.mark.parametrize("draws", [99, True, 2.5, 2**26])
def test_bad_numbers_of_draws(draws):
    found = by_inversion(counted(COIN, [400, 350, 250]), "population")
    with pytest.raises(SottovoceError, match=r"^draws must be a whole number from 100 to 22369621\."):
        found.interval(kind="bootstrap", draws=draws)


def test_only_plain_inversions_can_be_drawn_anew():
    found = by_blue(counted(COIN, [400, 350, 250]), "population")
    with pytest.raises(
        SottovoceError, match=r"^kind must be default or wald here; bootstrap is for unbiased estimates without weights"
    ):
        found.interval(kind="bootstrap")


def test_whole_numbers():
    rng = np.random.default_rng(5)
    for _ in range(200):
        law, people = rng.dirichlet(np.ones(7)), int(rng.integers(1, 100))
        numbers = whole_numbers(law, people)
        assert numbers.sum() == people
        assert (np.abs(numbers - law * people) < 1).all()
