"""Back ends by type and path: Arrow datasets, Polars, DuckDB, Spark and CSV, imported when they are used."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import narwhals.stable.v2 as nw

if TYPE_CHECKING:
    from sottovoce.tables.source import Source

Engine = Literal["pyarrow", "polars", "duckdb", "pyspark"]
"""Library that holds a table whose rows are not in memory."""

GLOB_SIGNS = "*?["
"""Signs that make a path a pattern, unless a file has that name."""


def engine_of(table: Any) -> Engine | None:
    """Library of an Arrow dataset, a Polars LazyFrame, a DuckDB relation or a Spark DataFrame; None for anything else.

    >>> engine_of({"a": [1, 2]}) is None
    True
    """
    datasets, known = sys.modules.get("pyarrow.dataset"), nw.dependencies
    if known.is_narwhals_lazyframe(table):
        return engine_of(table.to_native())
    if known.is_narwhals_dataframe(table) or known.is_narwhals_series(table):
        return None
    if datasets is not None and isinstance(table, datasets.Dataset):
        return "pyarrow"
    if known.is_polars_lazyframe(table):
        return "polars"
    if known.is_duckdb_relation(table):
        return "duckdb"
    return "pyspark" if known.is_pyspark_dataframe(table) or known.is_pyspark_connect_dataframe(table) else None


def open_lazy(engine: Engine, table: Any) -> "Source":
    """Open a table that an engine holds."""
    table = nw.to_native(table, pass_through=True)
    if engine == "pyarrow":
        from sottovoce.tables.arrow_source import DatasetSource

        return DatasetSource(table)
    if engine == "polars":
        from sottovoce.tables.polars_source import LazyFrameSource

        return LazyFrameSource(table)
    if engine == "duckdb":
        from sottovoce.tables.duckdb_source import RelationSource

        return RelationSource(table)
    from sottovoce.tables.spark_source import SparkSource

    return SparkSource(table)


def open_path(path: str) -> "Source":
    """Open a DuckDB file, a folder or glob of Parquet files, or one such file; any other path is read as CSV."""
    if is_duckdb(path):
        from sottovoce.tables.duckdb_source import DuckDBFileSource

        return DuckDBFileSource(path)
    if is_folder(path):
        from sottovoce.tables.arrow_source import FolderSource

        return FolderSource(path)
    if is_parquet(path):
        from sottovoce.tables.arrow_source import ParquetSource

        return ParquetSource(path)
    from sottovoce.tables.csv_source import CsvSource

    return CsvSource(path)


def is_parquet(path: str | Path) -> bool:
    """Whether a file is Parquet, by its extension; anything else is read as CSV.

    >>> is_parquet("answers.parquet"), is_parquet("answers.csv")
    (True, False)
    """
    return str(path).lower().endswith((".parquet", ".pq"))


def is_folder(path: str | Path) -> bool:
    """Whether a path is a folder of Parquet files, or a glob that names such files.

    >>> is_folder("."), is_folder("reports/*.parquet"), is_folder("reports.parquet"), is_folder("")
    (True, True, False, False)
    """
    if path == "":  # which `Path` takes for the current folder
        return False
    return Path(path).is_dir() or (any(sign in str(path) for sign in GLOB_SIGNS) and not Path(path).exists())


def is_duckdb(path: str | Path) -> bool:
    """Whether a path is that of a DuckDB file, or of one of its tables, `FILE::TABLE`.

    >>> is_duckdb("answers.duckdb"), is_duckdb("answers.duckdb::reports"), is_duckdb("answers.csv")
    (True, True, False)
    """
    return str(path).partition("::")[0].lower().endswith((".duckdb", ".ddb"))


def carries_own_plan(path: str | Path) -> bool:
    """Whether a path is of a table that carries its plan itself: Parquet, a folder with `plan.json`, DuckDB.

    >>> carries_own_plan("answers.parquet"), carries_own_plan("answers.csv")
    (True, False)
    """
    return is_parquet(path) or is_duckdb(path) or is_folder(path)
