"""The mechanism that draws sets: its odds, its JSON and its reports."""

from fractions import Fraction

import numpy as np
import pytest

from sottovoce.channels.slabs import Slab
from sottovoce.errors import SottovoceError
from sottovoce.mechanisms.coins import flip, random_words
from sottovoce.mechanisms.mechanism import mechanism_from_json
from sottovoce.mechanisms.random_set import SetByRank
from sottovoce.schemas.attribute import Attribute
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.random_set import RandomSet


@pytest.mark.parametrize("n", [4, 11, 60])
@pytest.mark.parametrize("epsilon", ["1/1000000", 0.5, 4])
def test_a_balanced_design_keeps_its_epsilon_and_hardly_misses_it(n, epsilon):
    mechanism = RandomSet([(1, 1, [1] * n), (2, 3, [1] * n)], epsilon=epsilon, tilt=[1] * n).mechanism((n,))
    assert mechanism.channel.odds <= RandomSet([(1, 1, [1, 1])], epsilon=epsilon).odds
    assert mechanism.channel.epsilon == pytest.approx(float(Fraction(epsilon)), rel=1e-6)


@pytest.mark.parametrize("tilt", [False, True])
@pytest.mark.parametrize("odds", [Fraction(5), Fraction(10**12)])
@pytest.mark.parametrize("n", [6, 30])
def test_an_unbalanced_design_pays_with_its_favour(n, odds, tilt):
    """The odds are g max norm / min norm, so g is the odds asked for over the ratio of the norms."""
    components = [Slab(1, 3, [40, 9, *[1] * (n - 2)], [2, 1, *[1] * (n - 2)])]
    mechanism = SetByRank.with_odds((n,), components, odds, range(1, n + 1) if tilt else None)
    norms = mechanism.channel.rank.norms
    assert mechanism.channel.odds <= odds
    assert float(mechanism.channel.odds / odds) == pytest.approx(1, rel=1e-9)
    assert float(mechanism.favour * max(norms) / min(norms) / odds) == pytest.approx(1, rel=1e-9)
    assert mechanism.favour < odds * 3 / 4


@pytest.mark.parametrize("n", [4, 12])
def test_odds_beyond_double_precision_are_kept(n):
    odds = Fraction(10**400)
    mechanism = SetByRank.with_odds((n,), [Slab(1, 2, [1] * n)], odds, [1] * n)
    assert odds * (1 - Fraction(1, 10**9)) < mechanism.channel.odds <= odds


@pytest.mark.parametrize(("n", "odds"), [(12, Fraction(1)), (12, 1 + Fraction(1, 2**60)), (4, 1 + Fraction(1, 2**100))])
def test_odds_out_of_reach_of_the_coins_are_refused(n, odds):
    with pytest.raises(SottovoceError, match=r"^odds must be above 1 : 1 and within reach .* Got e\^.* : 1 instead\.$"):
        SetByRank.with_odds((n,), [Slab(1, 2, [1] * n)], odds, [1] * n)


def test_no_rows_make_no_reports():
    mechanism = RandomSet([(1, 2, [1] * 4)], odds=3, tilt=[1] * 4).mechanism((4,))
    bits = mechanism.respond((np.zeros(0, np.uint8),), flip(mechanism.coins, 0, random_words(1)))
    assert [len(column) for column in bits] == [0] * 4


@pytest.mark.parametrize("n", [4, 12])
def test_the_same_coins_make_the_same_reports_again(n):
    """By the list of sets up to ten categories, by the number itself beyond; row by row as all at once."""
    mechanism = RandomSet([(1, 4, range(1, n + 1), [1, 2] * (n // 2))], odds=3, tilt=[1] * n).mechanism((n,))
    truth, flips = np.arange(50) % n, flip(mechanism.coins, 50, random_words(1))
    bits = np.array(mechanism.respond((truth,), flips))
    rows = [mechanism.respond((truth[i : i + 1],), tuple(side[i : i + 1] for side in flips)) for i in range(50)]
    np.testing.assert_array_equal(np.concatenate(rows, axis=1), bits)


def test_reports_are_sets_of_categories():
    mechanism = RandomSet([Slab(1, 2, [1, 1, 2, 3])], odds=float("inf")).mechanism((2, 2))
    truths = Schema([Attribute("a", ["x", "y"]), Attribute("b", [0, 1])])
    assert mechanism.report_schema(truths)["a+b"].items == ("x & 0", "x & 1", "y & 0", "y & 1")
    with pytest.raises(SottovoceError, match=r"^axes must keep all attributes"):
        mechanism.channel.marginal([0])


SOUND = SetByRank((3,), [Slab(1, 2, [1, 2, 3], [1, 2, 1])], Fraction(3), [1, 2, 2]).to_json()


def test_keys_with_default_values_are_left_out():
    assert SOUND == {
        "kind": "random_set",
        "components": [{"weight": "1", "size": "2", "items": ["1", "2", "3"], "lengths": ["1", "2", "1"]}],
        "favour": ["3", "1"],
        "tilt": ["1", "2", "2"],
    }
    assert SetByRank((3,), [Slab(1, 2, [1, 2, 3], [1, 1, 1])], None).to_json() == {
        "kind": "random_set",
        "components": [{"weight": "1", "size": "2", "items": ["1", "2", "3"]}],
        "favour": ["1", "0"],
    }


@pytest.mark.parametrize(
    ("change", "parameter"),
    [
        ({"favour": ["6", "2"]}, "favour"),
        ({"favour": ["1", "3"]}, "favour"),
        ({"favour": ["2", "0"]}, "favour"),
        ({"favour": None}, "favour"),
        ({"tilt": None}, "tilt"),
        ({"tilt": ["1", "2"]}, "tilt"),
        ({"tilt": ["1", "2", "0"]}, "tilt"),
        ({"components": []}, "components"),
        ({"components": ["1"]}, "mechanism"),
        ({"components": [{"weight": "1", "size": "1", "items": ["1"] * 3, "lengths": None}]}, "lengths"),
        ({"components": [{"weight": "1", "size": "1"}]}, "mechanism"),
    ],
)
def test_malformed_json_is_refused(change, parameter):
    assert mechanism_from_json((3,), SOUND).favour == 3
    with pytest.raises(SottovoceError, match=rf"^{parameter} must .*\. Got .* instead\.$"):
        mechanism_from_json((3,), SOUND | change)
