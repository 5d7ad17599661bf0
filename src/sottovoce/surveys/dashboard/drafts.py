"""Drafts of surveys: definitions as YAML, with a number that grows with every change, so that none is overwritten."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Engine, delete, insert, select, update

from sottovoce.errors import SottovoceError, Words
from sottovoce.surveys.collect.database import drafts, reading, writing
from sottovoce.surveys.definition.definition import ReadFile
from sottovoce.surveys.definition.yaml_reader import YamlValue, read_yaml

PLANNED = 1000
"""Respondents for whom margins of error are shown, unless another number is planned."""

MOST_PLANNED = 10**8
MOST_CHARACTERS = 2**18
"""Most characters of a draft: reading more takes seconds. Larger definitions are frozen on the command line."""

UNTITLED = "Untitled survey"

FREEZING = ""
"""Stands for the survey of a draft while it is being frozen, and after a server that ended before it was done."""


@dataclass(frozen=True)
class Draft:
    """A draft as it was saved last: its text, its logo, who saved it, and the survey that was frozen from it."""

    id: str
    text: str
    logo: bytes | None
    planned: int
    revision: int
    editor: str
    frozen: str | None

    @property
    def tree(self) -> YamlValue | None:
        """The definition, or None if its text cannot be read."""
        try:
            return read_yaml(self.text)
        except SottovoceError:
            return None

    @property
    def title(self) -> str:
        """Title in the first language that has one."""
        fields = {} if self.tree is None or not isinstance(self.tree.value, dict) else self.tree.value
        title: Any = fields["title"].plain if "title" in fields else None
        texts = list(title.values()) if isinstance(title, dict) else [title]
        return next((text.strip() for text in texts if type(text) is str and text.strip()), UNTITLED)

    @property
    def read_file(self) -> ReadFile:
        """Returns the logo, whatever its name: definitions in the browser read no file of this machine."""
        return stored_logo(self.logo)


def stored_logo(content: bytes | None) -> ReadFile:
    """Return a function that returns the logo of a draft."""

    def read(name: str) -> bytes:
        if content is None:
            raise FileNotFoundError(0, "choose the picture in the form", name)
        return content

    return read


class ConflictError(Exception):
    """Raised when somebody else has saved a draft since it was read, or has frozen it."""

    def __init__(self, current: Draft) -> None:
        """Keep the draft as it is now."""
        self.current = current
        super().__init__(current.id)


class Drafts:
    """The drafts of a database."""

    def __init__(self, engine: Engine) -> None:
        """Use a database."""
        self._engine = engine

    def all(self) -> list[Draft]:
        """Return all drafts, in the order of their titles."""
        with reading(self._engine) as connection:
            found = [_draft(row) for row in connection.execute(select(drafts)).mappings()]
        return sorted(found, key=lambda draft: (draft.title.casefold(), draft.id))

    def get(self, name: str) -> Draft | None:
        """Return the draft with an id, or None."""
        with reading(self._engine) as connection:
            return _get(connection, name)

    def create(self, text: str, editor: str, *, logo: bytes | None = None, planned: int = PLANNED) -> Draft:
        """Store a new draft."""
        draft = Draft(secrets.token_hex(8), checked_text(text), logo, planned, 1, editor, None)
        with writing(self._engine) as connection:
            connection.execute(insert(drafts), _row(draft))
        return draft

    def save(self, changed: Draft) -> Draft | None:
        """Store a changed draft, and return it with its new revision; None if it was deleted meanwhile.

        `changed` has the revision that it was made from. Raise `ConflictError` if there is another one by now. What is
        stored already is not stored again: the answer to the first attempt may have been lost.
        """
        with writing(self._engine) as connection:
            current = _get(connection, changed.id)
            if current is None:
                return None
            if _content(current) == _content(changed) and current.frozen is None:
                return current
            if current.revision != changed.revision or current.frozen is not None:
                raise ConflictError(current)
            row = _row(changed) | {"revision": current.revision + 1, "definition": checked_text(changed.text)}
            connection.execute(update(drafts).where(drafts.c.id == changed.id).values(row))
            return _get(connection, changed.id)

    def freeze(self, draft: Draft, freeze: Callable[[], str]) -> str | None:
        """Freeze a draft, and remember the id of its survey, which `freeze` returns; None if it was changed meanwhile.

        While its survey is being frozen, nobody can save the draft. A server that ended meanwhile leaves it so:
        freezing it once more finishes it, since the same definition is the same survey.
        """
        mine = (drafts.c.id == draft.id, drafts.c.revision == draft.revision)
        with writing(self._engine) as connection:
            unfrozen = drafts.c.frozen.is_(None) | (drafts.c.frozen == FREEZING)
            if not connection.execute(update(drafts).where(*mine, unfrozen).values(frozen=FREEZING)).rowcount:
                return None
        survey = None
        try:
            survey = freeze()
        finally:
            with writing(self._engine) as connection:
                begun = update(drafts).where(*mine, drafts.c.frozen == FREEZING)
                connection.execute(begun.values(frozen=survey))
        return survey

    def delete(self, name: str) -> None:
        """Delete a draft."""
        with writing(self._engine) as connection:
            connection.execute(delete(drafts).where(drafts.c.id == name))


def checked_text(text: str) -> str:
    """Return the text of a draft with plain line ends; refuse one that is too long or cannot be stored."""
    if len(text) > MOST_CHARACTERS:
        rule = f"must have at most {MOST_CHARACTERS:,} characters; larger ones are frozen on the command line"
        raise SottovoceError("definition", rule, Words(f"{len(text):,}"))
    if "\0" in text:
        raise SottovoceError("definition", "must have no control characters", "\0")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _get(connection: Connection, name: str) -> Draft | None:
    row = connection.execute(select(drafts).where(drafts.c.id == name)).mappings().one_or_none()
    return None if row is None else _draft(row)


def _draft(row: Any) -> Draft:
    logo = None if row["logo"] is None else bytes(row["logo"])
    kept = {name: row[name] for name in ("id", "planned", "revision", "editor", "frozen")}
    return Draft(text=row["definition"], logo=logo, **kept)


def _row(draft: Draft) -> dict[str, Any]:
    kept = {name: getattr(draft, name) for name in ("id", "logo", "planned", "revision", "editor", "frozen")}
    return {"definition": draft.text, **kept}


def _content(draft: Draft) -> tuple[str, bytes | None, int]:
    return draft.text, draft.logo, draft.planned
