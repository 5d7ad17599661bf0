"""Write reports: to the caller's kind of frame, or to a file that appears only when it is complete."""

import csv
import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import SottovoceError, Words, file_errors
from sottovoce.plans.document import plan_to_text
from sottovoce.plans.plan import Plan
from sottovoce.plans.public import PublicNumber
from sottovoce.schemas.attribute import Attribute, Codes, Variable, label_array
from sottovoce.schemas.binned import Binned
from sottovoce.schemas.item_set import SEPARATOR, ItemSet
from sottovoce.tables.back_ends import is_duckdb, is_parquet
from sottovoce.tables.bitsets import Csr
from sottovoce.tables.csv_file import STANDARD_STREAM, sidecar
from sottovoce.tables.parquet import PLAN_KEY, array_of_lists, arrow_schema, arrow_table, parquet_writer
from sottovoce.tables.public_columns import PublicValues, public_labels
from sottovoce.tables.source import PANDAS_MARK, FrameSource, MappingSource, Source
from sottovoce.tables.values import look_up, pyarrow

MOST_BLOCKS = 100
"""Columns that a pandas frame keeps apart; of more, pandas warns that the frame is fragmented."""

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

        A pandas frame is marked with the hash of the plan, an Arrow table with the plan. Of a mapping, reports of
        arrays are arrays and all others lists.
        """
        if not isinstance(self._source, FrameSource):
            return self._mapping()
        truths = self._source.frame
        numbers = [column.name for column in self._plan.public if isinstance(column, PublicNumber)]
        columns = {name: self._column(truths, name, *coded) for name, coded in self._coded().items()}
        reports = new_frame(columns, truths.implementation)
        typed = reports.with_columns(*(truths[name] for name in numbers)) if numbers else reports
        return marked(typed.to_native(), self._plan)

    def _coded(self) -> dict[str, tuple[Variable | PublicNumber, Any]]:
        """Variables and coded columns of the reports, then of the public columns; transactions as they are."""
        schema, public = self._plan.report_schema, self._plan.public
        if self._lists:
            return {schema.names[0]: (schema.variables[0], self._lists)}
        columns = [np.concatenate(parts) for parts in zip(*self._parts, strict=True)]
        coded = {v.name: (v, tuple(columns[schema.columns_of(v.name)])) for v in schema}
        shown = zip(public, columns[len(schema.sizes) :], strict=True)
        return coded | {column.name: (column, (values,)) for column, values in shown}

    def _column(self, truths: nw.DataFrame[Any], name: str, variable: Variable | PublicNumber, coded: Any) -> Any:
        """Column of a frame; public categories that are numbers keep the type they have there."""
        if not isinstance(variable, Attribute | Binned):
            return _decoded(variable, coded)
        truth = truths[name] if name in truths.columns else None
        labels = label_array(variable.categories)
        column = frame_column(labels, coded[0], truth, truths.implementation)
        if (
            truth is None
            or name not in self._plan.public_names
            or labels.dtype == object
            or not truth.dtype.is_numeric()
        ):
            return column
        values: nw.Series[Any] = nw.new_series(name, column, backend=truths.implementation)
        return values.cast(truth.dtype).to_native()

    def _mapping(self) -> dict[str, Any]:
        """Mapping of lists, and of arrays where the truths are arrays."""
        arrays = self._source.arrays if isinstance(self._source, MappingSource) else {}
        reports = {}
        for name, (variable, coded) in self._coded().items():
            names = [name] if name in self._source.names else self._plan.schema.names
            if all(other in arrays for other in names):
                reports[name] = _decoded(variable, coded, text=arrays[names[0]])
            else:
                values = _decoded(variable, coded)
                reports[name] = values.tolist() if isinstance(values, np.ndarray) else values
        return reports


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
    path: str | Path,
    plan: Plan,
    *,
    overwrite: bool = False,
    numbers: Mapping[str, Any] | None = None,
    private: bool = False,
) -> Iterator[Sink]:
    """Open a sink whose file appears under its name only if the block ends without an error.

    `numbers` are Arrow types of public numbers, for Parquet files. A `private` file is readable for its owner only.
    """
    if str(path) == STANDARD_STREAM:
        yield CsvSink(plan, sys.stdout)
        return
    check_reports_name(path)
    check_new(path, overwrite=overwrite)
    if is_parquet(path):
        with file_errors(path), new_file(path, private=private) as hidden:
            sink = ParquetSink(hidden, plan, numbers)
            with sink.writer:
                yield sink
                sink.finish()
    else:
        check_new(sidecar(path), overwrite=overwrite)
        # The inner block ends first: the plan is in place before the data appear under their name.
        with file_errors(path), new_file(path, private=private) as hidden, new_file(sidecar(path)) as beside:
            beside.write_text(plan_to_text(plan), encoding="utf-8")
            with open(hidden, "w", newline="", encoding="utf-8") as stream:
                yield CsvSink(plan, stream)
            # A full disk may show only now: the old plan must then still be beside the old data.
            _flush_to_disk(hidden)


def check_reports_name(path: str | Path) -> None:
    """Refuse to write reports to a path that would be read as something else."""
    if is_duckdb(path) or Path(path).suffix.lower() in (".json", ".arrow"):
        rule = "must be named as CSV or Parquet; DuckDB files are not written, .json and .arrow files are tallies"
        raise SottovoceError("output", rule, str(path))


def check_new(path: str | Path, *, overwrite: bool) -> None:
    """Refuse to replace a folder, or an existing file unless `overwrite` is true, and a path in no folder."""
    if Path(path).exists() and not overwrite:
        raise SottovoceError("output", "must not exist yet, unless overwriting is asked for", str(path))
    if Path(path).is_dir():
        raise SottovoceError("output", "must be a file", Words(f"the folder {path}"))
    if not Path(path).parent.is_dir():
        raise SottovoceError("output", "must be in a folder that exists", str(path))


@contextmanager
def new_file(path: str | Path, *, private: bool = False) -> Iterator[Path]:
    """Yield a hidden temporary path in the same folder; rename it at the end, or remove it after an error.

    A `private` file is readable for its owner only.
    """
    final = Path(path)
    hidden = final.with_name(f".{final.name}.{token_hex(4)}.part")
    try:
        if private:
            hidden.touch(mode=0o600)
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


def _decoded(variable: Variable | PublicNumber, coded: Any, text: np.dtype[Any] | None = None) -> Any:
    """Values of coded columns: an array of labels or numbers, with text as arrays of type `text` have it, or lists."""
    if isinstance(variable, PublicNumber):
        return coded[0]
    if not isinstance(variable, Attribute | Binned):
        return coded if isinstance(coded, list) else variable.decode(coded)
    labels = label_array(variable.categories)
    if labels.dtype == object and text is not None and text.kind in "UT":
        labels = labels.astype(str if text.kind == "U" else text)
    return look_up(labels, coded[0])


def _flush_to_disk(path: Path) -> None:
    with open(path, "rb+") as stream:
        os.fsync(stream.fileno())


def _texts(values: Any) -> list[Any]:
    """Cells of a CSV file: sets joined by semicolons, whole numbers without ".0", everything else as it prints."""
    if isinstance(values, np.ndarray) and values.dtype.kind == "f":
        return [repr(value).removesuffix(".0") for value in values.tolist()]
    if isinstance(values, np.ndarray):
        return list(values.tolist())
    return [SEPARATOR.join(map(str, items)) for items in values]


def frame_column(labels: NDArray[Any], codes: Codes, truth: nw.Series[Any] | None, backend: nw.Implementation) -> Any:
    """Labels of codes as a column of a frame: of the truth's categories if it has some, else of the labels' type.

    >>> import pandas as pd
    >>> truth = nw.from_native(pd.Series(["b", "a"], dtype="category"), series_only=True)
    >>> frame_column(np.array(["a", "b"], object), np.array([0, 1, 1]), truth, truth.implementation)
    ['a', 'b', 'b']
    Categories (2, object): ['a', 'b']
    """
    categorical = truth is not None and isinstance(truth.dtype, nw.Enum | nw.Categorical)
    library_column = COLUMNS.get(backend)
    if library_column is not None:
        return library_column(labels, codes, truth.to_native() if truth is not None and categorical else None)
    library: Any = backend.to_native_namespace()
    values = labels.take(codes)
    column: nw.Series[Any] = nw.new_series("", values if values.dtype != object else values.tolist(), backend=library)
    return (column.cast(truth.dtype) if truth is not None and categorical else column).to_native()


def new_frame(columns: Mapping[str, Any], backend: nw.Implementation) -> nw.DataFrame[Any]:
    """Frame of new columns, which pandas need not copy; it copies many of them into few blocks."""
    library: Any = backend.to_native_namespace()
    if backend.is_pandas() and len(columns) <= MOST_BLOCKS:
        return nw.from_native(library.DataFrame(columns, copy=False), eager_only=True)
    return nw.from_dict(columns, backend=library)


def _pandas_column(labels: NDArray[Any], codes: Codes, truth: Any) -> Any:
    import pandas

    if truth is None:
        typed = pandas.Series(labels.tolist())
        return look_up(labels, codes) if isinstance(typed.dtype, np.dtype) else typed.array.take(codes)
    kind = truth.dtype
    positions = _positions(labels, getattr(kind, "categories", pandas.Index([])).tolist())
    if positions is not None:
        return pandas.Categorical.from_codes(look_up(positions, codes), dtype=kind)
    own = pandas.CategoricalDtype(labels.tolist(), ordered=getattr(kind, "ordered", False))
    return pandas.Categorical.from_codes(codes, dtype=own)


def _polars_column(labels: NDArray[Any], codes: Codes, truth: Any) -> Any:
    import polars

    if labels.dtype != object:
        return look_up(labels, codes)
    column = polars.Series(labels.tolist(), dtype=polars.String)
    if truth is not None:
        lacks = truth.dtype == polars.Enum and _positions(labels, truth.dtype.categories.to_list()) is None
        column = column.cast(polars.Enum(labels.tolist()) if lacks else truth.dtype)
    return column[codes]


def _arrow_column(labels: NDArray[Any], codes: Codes, truth: Any) -> Any:
    import pyarrow

    if truth is not None:
        return pyarrow.DictionaryArray.from_arrays(codes.astype(np.uint32), pyarrow.array(labels))
    return pyarrow.array(labels).take(pyarrow.array(codes)) if labels.dtype == object else look_up(labels, codes)


COLUMNS: dict[nw.Implementation, Callable[[NDArray[Any], Codes, Any], Any]] = {
    nw.Implementation.PANDAS: _pandas_column,
    nw.Implementation.POLARS: _polars_column,
    nw.Implementation.PYARROW: _arrow_column,
}
"""How each library makes a column of labels and codes, and a column whose categories are to be kept; None for none."""


def _positions(labels: NDArray[Any], categories: list[Any]) -> NDArray[Any] | None:
    """Position of each label among the categories of a column; None if one is not there, or of another type."""
    known = {(type(label), label): position for position, label in enumerate(categories)}
    found = [known.get((type(label), label), -1) for label in labels.tolist()]
    return None if -1 in found else np.array(found, np.min_scalar_type(-len(known)))
