"""Two mixtures of two unknown distributions: solved exactly, with covariances that simulations bear out."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.errors import SingularChannelError, SottovoceError
from sottovoce.estimates.two_samples import best_split, estimate_two_samples, solve_two_samples
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Attribute, boolean
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.unrelated_question import UnrelatedQuestion
from sottovoce.schemes.warner import Warner

SENSITIVE, UNRELATED = np.array([0.7, 0.2, 0.1]), np.array([0.2, 0.3, 0.5])


def test_greenberg_by_hand():
    """Greenberg et al. 1969: p = ((1-P2) l1 - (1-P1) l2) / (P1-P2), variance by both binomials."""
    p1, p2, l1, l2, n1, n2 = 0.8, 0.3, 0.3, 0.45, 500, 300
    value, covariance = solve_two_samples([n1 * (1 - l1), n1 * l1], [n2 * (1 - l2), n2 * l2], (p1, p2))
    assert value[1] == pytest.approx(((1 - p2) * l1 - (1 - p1) * l2) / (p1 - p2))
    assert value[3] == pytest.approx((p1 * l2 - p2 * l1) / (p1 - p2))
    noise = ((1 - p2) ** 2 * l1 * (1 - l1) / n1 + (1 - p1) ** 2 * l2 * (1 - l2) / n2) / (p1 - p2) ** 2
    assert covariance[1, 1] == pytest.approx(noise)


@given(st.integers(2, 5), st.integers(0, 2**32))
def test_both_distributions_come_back(categories, seed):
    """From expected counts; the covariance by writing the estimate out as one matrix times both samples."""
    rng = np.random.default_rng(seed)
    p, y = rng.dirichlet(np.ones(categories), 2)
    theta = (0.9 - 0.3 * rng.random(), 0.5 * rng.random())
    laws = [t * p + (1 - t) * y for t in theta]
    value, covariance = solve_two_samples(laws[0] * 700, laws[1] * 300, theta)
    np.testing.assert_allclose(value, [*p, *y], atol=1e-9)
    mixing = np.kron(np.array([[t, 1 - t] for t in theta]), np.eye(categories))
    noise = np.zeros((2 * categories,) * 2)
    for sample, (law, people) in enumerate(zip(laws, (700, 300), strict=True)):
        block = slice(sample * categories, (sample + 1) * categories)
        noise[block, block] = (np.diag(law) - np.outer(law, law)) / people
    back = np.linalg.inv(mixing)
    np.testing.assert_allclose(covariance, back @ noise @ back.T, atol=1e-12)


def test_intervals_cover():
    """4,000 pairs of samples: 93.5 to 96.5 %, and means within five Monte-Carlo errors, of both distributions."""
    rng = np.random.default_rng(9)
    theta, truth = (0.75, 0.3), np.concatenate([SENSITIVE, UNRELATED])
    laws = [t * SENSITIVE + (1 - t) * UNRELATED for t in theta]
    first, second = rng.multinomial(1500, laws[0], 4000), rng.multinomial(1000, laws[1], 4000)
    found = [solve_two_samples(*pair, theta) for pair in zip(first, second, strict=True)]
    values = np.array([value for value, _ in found])
    errors = np.sqrt([np.diag(covariance) for _, covariance in found])
    assert (np.abs(values.mean(axis=0) - truth) < 5 * values.std(axis=0) / np.sqrt(4000)).all()
    covered = (np.abs(values - truth) < 1.96 * errors).mean(axis=0)
    assert ((covered > 0.935) & (covered < 0.965)).all()


def plans(known=None) -> list[Plan]:
    schema = Schema([boolean("b"), Attribute("a", ["x", "y", "z"])])
    return [Plan.of(schema, {("b", "a"): UnrelatedQuestion(theta=Fraction(t, 4), known=known)}) for t in (3, 1)]


def test_tables_and_plans():
    """Attributes in another order than the plan's, and jointly; the law that a plan lists as known is not used."""
    first = {"b": [True, False, True, False] * 50, "a": ["x", "y", "z", "x"] * 50}
    second = {"b": [True, True, False] * 40, "a": ["z", "y", "z"] * 40}
    for one in (plans(), plans(known=[[0.1, 0.9], [0.2, 0.3, 0.5]])):
        found = estimate_two_samples(first, one[0], second, one[1], ["a", "b"])
        counts = [np.zeros((3, 2)), np.zeros((3, 2))]
        for table, cells in zip((first, second), counts, strict=True):
            for a, b in zip(table["a"], table["b"], strict=True):
                cells["xyz".index(a), int(b)] += 1
        value, covariance = solve_two_samples(counts[0].ravel(), counts[1].ravel(), (0.75, 0.25))
        np.testing.assert_allclose([*found.sensitive.value, *found.unrelated.value], value, atol=1e-12)
        np.testing.assert_allclose(found.covariance, covariance, atol=1e-12)
        np.testing.assert_allclose(found.unrelated.covariance, covariance[6:, 6:], atol=1e-12)
        assert found.sensitive.attributes == ("a", "b")
        assert found.sensitive.respondents == 320
        assert found.sensitive.shape == (3, 2)
    one = estimate_two_samples(first, plans()[0], second, plans()[1], "a")
    np.testing.assert_allclose(one.sensitive.value, found.sensitive.value.reshape(3, 2).sum(axis=1))


def test_the_best_split_is_the_least_variance():
    """Against a search over all splits of 2,000 people."""
    theta = (0.8, 0.35)
    laws = [t * SENSITIVE + (1 - t) * UNRELATED for t in theta]
    noise = [np.trace(solve_two_samples(laws[0] * n, laws[1] * (2000 - n), theta)[1][:3, :3]) for n in range(1, 2000)]
    assert best_split(theta, SENSITIVE, UNRELATED) == pytest.approx((1 + np.argmin(noise)) / 2000, abs=1e-3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: solve_two_samples([1, 2], [2, 1], (0.5, 0.5)), r"^theta must differ between the samples"),
        (lambda: solve_two_samples([1, 2], [2, 1], (0.5, 1.5)), r"^theta must be"),
        (lambda: solve_two_samples([1, 2], [2, 1, 0], (0.5, 0.2)), r"^second must be one row of counts, as long"),
        (lambda: solve_two_samples([1, -2], [2, 1], (0.5, 0.2)), r"^first must be 2 counts that are not negative"),
        (lambda: solve_two_samples([1, 2], [0, 0], (0.5, 0.2)), r"^counts must be of at least one report in each"),
        (lambda: best_split((0.5, 0.2), [0.5, 0.5], [0.2, 0.3, 0.5]), r"^unrelated must have 2 proportions"),
        (lambda: best_split((0.5, 0.2), [1, 0], [1, 0]), r"^sensitive must not be certain"),
    ],
)
def test_what_cannot_be_solved(call, message):
    with pytest.raises(SottovoceError, match=message):
        call()


def test_equal_theta_is_singular():
    with pytest.raises(SingularChannelError):
        solve_two_samples([1, 2], [2, 1], (0.5, 0.5))


def test_other_plans():
    table = {"b": [True], "a": ["x"]}
    one, other = plans()[0], Plan.of(plans()[0].schema, {"b": Warner(p=0.75), "a": Warner(p=0.75)})
    with pytest.raises(SottovoceError, match=r"^plan must disguise these attributes together by unrelated_question"):
        estimate_two_samples(table, one, table, other, "b")
    renamed = Plan.of(Schema([Attribute("b", ["no", "yes"])]), {"b": UnrelatedQuestion(theta=0.2)})
    with pytest.raises(SottovoceError, match=r"^plans must have the same categories of the same attributes"):
        estimate_two_samples(table, one, {"b": ["no"]}, renamed, "b")
