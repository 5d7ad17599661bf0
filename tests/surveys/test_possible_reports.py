"""The server takes exactly the reports that a plan can produce; their length and shape do not depend on the pick."""

from collections import Counter
from itertools import product

import numpy as np
import pytest

from sottovoce.plans.plan import Plan
from sottovoce.surveys.definition.definition import survey_from_text
from sottovoce.surveys.report import ReportFormat

HEAD = """
title: T
asker: A
purpose: P
until: 2999-12-31
invitation: open
send_interval: 0
"""
YES_NO = "".join(f"  - {{id: {name}, kind: yes_no, text: {name}}}\n" for name in "abc")
AB = YES_NO[: YES_NO.index("  - {id: c")]
AGE = "  - {id: age, kind: single, public: true, text: Age, answers: [young, middle, old]}\n"
MANGAT = "".join(f"  - {{id: {name}, kind: yes_no, text: {name}, scheme: {{name: mangat, p: 0.5}}}}\n" for name in "ab")
SURVEYS = {
    "one of three is picked": f"odds: 3:1\nquestions:\n{YES_NO}",
    "with a public question": f"odds: 3:1\nquestions:\n{AGE}{YES_NO}",
    "two of three are picked": (
        "odds: 3:1\nquestions:\n"
        f"{YES_NO}groups: [{{questions: [a, b, c], scheme: {{name: attribute_sampling, size: 2}}}}]\n"
    ),
    "a scale, and one of two is picked": (
        "odds: 9:1\nquestions:\n  - {id: s, kind: scale, text: S, steps: 3, ends: [low, high]}\n"
        f"{AB}split: true\ngroups: [{{questions: [a, b], scheme: attribute_sampling, odds: 3:1}}]\n"
    ),
    "an answer can be ruled out": f"odds: 9:1\nweak: accepted\nquestions:\n{MANGAT}",
}


def reports_of(plan: Plan) -> dict[tuple[int, ...], Counter[tuple[int, ...]]]:
    """Every report to every truth, with the number of ways in which the coins can make it, by exhaustion."""
    found = {}
    for truth in product(*(range(size) for size in plan.schema.sizes)):
        parts = []
        for group in plan.groups:
            sides = [np.arange(coin.sides, dtype=np.uint64) for coin in group.mechanism.coins]
            flips = [axis.ravel() for axis in np.meshgrid(*sides, indexing="ij")]
            columns = [truth[plan.schema.columns_of(name).start] for name in group.attributes]
            answers = group.mechanism.respond(tuple(np.full(len(flips[0]), code) for code in columns), flips)
            rows = Counter(zip(*(map(int, answer) for answer in answers), strict=True))
            parts.append([(dict(zip(plan.report_columns(group), row, strict=True)), n) for row, n in rows.items()])
        reports: Counter[tuple[int, ...]] = Counter()
        for chosen in product(*parts):
            codes = {column: code for row, _ in chosen for column, code in row.items()}
            reports[tuple(codes[column] for column in sorted(codes))] += int(np.prod([n for _, n in chosen]))
        found[truth] = reports
    return found


@pytest.fixture(params=SURVEYS)
def plan(request):
    return survey_from_text(HEAD + SURVEYS[request.param]).plan


def test_reports_that_are_taken_are_those_that_coins_can_make(plan):
    """One code beyond every column, and one byte too many or too few, are tried as well."""
    layout = ReportFormat(plan)
    possible = {codes for reports in reports_of(plan).values() for codes in reports}
    public = list(product(*(range(len(column.categories)) for column in plan.public)))
    tried = list(product(*(range(size + 1) for size in layout.sizes)))
    taken = {codes for codes in tried if layout.fits(bytes(codes))}
    assert taken == {(*codes, *shown) for codes in possible for shown in public}
    assert 0 < len(taken) < len(tried)
    assert not any(layout.fits(bytes(codes) + b"\0") or layout.fits(bytes(codes[:-1])) for codes in taken)


def test_what_is_picked_tells_nothing_about_the_answers(plan):
    """Reports of all truths are as long, and each set of columns is left out equally often, whatever the truth."""
    sizes, picks = plan.schema.sizes, []
    for reports in reports_of(plan).values():
        left_out: Counter[tuple[bool, ...]] = Counter()
        for codes, ways in reports.items():
            left_out[tuple(code == size for code, size in zip(codes, sizes, strict=True))] += ways
        picks.append(left_out)
        assert {len(codes) for codes in reports} == {len(plan.report_schema.sizes)}
    assert all(found == picks[0] for found in picks)
