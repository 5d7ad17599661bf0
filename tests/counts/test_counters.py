"""Both questions of the protocol, in every counter: tables, files and bitsets agree with plain loops."""

from collections import Counter as Tally
from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.counts import all_ones
from sottovoce.counts.counter import BitsetCounter, TableCounter, as_counter
from sottovoce.counts.protocol import Counter, padded
from sottovoce.errors import SottovoceError
from sottovoce.estimates.counted import count_reports
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Attribute, boolean
from sottovoce.schemas.item_set import ItemSet
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.warner import Warner
from sottovoce.tables.bitsets import Bitsets
from sottovoce.tables.source import open_source

ITEMS = ("ale", "bread", "cheese", "dates")
BASKETS = Schema([ItemSet("basket", ITEMS)])
SETS = [list(s) for s in chain.from_iterable(combinations(range(4), k) for k in range(1, 5))]


@pytest.fixture(scope="module")
def way(bulk_way):
    """Every call is a bulk call, each of the ways, and numpy gathers one set at a time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(all_ones, "BULK_WORDS", 1)
        patch.setattr(all_ones, "WORDS_AT_ONCE", 1)
        yield bulk_way


def counters(matrix: np.ndarray) -> list[Counter]:
    lists = [[ITEMS[i] for i in np.flatnonzero(row)] for row in matrix]
    return [as_counter({"basket": lists}), as_counter(Bitsets.from_matrix(matrix))]


@settings(max_examples=30)
@given(st.integers(1, 150), st.integers(0, 2**32))
def test_all_ones_by_loops(way, rows, seed):
    """Every set of four items, in one batch of four columns."""
    matrix = np.random.default_rng(seed).random((rows, 4)) < 0.6
    expected = [int(matrix[:, items].all(axis=1).sum()) for items in SETS]
    for counter in counters(matrix):
        assert counter.all_ones(BASKETS, padded(SETS)).tolist() == expected
        assert counter.rows() == rows


@given(st.integers(1, 150), st.integers(0, 2**32))
def test_contingency_by_loops(rows, seed):
    matrix = np.random.default_rng(seed).random((rows, 4)) < 0.6
    cells = Tally((matrix @ [8, 4, 2, 1]).tolist())
    for counter in counters(matrix):
        assert counter.contingency(BASKETS).tolist() == [cells[cell] for cell in range(16)]


def test_several_blocks():
    """20,000 transactions take three blocks of bitsets, counted by numpy and by the usual way alike."""
    matrix = np.random.default_rng(1).random((20_000, 4)) < 0.3
    expected = [int(matrix[:, items].all(axis=1).sum()) for items in SETS]
    for counter in counters(matrix):
        assert counter.all_ones(BASKETS, padded(SETS)).tolist() == expected
        assert counter.contingency(BASKETS).sum() == 20_000


def test_yes_no_attributes_are_items_too():
    schema = Schema([boolean("a"), ItemSet("basket", ["ale"])])
    counter = as_counter({"a": [True, True, False], "basket": [["ale"], [], ["ale"]]})
    assert counter.all_ones(schema, np.array([[0, 0], [0, 1], [1, 1]])).tolist() == [2, 1, 2]


def test_rows_of_a_file_are_counted_once(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("basket,other\nale,1\nale;bread,2\n,3\n")
    fresh, asked = TableCounter(open_source(path)), TableCounter(open_source(path))
    assert fresh.rows() == 3
    assert asked.contingency(BASKETS).sum() == 3
    path.unlink()
    assert asked.rows() == fresh.rows() == 3


def test_any_counter_serves_an_estimate():
    class Elsewhere:
        def rows(self):
            return 10

        def contingency(self, schema):
            assert schema.names == ("tax",)
            return np.array([4, 6])

        def all_ones(self, schema, sets):
            raise AssertionError

    plan = Plan.of(Schema([boolean("tax")]), {"tax": Warner(p=0.75)})
    elsewhere = Elsewhere()
    assert as_counter(elsewhere) is elsewhere
    assert count_reports(elsewhere, plan, ["tax"]).counts.tolist() == [4, 6]


@pytest.mark.parametrize(
    ("sets", "message"),
    [
        (np.array([[0, 4]]), r"^sets must be indices of items from 0 to 3\. Got \(0, 4\)"),
        (np.array([[-1, 0]]), r"^sets must be indices of items"),
        (np.array([[0.5]]), r"^sets must have a row of whole numbers"),
        (np.zeros((2, 0), np.int64), r"^sets must have a row of whole numbers for each set, with at least one item"),
        (np.array([1]), r"^sets must have a row"),
    ],
)
def test_sets_that_are_none(sets, message):
    for counter in counters(np.ones((3, 4), bool)):
        with pytest.raises(SottovoceError, match=message):
            counter.all_ones(BASKETS, sets)


def test_columns_that_are_not_bits():
    with pytest.raises(SottovoceError, match=r"^schema must have only items and yes/no attributes"):
        as_counter({"a": [0]}).all_ones(Schema([Attribute("a", [0, 1, 2])]), np.array([[0]]))


def test_bitsets_of_other_items():
    counter = BitsetCounter(Bitsets.from_matrix(np.ones((3, 2), bool)))
    with pytest.raises(SottovoceError, match=r"^bitsets must have 4 items, as the schema\. Got 2"):
        counter.contingency(BASKETS)
