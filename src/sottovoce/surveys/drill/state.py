"""What the scenarios of a drill share: the private database and its servers, the respondents, and what was found."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from random import Random
from typing import Any, Literal, TypeVar

import numpy as np

from sottovoce.surveys.client.client import RETRIED_STATUSES
from sottovoce.surveys.client.simulate import simulate_respondents
from sottovoce.surveys.collect.app_state import today
from sottovoce.surveys.collect.store import Store
from sottovoce.surveys.definition.survey import Survey
from sottovoce.surveys.drill.respondents import Connection, Crowd, Reply, Respondent
from sottovoce.surveys.drill.scratch import Scratch
from sottovoce.surveys.drill.server import Server

Kind = Literal["lost", "leaked", "broken"]
Result = TypeVar("Result")

DAYS = 30
"""Days for which the private copy is open."""

PATIENCE = 60.0
"""Seconds within which everybody must be served after the last fault."""

CONNECTIONS = 16
"""Respondents who answer at the same time."""


@dataclass(frozen=True)
class Finding:
    """Something that must not happen: a report is lost, a secret is leaked, or another rule is broken."""

    kind: Kind
    scenario: str
    moment: float
    what: str

    def __str__(self) -> str:
        """Return the finding in words."""
        return f"{self.kind} ({self.scenario}, after {self.moment:.1f} s): {self.what}"

    def to_json(self) -> dict[str, Any]:
        """Return the finding as JSON."""
        return {"kind": self.kind, "scenario": self.scenario, "moment": round(self.moment, 3), "what": self.what}


class Drill:
    """The private copy in use."""

    def __init__(
        self, scratch: Scratch, draft: Survey, *, seed: int, respondents: int, outage: float, application: str
    ) -> None:
        """Freeze a copy of the survey, as a rehearsal that is open now and sends at once."""
        self.scratch, self.count, self.outage = scratch, respondents, outage
        self._application, self._answers = application, np.random.default_rng(seed)
        self._copy = replace(draft, send_interval=0, until=today() + timedelta(days=DAYS)).as_rehearsal()
        self._copies = 0
        self._begun = time.monotonic()
        self.survey = self.new_survey()
        self.servers: list[Server] = []
        self.all_servers: list[Server] = []
        self.respondents: list[Respondent] = []
        self.findings: list[Finding] = []
        self.faults: list[tuple[float, str]] = []
        self.scenario = "beginning"

    @property
    def moment(self) -> float:
        """Seconds since the drill began."""
        return time.monotonic() - self._begun

    @property
    def server(self) -> Server:
        """The first server that runs."""
        return self.servers[0]

    def note(self, kind: Kind, what: str) -> None:
        """Add a finding, unless it is known."""
        known = {(finding.kind, finding.what) for finding in self.findings}
        if (kind, what) not in known:
            self.findings.append(Finding(kind, self.scenario, self.moment, what))

    def fault(self, what: str) -> None:
        """Write down a fault that the drill causes now."""
        self.faults.append((self.moment, what))

    @contextmanager
    def store(self) -> Iterator[Store]:
        """Open the database for a moment.

        Not longer: closing a file that is read beside SQLite would release the locks that SQLite holds in this process.
        """
        store = Store(self.scratch.url)
        try:
            yield store
        finally:
            store.close()

    def new_survey(self) -> Survey:
        """Freeze one more copy of the survey, with a key of its own."""
        self._copies += 1
        title = {language: f"{text} ({self._copies})" for language, text in self._copy.title.items()}
        with self.store() as store:
            return store.freeze(replace(self._copy, title=title))

    def new_respondents(self, count: int | None = None, survey: Survey | None = None) -> list[Respondent]:
        """Return new respondents with invitations, of the private copy if no other survey is named."""
        survey, count = survey or self.survey, self.count if count is None else count
        reports = simulate_respondents(survey, count, self._answers).reports()
        tokens: Sequence[str | None] = [None] * count
        if survey.invitation == "single":
            with self.store() as store:
                tokens = store.invite(survey, count)
        first = len(self.respondents) + 1
        new = [
            Respondent(first + place, survey, report, token)
            for place, (report, token) in enumerate(zip(reports, tokens, strict=True))
        ]
        self.respondents += new
        return new

    async def start(self) -> Server:
        """Start one more server."""
        server = await asyncio.to_thread(Server, self.scratch.server_url, self.scratch.folder, self._application)
        self.servers.append(server)
        self.all_servers.append(server)
        return server

    async def kill(self, server: Server) -> None:
        """Kill a server."""
        self.servers.remove(server)
        await asyncio.to_thread(server.kill)

    async def stop(self, server: Server) -> None:
        """Stop a server in good order."""
        self.servers.remove(server)
        if not await asyncio.to_thread(server.stop):
            self.note("broken", "a server did not stop when it was asked to, and had to be killed")

    async def settle_servers(self) -> None:
        """Let exactly one server run, and say which ended by themselves."""
        for server in list(self.servers):
            if not server.runs:
                self.note("broken", "a server ended by itself")
                await self.kill(server)
        for server in self.servers[1:]:
            await self.stop(server)
        if not self.servers:
            await self.start()

    def addresses(self) -> list[str]:
        """Return the addresses of the servers that run."""
        return [server.address for server in self.servers]

    @asynccontextmanager
    async def answering(
        self,
        respondents: Sequence[Respondent],
        rng: Random,
        *,
        through: Callable[[], Sequence[str]] | None = None,
        strict: bool = True,
        **settings: Any,
    ) -> AsyncIterator[Crowd]:
        """Let respondents answer while the block runs, and until all are settled; `through` other addresses.

        Unless it is not `strict`, everybody must have been served in the end.
        """
        settings = {"connections": CONNECTIONS, "patience": PATIENCE} | settings
        own = Random(rng.getrandbits(64))  # noqa: S311  # pauses come in any order, and must not change later faults
        async with Crowd(
            respondents, through or self.addresses, own, on_reply=self._look_at_reply, **settings
        ) as crowd:
            yield crowd
        if strict:
            self._must_be_served(respondents, admissions_only=settings.get("admissions_only", False))

    def _must_be_served(self, respondents: Sequence[Respondent], *, admissions_only: bool) -> None:
        for respondent in respondents:
            who = f"respondent {respondent.number}"
            if respondent.refused is not None:
                self.note("broken", f"{who} was refused: {_words(respondent.refused)}")
            elif not respondent.acknowledged and not (admissions_only and respondent.admitted):
                self.note("broken", f"{who} was not served within {PATIENCE:g} s after the last fault")

    def _look_at_reply(self, respondent: Respondent, reply: Reply) -> None:
        if reply.status == 500:
            self.note("broken", f"respondent {respondent.number} got status 500: {_words(reply)}")
        if "Traceback" in json.dumps(reply.content):
            self.note("leaked", f"respondent {respondent.number} got a traceback")

    async def ask(self, respondent: Respondent, route: str, body: bytes, address: str | None = None) -> Reply:
        """Return the reply to a request of a respondent, which is sent again while the server asks for that."""
        path, last = f"/s/{respondent.survey.id}/{route}", Reply(0, {"error": "no reply"})
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            connection = Connection(address or self.server.address, respondent.headers)
            try:
                async with asyncio.timeout(PATIENCE):
                    last = await connection.post(path, body)
            except (OSError, EOFError):
                last = Reply(0, {"error": "no reply"})
            finally:
                await connection.close()
            self._look_at_reply(respondent, last)
            if last.status not in (0, *RETRIED_STATUSES):
                break
            await asyncio.sleep(0.1)
        return last

    def expect(self, reply: Reply, wanted: dict[int, str | None], what: str) -> bool:
        """Note a reply with none of the wanted statuses, each with its refusal; return whether it has one."""
        error = reply.content.get("error") if isinstance(reply.content, dict) else None
        right = reply.status in wanted and wanted[reply.status] in (None, error)
        if not right:
            self.note("broken", f"{what}; the reply: {_words(reply)}")
        return right

    async def close(self) -> None:
        """End all servers."""
        for server in list(self.servers):
            await self.kill(server)


def _words(reply: Reply) -> str:
    """Return a reply in a few words."""
    content = reply.content
    said = content.get("error", ", ".join(content)) if isinstance(content, dict) else "something else"
    return f"status {reply.status}, {said}"


async def in_turn(work: Sequence[Callable[[], Any]], at_once: int = CONNECTIONS) -> list[Any]:
    """Run coroutines, a few at a time, and return their results."""
    free = asyncio.Semaphore(at_once)

    async def run(one: Callable[[], Any]) -> Any:
        async with free:
            return await one()

    return list(await asyncio.gather(*(run(one) for one in work)))
