"""The server: hands out frozen surveys, and takes disguised reports that fit them."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import date
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from sottovoce.survey import handlers
from sottovoce.survey.batch import MOST
from sottovoce.survey.desk import Desk, today
from sottovoce.survey.files import templates
from sottovoce.survey.headers import SecurityHeaders
from sottovoce.survey.rate import RateLimit
from sottovoce.survey.refusal import Refusal, RefusedError
from sottovoce.survey.store import Store
from sottovoce.survey.writer import Commit, Writer

REPORTS_PER_WINDOW = 300
"""Reports from one address within ten seconds: a lecture hall behind one address, but no flood."""

_STATUSES = {404: Refusal.not_found, 405: Refusal.method}


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
            Route("/s/{survey}", handlers.show_page),
            Route("/s/{survey}/page.js", handlers.show_script),
            Route("/s/{survey}/survey.json", handlers.show_document),
            Route("/s/{survey}/audit", handlers.show_audit),
            Route("/s/{survey}/audit.json", handlers.show_audit_document),
            Route("/s/{survey}/reports", handlers.take_report, methods=["POST"]),
            Route("/assets/{name:path}", handlers.show_file),
        ],
        exception_handlers={RefusedError: _refused, HTTPException: _unknown, Exception: _failed},
        lifespan=lifespan,
    )
    return SecurityHeaders(app)  # around everything, also what answers when the application fails


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
