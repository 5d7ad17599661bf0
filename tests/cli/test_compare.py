"""`sottovoce compare`: tables, JSON, pictures, mistakes."""

import json

import pytest

FEW = ("--prior", ".5,.3,.2", "--respondents", "1000", "--epsilons", "1,2")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "140")
    return tmp_path


def test_schemes_side_by_side(run, folder):
    code, out, err = run("compare", *FEW, "--certified", "--plot", "picture.png", "--json", "rows.json")
    assert (code, err) == (0, "")
    assert "interval width" in out
    assert (folder / "picture.png").read_bytes().startswith(b"\x89PNG")
    rows = json.loads((folder / "rows.json").read_text())["rows"]
    assert len(rows) == 8
    assert {row["scheme"] for row in rows} >= {"certified", "optimized_unary"}


def test_measures_and_long_tables(run):
    given = ("--prior-name", "zipf", "--categories", "3", "--respondents", "100", "--measures")
    code, out, _ = run("compare", "laplace,subset_selection", *given, "respondents-needed,distortion")
    assert (code, "respondents needed" in out) == (0, True)
    code, out, _ = run(
        "compare", "laplace,subset_selection,gamma_diagonal,optimized_unary", *given, "respondents-needed,distortion"
    )
    assert (code, "4 more rows are in the JSON." in out) == (0, True)
    code, out, _ = run("compare", "laplace", *FEW, "--json", "-")
    assert (code, len(json.loads(out)["rows"])) == (0, 2)
    assert run("compare", "kuk", *FEW)[2].startswith("error: SCHEME,SCHEME,... must be functions of an epsilon")
