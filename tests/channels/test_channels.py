"""Single channels, beyond what `test_laws` checks of all: invalid parameters, closed forms, large sizes."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.channels.dense import Dense
from sottovoce.channels.keep_or_uniform import KeepOrUniform
from sottovoce.channels.kronecker import Kronecker
from sottovoce.channels.mixture import Mixture
from sottovoce.errors import SottovoceError

HALF = Fraction(1, 2)


@pytest.mark.parametrize(
    ("build", "parameter"),
    [
        (lambda: KeepOrUniform((3,), 1.2), "keep"),
        (lambda: KeepOrUniform((3,), Fraction(-2, 3)), "keep"),
        (lambda: KeepOrUniform((), HALF), "shape_in"),
        (lambda: KeepOrUniform((2, 0), HALF), "shape_in"),
        (lambda: KeepOrUniform((True,), HALF), "shape_in"),
        (lambda: Mixture((2,), -0.1, [[HALF, HALF]]), "keep"),
        (lambda: Mixture((2,), HALF, [[HALF, HALF], [HALF, HALF]]), "known"),
        (lambda: Mixture((2,), HALF, [[HALF, Fraction(1, 3)]]), "known"),
        (lambda: Dense([[1, 1], [1, 2]], 2), "numerators"),
        (lambda: Dense([[3, -1], [-1, 3]], 2), "numerators"),
        (lambda: Dense([[1.0, 0.0], [0.0, 1.0]], 1), "numerators"),
        (lambda: Dense([[1, 1], [1]], 2), "numerators"),
        (lambda: Dense([], 2), "numerators"),
        (lambda: Dense([[1, 0], [0, 1]], 1, (3,)), "shape_in"),
        (lambda: Dense([[1, 0], [0, 1]], 1, (2,), (1, 3)), "shape_out"),
        (lambda: Kronecker([]), "factors"),
    ],
)
def test_bad_parameters_are_named(build, parameter):
    with pytest.raises(SottovoceError, match=rf"^{parameter} must .*\. Got .* instead\.$"):
        build()


def test_a_matrix_whose_reports_depend_on_other_attributes_has_no_marginal():
    tied = Dense([[4, 1, 1, 1], [1, 4, 1, 1], [1, 1, 2, 4], [1, 1, 3, 1]], 7, (2, 2), (2, 2))
    with pytest.raises(SottovoceError, match="depends on the others"):
        tied.marginal([1])


def test_a_matrix_with_other_reports_has_no_marginal():
    with pytest.raises(SottovoceError, match="does not split into them"):
        Dense([[4, 1, 1, 1], [3, 6, 6, 6]], 7, (2, 2)).marginal([1])


def test_a_channel_too_large_to_write_out_says_so():
    with pytest.raises(SottovoceError, match="must have at most 67108864 entries"):
        Kronecker([KeepOrUniform((2,), HALF)] * 20).dense()


@pytest.mark.parametrize(("gamma", "n"), [(19, 2000), (19, 7500), (3, 10)])
def test_the_condition_number_of_a_gamma_diagonal_matrix(gamma, n):
    """(gamma + n - 1) / (gamma - 1): Agrawal (2004); 112.1 on CENSUS with gamma 19 and 2,000 cells."""
    channel = KeepOrUniform((n,), Fraction(gamma - 1, gamma + n - 1))
    assert channel.condition_number == pytest.approx((gamma + n - 1) / (gamma - 1))
    if (gamma, n) == (19, 2000):
        assert round(channel.condition_number, 1) == 112.1


@settings(max_examples=40)
@given(st.lists(st.fractions(Fraction(1, 20), 1), min_size=1, max_size=5), st.integers(2, 4))
def test_odds_of_products_multiply(keeps, size):
    factors = [KeepOrUniform((size,), keep * Fraction(9, 10)) for keep in keeps]
    expected = Fraction(1)
    for factor in factors:
        expected *= 1 + size * factor.keep / (1 - factor.keep)  # the closed form
    assert Kronecker(factors).odds == expected


def test_a_million_cells_are_recovered():
    """A product of 2^20 cells: `solve` after `matvec` is the identity; dense it would take 8 TiB."""
    bits = Kronecker([KeepOrUniform((2,), Fraction(4, 5))] * 20)
    truths = np.random.default_rng(2).dirichlet(np.ones(2**20))
    np.testing.assert_allclose(bits.solve(bits.matvec(truths)), truths, atol=1e-15)


def test_products_of_products_are_flat():
    bit = KeepOrUniform((2,), HALF)
    assert Kronecker([Kronecker([bit, bit]), bit]) == Kronecker([bit, bit, bit])


def test_a_single_cell_has_odds_of_one():
    assert Mixture((1,), HALF, [[1]]).odds == 1
    assert Mixture((1,), HALF, [[1]]).condition_number == 1
