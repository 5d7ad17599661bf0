"""The application as a server calls it, without sockets, and a judge of all its answers and of what it stores."""

import asyncio
import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any
from urllib.parse import unquote

from sqlalchemy import text

from sottovoce.surveys.collect.app_state import Refusal
from sottovoce.surveys.collect.database import lock_reports, reading
from sottovoce.surveys.collect.server import HEADERS, make_app
from sottovoce.surveys.collect.store import Store
from sottovoce.surveys.definition.definition import survey_from_text
from sottovoce.surveys.definition.presentation import Logo, Presentation
from sottovoce.surveys.definition.survey import Survey
from sottovoce.surveys.report import ReportFormat

MODERN = """
title: Honesty in our ward
asker: Institute of Examples
purpose: To learn how common it is.
until: 2999-12-31
invitation: open
odds: 9:1
questions:
  - {id: ward, kind: single, public: true, text: Ward, answers: [north, south, east]}
  - {id: sick, kind: yes_no, text: Sick, decline: true}
  - {id: days, kind: number, text: Days, edges: [1, 3, inf], when: {sick: yes}}
  - {id: feel, kind: matrix, text: How, steps: 3, ends: [bad, good], items: {work: Work, pay: Pay}}
"""
"""A survey with a public question, scales and answers that are picked."""

LOGO = Logo.of(b"\x89PNG\r\n\x1a\n")
COUNTS = text(
    "SELECT (SELECT count(*) FROM invitations WHERE blinded IS NULL),"
    " (SELECT count(*) FROM inbox) + (SELECT count(*) FROM reports_0)"
)
REFUSALS = {refusal.name: refusal for refusal in Refusal}


@dataclass
class Sent:
    """A request as it reaches the application, its body in parts; who hangs up does not send the last one."""

    path: str
    parts: list[bytes]
    method: str = "POST"
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)
    query: bytes = b""
    scheme: str = "http"
    client: tuple[str, int] | None = ("203.0.113.7", 1)
    hangs_up: bool = False


class App:
    """The application over a database, in a loop and a thread of its own."""

    def __init__(self, store: Store, **settings: Any) -> None:
        self._pool, self._runner, self._state = ThreadPoolExecutor(1), asyncio.Runner(), {}
        self._app = make_app(store, **{"per_window": None} | settings)
        self._pool.submit(self._runner.run, self._start()).result()

    def close(self) -> None:
        self._pool.submit(self._runner.run, self._stop()).result()
        self._pool.submit(self._runner.close).result()
        self._pool.shutdown()

    def ask(self, sent: Sent) -> tuple[int, dict[str, str], bytes]:
        return self._pool.submit(self._runner.run, self._ask(sent)).result()

    async def _start(self) -> None:
        self._received, self._sent = asyncio.Queue(), asyncio.Queue()
        scope = {"type": "lifespan", "asgi": {"version": "3.0"}, "state": self._state}
        self._life = asyncio.create_task(self._app(scope, self._received.get, self._sent.put))
        await self._received.put({"type": "lifespan.startup"})
        assert (await self._sent.get())["type"] == "lifespan.startup.complete"

    async def _stop(self) -> None:
        await self._received.put({"type": "lifespan.shutdown"})
        await self._life

    async def _ask(self, sent: Sent) -> tuple[int, dict[str, str], bytes]:
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": sent.method,
            "scheme": sent.scheme,
            "path": unquote(sent.path),  # as uvicorn does
            "raw_path": sent.path.encode("ascii"),
            "query_string": sent.query,
            "root_path": "",
            "headers": sent.headers,
            "client": sent.client,
            "server": ("127.0.0.1", 8000),
            "state": dict(self._state),
        }
        parts, last = iter(sent.parts), len(sent.parts) - 1
        messages = [
            {"type": "http.request", "body": part, "more_body": number < last or sent.hangs_up}
            for number, part in enumerate(parts)
        ]
        waiting, answers = iter(messages), []

        async def receive() -> dict[str, Any]:
            return next(waiting, {"type": "http.disconnect"})

        async def send(message: dict[str, Any]) -> None:
            answers.append(message)

        await self._app(scope, receive, send)
        start, *rest = answers
        names = [name for name, _ in start["headers"]]
        assert len(set(names)) == len(names), names
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in start["headers"]}
        return start["status"], headers, b"".join(part["body"] for part in rest)


class Target:
    """The application, and what a sender could know: surveys, their invitations, credentials, and valid bodies."""

    def __init__(self, database: str, frozen: dict[str, Any], store: Store, bodies: dict[str, list[Any]]) -> None:
        self._store, self.surveys, self.bodies = store, frozen, bodies
        self.app = App(Store(database))
        self.ids = [survey.id for survey in frozen.values()]
        self.stored = self.count()
        self.seen: Counter[str] = Counter()

    def count(self) -> tuple[int, int]:
        """Return how many invitations are spent, counted from below zero, and how many reports are stored."""
        with reading(self._store._engine) as connection:
            lock_reports(connection)
            unspent, reports = connection.execute(COUNTS).one()
        return -unspent, reports

    def judge(self, sent: Sent, *, kind: str | None = None) -> None:
        """Send a request; check the answer, and what was stored meanwhile."""
        status, headers, body = self.app.ask(sent)
        assert status < 500, body
        assert all(headers[name] == value for name, value in HEADERS.items() if name != "cache-control")
        assert ("strict-transport-security" in headers) == (sent.scheme == "https")
        assert "set-cookie" not in headers
        if status >= 300:
            self._judge_refusal(sent, status, headers, body)
        elif kind is not None:
            assert set(json.loads(body)) == {{"check": "invitation", "admission": "signature"}.get(kind, "receipt")}
            self.seen[f"{status}"] += 1
        self._judge_storage(status, kind)

    def _judge_refusal(self, sent: Sent, status: int, headers: dict[str, str], body: bytes) -> None:
        assert headers["cache-control"] == HEADERS["cache-control"]
        if headers["content-type"].startswith("text/html"):
            assert sent.method == "GET"
            return
        answer = json.loads(body)
        assert set(answer) == {"error", "reason"}
        refusal = REFUSALS[answer["error"]]
        assert (status, answer["reason"]) == (refusal.status, refusal.reason)
        assert headers.get("retry-after") == (None if refusal.retry_after is None else str(refusal.retry_after))
        self.seen[refusal.name] += 1

    def _judge_storage(self, status: int, kind: str | None) -> None:
        """An acknowledged admission or report may repeat an earlier one; nothing else may change anything."""
        before, self.stored = self.stored, self.count()
        spent, reports = (now - then for now, then in zip(self.stored, before, strict=True))
        if status == 201:
            assert (kind, reports) == ("reports", 1)
            assert spent in (0, 1)  # with the report, where 0.1 froze the survey
        elif status == 200 and kind == "admission":
            assert reports == 0
            assert spent in (0, 1)
        else:
            assert (spent, reports) == (0, 0)


def modern_survey() -> Survey:
    """Return the survey with a logo, which is a picture by its first bytes only."""
    return replace(survey_from_text(MODERN), presentation=Presentation(logo=LOGO))


def all_codes(survey: Survey) -> list[tuple[int, ...]]:
    """All reports whose codes are in range, or one beyond it."""
    return list(product(*(range(size + 1) for size in ReportFormat(survey.plan).sizes)))


def possible_codes(survey: Survey) -> list[tuple[int, ...]]:
    """Reports with as many answers as are picked, and a public answer: from the plan's parts, not from its reader."""
    (group,) = survey.plan.groups
    sizes = group.mechanism.sizes
    public = len(survey.plan.public[0].categories)
    parts = [axes for axes, _ in group.mechanism.parts]
    columns = [[range(size) if i in axes else [size] for i, size in enumerate(sizes)] for axes in parts]
    return [codes for part in columns for codes in product(*part, range(public))]


def impossible_codes(survey: Survey) -> list[tuple[int, ...]]:
    """The others: nothing picked, or too much, or what is never picked together, or a code beyond its range."""
    return sorted(set(all_codes(survey)) - set(possible_codes(survey)))
