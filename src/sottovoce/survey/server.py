"""The server: hands out frozen surveys, and takes disguised reports that fit them."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from sottovoce.survey.batch import MOST, Outcome
from sottovoce.survey.files import page_files, templates
from sottovoce.survey.headers import SecurityHeaders
from sottovoce.survey.published import Published
from sottovoce.survey.rate import RateLimit
from sottovoce.survey.refusal import Refusal, RefusedError
from sottovoce.survey.store import Store
from sottovoce.survey.writer import BusyError, Commit, Writer

BODY_SECONDS = 20.0
"""Time that a body may take to arrive."""

REPORTS_PER_WINDOW = 300
"""Reports from one address within ten seconds: a lecture hall behind one address, but no flood."""

_REFUSED = {Outcome.NO_INVITATION: Refusal.invitation, Outcome.OTHER_REPORT: Refusal.other_report}
_STATUSES = {404: Refusal.not_found, 405: Refusal.method}


def today() -> date:
    """Day in UTC: the only time the server looks at."""
    return datetime.now(UTC).date()


class Desk:
    """What the requests share: the store, its writer, the surveys read so far, and the limit on reports."""

    def __init__(self, store: Store, writer: Writer, limit: RateLimit, day: Callable[[], date]) -> None:
        """Start with no survey read."""
        self.store, self.writer, self.limit, self.day = store, writer, limit, day
        self._published: dict[str, Published] = {}

    async def published(self, request: Request) -> Published:
        """Survey that an address names; frozen surveys never change, so it is read once."""
        name = request.path_params["survey"]
        if name not in self._published:
            survey = await run_in_threadpool(self.store.survey, name)
            if survey is None:
                raise RefusedError(Refusal.unknown_survey)
            self._published[name] = Published(survey)
        return self._published[name]


def make_app(
    store: Store,
    *,
    per_window: int | None = REPORTS_PER_WINDOW,
    day: Callable[[], date] = today,
    commit: Commit | None = None,
    most: int = MOST,
) -> SecurityHeaders:
    """Application over a store; when it stops, it finishes what is queued and closes the store.

    `commit` and `most`, the entries of one commit, are for measurements.
    """

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[dict[str, Any]]:
        writer = Writer(commit or store.commit, most=most, tidy=store.tidy)
        try:
            yield {"desk": Desk(store, writer, RateLimit(per_window), day)}
        finally:
            await run_in_threadpool(writer.close)
            store.close()

    app = Starlette(
        routes=[
            Route("/s/{survey}", show_page),
            Route("/s/{survey}/survey.json", show_document),
            Route("/s/{survey}/audit", show_audit),
            Route("/s/{survey}/audit.json", show_audit_document),
            Route("/s/{survey}/reports", take_report, methods=["POST"]),
            Route("/assets/{name:path}", show_file),
        ],
        exception_handlers={RefusedError: _refused, HTTPException: _unknown, Exception: _failed},
        lifespan=lifespan,
    )
    return SecurityHeaders(app)  # around everything, also what answers when the application fails


async def show_page(request: Request) -> Response:
    """The respondent's page: the same for everyone."""
    return HTMLResponse((await _desk(request).published(request)).page)


async def show_document(request: Request) -> Response:
    """The very bytes that the hash is of."""
    return Response((await _desk(request).published(request)).survey.document, media_type="application/json")


async def show_audit(request: Request) -> Response:
    """What is promised, for people."""
    return HTMLResponse((await _desk(request).published(request)).audit_page)


async def show_audit_document(request: Request) -> Response:
    """What is promised, for programs."""
    return JSONResponse((await _desk(request).published(request)).audit)


async def show_file(request: Request) -> Response:
    """A script or a style sheet of the page."""
    found = page_files().get(request.path_params["name"])
    if found is None:
        raise RefusedError(Refusal.not_found)
    headers = {"cache-control": "no-cache", "vary": "accept-encoding"}
    if "gzip" not in request.headers.get("accept-encoding", ""):
        return Response(found.content, headers=headers, media_type=found.kind)
    return Response(found.packed, headers=headers | {"content-encoding": "gzip"}, media_type=found.kind)


async def take_report(request: Request) -> Response:
    """Store one report, and answer when it is on disk."""
    desk = _desk(request)
    _check_origin(request, desk.limit)
    published = await desk.published(request)
    body = await _body(request, published.longest_body)
    submission, entry = published.entry(body, desk.day())
    try:
        outcome = await desk.writer.put(entry)
    except BusyError:
        raise RefusedError(Refusal.busy) from None
    if outcome in _REFUSED:
        raise RefusedError(_REFUSED[outcome])
    return JSONResponse(published.receipt(submission), 201 if outcome is Outcome.STORED else 200)


def _desk(request: Request) -> Desk:
    desk: Desk = request.state.desk
    return desk


def _check_origin(request: Request, limit: RateLimit) -> None:
    """Whether the request may come at all: its origin, its kind, and how many there were."""
    if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise RefusedError(Refusal.cross_site)
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise RefusedError(Refusal.content_type)
    if not limit.allows(request.client.host if request.client else ""):
        raise RefusedError(Refusal.slow_down)


async def _body(request: Request, longest: int) -> bytes:
    """Body of a bounded length that arrives in bounded time."""
    body = b""
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for part in request.stream():
                body += part
                if len(body) > longest:
                    raise RefusedError(Refusal.too_large)
    except TimeoutError:
        raise RefusedError(Refusal.too_slow) from None
    return body


async def _refused(request: Request, error: Exception) -> Response:
    return _answer(request, error.refusal if isinstance(error, RefusedError) else Refusal.failed)


async def _unknown(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    return _answer(request, _STATUSES.get(status, Refusal.malformed))


async def _failed(request: Request, _error: Exception) -> Response:
    return _answer(request, Refusal.failed)


def _answer(request: Request, refusal: Refusal) -> Response:
    """A page for people who followed a link, JSON for programs."""
    headers = {} if refusal.retry_after is None else {"retry-after": str(refusal.retry_after)}
    if request.method == "GET" and "text/html" in request.headers.get("accept", ""):
        page = templates().get_template("refused.html").render(reason=refusal.reason)
        return HTMLResponse(page, refusal.status, headers)
    return JSONResponse({"error": refusal.name, "reason": refusal.reason}, refusal.status, headers)
