"""How far certified designs of 21 to 100 categories are from what is proven, over a grid of priors."""

from collections.abc import Iterator
from time import perf_counter

import numpy as np

from benchmarks.measure import Row
from sottovoce.checks import Array
from sottovoce.designs.certified import design
from sottovoce.designs.requirement import named_prior

SIZES = (21, 30, 50, 100)
EPSILONS = (0.5, 1.0, 2.0, 4.0)

STEEPEST = 50
"""Most categories of the geometric prior: of 100, whose least is 2e-10, the mixture's weights exceed 2^8192."""


def priors(categories: int) -> dict[str, Array]:
    """Priors of the grid by name."""
    ranks = np.arange(categories)
    rare = np.where(ranks < categories // 2, 1.0, 1e-4)
    others = 1 + 0.1 * np.random.default_rng(categories).random(categories - 1)
    given = {
        "uniform": np.ones(categories),
        "zipf": named_prior("zipf", categories),
        "normal": named_prior("normal", categories),
        "geometric, ratio .8": 0.8**ranks,
        "one category of .99": np.append(0.99, np.full(categories - 1, 0.01 / (categories - 1))),
        "one category of .5, others within 10 %": np.append(others.sum(), others),
        "half of the categories thrice as likely": np.where(ranks < categories // 2, 3.0, 1.0),
        "half of the categories at .0001 of the others": rare,
    }
    if categories > STEEPEST:
        del given["geometric, ratio .8"]
    return {name: shares / shares.sum() for name, shares in given.items()}


def gaps(sizes: tuple[int, ...] = SIZES) -> Iterator[tuple[str, int, float, float, float]]:
    """Yield name of the prior, categories, epsilon, gap and seconds of each design."""
    for categories in sizes:
        for name, prior in priors(categories).items():
            for epsilon in EPSILONS:
                start = perf_counter()
                gap = design(prior, epsilon=epsilon).gap or 0.0
                yield name, categories, epsilon, max(gap, 0.0), perf_counter() - start


def rows(sizes: tuple[int, ...] = SIZES) -> Iterator[Row]:
    """Largest gap for each prior and epsilon, in %, and the longest time."""
    found = list(gaps(sizes))
    for name in dict.fromkeys(row[0] for row in found):
        for epsilon in EPSILONS:
            largest = max(gap for prior, _, at, gap, _ in found if (prior, at) == (name, epsilon))
            yield Row(f"gap beyond 20 categories, epsilon {epsilon:g}: {name}", None, 100 * largest, None, "%")
    longest = max(seconds for *_, seconds in found)
    yield Row("design of 21 to 100 categories, longest", None, longest, None, "seconds")
