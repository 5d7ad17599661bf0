"""Where reports go: the caller's kind of frame, or a file that appears only when it is complete."""

import csv
import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from sottovoce.errors import SottovoceError, named
from sottovoce.plans.document import plan_to_text
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Codes
from sottovoce.schemas.item_set import SEPARATOR, ItemSet
from sottovoce.schemas.schema import Schema
from sottovoce.tables.bitsets import Csr
from sottovoce.tables.parquet import arrow_schema, arrow_table, parquet_writer
from sottovoce.tables.source import STANDARD_STREAM, FrameSource, Source, is_parquet
from sottovoce.tables.values import array_of_lists, pyarrow

GROUP_ROWS = 2**20
GROUP_VALUES = 2**22
"""Rows of a row group, and values if the table is so wide that fewer rows hold them."""


class Sink(ABC):
    """Takes coded reports, batch by batch."""

    @abstractmethod
    def write(self, columns: Sequence[Codes]) -> None:
        """Add these rows."""

    @abstractmethod
    def write_listed(self, variable: ItemSet, rows: Csr) -> None:
        """Add transactions; the set of items is all that there is."""


class FrameSink(Sink):
    """Collects reports in memory and gives back the kind of table the truths came in."""

    def __init__(self, schema: Schema, source: Source) -> None:
        """Remember the kind of the source."""
        self._schema, self._source = schema, source
        self._parts: list[Sequence[Codes]] = []
        self._lists: list[list[Any]] = []

    def write(self, columns: Sequence[Codes]) -> None:
        """Keep codes, not labels, until the end."""
        self._parts.append(columns)

    def write_listed(self, variable: ItemSet, rows: Csr) -> None:
        """Keep lists, which share their labels."""
        self._lists += variable.labelled(*rows)

    def native(self) -> Any:
        """Labels in the caller's kind of frame, with a fresh index: an old one may name people."""
        labels = self._labels()
        if not isinstance(self._source, FrameSource):
            return {
                name: values.tolist() if isinstance(values, np.ndarray) else values for name, values in labels.items()
            }
        truths = self._source.frame
        reports = nw.from_dict({name: _plain(values) for name, values in labels.items()}, backend=truths.implementation)
        kinds = {name: truths[name].dtype for name in reports.columns if name in truths.columns}
        categorical = [name for name, kind in kinds.items() if isinstance(kind, nw.Enum | nw.Categorical)]
        return reports.with_columns(nw.col(name).cast(kinds[name]) for name in categorical).to_native()

    def _labels(self) -> dict[str, Any]:
        if self._lists:
            return {self._schema.names[0]: self._lists}
        return self._schema.decode([np.concatenate(parts) for parts in zip(*self._parts, strict=True)])


class CsvSink(Sink):
    """Writes labels as text; sets of items are joined by semicolons."""

    def __init__(self, schema: Schema, stream: Any) -> None:
        """Write the header."""
        self._schema = schema
        self._writer = csv.writer(stream, lineterminator="\n")
        self._writer.writerow(schema.names)

    def write(self, columns: Sequence[Codes]) -> None:
        """Write one line a row."""
        labels = [_texts(values) for values in self._schema.decode(columns).values()]
        self._writer.writerows(zip(*labels, strict=True))

    def write_listed(self, variable: ItemSet, rows: Csr) -> None:
        """Write one line a transaction."""
        texts = ItemSet(variable.name, map(str, variable.items))  # items as text once, not once a transaction
        self._writer.writerows([SEPARATOR.join(items)] for items in texts.labelled(*rows))


class ParquetSink(Sink):
    """Writes row groups of one size, however the rows came; the plan is in the metadata from the start."""

    def __init__(self, schema: Schema, path: Path, plan: Plan) -> None:
        """Open a file under its temporary name."""
        self._schema = schema
        self._types = arrow_schema(schema, plan_to_text(plan))
        self._most = max(1, min(GROUP_ROWS, GROUP_VALUES // len(schema.sizes)))
        self._parts: list[Sequence[Codes]] = []
        self._rows = 0
        self.writer = parquet_writer(path, self._types)

    def write(self, columns: Sequence[Codes]) -> None:
        """Write the row groups that are full; keep codes, not labels, of the one that is not."""
        while self._rows + len(columns[0]) >= self._most:
            here = self._most - self._rows
            self._keep([codes[:here] for codes in columns])
            self.finish()
            columns = [codes[here:] for codes in columns]
        self._keep(columns)

    def write_listed(self, variable: ItemSet, rows: Csr) -> None:
        """Write one row group."""
        lists = array_of_lists(variable, *rows, self._types.field(variable.name).type)
        self.writer.write_table(pyarrow().Table.from_arrays([lists], schema=self._types))

    def finish(self) -> None:
        """Write the rows that are kept."""
        if self._rows > 0:
            columns = [np.concatenate(parts) for parts in zip(*self._parts, strict=True)]
            self._parts, self._rows = [], 0
            self.writer.write_table(arrow_table(self._schema, self._types, columns))

    def _keep(self, columns: Sequence[Codes]) -> None:
        self._parts.append(columns)
        self._rows += len(columns[0])


def sidecar(path: str | Path) -> Path:
    """File beside a CSV file that holds its plan.

    >>> sidecar("out.csv").name
    'out.csv.plan.json'
    """
    return Path(f"{path}.plan.json")


@contextmanager
def file_sink(path: str | Path, plan: Plan, *, overwrite: bool = False) -> Iterator[Sink]:
    """Sink whose file appears under its name only if the block ends without an error."""
    schema = plan.report_schema
    if str(path) == STANDARD_STREAM:
        yield CsvSink(schema, sys.stdout)
        return
    check_new(path, overwrite=overwrite)
    if is_parquet(path):
        with named(path), new_file(path) as hidden:
            sink = ParquetSink(schema, hidden, plan)
            with sink.writer:
                yield sink
                sink.finish()
    else:
        check_new(sidecar(path), overwrite=overwrite)
        # The inner block ends first: the plan is in place before the data appear under their name.
        with named(path), new_file(path) as hidden, new_file(sidecar(path)) as beside:
            beside.write_text(plan_to_text(plan), encoding="utf-8")
            with open(hidden, "w", newline="", encoding="utf-8") as stream:
                yield CsvSink(schema, stream)
            # A disk may turn out to be full only now: the old plan must still stand beside the old data.
            _flush_to_disk(hidden)


def check_new(path: str | Path, *, overwrite: bool) -> None:
    """Refuse to replace a file unless told to."""
    if Path(path).exists() and not overwrite:
        raise SottovoceError("output", "must not exist yet, or overwriting must be asked for", str(path))


@contextmanager
def new_file(path: str | Path) -> Iterator[Path]:
    """Hidden temporary name in the same folder; renamed at the end, or removed after an error."""
    final = Path(path)
    hidden = final.with_name(f".{final.name}.{token_hex(4)}.part")
    try:
        yield hidden
        _flush_to_disk(hidden)
        hidden.replace(final)
    finally:
        hidden.unlink(missing_ok=True)


def _flush_to_disk(path: Path) -> None:
    with open(path, "rb+") as stream:
        os.fsync(stream.fileno())


def _plain(values: Any) -> Any:
    """Text as a list, which every frame reads as text; numbers and booleans as arrays."""
    return values.tolist() if isinstance(values, np.ndarray) and values.dtype == object else values


def _texts(values: Any) -> list[Any]:
    """Cells of a CSV file: sets of items joined, everything else as it prints."""
    if isinstance(values, np.ndarray):
        return list(values.tolist())
    return [SEPARATOR.join(map(str, items)) for items in values]
