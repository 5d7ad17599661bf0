"""What is concluded from the reports, times and requests of many walks, at a risk that all of it shares."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from sottovoce.mechanisms.coins import random_words
from sottovoce.schemas.attribute import Attribute, Columns
from sottovoce.schemas.item_set import ItemSet
from sottovoce.surveys.audit.browser import Walk
from sottovoce.surveys.audit.checks import Expectations, body_faults
from sottovoce.surveys.audit.draws import (
    Deviation,
    deviations,
    epsilon_bounds,
    two_sample_distance,
    two_sample_limit,
    uniform_distance,
    uniform_limit,
)
from sottovoce.surveys.audit.paths import Path, expected_reports
from sottovoce.surveys.audit.report import Bound, Finding
from sottovoce.surveys.definition.survey import Survey
from sottovoce.surveys.report import ReportFormat

RISK = 1e-6
"""Probability, at most, that an honest survey is convicted by chance."""

PARTS = 16
"""Families of tests among which the risk is divided."""

EXPECTED = 50_000
"""Reports that the installed release draws of every truth, to compare with."""

REPEATS = 50
"""Reports that it draws of every other path."""

NOTICEABLE = 25.0
"""Milliseconds of real time below which nobody on the network could tell two answers apart."""

MOST_FETCHES = 3
"""Fetches of one file in one walk that are told apart."""

FEWEST = 5
"""Walks of each truth from which something is concluded from samples."""


@dataclass(frozen=True)
class Judged:
    """Findings, and lower bounds on the odds."""

    findings: list[Finding]
    bounds: list[Bound]


def judge(first: Sequence[Walk], second: Sequence[Walk], others: Sequence[Walk], expected: Expectations) -> Judged:
    """Judge walks of two truths and others on random paths.

    Reports are counted where no random numbers were logged; where they were, each report is known exactly.
    """
    risk = RISK / PARTS
    first, second = _equally_many(first, second)
    if len(first) < FEWEST:
        return Judged([], [])
    findings = [*_judge_times(first, second, expected, risk), *_judge_fetches(first, second, expected, risk)]
    if not all(is_readable(walk, expected) for walk in (*first, *second, *others)):
        return Judged(findings, [])  # what is wrong with the bodies is a finding of its own
    if not expected.survey.admission:
        findings += _judge_keys(first, second, expected, risk)
    plain = _equally_many(*([walk for walk in walks if walk.log is None] for walks in (first, second)))
    if len(plain[0]) < FEWEST:
        return Judged(findings, [])
    reported, bounds = _judge_reports(*plain, expected, risk)
    plain_others = [walk for walk in others if walk.log is None]
    if plain_others:
        reported += _judge_others(plain_others, expected, risk)
    return Judged([*findings, *reported], bounds)


def _equally_many(first: Sequence[Walk], second: Sequence[Walk]) -> tuple[Sequence[Walk], Sequence[Walk]]:
    count = min(len(first), len(second))
    return first[:count], second[:count]


def body_of(walk: Walk, expected: Expectations) -> bytes:
    """Return the body of the report that a walk sent; nothing if it sent none."""
    return next((request.body for request in walk.sent if expected.is_report(request)), b"")


def is_readable(walk: Walk, expected: Expectations) -> bool:
    """Return whether a walk sent a report that the survey takes."""
    return not body_faults(body_of(walk, expected), walk, expected)


def columns_of(walks: Sequence[Walk], expected: Expectations) -> Columns:
    """Return the disguised columns of the reports that were sent."""
    reports = [bytes.fromhex(json.loads(body_of(walk, expected))["report"]) for walk in walks]
    columns = ReportFormat(expected.survey.plan).to_columns(reports)
    return columns[: len(expected.survey.plan.report_schema.sizes)]


def _judge_reports(
    first: Sequence[Walk], second: Sequence[Walk], expected: Expectations, risk: float
) -> tuple[list[Finding], list[Bound]]:
    """Compare the reports of each truth with those that the plan's coins give, and bound the odds between them."""
    survey = expected.survey
    seen = columns_of(first, expected), columns_of(second, expected)
    paths = first[0].path, second[0].path
    usual = _usual(survey, [paths[0]] * EXPECTED, 0), _usual(survey, [paths[1]] * EXPECTED, 1)
    sizes = survey.plan.report_schema.sizes
    findings = []
    for path, got, wanted in zip(paths, seen, usual, strict=True):
        wrong = deviations(got, wanted, sizes, risk)
        if wrong:
            findings.append(_coins(survey, wrong[0], len(wrong), f"{len(first)} reports of {path.words()}", risk))
    bounds = epsilon_bounds(survey.plan, seen, usual, risk)
    findings += [
        Finding("odds", str(bound), "a lower bound below the promise", f"false with a probability of at most {risk:g}")
        for bound in bounds
        if bound.seen > bound.promised
    ]
    return findings, bounds


def _usual(survey: Survey, paths: Sequence[Path], seed: int) -> Columns:
    return expected_reports(survey, paths, random_words(seed))


def _coins(survey: Survey, worst: Deviation, count: int, told: str, risk: float) -> Finding:
    cell = " and ".join(
        cell_in_words(survey, column, code) for column, code in zip(worst.columns, worst.codes, strict=True)
    )
    return Finding(
        "coins",
        f"{cell} in {worst.seen:.1%} of {told}" + (f"; {count - 1} other shares are wrong" if count > 1 else ""),
        f"{worst.expected:.1%}, as the plan's coins send it",
        f"by chance with a probability of at most {risk:g}",
    )


def cell_in_words(survey: Survey, column: int, code: int) -> str:
    """Return what a code in a column of the report says."""
    schema = survey.plan.report_schema
    variable = next(v for v in schema if column in range(len(schema.sizes))[schema.columns_of(v.name)])
    if isinstance(variable, ItemSet):
        item = variable.items[column - range(len(schema.sizes))[schema.columns_of(variable.name)].start]
        return f"{variable.name} {'with' if code else 'without'} {item}"
    return f"{variable.name} = {cast(Attribute, variable).categories[code]}"


def _judge_others(walks: Sequence[Walk], expected: Expectations, risk: float) -> list[Finding]:
    """Compare the reports of random paths with what the coins make of these very paths, answer by answer."""
    survey, sizes = expected.survey, expected.survey.plan.report_schema.sizes
    seen = columns_of(walks, expected)
    paths = [walk.path for walk in walks]
    usual = _usual(survey, [path for path in paths for _ in range(REPEATS)], 2)
    cases = [(group, name) for group in survey.plan.groups for name in group.attributes]
    answers = [(group, name, label) for group, name in cases for label in sorted({_label(p, name) for p in paths})]
    found: list[tuple[Deviation, int, str]] = []
    for group, name, label in answers:
        rows = np.array([_label(path, name) == label for path in paths])
        tables = [(column,) for column in survey.plan.report_columns(group)]
        part = tuple(column[rows] for column in seen), tuple(column[np.repeat(rows, REPEATS)] for column in usual)
        wrong = deviations(*part, sizes, risk / len(answers), tables)
        found += [(each, len(wrong), f"{rows.sum()} reports with {name} = {label}") for each in wrong[:1]]
    if not found:
        return []
    worst, count, told = max(found, key=lambda each: each[0].size)
    return [_coins(survey, worst, count, told, risk)]


def _label(path: Path, name: str) -> str:
    value = path.truth[name]
    return " + ".join(value) if isinstance(value, list) else str(value)


def _judge_keys(first: Sequence[Walk], second: Sequence[Walk], expected: Expectations, risk: float) -> list[Finding]:
    """Compare the bits of the random keys of reports between the two truths, and look for keys that come again."""
    keys = [[json.loads(body_of(walk, expected))["key"] for walk in walks] for walks in (first, second)]
    findings = []
    if len({*keys[0], *keys[1]}) < len(keys[0]) + len(keys[1]):
        findings.append(Finding("key", "the key of a report comes again", "a random key for every report", "exact"))
    bits = [tuple(np.unpackbits(_bytes_of(part), axis=1).T) for part in keys]
    sizes = [2] * len(bits[0])
    wrong = deviations(bits[0], bits[1], sizes, risk, [(column,) for column in range(len(sizes))])
    if wrong:
        told = f"bit {wrong[0].columns[0]} of the key is set in {wrong[0].seen:.1%} and in {wrong[0].expected:.1%}"
        sure = f"by chance with a probability of at most {risk:g}"
        findings.append(Finding("key", f"{told} of the reports of two truths", "the same", sure))
    return findings


def _bytes_of(keys: Sequence[str]) -> NDArray[np.uint8]:
    """Return keys as rows of bytes."""
    return np.frombuffer(bytes.fromhex("".join(keys)), np.uint8).reshape(len(keys), -1)


def _judge_times(first: Sequence[Walk], second: Sequence[Walk], expected: Expectations, risk: float) -> list[Finding]:
    """Compare the moments of sending between the two truths, and with the promise: uniform in the next interval."""
    times = [np.array([walk.time for walk in walks], np.float64) for walks in (first, second)]
    limit = two_sample_limit(len(first), risk / 4)
    sure = f"by chance with a probability of at most {risk:g}"
    findings = []
    for name, period in (("", np.inf), (" within the minute", 60_000.0), (" within the second", 1000.0)):
        parts = [np.mod(part, period) if np.isfinite(period) else part for part in times]
        distance = two_sample_distance(*parts)
        if distance > limit:
            told = f"the time of sending{name} depends on the answers: the two distributions differ by {distance:.2f}"
            findings.append(Finding("time of sending", told, f"at most {limit:.2f} by chance", sure))
    real = [np.array([walk.elapsed for walk in walks]) for walks in (first, second)]
    shift = abs(float(np.median(real[0]) - np.median(real[1])))
    if two_sample_distance(*real) > limit and shift > NOTICEABLE:
        told = f"sending takes {shift:.0f} ms longer after some answers"
        findings.append(Finding("time of sending", told, "the same time", sure))
    return [*findings, *_judge_moments([*first, *second], expected.survey.send_interval, risk)]


def _judge_moments(walks: Sequence[Walk], interval: int, risk: float) -> list[Finding]:
    """Compare the moments of sending with the next interval of the clock, in which they must be uniform."""
    length = 1000 * interval
    if not length:
        late = [walk for walk in walks if walk.time != walk.start]
        rule = "at once"
        return [Finding("time of sending", "reports are sent later", rule, "exact")] if len(late) > 1 else []
    shares = np.array([walk.time / length - np.floor(walk.start / length) - 1 for walk in walks])
    outside = int(((shares < 0) | (shares >= 1)).sum())
    if outside > 1:
        told = f"{outside} of {len(walks)} reports are sent outside of the next interval of {interval} seconds"
        return [Finding("time of sending", told, "a random moment of the next interval", "exact")]
    distance, limit = uniform_distance(shares), uniform_limit(len(walks), risk)
    if distance <= limit:
        return []
    told = f"the moments of sending are not uniform in their interval: they differ by {distance:.2f}"
    sure = f"by chance with a probability of at most {risk:g}"
    return [Finding("time of sending", told, f"at most {limit:.2f} by chance", sure)]


def _judge_fetches(first: Sequence[Walk], second: Sequence[Walk], expected: Expectations, risk: float) -> list[Finding]:
    """Compare how often each file of the page was fetched: also a file that may be fetched can be a sign."""
    counted = [[Counter(r.path for r in walk.sent if r.method == "GET") for walk in walks] for walks in (first, second)]
    paths = sorted({path for walks in counted for walk in walks for path in walk})
    columns = [tuple(np.array([min(walk[p], MOST_FETCHES) for walk in walks]) for p in paths) for walks in counted]
    sizes = [MOST_FETCHES + 1] * len(paths)
    wrong = deviations(columns[0], columns[1], sizes, risk, [(column,) for column in range(len(paths))])
    if not wrong:
        return []
    told = f"{paths[wrong[0].columns[0]]} is fetched {wrong[0].codes[0]} times in {wrong[0].seen:.1%} and in "
    told += f"{wrong[0].expected:.1%} of the walks of two truths"
    return [Finding("request", told, "the same", f"by chance with a probability of at most {risk:g}")]
