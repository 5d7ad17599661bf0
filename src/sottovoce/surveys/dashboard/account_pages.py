"""Pages of accounts: log in and out, one-time links, the visitor's own sessions, and the accounts of others."""

from urllib.parse import urlsplit

from starlette.responses import RedirectResponse, Response

from sottovoce.errors import SottovoceError
from sottovoce.surveys.collect.app_state import Refusal, RefusedError
from sottovoce.surveys.dashboard.accounts import LoginError, Role, Session, role_of
from sottovoce.surveys.dashboard.visit import COOKIE, HOME, Visit, route

WRONG = "Name and password do not fit, or the account is locked after too many attempts."


def show_login(visit: Visit) -> Response:
    """Return the page on which researchers log in."""
    return visit.page("login.html", next=_next(visit), reason=None, name="")


def log_in(visit: Visit) -> Response:
    """Begin a session with a new id, and go where the researcher wanted to go."""
    _check_rate(visit)
    name = visit.text("name").strip().lower()
    if visit.session is not None:  # whoever logs in again leaves the old session behind
        visit.dashboard.accounts.end_session(visit.account, visit.session.mark)
    try:
        session = visit.dashboard.accounts.log_in(name, visit.text("password"))
    except LoginError:
        return visit.page("login.html", 403, next=_next(visit), reason=WRONG, name=name)
    return _with_session(visit, RedirectResponse(_next(visit), 303), session)


def log_out(visit: Visit) -> Response:
    """End the session."""
    if visit.session is not None:
        visit.dashboard.accounts.end_session(visit.account, visit.session.mark)
    response = visit.to("/login")
    response.delete_cookie(COOKIE, path=HOME)
    return response


def show_link(visit: Visit) -> Response:
    """Return the page behind a one-time link: a name and a password, or a password alone."""
    return _link_page(visit, None)


def use_link(visit: Visit) -> Response:
    """Create an account or set a password, and begin a session."""
    _check_rate(visit)
    try:
        if visit.text("password") != visit.text("again"):
            raise SottovoceError("password", "must be the same twice", visit.text("name"))
        session = visit.dashboard.accounts.use_link(visit.part("token"), visit.text("name"), visit.text("password"))
    except SottovoceError as mistake:
        return _link_page(visit, str(mistake))
    if session is None:
        return _link_page(visit, None)
    return _with_session(visit, visit.to(""), session)


def _link_page(visit: Visit, reason: str | None) -> Response:
    found = visit.dashboard.accounts.link(visit.part("token"))
    if found is None:
        return visit.page("link.html", 410, usable=False, named=None, granted=None, reason=None, name="")
    granted, named = found
    name, status = visit.text("name"), 200 if reason is None else 422
    return visit.page("link.html", status, usable=True, named=named, granted=granted.label, reason=reason, name=name)


def show_accounts(visit: Visit) -> Response:
    """Return the visitor's own sessions, and to owners all accounts."""
    return _accounts_page(visit, None)


def _accounts_page(visit: Visit, link: str | None) -> Response:
    accounts = visit.dashboard.accounts
    everybody = accounts.all() if visit.role >= Role.OWNER else []
    own = "" if visit.session is None else visit.session.mark
    return visit.page(
        "accounts.html", sessions=accounts.sessions(visit.account), own=own, accounts=everybody, link=link
    )


def invite(visit: Visit) -> Response:
    """Make a one-time link for a new account, or for a new password of an account, and show it once."""
    accounts, name = visit.dashboard.accounts, visit.text("name")
    role = accounts.account(name).role if name else role_of(visit.text("role"))
    token = accounts.new_link(role, name or None)
    base = f"{visit.request.url.scheme}://{visit.request.headers.get('host', '')}"
    return _accounts_page(visit, f"{base}{HOME}/link/{token}")


def change_account(visit: Visit) -> Response:
    """Change an account's role, or remove it."""
    name = visit.dashboard.accounts.account(visit.text("name")).name
    if visit.text("role") == "remove":
        visit.dashboard.accounts.remove(name)
    else:
        visit.dashboard.accounts.set_role(name, role_of(visit.text("role")))
    return visit.to("/accounts")


def end_session(visit: Visit) -> Response:
    """End one of the visitor's sessions, or all of them."""
    visit.dashboard.accounts.end_session(visit.account, visit.text("mark") or None)
    return visit.to("/accounts")


def _check_rate(visit: Visit) -> None:
    client = visit.request.client
    if not visit.dashboard.logins.allows(client.host if client else ""):
        raise RefusedError(Refusal.slow_down)


def _next(visit: Visit) -> str:
    """Return the page to go to after the login: one of the dashboard, whatever a link says."""
    wanted = visit.text("next")
    parts = urlsplit(wanted)
    below = parts.path == HOME or parts.path.startswith(f"{HOME}/")
    return wanted if below and not parts.scheme and not parts.netloc and "\\" not in wanted else HOME


def _with_session(visit: Visit, response: Response, session: Session) -> Response:
    """Give the id of a session to the browser, for the dashboard alone and out of scripts' reach."""
    secure = visit.request.url.scheme == "https"
    response.set_cookie(COOKIE, session.id, path=HOME, secure=secure, httponly=True, samesite="strict")
    return response


ROUTES = [
    route("/login", show_login, role=None),
    route("/login", log_in, role=None, post=True),
    route("/logout", log_out, role=None, post=True),
    route("/link/{token}", show_link, role=None),
    route("/link/{token}", use_link, role=None, post=True),
    route("/accounts", show_accounts),
    route("/accounts/sessions", end_session, post=True),
    route("/accounts/links", invite, role=Role.OWNER, post=True),
    route("/accounts/change", change_account, role=Role.OWNER, post=True),
]
