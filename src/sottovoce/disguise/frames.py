"""Reports from a column or a whole table in memory, in the caller's own kind of frame."""

from collections.abc import Iterable
from typing import Any

import narwhals.stable.v2 as nw

from sottovoce.disguise.batches import disguise_batches
from sottovoce.disguise.records import single_attribute_plan
from sottovoce.mechanism.coins import Randomness, random_words
from sottovoce.plan.plan import Plan
from sottovoce.table.sink import FrameSink
from sottovoce.table.source import Drop, FrameSource, check_covered, open_source


def disguise_frame(table: Any, plan: Plan, rng: Randomness = None, *, drop: Drop = ()) -> Any:
    """Disguise a pandas, polars or Arrow table, or a mapping of columns; the same kind comes back.

    Every column must be covered by the plan or named in `drop` ("others": all that are not).
    Row order is kept; a pandas index is not, since it may name people. Pass a seed or a generator
    as `rng` for experiments only.

    >>> from sottovoce.plan.budget import new_plan
    >>> from sottovoce.schema.schema import Schema
    >>> from sottovoce.schema.attribute import boolean
    >>> plan = new_plan(Schema([boolean("evaded tax")]), odds=3)
    >>> disguise_frame({"evaded tax": [True, False, False, False]}, plan, rng=1)
    {'evaded tax': [True, False, True, True]}
    """
    source = open_source(table)
    check_covered(plan.schema, source.names, drop)
    sink = FrameSink(plan.report_schema, source)
    for _ in disguise_batches(source, plan, random_words(rng), sink):
        pass
    return sink.native()


def disguise_column(values: Iterable[Any], plan: Plan, attribute: str | None = None, rng: Randomness = None) -> Any:
    """Disguise one column whose attribute shares its coins with no other.

    A pandas or polars series or a chunked Arrow array comes back in kind, any other sequence as a list.
    """
    alone = single_attribute_plan(plan, attribute)
    (name,) = alone.schema.names
    (report_name,) = alone.report_schema.names
    series = nw.from_native(values, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        reports = FrameSource(nw.from_native(disguise_frame(series.alias(name).to_frame().to_native(), alone, rng)))
        return reports.frame[report_name].to_native()
    listed = values.to_pylist() if hasattr(values, "to_pylist") else list(values)
    return disguise_frame({name: listed}, alone, rng)[report_name]
