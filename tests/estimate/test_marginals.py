"""Parts of groups whose reports do not split: sums of the joint estimate, with the covariance of sums."""

from fractions import Fraction

import numpy as np
import pytest

from sottovoce.disguise.frames import disguise_frame
from sottovoce.errors import SottovoceError
from sottovoce.estimate.marginals import needed_attributes
from sottovoce.estimate.proportions import estimate_proportions
from sottovoce.plan.plan import Plan
from sottovoce.schema.attribute import Attribute, boolean
from sottovoce.schema.schema import Schema
from sottovoce.scheme.gamma_diagonal import GammaDiagonal
from sottovoce.scheme.subset_selection import SubsetSelection
from sottovoce.scheme.warner import Warner

SCHEMA = Schema([Attribute("a", [0, 1, 2]), boolean("b"), boolean("c"), boolean("d")])
PLAN = Plan.of(
    SCHEMA,
    {
        ("b", "a"): SubsetSelection(odds=5, size=2),
        "c": Warner(p=Fraction(3, 4)),
        "d": GammaDiagonal(gamma=3),
    },
)


@pytest.fixture(scope="module")
def reports():
    rng = np.random.default_rng(7)
    table = {name: rng.choice(SCHEMA[name].categories, 3000) for name in SCHEMA.names}
    return disguise_frame(table, PLAN, rng)


@pytest.mark.parametrize("method", ["inversion", "blue", "simplex", "em"])
@pytest.mark.parametrize("names", [["a"], ["c", "a"], ["b", "d"]])
def test_margins_of_the_joint(reports, names, method):
    """`M p` and `M S M^T` with M written out, cell by cell."""
    other = ["b" if "a" in names else "a"]
    joint = estimate_proportions(reports, PLAN, [*names, *other], method=method)
    found = estimate_proportions(reports, PLAN, names, method=method)
    cells = len(joint.value) // SCHEMA.project(other).cells
    sums = np.kron(np.eye(cells), np.ones(SCHEMA.project(other).cells))
    assert found.attributes == tuple(names)
    assert found.shape == SCHEMA.project(names).sizes
    np.testing.assert_allclose(found.value, sums @ joint.value)
    np.testing.assert_allclose(found.covariance, sums @ joint.covariance @ sums.T, atol=1e-15)
    assert (found.respondents, found.method) == (joint.respondents, joint.method)


def test_only_groups_that_do_not_split_need_others():
    assert needed_attributes(PLAN, ["d", "c"]) == ["d", "c"]
    assert needed_attributes(PLAN, ["a", "b"]) == ["a", "b"]
    assert needed_attributes(PLAN, ["c", "b"]) == ["c", "b", "a"]


@pytest.mark.parametrize("target", ["population", "table"])
def test_intervals_cover(target):
    """600 samples of 800 from a fixed seed: 95 % give or take 3.2 binomial errors."""
    rng = np.random.default_rng(3)
    plan = Plan.of(SCHEMA.project(["a", "b"]), {("a", "b"): SubsetSelection(odds=9)})
    law = np.array([0.5, 0.3, 0.2])
    fixed = np.repeat([0, 1, 2], [400, 240, 160])
    covered = np.zeros(3)
    for _ in range(600):
        a = fixed if target == "table" else rng.choice(3, 800, p=law)
        table = {"a": a, "b": (a > 0) & (np.arange(800) % 2 == 0)}
        found = estimate_proportions(disguise_frame(table, plan, rng), plan, "a", target=target)
        low, high = found.interval()
        covered += (low <= law) & (law <= high)
    assert (np.abs(covered / 600 - 0.95) < 0.0285).all()


def test_joint_tables_that_are_too_large():
    schema = Schema([Attribute(name, range(70)) for name in ("a", "b")])
    plan = Plan.of(schema, {("a", "b"): SubsetSelection(odds=3, size=1)})
    with pytest.raises(SottovoceError, match=r"^attributes must have at most 4096 joint cells with b, which share"):
        estimate_proportions({"a+b": [[]]}, plan, "a")
