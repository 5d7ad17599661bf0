"""How long a newcomer waits for help, and for the import of the library."""

import subprocess
import sys

from benchmarks.measure import Row, best_seconds


def rows() -> list[Row]:
    """Time fresh interpreters; an empty one is the floor, and typer's own help the peer."""
    help_text = [sys.executable, "-m", "sottovoce", "--help"]
    bare = [sys.executable, "-c", "import typer.main; a = typer.Typer(); a.command()(lambda: None); a(['--help'])"]
    taken, peer = best_seconds(lambda: _run(help_text), lambda: _run(bare), rounds=5)
    (importing,) = best_seconds(lambda: _run([sys.executable, "-c", "import sottovoce"]), rounds=5)
    return [
        Row("sottovoce --help", "typer", taken, peer, unit="seconds"),
        Row("import sottovoce", None, importing, None, unit="seconds"),
    ]


def _run(command: list[str]) -> None:
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)  # noqa: S603  # our own interpreter and arguments
