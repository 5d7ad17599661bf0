"""An attack that links invitations to reports by what a database remembers beyond its rows.

The attacker is the operator: a superuser of PostgreSQL with pageinspect and the server's files, or whoever holds the
SQLite file and its log. He knows all hashes of invitations and all keys of reports, and in which order people were
admitted. He looks once or several times, and wants to know which report came with which invitation.

Traces are of three kinds. Orders: where rows lie (ctid, offsets within pages, of live and of dead rows) tells when they
came. Clocks: transactions have numbers (xmin and xmax, commits in SQLite's log), and what was done in the same
transaction, or in the one after, belongs together. Groups: two dumps show what was done between them.
From them follow guesses, of which the strongest is the attacker's.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from tests.surveys.postgres import Cluster
from tests.surveys.sqlite_pages import cells, frames, free_pages, newest, pages, remains, tables

Guess = dict[bytes, bytes]
"""Keys of reports by hashes of invitations."""

Group = tuple[frozenset[bytes], frozenset[bytes]]
"""Invitations and reports that belong together, nobody knows how."""

SURE, LIKELY, POSSIBLE = 3, 2, 1


@dataclass(frozen=True)
class Order:
    """Values as they came, as a trace tells it, and how much is to be thought of it."""

    trace: str
    values: tuple[bytes, ...]
    strength: int


class Values:
    """The values that an attacker looks for in bytes."""

    def __init__(self, tokens: Iterable[bytes], keys: Iterable[bytes]) -> None:
        self.tokens, self.keys = frozenset(tokens), frozenset(keys)
        self._hexadecimal = re.compile("|".join(value.hex() for value in self.tokens | self.keys))
        self._found: dict[bytes, list[tuple[int, bytes]]] = {}

    def within(self, data: bytes) -> list[tuple[int, bytes]]:
        """Return the values in bytes, with their places."""
        if data not in self._found:  # most files are the same at every look
            self._found[data] = sorted((at, value) for value in self.tokens | self.keys for at in _places(data, value))
        return self._found[data]

    def written(self, text: str) -> list[bytes]:
        """Return the values in a text, in hexadecimal digits."""
        return [bytes.fromhex(found) for found in self._hexadecimal.findall(text)]


def _places(data: bytes, value: bytes) -> Iterator[int]:
    at = data.find(value)
    while at >= 0:
        yield at
        at = data.find(value, at + 1)


@dataclass
class Traces:
    """What has been found, from which guesses follow."""

    values: Values
    orders: list[Order] = field(default_factory=list)
    groupings: dict[str, list[Group]] = field(default_factory=dict)
    ages: dict[str, list[frozenset[bytes]]] = field(default_factory=dict)
    direct: dict[str, tuple[int, Guess]] = field(default_factory=dict)

    def add_sightings(self, trace: str, seen: Iterable[tuple[Any, bytes]], strength: int = POSSIBLE) -> None:
        """Add values that were seen at comparable places, of which the later ones are the newer ones."""
        ordered = [value for _, value in sorted(seen)]
        first = tuple(dict.fromkeys(ordered))
        last = tuple(reversed(dict.fromkeys(reversed(ordered))))
        for values, kind in ((first, "first"), (last, "last")):
            if values and (kind == "first" or last != first):
                self.orders.append(Order(f"{trace}, {kind}", values, strength))

    def add_clock(self, trace: str, seen: Iterable[tuple[int, bytes]]) -> None:
        """Add times at which rows with a value were written, by a clock of everything."""
        times: dict[bytes, set[int]] = defaultdict(set)
        for time, value in seen:
            times[value].add(time)
        # An invitation is admitted after it was issued, and a report comes before it is moved.
        last = {value: max(times[value]) for value in times if value in self.values.tokens}
        first = {value: min(times[value]) for value in times if value in self.values.keys}
        self.add_groups(f"same {trace}", list(_together(last, first)))
        for found in (last, first):
            if len(set(found.values())) > len(found) / 2:
                self.add_sightings(trace, ((time, value) for value, time in found.items()), LIKELY)
        if len(set(first.values())) > len(first) / 2:
            self.direct[f"nearest {trace} before"] = SURE, _nearest(last, first)

    def add_groups(self, trace: str, groups: list[Group]) -> None:
        """Add groups of invitations and reports, if there are any."""
        groups = [(tokens, keys) for tokens, keys in groups if tokens and keys]
        if groups:
            self.groupings[trace] = groups

    def add_ages(self, trace: str, of_tables: Mapping[str, Iterable[bytes]]) -> None:
        """Add the reports of each table: those of higher levels came first, those in the inbox last."""
        levels = sorted((name for name in of_tables if re.fullmatch(r"reports_\d+", name)), reverse=True)
        found = [self.values.keys & set(of_tables[name]) for name in [*levels, "inbox"] if name in of_tables]
        found = [keys for keys in found if keys]
        if len(found) > 1:
            self.ages[trace] = found

    def guesses(self, admitted: Sequence[bytes] = ()) -> Iterator[tuple[int, str, Guess]]:
        """Yield guesses with their strength and their trace; `admitted` is the order of admission, if it is known."""
        known = [Order("known", tuple(admitted), SURE)] if admitted else []
        tokens = [*known, *_parts(self.orders, self.values.tokens), Order("any", tuple(sorted(self.values.tokens)), 0)]
        keys = [*_parts(self.orders, self.values.keys), Order("any", tuple(sorted(self.values.keys)), 0)]
        for trace, (strength, guess) in self.direct.items():
            yield 3 * strength + 1, trace, guess
        everything: Mapping[str, list[Group]] = {"everybody": [(self.values.tokens, self.values.keys)]}
        for ours in tokens:
            ages = {f"tables of {trace}": list(_aged(ours.values, found)) for trace, found in self.ages.items()}
            for where, groups in {**everything, **ages, **self.groupings}.items():
                size = max(len(group[1]) for group in groups)
                for theirs in keys:
                    trace = f"{ours.trace} x {theirs.trace} within {where}"
                    strength = ours.strength + theirs.strength + (10 if size == 1 else 4 if where != "everybody" else 0)
                    strength -= 3 * (len(theirs.values) < len(self.values.keys))
                    for way, alignment in ALIGNMENTS.items():
                        guess = _matched(ours.values, theirs.values, groups, alignment)
                        yield strength - ("backwards" in way), f"{trace}, {way}", guess

    def best(self, admitted: Sequence[bytes] = ()) -> tuple[str, Guess]:
        """Return the strongest guess, and the trace that it follows from."""
        _, trace, guess = max(self.guesses(admitted), key=lambda found: found[0])
        return trace, guess


Alignment = Callable[[list[bytes], list[bytes]], Iterable[tuple[bytes, bytes]]]
ALIGNMENTS: dict[str, Alignment] = {
    "from the first": lambda tokens, keys: zip(tokens, keys, strict=False),
    "from the last": lambda tokens, keys: zip(reversed(tokens), reversed(keys), strict=False),
    "backwards": lambda tokens, keys: zip(tokens, reversed(keys), strict=False),
}


def _parts(orders: Iterable[Order], of: frozenset[bytes]) -> list[Order]:
    """Return orders with the given values only; an order that several traces tell counts once, as the strongest."""
    found: dict[tuple[bytes, ...], list[Order]] = defaultdict(list)
    for order in orders:
        values = tuple(value for value in order.values if value in of)
        if len(values) > 1:
            found[values].append(order)
    return [
        Order(" = ".join(order.trace for order in same), values, max(order.strength for order in same))
        for values, same in found.items()
    ]


def _aged(tokens: Sequence[bytes], ages: Sequence[frozenset[bytes]]) -> Iterator[Group]:
    """Yield groups of reports of the same age, with as many invitations in their order."""
    at = 0
    for keys in ages:
        yield frozenset(tokens[at : at + len(keys)]), keys
        at += len(keys)


def _matched(tokens: Iterable[bytes], keys: Iterable[bytes], groups: Iterable[Group], alignment: Alignment) -> Guess:
    guess: Guess = {}
    for of_tokens, of_keys in groups:
        ours, theirs = [value for value in tokens if value in of_tokens], [value for value in keys if value in of_keys]
        guess.update(alignment(ours, theirs))
    return guess


def _together(tokens: Mapping[bytes, int], keys: Mapping[bytes, int]) -> Iterator[Group]:
    """Yield invitations and reports of the same time."""
    for time in sorted({*tokens.values()} & {*keys.values()}):
        yield (
            frozenset(token for token in tokens if tokens[token] == time),
            frozenset(key for key in keys if keys[key] == time),
        )


def _nearest(tokens: Mapping[bytes, int], keys: Mapping[bytes, int]) -> Guess:
    """Give every report the last invitation before it that no other has got."""
    guess: Guess = {}
    for key in sorted(keys, key=keys.__getitem__):
        before = [token for token in tokens if token not in guess and tokens[token] <= keys[key]]
        if before:
            guess[max(before, key=tokens.__getitem__)] = key
    return guess


def right(guess: Guess, truth: Guess) -> int:
    """Return how many pairs of a guess are true."""
    return sum(truth.get(token) == key for token, key in guess.items())


@dataclass(frozen=True)
class Tuple:
    """A version of a row in PostgreSQL, dead or alive."""

    place: tuple[int, int]
    xmin: int
    xmax: int
    data: bytes


@dataclass(frozen=True)
class PostgresLook:
    """What a superuser sees at one moment."""

    dump: str
    tuples: dict[str, list[Tuple]]
    pages: dict[str, list[bytes]]
    files: dict[str, bytes]


def look_at_postgres(cluster: Cluster, url: str) -> PostgresLook:
    """Look at every version of every row, every page and every file of a database, but not at the write-ahead log."""
    tuples: dict[str, list[Tuple]] = {}
    raw: dict[str, list[bytes]] = {}
    with cluster.superuser(url) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS pageinspect")
        relations = connection.execute(
            "SELECT oid::regclass::text, relkind IN ('r', 't'), relname FROM pg_class WHERE oid >= 16384"
            " AND relkind IN ('r', 't', 'i') AND relnamespace IN ('public'::regnamespace, 'pg_toast'::regnamespace)"
        ).fetchall()
        for relation, heap, name in relations:
            (size,) = connection.execute("SELECT pg_relation_size(%s::regclass) / 8192", [relation]).fetchone()
            raw[name] = [
                bytes(connection.execute("SELECT get_raw_page(%s, %s)", [relation, block]).fetchone()[0])
                for block in range(size)
            ]
            if heap:
                tuples[name] = [
                    Tuple((block, line), int(xmin), int(xmax), bytes(data))
                    for block in range(size)
                    for line, xmin, xmax, data in connection.execute(
                        "SELECT lp, t_xmin::text, t_xmax::text, t_data FROM heap_page_items(get_raw_page(%s, %s))"
                        " WHERE t_data IS NOT NULL",
                        [relation, block],
                    )
                ]
        connection.execute("CHECKPOINT")
        (number,) = connection.execute("SELECT oid FROM pg_database WHERE datname = current_database()").fetchone()
    return PostgresLook(cluster.dump(url), tuples, raw, _files(cluster.data, int(number)))


def _files(data: Path, database: int) -> dict[str, bytes]:
    """Return the files of a database, and those that belong to none; the write-ahead log is left out."""
    found = {}
    for path in data.rglob("*"):
        name = path.relative_to(data).as_posix()
        ours = name.startswith(f"base/{database}/") or not name.startswith(("base/", "pg_wal/"))
        if ours and path.is_file():
            found[name] = path.read_bytes()
    return found


def postgres_traces(looks: Sequence[PostgresLook], values: Values) -> Traces:
    """Return what some looks at PostgreSQL tell."""
    traces = Traces(values)
    clock: list[tuple[int, bytes]] = []
    for moment, look in enumerate(looks, 1):
        where = f"look {moment}"
        for table, found in look.tuples.items():
            seen = [(row, value) for row in found for _, value in values.within(row.data)]
            traces.add_sightings(f"{where}, {table}, ctid", [(row.place, value) for row, value in seen], _worth(table))
            clock += [(xid, value) for row, value in seen for xid in (row.xmin, row.xmax) if xid]
        of_tables = {
            table: [value for row in found for _, value in values.within(row.data)]
            for table, found in look.tuples.items()
        }
        traces.add_ages(where, of_tables)
        for relation, found_pages in look.pages.items():
            places = [
                ((block, -at), value) for block, page in enumerate(found_pages) for at, value in values.within(page)
            ]
            traces.add_sightings(f"{where}, {relation}, place on its pages", places, _worth(relation))
        for name, content in look.files.items():
            places = [((at // 8192, -(at % 8192)), value) for at, value in values.within(content)]
            traces.add_sightings(f"{where}, file {name}", places)
        traces.add_sightings(f"{where}, dump", list(enumerate(values.written(look.dump))))
    traces.add_clock("transaction", clock)
    rows = [_dumped_rows(look.dump, values) for look in looks]
    traces.add_groups("dumps", _between(rows, values))
    return traces


def _worth(table: str) -> int:
    return LIKELY if "inbox" in table else POSSIBLE


def _dumped_rows(dump: str, values: Values) -> dict[bytes, Hashable]:
    """Return the row of each value in a dump."""
    return {value: line for line in dump.splitlines() for value in values.written(line)}


def _between(looks: Sequence[Mapping[bytes, Hashable]], values: Values) -> list[Group]:
    """Return invitations whose rows changed, and reports that came, between one look and the next."""
    groups: list[Group] = []
    for old, new in pairwise(looks):
        changed = frozenset(token for token in values.tokens if old.get(token) != new.get(token))
        groups.append((changed, frozenset(key for key in values.keys if key in new and key not in old)))
    return groups if len([group for group in groups if all(group)]) > 1 or _small(groups, values) else []


def _small(groups: Sequence[Group], values: Values) -> bool:
    """Return whether some group is not simply everything."""
    return any(all(group) and len(group[1]) < len(values.keys) for group in groups)


@dataclass(frozen=True)
class SqliteLook:
    """The file and its log at one moment."""

    file: bytes
    logs: dict[str, bytes]

    @property
    def newest(self) -> bytes:
        """The file with everything in its log."""
        return newest(self.file, self.logs.get("-wal", b""))


def look_at_sqlite(database: str) -> SqliteLook:
    """Copy the file and everything beside it."""
    path = Path(database)
    return SqliteLook(
        path.read_bytes(),
        {beside.name[len(path.name) :]: beside.read_bytes() for beside in path.parent.glob(f"{path.name}-*")},
    )


def sqlite_traces(looks: Sequence[SqliteLook], values: Values) -> Traces:
    """Return what some copies of an SQLite file tell."""
    traces = Traces(values)
    for moment, look in enumerate(looks, 1):
        _add_file(traces, f"look {moment}", look.newest)
        for name, log in look.logs.items():
            traces.add_sightings(f"look {moment}, {name}", values.within(log))
            if name == "-wal":
                traces.add_clock(f"commit in look {moment}", _logged(look.file, log, values))
    traces.add_groups("copies", _between([_stored_rows(look.newest, values) for look in looks], values))
    return traces


def _add_file(traces: Traces, where: str, file: bytes) -> None:
    of, values = pages(file), traces.values
    named = tables(file)
    of_tables = {}
    for name, numbers in named.items():
        live = [
            ((page, -cell.start), value)
            for page in numbers
            for cell in cells(of[page - 1], first=page == 1)
            for _, value in values.within(cell.payload)
        ]
        traces.add_sightings(f"{where}, {name}, place of cells", live, _worth(name))
        of_tables[name] = [value for _, value in live]
    traces.add_ages(where, of_tables)
    used = {page for numbers in named.values() for page in numbers}
    left = [
        ((page, -start - at), value)
        for page, content in enumerate(of, 1)
        for start, gap in (remains(content, first=page == 1) if page in used else [(0, content)])
        for at, value in values.within(gap)
    ]
    traces.add_sightings(f"{where}, remains", left)
    free = [
        ((place, -at), value)
        for place, page in enumerate(free_pages(file))
        for at, value in values.within(of[page - 1])
    ]
    traces.add_sightings(f"{where}, free pages", free)


def _rows(page: bytes, number: int, values: Values) -> dict[bytes, Hashable]:
    """Return the cell of each value on a page."""
    return {value: cell.payload for cell in cells(page, first=number == 1) for _, value in values.within(cell.payload)}


def _stored_rows(file: bytes, values: Values) -> dict[bytes, Hashable]:
    """Return the cell of each value in a file."""
    return {
        value: row for number, page in enumerate(pages(file), 1) for value, row in _rows(page, number, values).items()
    }


def _logged(file: bytes, log: bytes, values: Values) -> Iterator[tuple[int, bytes]]:
    """Yield values with the number of the commit that wrote, changed or deleted their row."""
    before = {number: _rows(page, number, values) for number, page in enumerate(pages(file), 1)}
    for frame in frames(log):
        old, now = before.get(frame.page, {}), _rows(frame.image, frame.page, values)
        yield from ((frame.commit, value) for value in {*now, *old} if now.get(value) != old.get(value))
        before[frame.page] = now
