"""The web server: handlers of requests, routes, security headers, error pages, and how it is run."""

import asyncio
import socket
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, MutableMapping
from contextlib import asynccontextmanager, contextmanager
from datetime import date
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from sottovoce.errors import SottovoceError
from sottovoce.surveys.collect.app_state import AppState, RateLimit, Refusal, RefusedError, today
from sottovoce.surveys.collect.store import BATCH_SIZE, Outcome, Store
from sottovoce.surveys.collect.writer import BusyError, Commit, Writer
from sottovoce.surveys.page.files import PageFile, import_map, page_files, release, templates

BODY_SECONDS = 20.0
"""Time within which a request's body must arrive."""

_VARY = {"vary": "accept-encoding"}
_IMMUTABLE = {"cache-control": "public, max-age=31536000, immutable"}
_REFUSED = {Outcome.NO_INVITATION: Refusal.invitation, Outcome.OTHER_REPORT: Refusal.other_report}
CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        f"script-src 'self' '{import_map().integrity}'",  # nothing inline but the hashes of the modules
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)

HEADERS = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "integrity-policy": "blocked-destinations=(script)",  # browsers run no module whose hash the page does not state
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "cache-control": "no-store",
}
STRICT_TRANSPORT = (b"strict-transport-security", b"max-age=31536000")
_ENCODED = [(name.encode(), value.encode()) for name, value in HEADERS.items()]

Message = MutableMapping[str, Any]
Send = Callable[[Message], Awaitable[None]]
Receive = Callable[[], Awaitable[Message]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

REPORTS_PER_WINDOW = 300
"""Reports from one address within ten seconds: enough for a lecture hall behind one address, and no flood."""

LOCAL = ("127.0.0.1", "::1", "localhost")
_REFUSALS = {404: Refusal.not_found, 405: Refusal.method}


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


class SecurityHeaders:
    """Adds security headers to an application's responses, except those that a response has already."""

    def __init__(self, app: App) -> None:
        """Wrap an application."""
        self._app = app

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Call the application, and add the headers to its response."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = message["headers"] = list(message.get("headers", []))
                present = {name for name, _ in headers}
                headers += [pair for pair in _ENCODED if pair[0] not in present]
                if scope["scheme"] == "https":
                    headers.append(STRICT_TRANSPORT)
            await send(message)

        await self._app(scope, receive, send_with_headers)


def make_app(
    store: Store,
    *,
    per_window: int | None = REPORTS_PER_WINDOW,
    day: Callable[[], date] = today,
    commit: Commit | None = None,
    most: int = BATCH_SIZE,
) -> SecurityHeaders:
    """Return the web application of a database. When it stops, it stores what is queued and closes the database.

    `commit`, and `most`, the number of entries of one commit, are for benchmarks.
    """

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[dict[str, Any]]:
        writer = Writer(commit or store.commit, most=most, tidy=store.tidy)
        try:
            yield {"app_state": AppState(store, writer, RateLimit(per_window), day)}
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
            Route("/assets/{release}/{name:path}", show_file),
        ],
        exception_handlers={RefusedError: _refused, HTTPException: _http_error, Exception: _failed},
        lifespan=lifespan,
    )
    return SecurityHeaders(app)  # outermost, so that responses to failures have the headers too


async def _refused(request: Request, error: Exception) -> Response:
    return _refusal_response(request, error.refusal if isinstance(error, RefusedError) else Refusal.failed)


async def _http_error(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    return _refusal_response(request, _REFUSALS.get(status, Refusal.malformed), getattr(error, "headers", None))


async def _failed(request: Request, _error: Exception) -> Response:
    return _refusal_response(request, Refusal.failed)


def _refusal_response(request: Request, refusal: Refusal, extra: Mapping[str, str] | None = None) -> Response:
    """Return a page for browsers and JSON for programs; `extra` headers name the allowed methods."""
    headers = dict(extra or {}) | ({} if refusal.retry_after is None else {"retry-after": str(refusal.retry_after)})
    if request.method == "GET" and "text/html" in request.headers.get("accept", ""):
        page = templates().get_template("refused.html").render(reason=refusal.reason)
        return HTMLResponse(page, refusal.status, headers)
    return JSONResponse({"error": refusal.name, "reason": refusal.reason}, refusal.status, headers)


def configuration(app: Any, *, behind_proxy: bool = False) -> uvicorn.Config:
    """Return settings of uvicorn under which nothing is logged about respondents: no access log, no addresses."""
    return uvicorn.Config(
        app,
        access_log=False,
        log_level="error",  # at lower levels, uvicorn logs requests that it could not read
        server_header=False,
        date_header=False,
        lifespan="on",
        ws="none",
        proxy_headers=behind_proxy,
        timeout_graceful_shutdown=30,
    )


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket; port 0 takes any free port."""
    # The protocol is given because asyncio turns off Nagle's algorithm, 40 ms a response, only if it is.
    kind = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(kind, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        listening.listen(2048)
    except OSError as reason:
        listening.close()
        rule = f"must be free to listen on ({reason.strerror or reason})"
        raise SottovoceError("host and port", rule, f"{host}:{port}") from None
    return listening


def address_of(listening: socket.socket) -> str:
    """Return the address of a listening socket, as links begin."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def serve(app: Any, listening: socket.socket, *, behind_proxy: bool = False) -> None:
    """Serve until an interrupt or a termination signal; open requests are finished first."""
    uvicorn.Server(configuration(app, behind_proxy=behind_proxy)).run(sockets=[listening])


@contextmanager
def running(app: Any, listening: socket.socket) -> Iterator[str]:
    """Serve in a thread while the block runs; yields the server's address."""
    server = uvicorn.Server(configuration(app))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, name="survey server")
    thread.start()
    try:
        while not server.started and thread.is_alive():
            time.sleep(0.01)
        yield address_of(listening)
    finally:
        server.should_exit = True
        thread.join()
        listening.close()
