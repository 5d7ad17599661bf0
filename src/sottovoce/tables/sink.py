"""Write reports: to the caller's kind of frame, or to a file that appears only when it is complete."""

import csv
import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import SottovoceError, file_errors
from sottovoce.plans.document import plan_to_text
from sottovoce.plans.plan import Plan
from sottovoce.plans.public import PublicNumber
from sottovoce.schemas.attribute import Attribute, Codes
from sottovoce.schemas.item_set import SEPARATOR, ItemSet
from sottovoce.tables.bitsets import Csr
from sottovoce.tables.parquet import PLAN_KEY, arrow_schema, arrow_table, parquet_writer
from sottovoce.tables.public_columns import PublicValues, public_labels
from sottovoce.tables.source import PANDAS_MARK, STANDARD_STREAM, FrameSource, Source, is_parquet, sidecar
from sottovoce.tables.values import array_of_lists, pyarrow

GROUP_ROWS = 2**20
GROUP_VALUES = 2**22
"""Most rows of a row group, and most values, which mean fewer rows of a wide table."""


class Sink(ABC):
    """Accepts coded reports batch by batch."""

    @abstractmethod
    def write(self, columns: Sequence[Codes], public: PublicValues = ()) -> None:
        """Add coded reports and the public columns of the same rows."""

    @abstractmethod
    def write_transactions(self, variable: ItemSet, rows: Csr) -> None:
        """Add transactions of a plan whose only column is one item set."""


class FrameSink(Sink):
    """Collects reports in memory and returns them as the kind of table the truths came in."""

    def __init__(self, plan: Plan, source: Source) -> None:
        """Keep the source, whose kind of frame is returned."""
        self._plan, self._source = plan, source
        self._parts: list[Sequence[NDArray[Any]]] = []
        self._lists: list[list[Any]] = []

    def write(self, columns: Sequence[Codes], public: PublicValues = ()) -> None:
        """Keep codes; labels are made at the end."""
        self._parts.append((*columns, *public))

    def write_transactions(self, variable: ItemSet, rows: Csr) -> None:
        """Keep lists of labels."""
        self._lists += variable.decode_sparse(*rows)

    def native(self) -> Any:
        """Return reports in the caller's kind of frame, with a new index: the old one may name people.

        A pandas frame is marked with the hash of the plan, an Arrow table with the plan.
        """
        labels = self._labels()
        if not isinstance(self._source, FrameSource):
            return {
                name: values.tolist() if isinstance(values, np.ndarray) else values for name, values in labels.items()
            }
        truths = self._source.frame
        reports = nw.from_dict({name: _plain(values) for name, values in labels.items()}, backend=truths.implementation)
        kinds = {name: truths[name].dtype for name in reports.columns if name in truths.columns}
        kept = [name for name, kind in kinds.items() if isinstance(kind, nw.Enum | nw.Categorical)]
        kept += [
            column.name for column in self._plan.public if isinstance(column, Attribute) and _is_number(kinds, column)
        ]
        numbers = [column.name for column in self._plan.public if isinstance(column, PublicNumber)]
        typed = reports.with_columns(
            *(nw.col(name).cast(kinds[name]) for name in kept), *(truths[name] for name in numbers)
        )
        return marked(typed.to_native(), self._plan)

    def _labels(self) -> dict[str, Any]:
        schema, public = self._plan.report_schema, self._plan.public
        if self._lists:
            return {schema.names[0]: self._lists}
        columns = [np.concatenate(parts) for parts in zip(*self._parts, strict=True)]
        shown = zip(public, columns[len(schema.sizes) :], strict=True)
        return schema.decode(columns) | {column.name: public_labels(column, values) for column, values in shown}


class CsvSink(Sink):
    """Writes labels as text; the items of a set are joined by semicolons."""

    def __init__(self, plan: Plan, stream: Any) -> None:
        """Write the header."""
        self._schema, self._public = plan.report_schema, plan.public
        self._writer = csv.writer(stream, lineterminator="\n")
        self._writer.writerow((*self._schema.names, *plan.public_names))

    def write(self, columns: Sequence[Codes], public: PublicValues = ()) -> None:
        """Write one line for each row."""
        shown = zip(self._public, public, strict=True)
        labels = [_texts(values) for values in self._schema.decode(columns).values()]
        labels += [_texts(public_labels(column, values)) for column, values in shown]
        self._writer.writerows(zip(*labels, strict=True))

    def write_transactions(self, variable: ItemSet, rows: Csr) -> None:
        """Write one line for each transaction."""
        texts = ItemSet(variable.name, map(str, variable.items))  # convert items to text once, not for each transaction
        self._writer.writerows([SEPARATOR.join(items)] for items in texts.decode_sparse(*rows))


class ParquetSink(Sink):
    """Writes row groups of equal size, whatever the batches, and the plan in the metadata."""

    def __init__(self, path: Path, plan: Plan, numbers: Mapping[str, Any] | None = None) -> None:
        """Open the file; `numbers` are Arrow types of public numbers."""
        self._schema, self._public = plan.report_schema, plan.public
        self._types = arrow_schema(self._schema, plan_to_text(plan), plan.public, numbers)
        self._most = max(1, min(GROUP_ROWS, GROUP_VALUES // len(self._schema.sizes)))
        self._parts: list[Sequence[NDArray[Any]]] = []
        self._rows = 0
        self.writer = parquet_writer(path, self._types)

    def write(self, columns: Sequence[Codes], public: PublicValues = ()) -> None:
        """Write full row groups; keep the codes of the rest."""
        rest: list[NDArray[Any]] = [*columns, *public]
        while self._rows + len(rest[0]) >= self._most:
            here = self._most - self._rows
            self._keep([values[:here] for values in rest])
            self.finish()
            rest = [values[here:] for values in rest]
        self._keep(rest)

    def write_transactions(self, variable: ItemSet, rows: Csr) -> None:
        """Write one row group."""
        lists = array_of_lists(variable, *rows, self._types.field(variable.name).type)
        self.writer.write_table(pyarrow().Table.from_arrays([lists], schema=self._types))

    def finish(self) -> None:
        """Write the remaining rows."""
        if self._rows > 0:
            columns = [np.concatenate(parts) for parts in zip(*self._parts, strict=True)]
            self._parts, self._rows = [], 0
            public = dict(zip(self._public, columns[len(self._schema.sizes) :], strict=True))
            self.writer.write_table(arrow_table(self._schema, self._types, columns, public))

    def _keep(self, columns: Sequence[NDArray[Any]]) -> None:
        self._parts.append(columns)
        self._rows += len(columns[0])


@contextmanager
def file_sink(
    path: str | Path, plan: Plan, *, overwrite: bool = False, numbers: Mapping[str, Any] | None = None
) -> Iterator[Sink]:
    """Open a sink whose file appears under its name only if the block ends without an error.

    `numbers` are Arrow types of public numbers, for Parquet files.
    """
    if str(path) == STANDARD_STREAM:
        yield CsvSink(plan, sys.stdout)
        return
    check_new(path, overwrite=overwrite)
    if is_parquet(path):
        with file_errors(path), new_file(path) as hidden:
            sink = ParquetSink(hidden, plan, numbers)
            with sink.writer:
                yield sink
                sink.finish()
    else:
        check_new(sidecar(path), overwrite=overwrite)
        # The inner block ends first: the plan is in place before the data appear under their name.
        with file_errors(path), new_file(path) as hidden, new_file(sidecar(path)) as beside:
            beside.write_text(plan_to_text(plan), encoding="utf-8")
            with open(hidden, "w", newline="", encoding="utf-8") as stream:
                yield CsvSink(plan, stream)
            # A full disk may show only now: the old plan must then still be beside the old data.
            _flush_to_disk(hidden)


def check_new(path: str | Path, *, overwrite: bool) -> None:
    """Refuse to replace an existing file unless `overwrite` is true."""
    if Path(path).exists() and not overwrite:
        raise SottovoceError("output", "must not exist yet, unless overwriting is asked for", str(path))


@contextmanager
def new_file(path: str | Path) -> Iterator[Path]:
    """Yield a hidden temporary path in the same folder; rename it at the end, or remove it after an error."""
    final = Path(path)
    hidden = final.with_name(f".{final.name}.{token_hex(4)}.part")
    try:
        yield hidden
        _flush_to_disk(hidden)
        hidden.replace(final)
    finally:
        hidden.unlink(missing_ok=True)


def marked(table: Any, plan: Plan) -> Any:
    """Mark a pandas frame with the hash of its plan and an Arrow table with the plan; return others as they are."""
    if hasattr(table, "replace_schema_metadata"):
        return table.replace_schema_metadata({PLAN_KEY: plan_to_text(plan).encode()})
    if hasattr(table, "attrs"):
        table.attrs[PANDAS_MARK] = plan.hash
    return table


def _is_number(kinds: Mapping[str, Any], column: Attribute) -> bool:
    """Whether categories are numbers in the truths, whose type public columns keep."""
    return bool(kinds[column.name].is_numeric()) and not isinstance(column.categories[0], str)


def _flush_to_disk(path: Path) -> None:
    with open(path, "rb+") as stream:
        os.fsync(stream.fileno())


def _plain(values: Any) -> Any:
    """Text as a list, which every frame library reads as text; numbers and booleans as arrays."""
    return values.tolist() if isinstance(values, np.ndarray) and values.dtype == object else values


def _texts(values: Any) -> list[Any]:
    """Cells of a CSV file: sets joined by semicolons, whole numbers without ".0", everything else as it prints."""
    if isinstance(values, np.ndarray) and values.dtype.kind == "f":
        return [repr(value).removesuffix(".0") for value in values.tolist()]
    if isinstance(values, np.ndarray):
        return list(values.tolist())
    return [SEPARATOR.join(map(str, items)) for items in values]
