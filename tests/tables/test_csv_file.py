"""CSV by pyarrow and by the standard library: the same rows, or the same refusal, for every text."""

import csv
import io
import os
import sys
import threading

import narwhals.stable.v2 as nw
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sottovoce.errors import SottovoceError
from sottovoce.schemas.attribute import Attribute
from sottovoce.schemas.item_set import ItemSet
from sottovoce.schemas.schema import Schema
from sottovoce.tables import csv_file
from sottovoce.tables.csv_file import arrow_batches, plain_blocks
from sottovoce.tables.source import open_source


def cells(path):
    """All cells as text, or the error."""
    rows = []
    try:
        for batch in open_source(path).batches():
            columns = [v.fill_null("").to_list() if isinstance(v, nw.Series) else list(v) for v in batch.values()]
            rows += zip(*columns, strict=True)
    except SottovoceError as error:
        return str(error)
    return rows


def without_arrow(path):
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "pyarrow", None)
        return cells(path)


HEADERS = st.sampled_from(
    [b"a,b\n", b"a,b\r\n", b"a\n", b"a\r", b'"a","b"\n', b'"a\nz",b\n', b"\xef\xbb\xbfa,b\n", b"a,b"]
)
BODIES = st.lists(st.sampled_from([b"x", b",", b'"', b'""', b"\n", b"\r", b"\r\n", b" ", b"\xc3\xa9", b"\xff"])).map(
    b"".join
)
PLAIN_CELLS = st.text(st.sampled_from('x,"\n\ré '), max_size=4)


@given(HEADERS, BODIES, st.sampled_from([1, 2, 3, 5, 2**20]))
@example(b"a\n", b'1\n"', 2**20)
@example(b"a,b\n", b'"1"x,2\n', 2**20)
@example(b"a,b\n", b'""x,2\n', 2**20)
@example(b"a,b\n", b"1,2\n\n3,4\n", 2**20)
@example(b"a,b\r\n", b"1,2\r\n3,4\r\n", 1)
def test_both_readers_agree_on_any_bytes(tmp_path_factory, header, body, block_bytes):
    path = tmp_path_factory.mktemp("csv") / "t.csv"
    path.write_bytes(header + body)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_file, "BLOCK_BYTES", block_bytes)
        assert cells(path) == without_arrow(path)


@given(st.lists(st.tuples(PLAIN_CELLS, PLAIN_CELLS), min_size=1), st.sampled_from([3, 7, 2**20]))
def test_whatever_the_standard_library_quotes_is_plain(rows, block_bytes):
    """Every byte comes back, so pyarrow alone reads every file that is written with all cells quoted."""
    written = io.StringIO(newline="")
    csv.writer(written, quoting=csv.QUOTE_ALL).writerows(rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_file, "BLOCK_BYTES", block_bytes)
        blocks = b"".join(plain_blocks(io.BytesIO(written.getvalue().encode())))
    assert blocks.decode() == written.getvalue()


def test_a_file_that_stops_being_plain_is_read_on_from_there(tmp_path, monkeypatch):
    """A bare cell with a literal mark is legal; pyarrow gives the rows before it, and no row comes twice."""
    monkeypatch.setattr(csv_file, "BLOCK_BYTES", 16)
    path = tmp_path / "t.csv"
    lines = [f"{n},x" for n in range(20)] + ['5"6,y'] + [f"{n},z" for n in range(20)]
    path.write_text("a,b\n" + "\n".join(lines) + "\n")
    fast = sum(len(table) for table in arrow_batches(str(path), ("a", "b"), ("a", "b"), 100))
    assert 0 < fast < 41
    assert cells(path) == [tuple(line.split(",")) for line in lines]


def test_a_record_too_long_for_blocks_is_left_to_the_standard_library(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_file, "BLOCK_BYTES", 8)
    monkeypatch.setattr(csv_file, "MOST_BYTES", 64)
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "x" * 100 + ",y\n")
    assert list(arrow_batches(str(path), ("a", "b"), ("a", "b"), 100)) == []
    assert cells(path) == [("x" * 100, "y")]


def test_what_arrow_refuses_the_standard_library_explains(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_file, "BLOCK_BYTES", 8)
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n3,4\n5,6\n7\n8,9\n")
    assert cells(path) == f"{path} must have 2 cells in every row; line 5 has 1. Got ['7'] instead."


def test_another_encoding_shows_far_from_the_header_too(tmp_path):
    """Beyond the first buffer of a text stream, so that the header alone is read without complaint."""
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\n" + b"x,y\n" * 10_000 + "ü,y\n".encode("latin-1"))
    assert "must be CSV in UTF-8 ('utf-8' codec can't decode byte 0xfc" in cells(path)
    assert cells(path) == without_arrow(path)


def test_files_are_read_again_without_pyarrow(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n")
    source = open_source(path)
    assert [list(source.batches()) for _ in range(2)] == [[{"a": ("1",), "b": ("2",)}]] * 2


def test_only_the_columns_asked_for_are_read(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b,c\n1,2,3\n")
    (batch,) = open_source(path).batches(["c", "a"])
    assert {name: list(values) for name, values in batch.items()} == {"c": ["3"], "a": ["1"]}


@pytest.mark.parametrize("installed", [True, False])
def test_empty_cells_without_and_with_pyarrow(installed, tmp_path, monkeypatch):
    """Missing for an attribute, a label where "" is one, the empty set even of a single item."""
    if not installed:
        monkeypatch.setitem(sys.modules, "pyarrow", None)
    path = tmp_path / "t.csv"
    path.write_text("drug,note,basket,sets\n,,,x;y\nonce,seen,ale,\n")
    schema = Schema(
        [
            Attribute("drug", ["once", "silent"], missing="silent"),
            Attribute("note", ["", "seen"]),
            ItemSet("basket", ["ale"]),
            ItemSet("sets", ["x", "y"]),
        ]
    )
    (columns,) = open_source(path).coded(schema)
    assert [c.tolist() for c in columns] == [[1, 0], [0, 1], [0, 1], [1, 0], [1, 0]]
    with pytest.raises(SottovoceError, match=r"^drug must not be missing"):
        list(open_source(path).coded(Schema([Attribute("drug", ["once", "never"])])))
    with pytest.raises(SottovoceError, match=r"^note must be one of its categories \(a, b\)\. Got 'seen'"):
        list(open_source(path).coded(Schema([Attribute("note", ["a", "b"], missing="a")])))


def test_a_named_pipe_is_read_once_and_in_place(tmp_path):
    path = tmp_path / "pipe.csv"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_text, args=("a,b\n1,2\n",))
    writer.start()
    source = open_source(path)
    assert source.waits
    assert list(source.batches()) == [{"a": ("1",), "b": ("2",)}]
    writer.join()
