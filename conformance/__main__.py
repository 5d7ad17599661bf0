"""Command line of the conformance vectors: `write` and `check`."""

import argparse
import sys
from pathlib import Path

import conformance
from conformance.files import names, text

HERE = Path(__file__).parent


def write(folder: Path) -> None:
    """Write every file, and say how large it is."""
    for name in names():
        content = text(name)
        (folder / f"{name}.json").write_text(content, encoding="utf-8", newline="\n")
        print(f"{name}.json: {content.count(chr(10)) - 2} vectors, {len(content.encode())} bytes")


def check(folder: Path) -> None:
    """Compare every file with what the code produces; leave with an error if one differs."""
    files = {name: folder / f"{name}.json" for name in names()}
    stale = [name for name, path in files.items() if not path.exists() or path.read_bytes() != text(name).encode()]
    if stale:
        differing = ", ".join(f"{name}.json" for name in stale)
        sys.exit(f"error: not what the code produces: {differing}; run: python -m conformance write")
    print(f"{len(files)} files are what the code produces")


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m conformance", description=conformance.__doc__)
    parser.add_argument("command", choices=["write", "check"])
    parser.add_argument("--folder", type=Path, default=HERE, help="where the files are; beside the code if left out")
    given = parser.parse_args()
    (write if given.command == "write" else check)(given.folder)


main()
