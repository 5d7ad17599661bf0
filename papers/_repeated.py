"""Errors over repeated disguises, and whether a printed one could be another of them."""

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from papers.comparison import Printed, Row, compare_draw
from papers.rerun import Progress
from sottovoce.mining.itemsets.evaluation import LengthErrors, mining_errors
from sottovoce.mining.itemsets.frequent import ResolutionWarning, frequent_itemsets
from sottovoce.mining.itemsets.result import Itemsets
from sottovoce.plans.plan import Plan

Errors = np.ma.MaskedArray
"""By disguise, length and measure: sigma+, sigma-, rho."""

MEASURES = ("sigma+", "sigma-", "rho")


def frequent(reports: Any, plan: Plan, min_support: float) -> Itemsets:
    """By the bare threshold, as the thesis does; that it is below what can be resolved is its point, not news."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResolutionWarning)
        return frequent_itemsets(reports, plan, min_support, selection="threshold", target="table")


def repeated(mine: Callable[[int], Itemsets], truth: Itemsets, seeds: Sequence[int], progress: Progress) -> Errors:
    """Errors of as many disguises as there are seeds; rho is masked where no true set was found."""
    found = []
    for done, seed in enumerate(seeds, start=1):
        found.append([numbers_of(errors) for errors in mining_errors(mine(seed), truth)])
        progress(done, len(seeds))
    return np.ma.masked_invalid(found)


def counted(progress: Progress, before: int, total: int) -> Progress:
    """Progress of a part, as that of the whole."""
    return lambda done, _: progress(before + done, total)


def percentage(number: float) -> Printed:
    """A share of itemsets as the thesis prints it: two decimals, cut off (67 of 1,847 and so on), zeros dropped."""
    return Printed(f"{number:g}", decimals=2, cut=True)


def error_rows(name: str, published: Sequence[Sequence[float]], errors: Errors) -> list[Row]:
    """A row for each printed error: the thesis has one disguise, ours are many like it."""
    numbers = sum(len(each) for each in published)
    return [
        compare_draw(
            f"{name} length {place + 1} {measure}",
            percentage(number),
            errors[:, place, column],
            numbers=numbers,
        )
        for place, each in enumerate(published)
        for column, (measure, number) in enumerate(zip(MEASURES, each, strict=True))
    ]


def numbers_of(errors: LengthErrors) -> tuple[float, float, float]:
    """In the order of the measures."""
    return errors.false_positives, errors.false_negatives, errors.support_error
