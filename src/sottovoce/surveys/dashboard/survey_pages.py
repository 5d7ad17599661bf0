"""Pages of frozen surveys: the list of all, the overview of one, its invitations, and its end."""

import unicodedata
from dataclasses import dataclass

from starlette.responses import JSONResponse, Response, StreamingResponse

from sottovoce.checks import one_of
from sottovoce.errors import SottovoceError
from sottovoce.surveys.collect.app_state import today
from sottovoce.surveys.dashboard.accounts import Role
from sottovoce.surveys.dashboard.downloads import attachment, download
from sottovoce.surveys.dashboard.drafts import Drafts
from sottovoce.surveys.dashboard.visit import Visit, route
from sottovoce.surveys.definition.survey import Survey
from sottovoce.surveys.definition.texts import RIGHT_TO_LEFT
from sottovoce.surveys.invitations import (
    MOST_LINKS,
    Withdrawn,
    codes_archive,
    draw_codes,
    draw_paths,
    is_exposed,
    links_table,
    new_links,
    what_to_do,
    withdraw_links,
)
from sottovoce.surveys.links import Link, server_address
from sottovoce.surveys.qr_codes import qr_code, svg_file, svg_path, svg_size

FORMS = ("table", "codes", "sheet")
"""What invitations are handed out as: a table for mail merge, an archive of QR codes, or a sheet to print."""

MOST_CARDS = 2_000
"""Most invitations of a sheet, which browsers lay out at once."""


@dataclass(frozen=True)
class SurveyState:
    """A frozen survey with its numbers, and whether it still takes answers."""

    survey: Survey
    counts: dict[str, int]
    closed: bool

    @property
    def status(self) -> str:
        """Whether the survey is a rehearsal, open, or has ended."""
        if self.closed or self.survey.until < today():
            return "ended"
        return "rehearsal" if self.survey.rehearsal else "open"


def survey_state(visit: Visit, survey: Survey) -> SurveyState:
    """Return a survey with its numbers."""
    store = visit.store
    return SurveyState(survey, store.counts(survey.id), store.is_closed(survey.id))


def show_surveys(visit: Visit) -> Response:
    """Return the list of drafts and of all surveys: open ones, rehearsals, and those that have ended."""
    surveys = [survey for name in visit.store.surveys() if (survey := visit.store.survey(name)) is not None]
    states = [survey_state(visit, survey) for survey in surveys]
    drafts = [draft for draft in Drafts(visit.store.engine).all() if not draft.frozen]
    return visit.page("surveys.html", states=states, drafts=drafts)


def show_survey(visit: Visit) -> Response:
    """Return the overview of a survey."""
    survey, server = visit.survey(), own_address(visit)
    return visit.page(
        "survey.html",
        survey=survey,
        state=survey_state(visit, survey),
        link=str(Link(server, survey.hash)),
        server=server,
        exposed=is_exposed(server),
    )


def show_counts(visit: Visit) -> Response:
    """Return the numbers of a survey for pages that show them live."""
    return JSONResponse(visit.store.counts(visit.survey().id))


def own_address(visit: Visit) -> str:
    """Return the address under which the researcher reaches the server."""
    return str(visit.request.base_url).rstrip("/")


def show_invitations(visit: Visit) -> Response:
    """Return the page on which invitations are made and withdrawn, or the one link of an open survey is shown."""
    return _invitations_page(visit, visit.survey())


def make_invitations(visit: Visit) -> Response:
    """Make invitations and hand them out in the response, the only place where they ever are."""
    survey = visit.survey()
    try:
        server = server_address(visit.text("address").strip())
        form = one_of("form", visit.text("form"), FORMS)
        count = _count(visit.text("count"), MOST_CARDS if form == "sheet" else MOST_LINKS)
        if survey.until < today():
            raise SottovoceError("until", f"must not be before today, {today()}", survey.until.isoformat())
        links = new_links(visit.store, survey, count, server, replacing=bool(visit.text("replacing")))
    except SottovoceError as mistake:
        return _invitations_page(visit, survey, reason=str(mistake), status=422)
    if form == "table":
        return download(survey, "links.csv", links_table(links))
    if form == "sheet":
        return _sheet(visit, survey, links)
    parts = codes_archive(links, lambda batch: visit.dashboard.submit(draw_codes, batch).result())
    return StreamingResponse(parts, headers=attachment(survey, "codes.zip"), media_type="application/zip")


def withdraw_invitations(visit: Visit) -> Response:
    """Withdraw unused invitations: those in a list of links, or all."""
    survey = visit.survey()
    try:
        if visit.text("which") == "all":
            done = Withdrawn(*visit.store.revoke(survey), 0)
        else:
            listed = visit.files.get("links", b"").decode(errors="replace") + "\n" + visit.text("listed")
            done = withdraw_links(visit.store, survey, listed)
    except SottovoceError as mistake:
        return _invitations_page(visit, survey, reason=str(mistake), status=422)
    return _invitations_page(visit, survey, done=done)


def show_link_code(visit: Visit) -> Response:
    """Return the QR code of an open survey's link as a file."""
    survey = visit.survey()
    server = server_address(visit.text("address", own_address(visit)).strip())
    return download(survey, "link.svg", svg_file(qr_code(str(Link(server, survey.hash)))))


def show_close(visit: Visit) -> Response:
    """Return the page that says what closing a survey means."""
    survey = visit.survey()
    return visit.page("close.html", survey=survey, state=survey_state(visit, survey))


def close_survey(visit: Visit) -> Response:
    """End a survey. Reports that were acknowledged before are among its results; later ones are refused."""
    survey = visit.survey()
    visit.store.close_survey(survey.id)
    return visit.to(f"/surveys/{survey.id}")


def show_delete(visit: Visit) -> Response:
    """Return the page on which the title is typed to delete a survey."""
    return _delete_page(visit, visit.survey())


def delete_survey(visit: Visit) -> Response:
    """Delete a survey whose title was typed; a rehearsal, in which nothing counts, without."""
    survey = visit.survey()
    if not survey.rehearsal and _plain(visit.text("title")) != _plain(survey.default_title):
        return _delete_page(visit, survey, reason="The title is another one. Nothing was deleted.", status=422)
    visit.store.delete_survey(survey.id)
    visit.state.forget(survey.id)
    return visit.to("")


def _invitations_page(
    visit: Visit, survey: Survey, *, reason: str | None = None, done: Withdrawn | None = None, status: int = 200
) -> Response:
    server = visit.text("address", own_address(visit)).strip()
    try:
        link = str(Link(server_address(server), survey.hash))
    except SottovoceError as mistake:
        link, reason = "", reason or str(mistake)
    code = qr_code(link) if link and survey.invitation == "open" else None
    return visit.page(
        "invitations.html",
        status,
        survey=survey,
        state=survey_state(visit, survey),
        server=server,
        own_server=own_address(visit),
        exposed=is_exposed(server),
        link=link,
        code=None if code is None else (svg_size(code), svg_path(code)),
        reason=reason,
        done=done,
        form=visit.form,
        sentence=what_to_do(survey),
        most_links=MOST_LINKS,
        most_cards=MOST_CARDS,
    )


def _sheet(visit: Visit, survey: Survey, links: list[str]) -> Response:
    """Return a page of cards to be printed and cut."""
    size, paths = visit.dashboard.submit(draw_paths, links).result()
    return visit.page(
        "sheet.html",
        survey=survey,
        direction=text_direction(survey),
        size=size,
        paths=paths,
        sentence=visit.text("sentence").strip() or what_to_do(survey),
    )


def text_direction(survey: Survey) -> str:
    """Return the direction in which the survey's first language is written."""
    return "rtl" if survey.languages[0].partition("-")[0] in RIGHT_TO_LEFT else "ltr"


def _delete_page(visit: Visit, survey: Survey, *, reason: str | None = None, status: int = 200) -> Response:
    return visit.page("delete.html", status, survey=survey, state=survey_state(visit, survey), reason=reason)


def _count(text: str, most: int) -> int:
    """Return a number of invitations as people type it.

    >>> _count(" 1,000 ", 2000)
    1000
    """
    digits = text.strip().replace(",", "")
    count = int(digits) if digits.isascii() and digits.isdecimal() and len(digits) < 10 else 0
    if not 1 <= count <= most:
        raise SottovoceError("count", f"must be a whole number from 1 to {most:,}", text)
    return count


def _plain(text: str) -> str:
    """Return a text without differences that cannot be seen."""
    return " ".join(unicodedata.normalize("NFC", text).split())


ROUTES = [
    route("", show_surveys),
    route("/", show_surveys),
    route("/surveys/{survey}", show_survey),
    route("/surveys/{survey}/counts", show_counts),
    route("/surveys/{survey}/invitations", show_invitations),
    route("/surveys/{survey}/invitations", make_invitations, role=Role.EDITOR, post=True),
    route("/surveys/{survey}/invitations/withdraw", withdraw_invitations, role=Role.EDITOR, post=True),
    route("/surveys/{survey}/link.svg", show_link_code),
    route("/surveys/{survey}/close", show_close, role=Role.EDITOR),
    route("/surveys/{survey}/close", close_survey, role=Role.EDITOR, post=True),
    route("/surveys/{survey}/delete", show_delete, role=Role.EDITOR),
    route("/surveys/{survey}/delete", delete_survey, role=Role.EDITOR, post=True),
]
