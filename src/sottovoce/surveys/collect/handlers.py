"""Handlers of requests: pages and documents for anyone, receipts for reports that are on disk."""

import asyncio
from collections.abc import Mapping

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from sottovoce.surveys.collect.app_state import AppState, RateLimit, Refusal, RefusedError
from sottovoce.surveys.collect.store import Outcome
from sottovoce.surveys.collect.writer import BusyError
from sottovoce.surveys.page.files import PageFile, page_files, release

BODY_SECONDS = 20.0
"""Time within which a request's body must arrive."""

_VARY = {"vary": "accept-encoding"}
_IMMUTABLE = {"cache-control": "public, max-age=31536000, immutable"}
_REFUSED = {Outcome.NO_INVITATION: Refusal.invitation, Outcome.OTHER_REPORT: Refusal.other_report}


async def show_page(request: Request) -> Response:
    """Return the page for respondents, the same for everyone."""
    return _file(request, (await _app_state(request).published(request)).page)


async def show_document(request: Request) -> Response:
    """Return the canonical bytes of the survey, of which its hash is computed."""
    return _file(request, (await _app_state(request).published(request)).document)


async def show_audit(request: Request) -> Response:
    """Return what the survey promises, as a page."""
    return _file(request, (await _app_state(request).published(request)).audit_page)


async def show_audit_document(request: Request) -> Response:
    """Return what the survey promises, as JSON."""
    return JSONResponse((await _app_state(request).published(request)).audit)


async def show_file(request: Request) -> Response:
    """Return a module, a style sheet or a picture of the page, which browsers may cache for good."""
    file = page_files().get(request.path_params["name"])
    if file is None or request.path_params["release"] != release():
        raise RefusedError(Refusal.not_found)
    return _file(request, file, _IMMUTABLE)


async def take_report(request: Request) -> Response:
    """Store one report, and return its receipt when it is on disk."""
    state = _app_state(request)
    _check_admitted(request, state.limit)
    published = await state.published(request)
    body = await _body(request, published.most_body_bytes)
    submission, entry = published.read_submission(body)
    if state.day() > published.survey.until:
        if not await run_in_threadpool(state.store.has, entry):
            raise RefusedError(Refusal.closed)
        return JSONResponse(published.receipt(submission), 200)  # stored in time, but the receipt did not arrive
    try:
        outcome = await state.writer.put(entry)
    except BusyError:
        raise RefusedError(Refusal.busy) from None
    if outcome in _REFUSED:
        raise RefusedError(_REFUSED[outcome])
    return JSONResponse(published.receipt(submission), 201 if outcome is Outcome.STORED else 200)


def _file(request: Request, file: PageFile, headers: Mapping[str, str] | None = None) -> Response:
    """Return a file, compressed if the browser accepts that."""
    all_headers = {**_VARY, **(headers or {})}
    if "gzip" not in request.headers.get("accept-encoding", ""):
        return Response(file.content, headers=all_headers, media_type=file.media_type)
    return Response(file.packed, headers=all_headers | {"content-encoding": "gzip"}, media_type=file.media_type)


def _app_state(request: Request) -> AppState:
    state: AppState = request.state.app_state
    return state


def _check_admitted(request: Request, limit: RateLimit) -> None:
    """Refuse requests from other sites, of other content types, and beyond the rate limit."""
    if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise RefusedError(Refusal.cross_site)
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise RefusedError(Refusal.content_type)
    if not limit.allows(request.client.host if request.client else ""):
        raise RefusedError(Refusal.slow_down)


async def _body(request: Request, most: int) -> bytes:
    """Return a body of at most so many bytes that arrives in time."""
    body = b""
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for part in request.stream():
                body += part
                if len(body) > most:
                    raise RefusedError(Refusal.too_large)
    except (TimeoutError, ClientDisconnect):  # after a disconnect nobody reads the response, and nothing is logged
        raise RefusedError(Refusal.too_slow) from None
    return body
