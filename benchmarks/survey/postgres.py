"""A PostgreSQL server of the benchmark's own, as Debian ships it, on a socket that only its owner and root can open."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

PROGRAMS = Path("/usr/lib/postgresql")
"""Where Debian keeps the programs, by version and outside the path."""

USER = "postgres"
"""PostgreSQL refuses to run as root."""


@contextmanager
def postgres_databases() -> Iterator[Callable[[], str] | None]:
    """Run a server while the block runs; yields what makes a new database and returns its URL, or None without one."""
    programs = max(PROGRAMS.glob("*/bin"), key=lambda path: float(path.parent.name), default=None)
    if programs is None:
        print("no PostgreSQL on this machine: its rows are left out", file=sys.stderr)
        yield None
        return
    home = Path(mkdtemp(prefix="sv-pg-"))
    data, numbers = home / "data", count(1)
    user: dict[str, Any] = {}
    if os.geteuid() == 0:
        shutil.chown(home, USER, USER)
        user = {"user": USER, "group": USER, "extra_groups": []}

    def run(program: str, *arguments: str | Path) -> None:
        command = [str(programs / program), *map(str, arguments)]
        subprocess.run(command, **user, cwd="/", stdout=subprocess.DEVNULL, check=True)  # noqa: S603  # PostgreSQL's own

    def new_database() -> str:
        name = f"survey_{next(numbers)}"
        run("createdb", "-h", home, "-U", USER, name)
        return f"postgresql://{USER}@/{name}?host={home}"

    try:
        run("initdb", "-D", data, "-U", USER, "--auth=trust", "--encoding=UTF8", "--no-sync")
        run("pg_ctl", "start", "-D", data, "-l", home / "log", "-o", f"-k {home} -c listen_addresses=''")
        try:
            yield new_database
        finally:
            run("pg_ctl", "stop", "-D", data, "-m", "immediate")
    finally:
        shutil.rmtree(home)
