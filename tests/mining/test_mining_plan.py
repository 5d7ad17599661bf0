"""Plans for mining: which sets are asked, the promise, and what is refused."""

from itertools import combinations

import pytest

from sottovoce.errors import SottovoceError
from sottovoce.mechanisms.diagonal import Diagonal
from sottovoce.mechanisms.matrix import Listed
from sottovoce.mining.small_set_plan import mining_plan
from sottovoce.plans.document import plan_from_text, plan_to_text
from sottovoce.schemas.attribute import Attribute, boolean
from sottovoce.schemas.item_set import ItemSet
from sottovoce.schemas.schema import Schema

CENSUS = Schema(Attribute(name, range(size)) for name, size in zip("abcdef", (4, 5, 5, 5, 2, 2), strict=True))


def test_the_census_is_asked_in_ten_sets():
    """Six pairs of 20 or 25 cells and four triples of 16 or 20: all that have at most 26 = 1.3 (19 + 1)."""
    plan = mining_plan(CENSUS, 19)
    parts = plan.groups[0].mechanism.parts
    asked = [axes for axes, _ in parts]
    assert sorted(asked) == sorted([*combinations(range(4), 2), *((a, 4, 5) for a in range(4))])
    assert {type(mechanism) for _, mechanism in parts} == {Diagonal}
    assert (plan.guarantee.odds, plan.promise.odds) == (19, 19)


def test_strict_odds_are_spread():
    plan = mining_plan(CENSUS, "3:1")
    mechanisms = [mechanism for _, mechanism in plan.groups[0].mechanism.parts]
    assert len(mechanisms) == 10
    assert {type(mechanism) for mechanism in mechanisms} == {Listed}
    assert plan.guarantee.odds == 3
    assert plan_from_text(plan_to_text(plan)) == plan


def test_more_attributes_than_one_model_takes_are_not_spread():
    wide = Schema(Attribute(f"a{k}", range(4)) for k in range(7))
    mechanisms = [mechanism for _, mechanism in mining_plan(wide, 2).groups[0].mechanism.parts]
    assert {type(mechanism) for mechanism in mechanisms} == {Diagonal}


def test_bad_input_is_refused():
    with pytest.raises(SottovoceError, match="odds must be at least 1 : 1"):
        mining_plan(CENSUS, 0.5)
    with pytest.raises(SottovoceError, match="odds must be above 1 : 1, where nothing can be learned"):
        mining_plan(CENSUS, 1)
    with pytest.raises(SottovoceError, match="schema must have at least two attributes"):
        mining_plan(Schema([boolean("a")]), 19)
    with pytest.raises(SottovoceError, match="schema must have only attributes of categories"):
        mining_plan(Schema([boolean("a"), ItemSet("basket", ["ale", "bread"])]), 19)
