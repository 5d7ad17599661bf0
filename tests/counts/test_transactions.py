"""Transactions as miners ask for them: all kinds count alike, on every way through bulk calls."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sottovoce.counts import all_ones
from sottovoce.counts.counter import as_counter
from sottovoce.counts.transactions import (
    AskedTransactions,
    HeldTransactions,
    SparseTransactions,
    StreamedTransactions,
)
from sottovoce.schemas.item_set import ItemSet
from sottovoce.schemas.schema import Schema
from sottovoce.tables import arrow_source
from sottovoce.tables.bitsets import Bitsets
from sottovoce.tables.source import open_source

ITEMS = 11
BASKET = ItemSet("basket", range(ITEMS))
CHOSEN = np.array([0, 2, 3, 7, 8, 10])
SETS = np.array([[0, 1, 2], [0, 1, 3], [0, 4, 5], [2, 3, 4], [2, 3, 4]])


@pytest.fixture(scope="module", params=["few", "many"])
def matrix(request):
    """One block, and three with a last one that is not full."""
    rows = {"few": 300, "many": 17_000}[request.param]
    return np.random.default_rng(1).random((rows, ITEMS)) < 0.2


@pytest.fixture(scope="module")
def way(bulk_way):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(all_ones, "BULK_WORDS", 1)
        patch.setattr(all_ones, "BULK_ROWS", 1)
        yield bulk_way


def csr_of(matrix):
    return Bitsets.from_matrix(matrix).to_csr()


def kinds(matrix):
    bits = Bitsets.from_matrix(matrix)
    table = open_source({"basket": [np.flatnonzero(row).tolist() for row in matrix]})
    yield SparseTransactions(bits.to_csr(), ITEMS)
    yield HeldTransactions(bits)
    yield StreamedTransactions(table, BASKET)
    yield StreamedTransactions(table, BASKET, most_held=0)
    yield AskedTransactions(as_counter(bits), Schema([BASKET]))


def test_all_kinds_count_alike(way, matrix):
    if way == "plain" and len(matrix) > 1000:
        matrix = matrix[:200]
    own = matrix[:, CHOSEN]
    pairs = np.triu(own.astype(int).T @ own.astype(int), 1)
    for transactions in kinds(matrix):
        assert transactions.singles().tolist() == matrix.sum(axis=0).tolist()
        assert transactions.rows() == len(matrix)
        narrowed = transactions.narrowed(CHOSEN)
        assert narrowed.pairs().tolist() == pairs.tolist()
        assert narrowed.all_ones(SETS).tolist() == [own[:, s].all(axis=1).sum() for s in SETS]


def test_pairs_of_four_items(way):
    """As many as are counted at a time."""
    matrix = np.random.default_rng(4).random((100, 4)) < 0.5
    expected = np.triu(matrix.astype(int).T @ matrix.astype(int), 1)
    assert all_ones.count_pairs(Bitsets.from_matrix(matrix)).tolist() == expected.tolist()


@pytest.mark.parametrize("cost", [0, 1e9])
def test_pairs_from_rows_or_bits(way, monkeypatch, cost):
    monkeypatch.setattr(all_ones, "SPARSE_COST", cost)
    matrix = np.random.default_rng(2).random((200, ITEMS)) < 0.3
    narrowed = SparseTransactions(csr_of(matrix), ITEMS).narrowed(CHOSEN)
    assert (narrowed.sparse_pairs is None) == (cost > 0)
    own = matrix[:, CHOSEN].astype(int)
    assert narrowed.pairs().tolist() == np.triu(own.T @ own, 1).tolist()


def test_a_sample_has_the_items_of_its_rows(way):
    """All rows in order where all are drawn; else each drawn row as it is, no row twice."""
    matrix = np.eye(60, dtype=bool)
    whole = SparseTransactions(csr_of(matrix), 60)
    assert whole.sample(60).singles().tolist() == [1] * 60
    part = whole.sample(20)
    assert (part.rows(), part.singles().sum(), part.singles().max()) == (20, 20, 1)
    for other in list(kinds(matrix[:, :ITEMS]))[1:]:
        assert other.sample(20) is None


def test_files_are_read_in_batches(tmp_path, monkeypatch):
    """Lists as Parquet holds them, three batches, with repeated and unordered items in some."""
    monkeypatch.setattr("sottovoce.tables.source.BATCH_ROWS", 40)
    rng = np.random.default_rng(3)
    lists = [rng.integers(0, ITEMS, rng.integers(0, 5)).tolist() for _ in range(100)]
    pq.write_table(pa.table({"basket": pa.array(lists, pa.list_(pa.int64()))}), tmp_path / "t.parquet")
    matrix = np.zeros((100, ITEMS), bool)
    for row, items in enumerate(lists):
        matrix[row, items] = True
    for held in (0, 2**20):
        streamed = StreamedTransactions(open_source(tmp_path / "t.parquet"), BASKET, most_held=held)
        assert streamed.singles().tolist() == matrix.sum(axis=0).tolist()
        own = matrix[:, CHOSEN]
        assert streamed.narrowed(CHOSEN).all_ones(SETS).tolist() == [own[:, s].all(axis=1).sum() for s in SETS]


def test_large_files_are_counted_in_parts(tmp_path, monkeypatch):
    """Parts of a file are counted at the same time, whether the bits are kept or not."""
    monkeypatch.setattr(arrow_source, "PART_ROWS", 100)
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    matrix = np.random.default_rng(6).random((500, ITEMS)) < 0.3
    lists = pa.table({"basket": [np.flatnonzero(row).tolist() for row in matrix]})
    pq.write_table(lists, tmp_path / "b.parquet", row_group_size=90)
    own = matrix[:, CHOSEN]
    for most_held in (0, 2**20):
        transactions = StreamedTransactions(open_source(tmp_path / "b.parquet"), BASKET, most_held=most_held)
        assert transactions.singles().tolist() == matrix.sum(axis=0).tolist()
        narrowed = transactions.narrowed(CHOSEN)
        assert narrowed.pairs().tolist() == np.triu(own.astype(int).T @ own.astype(int), 1).tolist()
        assert narrowed.all_ones(SETS).tolist() == [own[:, s].all(axis=1).sum() for s in SETS]
