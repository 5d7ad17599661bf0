"""`sottovoce mine graph`: from true edges and from a disguised file, for people and for programs."""

import json

import pytest

EDGES = "# friends\n0 1\n1,2\n0;2\n2 3\n"


@pytest.fixture
def edges(tmp_path):
    path = tmp_path / "edges.txt"
    path.write_text(EDGES)
    return str(path)


@pytest.mark.parametrize(
    ("statistic", "total"), [("degrees", "edges"), ("triangles", "triangles"), ("stars", "2-stars")]
)
def test_true_edges_are_disguised_and_estimated(run, edges, statistic, total):
    arguments = ("mine", "graph", edges, "--statistic", statistic, "--epsilon", "9", "--nodes", "50", "--seed", "1")
    code, out, _ = run(*arguments, "--json", "-")
    assert code == 0
    found = json.loads(out)
    assert (found["nodes"], found["directed"], len(found["estimates"])) == (50, False, 50)
    assert found["epsilon"] == pytest.approx(9, abs=1e-6)
    assert total in found["total"]
    _, shown, _ = run(*arguments)
    assert "50 nodes" in shown
    assert "10 more nodes are in the JSON" in shown


def test_reports_can_be_written_and_read(run, edges, tmp_path):
    reports = str(tmp_path / "reports.txt")
    code, first, _ = run("mine", "graph", edges, "--epsilon", "2", "--seed", "1", "--reports", reports, "--json", "-")
    assert code == 0
    code, second, _ = run("mine", "graph", reports, "--json", "-")
    assert (code, json.loads(second)) == (0, json.loads(first))
    assert run("mine", "graph", edges, "--epsilon", "2", "--reports", reports)[0] == 2
    assert run("mine", "graph", edges, "--epsilon", "2", "--reports", reports, "--force")[0] == 0


def test_numbers_that_are_none_are_null(run, edges):
    """No 2-stars to divide by: JSON has no NaN."""
    code, out, _ = run(
        "mine", "graph", edges, "--epsilon", ".1", "--statistic", "triangles", "--seed", "1", "--json", "-"
    )
    found = json.loads(out, parse_constant=pytest.fail)
    assert (code, found["total"]["clustering coefficient"]["value"]) == (0, None)


def test_directed_edges(run, edges):
    code, out, _ = run(
        "mine", "graph", edges, "--epsilon", "9", "--directed", "--incoming", "--seed", "1", "--json", "-"
    )
    found = json.loads(out)
    assert (code, found["directed"], found["statistic"]) == (0, True, "incoming degrees")
    assert "directed ties" in run("mine", "graph", edges, "--epsilon", "9", "--directed")[1]


@pytest.mark.parametrize(
    ("motif", "name", "expected"),
    [("all", "directed triangles", 1), ("cycles", "cycles", 0), ("transitive", "transitive triangles", 1)],
)
def test_directed_triangles(run, edges, motif, name, expected):
    """0 to 1 to 2, and 0 to 2."""
    arguments = ("--epsilon", "14", "--directed", "--statistic", "triangles", "--motif", motif, "--seed", "1")
    code, out, _ = run("mine", "graph", edges, *arguments, "--json", "-")
    found = json.loads(out)
    assert (code, found["directed"], found["statistic"]) == (0, True, name)
    assert found["total"][name]["value"] == pytest.approx(expected, abs=0.01)
    assert found["total"]["clustering coefficient"]["value"] is not None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "--epsilon or --odds must be given to disguise true edges"),
        (("--epsilon", "-1"), "epsilon must be between 0 and 700"),
        (("--epsilon", "0"), "--epsilon or --odds must make reports informative"),
        (("--epsilon", "1", "--nodes", "3"), "edges must join nodes from 0 to 2. Got 3 instead."),
        (
            ("--epsilon", "1", "--statistic", "triangles", "--motif", "cycles"),
            "motif must be all for undirected graphs",
        ),
        (("--epsilon", "1", "--motif", "cycles"), "--motif must be used with --statistic triangles. Got 'cycles'"),
        (("--epsilon", "1", "--incoming"), "--incoming must be used for degrees or stars of a directed graph"),
        (
            ("--epsilon", "1", "--incoming", "--directed", "--statistic", "triangles"),
            "--incoming must be used for degrees or stars of a directed graph",
        ),
        (("--epsilon", "1", "--memory", "0"), "memory must be a positive number of gigabytes. Got 0.0 instead."),
        (("--epsilon", "1", "--statistic", "size"), "statistic must be one of degrees, stars, triangles"),
        (("--epsilon", "1", "--nodes", "100000"), "reported pairs, which take"),
    ],
)
def test_mistakes_are_named(run, edges, options, message):
    code, _, err = run("mine", "graph", edges, *options)
    assert code == 2
    assert message in err


def test_a_disguised_graph_is_not_disguised_again(run, edges, tmp_path):
    reports = str(tmp_path / "reports.txt")
    run("mine", "graph", edges, "--epsilon", "2", "--reports", reports)
    for option in (("--epsilon", "2"), ("--odds", "3"), ("--nodes", "9"), ("--directed",)):
        code, _, err = run("mine", "graph", reports, *option)
        assert code == 2
        assert f"{option[0]} must not be given for a disguised graph" in err
