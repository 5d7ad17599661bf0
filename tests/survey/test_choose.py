"""The choice of coins: figures of SURVEY's table recomputed, and variances by brute force."""

from fractions import Fraction

import numpy as np
import pytest

from sottovoce.measure.utility import mean_squared_errors
from sottovoce.schema.attribute import Attribute
from sottovoce.schema.item_set import ItemSet
from sottovoce.scheme.randomized_response import RandomizedResponse
from sottovoce.scheme.subset_selection import SubsetSelection
from sottovoce.survey.choose import chosen_scheme, subset_gain


@pytest.mark.parametrize("categories", [3, 6, 8])
@pytest.mark.parametrize("odds", [Fraction(2), Fraction(3), Fraction(9)])
def test_the_gain_is_that_of_the_estimates(categories, odds):
    """Both channels' mean squared errors for uniform truths, from their matrices."""
    uniform = np.full(categories, 1 / categories)
    plain, other = (
        mean_squared_errors(scheme(odds=odds).mechanism((categories,)).channel.dense(), uniform, 1000).mean()
        for scheme in (RandomizedResponse, SubsetSelection)
    )
    # Inversion of the listed sets and estimation by memberships agree for subset selection, which is symmetric.
    assert float(subset_gain(categories, odds)) == pytest.approx(plain / other - 1, abs=1e-9)


def test_nothing_is_gained_where_nothing_is_told():
    assert subset_gain(8, Fraction(1)) == 0
    assert chosen_scheme(Attribute("a", range(8)), Fraction(1)).name == "randomized_response"


@pytest.mark.parametrize(
    ("items", "name"), [(1, "mask"), (2, "randomized_response"), (3, "randomized_response"), (4, "mask"), (12, "mask")]
)
def test_sets_get_one_coin_while_that_is_better(items, name):
    """At 3 : 1 an item's difference shrinks to tanh(ln 3 / (2 m)) alone and 2 / (2 + 2^m) together."""
    scheme = chosen_scheme(ItemSet("a", range(items)), Fraction(3))
    assert scheme.name == name
    assert scheme.mechanism((2,) * items).channel.odds <= 3


def test_sets_that_say_nothing():
    with pytest.raises(ValueError, match="must not be 1/2"):
        chosen_scheme(ItemSet("a", range(3)), Fraction(1))
