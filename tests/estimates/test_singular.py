"""Errors about truths that cannot be told apart name the attribute, its scheme and the parameter to change."""

from typing import ClassVar

import pytest

from sottovoce.errors import SingularChannelError
from sottovoce.estimates.proportions import estimate_proportions, singular_channel_error
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Attribute, boolean
from sottovoce.schemas.schema import Schema
from sottovoce.schemes import (
    AttributeSampling,
    Crosswise,
    ForcedResponse,
    GammaDiagonal,
    Kuk,
    Laplace,
    Mangat,
    Matrix,
    OptimizedUnary,
    RandomizedGammaDiagonal,
    RandomizedResponse,
    SubsetSelection,
    Triangular,
    UniformPerturbation,
    Warner,
)

SAY_NOTHING = [
    (Warner(p=0.5), "p must not be 1/n"),
    (UniformPerturbation(q=0), "q must not be 0"),
    (GammaDiagonal(gamma=1), "gamma must not be 1"),
    (RandomizedGammaDiagonal(gamma=1), "gamma must not be 1"),
    (RandomizedResponse(epsilon=0), "odds must not be 1, nor epsilon 0"),
    (ForcedResponse(truth=0, yes=0.5), "truth must not be 0"),
    (Crosswise(q=0.5), "q must not be 1/2"),
    (Triangular(q=1), "q must not be 1"),
    (Mangat(p=0), "p must not be 0"),
    (Kuk(yes=0.5, no=0.5), "yes and no must differ"),
    (Laplace(epsilon=0), "epsilon must not be 0"),
    (SubsetSelection(odds=1), "odds must not be 1, nor epsilon 0"),
    (OptimizedUnary(odds=1), "odds must not be 1, nor epsilon 0"),
    (AttributeSampling(odds=1), "odds must not be 1, nor epsilon 0"),
    (Matrix([[0.5, 0.5], [0.5, 0.5]]), "its columns must be linearly independent"),
]


@pytest.mark.parametrize(("scheme", "needs"), SAY_NOTHING, ids=lambda value: getattr(value, "name", None))
def test_the_parameter_that_makes_a_channel_singular_is_named(scheme, needs):
    plan = Plan.of(Schema([Attribute("tax", ["no", "yes"])]), {"tax": scheme})
    column = plan.report_schema[plan.report_schema.names[0]]
    reports = {column.name: column.decode(tuple([0, 1] for _ in column.sizes))}
    with pytest.raises(SingularChannelError, match=rf"^tax \({scheme.name}: {needs}.*\) cannot be estimated: "):
        estimate_proportions(reports, plan, "tax")


def test_attributes_never_asked_together_are_all_named():
    names = ("a", "b")
    plan = Plan.of(Schema(map(boolean, names)), {names: AttributeSampling(odds=3)})
    silent = plan.report_schema["a"].categories[-1]
    with pytest.raises(SingularChannelError, match=r"purpose='pairs', or fill in by a model .* Got a and b"):
        estimate_proportions({"a": [True, silent], "b": [silent, True]}, plan, names)


def test_a_scheme_of_ones_own_need_say_nothing():
    class Mine(Warner):
        name: ClassVar[str] = "mine"

    plan = Plan.of(Schema([boolean("a")]), {"a": Mine(p=0.5)})
    reason = SingularChannelError("channel", "must be invertible", 0)
    assert singular_channel_error(reason, plan, ["a"]).parameter == "a (mine)"
