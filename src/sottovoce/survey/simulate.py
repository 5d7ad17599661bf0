"""Many respondents at once through the real HTTP interface, each with a sealed report of their own."""

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from queue import SimpleQueue

from sottovoce.estimate.em import Progress
from sottovoce.survey.client import Client
from sottovoce.survey.links import Link
from sottovoce.survey.seal import Seal, sealed

SENT_AT_ONCE = 256


def send_reports(
    links: Iterable[Link], reports: list[bytes], *, connections: int = 8, progress: Progress | None = None
) -> int:
    """Send each report over one of several connections; returns how many were acknowledged.

    `links` are as many as reports, or more, and lead to one server; with an open survey they are all the same.
    """
    work = list(zip(links, reports, strict=False))
    if not work:
        return 0
    server = work[0][0].server
    clients: SimpleQueue[Client] = SimpleQueue()
    for _ in range(connections):
        clients.put(Client(server))

    def send(link: Link, seal: Seal) -> None:
        client = clients.get()
        try:
            client.send(link, seal)
        finally:
            clients.put(client)

    done = 0
    try:
        with ThreadPoolExecutor(connections) as pool:
            waiting = iter(work)
            while batch := list(islice(waiting, SENT_AT_ONCE)):
                list(pool.map(send, *_sealed(batch)))
                done += len(batch)
                if progress is not None:
                    progress(done, len(work))
    finally:
        for _ in range(connections):
            clients.get().close()
    return done


def _sealed(batch: list[tuple[Link, bytes]]) -> Iterator[list[Link] | list[Seal]]:
    yield [link for link, _ in batch]
    yield [sealed(link.hash, report, link.token) for link, report in batch]
