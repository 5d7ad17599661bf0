"""Plans in files: on their own, in the table that they are of, or beside a CSV file.

A Parquet file has its plan in its metadata, a folder of Parquet files in `plan.json` or in theirs, a table of a DuckDB
file in its comment.
"""

from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from sottovoce.errors import SottovoceError, Words
from sottovoce.plans.document import plan_from_text, plan_to_text
from sottovoce.plans.guarantee import Guarantee
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Labels
from sottovoce.tables.back_ends import carries_own_plan, is_duckdb, is_folder
from sottovoce.tables.csv_file import sidecar
from sottovoce.tables.public_columns import PublicReader, public_labels
from sottovoce.tables.sink import check_new, new_file
from sottovoce.tables.source import open_source


def write_plan(plan: Plan, path: str | Path, *, overwrite: bool = False) -> None:
    """Write a plan document; the file appears only when it is complete."""
    check_new(path, overwrite=overwrite)
    with new_file(path) as hidden:
        hidden.write_text(plan_to_text(plan) + "\n", encoding="utf-8")


def plan_of_reports(path: str | Path, plan_path: str | Path | None = None) -> Plan:
    """Read the plan that a disguised file carries, or that of another file; if there are two, they must be equal."""
    if plan_path is None:
        return read_plan(path)
    agreed = read_plan(plan_path)
    if carries_plan(path) and read_plan(path).hash != agreed.hash:
        raise SottovoceError("plan", "must be the one that the file was disguised under", str(plan_path))
    return agreed


def carries_plan(path: str | Path) -> bool:
    """Whether a file carries a plan, in itself or beside it."""
    return open_source(path).mark is not None if carries_own_plan(path) else sidecar(path).exists()


def plan_mark(table: Any) -> tuple[str, Guarantee | None] | None:
    """Hash of the plan that a file, a pandas frame or an Arrow table says it was disguised under; None without one.

    The guarantee comes with it where the whole plan is known: a pandas frame carries the hash only.
    """
    mark = open_source(table).mark
    if mark is None or isinstance(mark, str):
        return None if mark is None else (mark, None)
    plan = plan_from_text(mark)
    return plan.hash, plan.guarantee


def refuse_disguised(table: Any, plan: Plan) -> NoReturn:
    """Refuse to disguise a table that carries a plan: estimates from reports disguised twice would be wrong."""
    carried, guarantee = plan_mark(table) or ("", None)
    known = plan.guarantee if carried == plan.hash else guarantee
    odds = "" if known is None else f", {known}"
    rule = f"must not be disguised already; it was, under the plan {carried[:16]}{odds}"
    raise SottovoceError("table", f"{rule} (again=True or --again overrules this)", Words("disguised reports"))


def read_reports(table: Any, plan: Plan | None = None) -> dict[str, Labels]:
    """Columns of a disguised table, or of the file with this path, in the types of its plan, public columns last.

    Without `plan`, it is the one that the file carries.
    """
    known = read_plan(table) if plan is None else plan
    source, reader = open_source(table), PublicReader.of_reports(known)
    parts = [
        (*columns, *reader.read(source, values))
        for columns, values in source.coded_with(known.report_schema, reader.names)
    ]
    columns = [np.concatenate(part) for part in zip(*parts, strict=True)]
    shown = zip(reader.columns, columns[len(known.report_schema.sizes) :], strict=True)
    public = {column.name: public_labels(column, values) for column, values in shown}
    return known.report_schema.decode(columns) | public


def read_plan(path: str | Path, expected_hash: str | None = None) -> Plan:
    """Read a plan document, or the plan that a disguised file carries."""
    if carries_own_plan(path):
        document = open_source(path).mark
        if document is None:
            raise SottovoceError(str(path), f"must carry a plan in its {_place(path)}", Words("none"))
        return plan_from_text(document, expected_hash)
    if sidecar(path).exists():
        return plan_from_text(sidecar(path).read_bytes(), expected_hash)
    if Path(path).suffix.lower() == ".csv" and Path(path).exists():
        raise SottovoceError(str(path), f"must have its plan beside it, in {sidecar(path).name}", Words("no such file"))
    return plan_from_text(Path(path).read_bytes(), expected_hash)


def _place(path: str | Path) -> str:
    """Where a table with this path carries its plan."""
    if is_duckdb(path):
        return "comment"
    return "plan.json, or in the metadata of its files" if is_folder(path) else "metadata"
