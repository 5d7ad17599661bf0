"""Backups of a server under load: they have every report that was acknowledged before, and reports go on arriving."""

import subprocess
import sys

import pytest

from sottovoce.surveys.collect.backup import restore
from tests.surveys.load import servers, stored
from tests.surveys.test_durable import LOAD, Load, row_of

pytestmark = pytest.mark.slow
BACKUPS = 3


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_backup_under_load_has_every_report_from_before(kind, request, tmp_path, draft, open_survey, finished):
    database = str(tmp_path / "surveys.db") if kind == "sqlite" else request.getfixturevalue("postgres").database()
    load = Load(database, draft, open_survey, 24 * LOAD)
    during = []
    with servers(database, 2) as addresses:
        for number in range(BACKUPS):

            def back_up(number=number):
                """As an operator does, in a process of its own."""
                before = {row_of(device) for device in load.devices if device.acknowledged}
                command = [sys.executable, "-m", "sottovoce", "survey", "backup", f"{number}.backup", "--db", database]
                subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
                after = {row_of(device) for device in load.devices if device.acknowledged}
                during.append(len(after) - len(before))
                restore(tmp_path / f"{number}.backup", tmp_path / f"{number}.db")
                found = stored(str(tmp_path / f"{number}.db"))
                assert before <= found.keys()
                assert found.keys() <= {row_of(device) for device in load.devices if device.sealed is not None}
                assert set(found.values()) == {1}

            finished(load.drive(addresses[number % 2], back_up))
    assert load.check(database) >= BACKUPS * LOAD
    assert min(during) > 0
