"""Parquet files through pyarrow, which is imported only when a file asks for it."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sottovoce.errors import SottovoceError, Words, named
from sottovoce.schemas.attribute import Codes, Label, Variable
from sottovoce.schemas.item_set import ItemSet
from sottovoce.schemas.schema import Schema
from sottovoce.tables.values import array_of_sets, pyarrow

PLAN_KEY = b"sottovoce.plan"
"""Where a disguised Parquet file carries its plan document."""

BUFFER_BYTES = 2**20
"""How much of a column is read at once: row groups may be larger than memory."""


def open_parquet(path: str | Path) -> Any:
    """Open a Parquet file, saying so if it is none; text is read as the dictionary it is stored as."""
    arrow = pyarrow()
    options = {"buffer_size": BUFFER_BYTES, "pre_buffer": False, "page_checksum_verification": True}
    try:
        file = arrow.parquet.ParquetFile(path, **options)
        leaves = map(file.schema.column, range(len(file.schema)))
        texts = [leaf.path for leaf in leaves if leaf.logical_type.type == "STRING"]
        return arrow.parquet.ParquetFile(path, metadata=file.metadata, read_dictionary=texts, **options)
    except arrow.ArrowInvalid as reason:
        raise SottovoceError(str(path), f"must be a Parquet file ({reason})", Words("something else")) from None


def read_batches(path: str, file: Any, names: Sequence[str], rows: int) -> Iterator[Any]:
    """Record batches of some columns; a file that breaks off or is damaged is refused when it shows."""
    arrow = pyarrow()
    batches = _batches(file, list(names), rows)
    while True:
        try:
            with named(path):
                batch = next(batches, None)
        except (arrow.ArrowException, OSError) as reason:
            if getattr(reason, "errno", None) is not None:
                raise
            said = " ".join(str(reason).split())
            raise SottovoceError(path, f"must be a whole Parquet file ({said})", Words("a damaged one")) from None
        if batch is None:
            return
        yield batch


def _batches(file: Any, names: list[str], rows: int) -> Iterator[Any]:
    """Batches across row groups; of lists by dictionary, which pyarrow reads of one group only, joined afterwards."""
    if not any(_lists_by_dictionary(file.schema_arrow.field(name).type) for name in names):
        yield from file.iter_batches(batch_size=rows, columns=names)
        return
    held: list[Any] = []
    for group in range(file.num_row_groups):
        for batch in file.iter_batches(batch_size=rows, columns=names, row_groups=[group]):
            if held and sum(map(len, held)) + len(batch) > rows:
                yield from _joined(held)
                held = []
            held.append(batch)
    yield from _joined(held)


def _lists_by_dictionary(kind: Any) -> bool:
    types = pyarrow().types
    return bool(types.is_nested(kind) and kind.num_fields and types.is_dictionary(kind.field(0).type))


def _joined(batches: Sequence[Any]) -> list[Any]:
    """One batch of all, or none."""
    found: list[Any] = pyarrow().Table.from_batches(batches).combine_chunks().to_batches() if batches else []
    return found


def arrow_schema(schema: Schema, plan_text: str) -> Any:
    """Arrow types of the report columns, with the plan in the metadata."""
    arrow = pyarrow()
    fields = [arrow.field(v.name, _arrow_type(v), nullable=False) for v in schema]
    return arrow.schema(fields, metadata={PLAN_KEY: plan_text.encode()})


def arrow_table(schema: Schema, arrow_types: Any, columns: Sequence[Codes]) -> Any:
    """Arrow table of coded reports; text is stored as a dictionary and its codes."""
    arrow = pyarrow()
    arrays = []
    for variable, field in zip(schema, arrow_types, strict=True):
        own = tuple(columns[schema.columns_of(variable.name)])
        if isinstance(variable, ItemSet):
            arrays.append(array_of_sets(variable, own, field.type))
        elif arrow.types.is_dictionary(field.type):
            codes = arrow.array(own[0].astype(field.type.index_type.to_pandas_dtype()))
            labels = variable.decode((np.arange(variable.sizes[0]),))
            arrays.append(arrow.DictionaryArray.from_arrays(codes, arrow.array(labels, arrow.string())))
        else:
            arrays.append(arrow.array(variable.decode(own), field.type))
    return arrow.Table.from_arrays(arrays, schema=arrow_types)


def parquet_writer(path: Path, arrow_types: Any) -> Any:
    """Writer of a new Parquet file."""
    return pyarrow().parquet.ParquetWriter(path, arrow_types)


def plan_in_parquet(path: str | Path) -> bytes | None:
    """Plan document in a file's metadata, if there is one."""
    metadata = open_parquet(path).schema_arrow.metadata or {}
    found: bytes | None = metadata.get(PLAN_KEY)
    return found


def _arrow_type(variable: Variable) -> Any:
    """Type of a report column: lists of items, text by dictionary, numbers and booleans as they are."""
    arrow = pyarrow()
    if isinstance(variable, ItemSet):
        return arrow.list_(_label_type(variable.items[0]))
    first = np.asarray(variable.decode((np.zeros(1, np.uint8),))).tolist()[0]
    return arrow.dictionary(arrow.int32(), arrow.string()) if isinstance(first, str) else _label_type(first)


def _label_type(label: Label) -> Any:
    arrow = pyarrow()
    return {str: arrow.string(), int: arrow.int64(), bool: arrow.bool_()}[type(label)]
