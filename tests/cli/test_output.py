"""Tables for people: whatever the terminal, nothing in them is cut."""

import json
import re
from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.cli.output import FRAME, print_table, split_columns, write_json

WIDTHS = st.lists(st.integers(1, 30), min_size=1, max_size=12)


@given(WIDTHS, st.integers(10, 200))
def test_every_column_is_shown_once_beside_the_first(least, width):
    parts = split_columns(least, width)
    assert [part[0] for part in parts] == [0] * len(parts)
    assert [place for part in parts for place in part[1:]] == list(range(1, len(least)))
    for part in parts:
        assert len(part) <= 2 or 1 + sum(FRAME + least[place] for place in part) <= width


@pytest.mark.parametrize("width", [40, 80, 200])
def test_numbers_are_never_cut(width, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", str(width))
    headers = ["point", *(f"measure {n}" for n in range(9))]
    rows = [[str(r), *(f"{r}.{n}23456789" for n in range(9))] for r in range(3)]
    print_table(headers, rows)
    printed = capsys.readouterr().out
    assert max(map(len, printed.splitlines())) <= width
    for row in rows:
        for cell in row:
            assert re.search(rf"\b{re.escape(cell)}\b", printed)
    assert "…" not in printed


def test_a_column_of_long_words_keeps_them_whole_beside_others(monkeypatch, capsys):
    """Seven columns of two words each, of which one has long words: all fit into 80 characters when folded."""
    monkeypatch.setenv("COLUMNS", "80")
    headers = ["attribute", "right guesses", "worst posterior", "bits told", "reconstructed", "distortion"]
    print_table(headers, [("evaded tax", "0.8000", "0.9158", "0.1039", "0.3184 to 0.8296", "0.2689")])
    printed = capsys.readouterr().out
    assert max(map(len, printed.splitlines())) <= 80
    assert {"reconstructed", "distortion", "0.2689", "0.8296"} <= set(re.split(r"[^\w.]+", printed))


def test_texts_are_folded_between_words(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "40")
    print_table(("name", "what it means"), [("a", "no word of a long text is ever cut in the middle")])
    printed = capsys.readouterr().out
    assert max(map(len, printed.splitlines())) <= 40
    assert {"ever", "middle", "long"} <= set(printed.split())


def test_words_wider_than_the_terminal_are_folded(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "30")
    print_table(("id", "hash"), [("0" * 40, "1" * 40)])
    printed = capsys.readouterr().out
    assert (printed.count("0"), printed.count("1")) == (40, 40)


def test_json_has_no_infinite_numbers(capsys):
    write_json({"width": inf, "rows": [{"low": nan, "high": 1.5}, (2, True, None)]}, "-")
    assert json.loads(capsys.readouterr().out) == {"width": None, "rows": [{"low": None, "high": 1.5}, [2, True, None]]}
