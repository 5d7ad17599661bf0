"""The respondents' page of a draft, for its author: it looks and works as it will, and stores nothing."""

import json
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache

from starlette.responses import JSONResponse, Response

from sottovoce.surveys.collect.app_state import PublishedSurvey, Refusal, RefusedError, today
from sottovoce.surveys.dashboard.draft_numbers import checked
from sottovoce.surveys.dashboard.draft_pages import with_draft
from sottovoce.surveys.dashboard.drafts import Draft
from sottovoce.surveys.dashboard.visit import Visit, address, files, route
from sottovoce.surveys.definition.survey import survey_from_bytes
from sottovoce.surveys.page.files import PageFile, content_security_policy

KEPT = 16
"""Previews that are kept in memory: those of the last changes."""

MOST_RECEIPTS = 64
SCRIPT = "preview.js"
FRAMED = {
    "content-security-policy": content_security_policy("'self'"),
    "x-frame-options": "SAMEORIGIN",
    "referrer-policy": "no-referrer",
}
"""Headers of pages that the editor shows in a frame."""


@dataclass(frozen=True)
class Preview:
    """A draft as an open rehearsal, and the receipts of what was sent to it. The reports are thrown away."""

    published: PublishedSurvey
    receipts: deque[str] = field(default_factory=lambda: deque(maxlen=MOST_RECEIPTS))


@lru_cache(KEPT)
def _preview(document: bytes, logo: bytes | None) -> Preview:
    return Preview(PublishedSurvey(survey_from_bytes(document).with_logo(logo)))


def _with_preview(handler: Callable[[Visit, Preview], Response]) -> Callable[[Visit], Response]:
    """Return a handler of an address below the preview of a draft as it is now; of an earlier one there is none."""

    def handle(visit: Visit, draft: Draft) -> Response:
        numbers = checked(visit.dashboard.submit, draft, today()).survey
        if numbers is None or numbers.hash[:16] != visit.part("survey"):
            raise RefusedError(Refusal.unknown_survey)
        return handler(visit, _preview(numbers.document, draft.logo))

    return with_draft(handle)


def _response(file: PageFile) -> Response:
    return Response(file.content, headers=FRAMED, media_type=file.media_type)


def show_page(visit: Visit, preview: Preview) -> Response:
    """Return the respondents' page."""
    csrf = "" if visit.session is None else visit.session.csrf
    script = {"address": address(SCRIPT), "integrity": files()[SCRIPT].integrity, "csrf": csrf}
    return _response(preview.published.page_at(visit.request.url.path, script))


def show_document(visit: Visit, preview: Preview) -> Response:
    """Return the survey's canonical bytes."""
    del visit
    return _response(preview.published.document)


def show_audit(visit: Visit, preview: Preview) -> Response:
    """Return the page with what the survey promises."""
    accepted = visit.request.headers.get("accept-language", "")
    language = preview.published.audit_language(visit.text("language"), accepted)
    return _response(preview.published.audit_page(language))


def show_audit_document(visit: Visit, preview: Preview) -> Response:
    """Return what the survey promises, as JSON."""
    del visit
    return JSONResponse(preview.published.audit)


def show_logo(visit: Visit, preview: Preview) -> Response:
    """Return the picture of the people who ask."""
    del visit
    if preview.published.logo is None:
        raise RefusedError(Refusal.not_found)
    return _response(preview.published.logo)


def take_report(visit: Visit, preview: Preview) -> Response:
    """Check a report as the survey would, and throw it away; only its receipt is kept for a while."""
    receipt, _ = preview.published.read_submission(visit.text("submission").encode())
    preview.receipts.append(receipt)
    return JSONResponse({"receipt": receipt}, 201)


def list_receipts(visit: Visit, preview: Preview) -> Response:
    """Return the receipts of what was sent to this preview."""
    del visit
    found = sorted(preview.receipts)
    return Response(json.dumps({"count": len(found), "receipts": found}), media_type="application/json")


HERE = "/drafts/{draft}/preview/{survey}"
ROUTES = [
    route(HERE, _with_preview(show_page)),
    route(f"{HERE}/survey.json", _with_preview(show_document)),
    route(f"{HERE}/audit", _with_preview(show_audit)),
    route(f"{HERE}/audit.json", _with_preview(show_audit_document)),
    route(f"{HERE}/logo", _with_preview(show_logo)),
    route(f"{HERE}/receipts", _with_preview(list_receipts)),
    route(f"{HERE}/reports", _with_preview(take_report), post=True),
]
