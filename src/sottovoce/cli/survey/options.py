"""Options that the survey's commands share, and how they find their survey."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sottovoce.errors import SottovoceError

if TYPE_CHECKING:
    from sottovoce.surveys.collect.store import Store
    from sottovoce.surveys.definition.survey import Survey

DatabaseOption = Annotated[str, typer.Option("--db", help="SQLite file, or the URL of a database.")]
SurveyArgument = Annotated[
    str | None, typer.Argument(metavar="[ID]", help="Frozen survey; may be left out where there is one only.")
]
UrlOption = Annotated[str, typer.Option("--url", help="Address of the server, as it stands in links.")]

DATABASE = "surveys.db"
URL = "http://127.0.0.1:8000"


@contextmanager
def open_store(database: str, *, new: bool = False) -> Iterator["Store"]:
    """The store, closed at the end; a file that is not there yet is made only where it may be `new`."""
    from sottovoce.surveys.installed import check_installed

    check_installed()
    from sqlalchemy.exc import SQLAlchemyError

    from sottovoce.surveys.collect.store import Store, unusable

    if not new and "://" not in database and not Path(database).exists():
        raise SottovoceError("db", "must be a database; `sottovoce survey freeze` makes one", database)
    store = Store(database)
    try:
        yield store
    except SQLAlchemyError as reason:
        raise unusable(database, "used", reason) from None
    finally:
        store.close()


def chosen(store: "Store", name: str | None) -> "Survey":
    """Survey of this id, or the only one there is; the beginning of an id will do."""
    found = [known for known in store.surveys() if known.startswith(name or "")]
    survey = store.survey(found[0]) if len(found) == 1 else None
    if survey is None:
        known = ", ".join(store.surveys()) or "none; freeze one first"
        raise SottovoceError("survey", f"must be one of those in the database ({known})", name)
    return survey


def check_open(survey: "Survey") -> None:
    """Refuse a survey whose last day is over."""
    from sottovoce.surveys.collect.app_state import today

    if survey.until < today():
        raise SottovoceError("until", f"must not be over; today is {today()}", survey.until.isoformat())
