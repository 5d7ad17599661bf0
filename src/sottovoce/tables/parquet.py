"""Parquet files, through pyarrow, which is imported only when it is needed."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import SottovoceError, Words, file_errors
from sottovoce.plans.public import PublicColumn, PublicNumber
from sottovoce.schemas.attribute import Codes, Columns, Label, Variable
from sottovoce.schemas.item_set import ItemSet
from sottovoce.schemas.schema import Schema
from sottovoce.tables.values import pyarrow

PLAN_KEY = b"sottovoce.plan"
"""Key of the plan document in the metadata of a disguised Parquet file."""

BUFFER_BYTES = 2**20
"""Bytes of a column that are read at once: row groups may be larger than memory."""


def open_parquet(path: str | Path) -> Any:
    """Open a Parquet file; text columns are read as the dictionaries they are stored as."""
    arrow = pyarrow()
    options = {"buffer_size": BUFFER_BYTES, "pre_buffer": False, "page_checksum_verification": True}
    try:
        file = arrow.parquet.ParquetFile(path, **options)
        leaves = map(file.schema.column, range(len(file.schema)))
        texts = [leaf.path for leaf in leaves if leaf.logical_type.type == "STRING"]
        return arrow.parquet.ParquetFile(path, metadata=file.metadata, read_dictionary=texts, **options)
    except arrow.ArrowInvalid as reason:
        raise SottovoceError(str(path), f"must be a Parquet file ({reason})", Words("something else")) from None


def read_batches(
    path: str, file: Any, names: Sequence[str], rows: int, groups: Sequence[int] | None = None
) -> Iterator[Any]:
    """Read record batches of some columns, of all row groups or of some.

    A truncated or damaged file is refused where the damage is met.
    """
    with damage_errors(path):
        yield from _batches(file, list(names), rows, range(file.num_row_groups) if groups is None else groups)


@contextmanager
def damage_errors(path: str) -> Iterator[None]:
    """Name the file in errors of the operating system, and refuse contents that Arrow cannot read."""
    try:
        with file_errors(path):
            yield
    except (pyarrow().ArrowException, OSError) as reason:
        if getattr(reason, "errno", None) is not None:
            raise
        message = " ".join(str(reason).split())
        raise SottovoceError(path, f"must be a whole Parquet file ({message})", Words("a damaged one")) from None


def _batches(file: Any, names: list[str], rows: int, groups: Sequence[int]) -> Iterator[Any]:
    """Batches across row groups; lists of dictionary values, which pyarrow reads by row group only, are joined."""
    if not any(_lists_by_dictionary(file.schema_arrow.field(name).type) for name in names):
        yield from file.iter_batches(batch_size=rows, columns=names, row_groups=list(groups))
        return
    by_group = (file.iter_batches(batch_size=rows, columns=names, row_groups=[group]) for group in groups)
    yield from joined_batches(chain.from_iterable(by_group), rows)


def joined_batches(batches: Iterable[Any], rows: int) -> Iterator[Any]:
    """Join and cut record batches into ones with at most this many rows, and as few as possible."""
    held: list[Any] = []
    for batch in batches:
        for start in range(0, len(batch), rows):
            part = batch.slice(start, rows)
            if held and sum(map(len, held)) + len(part) > rows:
                yield from _joined(held)
                held = []
            held.append(part)
    yield from _joined(held)


def _lists_by_dictionary(kind: Any) -> bool:
    types = pyarrow().types
    return bool(types.is_nested(kind) and kind.num_fields and types.is_dictionary(kind.field(0).type))


def _joined(batches: Sequence[Any]) -> list[Any]:
    """Combine batches into one; none if there are none."""
    joined: list[Any] = pyarrow().Table.from_batches(batches).combine_chunks().to_batches() if batches else []
    return joined


def arrow_schema(
    schema: Schema, plan_text: str, public: Sequence[PublicColumn] = (), numbers: Mapping[str, Any] | None = None
) -> Any:
    """Arrow types of the report columns and the public columns, with the plan in the metadata.

    Public numbers have the type in `numbers`, or 64-bit floating point.
    """
    arrow, known = pyarrow(), numbers or {}
    types = {v.name: _arrow_type(v) for v in schema}
    for column in public:
        if isinstance(column, PublicNumber):
            types[column.name] = known.get(column.name) or arrow.float64()
        else:
            types[column.name] = _arrow_type(column)
    fields = [arrow.field(name, kind, nullable=False) for name, kind in types.items()]
    return arrow.schema(fields, metadata={PLAN_KEY: plan_text.encode()})


def arrow_table(
    schema: Schema, arrow_types: Any, columns: Sequence[Codes], public: Mapping[PublicColumn, NDArray[Any]]
) -> Any:
    """Arrow table of coded reports and public columns; text is stored as a dictionary and its codes."""
    arrow = pyarrow()
    arrays = [
        _arrow_array(v, tuple(columns[schema.columns_of(v.name)]), arrow_types.field(v.name).type) for v in schema
    ]
    for column, values in public.items():
        kind = arrow_types.field(column.name).type
        if isinstance(column, PublicNumber):
            arrays.append(arrow.array(values, kind))
        else:
            arrays.append(_arrow_array(column, (values,), kind))
    return arrow.Table.from_arrays(arrays, schema=arrow_types)


def array_of_sets(variable: ItemSet, columns: Columns, kind: Any) -> Any:
    """Lists of the items whose bits are set."""
    rows, codes = np.nonzero(np.stack(columns, axis=1))
    return array_of_lists(variable, np.searchsorted(rows, np.arange(len(columns[0]) + 1)), codes, kind)


def array_of_lists(variable: ItemSet, ends: Codes, codes: Codes, kind: Any) -> Any:
    """Arrow array of lists of items, from their offsets and the numbers of the items."""
    arrow = pyarrow()
    items = arrow.array(variable.items, kind.value_type).take(arrow.array(codes))
    return arrow.ListArray.from_arrays(arrow.array(ends, arrow.int32()), items, type=kind)


def _arrow_array(variable: Variable, coded: Columns, kind: Any) -> Any:
    arrow = pyarrow()
    if isinstance(variable, ItemSet):
        return array_of_sets(variable, coded, kind)
    if arrow.types.is_dictionary(kind):
        codes = arrow.array(coded[0].astype(kind.index_type.to_pandas_dtype()))
        labels = variable.decode((np.arange(variable.sizes[0]),))
        return arrow.DictionaryArray.from_arrays(codes, arrow.array(labels, arrow.string()))
    return arrow.array(variable.decode(coded), kind)


def parquet_writer(path: Path, arrow_types: Any) -> Any:
    """Open a new Parquet file for writing."""
    return pyarrow().parquet.ParquetWriter(path, arrow_types)


def _arrow_type(variable: Variable) -> Any:
    """Arrow type of a report column: lists of items, dictionary-encoded text, integers or booleans."""
    arrow = pyarrow()
    if isinstance(variable, ItemSet):
        return arrow.list_(_label_type(variable.items[0]))
    first = np.asarray(variable.decode((np.zeros(1, np.uint8),))).tolist()[0]
    return arrow.dictionary(arrow.int32(), arrow.string()) if isinstance(first, str) else _label_type(first)


def _label_type(label: Label) -> Any:
    arrow = pyarrow()
    return {str: arrow.string(), int: arrow.int64(), bool: arrow.bool_()}[type(label)]
