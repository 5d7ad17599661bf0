"""What can be asked for by name is what is meant by it."""

import numpy as np
import pytest

from sottovoce.errors import SottovoceError
from sottovoce.estimates.derived import derive
from sottovoce.estimates.proportions import estimate_proportions
from sottovoce.measures.association import PearsonCorrelation
from sottovoce.measures.functionals import Mean
from sottovoce.plans.budget import new_plan
from sottovoce.schemas.attribute import Attribute, boolean
from sottovoce.schemas.schema import Schema

SCHEMA = Schema(
    [
        Attribute("age", [20, 50, 70]),
        boolean("ill"),
        Attribute("drug", ["never", "once", "often"]),
    ]
)
PLAN = new_plan(SCHEMA, epsilon=20)
RNG = np.random.default_rng(1)
PEOPLE = {v.name: [v.categories[k] for k in RNG.integers(len(v.categories), size=500)] for v in SCHEMA}


def estimate(*names):
    return estimate_proportions(PEOPLE, PLAN, names)


def test_numbers_are_their_own_scores():
    assert derive(estimate("age"), "mean") == derive(estimate("age"), Mean([20, 50, 70]))
    assert derive(estimate("drug"), "mean") == derive(estimate("drug"), Mean([0, 1, 2]))
    expected = derive(estimate("age", "ill"), PearsonCorrelation([20, 50, 70], [0, 1]))
    assert derive(estimate("age", "ill"), "correlation") == expected


def test_any_function_of_the_cells():
    """`p1 - p0` is a mean with scores -1, 1, 0."""

    def excess(p):
        return p[1] - p[0]

    found = derive(estimate("age"), excess)
    linear = derive(estimate("age"), Mean([-1, 1, 0]))
    assert (found.name, linear.name) == ("excess", "mean")
    assert found.value == pytest.approx(linear.value)
    assert found.standard_error == pytest.approx(linear.standard_error)


def test_what_is_no_function():
    with pytest.raises(SottovoceError, match=r"^derive must be the name of a measure, a functional, or .* Got 3"):
        derive(estimate("age"), 3)
