"""Plans as files: on their own, inside a disguised Parquet file, or beside a disguised CSV file."""

from pathlib import Path

from sottovoce.errors import SottovoceError, Words
from sottovoce.plans.document import plan_from_text, plan_hash, plan_to_text
from sottovoce.plans.plan import Plan
from sottovoce.tables.parquet import plan_in_parquet
from sottovoce.tables.sink import check_new, new_file, sidecar
from sottovoce.tables.source import is_parquet


def write_plan(plan: Plan, path: str | Path, *, overwrite: bool = False) -> None:
    """Write a plan document; it appears under its name when it is complete."""
    check_new(path, overwrite=overwrite)
    with new_file(path) as hidden:
        hidden.write_text(plan_to_text(plan) + "\n", encoding="utf-8")


def plan_of_reports(path: str | Path, plan_path: str | Path | None = None) -> Plan:
    """Plan that a disguised file carries, or another file's; both must be the same where there are two."""
    if plan_path is None:
        return read_plan(path)
    agreed = read_plan(plan_path)
    if carries_plan(path) and plan_hash(read_plan(path)) != plan_hash(agreed):
        raise SottovoceError("plan", "must be the one that the file was disguised under", str(plan_path))
    return agreed


def carries_plan(path: str | Path) -> bool:
    """Whether a file has a plan in its metadata or beside it."""
    return plan_in_parquet(path) is not None if is_parquet(path) else sidecar(path).exists()


def read_plan(path: str | Path, expected_hash: str | None = None) -> Plan:
    """Read a plan document, or the plan that a disguised file carries."""
    if is_parquet(path):
        found = plan_in_parquet(path)
        if found is None:
            raise SottovoceError(str(path), "must carry a plan in its metadata", Words("none"))
        return plan_from_text(found, expected_hash)
    if sidecar(path).exists():
        return plan_from_text(sidecar(path).read_bytes(), expected_hash)
    if Path(path).suffix.lower() == ".csv" and Path(path).exists():
        raise SottovoceError(str(path), f"must have its plan beside it, in {sidecar(path).name}", Words("no such file"))
    return plan_from_text(Path(path).read_bytes(), expected_hash)
