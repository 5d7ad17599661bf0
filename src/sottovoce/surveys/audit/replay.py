"""Exact predictions: what the plan's coins make of the random numbers that a page was given.

A report is a function of the truth and of 32-bit words, `respond(truth, flip(words))` by the rule of
`sottovoce.mechanisms.coins`; the key of a report and the moment of sending are functions of random numbers, too. Where
those of a walk are logged, all three are computed again and must be the same. A page takes random numbers for several
purposes, and which call is for which nobody says: an honest page has one rule, the same in all walks.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import floor

import numpy as np

from sottovoce.errors import SottovoceError
from sottovoce.mechanisms.coins import WORD, ListedWords
from sottovoce.surveys.audit.browser import Draw, RandomLog, Walk
from sottovoce.surveys.audit.checks import Expectations
from sottovoce.surveys.audit.judgement import body_of, cell_in_words, columns_of, is_readable
from sottovoce.surveys.audit.paths import Path, expected_reports
from sottovoce.surveys.audit.report import Finding
from sottovoce.surveys.definition.survey import Survey

PRESSES = 3
"""Last presses of buttons since which random numbers are looked for, of those after which any were drawn."""

CALLS = 8
"""Calls since a press at which the numbers for one purpose may begin."""

WORDS = "Uint32Array"
"""Kind of array that coins are tossed with."""

NEAR = 2.0
"""Milliseconds by which the timers of a browser may be off."""


@dataclass(frozen=True)
class Rule:
    """Where a page takes its numbers for one purpose: at a call since a press, counted from the last one.

    Only presses count after which something was drawn. What was drawn before the first one, for the demonstration on
    the welcome page, is no answer's.
    """

    press: int
    call: int

    def draws(self, log: RandomLog) -> tuple[Draw, ...]:
        """Return everything that was drawn from there on."""
        pressed = sorted({draw.presses for draw in log.draws if draw.presses})
        if self.press >= len(pressed):
            return ()
        since = pressed[-1 - self.press]
        return tuple(draw for draw in log.draws if draw.presses >= since)[self.call :]


RULES = tuple(Rule(press, call) for press in range(PRESSES) for call in range(CALLS))
"""Rules in the order in which they are tried, that of the installed release among the first."""

Holds = Callable[[Walk, tuple[Draw, ...]], bool]
"""Whether a part of what a walk sent is what the first of these draws make it."""


def replay_findings(walks: Sequence[Walk], expected: Expectations) -> list[Finding]:
    """Compare report, key and moment of every walk with what its logged random numbers make of them."""
    survey = expected.survey
    read = [walk for walk in walks if is_readable(walk, expected)]  # what is wrong with others is a finding of its own
    purposes: list[tuple[str, str, Holds]] = [
        (
            "coins",
            "reports are not what the plan's coins make of the device's random numbers",
            lambda walk, draws: _sent(walk, expected) == predicted(survey, walk.path, draws),
        )
    ]
    if not survey.admission:
        told = "keys of reports are not random numbers of the device"
        purposes.append(("key", told, lambda walk, draws: _has_key(walk, expected, draws)))
    if survey.send_interval:
        told = "moments of sending are not drawn with random numbers of the device"
        purposes.append(("time of sending", told, lambda walk, draws: _on_time(walk, survey.send_interval, draws)))
    findings = []
    for kind, told, holds in purposes:
        rule, wrong = best_rule(read, holds)
        if wrong:
            example = f": {_example(wrong[0], rule, expected)}" if kind == "coins" else ""
            observed = f"{len(wrong)} of {len(read)} {told}{example}{_guesses(read)}"
            sureness = "exact: all random numbers of these walks were logged"
            findings.append(Finding(kind, observed, "all of them, by one rule", sureness))
    return findings


def best_rule(walks: Sequence[Walk], holds: Holds) -> tuple[Rule, list[Walk]]:
    """Return the rule that predicts most walks, and the walks that it does not predict."""
    tried = []
    for rule in RULES:
        wrong = [walk for walk in walks if walk.log is not None and not holds(walk, rule.draws(walk.log))]
        if not wrong:
            return rule, []
        tried.append((rule, wrong))
    return min(tried, key=lambda pair: len(pair[1]))


def predicted(survey: Survey, path: Path, draws: Sequence[Draw]) -> tuple[int, ...] | None:
    """Return the disguised codes that the coins make of these words; None if there are none, or too few.

    At large odds almost any number keeps a true answer: whatever begins with numbers of another kind is no coin's.
    """
    if not draws or draws[0].kind != WORDS:
        return None
    words = np.frombuffer(b"".join(draw.content for draw in draws if draw.kind == WORDS), "<u4").tolist()
    try:
        return tuple(int(column[0]) for column in expected_reports(survey, [path], ListedWords(words)))
    except SottovoceError:
        return None


def _sent(walk: Walk, expected: Expectations) -> tuple[int, ...]:
    return tuple(int(column[0]) for column in columns_of([walk], expected))


def _has_key(walk: Walk, expected: Expectations, draws: Sequence[Draw]) -> bool:
    return bool(draws) and draws[0].content.hex() == json.loads(body_of(walk, expected))["key"]


def _on_time(walk: Walk, interval: int, draws: Sequence[Draw]) -> bool:
    """Return whether the moment is `floor(length (k + word / 2^32))`, with k the next interval after the start."""
    if not draws:
        return False
    length, word = 1000 * interval, int.from_bytes(draws[0].content[:4], "little")
    moment = floor(length * (walk.start // length + 1 + word / WORD))
    return abs(walk.time - moment) < NEAR


def _example(walk: Walk, rule: Rule, expected: Expectations) -> str:
    """Return what was sent in a walk, and what should have been."""
    survey = expected.survey
    if walk.log is None or not walk.log.draws:
        return "crypto.getRandomValues is not called"
    wanted, sent = predicted(survey, walk.path, rule.draws(walk.log)), _sent(walk, expected)
    if wanted is None:
        return "fewer random numbers are taken than the coins need"
    wrong = [column for column, code in enumerate(sent) if code != wanted[column]]
    was, should = (
        ", ".join(cell_in_words(survey, column, codes[column]) for column in wrong) for codes in (sent, wanted)
    )
    return f"{was} instead of {should}, of somebody with {walk.path.words()}"


def _guesses(walks: Sequence[Walk]) -> str:
    count = sum(walk.log is not None and walk.log.guessed > 0 for walk in walks)
    return f"; Math.random is called in {count} of them" if count else ""
