"""The command line, run in this process: exit code, standard output and standard error."""

from collections.abc import Callable

import pytest

from sottovoce.cli.app import main

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys) -> Run:
    def command(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as stopped:
            main(list(arguments))
        printed = capsys.readouterr()
        return int(stopped.value.code or 0), printed.out, printed.err

    return command
