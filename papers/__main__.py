"""Command line of the papers: `list`, `run ID` or `run all`, and `summary` of the files that runs wrote."""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from math import isfinite
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, cast, get_args

import papers
from papers.comparison import Verdict
from papers.rerun import Module, Rerun
from sottovoce.errors import SottovoceError

HELPERS = {"__main__", "comparison", "rerun"}


def identifiers() -> dict[str, str]:
    """Identifier of each table and figure, such as emask-table3.1, and its module, emask_table3_1."""
    found = [module.name for module in iter_modules(papers.__path__) if module.name not in HELPERS]
    return {_identifier(name): name for name in sorted(found) if not name.startswith("_")}


def _identifier(module: str) -> str:
    """Underscores between digits are points, others are hyphens.

    >>> _identifier("emask_table3_1"), _identifier("optrr_fig5a")
    ('emask-table3.1', 'optrr-fig5a')
    """
    text = ""
    for place, character in enumerate(module):
        between_digits = module[place - 1 : place].isdigit() and module[place + 1 : place + 2].isdigit()
        text += ("." if between_digits else "-") if character == "_" else character
    return text


def load(identifier: str) -> Module:
    """Module of a table or figure."""
    known = identifiers()
    if identifier not in known:
        sys.exit(f"error: {identifier} is none of: {', '.join(known)}")
    return cast(Module, import_module(f"papers.{known[identifier]}"))


def document(identifier: str, module: Module, found: Rerun) -> dict[str, Any]:
    """Result as JSON."""
    rows = [_plain(row.to_json()) for row in found.rows]
    about = {"id": identifier, "title": module.TITLE, "source": module.SOURCE, "settings": found.settings}
    return {**about, "rows": rows, "notes": list(found.notes)}


def shown(result: dict[str, Any]) -> str:
    """Result as a table for people."""
    lines = [f"{result['id']}: {result['title']} ({result['source']})"]
    lines += [f"  {row['verdict']:<20} {row['name']}: {_said(row)}" for row in result["rows"]]
    return "\n".join(lines + [f"  Note: {note}" for note in result["notes"]])


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    """Numbers that JSON does not have, such as infinity, as null."""
    return {key: None if isinstance(v, float) and not isfinite(v) else v for key, v in row.items()}


def _said(row: dict[str, Any]) -> str:
    stated = "published" if row["reference"] is None else "reference"
    error = "" if row["error"] is None else f" (standard error {row['error']:.2g}, {row['runs']} runs)"
    why = f"; {row['reason']}" if row["reason"] else ""
    return f"{stated} {_number(row[stated])}, ours {_number(row['ours'])}{error}{why}"


def _number(value: Any) -> str:
    return f"{value:.5g}" if isinstance(value, float) else str(value)


def summary(paths: Sequence[Path]) -> str:
    """How many rows of each result have each verdict, as a table in Markdown, from files that `run --json` wrote.

    A file holds one result or a list of them.
    """
    verdicts = get_args(Verdict)
    lines = [f"| id | {' | '.join(verdicts)} |", f"|---|{'---|' * len(verdicts)}"]
    for path in paths:
        found = json.loads(path.read_text("utf-8"))
        for result in found if isinstance(found, list) else [found]:
            told = Counter(row["verdict"] for row in result["rows"])
            lines.append(f"| `{result['id']}` | {' | '.join(str(told[v]) for v in verdicts)} |")
    return "\n".join(lines)


def save_figure(found: Rerun, title: str, path: Path) -> None:
    """Draw the picture, if there is one."""
    if found.draw is None:
        sys.exit(f"error: there is no figure of {title}")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 5.5), layout="constrained")
    figure.suptitle(title, fontsize="medium")
    found.draw(figure)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)


def run(given: argparse.Namespace) -> None:
    """Run one, or all into a folder; results are written before figures are drawn, and after each of many."""
    results: list[dict[str, Any]] = []
    for identifier in list(identifiers()) if given.id == "all" else [given.id]:
        module = load(identifier)
        found = module.rerun(quick=given.quick, seed=given.seed, progress=_progress(identifier))
        results.append(document(identifier, module, found))
        print(shown(results[-1]), file=sys.stderr if given.json == "-" else sys.stdout)
        if given.json not in (None, "-"):
            Path(given.json).write_text(_text(given.id, results), "utf-8")
        if given.folder is not None and found.draw is not None:
            save_figure(found, module.TITLE, given.folder / f"{identifier}.png")
        if given.figure is not None:
            save_figure(found, module.TITLE, given.figure)
    if given.json == "-":
        sys.stdout.write(_text(given.id, results))


def _text(asked: str, results: list[dict[str, Any]]) -> str:
    return json.dumps(results if asked == "all" else results[0], indent=2, ensure_ascii=False) + "\n"


def _progress(label: str) -> Any:
    """A line on standard error that moves, where somebody looks."""
    if not sys.stderr.isatty():
        return lambda _done, _total: None
    return lambda done, total: print(f"\r{label}: {done} of {total} ", end="", file=sys.stderr, flush=True)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m papers", description=papers.__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="every table and figure")
    counts = commands.add_parser("summary", help="how many rows have each verdict, as a table in Markdown")
    counts.add_argument("files", metavar="FILE", type=Path, nargs="+", help="written by run --json")
    runs = commands.add_parser("run", help="run one again, or all")
    runs.add_argument("id", metavar="ID", help="identifier, or all")
    runs.add_argument("--quick", action="store_true", help="fewer repetitions, in seconds")
    runs.add_argument("--json", metavar="FILE|-", help="write the result as JSON")
    runs.add_argument("--figure", metavar="FILE.png", type=Path, help="draw the figure")
    runs.add_argument("--folder", metavar="FOLDER", type=Path, help="draw every figure into a folder")
    runs.add_argument("--seed", type=int, default=1, help="of all that is random")
    given = parser.parse_args()
    if given.command == "list":
        for identifier in identifiers():
            print(f"{identifier:<18} {load(identifier).TITLE}")
        return
    if given.command == "summary":
        with _named_errors():
            print(summary(given.files))
        return
    if given.seed < 0:
        runs.error(f"--seed must not be negative. Got {given.seed} instead.")
    if given.id == "all" and given.figure is not None:
        runs.error("--figure is for one of them: all are drawn into a --folder")
    with _named_errors():
        run(given)


@contextmanager
def _named_errors() -> Iterator[None]:
    """Leave with a sentence where data or files are not there."""
    try:
        yield
    except (SottovoceError, OSError) as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
