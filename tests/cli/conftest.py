"""The command line, run in this process: exit code, standard output and standard error."""

from collections.abc import Callable
from contextlib import chdir

import pytest

from sottovoce.cli.app import main

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="session")
def run_in():
    """Function that runs several commands in a folder, none of which may fail."""

    def commands(folder, *listed: tuple[str, ...]) -> None:
        with chdir(folder):
            for arguments in listed:
                with pytest.raises(SystemExit) as stopped:
                    main(list(arguments))
                assert not stopped.value.code, arguments

    return commands


@pytest.fixture
def run(capsys) -> Run:
    def command(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as stopped:
            main(list(arguments))
        printed = capsys.readouterr()
        return int(stopped.value.code or 0), printed.out, printed.err

    return command
