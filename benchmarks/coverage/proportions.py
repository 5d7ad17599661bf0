"""Coverage of proportions: designs of the literature, many categories, joint tables, EM, two samples, weights."""

from collections.abc import Callable, Iterator, Sequence
from math import comb
from typing import Any, cast

import numpy as np

import sottovoce as sv
from benchmarks.coverage.row import (
    CoverageRow,
    Ends,
    Outcome,
    all_counts,
    coverage_row,
    multinomial_probabilities,
    outcomes,
    simulated,
)
from sottovoce.checks import Array

SIZES = (5, 30, 100, 1000)
GRID = np.linspace(0, 1, 201)
RUNS = 2000

LITERATURE = {
    "Warner, p = 3/4": sv.schemes.Warner(p=0.75),
    "Warner, p = .6": sv.schemes.Warner(p=0.6),
    "crosswise, 1/4": sv.schemes.Crosswise(q=0.25),
    "triangular, 1/4": sv.schemes.Triangular(q=0.25),
    "forced response, 2/3 and 1/6": sv.schemes.ForcedResponse("2/3", "1/6"),
    "unrelated question, 2/3": sv.schemes.UnrelatedQuestion("2/3", known=["1/2", "1/2"]),
    "unrelated question, rare": sv.schemes.UnrelatedQuestion("2/3", known=["0.95", "0.05"]),
    "Mangat": sv.schemes.Mangat(p=0.7),
    "Kuk, .6 and .2": sv.schemes.Kuk(yes=0.6, no=0.2),
    "Kuk, 3 cards": sv.schemes.Kuk(yes=0.6, no=0.2, cards=3),
    "direct": sv.schemes.UnrelatedQuestion(1, known=["1/2", "1/2"]),
}
"""Designs for a yes/no question."""


def _plan(scheme: Any, *sizes: int) -> sv.Plan:
    names = [f"a{index}" for index in range(len(sizes))]
    schema = sv.Schema([sv.Attribute(name, list(range(size))) for name, size in zip(names, sizes, strict=True)])
    return sv.Plan.of(schema, dict.fromkeys(names, scheme))


def _interval(plan: sv.Plan, names: str | Sequence[str], **options: Any) -> Callable[[Array], tuple[Ends, Ends]]:
    """Intervals of the cells of some attributes from counts of every combination of reports."""
    labels = [cast(sv.Attribute, variable).categories for variable in plan.report_schema]
    cells = [tuple(cell) for cell in np.array(np.meshgrid(*labels, indexing="ij")).reshape(len(labels), -1).T.tolist()]

    def ends(counts: Array) -> tuple[Ends, Ends]:
        keys = [cell[0] if len(cell) == 1 else cell for cell in cells]
        reports = sv.Reports.from_counts(dict(zip(keys, map(int, counts), strict=True)), plan)
        found = reports.estimate(names, **options)
        return found.interval(), found.interval(kind="wald")

    return ends


def _binary(name: str, plan: sv.Plan, respondents: int, **options: Any) -> CoverageRow:
    """Enumerate all counts of a yes/no question, for proportions 0, .005, ..., 1 of the population."""
    counts = np.stack([respondents - np.arange(respondents + 1), np.arange(respondents + 1)], axis=1).astype(float)
    found = outcomes(counts, _interval(plan, "a0", **options))
    channel = plan.channel(["a0"]).dense()
    truths = []
    for p in GRID:
        cells = np.array([1 - p, p])
        truths.append((cells, multinomial_probabilities(counts, channel @ cells)))
    return coverage_row(name, respondents, found, truths, "enumerated")


def literature_rows() -> Iterator[CoverageRow]:
    """Every design of the survey literature."""
    for name, scheme in LITERATURE.items():
        for respondents in SIZES:
            plan = _plan(scheme, 2)
            if plan.channel(["a0"]).n_out == 2:
                yield _binary(name, plan, respondents)
            else:
                yield _measured(name, plan, "a0", [np.array([1 - p, p]) for p in GRID], respondents, some=5)


def many_categories_rows() -> Iterator[CoverageRow]:
    """One of 6 and of 100 categories: the number of its reports is binomial."""
    for size in (6, 100):
        plan = _plan(sv.schemes.RandomizedResponse(epsilon=2), size)
        chances = [float(plan.channel(["a0"]).entry(0, truth)) for truth in (0, 1)]
        for respondents in SIZES:
            counts = np.zeros((respondents + 1, size))
            counts[:, 0] = np.arange(respondents + 1)
            counts[:, 1] = respondents - counts[:, 0]
            found = [
                Outcome(o.counts, *[(low[:1], high[:1]) for low, high in (o.default, o.wald)])
                for o in outcomes(counts, _interval(plan, "a0"))
            ]
            truths = []
            for p in GRID:
                chance = chances[1] + (chances[0] - chances[1]) * p
                weights = multinomial_probabilities(counts[:, :2], np.array([chance, 1 - chance]))
                truths.append((np.array([p]), weights))
            yield coverage_row(f"randomized response, {size} categories", respondents, found, truths, "enumerated")
    yield from _sets()


def _sets() -> Iterator[CoverageRow]:
    """Subset selection and unary encodings, by simulation."""
    rng = np.random.default_rng(1)
    schemes = {"subset selection": sv.schemes.SubsetSelection, "optimized unary": sv.schemes.OptimizedUnary}
    for name, scheme in schemes.items():
        for size, respondents in ((6, 30), (6, 1000), (100, 1000)):
            plan = _plan(scheme(epsilon=2), size)
            shares = 1 / np.arange(1, size + 1)
            truth = shares / shares.sum()
            found = []
            for _ in range(RUNS):
                people = {"a0": rng.choice(size, respondents, p=truth)}
                estimate = sv.disguise(people, plan, rng=rng).estimate("a0")
                found.append(Outcome(truth, estimate.interval(), estimate.interval(kind="wald")))
            truths = [(truth, np.full(RUNS, 1 / RUNS))]
            yield coverage_row(f"{name}, {size} categories", respondents, found, truths, RUNS)


def _joint_truths(*sizes: int) -> list[Array]:
    """Distributions of joint cells: independent ones on a grid, and others drawn, sparse to even."""
    rng, cells = np.random.default_rng(11), int(np.prod(sizes))
    grid = np.linspace(0, 1, 11)
    independent = [np.outer(_falling(p, sizes[0]), _falling(q, sizes[1])).ravel() for p in grid for q in grid]
    return independent + [rng.dirichlet(np.full(cells, even)) for even in (0.1, 0.3, 1.0, 10.0) for _ in range(10)]


def _falling(first: float, size: int) -> Array:
    """One category with this share, and others with shares of 1, 1/2, 1/3, ... among themselves."""
    others = 1 / np.arange(1, size)
    return np.array([first, *(1 - first) * others / others.sum()])


def joint_rows() -> Iterator[CoverageRow]:
    """Joint cells of two attributes that are disguised one by one."""
    for sizes in ((2, 2), (3, 4)):
        plan, truths = _plan(sv.schemes.RandomizedResponse(odds=9), *sizes), _joint_truths(*sizes)
        name = f"joint table {sizes[0]} x {sizes[1]}"
        for respondents in SIZES:
            yield _measured(name, plan, ["a0", "a1"], truths, respondents, some=4)


def maximum_likelihood_rows() -> Iterator[CoverageRow]:
    """EM with three categories, and with two attributes."""
    grid = np.linspace(0, 1, 21)
    three = [np.array([p, (1 - p) * q, (1 - p) * (1 - q)]) for p in grid for q in grid]
    plan = _plan(sv.schemes.RandomizedResponse(odds=9), 3)
    for respondents in SIZES:
        yield _measured("EM, three categories", plan, "a0", three, respondents, some=4, method="em")
    plan = _plan(sv.schemes.RandomizedResponse(odds=9), 2, 2)
    for respondents in (5, 30, 100):
        truths = _joint_truths(2, 2)
        yield _measured("EM, 2 x 2", plan, ["a0", "a1"], truths, respondents, some=4, method="em")
    for respondents in SIZES:
        yield _binary("EM, Warner", _plan(sv.schemes.Warner(p=0.75), 2), respondents, method="em")


MOST_ENUMERATED = 100_000
"""Most outcomes that are enumerated; of more, samples are drawn."""


def _measured(
    name: str,
    plan: sv.Plan,
    names: str | Sequence[str],
    truths: Sequence[Array],
    respondents: int,
    some: int,
    **options: Any,
) -> CoverageRow:
    """Enumerate all counts of reports for all truths, or draw samples of some; equal counts are estimated once."""
    channel = plan.channel([names] if isinstance(names, str) else names)
    interval = _interval(plan, names, **options)
    if comb(respondents + channel.n_out - 1, channel.n_out - 1) <= MOST_ENUMERATED:
        counts = all_counts(respondents, channel.n_out)
        weighted = [(truth, multinomial_probabilities(counts, channel.matvec(truth))) for truth in truths]
        return coverage_row(name, respondents, outcomes(counts, interval), weighted, "enumerated")
    rng = np.random.default_rng(respondents)
    found: list[Outcome] = []
    placed = []
    for truth in (truths[index] for index in rng.choice(len(truths), some, replace=False)):
        counts, shares = simulated(rng, channel.matvec(truth), respondents, RUNS)
        placed.append((truth, len(found), shares))
        found += outcomes(counts, interval)
    weighted = []
    for truth, start, shares in placed:
        weights = np.zeros(len(found))
        weights[start : start + len(shares)] = shares
        weighted.append((truth, weights))
    return coverage_row(name, respondents, found, weighted, RUNS)


def two_sample_rows() -> Iterator[CoverageRow]:
    """The sensitive proportion from two samples with theta 3/4 and 1/4, over both questions' proportions."""
    plans = [_plan(sv.schemes.UnrelatedQuestion(theta, known=["1/2", "1/2"]), 2) for theta in ("3/4", "1/4")]
    for respondents in (5, 30):
        numbers = range(respondents + 1)
        pairs = [(one, two) for one in numbers for two in numbers]
        found = [_two_samples(plans, respondents, pair) for pair in pairs]
        truths = []
        for p in GRID[::4]:
            for u in np.linspace(0, 1, 21):
                chances = [theta * p + (1 - theta) * u for theta in (0.75, 0.25)]
                parts = [
                    multinomial_probabilities(np.array([[n, respondents - n] for n in numbers]), np.array([c, 1 - c]))
                    for c in chances
                ]
                truths.append((np.array([p]), np.outer(*parts).ravel()))
        yield coverage_row("two samples, 3/4 and 1/4", 2 * respondents, found, truths, "enumerated")
    rng, respondents, runs = np.random.default_rng(5), 1000, 300
    found, truths = [], []
    cases = ((0.1, 0.0), (0.3, 0.5), (0.02, 0.9))
    for p, u in cases:
        chances = [theta * p + (1 - theta) * u for theta in (0.75, 0.25)]
        drawn = [_two_samples(plans, respondents, tuple(rng.binomial(respondents, chances))) for _ in range(runs)]
        weights = np.zeros(len(cases) * runs)
        weights[len(found) : len(found) + runs] = 1 / runs
        truths.append((np.array([p]), weights))
        found += drawn
    yield coverage_row("two samples, 3/4 and 1/4", 2 * respondents, found, truths, runs)


def _two_samples(plans: Sequence[sv.Plan], respondents: int, yes: tuple[int, ...]) -> Outcome:
    one, two = (
        sv.Reports.from_counts({1: int(count), 0: respondents - int(count)}, plan)
        for count, plan in zip(yes, plans, strict=True)
    )
    found = one.two_samples(two, "a0").sensitive
    default, wald = found.interval(), found.interval(kind="wald")
    return Outcome(np.array(yes), (default[0][1:], default[1][1:]), (wald[0][1:], wald[1][1:]))


def weighted_rows() -> Iterator[CoverageRow]:
    """Warner's design with log-normal survey weights, and with two strata of known shares."""
    rng, runs = np.random.default_rng(7), 1000
    plan = sv.Plan.of(sv.Schema([sv.boolean("a0")]), {"a0": sv.schemes.Warner(p=0.75)})
    for respondents in (30, 100, 1000):
        for name, make in (("weights", _weighted), ("strata", _stratified)):
            found: list[Outcome] = []
            truths = []
            cases = (0.02, 0.3, 0.5)
            for p in cases:
                weights = np.zeros(len(cases) * runs)
                weights[len(found) : len(found) + runs] = 1 / runs
                truths.append((np.array([p]), weights))
                found += [make(rng, plan, p, respondents) for _ in range(runs)]
            yield coverage_row(f"Warner with {name}", respondents, found, truths, runs)


def _reports(rng: np.random.Generator, truth: Any) -> Any:
    return np.where(rng.random(len(truth)) < 0.75, truth, ~truth)


def _weighted(rng: np.random.Generator, plan: sv.Plan, p: float, respondents: int) -> Outcome:
    weights = rng.lognormal(0, 0.6, respondents)
    sent = _reports(rng, rng.random(respondents) < p)
    return _outcome(sv.Reports({"a0": sent}, plan).estimate("a0", weights=weights.tolist()))


def _stratified(rng: np.random.Generator, plan: sv.Plan, p: float, respondents: int) -> Outcome:
    """A third of the sample is from a stratum of a fifth of the population, where answers are more frequent."""
    public = sv.Plan.of(plan.schema, {"a0": sv.schemes.Warner(p=0.75)}, public=[sv.Attribute("town", ["N", "S"])])
    towns = np.where(np.arange(respondents) % 3 == 0, "N", "S")
    chance = np.where(towns == "N", min(2 * p, 1), (p - 0.2 * min(2 * p, 1)) / 0.8)
    table = {"a0": _reports(rng, rng.random(respondents) < chance), "town": towns}
    return _outcome(sv.Reports(table, public).estimate("a0", strata={"town": {"N": 0.2, "S": 0.8}}))


def _outcome(estimate: sv.Estimate) -> Outcome:
    default, wald = estimate.interval(), estimate.interval(kind="wald")
    return Outcome(estimate.value, (default[0][1:], default[1][1:]), (wald[0][1:], wald[1][1:]))
