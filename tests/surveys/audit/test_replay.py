"""Random numbers that are logged: an honest page's reports follow from them, and nothing else does."""

from dataclasses import replace

import numpy as np
import pytest

from sottovoce.mechanisms.coins import ListedWords
from sottovoce.surveys.audit.browser import RandomLog
from sottovoce.surveys.audit.edge_words import SPARE, edge_numbers
from sottovoce.surveys.audit.judgement import judge
from sottovoce.surveys.audit.paths import expected_reports, two_truths
from sottovoce.surveys.audit.replay import RULES, best_rule, predicted, replay_findings
from sottovoce.surveys.definition.definition import survey_from_text
from tests.surveys.audit.dishonest import AT_ONCE, LARGE, ONE, OPEN, UNBOUNDED, WIDE
from tests.surveys.audit.made_up import Maker
from tests.surveys.browser.test_same_bytes import DEFINITION


def findings(maker, walks) -> dict[str, str]:
    return {finding.kind: finding.observed for finding in replay_findings(walks, maker.expected)}


@pytest.mark.parametrize("definition", [OPEN, AT_ONCE, WIDE, UNBOUNDED])
def test_reports_keys_and_moments_follow_from_logged_numbers(definition):
    maker = Maker(definition)
    walks = [maker.logged(path) for path in maker.paths for _ in range(10)]
    assert findings(maker, walks) == {}


def test_words_of_several_arrays_are_read_on():
    """Words of the last array are tossed if those before must be discarded."""
    maker = Maker(ONE.replace("odds: 3", "odds: 2"))

    def discarded(words):
        words[:64] = 2**32 - 1
        return words

    assert maker.survey.plan.coins[0].sides == 3
    walk = maker.logged(arrays=2, tossed=discarded)
    rule, wrong = best_rule([walk], lambda one, draws: predicted(maker.survey, one.path, draws) is not None)
    assert (rule, wrong) == (RULES[1], [])


def test_one_report_of_other_coins_is_found():
    maker = Maker(ONE)
    other = [maker.logged(tossed=lambda words: ~words) for _ in range(8)]
    wrong = next(walk for walk in other if findings(maker, [walk, *[maker.logged() for _ in range(9)]]))
    told = findings(maker, [wrong, *[maker.logged() for _ in range(20)]])
    assert told.keys() == {"coins"}
    assert told["coins"].startswith("1 of 21 reports are not what the plan's coins make of the device's random numbers")
    assert "instead of tax = " in told["coins"]


def test_true_answers_are_found_at_large_odds():
    """Almost all words keep the answer; those at the edges do not, and a key is no word."""
    maker = Maker(LARGE)
    honest = [maker.logged(tossed=lambda words: 0 * words) for _ in range(100)]
    assert "coins" in findings(maker, honest)


def test_pages_that_take_no_random_numbers():
    maker = Maker(ONE)
    walk = maker.logged(log=RandomLog((), guessed=1))
    told = findings(maker, [walk])
    assert told["coins"].endswith("crypto.getRandomValues is not called; Math.random is called in 1 of them")
    assert (
        told["key"] == "1 of 1 keys of reports are not random numbers of the device; Math.random is called in 1 of them"
    )
    few = maker.logged()
    assert predicted(maker.survey, few.path, [replace(few.log.draws[2], content=b"")]) is None
    few = replace(few, log=RandomLog(few.log.draws[1:2]))
    assert "fewer random numbers are taken than the coins need" in findings(maker, [few])["coins"]


def test_keys_and_moments_of_other_numbers():
    maker = Maker(OPEN)
    walk = maker.logged()
    assert findings(maker, [maker.logged(), replace(walk, time=walk.time + 3)]).keys() == {"time of sending"}
    assert findings(maker, [replace(walk, log=RandomLog(walk.log.draws[:1] + walk.log.draws[2:]))]).keys() == {"key"}
    assert findings(maker, [replace(walk, log=RandomLog(()))]).keys() == {"coins", "key", "time of sending"}


def test_reports_that_cannot_be_read_are_left_out():
    maker = Maker(ONE)
    assert findings(maker, [maker.logged(body=b"?")]) == {}


def test_logged_reports_are_not_counted():
    maker = Maker(AT_ONCE)
    first, second = ([maker.logged(path) for _ in range(6)] for path in maker.paths)
    assert judge(first, second, [], maker.expected).bounds == []


@pytest.fixture
def rng():
    return np.random.default_rng(1)


@pytest.mark.parametrize("definition", [ONE, LARGE, AT_ONCE, WIDE, UNBOUNDED, DEFINITION])
def test_words_at_edges_change_the_report(definition, rng):
    """A word beside each one gives another report, or it is the last of its kind."""
    survey = survey_from_text(definition)
    path, _ = two_truths(survey, rng)
    width = sum(coin.width for coin in survey.plan.coins)

    def report(words):
        listed = ListedWords([*words, *[0] * 2 * width])  # zeros are never discarded
        return [int(column[0]) for column in expected_reports(survey, [path], listed)]

    changes = 0
    for index in range(12):
        words = edge_numbers(survey, path, rng, index).words
        assert len(words) == width + SPARE
        beside = [{word, max(word - 1, 0), min(word + 1, 2**32 - 1)} for word in words[:width]]
        changes += any(
            report([*words[:at], other, *words[at + 1 :]]) != report(words)
            for at in range(width)
            for other in beside[at]
        )
    assert changes >= 6


def test_extremes_and_words_to_discard(rng):
    survey = survey_from_text(ONE.replace("odds: 3", "odds: 2"))
    path, _ = two_truths(survey, rng)
    given = [edge_numbers(survey, path, rng, index) for index in range(6)]
    assert [numbers.extreme for numbers in given] == [0, 255, 0, 255, 0, 255]
    assert {given[0].words[-1], given[1].words[-1]} == {0, 2**32 - 1}
    assert given[5].words[0] == 2**32 - 1  # the one word that no side of three has
    assert len({numbers.seed for numbers in given}) == 6


def test_coins_that_change_nothing_keep_their_words(rng):
    """The device picks a question first; the coins of others change no report."""
    survey = survey_from_text(UNBOUNDED)
    path, _ = two_truths(survey, rng)
    assert len({edge_numbers(survey, path, rng, 0).words[:2] for _ in range(20)}) > 2
