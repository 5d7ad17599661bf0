"""Durable reports over HTTP: with signatures against 0.1's way, grouped commits, both databases, 1 and 2 processes."""

from collections.abc import Iterator

from benchmarks.measure import Row
from benchmarks.survey.load import CONNECTIONS, TURNS, Load, Servers, Site, middle

GROUPED = Servers()
SINGLE = Servers(mode="single")
OFF = Servers(mode="off")
WITH_INVITATION = Servers(signed=False)


def rows(site: Site) -> Iterator[Row]:
    """All servers in turn."""
    by_processes = [Servers(kind, processes) for kind in site.databases for processes in (1, 2)]
    loads: dict[Servers, list[Load]] = {each: [] for each in (*by_processes, SINGLE, OFF, WITH_INVITATION)}
    for _ in range(TURNS):
        for servers, found in loads.items():
            found.append(site.measured(servers))
    turn = {servers: middle(found) for servers, found in loads.items()}
    ours, unit = turn[GROUPED], "us per report"
    name = f"{CONNECTIONS} connections, grouped commits"
    yield Row(f"{name}, against one commit a report", "one commit a report", ours.each, turn[SINGLE].each, unit)
    yield Row(f"{name}, against storage switched off", "no storage", ours.each, turn[OFF].each, unit)
    yield Row(f"{name}, 99 % acknowledged within", "one commit a report", ours.p99, turn[SINGLE].p99, "ms")
    old = turn[WITH_INVITATION]
    yield Row("reports with signatures", "with invitations, as 0.1", ours.each, old.each, unit)
    yield Row("reports with signatures, processor", "with invitations, as 0.1", ours.processor, old.processor, unit)
    for servers in by_processes:
        if servers != GROUPED:
            yield Row(f"reports, {servers}", str(GROUPED), turn[servers].each, ours.each, unit)
            yield Row(f"99 % acknowledged within, {servers}", str(GROUPED), turn[servers].p99, ours.p99, "ms")
