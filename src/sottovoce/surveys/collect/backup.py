"""Backups: everything in a database of surveys in one file, which is restored once before it gets its name.

A backup is an SQLite file, whichever database it was made of, and is restored into either kind. It holds all reports in
one table, in the order of their random keys: neither an order of arrival, nor which reports were in the inbox. Sessions
and one-time links of accounts are left out, because a restore must not bring back those that were ended meanwhile.

For each table, the backup states the number of rows and their digest (`row_copies`).
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

from sqlalchemy import (
    URL,
    Column,
    Connection,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    insert,
    inspect,
)

from sottovoce.checks import Progress
from sottovoce.errors import SottovoceError, Words, file_errors, renamed_parameters
from sottovoce.surveys.collect.database import (
    accounts,
    database_error,
    database_url,
    drafts,
    driver_message,
    invitations,
    is_postgres,
    level,
    levels_of,
    lock_reports,
    reading,
    snapshot,
    surveys,
    truths,
    writing,
)
from sottovoce.surveys.collect.entries import tables_of_reports
from sottovoce.surveys.collect.inbox import count, level_with_room
from sottovoce.surveys.collect.opening import VERSION, create_tables
from sottovoce.surveys.collect.row_copies import (
    Advance,
    Digest,
    ErrorOf,
    Place,
    connected,
    named_errors,
    read_rows,
    row_counter,
    row_writer,
    sqlite_url,
    untyped,
)
from sottovoce.surveys.collect.store import Store, opened
from sottovoce.tables.sink import check_new, new_file

FORMAT = 1
"""Newest version of the format that this release reads."""

SQLITE = b"SQLite format 3\0"
MARK = b"SvBk"
"""First bytes of an SQLite file, and the `application_id` (bytes 68 to 71) of those that are backups."""

BACKUP_PASSES, RESTORE_PASSES = 4, 3
"""How often all rows are read: a backup is copied, checked, restored and checked; a restore begins with a check."""

REPORTS = "reports"
COPIED = (surveys, invitations, accounts, drafts, truths)
"""Tables that are copied as they are, those first that others refer to."""

_FILE = MetaData()
_about = Table("backup", _FILE, Column("format", Integer, nullable=False), Column("layout", Integer, nullable=False))
_contents = Table(
    "contents",
    _FILE,
    Column("name", String, primary_key=True),
    Column("rows", Integer, nullable=False),
    Column("digest", LargeBinary(32), nullable=False),
    sqlite_with_rowid=False,
)
_KEPT = {
    **{table.name: table.to_metadata(_FILE) for table in COPIED},
    REPORTS: level(0).to_metadata(_FILE, name=REPORTS),
}
"""Tables of a backup, beside those that describe it."""


@dataclass(frozen=True)
class Backup:
    """What a backup holds, in numbers; `remarks` say what is wrong with the database, of which it is a true copy."""

    surveys: int
    reports: int
    invitations: int
    accounts: int
    drafts: int
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class _OpenBackup(Place):
    """A backup that is read; `listed` are the digests that it states."""

    listed: dict[str, Digest]


def back_up(store: Store, path: str | Path, *, overwrite: bool = False, progress: Progress | None = None) -> Backup:
    """Copy a database, which may be in use, to a file that appears when it has been restored once and checked.

    The copy has every report that was acknowledged before this began, and no report waits for it. The file is readable
    for its owner only. Even with `overwrite`, an older file is not replaced by the copy of a database with a survey
    that is damaged or lacks its secret key.

    >>> with TemporaryDirectory() as folder:
    ...     with opened(f"{folder}/surveys.db") as store:
    ...         print(back_up(store, f"{folder}/backup.db"))
    ...     restored = restore(f"{folder}/backup.db", f"{folder}/restored.db")
    Backup(surveys=0, reports=0, invitations=0, accounts=0, drafts=0, remarks=())
    """
    output = Path(path)
    check_new(output, overwrite=overwrite)
    _check_other_file(store, output)
    with file_errors(output), new_file(output, private=True) as hidden:
        advance = _copy(store, hidden, _not_written(output), progress)
        with _open_backup(hidden) as made:
            _check_digests(made, advance)
            check_intact(made.connection)
            backup = _summary(made.listed, _restored_once(made, output, advance))
        if backup.remarks and output.exists():
            rule = f"must be a new file: an older backup is not replaced while something is wrong ({backup.remarks[0]})"
            raise SottovoceError("output", rule, str(output))
    return backup


def _restored_once(made: _OpenBackup, output: Path, advance: Advance) -> tuple[str, ...]:
    """Restore a backup into a file that is deleted; return what is wrong with its surveys."""
    with _scratch(output) as folder, renamed_parameters({"db": "output"}):
        restored = Path(folder, output.name)
        _fill(made, sqlite_url(restored), advance, _not_written(output))
        with opened(restored) as store:
            with reading(store.engine) as connection:
                check_intact(connection)
            return tuple(_remarks(store))


def restore(backup: str | Path, database: str | Path, *, progress: Progress | None = None) -> Backup:
    """Write a backup into a new SQLite file, or into an empty PostgreSQL database by its URL; return what it holds.

    The backup is checked first, and the database afterwards. If anything fails, nothing is left of it. Whatever has
    changed since the backup is as it was: reports that came later are lost, and invitations that were used or withdrawn
    later can be used again.
    """
    url = database_url(database)
    is_file, path = url.get_backend_name() == "sqlite", Path(url.database or "")
    if is_file:
        _check_new_database(path)
    with _open_backup(Path(backup)) as source:
        advance = row_counter(progress, RESTORE_PASSES * _total(source.listed))
        _check_digests(source, advance)

        def error(reason: Exception) -> SottovoceError:
            return database_error(str(database), "filled", reason)

        if is_file:
            _restore_file(source, path, advance, error)
        else:
            _fill(source, url, advance, error)
        return _summary(source.listed)


def _restore_file(source: _OpenBackup, path: Path, advance: Advance, error: ErrorOf) -> None:
    """Restore into a hidden file, which then gets its name."""
    with file_errors(path), _scratch(path) as folder, new_file(path, private=True) as hidden:
        restored = Path(folder, path.name)
        _fill(source, sqlite_url(restored), advance, error)
        _check_new_database(path)  # again: a server that was not stopped may have created it
        restored.replace(hidden)


def _copy(store: Store, hidden: Path, error: ErrorOf, progress: Progress | None) -> Advance:
    """Write a database into the file of a backup, as it is at one moment; return what counts the further passes."""

    def unread(reason: Exception) -> SottovoceError:
        return database_error(store.place.url, "read", reason)

    with (
        named_errors(error),
        connected(sqlite_url(hidden)) as engine,
        writing(engine) as target,
        named_errors(unread),
        snapshot(store.engine) as connection,
    ):
        stored = _stored(connection)
        tables = [table for each in stored.values() for table in each]
        advance = row_counter(progress, BACKUP_PASSES * sum(count(connection, table) for table in tables))
        source = Place(connection, stored, unread)
        with named_errors(error):
            _FILE.create_all(target)
            target.exec_driver_sql(f"PRAGMA application_id = {int.from_bytes(MARK)}")
            target.execute(insert(_about), {"format": FORMAT, "layout": VERSION})
            read = read_rows(source, advance, row_writer(target, _KEPT))
            listed = [{"name": name, **digest._asdict()} for name, digest in read.items()]
            target.execute(insert(_contents), listed)
    return advance


def _stored(connection: Connection) -> dict[str, list[Table]]:
    """Return the tables of a database whose rows are copied, by their names in backups."""
    return {table.name: [table] for table in COPIED} | {REPORTS: tables_of_reports(levels_of(connection))}


@contextmanager
def _open_backup(path: Path) -> Iterator[_OpenBackup]:
    """Open a backup that nobody writes; refuse another file, and a newer version."""
    with open(path, "rb") as stream:
        head = stream.read(100)
    if not head.startswith(SQLITE) or head[68:72] != MARK:
        rule = "must be a file that `sottovoce survey backup` wrote"
        raise SottovoceError("backup", rule, Words(f"another kind of file, {str(path)!r}"))

    def damaged(reason: Exception) -> SottovoceError:
        rule = f"must be whole; this one is damaged or cut off ({driver_message(reason)})"
        return SottovoceError("backup", rule, str(path))

    # Immutable: SQLite neither locks the file nor looks for logs beside it.
    url = URL.create("sqlite", database=path.absolute().as_uri(), query={"uri": "true", "immutable": "1"})
    with named_errors(damaged), connected(url) as engine, reading(engine) as connection:
        about = connection.execute(untyped(_about)).one()
        for name, version, newest in zip(("format", "layout"), about, (FORMAT, VERSION), strict=True):
            if isinstance(version, int) and version > newest:
                rule = f"must have {name} version {newest}: this one was written by a newer version of Sottovoce"
                raise SottovoceError("backup", rule, version)
            if version != newest:
                raise damaged(ValueError(f"{name} version {version!r}"))
        listed = {name: Digest(rows, digest) for name, rows, digest in connection.execute(untyped(_contents))}
        if listed.keys() != _KEPT.keys() or not all(isinstance(digest.rows, int) for digest in listed.values()):
            raise damaged(ValueError("its table of contents"))
        yield _OpenBackup(connection, {name: [table] for name, table in _KEPT.items()}, damaged, listed)


def _check_digests(backup: _OpenBackup, advance: Advance) -> None:
    """Refuse a backup with other rows than it states."""
    found = read_rows(backup, advance)
    changed = [name for name, digest in found.items() if digest != backup.listed[name]]
    if changed:
        raise backup.error(ValueError(f"{', '.join(changed)} with other rows than were written"))


def _fill(backup: _OpenBackup, url: URL, advance: Advance, error: ErrorOf) -> None:
    """Write a backup into an empty database, in one transaction."""
    with named_errors(error), connected(url) as engine, writing(engine) as connection:
        lock_reports(connection, exclusive=True)  # a server that starts now waits, and then finds the tables
        names = inspect(connection).get_table_names()
        if names:
            rule = "must be empty: a backup is restored into a new SQLite file, or a PostgreSQL database without tables"
            raise SottovoceError("db", rule, Words(f"one with {', '.join(sorted(names))}"))
        number = level_with_room(backup.listed[REPORTS].rows)
        create_tables(connection, number + 1)
        targets = {table.name: table for table in COPIED} | {REPORTS: level(number)}
        read_rows(backup, advance, row_writer(connection, targets))
        if read_rows(Place(connection, _stored(connection), error), advance) != backup.listed:
            raise SottovoceError("db", "must hold exactly the rows of the backup", Words("others"))


def check_intact(connection: Connection) -> None:
    """Refuse an SQLite file in which SQLite finds a mistake."""
    found = str(connection.exec_driver_sql("PRAGMA integrity_check(1)").scalar())
    if found != "ok":
        raise SottovoceError("backup", "must be intact once it is written; the disk may be failing", Words(found))


def _remarks(store: Store) -> Iterator[str]:
    """Yield what is wrong with surveys: documents, logos and secret keys that are not what they should be."""
    for name in store.surveys():
        try:
            survey = store.select(name)
            if survey.id != name:
                raise SottovoceError(f"survey {name}", "must have the id of its document", survey.id)
            if survey.logo is not None and sha256(survey.logo.content or b"").hexdigest() != survey.logo.sha256:
                rule = "must have the logo of its document"
                raise SottovoceError(f"survey {name}", rule, Words("another one, or none"))
            if survey.admission is not None and not store.is_closed(name):
                store.secret_key(survey)
        except SottovoceError as reason:
            yield str(reason)


def _check_other_file(store: Store, output: Path) -> None:
    """Refuse to write a backup over the database itself."""
    if is_postgres(store.engine) or not output.exists():
        return
    with reading(store.engine) as connection:
        _, _, database = connection.exec_driver_sql("PRAGMA database_list").fetchall()[0]
    if database and output.samefile(database):  # one in memory has no file
        raise SottovoceError("output", "must be another file than the database", str(output))


def _check_new_database(path: Path) -> None:
    """Refuse an SQLite file that exists, or whose logs do: SQLite would write them into the new one."""
    if not path.name or str(path).startswith("file:"):
        rule = "must be the path of a new SQLite file, or the URL of a PostgreSQL database"
        raise SottovoceError("db", rule, Words("another URL"))
    for name in (f"{path}{ending}" for ending in ("", "-wal", "-shm", "-journal")):
        if Path(name).exists():
            rule = "must not exist yet: a backup is restored into a new file, or an empty PostgreSQL database"
            raise SottovoceError("db", rule, name)
    with renamed_parameters({"output": "db"}):
        check_new(path, overwrite=False)


@contextmanager
def _scratch(beside: Path) -> Iterator[str]:
    """Make a hidden folder beside a file, readable for its owner only; whatever happens, nothing stays in it."""
    with TemporaryDirectory(prefix=f".{beside.name}.", dir=beside.parent) as folder:
        yield folder


def _not_written(output: Path) -> ErrorOf:
    """Return what makes an error of a file that cannot be written."""

    def error(reason: Exception) -> SottovoceError:
        return SottovoceError("output", f"must be a file that can be written ({driver_message(reason)})", str(output))

    return error


def _total(listed: Mapping[str, Digest]) -> int:
    return sum(digest.rows for digest in listed.values())


def _summary(listed: Mapping[str, Digest], remarks: tuple[str, ...] = ()) -> Backup:
    counted = {
        name: listed[name].rows for name in (surveys.name, REPORTS, invitations.name, accounts.name, drafts.name)
    }
    return Backup(**counted, remarks=remarks)
