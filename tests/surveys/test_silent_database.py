"""A database that neither answers nor fails does not keep a server from ending, and what it leaves is named."""

import asyncio
import signal
import threading
import time
from http.client import HTTPConnection

import numpy as np
import pytest

from sottovoce.surveys.client.client import seal_report
from sottovoce.surveys.client.simulate import simulate_respondents
from sottovoce.surveys.collect.entries import Entry
from sottovoce.surveys.collect.store import Store
from sottovoce.surveys.collect.writer import Writer
from tests.surveys.postgres import send_signal
from tests.surveys.proxies import HOST, servers


def test_a_commit_that_does_not_end_is_not_waited_for(finished, caplog):
    begun, go = threading.Event(), threading.Event()

    def commit(entries):
        begun.set()
        go.wait(120)
        return [None] * len(entries)

    writer = Writer(commit, most=1)

    async def drive():
        sent = [asyncio.create_task(writer.put(Entry("s", bytes([index]), b"1"))) for index in range(3)]
        await asyncio.to_thread(begun.wait, 120)
        await asyncio.to_thread(writer.close, 0.05)
        assert not any(task.done() for task in sent)  # nobody was told that a report is stored
        go.set()
        await asyncio.gather(*sent)

    finished(drive())
    assert [record.getMessage() for record in caplog.records] == [
        "The database has not answered for 0.05 seconds. Reports not acknowledged: 3"
    ]


@pytest.mark.slow
def test_a_server_ends_although_postgres_is_silent(postgres, tmp_path, open_survey):
    """All processes of the database are stopped, as on a machine that hangs: connections stay open, and say nothing."""
    database = postgres.database()
    store = Store(database)
    survey = store.freeze(open_survey)
    store.close()
    (report,) = simulate_respondents(survey, 1, np.random.default_rng(1)).reports()
    sealed = seal_report(survey.hash, report)
    with servers(1, database, tmp_path, f"https://{HOST}", "--respondents-only") as behind:
        (port,), (process,) = behind.ports, behind.processes
        connection = HTTPConnection("127.0.0.1", port, timeout=100)
        connection.request("GET", f"/s/{survey.id}/survey.json")
        assert connection.getresponse().read()
        stopped = postgres.processes()
        send_signal(stopped, signal.SIGSTOP)
        try:
            headers = {"Content-Type": "application/json", "X-Forwarded-Proto": "https", "Host": HOST}
            connection.request("POST", f"/s/{survey.id}/reports", sealed.body, headers)
            time.sleep(1)
            process.send_signal(signal.SIGTERM)
            process.wait(80)
        finally:
            send_signal(stopped, signal.SIGCONT)
            connection.close()
    assert "Reports not acknowledged: 1" in (tmp_path / "server0.log").read_text()
