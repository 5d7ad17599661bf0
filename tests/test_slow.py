"""What takes longer than a newcomer should wait: faults that `make check` must catch, installs from scratch."""

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TOOLS = Path(sys.executable).parent

pytestmark = pytest.mark.slow


def run(*command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


def check(folder: Path) -> list[str]:
    """The commands of `make check`, on a copy; the names of those that fail."""
    lines = (ROOT / "Makefile").read_text().split("check: $(READY)")[1].split("\n\n")[0].splitlines()[1:]
    commands = [line.strip().replace("$(BIN)/", "").split() for line in lines]
    assert [command[0] for command in commands] == ["ruff", "ruff", "mypy", "lint-imports"]
    environment = {"PYTHONPATH": str(folder / "src"), "PATH": str(TOOLS), "HOME": str(folder)}
    failed = []
    for command in commands:
        done = subprocess.run(
            [str(TOOLS / command[0]), *command[1:]], cwd=folder, env=environment, capture_output=True, check=False
        )
        failed += [command[0]] if done.returncode else []
    return failed


@pytest.fixture(scope="module")
def checked(tmp_path_factory) -> tuple[Path, list[str]]:
    """The tracked project in a folder of its own with what the tools keep of a check, and what failed."""
    folder = tmp_path_factory.mktemp("checked")
    for name in ("src", "tests", "benchmarks", "conformance", "papers"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder, check(folder)


@pytest.fixture
def copy(checked, tmp_path):
    """Another copy, to be broken; what the tools kept makes its check as short as that of a change of one file."""
    return shutil.copytree(checked[0], tmp_path, dirs_exist_ok=True)


def test_check_passes_on_the_project_as_it_is(checked):
    assert checked[1] == []


def test_check_catches_a_wrong_import(copy):
    path = copy / "src/sottovoce/schemas/attribute.py"
    path.write_text(path.read_text() + "\n\nfrom sottovoce.plans import plan as upstairs  # noqa: E402, F401\n")
    assert "lint-imports" in check(copy)


def test_check_catches_a_module_outside_every_room(copy):
    (copy / "src/sottovoce/attic.py").write_text('"""A room nobody planned."""\n')
    assert check(copy) == ["lint-imports"]


def test_check_catches_a_missing_type(copy):
    path = copy / "src/sottovoce/exact.py"
    path.write_text(
        path.read_text() + '\n\ndef doubled(value):  # noqa: ANN001, ANN201\n    """Twice."""\n    return 2 * value\n'
    )
    assert "mypy" in check(copy)


def test_check_catches_an_undocumented_public_name(copy):
    path = copy / "src/sottovoce/exact.py"
    path.write_text(path.read_text() + "\n\ndef doubled(value: int) -> int:\n    return 2 * value\n")
    assert check(copy) == ["ruff"]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    shutil.copytree(ROOT / "src", source / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    done = run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", str(folder), str(source), cwd=folder)
    assert done.returncode == 0, done.stderr
    return next(folder.glob("*.whl"))


def installed(
    folder: Path,
    wheel: Path,
    extra: str,
    *tools: str,
    pinned: bool = True,
    constraints: Path = ROOT / "constraints.txt",
) -> Path:
    """Fresh environment with the base install, or with one extra, and tools; its folder of programs.

    Made by the pip that is here already, and without bytecode of modules that are never loaded: this halves the time.
    """
    run(sys.executable, "-m", "venv", "--without-pip", str(folder / "env"), cwd=folder)
    target = f"{wheel}[{extra}]" if extra else str(wheel)
    pins = ("-c", str(constraints)) if pinned else ()
    pip = (
        sys.executable,
        "-m",
        "pip",
        "--python",
        str(folder / "env/bin/python"),
        "install",
        "--quiet",
        "--no-compile",
    )
    done = run(*pip, "--disable-pip-version-check", *pins, target, *tools, cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / "env" / "bin"


def test_the_base_install_alone(wheel, tmp_path):
    """No frame library, no pyarrow: the demo and CSV files work, and Parquet names its extra."""
    programs = installed(tmp_path, wheel, "")
    assert run(str(programs / "sottovoce"), "demo", "--respondents", "1000", cwd=tmp_path).returncode == 0
    (tmp_path / "t.csv").write_text("a\nyes\nno\n")
    sottovoce = str(programs / "sottovoce")
    assert run(sottovoce, "plan", "new", "t.csv", "--odds", "3", "-o", "p.json", cwd=tmp_path).returncode == 0
    assert run(sottovoce, "disguise", "t.csv", "r.csv", "--plan", "p.json", cwd=tmp_path).returncode == 0
    refused = run(sottovoce, "disguise", "t.csv", "r.parquet", "--plan", "p.json", cwd=tmp_path)
    assert (refused.returncode, refused.stderr) == (
        2,
        "error: Parquet needs pyarrow; install it with: pip install 'sottovoce[tables]'\n",
    )


EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
ENGINES = {
    "polars": "import polars; data = polars.LazyFrame({'id': range(1000), 'tax': [n % 4 == 0 for n in range(1000)]})",
    "duckdb": "import duckdb; data = duckdb.sql('SELECT range AS id, range % 4 = 0 AS tax FROM range(1000)')",
    "spark": (
        "import os, sys; from pyspark.sql import SparkSession; os.environ['PYSPARK_PYTHON'] = sys.executable;"
        "spark = SparkSession.builder.master('local[1]').config('spark.log.level', 'OFF').getOrCreate();"
        "data = spark.range(1000).selectExpr('id', 'id % 4 = 0 AS tax')"
    ),
}
THROUGH_AN_ENGINE = """
import sottovoce as sv
plan = sv.plan(sv.Schema([sv.boolean('tax')]), odds=9)
reports = sv.disguise(data, plan, to='reports.parquet', row_id='id')
engine, file = reports.estimate('tax'), sv.read('reports.parquet').estimate('tax')
print(len(reports), engine.to_json() == file.to_json(), abs(engine[True] - 0.25) < 0.15)
"""


def check_engine(name: str, programs: Path, folder: Path) -> None:
    done = run(str(programs / "python"), "-W", "error", "-c", ENGINES[name] + THROUGH_AN_ENGINE, cwd=folder)
    assert (done.returncode, done.stdout) == (0, "1000 True True\n"), done.stderr


def check_demo(programs: Path, folder: Path) -> None:
    """As `make demo` installs it: the page, its modules and the sample are there, and estimates come out."""
    done = run(str(programs / "sottovoce"), "survey", "demo", "--exit", "--respondents", "200", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert "200 reports" in done.stdout
    script = "from sottovoce.surveys.page.files import page_files; print(*page_files())"
    names = run(str(programs / "python"), "-c", script, cwd=folder).stdout.split()
    page = ROOT / "src/sottovoce/surveys/page"
    assert names == sorted(
        path.relative_to(page).as_posix() for path in page.rglob("*") if path.suffix in (".js", ".css", ".svg")
    )


def check_published_files(extra: str, programs: Path, folder: Path) -> None:
    """The report and CSV need nothing beyond the survey; errors name the command that installs what is missing."""
    sottovoce = str(programs / "sottovoce")
    run(sottovoce, "survey", "new", "draft.yaml", "--sample", "minimal", cwd=folder)
    assert run(sottovoce, "survey", "rehearse", "draft.yaml", "--respondents", "200", cwd=folder).returncode == 0
    assert run(sottovoce, "survey", "report", "rehearsal.html", cwd=folder).returncode == 0
    assert run(sottovoce, "survey", "export", "rehearsal.zip", cwd=folder).returncode == 0
    for end in ("sav", "dta"):
        done = run(sottovoce, "survey", "export", f"rehearsal.{end}", cwd=folder)
        hint = "" if extra == "publish" else "install it with: pip install 'sottovoce[publish]'"
        assert (done.returncode, hint in done.stderr) == (0 if extra == "publish" else 2, True)
    if extra == "publish":
        assert run(sottovoce, "survey", "export", "rehearsal.parquet", cwd=folder).returncode == 0


@pytest.mark.parametrize("extra", sorted(set(EXTRAS) - {"dev"}))
def test_each_extra_alone(wheel, tmp_path, extra):
    """Plans and Parquet files; an engine, the survey's demo and published files, which need no other extra."""
    programs = installed(tmp_path, wheel, extra)
    script = "import sottovoce as sv; print(sv.plan(sv.Schema([sv.boolean('a')]), odds=3).guarantee)"
    done = run(str(programs / "python"), "-W", "error", "-c", script, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "3 : 1 (epsilon 1.09862)\n")
    if any("pyarrow" in requirement or "tables" in requirement for requirement in EXTRAS[extra]):
        (tmp_path / "t.csv").write_text("a\nyes\nno\n")
        sottovoce = str(programs / "sottovoce")
        assert run(sottovoce, "plan", "new", "t.csv", "--odds", "3", "-o", "p.json", cwd=tmp_path).returncode == 0
        assert run(sottovoce, "disguise", "t.csv", "r.parquet", "--plan", "p.json", cwd=tmp_path).returncode == 0
        assert run(sottovoce, "plan", "show", "r.parquet", cwd=tmp_path).returncode == 0
    if extra in ENGINES:
        check_engine(extra, programs, tmp_path)
    if extra == "survey":
        check_demo(programs, tmp_path)
    if extra in ("survey", "publish"):
        check_published_files(extra, programs, tmp_path)


def test_spark_with_pandas_3(wheel, tmp_path):
    """Spark warns of pandas 3, which it asks for and does not use: users of our functions see no warning."""
    pins = [line for line in (ROOT / "constraints.txt").read_text().splitlines() if not line.startswith("pandas==")]
    (tmp_path / "constraints.txt").write_text("\n".join([*pins, "pandas>=3", ""]))
    programs = installed(tmp_path, wheel, "spark", constraints=tmp_path / "constraints.txt")
    python = str(programs / "python")
    version = run(python, "-c", "import pandas; print(pandas.__version__)", cwd=tmp_path).stdout
    assert int(version.partition(".")[0]) >= 3
    check_engine("spark", programs, tmp_path)


def test_frames_of_the_newest_pandas(wheel, tmp_path):
    """The pinned pandas is older; tables, disguises and estimates work with pandas 3 as well."""
    tools = ("pandas>=3", "polars", "pytest", "hypothesis", "scipy")
    programs = installed(tmp_path, wheel, "tables,data,plot,duckdb,spark", *tools, pinned=False)
    for name in ("tests", "docs"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    folders = ("tests/tables", "tests/disguises", "tests/estimates", "tests/spark")
    done = run(str(programs / "python"), "-m", "pytest", "-q", "-m", "not slow", *folders, cwd=tmp_path)
    assert done.returncode == 0, done.stdout
