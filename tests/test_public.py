"""The public face: about twenty names and eight namespaces, lazy, documented, and seen by type checkers."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pytest

import sottovoce as sv

ROOT = Path(__file__).parent.parent
NAMESPACES = ("", *sv.PACKAGES)


def module(namespace: str):
    return import_module(f"sottovoce.{namespace}" if namespace else "sottovoce")


def homes(namespace: str) -> list[str]:
    return [name for names in module(namespace).HOMES.values() for name in names]


def test_about_twenty_names():
    assert 18 <= len(homes("")) <= 22
    assert set(dir(sv)) == {*homes(""), *sv.PACKAGES}


@pytest.mark.parametrize("namespace", NAMESPACES)
def test_every_public_name_is_there_and_documented(namespace):
    for name in homes(namespace):
        assert (getattr(module(namespace), name).__doc__ or "").strip(), name
    assert set(homes(namespace)) <= set(dir(module(namespace)))
    assert set(homes(namespace)) <= set(module(namespace).__all__)


@pytest.mark.parametrize("namespace", NAMESPACES)
def test_no_public_name_is_that_of_a_module_beside_it(namespace):
    """Else what one gets would depend on what was imported before."""
    modules = {found.name for found in iter_modules(module(namespace).__path__)}
    assert not modules & set(homes(namespace))


@pytest.mark.parametrize("namespace", NAMESPACES)
def test_unknown_names_are_refused(namespace):
    with pytest.raises(AttributeError, match="has no attribute 'magic'"):
        module(namespace).magic  # noqa: B018


def test_namespaces_come_with_the_package():
    script = "import sottovoce as sv; print(sv.schemes.Warner(p=.75), sv.mining.Recall(.9), sv.estimates.Estimates)"
    subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)


def test_star_imports_have_the_same_names():
    found: dict[str, object] = {}
    exec("from sottovoce import *", found)  # noqa: S102
    assert set(homes("")) <= set(found)


def test_importing_the_package_loads_nothing_heavy():
    script = "import sys, sottovoce; assert 'numpy' not in sys.modules"
    subprocess.run([sys.executable, "-c", script], check=True)


def test_stubs_are_current():
    done = subprocess.run([sys.executable, ROOT / "tools" / "stubs.py", "--check"], capture_output=True, check=False)
    assert done.returncode == 0, done.stdout


SCRIPT = '''
"""Every top-level name, as a user would write it."""
from fractions import Fraction

import sottovoce as sv

schema: sv.Schema = sv.Schema(
    [sv.boolean("tax"), sv.Attribute("drug", ["a", "b"]), sv.Binned("age", [0.0, 9.0], closed="left")]
)
basket = sv.ItemSet("basket", ["ale", "bread"])
plan: sv.Plan = sv.plan(schema, odds="9:1", purpose="pairs")
record: dict[str, object] = sv.disguise_record({"tax": True, "drug": "a", "age": 3}, plan)
reports: sv.Reports = sv.disguise({"tax": [True], "drug": ["a"], "age": [1]}, plan, rng=1)
estimate: sv.Estimate = reports.estimate("tax")
groups: sv.estimates.Estimates = reports.estimate("tax", by="town")
everything: sv.estimates.Estimates = reports.estimate()
difference: sv.estimates.Comparison = groups["a"] - groups["b"]
share: float = estimate["yes"]
measure: sv.estimates.Derived = estimate.derive("entropy")
test: sv.estimates.IndependenceTest = reports.test("tax", "drug")
found: sv.mining.Itemsets = reports.itemsets(0.1, selection=sv.mining.Recall(0.9))
rules: sv.mining.Rules = found.rules(0.5)
again: sv.Reports = sv.read("reports.parquet")
tally: sv.Tally = reports.counts("tax").merge(sv.Tally(plan, ["tax"]))
point: sv.designs.Point = sv.design([0.5, 0.5], odds=3)
advice: sv.designs.Recommendation = sv.recommend(schema, 1000, odds=3)
table: sv.designs.SchemeComparison = sv.compare(["warner"], [0.5, 0.5], respondents=100)
checked: sv.designs.Audit = sv.audit(plan)
inferred: sv.Schema = sv.infer_schema({"tax": [True]})
known: sv.Plan = sv.read_plan("plan.json")
sv.write_plan(plan, "plan.json")
scheme: sv.schemes.Warner = sv.schemes.Warner(p=Fraction(7, 10))
accuracy = sv.measures.adversary_accuracy([[0.75, 0.25], [0.25, 0.75]], [0.5, 0.5])
graph = sv.graphs.as_graph([(0, 1)])
survey: sv.surveys.Survey = sv.surveys.survey_from_text("...")
collected: sv.Reports = sv.surveys.reports("surveys.db")
people = sv.datasets.adult()
error: type[Exception] = sv.SottovoceError
warning: type[Warning] = sv.SottovoceWarning
'''


@pytest.mark.slow
def test_type_checkers_see_every_top_level_name(tmp_path):
    for name in homes(""):
        assert f"sv.{name}" in SCRIPT, name
    for name in sv.PACKAGES:
        assert f"sv.{name}." in SCRIPT, name
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "mypy",
            "--strict",
            "--config-file",
            ROOT / "pyproject.toml",
            "--cache-dir",
            ROOT / ".mypy_cache",
            path,
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_names_are_loaded_and_kept():
    for name in sv.PACKAGES:
        vars(sv).pop(name, None)
        assert getattr(sv, name) is import_module(f"sottovoce.{name}")
        assert name in vars(sv)
