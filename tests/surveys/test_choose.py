"""The choice of coins: plain ones where they serve, others where they gain much."""

from fractions import Fraction

import pytest

from sottovoce.schemas.attribute import Attribute
from sottovoce.schemas.item_set import ItemSet
from sottovoce.surveys.definition.budget import choose_scheme


@pytest.mark.parametrize("categories", [2, 4, 5])
def test_up_to_five_categories_plain_coins_serve_best(categories):
    """At 3 : 1 sets gain nothing up to five categories, and 19 % at eight."""
    scheme = choose_scheme(Attribute("a", range(categories)), Fraction(3))
    assert scheme.name == "randomized_response"
    assert scheme.mechanism((categories,)).channel.odds == 3
    assert choose_scheme(Attribute("a", range(8)), Fraction(3)).name == "subset_selection"


def test_where_nothing_is_told_the_coins_are_plain():
    scheme = choose_scheme(Attribute("a", range(8)), Fraction(1))
    assert (scheme.name, scheme.mechanism((8,)).channel.odds) == ("randomized_response", 1)


@pytest.mark.parametrize(
    ("items", "name"), [(1, "mask"), (2, "randomized_response"), (3, "randomized_response"), (4, "mask"), (12, "mask")]
)
def test_sets_get_one_coin_while_that_is_better(items, name):
    """At 3 : 1 an item's difference shrinks to tanh(ln 3 / (2 m)) alone and 2 / (2 + 2^m) together."""
    scheme = choose_scheme(ItemSet("a", range(items)), Fraction(3))
    assert scheme.name == name
    assert scheme.mechanism((2,) * items).channel.odds <= 3
