"""The store: frozen surveys, unspent invitations and disguised reports in one database."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from sqlalchemy import Connection, Table, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from sottovoce.errors import SottovoceError
from sottovoce.survey.batch import Entry, Outcome, store_entries
from sottovoce.survey.links import new_token, token_hash
from sottovoce.survey.survey import Survey, survey_from_bytes
from sottovoce.survey.tables import BUSY_TIMEOUT, invitations, open_engine, reports, surveys

TRIES = 5
"""How often a batch is tried while another server stores the same reports at the same moment."""


class Store:
    """All that is kept, in SQLite by a path or in another database by its URL."""

    def __init__(self, database: str) -> None:
        """Open or create the database."""
        self._engine = open_engine(database)

    def close(self) -> None:
        """Close all connections; SQLite then empties its log of past commits into the database, and removes it."""
        self._engine.dispose()

    def freeze(self, survey: Survey) -> None:
        """Keep a survey for good; freezing the same one again changes nothing."""
        with self._writing() as connection:
            found = connection.scalar(select(surveys.c.document).where(surveys.c.id == survey.id))
            if found is None:
                connection.execute(insert(surveys), {"id": survey.id, "document": survey.document, "issued": 0})
            elif bytes(found) != survey.document:
                raise SottovoceError("survey", "must not begin its hash as another one does; change a word", survey.id)

    def survey(self, name: str) -> Survey | None:
        """Frozen survey with this id, read and checked anew, or None."""
        with self._reading() as connection:
            document = connection.scalar(select(surveys.c.document).where(surveys.c.id == name))
        return None if document is None else survey_from_bytes(bytes(document))

    def surveys(self) -> list[str]:
        """Ids of all frozen surveys."""
        with self._reading() as connection:
            return list(connection.scalars(select(surveys.c.id).order_by(surveys.c.id)))

    def invite(self, survey: Survey, count: int) -> list[str]:
        """Issue invitations: tokens for the caller to hand out, of which the store keeps hashes only."""
        if survey.invitation == "open":
            rule = "must be single for links of their own; the link of this survey is open to all"
            raise SottovoceError("invitation", rule, survey.invitation)
        tokens = [new_token() for _ in range(count)]
        hashes = [{"survey": survey.id, "token": token_hash(survey.hash, token)} for token in tokens]
        with self._writing() as connection:
            connection.execute(insert(invitations), hashes)
            issued = {"issued": surveys.c.issued + count}
            connection.execute(update(surveys).where(surveys.c.id == survey.id).values(issued))
        return tokens

    def counts(self, name: str) -> dict[str, int]:
        """Invitations issued and unspent, and reports, of one survey."""
        with self._reading() as connection:
            return {
                "issued": int(connection.scalar(select(surveys.c.issued).where(surveys.c.id == name)) or 0),
                "unspent": _count(connection, invitations, name),
                "reports": _count(connection, reports, name),
            }

    def reports(self, name: str) -> list[bytes]:
        """All reports of a survey, in the order of their random keys."""
        query = select(reports.c.report).where(reports.c.survey == name).order_by(reports.c.key)
        with self._reading() as connection:
            return [bytes(report) for report in connection.scalars(query)]

    def has(self, entry: Entry) -> bool:
        """Whether this very report is stored."""
        query = select(reports.c.report).where(reports.c.survey == entry.survey, reports.c.key == entry.key)
        with self._reading() as connection:
            found = connection.scalar(query)
        return found is not None and bytes(found) == entry.report

    def commit(self, entries: Sequence[Entry]) -> list[Outcome]:
        """Spend invitations and store reports, all of a batch in one transaction; on disk when this returns."""
        for _ in range(TRIES - 1):
            try:
                return self._commit(entries)
            except IntegrityError:
                continue  # another server stored the same report meanwhile: look again
        return self._commit(entries)

    def _commit(self, entries: Sequence[Entry]) -> list[Outcome]:
        places: dict[str, list[int]] = defaultdict(list)
        for place, entry in enumerate(entries):
            places[entry.survey].append(place)
        outcomes: dict[int, Outcome] = {}
        with self._writing() as connection:
            for name, own in places.items():
                outcomes |= zip(own, store_entries(connection, name, [entries[place] for place in own]), strict=True)
        return [outcomes[place] for place in range(len(entries))]

    def tidy(self) -> bool:
        """Empty SQLite's log of recent commits, which shows what was written together; says whether it is empty.

        It is not while somebody reads, and whoever reads for long must not hold up the reports.
        """
        if self._engine.dialect.name != "sqlite":
            return True
        with self._engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.exec_driver_sql("PRAGMA busy_timeout=0")
            try:
                busy, _, _ = connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").one()
            finally:
                connection.exec_driver_sql(f"PRAGMA {BUSY_TIMEOUT}")
        return not busy

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        with self._engine.begin() as connection:
            yield connection

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        with self._engine.connect().execution_options(writes=True) as connection, connection.begin():
            yield connection


def _count(connection: Connection, table: Table, survey: str) -> int:
    query = select(func.count()).select_from(table).where(table.c.survey == survey)
    return int(connection.scalar(query) or 0)
