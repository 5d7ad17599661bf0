"""Coverage of the default intervals: by enumeration of all outcomes where they are few, by simulation elsewhere.

A row has the share of outcomes whose interval contains the truth, on average over truths and cells (`covered`) and at
the worst of them, the number of samples of each truth or "enumerated", the mean width against Wald's, both cut to [0,
1], and the share of infinite ends. All estimates are made through the public face. `python -m benchmarks.coverage`
writes the table of docs/coverage.md from the JSON.
"""

from collections.abc import Iterator

from benchmarks.coverage.derived import derived_rows
from benchmarks.coverage.proportions import (
    joint_rows,
    literature_rows,
    many_categories_rows,
    maximum_likelihood_rows,
    two_sample_rows,
    weighted_rows,
)
from benchmarks.coverage.row import CoverageRow
from benchmarks.itemsets.picked import selected_rules_rows


def rows() -> Iterator[CoverageRow]:
    """All settings, one after the other; some twenty minutes on one core."""
    yield from literature_rows()
    yield from many_categories_rows()
    yield from joint_rows()
    yield from maximum_likelihood_rows()
    yield from two_sample_rows()
    yield from weighted_rows()
    yield from derived_rows()
    yield from picked_rows()


def picked_rows() -> Iterator[CoverageRow]:
    """Rules at the top of a list, whose intervals are adjusted for that, and by halves of the reports."""
    for row in selected_rules_rows():
        if "not adjusted" not in row.name:
            name = f"rules, {row.name}"
            yield CoverageRow(name, None, row.nominal, row.covered, row.worst, row.runs, row.width_cut, row.width_cut)
