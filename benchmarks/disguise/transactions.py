"""Market baskets: EMASK of a million transactions over 1,000 items, against only building their bitsets."""

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

import sottovoce as sv
from benchmarks.measure import Row, best_seconds
from sottovoce.disguises.transactions import disguise_transactions
from sottovoce.plans.plan import Plan
from sottovoce.schemas.item_set import ItemSet
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.emask import Emask
from sottovoce.tables.bitsets import Bitsets, Csr

TRANSACTIONS = 1_000_000
ITEMS = 1_000
MEAN_SIZE = 10
SKEW = 0.7
FRAME_ROWS = 100_000


def baskets(seed: int = 1) -> Csr:
    """Sets of ten items on average (Poisson), item number i drawn in proportion to `i^-0.7`, as in T10I4."""
    rng = np.random.default_rng(seed)
    popularity = np.arange(1, ITEMS + 1) ** -SKEW
    owner = np.repeat(np.arange(TRANSACTIONS), rng.poisson(MEAN_SIZE, TRANSACTIONS))
    item = rng.choice(ITEMS, len(owner), p=popularity / popularity.sum())
    cells = np.unique(owner * ITEMS + item)
    indptr = np.searchsorted(cells, np.arange(TRANSACTIONS + 1) * ITEMS)
    return indptr.astype(np.int64), (cells % ITEMS).astype(np.int32)


def rows() -> list[Row]:
    """Time both from the same lists, each into fresh memory, on as many threads; 6 times is the goal."""
    truths = baskets()
    plan = Plan.of(Schema([ItemSet("basket", range(ITEMS))]), {"basket": Emask(p=0.5051, q=0.9696)})
    found = []
    for threads in (1, 2):
        build = partial(Bitsets.from_csr, *truths, ITEMS, threads)
        disguise = partial(disguise_transactions, truths, plan, threads=threads)
        expected = 0.5051 * len(truths[1]) + 0.0304 * (TRANSACTIONS * ITEMS - len(truths[1]))
        shown = int(np.bitwise_count(disguise(kind="bitsets").words).sum(dtype=np.int64))
        assert abs(shown - expected) < 6 * expected**0.5  # six standard errors, at most
        ours, peer, sparse = best_seconds(partial(disguise, kind="bitsets"), build, partial(disguise, kind="csr"))
        name = f"EMASK, 1M x 1,000, {threads} thread(s)"
        found.append(Row(f"{name}, over building plain bitsets", None, ours, peer, "seconds"))
        found.append(Row(f"{name}, to sparse lists", None, sparse, None, "seconds"))
    with TemporaryDirectory() as folder:
        return [*found, _file_row(truths, plan, Path(folder)), *_frame_rows(truths, plan)]


def _file_row(truths: Csr, plan: Plan, folder: Path) -> Row:
    """From Parquet to Parquet, against reading and writing the reports alone, which are four times as many items."""
    before, after, copy = (folder / f"{name}.parquet" for name in ("before", "after", "copy"))
    lists = pa.ListArray.from_arrays(pa.array(truths[0], pa.int32()), pa.array(truths[1]))
    pq.write_table(pa.table({"basket": lists}), before)
    disguise = partial(sv.disguise, before, plan, to=after, overwrite=True)
    disguise()
    ours, peer = best_seconds(disguise, lambda: pq.write_table(pq.read_table(after), copy), rounds=3)
    return Row("EMASK, 1M x 1,000, from file to file, over copying the reports", "pyarrow", ours, peer, "seconds")


def _frame_rows(truths: Csr, plan: Plan) -> list[Row]:
    """Frames that hold lists, against the same lists without a frame around them."""
    indptr, indices = truths
    lists = ItemSet("basket", range(ITEMS)).decode_sparse(indptr[: FRAME_ROWS + 1], indices)
    found = []
    for kind, frame in (("pandas", pd.DataFrame), ("polars", pl.DataFrame), ("Arrow", pa.table)):
        truth = frame({"basket": lists})
        ours, peer = best_seconds(partial(sv.disguise, truth, plan), partial(sv.disguise, lists, plan), rounds=3)
        found.append(Row(f"EMASK, 100,000 x 1,000, in {kind}", "lists of labels", ours, peer, "seconds"))
    return found
