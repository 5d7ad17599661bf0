"""What a regression knows of the respondents: codes of their reports, clear columns, weights, clusters and strata."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sottovoce.checks import Array
from sottovoce.counts.frequencies import check_rows, checked_frequencies, coded_with, plain_list
from sottovoce.estimates.counted import check_public
from sottovoce.estimates.weights import checked_weights
from sottovoce.plans.plan import Plan, PlanView
from sottovoce.schemas.attribute import is_missing, ravel
from sottovoce.tables.source import Source

Column = str | Sequence[Any] | NDArray[Any] | None


class DisguisedTable(Protocol):
    """What a regression asks of `Reports`, which are in a room above."""

    @property
    def plan(self) -> Plan:
        """The plan that the table was disguised under."""

    @property
    def frequencies(self) -> str | None:
        """Column that says how many equal reports a row stands for."""

    def source(self, parameter: str) -> Source:
        """Return the table as a source of rows."""


@dataclass(frozen=True)
class Respondents:
    """Rows with known predictors: cell of each report, clear columns as a pandas frame, and the design of the sample.

    `frequencies` say how many equal respondents a row stands for. `omitted` rows had missing values.
    """

    cells: NDArray[np.int64]
    frame: Any
    weights: Array | None
    frequencies: Array
    clusters: NDArray[np.int64] | None
    strata: NDArray[np.int64] | None
    omitted: int

    @property
    def number(self) -> int:
        """Number of respondents."""
        return int(self.frequencies.sum())

    @property
    def is_sampled(self) -> bool:
        """Whether respondents have weights, clusters or strata."""
        return not (self.weights is None and self.clusters is None and self.strata is None)


def read_respondents(
    reports: DisguisedTable,
    view: PlanView | None,
    clear: Sequence[str],
    *,
    weights: Column,
    clusters: Column,
    strata: Column,
) -> Respondents:
    """Read all rows; leave out those with missing values of clear columns."""
    from pandas import DataFrame

    source = reports.source("regress")
    schema = (reports.plan.view(reports.plan.schema.names[:1]) if view is None else view).reports
    check_public(reports.plan, weights=[weights], clusters=[clusters], strata=[strata])
    beside: dict[str, Any] = {f"clear {name}": name for name in clear}
    beside |= {"weights": weights, "clusters": clusters, "strata": strata, "frequencies": reports.frequencies}
    source.check_names([column for column in beside.values() if isinstance(column, str)])
    parts: dict[str, list[Any]] = {name: [] for name in (*beside, "cells")}
    # A column may be asked for twice, as a predictor and as strata, and is read once.
    keys = {use: f"column {column}" if isinstance(column, str) else use for use, column in beside.items()}
    for columns, rows, values in coded_with(source, schema, **{keys[use]: column for use, column in beside.items()}):
        found = {use: values[key] for use, key in keys.items()}
        parts["cells"].append(ravel(columns, schema.sizes))
        for name in clear:
            parts[f"clear {name}"] += plain_list(found[f"clear {name}"])
        if weights is not None:
            parts["weights"].append(checked_weights(found["weights"], rows))
        if reports.frequencies is not None:
            parts["frequencies"].append(checked_frequencies(found["frequencies"], rows))
        for name in ("clusters", "strata"):
            if beside[name] is not None:
                parts[name] += _labels(name, found[name], rows)
    cells = np.concatenate(parts["cells"])
    frame = DataFrame({name: parts[f"clear {name}"] for name in clear}, index=range(len(cells)))
    known = ~frame.isna().any(axis=1).to_numpy()
    times = np.concatenate(parts["frequencies"]) if parts["frequencies"] else np.ones(len(cells), np.int64)
    kept = known & (times > 0)
    return Respondents(
        cells[kept],
        frame[kept].reset_index(drop=True),
        np.concatenate(parts["weights"])[kept] if parts["weights"] else None,
        times[kept].astype(np.float64),
        _numbers(parts["clusters"], kept) if parts["clusters"] else None,
        _numbers(parts["strata"], kept) if parts["strata"] else None,
        int(times[~known].sum()),
    )


def _labels(parameter: str, values: Any, rows: slice) -> list[Any]:
    listed = plain_list(values)
    right = np.array([not is_missing(value) and value != "" for value in listed])
    check_rows(parameter, "must be known for every respondent", listed, right, rows)
    return listed


def _numbers(labels: list[Any], kept: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Number the different labels."""
    chosen = [label for label, keep in zip(labels, kept, strict=True) if keep]
    numbers = {label: number for number, label in enumerate(dict.fromkeys(chosen))}
    return np.fromiter(map(numbers.__getitem__, chosen), np.int64, len(chosen))
