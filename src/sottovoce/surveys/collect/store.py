"""The store: frozen surveys with their secret keys, invitations, and disguised reports.

An invitation is spent for a blind signature (`admit`), a report is stored under the credential that was signed
(`commit`). The signer cannot know the credential, and no transaction holds both: nothing links an invitation to a
report. Surveys frozen by 0.1 spend the invitation with the report.
"""

import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from sqlalchemy import (
    Engine,
    Select,
    Table,
    delete,
    func,
    insert,
    literal,
    select,
    union_all,
    update,
)
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from sottovoce.checks import whole_number
from sottovoce.errors import SottovoceError, Words
from sottovoce.surveys.blind_rsa import SecretKey
from sottovoce.surveys.collect.admissions import Admission, issue, spend, state_of, withdraw
from sottovoce.surveys.collect.database import (
    BUSY_TIMEOUT,
    check_database,
    database_error,
    invitations,
    is_postgres,
    levels_of,
    lock_reports,
    reading,
    surveys,
    truths,
    writing,
)
from sottovoce.surveys.collect.entries import CLOSED, Entry, Outcome, known_reports, store_entries, tables_of_reports
from sottovoce.surveys.collect.inbox import BATCH, CAPACITY, move_reports, remove_reports
from sottovoce.surveys.collect.marks import Mark, Marks
from sottovoce.surveys.collect.opening import open_engine
from sottovoce.surveys.definition.survey import Survey, survey_from_bytes

BATCH_SIZE = 512
"""Most entries of one commit: few enough for every database's limit of bound values in a statement."""

REHEARSAL = b'"rehearsal":true'
"""Part of the canonical bytes of every rehearsal, and of no others: in texts, quotation marks have a backslash."""

TRIES = 5
"""How often a commit is tried while another server stores the same reports."""


@dataclass(frozen=True)
class Place:
    """Where a database is: its URL, which may have a password, and which no message shows."""

    url: str = field(repr=False)


class Store:
    """The database of surveys, invitations and reports: an SQLite file, or a PostgreSQL database by its URL.

    `batch` is the fewest reports of a survey that are moved out of the inbox together, `capacity` the most that are
    then written anew, beyond which reports have further tables.
    """

    def __init__(self, database: str | Path, *, batch: int = BATCH, capacity: int = CAPACITY) -> None:
        """Open or create the database."""
        self._engine = open_engine(database)
        self._batch, self._capacity, self._marks = batch, capacity, Marks()
        self._arrived = True  # what another process left in the inbox may still be in order of arrival

    @property
    def engine(self) -> Engine:
        """Connections to the database, for what is stored beside surveys."""
        return self._engine

    @property
    def place(self) -> "Place":
        """Where the database is, for another process of this machine."""
        return Place(self._engine.url.render_as_string(hide_password=False))

    def close(self) -> None:
        """Close all connections; SQLite then moves its log of recent commits into the database, and deletes it."""
        self._engine.dispose()

    def freeze(self, survey: Survey) -> Survey:
        """Store a survey for good, and return it with its admission key; the same definition is frozen only once."""
        if survey.admission is not None:
            frozen = self.frozen(survey)
            if frozen != survey:
                rule = "must be a draft, or in this database: its secret key is in the database where it was frozen"
                raise SottovoceError("survey", rule, survey.id)
            return survey
        secret = SecretKey.generate() if survey.invitation == "single" else None
        drawn = survey if secret is None else replace(survey, admission=secret.public)
        try:
            with writing(self._engine) as connection:
                connection.execute(insert(surveys), _survey_row(drawn, secret))
        except IntegrityError:
            frozen = self.frozen(survey)
            if frozen is None:
                rule = "must have an id that no other survey in the database has; change a word of it"
                raise SottovoceError("survey", rule, survey.id) from None
            return frozen
        return drawn

    def frozen(self, draft: Survey) -> Survey | None:
        """Return the survey that was frozen from a draft's definition, or None."""
        query = select(surveys.c.document).where(surveys.c.definition == bytes.fromhex(draft.definition_hash))
        with reading(self._engine) as connection:
            document = connection.scalar(query)
        return None if document is None else survey_from_bytes(bytes(document))

    def survey(self, name: str) -> Survey | None:
        """Return the frozen survey with this id, checked again, or None."""
        with reading(self._engine) as connection:
            row = connection.execute(select(surveys.c.document, surveys.c.logo).where(surveys.c.id == name)).first()
        return None if row is None else _parsed(bytes(row.document)).with_logo(row.logo)

    def select(self, name: str | None = None) -> Survey:
        """Return the survey with an id, or with the beginning of one; without an id, the only survey.

        Without an id, a rehearsal is returned only if there is nothing else.
        """
        rehearsals = self.rehearsals()
        ids = [known for known in self.surveys() if known.startswith(name or "")]
        if not name:
            ids = [known for known in ids if known not in rehearsals] or ids
        survey = self.survey(ids[0]) if len(ids) == 1 else None
        if survey is None:
            known = ", ".join(self.surveys()) or "none; freeze one first"
            raise SottovoceError("survey", f"must be one of those in the database ({known})", name)
        return survey

    def surveys(self) -> list[str]:
        """Return the ids of all frozen surveys."""
        with reading(self._engine) as connection:
            return list(connection.scalars(select(surveys.c.id).order_by(surveys.c.id)))

    def rehearsals(self) -> set[str]:
        """Return the ids of the frozen surveys that are rehearsals."""
        with reading(self._engine) as connection:
            rows = connection.execute(select(surveys.c.id, surveys.c.document))
            return {name for name, document in rows if REHEARSAL in bytes(document)}

    def store_simulated(self, survey: Survey, reports: Sequence[bytes]) -> None:
        """Store reports of simulated respondents; refuse a survey that is not a rehearsal."""
        if survey.id not in self.rehearsals():
            rule = "must be a rehearsal: simulated reports are never stored among those of people"
            raise SottovoceError("survey", rule, survey.id)
        for start in range(0, len(reports), BATCH_SIZE):
            part = reports[start : start + BATCH_SIZE]
            self.commit([Entry(survey.id, os.urandom(16), report) for report in part])
        self.tidy()

    def secret_key(self, survey: Survey) -> SecretKey:
        """Return the secret key of a survey; refuse one that is missing or not the document's."""
        with reading(self._engine) as connection:
            stored = connection.scalar(select(surveys.c.secret).where(surveys.c.id == survey.id))
        secret = None if stored is None else SecretKey.from_bytes(bytes(stored))
        if secret is None or secret.public != survey.admission:
            rule = (
                "must have the secret key of its document: nobody else can be admitted. Reports of those who were "
                "admitted are still taken, and no stored report is lost. The key"
            )
            raise SottovoceError(f"survey {survey.id}", rule, Words("missing" if secret is None else "another one"))
        return secret

    def holds(self, name: str) -> bool:
        """Return whether there is a survey with this id, which may have been deleted since it was read."""
        with reading(self._engine) as connection:
            return connection.scalar(CLOSED, {"survey": name}) is not None

    def is_closed(self, name: str) -> bool:
        """Return whether a survey was closed or deleted."""
        with reading(self._engine) as connection:
            return connection.scalar(CLOSED, {"survey": name}) is not False

    def invite(self, survey: Survey, count: int, *, replacing: bool = False) -> list[str]:
        """Issue invitations: return tokens to hand out, of which the database stores hashes only.

        `replacing` counts them as replacements of lost ones, each of which may let somebody answer twice.
        """
        if survey.invitation == "open":
            rule = "must be single to make invitations; this survey has one open link for everyone"
            raise SottovoceError("invitation", rule, survey.invitation)
        number = whole_number("count", count)
        if self.is_closed(survey.id):
            raise SottovoceError("survey", "must not be closed to make invitations", survey.id)
        with writing(self._engine) as connection:
            return issue(connection, survey, number, replacing=replacing)

    def invitation(self, name: str, token: bytes) -> Admission:
        """Return the state of an invitation, by its hash, without spending it."""
        with reading(self._engine) as connection:
            return state_of(connection, name, token)

    def admit(self, name: str, token: bytes, blinded: bytes) -> Admission:
        """Spend an invitation for a blinded message, both given by their hashes; on disk when this returns.

        The same message again is admitted again, another one is not.
        """
        with writing(self._engine) as connection:
            return spend(connection, name, token, blinded)

    def revoke(self, survey: Survey, tokens: Sequence[str] | None = None) -> tuple[int, int]:
        """Withdraw invitations, all of a survey if none are named; return how many, and how many could not be.

        Those who were admitted have a credential that nobody can tell from others: they cannot be reached.
        """
        with writing(self._engine) as connection:
            return withdraw(connection, survey, tokens)

    def close_survey(self, name: str) -> None:
        """End a survey: forget its invitations, and write all reports anew in random order."""
        with writing(self._engine) as connection:
            if not connection.execute(update(surveys).where(surveys.c.id == name).values(closed=True)).rowcount:
                raise SottovoceError("survey", "must be in the database to be closed", name)
            connection.execute(delete(invitations).where(invitations.c.survey == name))
        self._move(closing=name)
        self.tidy()

    def delete_survey(self, name: str) -> None:
        """Delete a survey, its secret key, its invitations and its reports; one that was deleted stays deleted."""
        with writing(self._engine) as connection:
            connection.execute(delete(invitations).where(invitations.c.survey == name))
            connection.execute(delete(truths).where(truths.c.survey == name))
            connection.execute(delete(surveys).where(surveys.c.id == name))
        with writing(self._engine) as connection:
            remove_reports(connection, name)
        self.tidy()

    def counts(self, name: str) -> dict[str, int]:
        """Return the numbers of invitations issued, of replacements, of unspent and admitted ones, and of reports."""
        mine = surveys.c.id == name
        with reading(self._engine) as connection:
            lock_reports(connection)
            row = connection.execute(select(surveys.c.issued, surveys.c.replaced).where(mine)).one_or_none()
            spent = select(func.count()).select_from(invitations).where(invitations.c.survey == name)
            return {
                "issued": row.issued if row else 0,
                "replaced": row.replaced if row else 0,
                "unspent": int(connection.scalar(spent.where(invitations.c.blinded.is_(None))) or 0),
                "admitted": int(connection.scalar(spent.where(invitations.c.blinded.is_not(None))) or 0),
                "reports": self._marks.of(connection, name).reports,
            }

    def reports(self, name: str) -> list[bytes]:
        """Return all reports of a survey, in the order of their random keys."""
        with reading(self._engine) as connection:
            lock_reports(connection)
            found = union_all(
                *(_reports_of(table, name) for table in tables_of_reports(levels_of(connection)))
            ).subquery()
            return [bytes(report) for report in connection.scalars(select(found.c.report).order_by(found.c.key))]

    def joined_reports(self, name: str) -> bytes:
        """Return all reports of a survey one after the other, in any order, which is faster than one by one."""
        with reading(self._engine) as connection:
            lock_reports(connection)
            tables = tables_of_reports(levels_of(connection))
            found = union_all(*(_reports_of(table, name) for table in tables)).subquery().c.report
            if is_postgres(connection):
                return bytes(connection.scalar(select(func.string_agg(found, literal(b"")))) or b"")
            return bytes.fromhex(connection.scalar(select(func.group_concat(func.hex(found), ""))) or "")

    def mark(self, name: str) -> Mark:
        """Return the number of a survey's reports, and their first and last key: other reports have another mark."""
        with reading(self._engine) as connection:
            lock_reports(connection)
            return self._marks.of(connection, name)

    def may_have_grown(self, name: str, earlier: Mark) -> bool:
        """Return whether a survey still has the reports that had a mark, perhaps with others: its ends are there."""
        keys = sorted({earlier.first, earlier.last})
        with reading(self._engine) as connection:
            lock_reports(connection)
            return len(known_reports(connection, levels_of(connection), name, keys)) == len(keys)

    def receipts(self, name: str) -> list[bytes] | None:
        """Return the receipts of a survey's reports, sorted, which tells no order of arrival; None without a survey.

        Reports that were stored by 0.1 have none.
        """
        with reading(self._engine) as connection:
            lock_reports(connection)
            if connection.scalar(CLOSED, {"survey": name}) is None:
                return None
            tables = tables_of_reports(levels_of(connection))
            mine = (select(t.c.receipt).where(t.c.survey == name, t.c.receipt.is_not(None)) for t in tables)
            return sorted(map(bytes, connection.scalars(union_all(*mine))))

    def has(self, entry: Entry) -> bool:
        """Return whether exactly this report is stored."""
        with reading(self._engine) as connection:
            lock_reports(connection)
            known = known_reports(connection, levels_of(connection), entry.survey, [entry.key])
        return known.get(entry.key) == entry.report

    def commit(self, entries: Sequence[Entry]) -> list[Outcome]:
        """Store reports in one transaction, which is on disk when this returns."""
        for _ in range(TRIES - 1):
            try:
                return self._commit(entries)
            except IntegrityError:
                continue  # another server has stored the same report meanwhile
        return self._commit(entries)

    def _commit(self, entries: Sequence[Entry]) -> list[Outcome]:
        indices_of: dict[str, list[int]] = defaultdict(list)
        for index, entry in enumerate(entries):
            indices_of[entry.survey].append(index)
        outcomes: dict[int, Outcome] = {}
        with writing(self._engine) as connection:
            lock_reports(connection)
            for name, indices in sorted(indices_of.items()):  # in the same order by all servers, lest they deadlock
                stored = store_entries(connection, name, [entries[index] for index in indices])
                outcomes |= zip(indices, stored, strict=True)
        self._arrived = True
        return [outcomes[index] for index in range(len(entries))]

    def tidy(self) -> bool:
        """Remove the order of arrival: move reports, write the rest of the inbox anew, and empty SQLite's log.

        The log, which shows what was written together, cannot be emptied while somebody reads. This does not wait
        for readers, so reports are not held up, nor for a backup. Return whether nothing is left to do.
        """
        if self._arrived and not self._move():
            return False
        if is_postgres(self._engine):
            return True
        with self._engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.exec_driver_sql("PRAGMA busy_timeout=0")
            try:
                busy, _, _ = connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").one()
            finally:
                connection.exec_driver_sql(f"PRAGMA {BUSY_TIMEOUT}")
        return not busy

    def _move(self, closing: str | None = None) -> bool:
        """Move reports; return whether nothing had to be left for later."""
        self._arrived = False
        try:
            with writing(self._engine) as connection:
                moved = move_reports(connection, batch=self._batch, capacity=self._capacity, closing=closing)
        except BaseException:
            self._arrived = True
            raise
        if not moved:
            self._arrived = True
        return moved

    def check(self) -> list[str]:
        """Check the database before it is served; return what a person should know, and refuse a damaged one."""
        with reading(self._engine) as connection:
            remarks = check_database(connection)
        for survey in map(self.select, self.surveys()):
            if survey.admission is not None and not self.is_closed(survey.id):
                try:
                    self.secret_key(survey)
                except SottovoceError as reason:
                    remarks.append(str(reason))
        return remarks


@lru_cache(maxsize=64)
def _parsed(document: bytes) -> Survey:
    """Return the survey of a document, which is checked when it is read first."""
    return survey_from_bytes(document)


def _survey_row(survey: Survey, secret: SecretKey | None) -> dict[str, Any]:
    return {
        "id": survey.id,
        "document": survey.document,
        "definition": bytes.fromhex(survey.definition_hash),
        "secret": None if secret is None else secret.to_bytes(),
        "logo": survey.logo.content if survey.logo else None,
        "issued": 0,
        "replaced": 0,
        "closed": False,
    }


def _reports_of(table: Table, name: str) -> Select[Any]:
    return select(table.c.key, table.c.report).where(table.c.survey == name)


@contextmanager
def opened(database: str | Path) -> Iterator[Store]:
    """Open a database while the block runs; errors of the database become a `SottovoceError`."""
    store = Store(database)
    try:
        yield store
    except SQLAlchemyError as reason:
        raise database_error(str(database), "used", reason) from None
    finally:
        store.close()
