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
from sottovoce.schemas.binned import Binned
from sottovoce.schemas.schema import Schema

SCHEMA = Schema(
    [
        Attribute("age", [20, 50, 70]),
        boolean("ill"),
        Attribute("drug", ["never", "once", "often"]),
        Attribute("home", ["flat", "house"]),
        Binned("years", [18, 40, 65], closed="left"),
        Binned("open", [18, 40, float("inf")], closed="left", missing="unknown"),
    ]
)
PLAN = new_plan(SCHEMA, epsilon=40)
RNG = np.random.default_rng(1)
PEOPLE = {v.name: [v.categories[k] for k in RNG.integers(len(v.categories), size=500)] for v in SCHEMA}
"""Reports as they are disguised: labels of the bins."""


def estimate(*names):
    return estimate_proportions(PEOPLE, PLAN, names)


def test_numbers_are_their_own_scores():
    assert derive(estimate("age"), "mean") == derive(estimate("age"), Mean([20, 50, 70]))
    assert derive(estimate("drug"), "mean", scores=[0, 1, 2]) == derive(estimate("drug"), Mean([0, 1, 2]))
    assert derive(estimate("ill"), "mean") == derive(estimate("ill"), Mean([0, 1]))
    expected = derive(estimate("age", "ill"), PearsonCorrelation([20, 50, 70], [0, 1]))
    assert derive(estimate("age", "ill"), "correlation") == expected


def test_text_has_no_mean_and_no_correlation():
    """Refused with what has a meaning; two categories have a correlation, for any scores are as good as 0 and 1."""
    with pytest.raises(SottovoceError, match=r"those of drug are text, which has no mean; entropy and .* scores="):
        derive(estimate("drug"), "mean")
    with pytest.raises(SottovoceError, match=r"those of drug are text, which has no correlation; mutual_information"):
        derive(estimate("drug", "age"), "correlation")
    given = derive(estimate("drug", "age"), "correlation", scores={"drug": [0, 1, 2]})
    assert given == derive(estimate("drug", "age"), PearsonCorrelation([0, 1, 2], [20, 50, 70]))
    assert derive(estimate("home", "ill"), "correlation") == derive(
        estimate("home", "ill"), PearsonCorrelation([0, 1], [0, 1])
    )
    with pytest.raises(SottovoceError, match=r"those of home are text, which has no mean"):
        derive(estimate("home"), "mean")


def test_binned_numbers_have_midpoints():
    """A mean age of 29 p1 + 52.5 p2, not 1.4; ends that are open and missing numbers have none, and need scores."""
    found = estimate("years")
    assert found.scores == ((29.0, 52.5),)
    assert derive(found, "mean").value == pytest.approx(found.value @ [29, 52.5])
    joint = estimate("ill", "years")
    assert joint.marginal(["years"]).scores == found.scores
    assert derive(joint, "correlation") == derive(joint, PearsonCorrelation([0, 1], [29, 52.5]))
    with pytest.raises(SottovoceError, match=r"\[40, inf\), unknown of open has no midpoint; give scores="):
        derive(estimate("open"), "mean")
    assert derive(estimate("open"), "mean", scores=[29, 50, 40]).value > 29


@pytest.mark.parametrize(
    ("names", "measure", "scores", "rule"),
    [
        (["drug"], "mean", [0, 1], "^scores must be 3 numbers, one for each of drug"),
        (["drug"], "mean", {"age": [0, 1]}, "^scores must be of drug"),
        (["age", "ill"], "correlation", [0, 1, 2], "^scores must map attributes to the scores of their categories"),
        (["drug"], "entropy", [0, 1, 2], "^scores must come with mean or correlation"),
        (["drug"], Mean([0, 1, 2]), [0, 1, 2], "^scores must come with the name of a measure"),
        (["drug"], "mean", [0, 1, float("nan")], "^scores must be at least one finite number"),
    ],
)
def test_scores_that_do_not_fit(names, measure, scores, rule):
    with pytest.raises(SottovoceError, match=rule):
        derive(estimate(*names), measure, scores=scores)


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
