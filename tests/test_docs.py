"""The documentation works: its Python runs, its commands run, its example scheme passes every law."""

import re
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
MIGRATION = ROOT / "docs" / "from-0.1.md"
FENCE = re.compile(r"^```(?P<language>[^\n]*)\n(?P<code>.*?)^```$", re.DOTALL | re.MULTILINE)


def blocks(page: Path, language: str) -> list[str]:
    return [m["code"] for m in FENCE.finditer(page.read_text()) if m["language"] == language]


LONG = {"mining.md", "design.md", "survey.md"}
"""Pages whose examples take seconds."""


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=[pytest.mark.slow] if page.name in LONG else []) for page in PAGES if page != MIGRATION],
    ids=lambda page: page.name,
)
@pytest.mark.usefixtures("seeded_coins")
def test_python_blocks_run(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for code in blocks(page, "python"):
        exec(compile(code, str(page), "exec"), names)  # noqa: S102  # the documentation is ours


def test_the_readme_shows_what_its_python_prints(capsys):
    (code,) = blocks(ROOT / "README.md", "python")
    exec(compile(code.replace("people, plan)", "people, plan, rng=1)"), "README.md", "exec"), {})  # noqa: S102
    (shown,) = blocks(ROOT / "README.md", "")
    assert capsys.readouterr().out == shown


def test_the_readme_is_ten_lines_of_python():
    (code,) = blocks(ROOT / "README.md", "python")
    assert len(code.splitlines()) <= 10


@pytest.mark.slow
def test_the_readmes_commands_run(tmp_path):
    readme = ROOT / "README.md"
    (tmp_path / "answers.csv").write_text(*blocks(readme, "csv file=answers.csv"))
    commands = [line[2:] for code in blocks(readme, "console") for line in code.splitlines() if line.startswith("$ ")]
    assert commands
    for command in commands:
        program, *arguments = command.split()
        assert program == "sottovoce"
        subprocess.run([sys.executable, "-m", program, *arguments], cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)


NAMES_OF_0_1 = {
    "designs.certified": "certified_front information_front design=least_error_design",
    "designs.compare": "compare",
    "designs.front": "Front",
    "designs.goals": "Goals attain_goals",
    "designs.mopso": "mopso_front",
    "designs.optrr.search": "optrr_front",
    "designs.recommend.recommend": "recommend",
    "designs.requirement": "named_prior",
    "designs.sweeps": "subset_sweep warner_sweep",
    "disguises.audit.run": "audit=audit_plan",
    "disguises.records": "disguise_record disguise_value",
    "disguises.tables": "disguise_column disguise_file disguise_frame",
    "disguises.transactions": "disguise_transactions",
    "datasets.quest": "quest_transactions",
    "errors": "SottovoceError",
    "estimates.asked_together": "estimate_asked_together=estimate_covered",
    "estimates.derived": "derive",
    "estimates.groups": "compare_estimates stratified",
    "estimates.independence": "independence_test",
    "estimates.itemsets": "estimate_supports estimate_supports_by_size",
    "estimates.laplace_costs": "mechanism_costs",
    "estimates.log_linear": "estimate_joint",
    "estimates.proportions": "estimate_by estimate_proportions",
    "estimates.sample_size": "expected_width respondents_needed",
    "estimates.two_samples": "estimate_two_samples",
    "graphs.convert": "as_graph",
    "graphs.degrees": "estimate_degrees estimate_edges reconstruct_graph",
    "graphs.reports": "disguise_graph",
    "graphs.stars": "estimate_stars",
    "graphs.triangles": "estimate_triangles",
    "mining.classify.decision_tree": "DecisionTree",
    "mining.classify.experiments": "accuracy_by_plan respondents_for_accuracy",
    "mining.classify.mined_privacy": "mined_privacy",
    "mining.classify.naive_bayes": "NaiveBayes",
    "mining.classify.scoring": "score_disguised",
    "mining.itemsets.frequent": "frequent_itemsets",
    "mining.itemsets.pattern_model": "modelled_itemsets",
    "mining.itemsets.evaluation": "itemset_privacy",
    "mining.rules": "association_rules",
    "mining.small_set_plan": "mining_plan",
    "plans.budget": "new_plan",
    "plans.plan": "Plan PriorSource",
    "schemas.attribute": "Attribute boolean",
    "schemas.binned": "Binned",
    "schemas.item_set": "ItemSet",
    "schemas.schema": "Schema",
    "surveys.definition.definition": "survey_from_text",
    "tables.infer": "infer_schema",
    "tables.plan_file": "read_plan write_plan",
}
"""Where the 66 names of version 0.1 are at home now; `new=old` where they are called something else."""

MODULES_OF_0_1 = {"scheme": "schemes", "design.optrr.settings": "designs.optrr.matrices"}
"""Modules that the pairs import from, and what they are called now."""

PARAMETERS_OF_0_1 = {
    "DecisionTree": {"target": "label", "level": "significance"},
    "NaiveBayes": {"target": "label", "confidence": "standard_errors"},
    "accuracy_by_plan": {"target": "label"},
    "audit_plan": {"confidence": "level"},
    "respondents_for_accuracy": {"target": "label"},
}
DEFAULTS_OF_0_1 = {"frequent_itemsets": {"target": "table"}, "mechanism_costs": {"target": "table"}}


def sottovoce_0_1() -> SimpleNamespace:
    """Stand-in for version 0.1: its names, parameters and defaults, with the code of today behind them."""
    old = SimpleNamespace()
    for module, names in NAMES_OF_0_1.items():
        for pair in names.split():
            now, _, before = pair.partition("=")
            setattr(old, before or now, getattr(import_module(f"sottovoce.{module}"), now))
    for name in {*PARAMETERS_OF_0_1, *DEFAULTS_OF_0_1}:
        setattr(old, name, renamed(name, getattr(old, name)))
    subtract, measure = old.compare_estimates, old.derive
    old.compare_estimates = lambda first, second: subtract(second, first)
    old.derive = lambda estimate, name: measure(estimate, name.replace("-", "_"))
    return old


def renamed(name, function):
    parameters, defaults = PARAMETERS_OF_0_1.get(name, {}), DEFAULTS_OF_0_1.get(name, {})
    return lambda *args, **options: function(
        *args, **defaults, **{parameters.get(key, key): value for key, value in options.items()}
    )


def same(before, after):
    """Nothing differs, not even in the last digit."""
    if isinstance(before, list | tuple):
        return len(before) == len(after) and all(map(same, before, after))
    return np.array_equal(before, after)


def test_every_name_of_0_1_has_a_pair():
    old, page = vars(sottovoce_0_1()), MIGRATION.read_text()
    assert len(old) == 66
    told = []
    for section in re.split(r"^### ", page, flags=re.MULTILINE)[1:]:
        heading, _, text = section.partition("\n")
        languages = [match["language"] for match in FENCE.finditer(section)]
        assert languages == ["python before", "python"], heading
        names = re.findall(r"`(\w+)`", heading)
        assert all(f"sv.{name}(" in text or f"sv.{name}." in text or f"sv.{name} " in text for name in names), heading
        told += names
    assert sorted(told) == sorted(old)


@pytest.mark.slow
def test_pairs_of_0_1_and_0_2_agree(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for before, now in MODULES_OF_0_1.items():
        monkeypatch.setitem(sys.modules, f"sottovoce.{before}", import_module(f"sottovoce.{now}"))
    old, new, compared = {"sv": sottovoce_0_1()}, {}, 0
    common, *codes = [match for match in FENCE.finditer(MIGRATION.read_text()) if match["language"]]
    exec(common["code"].replace("import sottovoce as sv\n", ""), old)  # noqa: S102
    exec(common["code"], new)  # noqa: S102
    for before, after in zip(codes[::2], codes[1::2], strict=True):
        old["before"] = new["after"] = None
        exec(compile(before["code"], before["code"], "exec"), old)  # noqa: S102
        exec(compile(after["code"], after["code"], "exec"), new)  # noqa: S102
        assert same(old["before"], new["after"]), after["code"]
        compared += old["before"] is not None
    assert compared >= 35


def test_links_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\((?!http)([^)#]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_every_room_is_described():
    described = (ROOT / "docs" / "architecture.md").read_text()
    for room in sorted((ROOT / "src" / "sottovoce").iterdir()):
        name = room.stem
        if not name.startswith("_") and room.suffix in ("", ".py"):
            assert f"| `{name}` |" in described, f"architecture.md leaves out {name}"


@pytest.mark.slow
def test_the_example_scheme_is_one_file_that_all_laws_find(tmp_path):
    """A copy of the project plus the file from the contributor notes: nothing else is touched."""
    (code,) = blocks(ROOT / "docs" / "contributing.md", "python file=contamination.py")
    assert len(code.splitlines()) < 100
    for folder in ("src", "tests"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / "src" / "sottovoce" / "schemes" / "contamination.py").write_text(code)
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "tests/schemes/test_laws.py",
            "src/sottovoce/schemes",
            "-k",
            "contamination",
        ],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path / "src"), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    passed = int(re.search(r"(\d+) passed", done.stdout)[1])
    assert passed >= 3 * 7 + 2 + 1  # three cases under seven laws, two refusals, and the doctest
