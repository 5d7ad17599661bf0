"""Tables of baskets are disguised by the items they hold: the same law, any form, in bounded pieces."""

import io
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.stats import chisquare

from sottovoce.disguises import tables
from sottovoce.disguises.tables import disguise_file, disguise_frame
from sottovoce.disguises.transactions import disguise_transactions
from sottovoce.errors import SottovoceError
from sottovoce.plans.plan import Plan
from sottovoce.schemas.item_set import ItemSet
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.emask import Emask
from sottovoce.tables.plan_file import read_plan
from sottovoce.tables.source import open_source
from sottovoce.tables.sparse_rows import csr_batches

BASKET = ItemSet("basket", ["ale", "bread", "cheese"])
LISTS = [["bread"], [], ["ale", "cheese"], ["ale", "bread", "cheese"], []]


def plan_of(p, q):
    return Plan.of(Schema([BASKET]), {"basket": Emask(p=p, q=q)})


@pytest.fixture(params=["csv", "parquet", "text in parquet"])
def truths(request, tmp_path):
    texts = [";".join(items) for items in LISTS]
    if request.param == "csv":
        path = tmp_path / "truths.csv"
        path.write_text("basket\n" + "".join(f'"{text}"\n' for text in texts))
    else:
        path = tmp_path / "truths.parquet"
        values = LISTS if request.param == "parquet" else pa.array(texts, pa.large_string())
        pq.write_table(pa.table({"basket": values}), path)
    return path


def baskets_in(table):
    return [items for rows in csr_batches(open_source(table), BASKET) for items in BASKET.decode_sparse(*rows)]


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("most_bits", [1, 6, 2**30])
def test_certain_coins_leave_all_as_it_was(truths, form, most_bits, tmp_path, monkeypatch):
    """In pieces of one transaction, of two, and of all."""
    monkeypatch.setattr(tables, "MOST_BITS", most_bits)
    seen, reports = [], tmp_path / f"reports.{form}"
    assert disguise_file(truths, reports, plan_of(1, 1), progress=lambda *counts: seen.append(counts)) == 5
    assert baskets_in(reports) == LISTS
    assert read_plan(reports) == plan_of(1, 1)
    assert [done for done, _ in seen] == {1: [1, 2, 3, 4, 5], 6: [2, 4, 5]}.get(most_bits, [5])


def test_a_seed_gives_what_it_gives_in_memory(truths, tmp_path):
    plan = plan_of(0.6, 0.7)
    disguise_file(truths, tmp_path / "r.parquet", plan, rng=5)
    assert baskets_in(tmp_path / "r.parquet") == disguise_transactions(LISTS, plan, rng=5)


@pytest.mark.parametrize("frame", [dict, pd.DataFrame, pl.DataFrame, pa.table])
def test_frames_are_disguised_as_files_are(frame, monkeypatch):
    """In pieces of two baskets: what a seed gives, and the kind of frame that was given."""
    monkeypatch.setattr(tables, "MOST_BITS", 6)
    table = frame({"basket": LISTS})
    assert baskets_in(disguise_frame(table, plan_of(1, 1))) == LISTS
    reports = disguise_frame(table, plan_of(0.6, 0.7), rng=5)
    assert type(reports) is type(table)
    rng = np.random.default_rng(5)
    pieces = [disguise_transactions(LISTS[start : start + 2], plan_of(0.6, 0.7), rng) for start in (0, 2, 4)]
    assert baskets_in(reports) == [items for piece in pieces for items in piece]


def test_pieces_have_coins_of_their_own(tmp_path, monkeypatch):
    """30,000 baskets of one item, 8,192 at a time: the eight possible reports, four chi-square tests at .001 in all."""
    monkeypatch.setattr(tables, "MOST_BITS", 3 * 8192)
    pq.write_table(pa.table({"basket": [["bread"]] * 30_000}), tmp_path / "t.parquet")
    disguise_file(tmp_path / "t.parquet", tmp_path / "r.parquet", plan_of(0.7, 0.8), rng=6)
    reports = baskets_in(tmp_path / "r.parquet")
    codes = np.array([sum(2 ** BASKET.items.index(item) for item in items) for items in reports])
    law = [(0.2 if code & 1 else 0.8) * (0.7 if code & 2 else 0.3) * (0.2 if code & 4 else 0.8) for code in range(8)]
    for start in range(0, 30_000, 8192):
        piece = codes[start : start + 8192]
        assert chisquare(np.bincount(piece, minlength=8), len(piece) * np.array(law)).pvalue > 0.001 / 4
    assert (codes[:8192] != codes[8192:16384]).any()


def test_streams(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.StringIO('basket\nale;bread\n""\n'))
    disguise_file("-", "-", plan_of(1, 1))
    assert capsys.readouterr().out.splitlines() == ["basket", "ale;bread", '""']


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_an_unknown_item_leaves_nothing_behind(form, tmp_path):
    (tmp_path / "t.csv").write_text("basket\nale\nsherry;ale\n")
    with pytest.raises(SottovoceError, match=r"^basket must be one of its categories.*Got 'sherry'"):
        disguise_file(tmp_path / "t.csv", tmp_path / f"r.{form}", plan_of(0.7, 0.8))
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


def test_a_missing_set_is_refused(tmp_path):
    pq.write_table(pa.table({"basket": ["ale", None]}), tmp_path / "t.parquet")
    with pytest.raises(SottovoceError, match=r"^basket must be a collection of items, empty if there are none"):
        disguise_file(tmp_path / "t.parquet", tmp_path / "r.parquet", plan_of(0.7, 0.8))
