"""Supports from all-ones counts: equal to inverting the whole Kronecker product, and honest by simulation."""

from itertools import chain, combinations, product
from math import factorial, prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.disguises.tables import disguise_frame
from sottovoce.disguises.transactions import disguise_transactions
from sottovoce.errors import SingularChannelError, SottovoceError
from sottovoce.estimates import itemsets, supports
from sottovoce.estimates.cell_tests import ScoreTests
from sottovoce.estimates.itemsets import estimate_supports
from sottovoce.measures.itemset_error import support_error
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import boolean
from sottovoce.schemas.item_set import ItemSet
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.cut_and_paste import CutAndPaste
from sottovoce.schemes.emask import Emask
from sottovoce.schemes.gamma_diagonal import GammaDiagonal
from sottovoce.schemes.mask import Mask
from sottovoce.schemes.matrix import Matrix
from sottovoce.schemes.randomized_gamma_diagonal import RandomizedGammaDiagonal
from sottovoce.schemes.unrelated_question import UnrelatedQuestion
from sottovoce.schemes.warner import Warner
from sottovoce.tables.bitsets import Bitsets

ITEMS = ("ale", "bread", "cheese", "dates")
BASKETS = Schema([ItemSet("basket", ITEMS)])
SETS = [list(s) for s in chain.from_iterable(combinations(range(4), k) for k in range(1, 5))]
LABELS = [[ITEMS[i] for i in items] for items in SETS]
SCHEMES = {
    "mask": Mask(p=0.9),
    "mostly flipped": Mask(p=0.2),
    "emask": Emask(p=0.5051, q=0.9696),
    "a coin for each item": Emask(p=[0.9, 0.5, 0.7, 0.3], q=[0.9, 0.95, 0.8, 0.4]),
    "gamma-diagonal": GammaDiagonal(gamma=19),
    "private matrices": RandomizedGammaDiagonal(gamma=19),
    "unrelated question": UnrelatedQuestion(theta=0.4, known=[[0.9, 0.1]] * 4),
}


class CellCounter:
    """Answers from the number of reports in each cell of four bits."""

    def __init__(self, cells):
        self.cells = np.asarray(cells).reshape(2, 2, 2, 2)

    def rows(self):
        return self.cells.sum().item()

    def contingency(self, schema):
        raise AssertionError("only all-ones counts are needed")

    def all_ones(self, schema, sets):
        assert schema == BASKETS
        ones = [tuple(1 if axis in items else slice(None) for axis in range(4)) for items in sets.tolist()]
        return np.array([self.cells[where].sum() for where in ones])


def plan_of(scheme) -> Plan:
    return Plan.of(BASKETS, {"basket": scheme})


@pytest.mark.parametrize("target", ["population", "table"])
@pytest.mark.parametrize("name", SCHEMES)
@settings(max_examples=5)
@given(seed=st.integers(0, 2**32))
def test_inversion_of_the_whole_product(name, target, seed):
    """p = A^-1 lam over all 16 cells, `(A^-1 diag(lam) A^-T - p p^T) / N` or `- diag(p)`, then sums over cells."""
    plan = plan_of(SCHEMES[name])
    counts = np.random.default_rng(seed).integers(1, 50, 16)
    inverse = np.linalg.inv(plan.channel().dense())
    total, lam = counts.sum(), counts / counts.sum()
    p = inverse @ lam
    covariance = ((inverse * lam) @ inverse.T - (np.diag(p) if target == "table" else np.outer(p, p))) / total
    bits = (np.arange(16)[:, None] >> np.arange(3, -1, -1)) & 1
    sums = np.array([bits[:, items].all(axis=1) for items in SETS], dtype=float)
    found = estimate_supports(CellCounter(counts), plan, LABELS, target=target)
    np.testing.assert_allclose(found.value, sums @ p, rtol=1e-8, atol=1e-9)
    scale = np.abs(covariance).max()
    np.testing.assert_allclose(found.covariance, sums @ covariance @ sums.T, rtol=1e-7, atol=1e-9 * scale)
    assert found.respondents == total


@given(st.floats(0.3, 1), st.floats(0.75, 1), st.integers(1, 4), st.integers(0, 2**32))
def test_formula_of_equal_coins(p, q, length, seed):
    """`sum_j S_j (-(1-q))^(n-j) / (p+q-1)^n`, S_j the sum of the all-ones counts of the subsets of j items."""
    plan = plan_of(Emask(p=p, q=q))
    coin = plan.groups[0].mechanism.bit_coins[0]
    p, q = coin.one / coin.sides, 1 - coin.zero / coin.sides  # as the plan rounds them
    counter = CellCounter(np.random.default_rng(seed).integers(0, 50, 16) + np.eye(16, dtype=int)[0])
    subsets = [np.array(list(combinations(range(length), j))) for j in range(1, length + 1)]
    sums = [counter.rows(), *(counter.all_ones(BASKETS, sets).sum() for sets in subsets)]
    expected = sum(s * (-(1 - q)) ** (length - j) for j, s in enumerate(sums)) / (p + q - 1) ** length
    found = estimate_supports(counter, plan, [ITEMS[:length]])
    assert found.value[0] * counter.rows() == pytest.approx(expected, rel=1e-8, abs=1e-6)


def test_standard_errors_are_those_expected():
    """From the expected reports of independent items: `measures.support_error`, relative to the support."""
    plan = plan_of(Emask(p=0.8, q=0.9))
    share = np.array([0.7, 0.3])
    law = np.einsum("a,b,c,d->abcd", share, share, share, share).ravel()
    cells = plan.channel().matvec(law) * 10_000
    for target in ("population", "table"):
        found = estimate_supports(CellCounter(cells), plan, [["ale", "bread"]], target=target)
        expected = support_error(0.8, 0.9, [0.49, 0.42, 0.09], 10_000, target=target) * 0.09
        assert found.value[0] == pytest.approx(0.09)
        assert found.standard_error[0] == pytest.approx(expected.item())


@pytest.mark.slow
@pytest.mark.parametrize("target", ["population", "table"])
def test_unbiased_and_covering(target):
    """1,000 samples: means within 5 Monte-Carlo errors, coverage of 95 % intervals between 93.5 and 96.5 %."""
    rng = np.random.default_rng(len(target))
    plan = plan_of(Emask(p=[0.9, 0.6, 0.7, 0.8], q=[0.8, 0.95, 0.9, 0.85]))
    columns = plan.channel().dense()
    law = np.random.default_rng(1).dirichlet(np.ones(16))
    fixed = np.round(law * 5000).astype(int)
    truth = law if target == "population" else fixed / fixed.sum()
    wanted = [["ale"], ["ale", "dates"], ["bread", "cheese"], ["ale", "bread", "dates"]]
    bits = (np.arange(16)[:, None] >> np.arange(3, -1, -1)) & 1
    supports = [truth @ bits[:, [ITEMS.index(i) for i in items]].all(axis=1) for items in wanted]
    covered, values = np.zeros(4), np.zeros((1000, 4))
    for run in range(1000):
        if target == "population":
            counts = rng.multinomial(5000, columns @ law)
        else:
            counts = sum(rng.multinomial(n, column) for n, column in zip(fixed, columns.T, strict=True))
        found = estimate_supports(CellCounter(counts), plan, wanted, target=target)
        low, high = found.interval()
        covered += (low <= supports) & (supports <= high)
        values[run] = found.value
    assert 0.935 < covered.mean() / 1000 < 0.965
    assert (np.abs(values.mean(axis=0) - supports) < 5 * values.std(axis=0) / np.sqrt(1000)).all()
    np.testing.assert_allclose(np.cov(values.T), found.covariance, atol=0.15 * np.diag(found.covariance).max())


def test_tables_and_bitsets_agree():
    plan = plan_of(Emask(p=0.8, q=0.9))
    rng = np.random.default_rng(5)
    reports = disguise_transactions(rng.random((3000, 4)) < 0.4, plan, rng, "lists")
    rows = [[item in basket for item in ITEMS] for basket in reports]
    wanted = [["ale"], "bread;dates", ["cheese", "ale"]]
    one = estimate_supports({"basket": reports}, plan, wanted)
    two = estimate_supports(Bitsets.from_matrix(np.array(rows)), plan, wanted)
    assert one.itemsets == two.itemsets == (("ale",), ("bread", "dates"), ("ale", "cheese"))
    assert one.to_json() == two.to_json()
    np.testing.assert_array_equal(one.covariance, two.covariance)


def test_without_a_disguise_supports_are_exact():
    plan = plan_of(Mask(p=1))
    found = estimate_supports({"basket": [["ale"], ["ale", "bread"], [], []]}, plan, [["ale"]], target="table")
    assert found.value.tolist() == [0.5]
    assert found.standard_error.tolist() == [0]


def test_one_attribute_among_others():
    schema = Schema([boolean("a"), ItemSet("s", ["x", "y"]), ItemSet("t", ["x"])])
    plan = Plan.of(schema, {("a", "s"): GammaDiagonal(gamma=9), "t": Mask(p=0.9)})
    table = {"a": [True, False] * 50, "s": [["x"], ["x", "y"]] * 50, "t": [[]] * 100}
    found = estimate_supports(disguise_frame(table, plan, 3), plan, [["x"]], attribute="s")
    assert found.attribute == "s"
    with pytest.raises(
        SottovoceError, match=r"^attribute must name one of the attributes that hold sets .* \['s', 't'\]"
    ):
        estimate_supports(table, plan, [["x"]])
    with pytest.raises(SottovoceError, match=r"^attribute must name one"):
        estimate_supports(table, plan, [["x"]], attribute="a")


def test_showing():
    plan = plan_of(Mask(p=0.75))
    reports = {"basket": [["ale"], ["ale", "bread"], ["dates"], ["ale"]] * 25}
    found = estimate_supports(reports, plan, [["ale"], ["bread", "dates"]])
    lines = str(found).splitlines()
    assert lines[0] == "basket: 100 reports, supports in the population by inversion"
    assert lines[1].startswith("  ale             1.0000 +- 0.0866  [")  # (.75 - .25) / .5, sqrt(.75 .25 / 100) / .5
    assert lines[3].startswith("  A negative support is noise")
    row = found.to_rows(0.9)[1]
    assert list(row) == ["items", "length", "support", "standard_error", "low", "high"]
    assert (row["items"], row["length"]) == (["bread", "dates"], 2)
    low, high = found.interval(simultaneous=True)
    assert (high - low > found.interval()[1] - found.interval()[0]).all()


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_frames(backend):
    found = estimate_supports({"basket": [["ale"], []]}, plan_of(Mask(p=0.75)), [["ale"], ["ale", "bread"]])
    frame = found.to_frame(backend)
    assert type(frame).__module__.startswith(backend)
    names = frame.column_names if backend == "pyarrow" else list(frame.columns)
    assert names == ["items", "length", "support", "standard_error", "low", "high"]
    assert [list(items) for items in (frame["items"].to_pylist() if backend == "pyarrow" else frame["items"])] == [
        ["ale"],
        ["ale", "bread"],
    ]


@pytest.mark.parametrize(
    ("limit", "reason"), [(20, "unions of two sets have more than 20 subsets"), (1, "3 sets have")]
)
def test_many_sets_have_variances_only(monkeypatch, limit, reason):
    plan, reports = plan_of(Mask(p=0.75)), {"basket": [["ale"], ["ale", "bread"], []]}
    wanted = [["ale", "bread"], ["cheese", "dates"], ["ale"]]
    whole = estimate_supports(reports, plan, wanted)
    monkeypatch.setattr(supports, "MOST_COUNTED", limit)
    found = estimate_supports(reports, plan, wanted)
    np.testing.assert_array_equal(found.standard_error, whole.standard_error)
    with pytest.raises(SottovoceError, match=rf"^itemsets must be fewer or shorter for covariances: {reason}"):
        _ = found.covariance


@pytest.mark.parametrize(
    ("itemsets", "message"),
    [
        ([], r"^itemsets must be at least one"),
        ([["ale"], []], r"^itemsets must have 1 to 12 items each\. Got \[\]"),
        ([["wine"]], r"^basket must be one of its categories \(ale, bread, cheese, dates\)\. Got 'wine'"),
    ],
)
def test_sets_that_are_none(itemsets, message):
    with pytest.raises(SottovoceError, match=message):
        estimate_supports({"basket": [[]]}, plan_of(Mask(p=0.75)), itemsets)


def test_sets_that_are_too_long():
    items = [f"i{number}" for number in range(13)]
    plan = Plan.of(Schema([ItemSet("s", items)]), {"s": Mask(p=0.9)})
    with pytest.raises(SottovoceError, match=r"^itemsets must have 1 to 12 items"):
        estimate_supports({"s": [[]]}, plan, [items])


def test_an_unknown_target():
    with pytest.raises(SottovoceError, match=r"^target must be one of population, table\. Got 'world'"):
        estimate_supports({"basket": [[]]}, plan_of(Mask(p=0.75)), [["ale"]], target="world")


def test_coins_that_say_nothing():
    plan = Plan.of(Schema([ItemSet("s", ["x"])]), {"s": Warner(p=0.5)})
    with pytest.raises(
        SingularChannelError, match=r"^s \(warner: p must not be 1/n.*\) cannot be estimated: keep must not be 0"
    ):
        estimate_supports({"s": [[]]}, plan, [["x"]])


@pytest.mark.parametrize(
    ("scheme", "message"),
    [
        (CutAndPaste(2, 0.25), r"^basket must be estimated by estimate_supports_by_size"),
        (Matrix(np.eye(16), range(16)), r"^basket must be reported as sets of the same items\. Got matrix"),
    ],
)
def test_other_reports(scheme, message):
    with pytest.raises(SottovoceError, match=message):
        estimate_supports({"basket": [[]]}, plan_of(scheme), [["ale"]])


def test_long_lists_are_cut_in_print():
    items = [f"i{number}" for number in range(12)]
    plan = Plan.of(Schema([ItemSet("s", items)]), {"s": Mask(p=0.9)})
    found = estimate_supports({"s": [items, []]}, plan, combinations(items, 2))
    assert str(found).splitlines()[-1] == "  ... and 6 more rows"


def test_covariances_in_a_table_of_sets_that_are_long_together():
    """Two sets of seven items need the support of all fourteen in the table, which is longer than any set may be."""
    items = [f"i{number}" for number in range(14)]
    plan = Plan.of(Schema([ItemSet("s", items)]), {"s": GammaDiagonal(gamma=19)})
    halves = [items[:7], items[7:]]
    assert estimate_supports({"s": [[], items]}, plan, halves).covariance.shape == (2, 2)
    found = estimate_supports({"s": [[], items]}, plan, halves, target="table")
    with pytest.raises(SottovoceError, match=r"two sets together have more than 12 items"):
        _ = found.covariance


def test_supports_of_pairs_cover_however_few_reports_there_are():
    """All sets of five reports of two items, by enumeration."""
    plan = Plan.of(Schema([ItemSet("basket", ["a", "b"])]), {"basket": Emask(p=0.9, q=0.8)})
    cells = [(), ("b",), ("a",), ("a", "b")]
    channel = plan.channel(["basket"]).dense()
    truths = [np.array([0.25] * 4), np.array([0.7, 0.1, 0.1, 0.1]), np.array([0.02, 0.04, 0.04, 0.9])]
    covered = np.zeros(len(truths))
    for counts in (row for row in product(range(6), repeat=4) if sum(row) == 5):
        rows = [cell for cell, number in zip(cells, counts, strict=True) for _ in range(number)]
        found = estimate_supports({"basket": rows}, plan, [["a", "b"]])
        (low,), (high,) = found.interval()
        ways = factorial(5) / prod(map(factorial, counts))
        for index, truth in enumerate(truths):
            chance = ways * float(np.prod((channel @ truth) ** np.array(counts)))
            covered[index] += chance * (low - 1e-9 <= truth[3] <= high + 1e-9)
    assert covered.min() >= 0.94


def test_many_long_sets_have_plain_score_tests(monkeypatch):
    plan = Plan.of(Schema([ItemSet("basket", ["a", "b"])]), {"basket": Emask(p=0.9, q=0.8)})
    reports = {"basket": [["a", "b"], ["a"], [], ["b"]] * 25}
    few = estimate_supports(reports, plan, [["a", "b"]]).interval()
    monkeypatch.setattr(itemsets, "MOST_CHANCES", 3)
    many = estimate_supports(reports, plan, [["a", "b"]])
    assert isinstance(many.tests, ScoreTests)
    np.testing.assert_allclose(few, many.interval(), atol=0.05)
