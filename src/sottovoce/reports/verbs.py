"""The verbs of the top level: plan a table, disguise it, read reports."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypedDict, Unpack

from sottovoce.checks import Progress, one_of
from sottovoce.errors import SottovoceError, Words, renamed_parameters
from sottovoce.exact import Number, OddsLike
from sottovoce.mechanisms.coins import Randomness
from sottovoce.plans.document import plan_hash
from sottovoce.plans.plan import Plan, check_plan
from sottovoce.reports.reports import Reports
from sottovoce.schemas.schema import Schema
from sottovoce.tables.back_ends import engine_of
from sottovoce.tables.source import Drop, in_memory, is_table


class SchemaOptions(TypedDict, total=False):
    """How a table's columns become attributes: see `infer_schema`."""

    columns: Sequence[str]
    bins: Mapping[str, Iterable[float]]
    sets: Collection[str]
    missing: str
    most_categories: int


def plan(
    table: Any,
    *,
    odds: OddsLike | None = None,
    epsilon: Number | None = None,
    purpose: str = "pairs",
    public: Collection[str] = (),
    **options: Unpack[SchemaOptions],
) -> Plan:
    """Plan how to disguise a table, or records of a schema, within `odds` or `epsilon` for the WHOLE record.

    `purpose` says what is wanted: "marginals" (each attribute by itself), "pairs", "triples", "joint" (all attributes
    together) or "split" (every attribute with coins of its own). But for the last two, each respondent is asked a few
    attributes, picked at random, with the whole budget; how many follows from exact variances.

    The categories of a table are taken from its values; `columns`, `bins`, `sets`, `missing` and `most_categories` are
    those of `infer_schema`. A plan is public, so mind labels that only one person has. Columns in `public` are passed
    on as they are and are not protected: categories for groups and strata, or numbers for weights.

    >>> people = {"evaded tax": [True, False, False], "drug use": ["never", "once", "never"]}
    >>> print(plan(people, odds="9:1").guarantee)
    9 : 1 (epsilon 2.19723)
    """
    from sottovoce.plans.purpose_plan import plan_for_purpose
    from sottovoce.tables.infer import infer_columns

    if isinstance(table, Schema):
        for name, value in options.items():
            raise SottovoceError(name, "must be left out for a Schema, which says it already", value)
        return plan_for_purpose(table, odds=odds, epsilon=epsilon, purpose=purpose, public=public)
    if isinstance(table, Plan | Reports):
        raise SottovoceError("table", "must be a table of truths or a Schema", Words(type(table).__name__))
    schema, columns = infer_columns(table, public=tuple(public), **options)
    return plan_for_purpose(schema, odds=odds, epsilon=epsilon, purpose=purpose, public=columns)


@renamed_parameters({"output": "to", "path": "to"})
def disguise(  # noqa: PLR0913  # one verb for all kinds of tables
    data: Any,
    plan: Plan,
    *,
    to: str | Path | None = None,
    row_id: str | None = None,
    drop: Drop = (),
    rng: Randomness = None,
    again: bool = False,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> Reports:
    """Disguise a table of truths: a pandas, polars or Arrow table, a mapping, a file, or transactions.

    Tables come back in kind: of a mapping, arrays as arrays and lists as lists.

    Coins come from the operating system's secure randomness, in exact integers; a seed or generator as `rng` is
    for experiments only. Every column must be disguised or public in the plan, or named in `drop` ("others": all that
    are not). A file is written to `to`, which appears when it is complete or not at all; so may be tables. What is
    known to be disguised already is refused unless `again`: a second disguise needs the first one's plan to be read.

    An Arrow dataset, a Polars LazyFrame, a DuckDB relation and a Spark DataFrame are disguised by their engine, without
    being collected, and written to `to`: a file, or a folder in the case of Spark. As an engine may compute a row more
    than once, coins come from a secret key that is drawn for this call, and from the row's id: `row_id` names a column
    that differs in all rows and is the same whenever it is read. See docs/scale.md for what that means.

    >>> from sottovoce.plans.budget import new_plan
    >>> from sottovoce.schemas.attribute import boolean
    >>> answers = new_plan(Schema([boolean("evaded tax")]), odds=3)
    >>> disguise({"evaded tax": [True, False, False, False]}, answers, rng=1).table
    {'evaded tax': [True, False, True, True]}
    """
    from sottovoce.disguises.engines import disguise_lazy, refuse_rng
    from sottovoce.disguises.tables import disguise_file, disguise_frame
    from sottovoce.disguises.transactions import disguise_transactions

    check_plan(plan)
    if isinstance(data, Reports):
        if not again:
            raise _disguised_already(data.plan)
        data = data.table
    if not in_memory(data) and engine_of(data) is not None:
        refuse_rng(rng)
        options: dict[str, Any] = {"drop": drop, "again": again, "overwrite": overwrite, "progress": progress}
        return Reports.just_disguised(disguise_lazy(data, plan, to, row_id=row_id, **options), plan)
    if row_id is not None:
        raise SottovoceError("row_id", "must be left out unless the table is lazy: each row is read once", row_id)
    if isinstance(data, str | Path):
        if not isinstance(to, str | Path):
            raise SottovoceError("to", "must name the file that the reports of a file are written to", to)
        disguise_file(data, to, plan, rng=rng, drop=drop, overwrite=overwrite, again=again, progress=progress)
        return Reports(to, plan)
    if is_table(data):
        reports = Reports.just_disguised(disguise_frame(data, plan, rng, drop=drop, again=again), plan)
    else:
        reports = Reports.just_disguised(disguise_transactions(data, plan, rng=rng), plan)
    if to is not None:
        reports.save(to, overwrite=overwrite)
        return Reports(to, plan)
    return reports


def read(
    source: Any, plan: Plan | str | Path | None = None, *, unseen: Literal["refuse", "drop"] = "refuse"
) -> Reports:
    """Read reports: a disguised file, folder or glob with its plan, or a table and the plan it was disguised under.

    A Parquet file carries its plan in its metadata, a folder in `plan.json`, a CSV file in `NAME.plan.json` beside
    it, a table of a DuckDB file in its comment, and a saved tally (`.json`, `.arrow`) has its own. `plan` may be the
    path of a plan document; a file's own plan must be the same. A table may also be held by an engine: an Arrow
    dataset, a Polars LazyFrame, a DuckDB relation or a Spark DataFrame.

    A report that the plan does not know, of a damaged row or of another survey, is refused when it is met.
    `unseen="drop"` leaves such rows out and warns of how many they are.
    """
    from sottovoce.counts.tally import Tally
    from sottovoce.counts.tally_document import is_tally

    one_of("unseen", unseen, ("refuse", "drop"))
    if not isinstance(plan, Plan | str | Path | None):
        raise SottovoceError("plan", "must be a Plan, or the path of a file that holds one", plan)
    if isinstance(source, Tally) or (isinstance(source, str | Path) and is_tally(source)):
        tally = source if isinstance(source, Tally) else Tally.load(source)
        return Reports(tally, _read_plan(plan))
    reports = Reports(source, _plan_of(source, plan))
    return reports.known() if unseen == "drop" else reports


def _plan_of(source: Any, plan: Plan | str | Path | None) -> Plan:
    """Return the plan that is given, or that a file carries."""
    from sottovoce.tables.plan_file import plan_of_reports

    if isinstance(source, str | Path) and not isinstance(plan, Plan):
        return plan_of_reports(source, plan)
    agreed = _read_plan(plan)
    if agreed is None:
        raise SottovoceError("plan", "must be given with a table in memory or of an engine, which carries none", plan)
    return agreed


def _read_plan(plan: Plan | str | Path | None) -> Plan | None:
    from sottovoce.tables.plan_file import read_plan

    return read_plan(plan) if isinstance(plan, str | Path) else plan


def _disguised_already(plan: Plan) -> SottovoceError:
    """A second disguise of the same answers."""
    rule = "must be truths, not reports; pass again=True to disguise reports once more"
    return SottovoceError(
        "data", rule, Words(f"reports disguised at {plan.guarantee} under plan {plan_hash(plan)[:12]}")
    )
