"""Supports under cut-and-paste: exact on expected reports, size by size, and honest by simulation."""

from functools import cache
from itertools import chain, combinations

import numpy as np
import pytest

from sottovoce.disguises.tables import disguise_frame
from sottovoce.errors import SottovoceError
from sottovoce.estimates.itemsets import estimate_supports_by_size
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import boolean
from sottovoce.schemas.item_set import ItemSet
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.cut_and_paste import CutAndPaste
from sottovoce.schemes.mask import Mask

ITEMS = ("ale", "bread", "cheese", "dates", "eggs", "figs")
BASKETS = Schema([ItemSet("basket", ITEMS)])
BITS = (np.arange(64)[:, None] >> np.arange(5, -1, -1)) & 1
SIZES = BITS.sum(axis=1)
SETS = [list(s) for s in chain.from_iterable(combinations(range(6), k) for k in range(1, 4))]


@cache
def with_all(items):
    """Which of the 64 sets have all of these items."""
    return BITS[:, items].all(axis=1).astype(float)


class CellCounter:
    """Answers from the expected number of reports in each cell of six bits."""

    def __init__(self, cells):
        self.cells = np.asarray(cells)

    def rows(self):
        return self.cells.sum()

    def contingency(self, schema):
        raise AssertionError("only all-ones counts are needed")

    def all_ones(self, schema, sets):
        return np.stack([with_all(tuple(items)) for items in sets.tolist()]) @ self.cells


def plan_of(cutoff: int, rho: float) -> Plan:
    return Plan.of(BASKETS, {"basket": CutAndPaste(cutoff, rho)})


def labels(sets):
    return [[ITEMS[item] for item in items] for items in sets]


def brute_force_weights(matrix: np.ndarray, size: int, items: list[int]) -> np.ndarray:
    """What each of the 64 reports counts for, by inverting the numbers of items read off the dense channel."""
    length, held = len(items), BITS[:, items].sum(axis=1)
    if size < length:
        return np.zeros(64)
    by_count = np.eye(length + 1)
    for true in range(length + 1):
        truth = np.flatnonzero((size == SIZES) & (held == true))[0]
        by_count[:, true] = [matrix[held == a, truth].sum() for a in range(length + 1)]
    return np.linalg.inv(by_count)[length][held]


@pytest.mark.parametrize("target", ["population", "table"])
@pytest.mark.parametrize(
    ("cutoff", "rho"),
    [(3, 0.494), *(pytest.param(*case, marks=pytest.mark.slow) for case in ((3, 0.2), (4, 0.35))), (5, 0.5)],
)
def test_exact_from_expected_reports(cutoff, rho, target):
    """A law over the sets up to three of six, its expected reports by size: supports come back, with variances.

    For the table the variance is that of the coins, truth by truth; for the population the truths vary too.
    """
    plan = plan_of(cutoff, rho)
    matrix = plan.channel().dense()
    law = np.random.default_rng(cutoff).dirichlet(SIZES <= 3)
    reports = {size: CellCounter(10_000 * matrix[:, size == SIZES] @ law[size == SIZES]) for size in range(4)}
    found = estimate_supports_by_size(reports, plan, labels(SETS), target=target)
    held = np.array([BITS[:, items].all(axis=1) for items in SETS], dtype=float)
    supports = held @ law
    np.testing.assert_allclose(found.value, supports, atol=1e-9)
    variances = np.zeros(len(SETS))
    for truth in np.flatnonzero(law):
        weights = np.array([brute_force_weights(matrix, SIZES[truth], items) for items in SETS])
        about = held[:, truth] if target == "table" else supports
        variances += law[truth] * ((weights - about[:, None]) ** 2 @ matrix[:, truth])
    np.testing.assert_allclose(found.standard_error**2, variances / 10_000, rtol=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("target", ["population", "table"])
def test_unbiased_and_honest_by_simulation(target):
    """1,000 disguises of 2,000 transactions, fixed or drawn anew: means, covariances, coverage.

    Coverage must lie between 93.5 and 96.5 %, means within 4.5 Monte-Carlo errors; a correlation of 1,000 runs
    has an error of 3.2 %, a variance one of 4.5 %.
    """
    rng = np.random.default_rng(2)
    plan = plan_of(3, 0.3)
    matrix = plan.channel().dense()
    law = np.where((SIZES >= 2) & (SIZES <= 4), rng.random(64) ** 2, 0)
    fixed = np.round(law / law.sum() * 2000).astype(int)
    law = fixed / fixed.sum()
    sets = [[0], [1], [0, 1], [1, 2, 4]] if target == "population" else [[0], [1], [0, 1]]
    supports = np.array([law @ BITS[:, items].all(axis=1) for items in sets])
    estimates = []
    for _ in range(1000):
        drawn = fixed if target == "table" else rng.multinomial(fixed.sum(), law)
        reports = rng.multinomial(drawn, matrix.T)
        by_size = {size: CellCounter(reports[size == SIZES].sum(axis=0)) for size in (2, 3, 4)}
        estimates.append(estimate_supports_by_size(by_size, plan, labels(sets), target=target))
    values = np.array([found.value for found in estimates])
    spread = values.std(axis=0, ddof=1)
    assert (np.abs(values.mean(axis=0) - supports) < 4.5 * spread / np.sqrt(1000)).all()
    stated = np.mean([found.covariance for found in estimates], axis=0)
    np.testing.assert_allclose(stated / np.outer(spread, spread), np.corrcoef(values.T), atol=0.16)
    covered = np.mean([np.abs(found.value - supports) < 1.96 * found.standard_error for found in estimates])
    assert 0.935 < covered < 0.965


def test_disguised_tables():
    """Through the sampler, from a table for each size: within four standard errors of the truth."""
    plan = plan_of(3, 0.2)
    truths = {1: [["ale"]] * 1000, 3: [["ale", "bread", "eggs"]] * 3000}
    reports = {size: disguise_frame({"basket": rows}, plan, size) for size, rows in truths.items()}
    found = estimate_supports_by_size(reports, plan, [["ale"], ["ale", "bread"], ["ale", "bread", "eggs"], ["dates"]])
    assert found.respondents == 4000
    assert (np.abs(found.value - [1, 0.75, 0.75, 0]) < 4 * found.standard_error).all()


def test_one_size_for_all():
    """One item is kept half of the time: P(1 | 1) = .5 + .5 / 4, P(1 | 0) = 1 / 4."""
    reports = {"basket": [["ale"]] * 40 + [["dates"]] * 60}
    found = estimate_supports_by_size({1: reports}, plan_of(1, 0.25), [["ale"], ["dates"]])
    np.testing.assert_allclose(found.value, [0.15 / 0.375, 0.35 / 0.375])
    np.testing.assert_allclose(found.standard_error, np.sqrt(0.24 / 100) / 0.375)
    assert "supports in the population by inversion for each size" in str(found)


def test_longer_sets_are_lost():
    """The matrix of counts has rank cutoff + 1, so that no inverse exists: checked, and refused."""
    plan = plan_of(2, 0.4)
    channel = plan.groups[0].mechanism.channel
    for length in (2, 3, 4):
        matrix = np.array(channel.counts_matrix(5, length), dtype=float)
        assert np.linalg.matrix_rank(matrix) == 3
    with pytest.raises(
        SottovoceError, match=r"^itemsets must have at most 2 items, the cutoff: of longer ones, counts"
    ):
        estimate_supports_by_size({5: {"basket": [[]]}}, plan, [["ale", "bread", "cheese"]])


def test_covariances_in_a_table_need_the_support_of_both_sets_together():
    plan, reports = plan_of(2, 0.4), {3: {"basket": [["ale"], ["bread"]]}}
    wanted = [["ale", "bread"], ["cheese"]]
    assert estimate_supports_by_size(reports, plan, wanted).covariance.shape == (2, 2)
    found = estimate_supports_by_size(reports, plan, wanted, target="table")
    assert (found.standard_error > 0).all()
    with pytest.raises(SottovoceError, match=r"two sets together have more than 2 items, whose support cannot"):
        _ = found.covariance


@pytest.mark.parametrize("reports", [[["ale"]], {}, {"basket": [["ale"]]}, {7: {}}, {-1: {}}, {True: {}}])
def test_reports_must_be_by_size(reports):
    with pytest.raises(SottovoceError, match=r"^(reports|key of reports, a size of transactions,) must be "):
        estimate_supports_by_size(reports, plan_of(2, 0.4), [["ale"]])


def test_other_schemes():
    plan = Plan.of(BASKETS, {"basket": Mask(p=0.75)})
    with pytest.raises(SottovoceError, match=r"^basket must be disguised by cut_and_paste, .* Got mask of basket"):
        estimate_supports_by_size({1: {}}, plan, [["ale"]])


def test_sets_that_share_their_coins():
    schema = Schema([boolean("a"), ItemSet("s", ["x", "y"])])
    plan = Plan.of(schema, {("a", "s"): CutAndPaste(1, 0.25)})
    with pytest.raises(SottovoceError, match=r"^s must be disguised by cut_and_paste, alone in its group"):
        estimate_supports_by_size({1: {}}, plan, [["x"]])
