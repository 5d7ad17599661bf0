"""Designs keep what they promise when people use them: disguised, estimated, and as near the truth as stated."""

import numpy as np
import pytest

from sottovoce.designs.certified import design
from sottovoce.designs.requirement import named_prior
from sottovoce.disguises.tables import disguise_frame
from sottovoce.estimates.proportions import estimate_proportions
from sottovoce.plans.document import plan_from_text, plan_to_text
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Attribute
from sottovoce.schemas.schema import Schema


@pytest.mark.slow
@pytest.mark.parametrize(
    ("categories", "bounds", "method", "runs"),
    [(5, {"epsilon": 1}, "blue", 80), (5, {"accuracy": 0.5}, "blue", 80), (21, {"accuracy": 0.4}, "inversion", 20)],
)
def test_the_error_is_what_was_promised(categories, bounds, method, runs):
    """A run's average squared error has a relative deviation near (2 / (n - 1))^(1/2): .08 of the mean of all."""
    law, respondents = named_prior("normal", categories), 2000
    point = design(law, respondents, **bounds)
    labels = [str(number) for number in range(categories)]
    plan = plan_from_text(plan_to_text(Plan.of(Schema([Attribute("a", labels)]), {"a": point.scheme})))
    assert plan.guarantee.deniable == ("epsilon" in bounds)
    rng, errors = np.random.default_rng(7), []
    for run in range(runs):
        truths = rng.choice(labels, respondents, p=law).tolist()
        reports = disguise_frame({"a": truths}, plan, rng=run)
        errors.append(((estimate_proportions(reports, plan, "a", method=method).value - law) ** 2).mean())
    assert np.mean(errors) == pytest.approx(point["mse"], rel=0.3)
