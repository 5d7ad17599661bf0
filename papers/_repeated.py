"""Errors over repeated disguises, and whether a printed one is within their range."""

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from papers.rerun import Progress, Row, Verdict
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


def ranges(errors: Errors, level: float = 0.99) -> tuple[Errors, Errors]:
    """Ends within which another disguise has all of its errors with this confidence.

    Student's prediction limits, shared among all numbers (Bonferroni), or the least and the largest seen if those
    are further out: sets are few at the upper lengths, and their shares nothing like normal.
    """
    from scipy.stats import t

    times, numbers = len(errors), errors[0].size
    half = t.ppf(1 - (1 - level) / (2 * numbers), times - 1) * errors.std(axis=0, ddof=1) * np.sqrt(1 + 1 / times)
    mean = errors.mean(axis=0)
    return np.minimum(mean - half, errors.min(axis=0)), np.maximum(mean + half, errors.max(axis=0))


def error_rows(name: str, published: Sequence[Sequence[float]], errors: Errors) -> tuple[list[Row], list[str]]:
    """A row for each printed error, and notes on those outside: worse than all of ours, or better.

    One that ours have fewer than twice, because few reach that length, has no range, and no row.
    """
    low, high = ranges(errors)
    mean, spread = errors.mean(axis=0), errors.std(axis=0, ddof=1)
    rows: list[Row] = []
    worse: list[str] = []
    better: list[str] = []
    unseen: list[str] = []
    for place, numbers in enumerate(published):
        for column, (measure, number) in enumerate(zip(MEASURES, numbers, strict=True)):
            at = (place, column)
            title = f"{name} length {place + 1} {measure}"
            if errors[(slice(None), *at)].count() < 2:
                unseen.append(title)
                continue
            # Two decimals are printed, some of them cut off rather than rounded.
            inside = low[at] - 0.01 <= number <= high[at] + 0.01
            if not inside:
                (worse if number > high[at] else better).append(f"{title} ({low[at]:.2f} to {high[at]:.2f})")
            verdict: Verdict = "reproduced" if inside or number > high[at] else "differs"
            rows.append(Row(title, number, float(mean[at]), verdict, float(spread[at])))
    notes = {
        "Printed errors above the range of ours, which does better": worse,
        "Printed errors below the range of ours": better,
        "Left out, for fewer than two of ours have sets of this length": unseen,
    }
    return rows, [f"{words}: {', '.join(titles)}." for words, titles in notes.items() if titles]


def numbers_of(errors: LengthErrors) -> tuple[float, float, float]:
    """In the order of the measures."""
    return errors.false_positives, errors.false_negatives, errors.support_error
