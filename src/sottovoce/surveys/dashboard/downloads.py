"""Files that browsers save: their names, their types, and headers with which nothing in them is run."""

import re
import unicodedata
from pathlib import PurePath
from urllib.parse import quote

from starlette.responses import Response

from sottovoce.surveys.definition.survey import Survey

MEDIA_TYPES = {
    ".csv": "text/csv; charset=utf-8",
    ".dta": "application/x-stata-dta",
    ".html": "text/html; charset=utf-8",
    ".json": "application/json",
    ".parquet": "application/vnd.apache.parquet",
    ".sav": "application/x-spss-sav",
    ".svg": "image/svg+xml",
    ".zip": "application/zip",
}
MOST_CHARACTERS = 60
"""Most characters of a title in a file's name."""


def file_name(survey: Survey, end: str) -> str:
    """Return a file's name: that it is of a rehearsal, the survey's title, and what it is.

    Of the title, letters, digits and marks stay, in any script: no separator of folders, no quotation mark, no line
    break and no character that turns the direction of a text.

    >>> from sottovoce.surveys.definition.definition import survey_from_text
    >>> survey = survey_from_text('''{title: "../Honesty: at work?", asker: A, purpose: P, until: 2999-12-31, odds: 3,
    ...     questions: [{id: q, kind: yes_no, text: Q}]}''')
    >>> file_name(survey, "reports.csv")
    'Honesty-at-work-reports.csv'
    """
    title = unicodedata.normalize("NFC", survey.default_title)
    kept = "".join(c if unicodedata.category(c)[0] in "LNM" else " " for c in title)
    words = "-".join(kept.split())[:MOST_CHARACTERS].strip("-")
    return "-".join(part for part in ("rehearsal" * survey.rehearsal, words, end) if part)


def attachment(survey: Survey, end: str) -> dict[str, str]:
    """Return the headers of a file that is saved and not shown, with a name in ASCII for old browsers."""
    name = file_name(survey, end)
    plain = re.sub(r"-+", "-", re.sub(r"[^A-Za-z0-9._-]+", "", unicodedata.normalize("NFKD", name))).strip("-")
    disposition = f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"
    return {
        "content-disposition": disposition,
        "x-content-type-options": "nosniff",
        "content-security-policy": "default-src 'none'; sandbox",
    }


def download(survey: Survey, end: str, content: bytes) -> Response:
    """Return a file that a browser saves."""
    media_type = MEDIA_TYPES[PurePath(end).suffix]
    return Response(content, headers=attachment(survey, end), media_type=media_type)
