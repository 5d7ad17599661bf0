"""Coverage of the default intervals: by enumeration of all outcomes where they are few, by simulation elsewhere.

A row has the share of outcomes whose interval contains the truth, on average over truths and cells (`covered`) and at
the worst of them, the number of samples of each truth or "enumerated", the mean width against Wald's, both cut to [0,
1], and the share of infinite ends. All estimates are made through the public face. `python -m benchmarks.coverage`
writes the table of docs/coverage.md from the JSON.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor

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
    """All settings, on all cores; about half an hour on two."""
    with ProcessPoolExecutor() as pool:
        started = {make: pool.submit(_listed, make) for make in sorted(SECTIONS, key=lambda make: make is not LONGEST)}
        for make in SECTIONS:
            yield from started[make].result()


def _listed(make: Callable[[], Iterator[CoverageRow]]) -> list[CoverageRow]:
    """Rows of a section, made in a process of their own."""
    return list(make())


def picked_rows() -> Iterator[CoverageRow]:
    """Rules at the top of a list, whose intervals are adjusted for that, and by halves of the reports."""
    for row in selected_rules_rows():
        if "not adjusted" not in row.name:
            name = f"rules, {row.name}"
            yield CoverageRow(name, None, row.nominal, row.covered, row.worst, row.runs, row.width_cut, row.width_cut)


SECTIONS = (
    literature_rows,
    many_categories_rows,
    joint_rows,
    maximum_likelihood_rows,
    two_sample_rows,
    weighted_rows,
    derived_rows,
    picked_rows,
)

LONGEST = derived_rows
"""Begins first, so that no core waits for it."""
