"""How a researcher's request is handled: its session, its role, protection against forged requests, and mistakes.

A handler is a plain function that takes a `Visit` and returns a response. It runs in a thread of its own, after all
checks: `route` says who may come.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from sqlalchemy.exc import SQLAlchemyError
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from sottovoce.errors import SottovoceError
from sottovoce.surveys.collect.app_state import AppState, Refusal, RefusedError
from sottovoce.surveys.collect.store import Store
from sottovoce.surveys.dashboard.accounts import Role, Session, same_token
from sottovoce.surveys.definition.survey import Survey
from sottovoce.surveys.page.files import MEDIA_TYPES, PageFile
from sottovoce.surveys.page.files import address as page_address

if TYPE_CHECKING:
    from sottovoce.surveys.dashboard.app import Dashboard

HOME = "/research"
"""Path below which everything for researchers lies."""

COOKIE = "sottovoce_session"
MOST_BYTES = 4 * 2**20
"""Most bytes of a form, files included."""

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
    def role(self) -> int:
        """What the visitor may do; 0 without a session."""
        return 0 if self.session is None else self.session.role

    @property
    def account(self) -> str:
        """Name of the visitor's account."""
        return "" if self.session is None else self.session.account

    def part(self, name: str) -> str:
        """Return a part of the address."""
        return str(self.request.path_params[name])

    def text(self, name: str, default: str = "") -> str:
        """Return a text field of the form, or of the address's query where nothing was posted."""
        value = (self.form if self.request.method == "POST" else self.request.query_params).get(name, default)
        return value if isinstance(value, str) else default

    def survey(self) -> Survey:
        """Return the frozen survey that the address names."""
        survey = self.store.survey(self.part("survey"))
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
            "path": self.request.url.path,
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
        self._handler, self._role = handler, role

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        request = Request(scope, receive)
        state: AppState = request.state.app_state
        visit = Visit(request, state.dashboard, state)
        try:
            response = await self._answer(visit)
        except SottovoceError as mistake:
            response = _mistake(visit, str(mistake))
        except SQLAlchemyError:
            raise RefusedError(Refusal.busy) from None
        for name, value in HEADERS.items():
            response.headers.setdefault(name, value)
        await response(scope, receive, send)

    async def _answer(self, visit: Visit) -> Response:
        request = visit.request
        session = await run_in_threadpool(_session, visit)
        visit = Visit(request, visit.dashboard, visit.state, session)
        if request.method == "POST":
            check_origin(request)
            form, files = await _form(request)
            if session is not None and not same_token(_token(request, form), session.csrf):
                raise RefusedError(Refusal.cross_site)
            visit = Visit(request, visit.dashboard, visit.state, session, form, files)
        if self._role is not None and session is None:
            return _log_in_first(visit)
        if self._role is not None and visit.role < self._role:
            return _mistake(visit, f"This needs an account that is {self._role.label} at least.", 403)
        return await run_in_threadpool(self._handler, visit)


def _session(visit: Visit) -> Session | None:
    secret = visit.request.cookies.get(COOKIE)
    return None if secret is None else visit.dashboard.accounts.session(secret)


def check_origin(request: Request) -> None:
    """Refuse changes that pages of other sites ask for: browsers say where a request comes from."""
    origin, site = request.headers.get("origin"), request.headers.get("sec-fetch-site", "same-origin")
    same = origin is None or urlsplit(origin).netloc == request.headers.get("host")
    if not same or site not in ("same-origin", "none"):
        raise RefusedError(Refusal.cross_site)


async def _form(request: Request) -> tuple[FormData, dict[str, bytes]]:
    """Return the fields of a form, and its files with their content."""
    try:
        length = int(request.headers.get("content-length", "0"))
    except ValueError:
        raise RefusedError(Refusal.malformed) from None
    if length > MOST_BYTES or "transfer-encoding" in request.headers:
        raise RefusedError(Refusal.too_large)
    form = await request.form(max_files=4, max_fields=5000, max_part_size=MOST_BYTES)
    files = {name: await value.read() for name, value in form.items() if isinstance(value, UploadFile)}
    await form.close()
    return form, files


def _token(request: Request, form: FormData) -> str:
    given = request.headers.get("x-csrf-token") or form.get("csrf", "")
    return given if isinstance(given, str) else ""


def _log_in_first(visit: Visit) -> Response:
    """Answer a request without a session: programs are told so, people are asked to log in and brought back."""
    if _wants_json(visit.request):
        return JSONResponse({"error": "session", "reason": "Log in again; nothing was changed."}, 401)
    path = visit.request.url.path if visit.request.method == "GET" else HOME
    return RedirectResponse(f"{HOME}/login?next={quote(path)}", 303)


def _mistake(visit: Visit, reason: str, status: int = 422) -> Response:
    """Answer with the reason why something cannot be done; nothing was changed."""
    if _wants_json(visit.request):
        return JSONResponse({"error": "mistake", "reason": reason}, status)
    return visit.page("mistake.html", status, reason=reason)


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
    environment = Environment(
        loader=FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {"address": address, "files": files(), "icon": page_address("icon.svg")}
    environment.filters["script"] = to_script
    return environment
