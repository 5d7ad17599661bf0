"""When a report is sent, and what the times of requests give away.

The server sees when a respondent loads the page and begins (admission), and when each report arrives. A report that
arrives at a fixed distance from either is linked to the invitation by subtraction, and one that is sent at once tells
how long its respondent took. So a report is sent at a random moment of the next whole interval of the clock
(`send_moment`): its moment tells in which interval the respondent finished, and nothing else.

Theorem. Whatever the pace of people, and whatever else the server sees of their requests' times before the report, no
attack by times links more respondents, on average, than there are intervals in which reports are sent.
Proof. Tell the attacker even who is sent in which interval. The n reports of an interval have independent and
identically distributed moments, so all n! ways to match them with their n respondents are equally likely: each guess
is right with chance 1 / n at most, and n guesses are right once at most, on average.

It presumes that devices' clocks agree, to within a small part of the interval. How many intervals there are depends on
how close together people answer: see `Pace`, `linked_by_time` and `link_bound`.
"""

import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from math import erf, exp, sqrt

import numpy as np
from numpy.typing import NDArray

from sottovoce.checks import Array, number, whole_number
from sottovoce.surveys.sentences import sentences_in

SIMULATED = 2400
"""Simulated people over whom links are averaged, in groups as large as the model says, but at least 60 groups."""

TEN_MINUTES = 600
DAY = 86400

_POINTS = 4096
_LEAST = 1e-12
"""Chances below this are taken as zero: they are of the order of rounding errors."""
_IMPOSSIBLE = 1e6
"""Cost of a match that cannot be, above the sum of all others."""


def send_moment(now: float, interval: int, draw: Callable[[int], int] = secrets.randbelow) -> float:
    """Return the moment at which a report is to be sent that is sealed now, in seconds since the epoch.

    With k = floor(now / interval) + 1 the moment is uniform in [k interval, (k + 1) interval), in milliseconds. An
    interval of 0 is now. `draw(n)` returns a uniform whole number below n, by default from a cryptographic generator.

    >>> send_moment(1234.5, 300, lambda n: n - 1)
    1799.999
    >>> send_moment(1234.5, 0)
    1234.5
    """
    if whole_number("interval", interval, least=0) == 0:
        return now
    beginning = (int(now // interval) + 1) * interval
    return beginning + draw(interval * 1000) / 1000


@dataclass(frozen=True)
class Pace:
    """Model of when people begin and how long they take. It is a model, not a measurement of anyone.

    `people` begin at independent uniform moments within `window` seconds; the window's position on the clock is
    uniform, too. Each of `screens` then takes a log-normal time, as in van der Linden's model of response times
    (2006, Journal of Educational and Behavioral Statistics 31): log time = log `seconds` + speed of the person +
    rest, where speed and rest are normal with standard deviations `between` and `within`.

    The defaults: six screens are five questions and the review of one's answers. Pew Research Center counts about 10
    seconds for an ordinary question ("How we keep our online surveys from running too long", 2022); a median of 9
    seconds and standard deviations of .3 and .4, together .5, have that mean, and two thirds of all screens then take
    5.5 to 15 seconds. The time on the welcome page is left out: admission, which the server sees, comes after it.
    People who pause take longer than the model says and are harder to link.
    """

    screens: int = 6
    people: int = 40
    window: float = TEN_MINUTES
    seconds: float = 9.0
    between: float = 0.3
    within: float = 0.4

    def __post_init__(self) -> None:
        """Check every field."""
        whole_number("screens", self.screens)
        whole_number("people", self.people)
        number("window", self.window, 0, open_ends=True)
        number("seconds", self.seconds, 0, open_ends=True)
        number("between", self.between, 0)
        number("within", self.within, 0, open_ends=True)

    def sample(self, rng: np.random.Generator) -> tuple[Array, Array]:
        """Draw moments of beginning, in order and from 0 to `window`, and how long each of these people takes."""
        begins = np.sort(rng.uniform(0, self.window, self.people))
        speeds = self.between * rng.standard_normal(self.people)
        rests = self.within * rng.standard_normal((self.screens, self.people))
        return begins, self.seconds * np.exp(speeds + rests).sum(axis=0)


@dataclass(frozen=True, eq=False)
class _Durations:
    """Distribution function, density and integral of the distribution function of durations, at times from 0."""

    times: Array
    distribution: Array

    def cdf(self, time: Array) -> Array:
        return np.interp(time, self.times, self.distribution)

    def density(self, time: Array) -> Array:
        return np.interp(time, self.times, np.gradient(self.distribution, self.times), left=0, right=0)

    def integral(self, time: Array) -> Array:
        """Integral of the distribution function from 0 to a time, which may be past the last in the table."""
        sums = self.times[1] * (np.cumsum(self.distribution) - self.distribution / 2)  # trapezoidal; 0 at 0
        integral: Array = np.interp(time, self.times, sums) + np.maximum(time - self.times[-1], 0)
        return integral


@lru_cache(maxsize=64)
def _durations(pace: Pace) -> _Durations:
    """Compute the distribution of durations: a convolution over screens, averaged over the speeds of people."""
    n = pace.screens
    mean = exp(pace.within**2 / 2)  # of one screen, as a multiple of the median
    deviation = mean * sqrt(exp(pace.within**2) - 1)
    step = (n * mean + 6 * sqrt(n) * deviation + exp(5 * pace.within)) / _POINTS
    logs = np.log(step * np.arange(1, _POINTS + 1)) / (pace.within * sqrt(2))
    one = np.diff([(1 + erf(value)) / 2 for value in logs], prepend=0.0)
    spectrum = np.fft.rfft(one, 2 * _POINTS) ** n
    distribution = np.cumsum(np.fft.irfft(spectrum, 2 * _POINTS))
    sums = step * (np.arange(2 * _POINTS) + (n + 1) / 2)  # each screen's time is at the middle of its cell
    speeds = np.linspace(-5, 5, 201)
    weights = np.exp(-(speeds**2) / 2)
    factors = pace.seconds * np.exp(pace.between * speeds)
    times = np.linspace(0, step * _POINTS * pace.seconds * np.exp(4 * pace.between), 2 * _POINTS)
    mixed = np.zeros(len(times))
    for weight, factor in zip(weights / weights.sum(), factors, strict=True):
        mixed += weight * np.interp(times / factor, sums, distribution, left=0)
    return _Durations(times, np.clip(mixed, 0, 1))


def linked_by_time(interval: int, pace: Pace | None = None, *, runs: int | None = None, seed: int = 0) -> float:
    """Return how many people the best assignment of beginnings to reports links, on average under a model of pace.

    The attacker knows the model and the protocol and takes the assignment of maximum likelihood: the likelihood of a
    report in an interval of the clock is the chance that its respondent finishes in the interval before, and reports
    of the same interval are exchangeable, so that a person who is assigned to the right interval with n reports is
    linked with chance 1 / n. With an interval of 0 the likelihood is the density of the duration. Chance alone links
    one person, however many there are.

    The average is over `runs` simulated groups. Choosing the assignment that links most on average, from the posterior
    distribution of all assignments, gained nothing measurable.

    >>> linked_by_time(86400) < 1.1 < linked_by_time(300) < 3 < 10 < linked_by_time(0)
    True
    """
    model = pace or Pace()
    groups = max(60, SIMULATED // model.people) if runs is None else whole_number("runs", runs)
    return _linked(whole_number("interval", interval, least=0), model, groups, seed)


@lru_cache(maxsize=256)
def _linked(interval: int, pace: Pace, runs: int, seed: int) -> float:
    durations = _durations(pace)
    rng = np.random.default_rng(seed)
    linked = 0.0
    for run in range(runs):
        begins, taken = pace.sample(rng)
        begins = begins + interval * (run + rng.random()) / runs  # the window may begin anywhere on the clock
        ends = np.sort(begins + taken)
        own = np.argsort(np.argsort(begins + taken))  # index of each person's report among those in order of time
        if interval:
            clock = ends // interval
            late = durations.cdf((clock + 1) * interval - begins[:, None])
            chances = late - durations.cdf(clock * interval - begins[:, None])
        else:
            clock = ends
            chances = durations.density(ends - begins[:, None])
        costs = np.where(chances > _LEAST, -np.log(np.maximum(chances, _LEAST)), _IMPOSSIBLE)
        guessed = best_assignment(costs)
        _, inverse, counts = np.unique(clock, return_inverse=True, return_counts=True)
        right = inverse[guessed] == inverse[own]
        linked += float((right / counts[inverse[own]]).sum())
    return linked / runs


def link_bound(interval: int, pace: Pace | None = None) -> float:
    """Return the most people that any attack by times links on average: the expected number of intervals with reports.

    This is the theorem above; only how many intervals are used is taken from the model of pace. It is computed by
    integration, not simulated. An interval of 0 hides nobody for certain: the bound is everyone.

    >>> round(link_bound(300), 1), link_bound(0)
    (3.0, 40.0)
    """
    model = pace or Pace()
    if whole_number("interval", interval, least=0) == 0:
        return float(model.people)
    durations = _durations(model)
    last = model.window + durations.times[-1]
    positions = max(60, interval // 60)
    offsets = interval * (np.arange(positions) + 0.5) / positions  # of the window's beginning from that of an interval
    edges = interval * np.arange(int(last // interval) + 3) - offsets[:, None]
    ended = (durations.integral(edges) - durations.integral(edges - model.window)) / model.window
    shares = np.clip(np.diff(ended), 0, 1)
    return float((1 - (1 - shares) ** model.people).sum(axis=1).mean())


def best_assignment(costs: Array) -> NDArray[np.intp]:
    """Return the column assigned to each row so that the sum of costs is least (square matrices).

    Shortest augmenting paths (Jonker & Volgenant 1987): rows enter one after the other, each along the shortest path,
    in reduced costs, to a free column.

    >>> best_assignment(np.array([[4.0, 1.0, 3.0], [2.0, 0.0, 5.0], [3.0, 2.0, 2.0]])).tolist()
    [1, 0, 2]
    """
    size = len(costs)
    row_price, column_price = np.zeros(size), np.zeros(size)
    row_of = np.full(size, -1)
    for new in range(size):
        distance, before = np.full(size, np.inf), np.full(size, -1)
        open_distance = distance.copy()  # infinite also where the path is final
        row, column, reached = new, -1, 0.0
        path: list[int] = []
        while row >= 0:
            through = reached + costs[row] - row_price[row] - column_price
            nearer = through < distance
            nearer[path] = False
            distance[nearer] = open_distance[nearer] = through[nearer]
            before[nearer] = column
            reached = open_distance.min()
            column = int(np.where(open_distance == reached, 1 + (row_of < 0), 0).argmax())  # a free one if there is
            open_distance[column] = np.inf
            path.append(column)
            row = int(row_of[column])
        passed = path[:-1]
        row_price[new] += reached
        row_price[row_of[passed]] += reached - distance[passed]
        column_price[passed] -= reached - distance[passed]
        while column >= 0:
            previous = int(before[column])
            row_of[column] = row_of[previous] if previous >= 0 else new
            column = previous
    return np.argsort(row_of)


def timing_statement(interval: int, questions: int, *, people: int = 40, language: str = "en") -> list[str]:
    """Return sentences on what times give away in a survey with this interval and number of questions.

    >>> timing_statement(300, 5)[0]
    'Each report is sent at a random moment of the next whole interval of 5 minutes on the clock.'
    """
    pace = Pace(screens=whole_number("questions", questions) + 1, people=people)
    say = sentences_in(language)
    moment = "time_interval" if interval else "time_at_once"
    protocol = [say(moment, length=say.duration(interval)), say(f"{moment}_tells")]
    if people == 1:
        return [*protocol, say("time_alone")]
    linked, spread = linked_by_time(interval, pace), linked_by_time(interval, replace(pace, window=DAY))
    other = TEN_MINUTES if interval == 0 else 0
    otherwise = say.number(_rounded(linked_by_time(other, pace)))
    return [
        *protocol,
        say("time_linked", people=people, linked=say.number(_rounded(linked))),
        say("time_without_interval", linked=otherwise)
        if interval
        else say("time_with_interval", length=say.duration(other), linked=otherwise),
        say("time_of_a_day", linked=say.number(_rounded(spread))),
        say("time_model", screens=pace.screens, seconds=say.number(f"{pace.seconds:g}")),
        say("time_bound", linked=say.number(_rounded(link_bound(interval, pace))), people=people)
        if interval
        else say("time_no_bound"),
        say("time_alone"),
    ]


def _rounded(value: float) -> str:
    """Round to one decimal below ten, and to a whole number above.

    >>> _rounded(2.71), _rounded(1.04), _rounded(12.3)
    ('2.7', '1', '12')
    """
    return f"{value:.2g}" if value < 9.95 else f"{value:.0f}"


def duration_in_words(seconds: int) -> str:
    """Write a number of seconds in the largest unit of which it is a multiple.

    >>> duration_in_words(86400), duration_in_words(5400), duration_in_words(10)
    ('1 day', '90 minutes', '10 seconds')
    """
    return sentences_in("en").duration(seconds)
