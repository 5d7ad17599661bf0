"""Properties that all channels share, tested on every case of every channel that is discovered."""

from copy import deepcopy
from fractions import Fraction
from functools import cache
from math import inf, isinf, log, prod

import numpy as np
import pytest

import sottovoce.channels
from sottovoce.channels.channel import Channel, Part, kron
from sottovoce.channels.keep_or_uniform import KeepOrUniform
from sottovoce.channels.kronecker import Kronecker
from sottovoce.channels.mixture import Mixture
from sottovoce.channels.random_set import RandomSet
from sottovoce.channels.set_valued import SetChannel, SetValued, membership
from sottovoce.channels.subset_selection import SubsetSelection
from sottovoce.errors import SingularChannelError, SottovoceError
from sottovoce.estimates.proportions import blue_matrix
from sottovoce.mechanisms.mechanism import discover

CHANNELS = [case for kind in discover(sottovoce.channels, Channel) for case in kind.cases()]
SPLITTING = [c for c in CHANNELS if len(c.shape_in) > 1 and c.shape_in == c.shape_out]
"""Channels of several attributes whose report splits into the same columns."""


@pytest.fixture(params=CHANNELS, ids=repr)
def channel(request) -> Channel:
    return request.param


@pytest.fixture
def exact(channel) -> list[list[Fraction]]:
    """Brute force: every entry, one by one."""
    return _entries(CHANNELS.index(channel))


@cache
def _entries(case: int) -> list[list[Fraction]]:
    """Computed once for all laws."""
    channel = CHANNELS[case]
    return [[channel.entry(y, x) for x in range(channel.n_in)] for y in range(channel.n_out)]


@pytest.fixture
def dense(exact) -> np.ndarray:
    return np.array(exact, dtype=float)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(5)


def test_every_channel_is_found():
    assert {type(c).__name__ for c in CHANNELS} >= {"Dense", "KeepOrUniform", "Mixture", "Kronecker"}


def test_columns_sum_to_one_exactly_and_entries_are_probabilities(exact):
    assert all(sum(column) == 1 for column in zip(*exact, strict=True))
    assert all(0 <= entry <= 1 for row in exact for entry in row)


def test_shapes_count_truths_and_reports(channel):
    assert (channel.n_in, channel.n_out) == (prod(channel.shape_in), prod(channel.shape_out))


def test_operators_are_the_matrix(channel, dense, rng):
    x, y = rng.dirichlet(np.ones(channel.n_in)), rng.random(channel.n_out)
    np.testing.assert_allclose(channel.matvec(x), dense @ x, atol=1e-15)
    np.testing.assert_allclose(channel.rmatvec(y), dense.T @ y, atol=1e-14)
    np.testing.assert_allclose(channel.dense(), dense, atol=1e-15)


def test_operators_treat_further_axes_alike(channel, dense, rng):
    x, y = rng.random((channel.n_in, 2, 3)), rng.random((channel.n_out, 4))
    np.testing.assert_allclose(channel.matvec(x), np.tensordot(dense, x, 1), atol=1e-14)
    np.testing.assert_allclose(channel.rmatvec(y), dense.T @ y, atol=1e-14)


def test_columns_are_columns(channel, dense):
    for truth in range(min(channel.n_in, 20)):
        np.testing.assert_allclose(channel.column(truth), dense[:, truth], atol=1e-15)


def test_adjoint(channel, rng):
    x, y = rng.random(channel.n_in), rng.random(channel.n_out)
    assert y @ channel.matvec(x) == pytest.approx(channel.rmatvec(y) @ x)


def test_solving_undoes_multiplying_or_the_channel_is_singular(channel, dense, rng):
    if np.linalg.matrix_rank(dense) < channel.n_in:
        with pytest.raises(SingularChannelError, match=r"must .*\. Got .* instead\."):
            channel.solve(np.ones(channel.n_out))
        return
    x = rng.random((channel.n_in, 2))
    np.testing.assert_allclose(channel.solve(channel.matvec(x)), x, atol=1e-9)


def test_squared_solutions_are_the_diagonal_of_the_second_moments(channel, dense, rng):
    y = rng.random((channel.n_out, 2))
    if np.linalg.matrix_rank(dense) < channel.n_in:
        with pytest.raises(SingularChannelError):
            channel.solve_squared(y)
        return
    inverse = channel.solve(np.eye(channel.n_out))
    expected = np.stack([np.diag(inverse @ np.diag(column) @ inverse.T) for column in y.T], axis=1)
    np.testing.assert_allclose(channel.solve_squared(y), expected, rtol=1e-9, atol=1e-12)


def test_a_channel_is_the_product_of_its_factors(channel, dense):
    np.testing.assert_allclose(kron(factor.dense() for factor in channel.factors), dense, atol=1e-15)
    assert all(factor.factors == (factor,) for factor in channel.factors)


def test_a_channel_is_the_mixture_of_its_parts(channel):
    """A channel that does not sample has one part, itself; of others, `entry` and `matvec` are tested above."""
    assert channel.samples or channel.parts == (Part(tuple(range(len(channel.shape_in))), channel),)
    asked = [part for part in channel.parts if part.channel is not None]
    assert all(part.channel.shape_in == tuple(channel.shape_in[a] for a in part.axes) for part in asked)


def test_a_replacement_is_the_truth_or_a_draw(channel, dense):
    if channel.replacement is None:
        assert not isinstance(channel, KeepOrUniform | Mixture)
        return
    keep, known = channel.replacement
    drawn = np.outer(kron(known), np.ones(channel.n_in))
    np.testing.assert_allclose(keep * np.eye(channel.n_in) + (1 - keep) * drawn, dense, atol=1e-15)


def test_inclusion_probabilities_are_those_of_the_matrix(channel, dense):
    if channel.inclusion is None:
        assert not isinstance(channel, SetValued)
        return
    inside, outside = map(float, channel.inclusion)
    expected = np.full((channel.n_in, channel.n_in), outside) + (inside - outside) * np.eye(channel.n_in)
    np.testing.assert_allclose(membership(channel.n_in) @ dense, expected, atol=1e-15)


def test_second_moments_are_those_of_the_inverse(channel, dense, rng):
    truths = rng.dirichlet(np.ones(channel.n_in))
    if np.linalg.matrix_rank(dense) < channel.n_in or channel.second_moments(truths) is None:
        return
    inverse = channel.solve(np.eye(channel.n_out))
    np.testing.assert_allclose(channel.second_moments(truths), inverse**2 @ dense @ truths, rtol=1e-9)


def test_weighting_gains_only_where_it_should(channel, dense, rng):
    """The best linear unbiased estimate never has more variance than `solve`; without a gain, it has the same."""
    if np.linalg.matrix_rank(dense) < channel.n_in or isinstance(channel, RandomSet | Kronecker):
        return  # sets drawn by rank have a weighted estimate of their own; products gain by their factors
    truths = rng.dirichlet(np.ones(channel.n_in))
    plain, best = (
        ((inverse**2) @ dense @ truths).sum()
        for inverse in (channel.solve(np.eye(channel.n_out)), blue_matrix(channel, truths))
    )
    assert best <= plain * (1 + 1e-9)
    if not channel.gains_by_weighting and not isinstance(channel, SubsetSelection):
        assert best == pytest.approx(plain)


@pytest.mark.parametrize("channel", [c for c in CHANNELS if isinstance(c, SetChannel)], ids=repr)
def test_sets_are_estimated_from_their_scores(channel, dense, rng):
    possible = dense.max(axis=1) > 0
    truths = rng.dirichlet(np.ones(channel.n_in))
    scores = channel.scores(membership(channel.n_in)[:, possible])
    assert channel.has_scores or (scores == membership(channel.n_in)[:, possible]).all()
    if np.linalg.matrix_rank(dense) == channel.n_in:
        np.testing.assert_allclose(channel.solve_inclusions(scores @ dense[possible] @ truths), truths, atol=1e-9)


def test_stated_odds_are_the_largest_ratio_in_a_row(channel, exact):
    rows = [row for row in exact if max(row) > 0]
    if any(min(row) == 0 for row in rows):
        assert channel.odds is None
        assert isinf(channel.epsilon)
    else:
        assert channel.odds == max(max(row) / min(row) for row in rows)
        assert channel.epsilon == pytest.approx(log(channel.odds), abs=1e-15)


@pytest.mark.parametrize("search", [False, True], ids=["closed form", "search"])
def test_the_worst_case_attains_the_odds(channel, search):
    report, most, least = Channel.worst_case(channel) if search else channel.worst_case()
    high, low = channel.entry(report, most), channel.entry(report, least)
    assert high > 0
    assert (high / low if low else None) == channel.odds


def test_a_channel_too_large_to_search_says_so():
    with pytest.raises(SottovoceError, match="must have at most 1048576 entries for its worst case"):
        Channel.worst_case(KeepOrUniform((2, 600), Fraction(1, 2)))


def test_the_worst_case_of_many_bits_needs_no_search():
    """A hundred bits have 2^200 entries; the worst report is a truth against its opposite, 3^100 : 1."""
    bits = Kronecker([KeepOrUniform((2,), Fraction(1, 2))] * 100)
    assert bits.worst_case() == (0, 0, 2**100 - 1)
    assert bits.entry(0, 0) / bits.entry(0, 2**100 - 1) == bits.odds == 3**100


def test_condition_number_is_that_of_the_matrix(channel, dense):
    values = np.linalg.svd(dense, compute_uv=False)
    singular = len(values) < channel.n_in or values[-1] < 1e-13
    expected = inf if singular else values[0] / values[-1]
    assert channel.condition_number == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("channel", SPLITTING, ids=repr)
def test_marginals_commute_with_the_channel(channel, rng):
    """Disguising and then dropping a column gives the distribution of dropping it first, or there is no marginal."""
    truths = rng.dirichlet(np.ones(channel.n_in))
    for axes in ([0], [len(channel.shape_in) - 1], [0, len(channel.shape_in) - 1]):
        dropped = tuple(a for a in range(len(channel.shape_in)) if a not in axes)
        after = channel.matvec(truths).reshape(channel.shape_out).sum(dropped).ravel()
        try:
            marginal = channel.marginal(axes)
        except SottovoceError:
            assert not has_marginal(channel, dropped)
        else:
            before = marginal.matvec(truths.reshape(channel.shape_in).sum(dropped).ravel())
            np.testing.assert_allclose(before, after, atol=1e-14)


def has_marginal(channel: Channel, dropped: tuple[int, ...]) -> bool:
    """Brute force: whether the kept reports depend on the kept truths alone."""
    table = channel.dense().reshape(*channel.shape_out, *channel.shape_in).sum(dropped)
    kept = len(channel.shape_out) - len(dropped)
    difference = table.max(axis=tuple(kept + a for a in dropped)) - table.min(axis=tuple(kept + a for a in dropped))
    return bool(difference.max() < 1e-12)


def test_the_marginal_of_everything_is_the_channel(channel):
    whole = channel.marginal(range(len(channel.shape_in)))
    assert whole.odds == channel.odds
    np.testing.assert_allclose(whole.dense(), channel.dense(), atol=1e-15)


@pytest.mark.parametrize("axes", [[], [0, 0], [99], [-1], [1, 0]])
def test_bad_axes_are_refused(channel, axes):
    with pytest.raises(SottovoceError, match=r"^axes must be increasing positions"):
        channel.marginal(axes)


def test_vectors_of_another_length_are_refused(channel):
    for operation, parameter in (
        ("matvec", "truths"),
        ("rmatvec", "reports"),
        ("solve", "reports"),
        ("solve_squared", "reports"),
    ):
        with pytest.raises(SottovoceError, match=rf"^{parameter} must have length"):
            getattr(channel, operation)(np.ones(max(channel.n_in, channel.n_out) + 1))


def test_channels_are_values(channel):
    twin = deepcopy(channel)
    assert twin == channel
    assert hash(twin) == hash(channel)
