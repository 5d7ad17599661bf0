"""Options that the survey commands share, and how they open the database and select a survey."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sottovoce.errors import SottovoceError

if TYPE_CHECKING:
    from sottovoce.surveys.collect.store import Store
    from sottovoce.surveys.definition.survey import Survey

DatabaseOption = Annotated[str, typer.Option("--db", metavar="FILE|URL", help="SQLite file, or URL of a database.")]
SurveyArgument = Annotated[
    str | None,
    typer.Argument(metavar="[ID]", help="Id of the survey, or its beginning; not needed if there is only one survey."),
]
UrlOption = Annotated[str, typer.Option("--url", help="Address of the server in links.")]

DATABASE = "surveys.db"
URL = "http://127.0.0.1:8000"


@contextmanager
def open_store(database: str, *, create: bool = False) -> Iterator["Store"]:
    """Open a database while the block runs; a missing file is created only with `create`."""
    from sottovoce.surveys.collect.store import opened

    if not create and "://" not in database and not Path(database).exists():
        raise SottovoceError("db", "must be a database; `sottovoce survey freeze` creates one", database)
    with opened(database) as store:
        yield store


def check_open(survey: "Survey") -> None:
    """Refuse a survey whose last day has passed."""
    from sottovoce.surveys.collect.app_state import today

    if survey.until < today():
        raise SottovoceError("until", f"must not be before today, {today()}", survey.until.isoformat())
