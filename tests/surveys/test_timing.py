"""Times of requests: the send moment, and the attack that assigns reports to those who began.

The attack here is the tests' own: protocols are simulated with `send_moment` itself, the attacker learns the
distribution of durations from a sample and assigns with scipy. It is given the model, the protocol and every time.
"""

from functools import partial
from itertools import permutations
from math import nextafter

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from scipy.stats import chi2_contingency, chisquare, kstest

from sottovoce.errors import SottovoceError
from sottovoce.surveys.timing import (
    Pace,
    _durations,
    best_assignment,
    duration_in_words,
    link_bound,
    linked_by_time,
    send_moment,
    timing_statement,
)

DAY = 86400
LATENCY = 0.3
"""Standard deviation of the seconds that a request is under way: without it, fixed distances would link everyone."""


# The send moment


def test_moments_are_uniform_in_the_next_interval_whatever_the_time_of_loading():
    rng = np.random.default_rng(1)
    now = 1.7e9 + rng.uniform(0, 3000, 20_000)
    within = np.array([send_moment(t, 300, rng.integers) - (t // 300 + 1) * 300 for t in now])
    assert within.min() >= 0
    assert within.max() < 300
    tenths = (within // 30).astype(int)
    assert chisquare(np.bincount(tenths, minlength=10)).pvalue > 0.01
    loads = (now % 300 // 30).astype(int)  # position of loading in its interval
    table = np.zeros((10, 10))
    np.add.at(table, (loads, tenths), 1)
    assert chi2_contingency(table).pvalue > 0.01


@pytest.mark.parametrize("interval", [10, 300, 86400])
def test_moments_are_never_past_and_at_most_two_intervals_ahead(interval):
    for now in (0.0, 1.7e9, 1.7e9 + 0.1, interval * 12345.0, nextafter(interval * 12345.0, 0)):
        first, last = (send_moment(now, interval, draw) for draw in (lambda n: 0, lambda n: n - 1))
        assert now < first
        assert first % interval == 0
        assert last == pytest.approx(first + interval - 0.001, abs=1e-6)
        assert last < now + 2 * interval


def test_moments_at_the_edge_of_an_interval():
    edge = 300 * 5_666_667
    assert send_moment(edge, 300, lambda n: 0) == edge + 300
    assert send_moment(nextafter(edge, 0), 300, lambda n: 0) == edge
    assert send_moment(edge + 17.25, 0) == edge + 17.25


def test_moments_come_from_the_systems_generator():
    moments = {send_moment(0, 86400) for _ in range(20)}
    assert len(moments) > 15
    assert all(86400 <= moment < 2 * 86400 for moment in moments)
    with pytest.raises(SottovoceError, match="interval must be a whole number that is not negative"):
        send_moment(0, -5)


# The attack


def empirical(taken, times):
    return np.searchsorted(taken, times) / len(taken)


def durations_known(pace, seed=99):
    """Return the distribution function that the attacker has learned from 200,000 people."""
    return partial(empirical, np.sort(Pace(pace.screens, 200_000).sample(np.random.default_rng(seed))[1]))


def by_clock(interval):
    def send(begins, taken, rng):
        return np.array([send_moment(end, interval, rng.integers) for end in begins + taken])

    def likelihood(begins, sends, cdf):
        start = (sends // interval - 1) * interval
        return cdf(start + interval - begins[:, None]) - cdf(start - begins[:, None])

    return send, likelihood


def at_once():
    def send(begins, taken, rng):
        return begins + taken

    def likelihood(begins, sends, cdf):
        apart = sends - begins[:, None]
        return cdf(apart + 1) - cdf(apart - 1)

    return send, likelihood


def grid_from_loading(interval):
    def send(begins, taken, rng):
        return begins + np.ceil(taken / interval) * interval + rng.normal(0, LATENCY, len(begins))

    def likelihood(begins, sends, cdf):
        apart = sends - begins[:, None]
        end = np.round(apart / interval) * interval
        in_cell = cdf(end) - cdf(end - interval)
        return in_cell * np.exp(-(((apart - end) / LATENCY) ** 2) / 2)

    return send, likelihood


def fixed_hold(interval):
    """Send at a fixed distance from loading, or when finished if that is later."""

    def send(begins, taken, rng):
        return begins + np.maximum(taken, interval) + rng.normal(0, LATENCY, len(begins))

    def likelihood(begins, sends, cdf):
        apart = sends - begins[:, None]
        held = cdf(interval) * np.exp(-(((apart - interval) / LATENCY) ** 2) / 2)
        return held + (apart > interval) * (cdf(apart + 1) - cdf(apart - 1))

    return send, likelihood


def attack(protocol, pace, runs, *, interval=None, seed=7):
    """Return the numbers of people linked by the best assignment, in each of some groups.

    With an interval, its reports are counted as exchangeable: one of n, each is the right one with chance 1 / n. This
    has the same mean and less noise.
    """
    send, likelihood = protocol
    cdf = durations_known(pace)
    rng = np.random.default_rng(seed)
    linked = []
    for _ in range(runs):
        begins, taken = pace.sample(rng)
        begins = begins + rng.uniform(0, DAY)
        order = rng.permutation(pace.people)  # the attacker gets the sends in any order
        sends = send(begins, taken, rng)
        costs = -np.log(np.maximum(likelihood(begins, sends[order], cdf), 1e-30))
        cells = sends // interval if interval else np.arange(pace.people)
        guessed = order[linear_sum_assignment(costs)[1]]
        linked.append(((cells[guessed] == cells) / (cells[:, None] == cells).sum(axis=0)).sum())
    return np.array(linked)


def test_ten_minutes_link_within_twice_chance():
    """40 people begin within ten minutes; chance links one."""
    assert attack(by_clock(600), Pace(), 300, interval=600).mean() <= 2


def test_five_minutes_link_one_for_each_of_almost_three_intervals():
    """Ten minutes touch three intervals of five minutes, so that twice chance is exceeded whatever the pace."""
    assert 2.6 < attack(by_clock(300), Pace(), 300, interval=300).mean() < 3


def test_reports_of_an_interval_are_exchangeable():
    """Links are the same on average, counted one by one or by the interval."""
    plain = attack(by_clock(300), Pace(), 500)
    assert abs(plain.mean() - attack(by_clock(300), Pace(), 500, interval=300).mean()) < 3 * plain.std() / np.sqrt(500)


@pytest.mark.parametrize(
    ("protocol", "least"), [(grid_from_loading(300), 30), (fixed_hold(300), 38), (fixed_hold(600), 38), (at_once(), 10)]
)
def test_the_attack_convicts_other_protocols(protocol, least):
    assert attack(protocol, Pace(), 60).mean() >= least


def test_sending_at_once_links_almost_everyone_where_people_are_few():
    assert attack(at_once(), Pace(window=3 * 3600), 40).mean() >= 30


@pytest.mark.parametrize("interval", [0, 60, 300, 600])
def test_the_expected_number_is_what_the_attack_links(interval):
    linked = attack(by_clock(interval) if interval else at_once(), Pace(), 150, interval=interval)
    error = linked.std() * np.sqrt(1 / 150 + 1 / 60)
    assert abs(linked_by_time(interval) - linked.mean()) < 3 * error


@pytest.mark.parametrize("interval", [10, 60, 300, 900, 3600, DAY])
def test_no_attack_links_more_than_the_bound(interval):
    for pace in (Pace(), Pace(screens=21, people=12, window=3600)):
        linked = attack(by_clock(interval), pace, 60)
        assert linked.mean() < link_bound(interval, pace) + 3 * linked.std() / np.sqrt(len(linked))


@pytest.mark.slow
@pytest.mark.parametrize("screens", [2, 6, 11, 21, 41])
def test_links_for_short_and_long_surveys(screens):
    """Five minutes exceed twice chance for surveys of any length, ten minutes keep it."""
    pace = Pace(screens=screens)
    ten, five = (attack(by_clock(interval), pace, 1000, interval=interval).mean() for interval in (600, 300))
    assert ten < 2 < five < 3
    assert linked_by_time(300, pace, runs=600) == pytest.approx(five, abs=0.05)


@pytest.mark.slow
def test_the_assignment_that_links_most_on_average_gains_nothing():
    """Maximum likelihood does not maximize the expected number of links; the posterior distribution does.

    The posterior is sampled by exchanging pairs, from the truth, which is itself a draw from it.
    """
    pace, interval, rng = Pace(screens=11), 300, np.random.default_rng(3)
    cdf, most, likely = durations_known(pace), [], []
    for _ in range(20):
        begins, taken = pace.sample(rng)
        begins = begins + rng.uniform(0, DAY)
        clock = (begins + taken) // interval
        chances = cdf((clock + 1) * interval - begins[:, None]) - cdf(clock * interval - begins[:, None])
        logs = np.log(np.maximum(chances, 1e-30))
        matched, seen = np.arange(pace.people), np.zeros_like(logs)
        for pair, u in zip(rng.integers(pace.people, size=(20_000, 2)), np.log(rng.random(20_000)), strict=True):
            now, swapped = matched[pair], matched[pair[::-1]]
            if u < logs[pair, swapped].sum() - logs[pair, now].sum():
                matched[pair] = swapped
            seen[pair, matched[pair]] += 1
        same = clock[:, None] == clock  # reports of an interval are exchangeable
        expected = seen @ same / same.sum(axis=0)
        for found, costs in ((most, -expected), (likely, -logs)):
            guessed = linear_sum_assignment(costs)[1]
            found.append(((clock[guessed] == clock) / same.sum(axis=0)).sum())
    assert np.mean(most) < np.mean(likely) + 0.1


# Follow-ups


def told_apart(first, second, interval):
    """Return the mean distance in total variation of what is seen of two durations, over moments of beginning.

    Whoever guesses which of two equally frequent durations it was is right with chance (1 + distance) / 2.
    """
    cdfs = [partial(empirical, np.sort(taken)) for taken in (first, second)]
    if interval == 0:
        seconds = np.arange(0, 2000)
        return np.abs(np.diff(cdfs[0](seconds)) - np.diff(cdfs[1](seconds))).sum() / 2
    edges = np.arange(1, 2000 // interval + 2) * interval - interval * (np.arange(300)[:, None] + 0.5) / 300
    shares = [np.diff(cdf(edges), prepend=0) for cdf in cdfs]
    return (np.abs(shares[0] - shares[1]).sum(axis=1) / 2).mean()


def test_follow_ups_are_hidden_by_neutral_screens_and_the_interval():
    """Three follow-ups, or three screens in their place that are read in a third of the time.

    What an interval tells is at most the mean difference of durations over its length, the chance that an edge of
    the clock falls between the two.
    """
    rng = np.random.default_rng(5)
    asked = Pace(screens=9, people=100_000).sample(rng)[1]
    skipped = Pace(screens=6, people=100_000).sample(rng)[1]
    replaced = skipped + Pace(screens=3, people=100_000, seconds=3).sample(rng)[1]
    as_long = Pace(screens=9, people=100_000).sample(rng)[1]
    assert told_apart(asked, skipped, 0) > 0.4  # sent at once
    for interval in (300, 600):
        for other in (skipped, replaced):
            assert told_apart(asked, other, interval) < (asked.mean() - other.mean()) / interval + 0.005
        assert told_apart(asked, replaced, interval) < 0.75 * told_apart(asked, skipped, interval)
        assert told_apart(asked, replaced, interval) < 0.08
        assert told_apart(asked, as_long, interval) < 0.005


# The model and its arithmetic


@pytest.mark.parametrize("pace", [Pace(screens=1), Pace(), Pace(screens=41), Pace(between=0), Pace(within=1)])
def test_distribution_of_durations(pace):
    taken = Pace(pace.screens, 20_000, between=pace.between, within=pace.within).sample(np.random.default_rng(2))[1]
    durations = _durations(pace)
    assert kstest(taken, durations.cdf).pvalue > 0.001
    assert durations.cdf(np.array([-1.0, 0.0, 1e6])) == pytest.approx([0, 0, 1], abs=1e-4)
    times = durations.times
    assert np.trapezoid(durations.density(times), times) == pytest.approx(1, abs=1e-3)
    expected = np.maximum(500 - taken, 0).mean()  # the integral of a distribution function to t is E max(t - X, 0)
    assert durations.integral(np.array([0.0, 500.0])) == pytest.approx([0, expected], rel=0.02, abs=0.5)
    assert np.diff(durations.integral(times[-1] + np.array([0.0, 7.0]))) == pytest.approx(7, abs=0.01)


def test_defaults_are_what_the_model_says():
    begins, taken = Pace(people=100_000).sample(np.random.default_rng(0))
    assert np.all(np.diff(begins) >= 0)
    assert kstest(begins / 600, "uniform").pvalue > 0.01
    assert taken.mean() / 6 == pytest.approx(10.2, abs=0.1)


@pytest.mark.parametrize(
    "field", [{"screens": 0}, {"people": 0}, {"window": 0}, {"seconds": -1}, {"between": -0.1}, {"within": 0}]
)
def test_impossible_paces_are_refused(field):
    with pytest.raises(SottovoceError, match=next(iter(field))):
        Pace(**field)


def test_bound_is_the_expected_number_of_intervals():
    rng = np.random.default_rng(4)
    for interval, pace in ((300, Pace()), (60, Pace(screens=21)), (DAY, Pace(window=DAY)), (900, Pace(people=2))):
        used = []
        for _ in range(1500):
            begins, taken = pace.sample(rng)
            used.append(len(np.unique((rng.uniform(0, interval) + begins + taken) // interval)))
        assert link_bound(interval, pace) == pytest.approx(np.mean(used), rel=0.03)
    assert link_bound(0, Pace(people=7)) == 7
    assert link_bound(DAY, Pace(people=1)) == pytest.approx(1)


def test_one_person_is_always_linked():
    for interval in (0, 10, DAY):
        assert linked_by_time(interval, Pace(people=1), runs=20) == 1


def test_assignment_is_optimal():
    rng = np.random.default_rng(6)
    for size in (1, 2, 3, 5, 6):
        costs = rng.normal(size=(size, size))
        best = min(sum(costs[i, j] for i, j in enumerate(order)) for order in permutations(range(size)))
        assert costs[np.arange(size), best_assignment(costs)].sum() == pytest.approx(best)


@pytest.mark.parametrize("size", [1, 2, 7, 40])
def test_assignment_agrees_with_scipy(size):
    rng = np.random.default_rng(size)
    rows = np.arange(size)
    for _ in range(10):
        tied = rng.integers(0, 4, (size, size)).astype(float)
        blocks = np.repeat(rng.normal(size=(size, 1)), size, axis=1)
        forbidden = np.where(np.abs(rows - rows[:, None]) > 2, 1e6, rng.exponential(size=(size, size)))
        for costs in (rng.normal(size=(size, size)), tied, blocks, forbidden):
            columns = best_assignment(costs)
            assert sorted(columns) == rows.tolist()
            assert costs[rows, columns].sum() == pytest.approx(costs[linear_sum_assignment(costs)].sum())


# What is said


@pytest.mark.parametrize(
    "interval", [0, pytest.param(10, marks=pytest.mark.slow), 600, pytest.param(DAY, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("people", [pytest.param(2, marks=pytest.mark.slow), 40])
def test_statement(interval, people):
    sentences = timing_statement(interval, 5, people=people)
    text = " ".join(sentences)
    assert all(sentence.endswith(".") and len(sentence.split()) <= 40 for sentence in sentences)
    example = f"If {people} people begin within 10 minutes, times alone link about "
    said = float(text.partition(example)[2].split()[0])
    assert said == pytest.approx(linked_by_time(interval, Pace(people=people)), rel=0.05)
    assert "computed from a model of how fast people answer (a log-normal time for each of 6 screens" in text
    assert "not measured" in text
    assert "cannot hide one person alone" in text
    assert ("at most one person for each interval" in text) == (interval > 0)
    assert ("sent at once" in sentences[0]) == (interval == 0)


def test_statement_for_one_person_has_no_number():
    for interval in (0, 300):
        sentences = timing_statement(interval, 5, people=1)
        assert "cannot hide one person alone" in sentences[-1]
        assert "chance" not in " ".join(sentences)


def test_statement_says_what_sending_at_once_gives_away():
    assert "Were reports sent at once, it would be about 1" in " ".join(timing_statement(300, 5))
    assert "With an interval of 10 minutes it would be about 1.9." in timing_statement(0, 5)
    assert "If they begin at any time of a day instead, times link about 37 of them." in timing_statement(300, 5)
    assert "times may link everyone" in " ".join(timing_statement(0, 5))


def test_lengths_in_words():
    words = {1: "1 second", 60: "1 minute", 90: "90 seconds", 7200: "2 hours", DAY: "1 day"}
    assert {seconds: duration_in_words(seconds) for seconds in words} == words
