"""Columns of every type: fast codes are those of the values one by one, and reports come back in the column's type."""

import sys
from contextlib import nullcontext
from decimal import Decimal
from itertools import product
from unittest.mock import patch

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sottovoce.disguises.tables import disguise_frame
from sottovoce.errors import SottovoceError
from sottovoce.mechanisms.bulk import BULK_ROWS, kernels
from sottovoce.plans.plan import Plan
from sottovoce.plans.public import PublicNumber
from sottovoce.schemas.attribute import Attribute, boolean, is_missing
from sottovoce.schemas.binned import Binned
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.warner import Warner
from sottovoce.tables import _kernels, sink, values
from sottovoce.tables.source import open_source
from sottovoce.tables.values import look_up, look_up_codes

WORDS = ["never", "once", "often"]
ATTRIBUTES = {
    "text": Attribute("a", WORDS),
    "text, may be missing": Attribute("a", WORDS, missing="once"),
    "digits": Attribute("a", ["0", "1", "5"]),
    "booleans": boolean("a"),
    "text of booleans": Attribute("a", ["True", "False"]),
    "integers": Attribute("a", [0, 1, 5]),
    "integers out of order, may be missing": Attribute("a", [5, 0, 1], missing=0),
    "years": Attribute("a", range(1990, 2010)),
    "negative": Attribute("a", [-3, 1, 0]),
    "far apart": Attribute("a", [-(2**53), 2**53, 1]),
    "as many as bytes": Attribute("a", range(256), missing=7),
    "more than bytes": Attribute("a", range(300)),
    "many words": Attribute("a", [f"word {n}" for n in range(300)]),
}
BINS = {
    "bins": Binned("a", [0, 2, 6], closed="left"),
    "bins, may be missing": Binned("a", [-5, 0, 2, 2010], closed="right", missing="none"),
}
VALUES = {
    "text": [WORDS[n] for n in (2, 0, 1, 1, 2, 0, 0)],
    "text with nulls": ["never", None, "once", None, "often"],
    "only nulls": [None, None],
    "unknown text": ["never", "daily", "once", "hourly", "never"],
    "unknown text and nulls": ["never", None, "daily", None],
    "many words": ["word 299", "word 0", "word 256"],
    "booleans": [True, False, True],
    "booleans with nulls": [True, None, False],
    "flags": ["true", "FALSE", "True", "false"],
    "integers": [5, 0, 1, 1, 5, 0],
    "integers with nulls": [None, 5, 0, None, 1],
    "unknown integers": [5, 0, 7, 1, -1],
    "bits": [1, 0, 1],
    "digits": ["1", "0", "5"],
    "padded digits": ["1", "01"],
    "years": [1990, 2009, 2001],
    "a year too late": [1990, 2010],
    "negative": [-3, 1, 0],
    "bytes": [255, 0, 128],
    "beyond bytes": [299, 0, 256],
    "huge": [1, 2**53, -(2**53)],
    "next to huge": [1, 2**53 + 1],
    "largest": [1, 2**63 - 1],
    "smallest": [1, -(2**63)],
    "beyond signed": [1, 2**64 - 1],
    "whole floats": [5.0, 0.0, 1.0],
    "floats": [0.5, 1.0],
    "floats with NaN": [1.0, float("nan"), 5.0],
    "decimals": [Decimal(1), Decimal(5)],
    "one": [1],
    "none": [],
}
COLUMNS = {
    "list": list,
    "tuple": tuple,
    "array": np.array,
    "array of objects": lambda v: np.array([*v, None], dtype=object)[:-1],
    "strided array": lambda v: np.repeat(np.array(v), 3)[::3],
    "reversed array": lambda v: np.array(v[::-1])[::-1],
    "read-only array": lambda v: _read_only(np.array(v)),
    "big-endian array": lambda v: np.array(v).astype(np.array(v).dtype.newbyteorder(">")),
    **{f"array of {kind}": lambda v, kind=kind: _exact(v, kind) for kind in ("i1", "u1", "i2", "u4", "u8", "f4", "O")},
    "masked array": lambda v: np.ma.masked_array(
        [0 if value is None else value for value in v], [x is None for x in v]
    ),
    "pandas": lambda v: pd.Series(v, index=range(3, 3 + len(v))),
    "pandas objects": lambda v: pd.Series(v, dtype=object),
    "pandas categorical": lambda v: pd.Series(pd.Categorical(v)),
    "pandas ordered": lambda v: pd.Series(pd.Categorical(v, categories=_distinct(v)[::-1], ordered=True)),
    "pandas unused": lambda v: pd.Series(pd.Categorical(v, categories=[*_distinct(v), *_unused(v)])),
    "pandas Arrow dictionary": lambda v: pd.Series(
        pd.arrays.ArrowExtensionArray(pa.chunked_array([pa.array(v).dictionary_encode()]))
    ),
    **{
        f"pandas {kind}": lambda v, kind=kind: pd.Series(v, dtype=kind)
        for kind in ("Int64", "UInt8", "boolean", "string", "string[pyarrow]", "int64[pyarrow]", "bool[pyarrow]")
    },
    "polars": pl.Series,
    "polars chunks": lambda v: pl.concat([pl.Series(v[:1]), pl.Series(v[1:])], rechunk=False),
    "polars Categorical": lambda v: pl.Series(v, dtype=pl.Categorical),
    "polars Enum": lambda v: pl.Series(v, dtype=pl.Enum([*_distinct(v), "unused"])),
    **{f"polars {kind}": lambda v, kind=kind: pl.Series(v, dtype=kind) for kind in (pl.Int8, pl.UInt64, pl.Float32)},
    "Arrow": pa.array,
    "Arrow slice": lambda v: pa.array([*v[:1], *v])[1:],
    "Arrow dictionary": lambda v: pa.array(v).dictionary_encode(),
    "Arrow dictionary of unsigned numbers": lambda v: (
        pa.array(v).dictionary_encode().cast(pa.dictionary(pa.uint8(), pa.array(v).type))
    ),
    "Arrow dictionary, unused": lambda v: pa.array([*v, *_unused(v)]).dictionary_encode()[: len(v)],
    **{
        f"Arrow {kind}": lambda v, kind=kind: pa.array(v, kind)
        for kind in (pa.large_string(), pa.string_view(), pa.int8(), pa.uint64(), pa.bool_())
    },
}


def _read_only(array):
    array.flags.writeable = False
    return array


def _exact(values, kind):
    array = np.array(values, dtype=kind)
    assert array.tolist() == values
    return array


def _distinct(values):
    return list(dict.fromkeys(value for value in values if value is not None))


def _unused(values):
    return ["unheard of"] if any(isinstance(value, str) for value in values) else [77]


def _table(column):
    """A table with one column, or None if the library cannot make such a column."""
    if isinstance(column, pd.Series | pl.Series):
        return nw.from_native(column, series_only=True).alias("a").to_frame().to_native()
    return pa.table({"a": column}) if isinstance(column, pa.Array) else {"a": column}


def _made(make, listed):
    try:
        return _table(make(listed))
    except Exception:  # values that this kind of column cannot hold
        return None


def _rows(column):
    """Values of a column as Python has them; in frames of pandas and polars NaN is a missing value, as None."""
    if not isinstance(column, nw.Series):
        return column.tolist() if isinstance(column, np.ndarray) else list(column)
    listed = column.to_list()
    return listed if column.implementation.is_pyarrow() else [None if is_missing(value) else value for value in listed]


def _expected(variable, column):
    """Codes of values one by one, or the refusal of the first that has none; in a frame, missing values come last."""
    rows = _rows(column)
    if isinstance(variable, Attribute) and isinstance(column, nw.Series):
        rows = sorted(rows, key=lambda value: value is None) if _refused(variable, rows) is not None else rows
    return _refused(variable, rows) or _one_by_one(variable, rows)


def _refused(variable, rows):
    try:
        _one_by_one(variable, rows)
    except SottovoceError as error:
        return str(error)
    return None


def _one_by_one(variable, rows):
    return variable.encode(rows)[0].tolist() if isinstance(variable, Binned) else [variable._code(v) for v in rows]


@pytest.mark.parametrize("kind", COLUMNS)
def test_codes_and_refusals_are_those_of_the_values_one_by_one(kind):
    compared = set()
    tables = [table for listed in VALUES.values() if listed and (table := _made(COLUMNS[kind], listed)) is not None]
    for source in map(open_source, tables):
        ((column,),) = (batch.values() for batch in source.batches(["a"]))
        for variable in (*ATTRIBUTES.values(), *BINS.values()):
            expected = _expected(variable, column)
            compared.add(type(expected))
            if isinstance(expected, str):
                with pytest.raises(SottovoceError) as refused:
                    source.encode(variable, column)
                assert str(refused.value) == expected
            else:
                (codes,) = source.encode(variable, column)
                assert codes.tolist() == expected
                assert codes.dtype == np.min_scalar_type(variable.sizes[0] - 1)
    assert compared == {list, str}


@pytest.mark.parametrize("kind", COLUMNS)
def test_a_table_without_rows_is_refused_whatever_its_columns_are(kind):
    table = _made(COLUMNS[kind], [])
    if table is not None:
        for variable in (*ATTRIBUTES.values(), *BINS.values()):
            with pytest.raises(SottovoceError, match=r"^table must have at least one row\. Got an empty one"):
                list(open_source(table).coded(Schema([variable])))


@pytest.fixture(params=[True, False], ids=["numba", "numpy"])
def compiled(request):
    """Many rows with compiled loops and without."""
    kernels.cache_clear()
    with patch.dict(sys.modules, {} if request.param else {"numba": None}):
        yield request.param
    kernels.cache_clear()


@pytest.mark.usefixtures("compiled")
def test_many_rows_are_looked_up_as_few_are():
    rng = np.random.default_rng(1)
    for kind, (table, first) in product(
        ("u1", "u8", ">i4", "i8"), (([3, 1, 0, 2], 0), ([0, 1, 2, 3], 9), ([2, 2, 0, 1], 9))
    ):
        numbers = rng.integers(0, 4, BULK_ROWS)
        entries, positions = np.array(table, np.uint8), (numbers + first).astype(kind)
        assert np.array_equal(look_up(entries, positions, first), entries[numbers])
        assert look_up_codes(entries, positions, 4, first).tolist() == entries[numbers].tolist()
        assert look_up_codes(entries, positions, 2, first) is None
        for wrong in (first + 4, first - 1, 2**64 - 1, -(2**63), 2**63 - 1):
            if np.iinfo(kind).min <= wrong <= np.iinfo(kind).max:
                positions[7] = wrong
                assert look_up_codes(entries, positions, 4, first) is None


def test_entries_of_every_type_are_looked_up():
    positions = np.array([1, 0, 1, 1], np.uint8)
    for table in (["x", "yy"], [False, True], [True, False], [7, 8], [8, 7]):
        for kind in (None, object):
            entries = np.array(table, dtype=kind)
            found = look_up(entries, positions)
            assert (found.tolist(), found.dtype) == ([table[1], table[0], table[1], table[1]], entries.dtype)
            assert look_up(entries, positions[:0]).tolist() == []
    assert look_up(np.array([False, True]), positions + 1, first=1).tolist() == [True, False, True, True]
    assert look_up(np.array(["x", "yy"], object), positions + 1, first=1).tolist() == ["yy", "x", "yy", "yy"]
    with pytest.raises(IndexError):
        look_up(np.array([], np.uint8), positions)


def test_the_loop_gives_the_same_as_plain_python():
    entries = np.zeros(3, np.uint8)
    _kernels.look_up(np.array([7, 5, 8], np.uint8), np.array([4, 3, 5]), np.int64(3), entries)
    assert entries.tolist() == [5, 7, 8]


def test_labels_of_polars_categories_are_found_wherever_they_are(monkeypatch):
    """Most labels only after the rows that are read first; numbers beyond the longest table go another way."""
    monkeypatch.setattr(values, "ROWS_READ_FIRST", 2)
    variable = Attribute("a", [f"word {n}" for n in range(300)], missing="word 7")
    numbers = np.random.default_rng(1).permutation(np.arange(1000) % 300)
    words = [f"word {n}" for n in numbers]
    column = nw.from_native(pl.Series([None, *words], dtype=pl.Categorical), series_only=True)
    (codes,) = values.encode(variable, column)
    assert codes.tolist() == [7, *numbers]
    monkeypatch.setattr(values, "MOST_INTEGERS", 0)
    assert values.encode(variable, column)[0].tolist() == [7, *numbers]


def test_lists_are_no_labels():
    for table in (pd.DataFrame({"a": ["never", ["once"]]}), {"a": ["never", ["once"]]}):
        with pytest.raises(SottovoceError, match=r"^a must be one of its categories \(.*\)\. Got \['once'\] instead"):
            list(open_source(table).coded(Schema([ATTRIBUTES["text"]])))


def test_large_frames_are_encoded_at_once_and_cut_into_batches(monkeypatch):
    monkeypatch.setattr("sottovoce.tables.source.BATCH_ROWS", 3)
    people = pd.DataFrame({"a": [0, 1, 5, 1], "weight": [1.5, 2, 3, 4]}, index=list("abcd"))
    batches = list(open_source(people).coded_with(Schema([ATTRIBUTES["integers"]]), ["weight"]))
    assert [(codes.tolist(), weights.to_list()) for (codes,), (weights,) in batches] == [
        ([0, 1, 2], [1.5, 2, 3]),
        ([1], [4]),
    ]


FRAMES = {
    "pandas": pd.DataFrame,
    "pandas categorical": lambda c: pd.DataFrame(c).astype("category"),
    "pandas ordered": lambda c: pd.DataFrame(
        {name: pd.Categorical(column, categories=_distinct(column)[::-1], ordered=True) for name, column in c.items()}
    ),
    "polars": pl.DataFrame,
    "polars Categorical": lambda c: pl.DataFrame(c).with_columns(pl.col("text").cast(pl.Categorical)),
    "polars Enum": lambda c: pl.DataFrame(c).with_columns(pl.col("text").cast(pl.Enum(WORDS[::-1]))),
    "Arrow": pa.table,
    "Arrow dictionary": lambda c: pa.table(c).set_column(0, "text", pa.array(c["text"]).dictionary_encode()),
}
KEPT = Plan.of(
    Schema([Attribute("text", WORDS), boolean("yes"), Attribute("number", [0, 1, 5])]),
    {"text": Warner(p=1), "yes": Warner(p=1), "number": Warner(p=1)},
)
TRUTHS = {"text": ["once", "never", "often"], "yes": [True, False, True], "number": [5, 1, 0]}


@pytest.mark.parametrize("kind", FRAMES)
def test_reports_have_the_types_of_the_truths(kind, monkeypatch):
    """As narwhals makes them, a column at a time."""
    truths = FRAMES[kind](TRUTHS)
    reports = disguise_frame(truths, KEPT)
    monkeypatch.setattr(sink, "COLUMNS", {})
    slow = disguise_frame(truths, KEPT)
    if isinstance(truths, pd.DataFrame):
        assert reports.dtypes.tolist() == truths.dtypes.tolist()
        pd.testing.assert_frame_equal(reports, slow, check_categorical=False)
        pd.testing.assert_frame_equal(reports, truths)
    else:
        assert nw.from_native(reports).schema == nw.from_native(slow).schema == nw.from_native(truths).schema
        assert reports.equals(truths) or reports.to_pydict() == truths.to_pydict()


def test_no_report_is_lost_that_the_categories_of_the_truth_lack():
    """Ordered pandas categories and polars enums of the answers given are not all that can be reported."""
    flip = Plan.of(Schema([Attribute("a", WORDS[:2])]), {"a": Warner(p=0)})
    ordered = pd.CategoricalDtype(["never"], ordered=True)
    reports = disguise_frame(pd.DataFrame({"a": pd.Series(["never"] * 3, dtype=ordered)}), flip)["a"]
    assert (reports.tolist(), reports.dtype) == (["once"] * 3, pd.CategoricalDtype(WORDS[:2], ordered=True))
    enum = disguise_frame(pl.DataFrame({"a": pl.Series(["never"], dtype=pl.Enum(["never", "x"]))}), flip)["a"]
    assert (enum.to_list(), enum.dtype) == (["once"], pl.Enum(WORDS[:2]))


def test_labels_of_another_type_than_the_categories_are_themselves():
    """A plan of integers reads text; its reports are integers."""
    plan = Plan.of(Schema([Attribute("a", [0, 1])]), {"a": Warner(p=1)})
    digits = ["1", "0", "1"]
    reports = disguise_frame(pd.DataFrame({"a": pd.Categorical(digits)}), plan)["a"]
    assert (reports.tolist(), reports.dtype) == ([1, 0, 1], pd.CategoricalDtype([0, 1]))
    polars = disguise_frame(pl.DataFrame({"a": pl.Series(digits, dtype=pl.Categorical)}), plan)["a"]
    assert (polars.to_list(), polars.dtype) == ([1, 0, 1], pl.Int64)
    arrow = disguise_frame(pa.table({"a": pa.array(digits).dictionary_encode()}), plan)["a"]
    assert (arrow.to_pylist(), arrow.type.value_type) == ([1, 0, 1], pa.int64())


def test_pandas_types_text_as_it_would():
    future = pd.option_context("future.infer_string", True) if int(pd.__version__[0]) < 3 else nullcontext()
    with future:
        people = pd.DataFrame(TRUTHS)
        pd.testing.assert_frame_equal(disguise_frame(people, KEPT), people)
    assert people["text"].dtype == "str"


def test_many_columns_of_pandas_are_no_fragments():
    """Pandas warns when a column is added to a frame of many blocks."""
    schema = Schema(boolean(f"q{n}") for n in range(150))
    plan = Plan.of(schema, {name: Warner(p=1) for name in schema.names})
    people = pd.DataFrame({name: [True, False] for name in schema.names})
    reports = disguise_frame(people, plan)
    pd.testing.assert_frame_equal(reports, people)
    reports["one more"] = 1


def test_reports_share_no_memory_with_the_truths():
    """Changing the reports must not change the truths, nor the other way round."""
    plan = Plan.of(
        Schema([boolean("yes")]), {"yes": Warner(p=1)}, public=[Attribute("n", [0, 1, 5]), PublicNumber("weight")]
    )
    truths = {"yes": np.array([True, False]), "n": np.array([5, 1], np.int8), "weight": np.array([1.5, 2])}
    with pytest.warns(match="fewer than 5"):
        reports = disguise_frame(truths, plan)
    assert {name: values.tolist() for name, values in reports.items()} == {
        "yes": [True, False],
        "n": [5, 1],
        "weight": [1.5, 2],
    }
    for name, column in reports.items():
        assert not np.shares_memory(column, truths[name])
