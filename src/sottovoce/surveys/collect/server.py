"""The web server: handlers of requests, routes, security headers, error pages, and how it is run."""

import asyncio
import gc
import socket
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from datetime import datetime
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from sottovoce.errors import SottovoceError
from sottovoce.surveys.collect.admissions import Admission
from sottovoce.surveys.collect.app_state import (
    SMALL_BODY,
    AppState,
    RateLimit,
    Refusal,
    RefusedError,
    blinded_hash,
    read_body,
    utc_now,
)
from sottovoce.surveys.collect.entries import Outcome
from sottovoce.surveys.collect.limited_protocol import LimitedProtocol
from sottovoce.surveys.collect.log import App, FailureLog, Message, Receive, Send, log_loop_failure
from sottovoce.surveys.collect.monitoring import show_health, show_metrics
from sottovoce.surveys.collect.prompt_server import PromptServer
from sottovoce.surveys.collect.receipts import FIRST_BYTE, ReceiptList
from sottovoce.surveys.collect.signer import SignerError
from sottovoce.surveys.collect.store import BATCH_SIZE, Store
from sottovoce.surveys.collect.writer import BusyError, Commit, Writer
from sottovoce.surveys.dashboard.app import LOGINS_PER_WINDOW, Dashboard, dashboard_routes
from sottovoce.surveys.dashboard.visit import refused_page, researchers_ask
from sottovoce.surveys.page.files import PageFile, content_security_policy, page_files, release, templates
from sottovoce.surveys.sentences import languages, preferred_language, sentences_in

BODY_SECONDS = 20.0
"""Time within which a request's body must arrive."""

_VARY = {"vary": "accept-encoding"}
_IMMUTABLE = {"cache-control": "public, max-age=31536000, immutable"}
_REFUSED = {
    Outcome.NO_INVITATION: Refusal.invitation,
    Outcome.OTHER_REPORT: Refusal.other_report,
    Outcome.CLOSED: Refusal.closed,
    Admission.SPENT: Refusal.spent,
    Admission.UNKNOWN: Refusal.unknown_invitation,
    Admission.CLOSED: Refusal.closed,
}
CONTENT_SECURITY_POLICY = content_security_policy("'none'")

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

REPORTS_PER_WINDOW = 300
"""Requests of one kind from one address within ten seconds: enough for a lecture hall, and no flood."""

_REFUSALS = {404: Refusal.not_found, 405: Refusal.method}


async def show_page(request: Request) -> Response:
    """Return the page for respondents, the same for everyone."""
    return _file(request, (await _app_state(request).published(request)).page)


async def show_document(request: Request) -> Response:
    """Return the canonical bytes of the survey, of which its hash is computed."""
    return _file(request, (await _app_state(request).published(request)).document)


async def show_logo(request: Request) -> Response:
    """Return the picture of the people who ask."""
    logo = (await _app_state(request).published(request)).logo
    if logo is None:
        raise RefusedError(Refusal.not_found)
    return _file(request, logo)


async def show_audit(request: Request) -> Response:
    """Return what the survey promises, as a page."""
    published = await _app_state(request).published(request)
    accepted = request.headers.get("accept-language", "")
    language = published.audit_language(request.query_params.get("language"), accepted)
    return _file(request, await run_in_threadpool(published.audit_page, language))  # the first takes half a second


async def show_audit_document(request: Request) -> Response:
    """Return what the survey promises, as JSON."""
    published = await _app_state(request).published(request)
    return JSONResponse(await run_in_threadpool(lambda: published.audit))


async def show_file(request: Request) -> Response:
    """Return a module, a style sheet or a picture of the page, which browsers may cache for good."""
    file = page_files().get(request.path_params["name"])
    if file is None or request.path_params["release"] != release():
        raise RefusedError(Refusal.not_found)
    return _file(request, file, _IMMUTABLE)


async def check_invitation(request: Request) -> Response:
    """Say whether an invitation can be used, without using it."""
    state = _app_state(request)
    _check_request(request, state.limits["check"])
    published = await state.published(request)
    token = published.read_check(await _body(request, SMALL_BODY))
    if not published.admits(state.now()):
        raise RefusedError(Refusal.closed)
    _check_outcome(await state.asked(state.store.invitation, published.survey.id, token))
    return JSONResponse({"invitation": "unspent"})


async def admit(request: Request) -> Response:
    """Spend an invitation for a blind signature; the same message again gets the same signature."""
    state = _app_state(request)
    _check_request(request, state.limits["admission"])
    published = await state.published(request)
    token, blinded = published.read_admission(await _body(request, SMALL_BODY))
    if not published.admits(state.now()):
        raise RefusedError(Refusal.closed)
    secret = await state.secret_key(published.survey)  # before the invitation is spent
    _check_outcome(await state.asked(state.store.admit, published.survey.id, token, blinded_hash(blinded)))
    try:
        signature = await state.signer.sign(blinded, secret)
    except SignerError:
        raise RefusedError(Refusal.busy) from None
    state.metrics.count("admissions")
    return JSONResponse({"signature": signature.hex()})


async def take_report(request: Request) -> Response:
    """Store one report, and return its receipt when it is on disk."""
    state = _app_state(request)
    _check_request(request, state.limits["report"])
    published = await state.published(request)
    receipt, entry = published.read_submission(await _body(request, published.most_body_bytes))
    if not published.takes_reports(state.now()):
        if not await state.asked(state.store.has, entry):
            raise RefusedError(Refusal.closed)
        return JSONResponse({"receipt": receipt}, 200)  # stored in time, but the receipt did not arrive
    try:
        outcome = await state.writer.put(entry)
    except BusyError:
        raise RefusedError(Refusal.busy) from None
    _check_outcome(outcome)
    if outcome is not Outcome.STORED:
        return JSONResponse({"receipt": receipt}, 200)
    state.metrics.count("reports")
    return JSONResponse({"receipt": receipt}, 201)


async def list_receipts(request: Request) -> Response:
    """Return all receipts of a survey, or their number alone if they are so many that parts of them hide who asks."""
    listed = await _receipts(request)
    return Response(listed.whole, media_type="application/json")


async def list_part_of_receipts(request: Request) -> Response:
    """Return the receipts of a survey that begin with a byte."""
    first = request.path_params["first"]
    if not FIRST_BYTE.fullmatch(first):
        raise RefusedError(Refusal.not_found)
    listed = await _receipts(request)
    return Response(listed.part(first), media_type="application/json")


async def _receipts(request: Request) -> ReceiptList:
    state = _app_state(request)
    _check_rate(request, state.limits["receipts"])
    return await state.receipts((await state.published(request)).survey.id)


def _check_outcome(outcome: Outcome | Admission) -> None:
    if outcome in _REFUSED:
        raise RefusedError(_REFUSED[outcome])


def _file(request: Request, file: PageFile, headers: Mapping[str, str] | None = None) -> Response:
    """Return a file, compressed if the browser accepts that."""
    all_headers = {**_VARY, **(headers or {})}
    parts = [part.replace(" ", "").partition(";q=") for part in request.headers.get("accept-encoding", "").split(",")]
    accepted = {name for name, _, weight in parts if weight.strip("0.") or not weight}
    encoding = next((name for name in file.packed if name in accepted), None)
    if encoding is None:
        return Response(file.content, headers=all_headers, media_type=file.media_type)
    all_headers["content-encoding"] = encoding
    return Response(file.packed[encoding], headers=all_headers, media_type=file.media_type)


def _app_state(request: Request) -> AppState:
    state: AppState = request.state.app_state
    return state


def _check_request(request: Request, limit: RateLimit) -> None:
    """Refuse requests from other sites, of other content types, and beyond the rate limit."""
    if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise RefusedError(Refusal.cross_site)
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise RefusedError(Refusal.content_type)
    _check_rate(request, limit)


def _check_rate(request: Request, limit: RateLimit) -> None:
    if not limit.allows(request.client.host if request.client else ""):
        raise RefusedError(Refusal.slow_down)


async def _body(request: Request, most: int) -> bytes:
    return await read_body(request, most, BODY_SECONDS)


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
    now: Callable[[], datetime] = utc_now,
    respondents_only: bool = False,
    metrics: bool = False,
    logins_per_window: int | None = LOGINS_PER_WINDOW,
    commit: Commit | None = None,
    most: int = BATCH_SIZE,
) -> SecurityHeaders:
    """Return the web application of a database. When it stops, it stores what is queued and closes the database.

    `respondents_only` leaves out the researchers' dashboard, `metrics` adds a page for those who watch the server.
    `commit`, and `most`, the number of entries of one commit, are for benchmarks. Behind a proxy, `Forwarded` wraps it.
    """
    dashboard = None if respondents_only else Dashboard(store, logins_per_window, lambda: now().timestamp())

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[dict[str, Any]]:
        asyncio.get_running_loop().set_exception_handler(log_loop_failure)
        writer = Writer(commit or store.commit, most=most, tidy=store.tidy)
        try:
            state = AppState(store, writer, per_window, now, dashboard)
            yield {"app_state": state}
            await state.signer.close()
        finally:
            if dashboard is not None:
                await run_in_threadpool(dashboard.close)
            await run_in_threadpool(writer.close)
            store.close()

    app = Starlette(
        routes=[  # are tried in this order
            Route("/s/{survey}/reports", take_report, methods=["POST"]),
            Route("/s/{survey}/admission", admit, methods=["POST"]),
            Route("/s/{survey}/check", check_invitation, methods=["POST"]),
            Route("/s/{survey}/receipts", list_receipts),
            Route("/s/{survey}/receipts/{first}", list_part_of_receipts),
            Route("/s/{survey}", show_page),
            Route("/s/{survey}/survey.json", show_document),
            Route("/s/{survey}/logo", show_logo),
            Route("/s/{survey}/audit", show_audit),
            Route("/s/{survey}/audit.json", show_audit_document),
            Route("/assets/{release}/{name:path}", show_file),
            Route("/health", show_health),
            *([Route("/metrics", show_metrics)] if metrics else []),
            *(() if dashboard is None else dashboard_routes()),
        ],
        exception_handlers={RefusedError: _refused, HTTPException: _http_error, Exception: _failed},
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False  # to the host that a request names, which anyone can make up
    return SecurityHeaders(FailureLog(app))  # outermost, so that responses to failures have the headers too


async def _refused(request: Request, error: Exception) -> Response:
    return _refusal_response(request, error.refusal if isinstance(error, RefusedError) else Refusal.failed)


async def _http_error(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    return _refusal_response(request, _REFUSALS.get(status, Refusal.malformed), getattr(error, "headers", None))


async def _failed(request: Request, _error: Exception) -> Response:
    return _refusal_response(request, Refusal.failed)


def _refusal_response(request: Request, refusal: Refusal, extra: Mapping[str, str] | None = None) -> Response:
    """Return a page for browsers and JSON for programs; `extra` headers name the allowed methods."""
    counted = _app_state(request).metrics
    if refusal is Refusal.failed:
        counted.count("faults")
    else:
        counted.refuse(refusal.status)
    if researchers_ask(request):
        return refused_page(request, refusal, extra)
    headers = dict(extra or {}) | refusal.headers
    if request.method == "GET" and "text/html" in request.headers.get("accept", ""):
        return HTMLResponse(_refusal_page(request, refusal), refusal.status, headers)
    return JSONResponse({"error": refusal.name, "reason": refusal.reason}, refusal.status, headers)


def _refusal_page(request: Request, refusal: Refusal) -> str:
    """Return a page with the reason; those who look for a survey are told whom to ask, in a language they accept."""
    template = templates().get_template("refused.html")
    if refusal is not Refusal.unknown_survey:
        return template.render(reason=refusal.reason, advice=None, language="en", direction="ltr")
    say = sentences_in(preferred_language(request.headers.get("accept-language", ""), languages()) or "en")
    context = {"language": say.language, "direction": say.direction}
    return template.render(context, reason=say("unknown_survey"), advice=say("ask_sender"))


def configuration(app: Any) -> uvicorn.Config:
    """Return settings of uvicorn under which nothing is logged about respondents: no access log, no addresses."""
    return uvicorn.Config(
        app,
        access_log=False,
        log_level="error",  # at lower levels, uvicorn logs requests that it could not read
        server_header=False,
        date_header=False,
        lifespan="on",
        http=LimitedProtocol,
        loop="asyncio",  # uvicorn would prefer uvloop where it is installed, which is no faster here
        ws="none",
        proxy_headers=False,  # see `forwarded`
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
    """Return the address of a listening socket, as links begin; that of this machine if it listens on all of them."""
    host, port = listening.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104  # is not listened on here
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def serve(app: Any, listening: socket.socket) -> None:
    """Serve until an interrupt or a termination signal; open requests are finished first."""
    gc.collect()
    gc.freeze()  # what is loaded now stays, and need not be searched for garbage under load
    PromptServer(configuration(app)).run(sockets=[listening])


@contextmanager
def running(app: Any, listening: socket.socket) -> Iterator[str]:
    """Serve in a thread while the block runs; yields the server's address."""
    server = PromptServer(configuration(app))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, name="survey server")
    thread.start()
    try:
        server.begun.wait()
        yield address_of(listening)
    finally:
        server.end()
        thread.join()
        listening.close()
