"""How a researcher's request is handled: its session, its role, protection against forged requests, and mistakes.

A handler is a plain function that takes a `Visit` and returns a response. It runs in a thread of its own, after all
checks: `route` says who may come.
"""

import json
import logging
import re
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote

from jinja2 import Environment
from python_multipart.multipart import parse_options_header
from sqlalchemy.exc import DataError, SQLAlchemyError
from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from sottovoce.errors import SottovoceError
from sottovoce.surveys.collect.app_state import ID, AppState, Refusal, RefusedError, read_body
from sottovoce.surveys.collect.log import place_of
from sottovoce.surveys.collect.store import Store
from sottovoce.surveys.dashboard.accounts import Role, Session, same_token
from sottovoce.surveys.dashboard.charts import percent
from sottovoce.surveys.definition.survey import Survey
from sottovoce.surveys.page.files import MEDIA_TYPES, PageFile, new_templates
from sottovoce.surveys.page.files import address as page_address

if TYPE_CHECKING:
    from sottovoce.surveys.dashboard.app import Dashboard

HOME = "/research"
"""Path below which everything for researchers lies."""

COOKIE = "sottovoce_session"
MOST_BYTES = 4 * 2**20
"""Most bytes of a form, files included."""

MOST_BYTES_OF_STRANGERS = 64 * 2**10
MOST_FIELDS = 5000
MOST_FILES = 4
FORM_SECONDS = 60.0
"""Time within which a form must arrive."""

HOST = re.compile(r"[A-Za-z0-9.-]+(:[0-9]{1,5})?|\[[0-9A-Fa-f:.]+\](:[0-9]{1,5})?")
NEXT = re.compile(rf"{HOME}([/?][A-Za-z0-9._~/?=&%+,:@-]*)?")
"""Pages to which a login leads."""

FOLDER = Path(__file__).parent
CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "frame-src 'self'",  # the preview of the respondents' page
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)
HEADERS = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "referrer-policy": "same-origin",  # without any, browsers do not say where a form comes from
    "cache-control": "no-store",
}
_REASONS = {
    Refusal.malformed: "The request could not be read.",
    Refusal.cross_site: "The form did not come from this page, or the page is too old. Reload it and try again.",
    Refusal.too_slow: "The form took too long to arrive.",
    Refusal.too_large: "The form, or the file in it, is too large.",
    Refusal.content_type: "This is not a form as browsers send it.",
    Refusal.slow_down: "There are too many attempts. Wait for ten seconds and try again.",
    Refusal.failed: "Something went wrong here. Try again, and if it happens again, tell those who run this server.",
    Refusal.busy: "The database did not answer in time. Try again in a moment.",
}
"""Why requests are refused, where the words for respondents' devices do not fit."""

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Visit:
    """One request of a researcher: who asks, what they sent, and the state that requests share."""

    request: Request
    dashboard: "Dashboard"
    state: AppState
    session: Session | None = None
    form: FormData = field(default_factory=FormData)
    files: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def store(self) -> Store:
        """The database of surveys."""
        return self.state.store

    @property
    def path(self) -> str:
        """Path of the address, as the browser shows it."""
        return quote(self.request.scope["path"])

    @property
    def secure(self) -> bool:
        """Whether the browser uses HTTPS, as the server, its proxy, or the browser itself says."""
        origin = self.request.headers.get("origin", "")
        return self.request.scope["scheme"] == "https" or origin.startswith("https://")

    @property
    def server(self) -> str:
        """Address of this server as the browser knows it, for links."""
        host = self.request.headers.get("host", "")
        if not HOST.fullmatch(host):
            raise RefusedError(Refusal.malformed)
        return f"{'https' if self.secure else 'http'}://{host}"

    @property
    def role(self) -> int:
        """What the visitor may do; 0 without a session."""
        return 0 if self.session is None else self.session.role

    @property
    def account(self) -> str:
        """Name of the visitor's account."""
        return "" if self.session is None else self.session.account

    @property
    def mark(self) -> str:
        """Which of the account's sessions this is; nothing without a session."""
        return "" if self.session is None else self.session.mark

    def part(self, name: str) -> str:
        """Return a part of the address."""
        return str(self.request.path_params[name])

    def text(self, name: str, default: str = "") -> str:
        """Return a text field of the form, or of the address's query where nothing was posted."""
        value = (self.form if self.request.method == "POST" else self.request.query_params).get(name, default)
        return value if isinstance(value, str) else default

    def survey(self) -> Survey:
        """Return the frozen survey that the address names."""
        name = self.part("survey")
        survey = self.store.survey(name) if ID.fullmatch(name) else None
        if survey is None:
            raise RefusedError(Refusal.unknown_survey)
        return survey

    def page(self, template: str, status: int = 200, **context: Any) -> Response:
        """Return a page: a template of the dashboard with its context."""
        return HTMLResponse(self.render(template, **context), status)

    def render(self, template: str, **context: Any) -> str:
        """Return the text of a page."""
        own = {
            "home": HOME,
            "account": self.account,
            "role": self.role,
            "roles": Role,
            "csrf": "" if self.session is None else self.session.csrf,
            "path": self.path,
            "survey": None,
        }
        return templates().get_template(template).render(own | context)

    def to(self, path: str) -> Response:
        """Send the browser to another page of the dashboard, after a change."""
        return RedirectResponse(f"{HOME}{path}", 303)


Handler = Callable[[Visit], Response]


def route(path: str, handler: Handler, *, role: Role | None = Role.READER, post: bool = False) -> Route:
    """Return the route of a page, or of a change (`post`), for those with at least a role; None needs no session."""
    return Route(f"{HOME}{path}", _Endpoint(handler, role), methods=["POST"] if post else ["GET"])


class _Endpoint:
    """Checks a request, and lets its handler answer it."""

    def __init__(self, handler: Handler, role: Role | None) -> None:
        self.handler, self.role = handler, role

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        request = Request(scope, receive)
        state: AppState = request.state.app_state
        response = await self._response(Visit(request, state.dashboard, state))
        await _with_headers(response)(scope, receive, send)

    async def _response(self, visit: Visit) -> Response:
        """Return the handler's answer, or a page that says why there is none."""
        post = visit.request.method == "POST"
        try:
            if post:
                check_origin(visit.request)
            visit = replace(visit, session=await visit.dashboard.in_thread(_session, visit))
            if self.role is not None and visit.session is None:
                return _log_in_first(visit)
            if self.role is not None and visit.role < self.role:
                return mistake_page(visit, f"This needs an account that is {self.role.label} at least.", 403)
            if post:
                form, files = await _read_form(visit.request, known=self.role is not None)
                visit = replace(visit, form=form, files=files)
                _check_token(visit)
            return await visit.dashboard.in_thread(self.handler, visit, door=self.role is None and post)
        except Exception as error:  # whatever it is, the page is ours
            return _failed(visit, error)


def _with_headers(response: Response) -> Response:
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    return response


def _failed(visit: Visit, error: Exception) -> Response:
    """Answer a request of which nothing came; log what is not the visitor's mistake."""
    if isinstance(error, SottovoceError):
        return mistake_page(visit, str(error))
    if isinstance(error, RefusedError):
        return _refused(visit, error.refusal)
    if isinstance(error, DataError):  # a text that the database cannot store
        return _refused(visit, Refusal.malformed)
    visit.state.metrics.count("faults")
    _LOG.error("A page for researchers failed: %s", place_of(error))
    return _refused(visit, Refusal.busy if isinstance(error, SQLAlchemyError) else Refusal.failed)


def _session(visit: Visit) -> Session | None:
    secret = visit.request.cookies.get(COOKIE)
    return None if secret is None else visit.dashboard.accounts.session(secret)


def check_origin(request: Request) -> None:
    """Refuse changes that pages of other sites ask for: browsers say where a request comes from."""
    host, origin = request.headers.get("host", ""), request.headers.get("origin")
    own = {f"https://{host}", f"https://{host.removesuffix(':443')}"}
    if request.scope["scheme"] != "https":  # or a proxy does not say so
        own |= {f"http://{host}", f"http://{host.removesuffix(':80')}"}
    site = request.headers.get("sec-fetch-site", "same-origin")
    if origin not in (None, *own) or site not in ("same-origin", "none"):
        raise RefusedError(Refusal.cross_site)


async def _read_form(request: Request, *, known: bool) -> tuple[FormData, dict[str, bytes]]:
    """Return the fields of a form, and its files with their content."""
    most = MOST_BYTES if known else MOST_BYTES_OF_STRANGERS
    body = await read_body(request, most, FORM_SECONDS)
    kind, options = parse_options_header(request.headers.get("content-type"))
    if kind == b"application/x-www-form-urlencoded":
        return _fields(body), {}
    if kind == b"multipart/form-data" and options.get(b"charset", b"utf-8").lower() == b"utf-8":
        form = await _parts(request, options.get(b"boundary", b""), body)
        try:
            uploads = {name: value for name, value in form.items() if isinstance(value, UploadFile)}
            return form, {name: await upload.read() for name, upload in uploads.items()}
        finally:
            await form.close()
    if body:
        raise RefusedError(Refusal.content_type)
    return FormData(), {}


def _fields(body: bytes) -> FormData:
    try:
        fields = parse_qsl(body.decode(), keep_blank_values=True, errors="strict", max_num_fields=MOST_FIELDS)
    except ValueError:
        raise RefusedError(Refusal.malformed) from None
    return FormData([*fields])


async def _parts(request: Request, boundary: bytes, body: bytes) -> FormData:
    async def stream() -> AsyncGenerator[bytes, None]:
        yield body

    if not boundary or b"--" + boundary + b"--" not in body:  # it has no end
        raise RefusedError(Refusal.malformed)
    limits = {"max_files": MOST_FILES, "max_fields": MOST_FIELDS, "max_part_size": MOST_BYTES}
    try:
        return await MultiPartParser(request.headers, stream(), **limits).parse()
    except MultiPartException:
        raise RefusedError(Refusal.malformed) from None


def _check_token(visit: Visit) -> None:
    """Refuse a change without the token of the session, which pages of other sites cannot know."""
    given = visit.request.headers.get("x-csrf-token") or visit.text("csrf")
    if visit.session is not None and not same_token(given, visit.session.csrf):
        raise RefusedError(Refusal.cross_site)


def _log_in_first(visit: Visit) -> Response:
    """Answer a request without a session: programs are told so, people are asked to log in and brought back."""
    request = visit.request
    if _wants_json(request):
        return JSONResponse({"error": "session", "reason": "Log in again; nothing was changed."}, 401)
    if request.method == "POST":
        return RedirectResponse(f"{HOME}/login?next={HOME}", 303)
    if request.headers.get("sec-fetch-site") == "cross-site":
        # Somebody followed a link on another site, for which browsers keep the cookie back: let our own page ask again.
        return visit.page("again.html")
    query = request.scope["query_string"].decode("latin-1")
    wanted = next_page(f"{visit.path}?{query}" if query else visit.path)
    return RedirectResponse(f"{HOME}/login?next={quote(wanted)}", 303)


def next_page(wanted: str) -> str:
    """Return where to go after a login: a page of the dashboard, whatever an address says."""
    return wanted if NEXT.fullmatch(wanted) and ".." not in wanted else HOME


def researchers_ask(request: Request) -> bool:
    """Return whether a request is for the dashboard, and there is one."""
    state: AppState = request.state.app_state
    path: str = request.scope["path"]
    return state.dashboard is not None and (path == HOME or path.startswith(f"{HOME}/"))


def refused_page(request: Request, refusal: Refusal, extra: Mapping[str, str] | None = None) -> Response:
    """Return why a request for the dashboard is refused that none of its routes has answered."""
    state: AppState = request.state.app_state
    response = _refused(Visit(request, state.dashboard, state), refusal)
    response.headers.update(extra or {})
    return _with_headers(response)


def _refused(visit: Visit, refusal: Refusal) -> Response:
    reason = _REASONS.get(refusal, refusal.reason)
    response = mistake_page(visit, reason, refusal.status, refusal.name)
    response.headers.update(refusal.headers)
    return response


def mistake_page(visit: Visit, reason: str, status: int = 422, error: str = "mistake") -> Response:
    """Answer with the reason why something cannot be done."""
    if _wants_json(visit.request):
        return JSONResponse({"error": error, "reason": reason}, status)
    return visit.page("mistake.html", status, reason=reason, unchanged=status < 500)


def _wants_json(request: Request) -> bool:
    return "application/json" in request.headers.get("accept", "")


def to_script(value: Any) -> str:
    """Return JSON that can stand inside of a page, where `<` would end it."""
    return json.dumps(value, ensure_ascii=True).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


@cache
def files() -> dict[str, PageFile]:
    """Scripts, styles and pictures of the dashboard by name."""
    paths = sorted(path for path in (FOLDER / "files").iterdir() if path.suffix in MEDIA_TYPES)
    return {path.name: PageFile(path.read_bytes(), MEDIA_TYPES[path.suffix]) for path in paths}


@cache
def release() -> str:
    """Hash of all files, which is part of their addresses, so that browsers can keep them."""
    return sha256("".join(file.hash for file in files().values()).encode()).hexdigest()[:16]


def address(name: str) -> str:
    """Path of a file of the dashboard."""
    return f"{HOME}/files/{release()}/{name}"


@cache
def templates() -> Environment:
    """Templates of the dashboard, with everything escaped and nothing left undefined."""
    environment = new_templates(FOLDER / "templates")
    environment.globals |= {"address": address, "files": files(), "icon": page_address("icon.svg")}
    environment.filters |= {"script": to_script, "percent": percent}
    return environment
