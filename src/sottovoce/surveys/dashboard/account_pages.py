"""Pages of accounts: log in and out, one-time links, the visitor's own sessions, and the accounts of others."""

from starlette.responses import RedirectResponse, Response

from sottovoce.errors import SottovoceError, Words
from sottovoce.surveys.dashboard.accounts import LoginError, Role, Session, link_address, role_of
from sottovoce.surveys.dashboard.visit import COOKIE, HOME, Visit, next_page, route

WRONG = "Name and password do not fit, or the account is locked after too many attempts."


def show_login(visit: Visit) -> Response:
    """Return the page on which researchers log in; who is logged in goes on."""
    wanted = next_page(visit.text("next"))
    if visit.session is not None:
        return RedirectResponse(wanted, 303)
    return visit.page("login.html", next=wanted, reason=None, name="")


def log_in(visit: Visit) -> Response:
    """Begin a session with a new id, and go where the researcher wanted to go."""
    _check_rate(visit)
    accounts, name, wanted = visit.dashboard.accounts, visit.text("name").strip().lower(), next_page(visit.text("next"))
    try:
        session = accounts.log_in(name, visit.text("password"))
    except LoginError:
        return visit.page("login.html", 403, next=wanted, reason=WRONG, name=name)
    return _with_session(visit, RedirectResponse(wanted, 303), session)


def log_out(visit: Visit) -> Response:
    """End the session."""
    visit.dashboard.accounts.end_session(visit.account, visit.mark)
    return _without_session(visit)


def show_link(visit: Visit) -> Response:
    """Return the page behind a one-time link: a name and a password, or a password alone."""
    return _link_page(visit, None)


def use_link(visit: Visit) -> Response:
    """Create an account or set a password, and begin a session."""
    _check_rate(visit)
    try:
        if visit.text("password") != visit.text("again"):
            raise SottovoceError("password", "must be the same twice", Words("two that differ"))
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
    return _accounts_page(visit)


def _accounts_page(visit: Visit, link: str | None = None, named: str | None = None) -> Response:
    """Return the page of accounts; a new one-time link is shown on it once, for `named` or for a new account."""
    accounts = visit.dashboard.accounts
    return visit.page(
        "accounts.html",
        sessions=sorted(accounts.sessions(visit.account), key=lambda session: session.mark != visit.mark),
        own=visit.mark,
        accounts=accounts.all() if visit.role >= Role.OWNER else [],
        link=link,
        named=named,
    )


def make_link(visit: Visit) -> Response:
    """Make a one-time link for a new account, or for a new password of an account, and show it once."""
    accounts, server, name = visit.dashboard.accounts, visit.server, visit.text("name") or None
    role = accounts.account(name).role if name else role_of(visit.text("role"))
    return _accounts_page(visit, link_address(server, accounts.new_link(role, name)), name)


def change_role(visit: Visit) -> Response:
    """Change what an account may do."""
    visit.dashboard.accounts.set_role(visit.text("name"), role_of(visit.text("role")))
    return visit.to("/accounts")


def remove_account(visit: Visit) -> Response:
    """Remove an account; who removes their own is logged out."""
    visit.dashboard.accounts.remove(visit.text("name"))
    return _without_session(visit) if visit.text("name") == visit.account else visit.to("/accounts")


def end_session(visit: Visit) -> Response:
    """End one of the visitor's sessions, or all of them; who ends their own is logged out."""
    mark = visit.text("mark") or None
    visit.dashboard.accounts.end_session(visit.account, mark)
    return _without_session(visit) if mark in (None, visit.mark) else visit.to("/accounts")


def end_sessions_of(visit: Visit) -> Response:
    """End all sessions of an account."""
    visit.dashboard.accounts.end_session(visit.dashboard.accounts.account(visit.text("name")).name)
    return _without_session(visit) if visit.text("name") == visit.account else visit.to("/accounts")


def _check_rate(visit: Visit) -> None:
    client = visit.request.client
    visit.dashboard.check_rate(client.host if client else "")


def _with_session(visit: Visit, response: Response, session: Session) -> Response:
    """Give the id of a session to the browser, for the dashboard alone and out of scripts' reach.

    A session that the browser had before ends: anyone who knows its id learns nothing more.
    """
    visit.dashboard.accounts.end_session(visit.account, visit.mark)
    response.set_cookie(COOKIE, session.id, path=HOME, secure=visit.secure, httponly=True, samesite="strict")
    return response


def _without_session(visit: Visit) -> Response:
    """Send the browser to the login, without its cookie."""
    response = visit.to("/login")
    response.delete_cookie(COOKIE, path=HOME, secure=visit.secure, httponly=True, samesite="strict")
    return response


ROUTES = [
    route("/login", show_login, role=None),
    route("/login", log_in, role=None, post=True),
    route("/logout", log_out, post=True),
    route("/link/{token}", show_link, role=None),
    route("/link/{token}", use_link, role=None, post=True),
    route("/accounts", show_accounts),
    route("/accounts/sessions", end_session, post=True),
    route("/accounts/links", make_link, role=Role.OWNER, post=True),
    route("/accounts/role", change_role, role=Role.OWNER, post=True),
    route("/accounts/remove", remove_account, role=Role.OWNER, post=True),
    route("/accounts/everybody", end_sessions_of, role=Role.OWNER, post=True),
]
