"""How a survey's database is opened: its layout is checked, created if it is empty, and updated if it is of 0.1."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from hashlib import sha256
from pathlib import Path

from sqlalchemy import (
    Column,
    Connection,
    Engine,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    insert,
    inspect,
    select,
    text,
)
from sqlalchemy.exc import SQLAlchemyError

from sottovoce.errors import SottovoceError, Words
from sottovoce.surveys.collect.database import (
    database_error,
    database_url,
    inbox,
    invitations,
    is_postgres,
    layout,
    level,
    lock_reports,
    metadata,
    new_engine,
    reading,
    surveys,
    writing,
)

VERSION = 2
"""Newest version of the layout that this release reads. Databases of 0.1 have version 1, and do not say so."""

FIRST_TABLES = {
    "surveys": {"id", "document", "issued"},
    "invitations": {"survey", "token"},
    "reports": {"survey", "key", "report"},
}
"""Tables of a database of 0.1, and their columns."""

BACKUP_TABLES = {"backup", "contents"}
"""Tables that backups have beside copies of a database's."""


def open_engine(database: str | Path) -> Engine:
    """Open an SQLite file by its path, or a PostgreSQL database by its URL; create or update its tables.

    A database that is refused stays as it was.
    """
    url = database_url(database)
    try:
        engine = new_engine(url)
        with _closed_after_errors(engine):
            _open(engine)
    except (SQLAlchemyError, ImportError, OSError) as reason:
        raise database_error(str(database), "opened", reason) from None
    return engine


@contextmanager
def _closed_after_errors(engine: Engine) -> Iterator[None]:
    """Close all connections if the block raises: SQLite leaves its log beside a file that is open."""
    try:
        yield
    except BaseException:
        engine.dispose()
        raise


def _open(engine: Engine) -> None:
    """Check what a database holds; then create or update its tables if necessary."""
    with reading(engine) as connection:
        current = _is_current(connection)
    if not is_postgres(engine):
        with closing(engine.raw_connection()) as plain:  # of no transaction
            plain.cursor().execute("PRAGMA journal_mode=WAL")  # is kept in the file
    if not current:
        with writing(engine) as connection:
            _prepare_layout(connection)


def _is_current(connection: Connection) -> bool:
    """Whether the database has the tables of this version; refuse a newer version and other programs' tables."""
    names = set(inspect(connection).get_table_names())
    if layout.name in names:
        _check_layout(connection)
        return True
    if not names:
        return False
    if names >= BACKUP_TABLES:
        raise SottovoceError("db", "must be a database; `sottovoce survey restore` makes one of it", Words("a backup"))
    if names != set(FIRST_TABLES) or any(_columns(connection, name) != FIRST_TABLES[name] for name in names):
        rule = "must be a database of Sottovoce's surveys, or an empty one; this one has other tables"
        raise SottovoceError("db", rule, Words(", ".join(sorted(names))))
    return False


def _check_layout(connection: Connection) -> None:
    """Refuse a newer version, and a database that lacks tables of this version."""
    version, levels = connection.execute(select(layout.c.version, layout.c.levels)).one_or_none() or (None, 0)
    if isinstance(version, int) and version > VERSION:
        rule = f"must have layout version {VERSION}: this database was written by a newer version of Sottovoce"
        raise SottovoceError("db", rule, version)
    if version != VERSION:
        raise SottovoceError("db", f"must have layout version {VERSION}; restore a backup", version)
    # Tables are listed after the number of levels was read, which may grow meanwhile.
    wanted = {*metadata.tables, inbox.name, *(level(number).name for number in range(levels))}
    missing = wanted - set(inspect(connection).get_table_names())
    if missing:
        raise SottovoceError("db", f"must have all of its tables; {', '.join(sorted(missing))}", Words("none"))


def _columns(connection: Connection, table: str) -> set[str]:
    return {column["name"] for column in inspect(connection).get_columns(table)}


def _prepare_layout(connection: Connection) -> None:
    """Create the tables of a new database, or update those of 0.1."""
    lock_reports(connection, exclusive=True)
    if _is_current(connection):
        return  # another server has done it meanwhile
    if inspect(connection).get_table_names():
        _update_from_0_1(connection)
    else:
        create_tables(connection)


def create_tables(connection: Connection, levels: int = 1) -> None:
    """Create the tables of an empty database."""
    metadata.create_all(connection)
    inbox.create(connection)
    for number in range(levels):
        level(number).create(connection)
    connection.execute(insert(layout), {"version": VERSION, "levels": levels})


def _update_from_0_1(connection: Connection) -> None:
    """Copy what 0.1 stored into tables of this version, in one transaction."""
    old = {name: _old_table(name) for name in ("surveys", "invitations", "reports")}
    for name, table in old.items():
        connection.execute(text(f"ALTER TABLE {name} RENAME TO {table.name}"))
    create_tables(connection)
    for row in connection.execute(select(old["surveys"])).mappings().all():
        document = bytes(row["document"])
        # Its definition, frozen again, gets an admission key and is another survey, unless the survey is open.
        definition = sha256(document if b'"invitation":"open"' in document else b"0.1" + document).digest()
        connection.execute(insert(surveys), {**row, "definition": definition, "replaced": 0, "closed": False})
    unspent, stored = old["invitations"], old["reports"]
    connection.execute(insert(invitations).from_select(["survey", "token"], select(unspent)))
    copied = select(stored).order_by(stored.c.survey, stored.c.key)
    connection.execute(insert(level(0)).from_select(["survey", "key", "report"], copied))
    for name in ("reports", "invitations", "surveys"):
        old[name].drop(connection)


def _old_table(name: str) -> Table:
    columns = {
        "surveys": (("id", String), ("document", LargeBinary), ("issued", Integer)),
        "invitations": (("survey", String), ("token", LargeBinary)),
        "reports": (("survey", String), ("key", LargeBinary), ("report", LargeBinary)),
    }
    return Table(f"{name}_0_1", MetaData(), *(Column(column, kind) for column, kind in columns[name]))
