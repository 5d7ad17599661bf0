"""Requests and what is answered: pages and documents for anyone, receipts for reports that are on disk."""

import asyncio
from collections.abc import Mapping

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from sottovoce.surveys.collect.app_state import Desk, RateLimit, Refusal, RefusedError
from sottovoce.surveys.collect.store import Outcome
from sottovoce.surveys.collect.writer import BusyError
from sottovoce.surveys.page.script import PageFile, page_files

BODY_SECONDS = 20.0
"""Time that a body may take to arrive."""

_VARY = {"vary": "accept-encoding"}
_REFUSED = {Outcome.NO_INVITATION: Refusal.invitation, Outcome.OTHER_REPORT: Refusal.other_report}


async def show_page(request: Request) -> Response:
    """The respondent's page: the same for everyone."""
    return _sent(request, (await _desk(request).published(request)).page)


async def show_script(request: Request) -> Response:
    """The script of the page."""
    return _kept(request, (await _desk(request).published(request)).script)


async def show_document(request: Request) -> Response:
    """The very bytes that the hash is of."""
    return _sent(request, (await _desk(request).published(request)).document)


async def show_audit(request: Request) -> Response:
    """What is promised, for people."""
    return _sent(request, (await _desk(request).published(request)).audit_page)


async def show_audit_document(request: Request) -> Response:
    """What is promised, for programs."""
    return JSONResponse((await _desk(request).published(request)).audit)


async def show_file(request: Request) -> Response:
    """A module, a style sheet or a picture of the page."""
    found = page_files().get(request.path_params["name"])
    if found is None:
        raise RefusedError(Refusal.not_found)
    return _kept(request, found)


async def take_report(request: Request) -> Response:
    """Store one report, and answer when it is on disk."""
    desk = _desk(request)
    _check_admitted(request, desk.limit)
    published = await desk.published(request)
    body = await _body(request, published.longest_body)
    submission, entry = published.entry(body)
    if desk.day() > published.survey.until:
        if not await run_in_threadpool(desk.store.has, entry):
            raise RefusedError(Refusal.closed)
        return JSONResponse(published.receipt(submission), 200)  # stored in time; the receipt was lost on its way
    try:
        outcome = await desk.writer.put(entry)
    except BusyError:
        raise RefusedError(Refusal.busy) from None
    if outcome in _REFUSED:
        raise RefusedError(_REFUSED[outcome])
    return JSONResponse(published.receipt(submission), 201 if outcome is Outcome.STORED else 200)


def _sent(request: Request, file: PageFile, headers: Mapping[str, str] | None = None) -> Response:
    """A file, compressed for whoever can read it so."""
    given = {**_VARY, **(headers or {})}
    if "gzip" not in request.headers.get("accept-encoding", ""):
        return Response(file.content, headers=given, media_type=file.kind)
    return Response(file.packed, headers=given | {"content-encoding": "gzip"}, media_type=file.kind)


def _kept(request: Request, file: PageFile) -> Response:
    """A file that a browser may keep; it asks each time whether that is still the one, and gets no second copy."""
    tag = f'W/"{file.hash}"'
    headers = {"cache-control": "no-cache", "etag": tag, **_VARY}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return _sent(request, file, headers)


def _desk(request: Request) -> Desk:
    desk: Desk = request.state.desk
    return desk


def _check_admitted(request: Request, limit: RateLimit) -> None:
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
    except (TimeoutError, ClientDisconnect):  # a lost connection is nothing to log; nobody reads the answer
        raise RefusedError(Refusal.too_slow) from None
    return body
