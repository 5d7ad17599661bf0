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

DatabaseOption = Annotated[
    str,
    typer.Option(
        "--db",
        metavar="FILE|URL|@FILE",
        envvar="SOTTOVOCE_DB",
        help="SQLite file, or URL of a PostgreSQL database; @FILE reads either from a file, which keeps passwords "
        "out of sight.",
    ),
]
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

    named = database_name(database)
    if not create and "://" not in named and not Path(named).is_file():
        raise SottovoceError("db", "must be a database; `sottovoce survey freeze` creates one", named)
    with opened(named) as store:
        yield store


def database_name(database: str) -> str:
    """Return a database as it is given, or as the first line of a file names it, given as @FILE."""
    if not database.startswith("@"):
        return database
    path = Path(database[1:])
    try:
        lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    except UnicodeDecodeError:
        lines = []
    named = next(filter(None, map(str.strip, lines)), None)
    if named is None:
        raise SottovoceError("db", "must name a file that holds the path or URL of a database", f"@{path}")
    return named


def database_option(database: str) -> str:
    """Return the option that names a database in hints; a URL may contain a password and is not repeated."""
    if database == DATABASE:
        return ""
    return " --db URL" if "://" in database else f" --db {database}"


def check_open(survey: "Survey") -> None:
    """Refuse a survey whose last day has passed."""
    from sottovoce.surveys.collect.app_state import today

    if survey.until < today():
        raise SottovoceError("until", f"must not be before today, {today()}", survey.until.isoformat())
