"""Parts of groups whose reports do not split: sums of the joint estimate, with the covariance of sums."""

from fractions import Fraction

import numpy as np
import pytest

from sottovoce.disguises.tables import disguise_frame
from sottovoce.errors import SingularChannelError, SottovoceError
from sottovoce.estimates.proportions import estimate_by, estimate_proportions, needed_attributes
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Attribute, boolean
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.gamma_diagonal import GammaDiagonal
from sottovoce.schemes.matrix import Matrix
from sottovoce.schemes.subset_selection import SubsetSelection
from sottovoce.schemes.warner import Warner

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


def test_margins_by_groups_with_weights(reports):
    """Each stratum's margin is the margin of that stratum's joint."""
    rng = np.random.default_rng(1)
    table = {**reports, "town": rng.choice(["Bonn", "Ulm"], 3000), "weight": rng.integers(1, 4, 3000)}
    joints = estimate_by(table, PLAN, ["a", "b"], "town", weights="weight")
    found = estimate_by(table, PLAN, "a", "town", weights="weight")
    assert list(found) == ["Bonn", "Ulm"]
    for town, own in found.items():
        np.testing.assert_allclose(own.value, joints[town].value.reshape(3, 2).sum(axis=1))
        assert own.effective == joints[town].effective


def test_only_groups_that_do_not_split_need_others():
    assert needed_attributes(PLAN, ["d", "c"]) == ["d", "c"]
    assert needed_attributes(PLAN, ["a", "b"]) == ["a", "b"]
    assert needed_attributes(PLAN, ["c", "b"]) == ["c", "b", "a"]


class Drawn:
    """A counter of reports whose counts were drawn from the channel."""

    def __init__(self, counts):
        self.counts = counts

    def rows(self):
        return self.counts.sum()

    def contingency(self, schema):
        return self.counts

    def all_ones(self, schema, sets):
        raise AssertionError


@pytest.mark.slow
@pytest.mark.parametrize("target", ["population", "table"])
def test_intervals_cover(target):
    """1,000 samples of 800 from a fixed seed: 95 % give or take 3.5 binomial errors."""
    rng = np.random.default_rng(3)
    plan = Plan.of(SCHEMA.project(["a", "b"]), {("a", "b"): SubsetSelection(odds=9)})
    columns = plan.channel().dense()
    fixed = np.array([[300, 100], [40, 200], [80, 80]])
    law = fixed.sum(axis=1) / 800
    covered = np.zeros(3)
    for _ in range(1000):
        truths = fixed.ravel() if target == "table" else rng.multinomial(800, fixed.ravel() / 800)
        counts = rng.multinomial(truths, columns.T).sum(axis=0)
        low, high = estimate_proportions(Drawn(counts), plan, "a", target=target).interval()
        covered += (low <= law) & (law <= high)
    assert (np.abs(covered / 1000 - 0.95) < 0.024).all()


@pytest.mark.parametrize(("names", "culprits"), [("b", "bc"), (["d", "c"], "cb"), (["b", "c"], "bc")])
def test_singular_groups_are_named(names, culprits):
    schema = SCHEMA.project(["b", "c", "d"])
    plan = Plan.of(schema, {("b", "c"): Matrix(np.full((4, 4), 0.25), range(4)), "d": Warner(p=0.75)})
    named = rf"{', '.join(culprits)} \(matrix: its columns must be linearly independent\)"
    with pytest.raises(SingularChannelError, match=f"^{named} cannot be estimated"):
        estimate_proportions({"b+c": [0, 1], "d": [True, False]}, plan, names)


def test_joint_tables_that_are_too_large():
    schema = Schema([Attribute(name, range(70)) for name in ("a", "b")])
    plan = Plan.of(schema, {("a", "b"): SubsetSelection(odds=3, size=1)})
    with pytest.raises(SottovoceError, match=r"^attributes must have at most 4096 joint cells with b, which share"):
        estimate_proportions({"a+b": [[]]}, plan, "a")
