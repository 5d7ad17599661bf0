"""The documentation works: its Python runs, its commands run, its example scheme passes every law."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(r"^```(?P<language>[^\n]*)\n(?P<code>.*?)^```$", re.DOTALL | re.MULTILINE)


def blocks(page: Path, language: str) -> list[str]:
    return [m["code"] for m in FENCE.finditer(page.read_text()) if m["language"] == language]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
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


def test_the_readmes_commands_run(tmp_path):
    readme = ROOT / "README.md"
    (tmp_path / "answers.csv").write_text(*blocks(readme, "csv file=answers.csv"))
    commands = [line[2:] for code in blocks(readme, "console") for line in code.splitlines() if line.startswith("$ ")]
    assert commands
    for command in commands:
        program, *arguments = command.split()
        assert program == "sottovoce"
        subprocess.run([sys.executable, "-m", program, *arguments], cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)


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
