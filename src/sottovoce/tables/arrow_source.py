"""Tables whose rows come as Arrow record batches: Parquet files, folders of them, Arrow datasets, and groups."""

import os
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

from sottovoce.errors import SottovoceError, Words
from sottovoce.plans.document import plan_from_text
from sottovoce.schemas.attribute import Attribute, Columns, Variable, is_missing
from sottovoce.schemas.binned import Binned
from sottovoce.tables.back_ends import GLOB_SIGNS, is_parquet
from sottovoce.tables.parquet import PLAN_KEY, damage_errors, open_parquet, read_batches
from sottovoce.tables.source import BATCH_ROWS, TIMES, Batch, Source
from sottovoce.tables.values import Values, encode, pyarrow, series

T = TypeVar("T")

MOST_GROUPS = 2**20
"""Most combinations of values that an engine hands over; of more, all rows are read."""

MOST_UNSEEN = 1000
"""Different wrong values after which an error stops counting them."""

MOST_NAMED = 3
"""Wrong values that an error names."""

PLAN_FILE = "plan.json"
"""File of a folder that holds the plan its reports were disguised under."""

PART_ROWS = 2**19
"""Fewest rows of a part of a file that is worth a thread."""

MOST_PARTS = 8
"""Most parts of a file that are read at the same time: each has counts of its own."""

READ_AHEAD = {"batch_readahead": 4, "fragment_readahead": 1}
"""Batches and files that are read before they are asked for: few, to bound memory."""


class ArrowSource(Source):
    """A table whose rows come as Arrow record batches, of columns whose types are known."""

    label: str = "table"
    """What errors call the table: its path, or just that."""

    types: Any
    """Arrow schema of the columns."""

    @abstractmethod
    def record_batches(self, names: Sequence[str], rows: int) -> Iterator[Any]:
        """Yield record batches of these columns with at most `rows` rows each."""

    def _batches(self, names: Sequence[str], rows: int) -> Iterator[Batch]:
        for batch in filter(len, self.record_batches(names, rows)):
            yield {name: series(batch.column(name)) for name in names}

    def number_type(self, name: str) -> Any:
        """Arrow type of a column of integers or floating-point numbers; None for any other."""
        kind, types = self.types.field(name).type, pyarrow().types
        return kind if types.is_integer(kind) or types.is_floating(kind) else None

    def encode(self, variable: Variable, values: Values) -> Columns:
        """Codes of one column; a column of another type is refused by its type, and wrong values are counted."""
        try:
            return encode(variable, values)
        except UnicodeDecodeError as reason:
            rule = f"must hold UTF-8 in its text columns ({reason})"
            raise SottovoceError(self.label, rule, Words("something else")) from None
        except SottovoceError as reason:
            raise self.refusal(variable, reason) from None

    def is_flat(self, names: Sequence[str]) -> bool:
        """Whether an engine can group by these columns: none holds lists or records."""
        return TIMES not in names and not any(pyarrow().types.is_nested(self.types.field(name).type) for name in names)

    def value_counts(self, name: str) -> Iterator[tuple[Any, int]]:
        """Different values of a column, or of each of its batches, and how many rows have them."""
        groups = self.grouped([name])
        if isinstance(groups, GroupedSource):
            yield from groups.value_counts(name)
            return
        for batch in self.record_batches([name], BATCH_ROWS):
            for pair in batch.column(name).value_counts().to_pylist():
                yield pair["values"], pair["counts"]

    def refusal(self, variable: Variable, reason: SottovoceError) -> SottovoceError:
        """Error of a column with another type than expected, or else with all wrong values, counted."""
        wanted, found = _expected(variable), _described(self.types.field(variable.name).type)
        if found not in (*wanted, "null"):
            labels = f" (its categories are {_shown(variable.categories)})" if isinstance(variable, Attribute) else ""
            rule = f"must be a column of {' or '.join(wanted)}{labels}"
            return SottovoceError(variable.name, rule, Words(f"a column of {found}"))
        if "lists" in wanted:
            return reason
        wrong: Counter[Any] = Counter()
        for value, rows in self.value_counts(variable.name):
            if _rule(variable, value) == reason.rule:
                wrong[None if is_missing(value) else value] += rows
            if len(wrong) > MOST_UNSEEN:
                break
        return SottovoceError(reason.parameter, reason.rule, Words(_counted(wrong))) if wrong else reason


class ParquetSource(ArrowSource):
    """A Parquet file, one batch of rows in memory at a time."""

    def __init__(self, path: str) -> None:
        """Read the footer."""
        self.label = path
        self._file = open_parquet(path)
        self.types = self._file.schema_arrow
        self.names = different_names(path, self.types.names)
        self.rows: int = self._file.metadata.num_rows

    @property
    def mark(self) -> bytes | None:
        """Plan document in the metadata."""
        document: bytes | None = (self.types.metadata or {}).get(PLAN_KEY)
        return document

    def record_batches(self, names: Sequence[str], rows: int) -> Iterator[Any]:
        """Read record batches; a damaged file is refused where the damage is met."""
        return read_batches(self.label, self._file, names, rows)

    def map_parts(self, names: Sequence[str], work: Callable[[Source], T]) -> Iterator[T]:
        """Work on as many runs of row groups as there are cores, at the same time; a small file is one part."""
        groups, cores = self._file.num_row_groups, os.cpu_count() or 1
        parts = min(groups, cores, MOST_PARTS, self.rows // PART_ROWS)
        if parts < 2:
            yield work(self)
            return
        ends = [part * groups // parts for part in range(parts + 1)]
        sizes = [self._file.metadata.row_group(group).num_rows for group in range(groups)]
        runs = [ParquetPart(self, range(*run), sum(sizes[: run[0]])) for run in pairwise(ends)]
        with ThreadPoolExecutor(parts) as pool:
            yield from pool.map(work, runs)


class ParquetPart(ArrowSource):
    """Some row groups of a Parquet file, which has to be opened again to be read at the same time as others."""

    rows = None
    ordered = False
    may_be_empty = True
    large_batches = True  # fewer calls of Python, for which threads wait for each other

    def __init__(self, whole: ParquetSource, groups: Sequence[int], first_row: int) -> None:
        """Keep the file, in which wrong values are counted, and the numbers of the row groups."""
        self._whole, self._groups, self.first_row = whole, groups, first_row
        self.label, self.types, self.names = whole.label, whole.types, whole.names

    def record_batches(self, names: Sequence[str], rows: int) -> Iterator[Any]:
        """Read the row groups in order."""
        return read_batches(self.label, open_parquet(self.label), names, rows, self._groups)

    def value_counts(self, name: str) -> Iterator[tuple[Any, int]]:
        """Different values of the whole file."""
        return self._whole.value_counts(name)


class DatasetSource(ArrowSource):
    """An Arrow dataset, file after file."""

    def __init__(self, dataset: Any, label: str = "table") -> None:
        """Read the footers of all files, which must have the same columns."""
        self.label, self._dataset, self.types = label, dataset, dataset.schema
        self.names = different_names(label, self.types.names)
        # Arrow hides the files of a dataset of which only some rows are wanted.
        filtered = (getattr(dataset, "_scan_options", None) or {}).get("filter") is not None
        files = [] if filtered else list(dataset.get_fragments())
        self._documents = {self._path(file): self._document(file) for file in files}
        counted = not filtered and all(hasattr(file, "row_groups") for file in files)
        self.rows = sum(file.metadata.num_rows for file in files) if counted else None

    @property
    def mark(self) -> bytes | None:
        """Plan document in the metadata of the files, which must be the same in all, or in none."""
        documents = set(self._documents.values())
        if len(documents) > 1:
            first = next(iter(self._documents.values()))
            path = next(path for path, document in self._documents.items() if document != first)
            raise SottovoceError(
                self.label, "must carry the same plan in all files, or none", Words(f"another in {path}")
            )
        return next(iter(documents), None)

    def record_batches(self, names: Sequence[str], rows: int) -> Iterator[Any]:
        """Scan the files in order."""
        scanner = self._dataset.scanner(columns=list(names), batch_size=rows, **READ_AHEAD)
        with damage_errors(self.label):
            yield from scanner.to_batches()

    def _path(self, file: Any) -> str:
        """Path of a file; parts that are no files have none."""
        return str(getattr(file, "path", self.label))

    def _document(self, file: Any) -> bytes | None:
        """Plan document of one file, whose columns must be those of all."""
        with damage_errors(self._path(file)):
            schema = file.physical_schema
        elsewhere = _partition_keys(file)
        for field in self.types:
            if field.name in elsewhere:
                continue
            rule = f"must have the same columns in all files; {self._path(file)}"
            if field.name not in schema.names:
                raise SottovoceError(self.label, f"{rule} lacks {field.name!r}", list(schema.names))
            kinds = [_described(kind.type) for kind in (field, schema.field(field.name))]
            if kinds[0] != kinds[1]:
                raise SottovoceError(
                    self.label, f"{rule} has {field.name!r} as {kinds[1]}", Words(f"{kinds[0]} before")
                )
        document: bytes | None = (schema.metadata or {}).get(PLAN_KEY)
        return document


class FolderSource(DatasetSource):
    """A folder of Parquet files, or those that a glob names; `plan.json` in the folder is the plan of all.

    Folders inside it may be named `column=value`, as Spark and DuckDB write partitions. Files and folders whose names
    begin with "." or "_" are skipped.
    """

    def __init__(self, path: str) -> None:
        """Find the files."""
        self._folder = Path(path) if Path(path).is_dir() else None
        root, pattern = (self._folder, "**/*") if self._folder else _root_and_pattern(path)
        files = sorted(str(name) for name in root.glob(pattern) if _is_data_file(name, root))
        if not files:
            rule = "must be a folder with Parquet files" if self._folder else "must match at least one Parquet file"
            raise SottovoceError(path, rule, Words("none"))
        super().__init__(_parquet_dataset(path, files, self._folder), path)

    @property
    def mark(self) -> bytes | None:
        """Plan document of the folder, or in the metadata of its files; if there are both, they must be the same."""
        inside = super().mark
        folders = {Path(path).parent for path in self._documents} if self._folder is None else {self._folder}
        written = {folder / PLAN_FILE for folder in folders if (folder / PLAN_FILE).exists()}
        documents = [*(file.read_bytes() for file in sorted(written)), *([] if inside is None else [inside])]
        if len({plan_from_text(document).hash for document in documents}) > 1:
            rule = f"must carry one plan, in {PLAN_FILE} or in the metadata of the files"
            raise SottovoceError(self.label, rule, Words("different ones"))
        if inside is None and 0 < len(written) < len(folders):
            raise SottovoceError(self.label, f"must have {PLAN_FILE} in all of its folders, or in none", Words("some"))
        return documents[0] if documents else None


class GroupedSource(ArrowSource):
    """Different combinations of some columns, counted by an engine, with their numbers in the column `TIMES`."""

    def __init__(self, table: Any) -> None:
        """Keep the groups, an Arrow table."""
        self._groups, self.types = table, table.schema
        self.names, self.rows = tuple(table.column_names), len(table)

    def record_batches(self, names: Sequence[str], rows: int) -> Iterator[Any]:
        """Batches of the groups."""
        yield from self._groups.select(list(names)).to_batches(max_chunksize=rows)

    def value_counts(self, name: str) -> Iterator[tuple[Any, int]]:
        """Value of a column in each group, and how many rows the group has."""
        return zip(self._groups[name].to_pylist(), self._groups[TIMES].to_pylist(), strict=True)


def different_names(label: str, names: Iterable[str]) -> tuple[str, ...]:
    """Return the names of the columns, which must differ."""
    listed = tuple(names)
    if len(set(listed)) < len(listed):
        raise SottovoceError(label, "must have different column names", list(listed))
    return listed


def _is_data_file(path: Path, root: Path) -> bool:
    """Whether a file of a folder is data: those that begin with "." or "_" are not finished, or something else."""
    inside = path.relative_to(root).parts
    return is_parquet(path) and path.is_file() and not any(part[0] in "._" and part != ".." for part in inside)


def _root_and_pattern(path: str) -> tuple[Path, str]:
    """Folder without wildcards that a glob is below, and the rest of the glob.

    >>> _root_and_pattern("/data/.cache/wave */*.parquet")
    (PosixPath('/data/.cache'), 'wave */*.parquet')
    """
    parts = Path(path).parts
    first = next(number for number, part in enumerate(parts) if any(sign in part for sign in GLOB_SIGNS))
    return Path(*parts[:first]), str(Path(*parts[first:]))


def _parquet_dataset(label: str, files: Sequence[str], folder: Path | None) -> Any:
    """Dataset of some files, whose text columns are read as the dictionaries they are stored as."""
    arrow = pyarrow()
    from pyarrow import dataset as datasets

    first = open_parquet(files[0]).schema_arrow
    options = datasets.ParquetFragmentScanOptions(page_checksum_verification=True)
    texts = [field.name for field in first if arrow.types.is_dictionary(field.type)]
    reading = datasets.ParquetReadOptions(dictionary_columns=texts)
    style = datasets.ParquetFileFormat(read_options=reading, default_fragment_scan_options=options)
    partitions = {} if folder is None else {"partitioning": "hive", "partition_base_dir": str(folder.resolve())}
    with damage_errors(label):
        return datasets.dataset([str(Path(name).resolve()) for name in files], format=style, **partitions)


def _partition_keys(file: Any) -> Sequence[str]:
    """Columns that a file has in the names of its folders."""
    from pyarrow import dataset as datasets

    return list(datasets.get_partition_keys(file.partition_expression))


def _expected(variable: Variable) -> tuple[str, ...]:
    """Types of columns that a variable is read from, in words."""
    if isinstance(variable, Attribute):
        return ({str: "text", bool: "booleans", int: "whole numbers"}[type(variable.categories[0])],)
    return ("numbers", "whole numbers") if isinstance(variable, Binned) else ("lists", "text")


@cache
def _described(kind: Any) -> str:
    """Arrow type in words, whatever its width; Arrow's own name for types that no attribute has."""
    types = pyarrow().types
    plain = kind.value_type if types.is_dictionary(kind) else kind
    tests = {
        "text": (types.is_string, types.is_large_string, types.is_string_view),
        "whole numbers": (types.is_integer,),
        "numbers": (types.is_floating, types.is_decimal),
        "booleans": (types.is_boolean,),
        "lists": (types.is_list, types.is_large_list, types.is_fixed_size_list),
    }
    return next((words for words, checks in tests.items() if any(check(plain) for check in checks)), str(plain))


def _rule(variable: Variable, value: Any) -> str | None:
    """Rule that a value breaks; None if it is right."""
    try:
        variable.encode([value])
    except SottovoceError as reason:
        return reason.rule
    return None


def _counted(wrong: Counter[Any]) -> str:
    """Wrong values and how many rows have them, the most frequent first.

    >>> _counted(Counter({"daily": 1, "weekly": 3}))
    "'weekly' (3 rows), 'daily' (1 row)"
    >>> _counted(Counter({letter: 1 for letter in "abcde"}))
    "'a' (1 row), 'b' (1 row), 'c' (1 row) and 2 more, 5 rows in all"
    """
    listed = [f"{value!r} ({_rows(rows)})" for value, rows in wrong.most_common(MOST_NAMED)]
    shown = ", ".join(listed)
    if len(wrong) > MOST_UNSEEN:
        return f"{shown} and many more"
    more = len(wrong) - len(listed)
    return f"{shown} and {more} more, {_rows(wrong.total())} in all" if more else shown


def _rows(number: int) -> str:
    return f"{number} row{'' if number == 1 else 's'}"


def _shown(labels: Sequence[Any], most: int = 8) -> str:
    return ", ".join(map(str, labels[:most])) + (", ..." if len(labels) > most else "")
