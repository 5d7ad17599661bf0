"""Tallies in files: JSON, or Arrow as a table of labels and frequencies that every reader of Arrow shows.

The document is `{"version", "kind", "plan", "plan_sha256", "reports", "columns", "rows", "items", "sets", "sha256"}`:
rows are the codes of all columns and, as decimal text, the number of reports; sets are the numbers of their items and
the number of reports. `sha256` is the hash of the canonical JSON of everything else. An Arrow file has the rows in its
table, and the document without them in its metadata.
"""

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from sottovoce.counts.tally import Tally
from sottovoce.errors import SottovoceError, Words, file_errors
from sottovoce.plans.canonical import canonical_bytes, check_version
from sottovoce.plans.document import plan_from_json, plan_to_json
from sottovoce.schemas.attribute import check_codes
from sottovoce.tables.sink import check_new, new_file
from sottovoce.tables.values import pyarrow

VERSION = 1
"""Newest version of saved tallies that this release reads."""

KEYS = {"version", "kind", "plan", "plan_sha256", "reports", "columns", "rows", "items", "sets", "sha256"}

SUFFIXES = (".json", ".arrow")
"""Extensions of saved tallies."""

TALLY_KEY = b"sottovoce.tally"
"""Key of the document in the metadata of an Arrow file."""

MALFORMED = (LookupError, TypeError, ValueError, ArithmeticError, RecursionError)
"""What Python raises where a document holds a value of another type, or lacks one."""

Rows = list[list[Any]]


def tally_to_json(tally: Tally) -> dict[str, Any]:
    """Return everything as JSON, with the plan and a hash of the whole."""
    columns = [*tally.counted.columns, tally.counted.times]
    rows = [[*codes, str(times)] for *codes, times in zip(*(c.tolist() for c in columns), strict=True)]
    content: dict[str, Any] = {
        "version": VERSION,
        "kind": "tally",
        "plan": plan_to_json(tally.plan),
        "plan_sha256": tally.plan.hash,
        "reports": str(len(tally)),
        "columns": list(tally.names),
        "rows": rows,
        "items": None if tally.items is None else tally.items.name,
        "sets": [[list(items), str(number)] for items, number in zip(tally.sets, tally.set_counts, strict=True)],
    }
    return {**content, "sha256": _hash(content)}


def tally_from_json(document: Any, label: str = "document") -> Tally:
    """Read a tally; refuse a newer version, another kind of document, and one that was changed.

    A tally can be written in one way only: a document that this release would write differently is refused, too.
    `label` is what errors call the document.
    """
    _check_kind(document, label)
    try:
        if set(document) != KEYS or _hash(document) != document["sha256"]:
            rule = "must be a tally as it was saved: its hash is another"
            raise SottovoceError(label, rule, document.get("sha256"))
        tally = _tally(document, label)
        as_saved = tally_to_json(tally)["sha256"] == document["sha256"]
    except SottovoceError:
        raise
    except MALFORMED:
        as_saved = False
    if not as_saved:
        raise SottovoceError(label, "must be a tally as it was saved", Words("one that is written differently"))
    return tally


def _check_kind(document: Any, label: str) -> None:
    """Refuse another kind of document, and a newer version."""
    if not isinstance(document, Mapping) or document.get("kind") != "tally":
        raise SottovoceError(label, "must be a saved tally", Words("something else"))
    check_version("tally", document.get("version"), VERSION)


def _tally(document: Mapping[str, Any], label: str) -> Tally:
    """Return the tally of a document; raise for counts that contradict each other."""
    sets = tuple(tuple(map(int, items)) for items, _ in document["sets"])
    tally = Tally.of_columns(plan_from_json(document["plan"]), document["columns"], sets)
    sizes, rows = () if tally.schema is None else tally.schema.sizes, document["rows"]
    columns = tuple(np.array([row[index] for row in rows], np.int64) for index in range(len(sizes)))
    check_codes(columns, sizes)
    reports, times = int(document["reports"]), [int(row[-1]) for row in rows]
    set_counts = [int(number) for _, number in document["sets"]]
    items = range(0 if tally.items is None else len(tally.items.items))
    known = all(each and set(each) <= set(items) and list(each) == sorted(set(each)) for each in sets)
    positive = all(number > 0 for number in times) and all(0 <= number <= reports for number in set_counts)
    if not (known and positive and list(sets) == sorted(set(sets)) and (sum(times) == reports if sizes else sets)):
        raise SottovoceError(label, "must be a tally whose counts agree with each other", Words("others"))
    tally.fill(columns, times, reports, set_counts)
    return tally


def write_tally(tally: Tally, path: str | Path, *, overwrite: bool = False) -> None:
    """Write a tally; the file appears when it is complete."""
    write = _write_arrow if is_arrow(path) else _write_json
    check_new(path, overwrite=overwrite)
    with file_errors(path), new_file(path) as hidden:
        write(tally, hidden)


def read_tally(path: str | Path) -> Tally:
    """Read a saved tally; one that was cut short or changed is refused."""
    document = _read_arrow(path) if is_arrow(path) else _read_json(path)
    tally = tally_from_json(document, str(path))
    tally.path = path
    return tally


def is_tally(path: str | Path) -> bool:
    """Whether a file is a saved tally, by the extension.

    >>> is_tally("week.json"), is_tally("reports.csv")
    (True, False)
    """
    return Path(path).suffix.lower() in SUFFIXES


def is_arrow(path: str | Path) -> bool:
    """Whether a tally is saved as Arrow, by the extension.

    >>> is_arrow("monday.arrow"), is_arrow("monday.json")
    (True, False)
    """
    if not isinstance(path, str | Path) or not is_tally(path):
        raise SottovoceError("path", f"must end in {' or '.join(SUFFIXES)}", path)
    return Path(path).suffix.lower() == ".arrow"


def _hash(document: Mapping[str, Any]) -> str:
    return sha256(canonical_bytes({key: value for key, value in document.items() if key != "sha256"})).hexdigest()


def _write_json(tally: Tally, path: Path) -> None:
    path.write_text(json.dumps(tally_to_json(tally)) + "\n", encoding="utf-8")


def _read_json(path: str | Path) -> Any:
    with file_errors(path):
        text = Path(path).read_bytes()
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise _damaged(path) from None


def _write_arrow(tally: Tally, path: Path) -> None:
    arrow = pyarrow("Arrow")
    header = json.dumps({**tally_to_json(tally), "rows": []}).encode()
    table = arrow.table({} if tally.schema is None else tally.to_table()).replace_schema_metadata({TALLY_KEY: header})
    with arrow.OSFile(str(path), "wb") as stream, arrow.ipc.new_file(stream, table.schema) as writer:
        writer.write_table(table)


def _read_arrow(path: str | Path) -> Any:
    arrow = pyarrow("Arrow")
    with file_errors(path):
        content = Path(path).read_bytes()
    try:
        table = arrow.ipc.open_file(arrow.BufferReader(content)).read_all()
        table.validate(full=True)  # reading damaged offsets would end the process
        header = json.loads((table.schema.metadata or {})[TALLY_KEY])
    except (arrow.ArrowException, MemoryError, OSError, *MALFORMED):
        raise _damaged(path) from None
    _check_kind(header, str(path))  # a newer version may hold anything else
    try:
        tally = Tally.of_columns(plan_from_json(header["plan"]), header["columns"])
        return {**header, "rows": _rows(tally, table) if tally.schema is not None else []}
    except SottovoceError as reason:
        rule = f"must be a whole tally, as `save` wrote it ({reason.parameter} {reason.rule})"
        raise SottovoceError(str(path), rule, reason.value) from None
    except (arrow.ArrowException, MemoryError, OSError, *MALFORMED):
        raise _damaged(path) from None


def _rows(tally: Tally, table: Any) -> Rows:
    """Codes and numbers of the rows of an Arrow table of labels."""
    if tally.schema is None or tuple(table.column_names) != (*tally.names, tally.frequencies):
        columns = Words(f"the columns {', '.join(table.column_names)}")
        raise SottovoceError("it", f"must hold the columns {', '.join((*tally.names, tally.frequencies))}", columns)
    labels: Sequence[Any] = [table.column(name).to_pylist() for name in tally.names]
    codes = tally.schema.encode(dict(zip(tally.names, labels, strict=True)))
    times = table.column(tally.frequencies).to_pylist()
    return [[*row, str(number)] for *row, number in zip(*(c.tolist() for c in codes), times, strict=True)]


def _damaged(path: str | Path) -> SottovoceError:
    return SottovoceError(str(path), "must be a whole tally, as `save` wrote it", Words("a damaged one"))
