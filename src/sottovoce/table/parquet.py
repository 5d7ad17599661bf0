"""Parquet through pyarrow, imported only here and only when a file asks for it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sottovoce.errors import MissingExtraError, SottovoceError, Words
from sottovoce.schema.attribute import Attribute
from sottovoce.schema.cells import Codes
from sottovoce.schema.schema import Schema
from sottovoce.schema.variable import Variable

PLAN_KEY = b"sottovoce.plan"
"""Where a disguised Parquet file carries its plan document."""


def open_parquet(path: str | Path) -> Any:
    """Open a Parquet file, saying so if it is none."""
    arrow = _pyarrow()
    try:
        return arrow.parquet.ParquetFile(path)
    except arrow.ArrowInvalid as reason:
        raise SottovoceError(str(path), f"must be a Parquet file ({reason})", Words("something else")) from None


def arrow_schema(schema: Schema, plan_text: str) -> Any:
    """Arrow types of the report columns, with the plan in the metadata."""
    arrow = _pyarrow()
    fields = [arrow.field(v.name, _arrow_type(v), nullable=False) for v in schema]
    return arrow.schema(fields, metadata={PLAN_KEY: plan_text.encode()})


def arrow_table(schema: Schema, arrow_types: Any, columns: Sequence[Codes]) -> Any:
    """Arrow table of coded reports; text is stored as a dictionary and its codes."""
    arrow = _pyarrow()
    arrays = []
    for variable, field in zip(schema, arrow_types, strict=True):
        own = tuple(columns[schema.columns_of(variable.name)])
        if arrow.types.is_dictionary(field.type):
            codes = arrow.array(own[0].astype(field.type.index_type.to_pandas_dtype()))
            labels = variable.decode((np.arange(variable.sizes[0]),))
            arrays.append(arrow.DictionaryArray.from_arrays(codes, arrow.array(labels, arrow.string())))
        else:
            arrays.append(arrow.array(variable.decode(own), field.type))
    return arrow.Table.from_arrays(arrays, schema=arrow_types)


def parquet_writer(path: Path, arrow_types: Any) -> Any:
    """Writer of a new Parquet file."""
    return _pyarrow().parquet.ParquetWriter(path, arrow_types)


def plan_in_parquet(path: str | Path) -> bytes | None:
    """Plan document in a file's metadata, if there is one."""
    metadata = open_parquet(path).schema_arrow.metadata or {}
    found: bytes | None = metadata.get(PLAN_KEY)
    return found


def _arrow_type(variable: Variable) -> Any:
    arrow = _pyarrow()
    labels = variable.categories if isinstance(variable, Attribute) else variable.items  # type: ignore[attr-defined]
    plain = {str: arrow.string(), int: arrow.int64(), bool: arrow.bool_()}[type(labels[0])]
    if not isinstance(variable, Attribute):
        return arrow.list_(plain)
    return arrow.dictionary(arrow.int32(), plain) if isinstance(labels[0], str) else plain


def _pyarrow() -> Any:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtraError("Parquet", "pyarrow", "tables") from None
    return pyarrow
