"""Command line of the benchmarks: `list`, `run NAME --json FILE`."""

import argparse
import json
import sys
from contextlib import redirect_stdout
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import benchmarks

TOOLS = {"__main__", "measure"}


def names() -> list[str]:
    """Benchmarks there are: the modules of this folder that are not its tools."""
    return sorted(m.name for m in iter_modules(benchmarks.__path__) if m.name not in TOOLS)


def run(name: str, target: str | None) -> None:
    """Run one benchmark; print its rows, and write them as JSON where asked to."""
    rows, out = [], sys.stdout
    with redirect_stdout(sys.stderr):  # peers greet on standard output, which is the rows' own
        for row in import_module(f"benchmarks.{name}").rows():
            rows.append(row.to_json())
            if target != "-":
                print(f"{name:10} {row.line()}", file=out, flush=True)
    if target is not None:
        text = json.dumps({"rows": rows}, indent=2)
        print(text) if target == "-" else Path(target).write_text(text + "\n", encoding="utf-8")


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=benchmarks.__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="name the benchmarks")
    running = commands.add_parser("run", help="run one benchmark, or all of them")
    running.add_argument("name", choices=[*names(), "all"])
    running.add_argument("--json", metavar="FILE|-", help="write the rows as JSON")
    given = parser.parse_args()
    if given.command == "list":
        print("\n".join(names()))
    elif given.name == "all" and given.json:
        sys.exit("error: --json takes one benchmark at a time")
    else:
        for name in names() if given.name == "all" else [given.name]:
            run(name, given.json)


main()
