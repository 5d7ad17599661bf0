"""Disguise of values, records, columns and frames: the channel's law, the caller's kind of table."""

import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.stats import chisquare

from sottovoce.disguises import records
from sottovoce.disguises.records import disguise_codes, disguise_record, disguise_value
from sottovoce.disguises.tables import disguise_column, disguise_frame
from sottovoce.errors import SottovoceError
from sottovoce.mechanisms.coins import random_words
from sottovoce.plans.budget import new_plan
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Attribute, boolean
from sottovoce.schemas.item_set import ItemSet
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.matrix import Matrix
from sottovoce.schemes.warner import Warner
from sottovoce.tables import source as sources

CERTAIN = Plan.of(
    Schema([boolean("tax"), Attribute("drug", ["never", "once"]), Attribute("n", [1, 2, 3])]),
    {"drug": Warner(p=1), "n": Warner(p=1), "tax": Warner(p=0)},
)
"""Coins that always keep, and one that always flips: what goes where can be read off."""

TRUTHS = {"tax": [True, False, True], "drug": ["once", "never", "once"], "n": [3, 1, 2]}
REPORTS = {"tax": [False, True, False], "drug": ["once", "never", "once"], "n": [3, 1, 2]}


def test_mappings_come_back_as_mappings():
    assert disguise_frame(TRUTHS, CERTAIN) == REPORTS


def test_arrays_come_back_as_arrays_and_lists_as_lists():
    reports = disguise_frame({name: np.array(values) for name, values in TRUTHS.items()}, CERTAIN)
    assert [(name, values.dtype.kind, values.tolist()) for name, values in reports.items()] == [
        ("tax", "b", REPORTS["tax"]),
        ("drug", "U", REPORTS["drug"]),
        ("n", "i", REPORTS["n"]),
    ]
    mixed = disguise_frame(TRUTHS | {"drug": np.array(TRUTHS["drug"], dtype=object)}, CERTAIN)
    assert (mixed["tax"], mixed["n"]) == (REPORTS["tax"], REPORTS["n"])
    assert (mixed["drug"].dtype, mixed["drug"].tolist()) == (object, REPORTS["drug"])
    texts = disguise_frame(TRUTHS | {"drug": np.array(TRUTHS["drug"], dtype=np.dtypes.StringDType())}, CERTAIN)["drug"]
    assert (texts.dtype.kind, texts.tolist()) == ("T", REPORTS["drug"])


def test_pandas_comes_back_as_pandas_with_a_fresh_index():
    frame = pd.DataFrame(TRUTHS, index=["alice", "bob", "carol"])
    reports = disguise_frame(frame, CERTAIN)
    pd.testing.assert_frame_equal(reports, pd.DataFrame(REPORTS))


def test_polars_comes_back_as_polars():
    assert disguise_frame(pl.DataFrame(TRUTHS), CERTAIN).equals(pl.DataFrame(REPORTS))


def test_arrow_comes_back_as_arrow():
    assert disguise_frame(pa.table(TRUTHS), CERTAIN).equals(pa.table(REPORTS))


def test_categorical_columns_stay_categorical():
    polars = pl.DataFrame(TRUTHS).with_columns(pl.col("drug").cast(pl.Enum(["never", "once"])))
    assert disguise_frame(polars, CERTAIN).schema == polars.schema
    pandas = pd.DataFrame(TRUTHS).astype({"drug": "category"})
    assert disguise_frame(pandas, CERTAIN)["drug"].dtype == "category"


def test_sets_of_items_come_back_as_lists():
    schema = Schema([ItemSet("basket", ["ale", "bread"]), boolean("tax")])
    plan = Plan.of(schema, {"basket": Warner(p=1), "tax": Warner(p=1)})
    table = {"basket": [["bread", "ale"], []], "tax": [True, False]}
    assert disguise_frame(table, plan)["basket"] == [["ale", "bread"], []]
    assert disguise_frame(pl.DataFrame(table), plan)["basket"].to_list() == [["ale", "bread"], []]


def test_reports_that_are_not_truths_come_in_a_column_of_their_own():
    plan = Plan.of(
        Schema([boolean("a"), boolean("b")]), {("a", "b"): Matrix([[0, 1, 1, 1], [1, 0, 0, 0]], ["some", "none"])}
    )
    table = {"a": [True, False], "b": [False, False]}
    assert disguise_frame(table, plan) == {"a+b": ["some", "none"]}
    assert disguise_frame(table | {"a": np.array(table["a"])}, plan) == {"a+b": ["some", "none"]}
    arrays = disguise_frame({name: np.array(values) for name, values in table.items()}, plan)
    assert (type(arrays["a+b"]), arrays["a+b"].tolist()) == (np.ndarray, ["some", "none"])
    assert disguise_frame(pd.DataFrame(table), plan)["a+b"].tolist() == ["some", "none"]


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (list, list),
        (np.array, list),
        (pa.array, list),
        (pd.Series, pd.Series),
        (pl.Series, pl.Series),
        (lambda v: pa.chunked_array([v]), pa.ChunkedArray),
    ],
)
def test_columns_come_back_in_kind(make, kind):
    reports = disguise_column(make(["once", "never", "once"]), CERTAIN, "drug")
    assert isinstance(reports, kind)
    listed = reports.to_pylist() if kind is pa.ChunkedArray else list(reports)
    assert listed == ["once", "never", "once"]


def test_one_value_and_one_record():
    assert disguise_value(2, CERTAIN, "n") == 2
    assert disguise_value(True, new_plan(Schema([boolean("tax")]), odds=10**9), rng=1) is True
    record = disguise_record({"tax": False, "n": 1, "drug": "never"}, CERTAIN)
    assert record == {"tax": True, "drug": "never", "n": 1}
    assert [type(v) for v in record.values()] == [bool, str, int]


def test_a_value_that_shares_its_coins_is_refused(plan):
    with pytest.raises(SottovoceError, match=r"^attribute must have coins of its own; .* \('drug', 'children'\)"):
        disguise_value("once", plan, "drug")
    with pytest.raises(SottovoceError, match=r"^attribute must be one of tax, drug, age, children\. Got None"):
        disguise_value("once", plan)


def test_uncovered_columns_are_refused_or_dropped():
    table = TRUTHS | {"name": ["alice", "bob", "carol"]}
    with pytest.raises(
        SottovoceError,
        match=r"^plan must name every column that is not dropped, .*; it lacks the column 'name'\. Got one",
    ):
        disguise_frame(table, CERTAIN)
    assert disguise_frame(table, CERTAIN, drop=["name"]) == REPORTS
    with pytest.raises(SottovoceError, match=r"^drop must name columns of the table"):
        disguise_frame(table, CERTAIN, drop=["nmae"])
    with pytest.raises(SottovoceError, match=r"^record must have no attribute that the plan does not name"):
        disguise_record({"tax": True, "drug": "once", "n": 1, "name": "alice"}, CERTAIN)


def test_seeds_repeat_and_batches_do_not_matter(plan, truths, monkeypatch):
    many = {name: values * 50 for name, values in truths.items()}
    once = disguise_frame(many, plan, rng=7)
    assert once == disguise_frame(many, plan, rng=np.random.default_rng(7))
    monkeypatch.setattr(sources, "BATCH_ROWS", 13)
    monkeypatch.setattr(records, "ROWS_AT_ONCE", 5)
    assert once == disguise_frame(many, plan, rng=7)


def test_without_a_seed_nothing_repeats(plan, truths):
    many = {name: values * 50 for name, values in truths.items()}
    assert disguise_frame(many, plan) != disguise_frame(many, plan)


def test_whole_records_follow_the_channel_of_the_plan(plan, schema):
    """Chi-square of 72 joint cells, 200,000 seeded disguises of one record, at 1e-6."""
    truth = schema.encode({"tax": [True], "drug": ["once"], "age": [70], "children": [2]})
    columns = [np.repeat(codes, 200_000) for codes in truth]
    reports = disguise_codes(columns, plan, random_words(3))
    order = [schema.names.index(name) for name in plan.in_group_order(schema.names)]
    joint = np.ravel_multi_index([reports[i] for i in order], plan.channel().shape_out)
    cell = np.ravel_multi_index([int(truth[i][0]) for i in order], plan.channel().shape_in)
    law = plan.channel().column(int(cell))
    assert chisquare(np.bincount(joint, minlength=len(law)), 200_000 * law).pvalue > 1e-6


def test_codes_of_no_rows():
    columns = disguise_codes([np.zeros(0, np.uint8)] * 3, CERTAIN, random_words(1))
    assert [len(c) for c in columns] == [0, 0, 0]


def test_core_rooms_load_numpy_and_cryptography_only():
    """What a small client needs: no frame library, no command line, no scipy."""
    script = (
        "import sys, sottovoce.disguises.records as r, sottovoce.plans.budget as b, sottovoce.plans.document;"
        "from sottovoce.schemas.attribute import boolean; from sottovoce.schemas.schema import Schema;"
        "r.disguise_value(True, b.new_plan(Schema([boolean('x')]), odds=3));"
        "roots = {m.split('.')[0] for m in sys.modules};"
        "heavy = roots & {'narwhals', 'pandas', 'polars', 'pyarrow', 'scipy', 'numba', 'typer', 'rich', 'sklearn'};"
        "assert not heavy, heavy; assert {'numpy', 'cryptography'} <= roots"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
