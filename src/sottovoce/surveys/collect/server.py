"""The server: hands out frozen surveys, takes disguised reports that fit them, runs until told to stop."""

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
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from sottovoce.errors import SottovoceError
from sottovoce.surveys.collect import handlers
from sottovoce.surveys.collect.app_state import Desk, RateLimit, Refusal, RefusedError, today
from sottovoce.surveys.collect.store import MOST, Store
from sottovoce.surveys.collect.writer import Commit, Writer
from sottovoce.surveys.page.script import templates

CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
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
"""Reports from one address within ten seconds: a lecture hall behind one address, but no flood."""

_STATUSES = {404: Refusal.not_found, 405: Refusal.method}
LOCAL = ("127.0.0.1", "::1", "localhost")


class SecurityHeaders:
    """Adds the headers to whatever an application answers, unless it set one of them itself."""

    def __init__(self, app: App) -> None:
        """Wrap an application."""
        self._app = app

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Pass everything on, with the headers."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = message["headers"] = list(message.get("headers", []))
                there = {name for name, _ in own}
                own += [pair for pair in _ENCODED if pair[0] not in there]
                if scope["scheme"] == "https":
                    own.append(STRICT_TRANSPORT)
            await send(message)

        await self._app(scope, receive, send_with_headers)


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
    return _answer(request, _STATUSES.get(status, Refusal.malformed), getattr(error, "headers", None))


async def _failed(request: Request, _error: Exception) -> Response:
    return _answer(request, Refusal.failed)


def _answer(request: Request, refusal: Refusal, given: Mapping[str, str] | None = None) -> Response:
    """A page for people who followed a link, JSON for programs; a wrong method is told the right ones."""
    headers = dict(given or {}) | ({} if refusal.retry_after is None else {"retry-after": str(refusal.retry_after)})
    if request.method == "GET" and "text/html" in request.headers.get("accept", ""):
        page = templates().get_template("refused.html").render(reason=refusal.reason)
        return HTMLResponse(page, refusal.status, headers)
    return JSONResponse({"error": refusal.name, "reason": refusal.reason}, refusal.status, headers)


def configuration(app: Any, *, behind_proxy: bool = False) -> uvicorn.Config:
    """Settings under which nothing is logged about who asks: no access log, no addresses."""
    return uvicorn.Config(
        app,
        access_log=False,
        log_level="error",  # below that, uvicorn tells of requests that it could not read
        server_header=False,
        date_header=False,
        lifespan="on",
        ws="none",
        proxy_headers=behind_proxy,
        timeout_graceful_shutdown=30,
    )


def listen(host: str, port: int) -> socket.socket:
    """A socket to serve on; port 0 takes any that is free."""
    # The protocol is named because asyncio turns Nagle's delay off only where it is: 40 ms an answer.
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
    """Address of a listening socket, as it stands in links."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def serve(app: Any, listening: socket.socket, *, behind_proxy: bool = False) -> None:
    """Serve until an interrupt or a termination signal; requests and reports under way are finished."""
    uvicorn.Server(configuration(app, behind_proxy=behind_proxy)).run(sockets=[listening])


@contextmanager
def running(app: Any, listening: socket.socket) -> Iterator[str]:
    """Serve in a thread for as long as the block lasts; yields the server's address."""
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
