"""Pages on which a survey is created: drafts, their form and their YAML, and what margins of error to expect."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from difflib import SequenceMatcher
from typing import Any

from starlette.responses import JSONResponse, Response

from sottovoce.errors import SottovoceError, Words
from sottovoce.surveys.collect.app_state import today
from sottovoce.surveys.dashboard.accounts import Role
from sottovoce.surveys.dashboard.draft_numbers import ceilings, chart_of, checked, outlook
from sottovoce.surveys.dashboard.drafts import MOST_PLANNED, PLANNED, ConflictError, Draft, Drafts, checked_text
from sottovoce.surveys.dashboard.visit import HOME, Visit, mistake_page, route
from sottovoce.surveys.definition.definition import SAMPLE_DAYS, sample_definition, survey_from_text
from sottovoce.surveys.definition.mistakes import Mistake
from sottovoce.surveys.definition.presentation import Logo
from sottovoce.surveys.definition.texts import BUILT_IN
from sottovoce.surveys.definition.yaml_reader import parse_whole_number
from sottovoce.surveys.definition.yaml_writer import edited_text, tree_of

SAMPLES = {
    "health": ("Health behaviour", "Alcohol, drugs and mood, compared between age groups."),
    "workplace": ("Honesty at work", "Sick days, alcohol, harassment and theft, with a follow-up question."),
    "exams": ("Cheating in exams", "Copying, notes and chatbots, compared between years, and a scale."),
    "doping": ("Doping", "By the unrelated question, a classic method of sports science."),
}
"""Title and description of the samples that are offered, by name."""

EMPTY = "title: Untitled survey\nasker:\npurpose:\nuntil: UNTIL\nodds: 100:1\nquestions: []\n"
SHOWN_LINES = 400
"""Lines of a definition up to which all are shown; of longer ones, those around mistakes."""

AROUND = 4
DELETED = "This draft is not here any more: somebody has deleted it."


def with_draft(handler: Callable[[Visit, Draft], Response]) -> Callable[[Visit], Response]:
    """Return a handler of a page of a draft, which says so if there is no such draft."""

    def handle(visit: Visit) -> Response:
        draft = Drafts(visit.store.engine).get(visit.part("draft"))
        return mistake_page(visit, DELETED, 404, "deleted") if draft is None else handler(visit, draft)

    return handle


def show_new(visit: Visit) -> Response:
    """Return the page on which a survey begins."""
    return _new_page(visit, "", [])


def _new_page(visit: Visit, text: str, mistakes: list[Mistake], status: int = 200) -> Response:
    lines = numbered_lines(text, mistakes) if mistakes else []
    return visit.page("new_draft.html", status, samples=SAMPLES, text=text, mistakes=mistakes, lines=lines)


def numbered_lines(text: str, mistakes: list[Mistake]) -> list[tuple[int | None, str, list[str]]]:
    """Return lines with their numbers and what is wrong in them; None stands for lines that are left out."""
    lines = text.split("\n")
    wrong: dict[int, list[str]] = {}
    for mistake in mistakes:
        wrong.setdefault(min(mistake.line or 1, len(lines)), []).append(mistake.text)
    shown: list[tuple[int | None, str, list[str]]] = []
    for number, line in enumerate(lines, 1):
        near = len(lines) <= SHOWN_LINES or any(abs(number - other) <= AROUND for other in wrong)
        if near:
            shown.append((number, line, wrong.get(number, [])))
        elif not shown or shown[-1][0] is not None:
            shown.append((None, "", []))
    return shown


def create(visit: Visit) -> Response:
    """Make a draft of a sample, of a definition that was uploaded or pasted, or of nothing."""
    kind = visit.text("kind")
    if kind == "sample":
        return _created(visit, sample_definition(visit.text("sample"), today()))
    if kind == "empty":
        return _created(visit, EMPTY.replace("UNTIL", (today() + timedelta(days=SAMPLE_DAYS)).isoformat()))
    uploaded = visit.files.get("file", b"")
    try:
        text = checked_text(uploaded.decode("utf-8-sig") if uploaded else _sent_text(visit, ""))
    except UnicodeDecodeError as reason:
        mistake = SottovoceError("file", f"must be a text in UTF-8 ({reason.reason})", Words("another file"))
        return _new_page(visit, visit.text("text"), [Mistake.of(mistake)], 422)
    except SottovoceError as mistake:
        return _new_page(visit, visit.text("text"), [Mistake.of(mistake)], 422)
    mistakes = _mistakes_of(visit, text) if visit.text("anyway") != "yes" else []
    return _new_page(visit, text, mistakes, 422) if mistakes else _created(visit, text)


def _mistakes_of(visit: Visit, text: str) -> list[Mistake]:
    draft = Draft("", text, None, PLANNED, 1, visit.account, None)
    return list(checked(visit.dashboard.submit, draft, today()).mistakes)


def _created(visit: Visit, text: str) -> Response:
    draft = Drafts(visit.store.engine).create(text, visit.account)
    return visit.to(f"/drafts/{draft.id}")


def show_draft(visit: Visit, draft: Draft) -> Response:
    """Return the editor of a draft."""
    editable = visit.role >= Role.EDITOR and draft.frozen is None
    begun = _state(visit, draft) | {"editable": editable, "ceilings": ceilings(), "languages": list(BUILT_IN)}
    frozen = None if draft.frozen is None else visit.store.survey(draft.frozen)
    return visit.page("draft.html", draft=draft, begun=begun, editable=editable, frozen=frozen)


def show_state(visit: Visit, draft: Draft) -> Response:
    """Return a draft for its editor, with the token of a session that may have begun in another tab."""
    return JSONResponse(_state(visit, draft))


def _state(visit: Visit, draft: Draft) -> dict[str, Any]:
    return {
        "id": draft.id,
        "home": f"{HOME}/drafts/{draft.id}",
        "account": visit.account,
        "csrf": visit.session.csrf if visit.session else "",
        "editor": draft.editor,
        "frozen": draft.frozen,
        "has_logo": draft.logo is not None,
        "planned": draft.planned,
        "revision": draft.revision,
        "text": draft.text,
        "tree": None if draft.tree is None else tree_of(draft.tree),
    }


def save(visit: Visit, draft: Draft) -> Response:
    """Save a change of a draft: its text, or its tree as the form edits it. Answers in JSON."""
    logo = Logo.of(visit.files["logo"]).content if visit.files.get("logo") else draft.logo
    changed = replace(
        draft,
        text=checked_text(_sent_text(visit, draft.text)),
        logo=logo,
        planned=_whole("planned", visit.text("planned"), 1, MOST_PLANNED),
        revision=_whole("revision", visit.text("revision"), 1, 10**9),
        editor=visit.account,
    )
    try:
        saved = Drafts(visit.store.engine).save(changed)
    except ConflictError as conflict:
        return _conflict(visit, changed, conflict.current)
    return mistake_page(visit, DELETED, 404, "deleted") if saved is None else JSONResponse(_state(visit, saved))


def _sent_text(visit: Visit, before: str) -> str:
    """Return the text of a definition that was sent as such, or as the tree of a form that edited the text `before`."""
    if not visit.text("tree"):
        return visit.text("text")
    try:
        return edited_text(before, json.loads(visit.text("tree")))
    except (json.JSONDecodeError, RecursionError):
        raise SottovoceError("tree", "must be JSON", Words("another text")) from None


def _whole(name: str, given: str, least: int, most: int) -> int:
    number = parse_whole_number(given)
    if number is None or not least <= number <= most:
        raise SottovoceError(name, f"must be a whole number from {least} to {most:,}", given)
    return number


def _conflict(visit: Visit, mine: Draft, theirs: Draft) -> Response:
    """Answer that somebody else has saved or frozen the draft meanwhile, with both versions line by line."""
    error = "conflict" if theirs.frozen is None else "frozen"
    told = _state(visit, theirs) | {"error": error, "mine": mine.text, "lines": compared_lines(mine.text, theirs.text)}
    return JSONResponse(told, 409)


def compared_lines(mine: str, theirs: str) -> list[tuple[str, str]]:
    r"""Return the lines of two texts in one order: those of both, and those that only one has.

    >>> compared_lines("title: A\nodds: 3", "title: B\nodds: 3")
    [('mine', 'title: A'), ('theirs', 'title: B'), ('both', 'odds: 3')]
    """
    ours, others = mine.split("\n"), theirs.split("\n")
    lines: list[tuple[str, str]] = []
    for tag, start, end, other_start, other_end in SequenceMatcher(None, ours, others, autojunk=False).get_opcodes():
        if tag == "equal":
            lines += [("both", line) for line in ours[start:end]]
        else:
            lines += [("mine", line) for line in ours[start:end]]
            lines += [("theirs", line) for line in others[other_start:other_end]]
    return lines


def show_check(visit: Visit, draft: Draft) -> Response:
    """Return the mistakes and the numbers of a draft as it is saved."""
    found = checked(visit.dashboard.submit, draft, today())
    numbers = found.survey
    told: dict[str, Any] = {"revision": draft.revision, "mistakes": [mistake.to_json() for mistake in found.mistakes]}
    if numbers is not None:
        told["html"] = visit.render("draft_numbers.html", draft=draft, numbers=numbers)
        told["questions"] = {
            each.id: {"odds": each.odds, "margin": each.margin, "strength": each.strength} for each in numbers.questions
        }
        told["summary"] = {"odds": numbers.odds, "strength": numbers.strength, "worst": numbers.worst.margin}
        told["preview"] = {"address": f"{HOME}/drafts/{draft.id}/preview/{numbers.hash[:16]}", "hash": numbers.hash}
    return JSONResponse(told)


def show_outlook(visit: Visit, draft: Draft) -> Response:
    """Return what takes longer to compute: respondents for a margin, advice, and the picture of the trade-off."""
    submitted = visit.dashboard.submit(outlook, draft.text, draft.logo, draft.planned, today())
    found = submitted.result()
    if found is None:
        return JSONResponse({"revision": draft.revision, "html": ""})
    picture = chart_of(found.points, found.chosen)
    html = visit.render("draft_outlook.html", draft=draft, outlook=found, chart=picture)
    return JSONResponse({"revision": draft.revision, "html": html})


def download(visit: Visit, draft: Draft) -> Response:
    """Return the definition as a file that the command line reads."""
    del visit
    name = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in draft.title)
    headers = {"content-disposition": f'attachment; filename="{name.strip("-")[:60] or "survey"}.yaml"'}
    return Response(draft.text.encode(), headers=headers, media_type="application/yaml")


def show_logo(visit: Visit, draft: Draft) -> Response:
    """Return the picture that is stored with a draft."""
    if draft.logo is None:
        return mistake_page(visit, DELETED, 404, "deleted")
    return Response(draft.logo, media_type=Logo.of(draft.logo).media_type)


def copy(visit: Visit, draft: Draft) -> Response:
    """Make a new draft of a draft, which may be frozen."""
    made = Drafts(visit.store.engine).create(draft.text, visit.account, logo=draft.logo, planned=draft.planned)
    return visit.to(f"/drafts/{made.id}")


def delete(visit: Visit) -> Response:
    """Delete a draft; a survey that was frozen from it stays."""
    Drafts(visit.store.engine).delete(visit.part("draft"))
    return visit.to("")


def show_freeze(visit: Visit, draft: Draft) -> Response:
    """Return the page that shows once more what will be promised."""
    return _freeze_page(visit, draft, None)


def _freeze_page(visit: Visit, draft: Draft, reason: str | None) -> Response:
    found = checked(visit.dashboard.submit, draft, today())
    status = 200 if reason is None else 409
    mistakes = list(found.mistakes)
    return visit.page(
        "freeze.html", status, draft=draft, mistakes=mistakes, numbers=found.survey, reason=reason, frozen=draft.frozen
    )


def freeze(visit: Visit, draft: Draft) -> Response:
    """Freeze the survey of a draft as it was shown, and go to its page."""
    if draft.frozen:
        return visit.to(f"/drafts/{draft.id}")
    shown = visit.text("revision") == str(draft.revision)
    if shown and checked(visit.dashboard.submit, draft, today()).mistakes:
        return _freeze_page(visit, draft, "This draft cannot be frozen yet.")
    survey = Drafts(visit.store.engine).freeze(draft, lambda: _frozen(visit, draft)) if shown else None
    if survey is None:
        return _freeze_page(
            visit, draft, f"{draft.editor} has changed the draft since you looked. This is how it is now."
        )
    return visit.to(f"/surveys/{survey}")


def _frozen(visit: Visit, draft: Draft) -> str:
    return visit.store.freeze(survey_from_text(draft.text, read_file=draft.read_file)).id


ROUTES = [
    route("/drafts/new", show_new, role=Role.EDITOR),
    route("/drafts", create, role=Role.EDITOR, post=True),
    route("/drafts/{draft}", with_draft(show_draft)),
    route("/drafts/{draft}/state", with_draft(show_state)),
    route("/drafts/{draft}/save", with_draft(save), role=Role.EDITOR, post=True),
    route("/drafts/{draft}/check", with_draft(show_check)),
    route("/drafts/{draft}/outlook", with_draft(show_outlook)),
    route("/drafts/{draft}/definition.yaml", with_draft(download)),
    route("/drafts/{draft}/logo", with_draft(show_logo)),
    route("/drafts/{draft}/copy", with_draft(copy), role=Role.EDITOR, post=True),
    route("/drafts/{draft}/delete", delete, role=Role.EDITOR, post=True),
    route("/drafts/{draft}/freeze", with_draft(show_freeze), role=Role.EDITOR),
    route("/drafts/{draft}/freeze", with_draft(freeze), role=Role.EDITOR, post=True),
]
