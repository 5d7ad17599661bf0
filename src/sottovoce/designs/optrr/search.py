"""OptRR's search, generation by generation, and the front of what it finds, as exact schemes."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.channels.channel import Array
from sottovoce.designs.exact_scheme import Solution, settled
from sottovoce.designs.front import Front, Objective, Point, non_dominated
from sottovoce.designs.measures import measures_of
from sottovoce.designs.optrr.matrices import (
    Settings,
    assessed,
    bred,
    compiled,
    first_matrices,
    iterative_errors,
    repair,
)
from sottovoce.designs.requirement import Requirement
from sottovoce.errors import SottovoceError, Words
from sottovoce.estimates.likelihood import Progress, em_of_all
from sottovoce.measures.utility import checked_respondents

SAMPLES = 5
"""Samples of reports by which the error of the iterative approach is judged."""
GUESSES_AND_ITERATIVE_ERROR = (Objective("adversary_accuracy"), Objective("iterative_mse"))
"""The trade of OptRR's figure 5(d)."""


@dataclass
class Search:
    """State of a search; `step` makes one generation.

    Omega holds, for each slice of privacy, the matrix with the least error seen there: an unbounded memory beside the
    small sets that evolve.
    """

    prior: Array
    delta: float
    respondents: float
    settings: Settings
    rng: np.random.Generator
    loops: Any = None
    generation: int = 0
    quiet: int = 0
    omega: Array = field(init=False)
    omega_losses: Array = field(init=False)

    def __post_init__(self) -> None:
        """Draw a first population."""
        self.loops = self.loops or compiled()
        n = len(self.prior)
        self._noise = self.rng.standard_normal((SAMPLES, n)) if self.settings.estimator == "em" else np.zeros((0, n))
        self.omega = np.zeros((self.settings.omega, n, n))
        self.omega_losses = np.full((self.settings.omega, 2), np.inf)
        self._population = first_matrices(self.prior, self.settings.population, self.rng)
        repair(self.loops, self._population, self.prior, self.delta)
        self._losses = self._assessed(self._population)
        self._archive, self._archive_losses = np.zeros((0, n, n)), np.zeros((0, 2))

    @property
    def found(self) -> NDArray[np.intp]:
        """Places of Omega that are taken."""
        return np.flatnonzero(np.isfinite(self.omega_losses[:, 1]))

    def step(self) -> None:
        """Fitness, environmental selection, mating, crossover and mutation, repair, exchange with Omega."""
        fitness = self._select()
        places = self.found
        front = places[non_dominated(self.omega_losses[places])]
        parents = (self._archive, fitness), (self.omega, front)
        self._population = bred(self.loops, self.settings, self.rng, self.prior, *parents)
        repair(self.loops, self._population, self.prior, self.delta)
        self._losses = self._assessed(self._population)
        changes = np.zeros(1, np.int64)
        for matrices, losses in ((self._population, self._losses), (self._archive, self._archive_losses)):
            self.loops.exchange(matrices, losses, self.omega, self.omega_losses, changes)
        self.generation += 1
        self.quiet = 0 if changes[0] else self.quiet + 1

    def run(self, progress: Progress | None = None) -> None:
        """All generations, or until Omega has stood still for as long as the patience."""
        for generation in range(self.settings.generations):
            self.step()
            if progress is not None and generation % 100 == 99:
                progress(generation + 1, self.settings.generations)
            if self.settings.patience is not None and self.quiet >= self.settings.patience:
                return

    def _assessed(self, matrices: Array) -> Array:
        """Losses, the error being that of the estimator."""
        losses = assessed(matrices, self.prior, self.respondents)
        if self.settings.estimator == "em":
            losses[:, 1] = iterative_errors(matrices, self.prior, self.respondents, self._noise)
        return losses

    def _select(self) -> Array:
        """Fill the archive with the fittest, or with the best spread of the undominated; their fitness is returned."""
        everyone = np.concatenate([self._population, self._archive])
        losses = np.concatenate([self._losses, self._archive_losses])
        fitness, distances = np.empty(len(losses)), np.empty((len(losses), len(losses)))
        self.loops.rank(losses, _spread(losses), fitness, distances)
        size = min(self.settings.archive, len(losses))
        alive = fitness < 1
        if alive.sum() > size:
            self.loops.truncate(alive, distances, size)
            chosen = np.flatnonzero(alive)
        else:
            chosen = np.argsort(fitness, kind="stable")[:size]
        self._archive, self._archive_losses = everyone[chosen], losses[chosen]
        return fitness[chosen]


def _spread(losses: Array) -> Array:
    """Losses on comparable scales: the error, which spans decades, by its logarithm; both from 0 to 1."""
    error = np.log(np.clip(losses[:, 1], 1e-300, 1e6))
    places = np.stack([losses[:, 0], error], axis=1)
    low, high = places.min(axis=0), places.max(axis=0)
    return np.asarray((places - low) / np.where(high > low, high - low, 1))


def optrr_front(
    prior: Any,
    respondents: float,
    *,
    delta: float = 1.0,
    settings: Settings | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
) -> Front:
    """Front of square matrices that SPEA2 finds, no posterior above delta (Huang & Du 2008, section V).

    A search: it knows no bound, and the certified front lies below it. The same seed finds the same front.

    >>> quick = Settings(generations=20, population=10, archive=10)
    >>> front = optrr_front([0.5, 0.3, 0.2], respondents=1000, delta=0.75, settings=quick, seed=1)
    >>> max(point["worst_posterior"] for point in front) <= 0.75 + 1e-9
    True
    """
    asked = Requirement.of(prior, delta=delta).for_error()
    size = checked_respondents(respondents)
    bound = min(delta, 1 - 1e-9)  # the identity's posteriors are 1, which no repair has to lower
    search = Search(np.asarray(asked.law), bound, size, settings or Settings(), np.random.default_rng(seed))
    search.run(progress)
    places = search.found
    kept = places[non_dominated(search.omega_losses[places])]
    points = measured_points(search.omega[kept], search.omega_losses[kept, 1] * size, asked, size)
    return Front(points, asked.prior, size, "OptRR")


def measured_points(matrices: Array, values: Array, asked: Requirement, respondents: float) -> tuple[Point, ...]:
    """Matrices of a search as exact schemes, with the measures of their integers and without any bound."""
    points = []
    for matrix, value in zip(matrices, values, strict=True):
        scheme = settled(Solution(float(value), 0.0, matrix=matrix / matrix.sum(axis=0)), asked)
        points.append(Point(scheme, measures_of(scheme.settled.channel, asked.law, respondents)))
    return tuple(points)


def with_iterative_error(
    front: Front, *, repetitions: int = 20, seed: int | None = None, progress: Progress | None = None
) -> Front:
    """Same points, each with `iterative_mse`: how far the distribution that EM finds is from the prior, on average.

    For every repetition the reports of as many respondents as the front was made for are drawn from each channel
    (Huang & Du 2008, section VI.E). Unlike the error of unbiased estimates it has no closed form.

    >>> from sottovoce.designs.sweeps import warner_sweep
    >>> front = with_iterative_error(warner_sweep([0.5, 0.3, 0.2], 1000, steps=10), repetitions=5, seed=1)
    >>> bool(front[0]["iterative_mse"] < 1e-3)
    True
    """
    if isinstance(repetitions, bool) or not isinstance(repetitions, int) or repetitions < 1:
        raise SottovoceError("repetitions", "must be a whole number of at least 1", repetitions)
    rng, prior = np.random.default_rng(seed), np.array(front.prior)
    stack = _stacked(front.points)
    laws = stack @ prior
    laws /= laws.sum(axis=1, keepdims=True)
    errors = np.zeros(len(stack))
    for done in range(repetitions):
        found = em_of_all(stack, rng.multinomial(round(front.respondents), laws))
        errors += ((found - prior) ** 2).mean(axis=1) / repetitions
        if progress is not None:
            progress(done + 1, repetitions)
    points = (
        replace(point, measures={**point.measures, "iterative_mse": float(error)})
        for point, error in zip(front.points, errors, strict=True)
    )
    return replace(front, points=tuple(points), objectives=GUESSES_AND_ITERATIVE_ERROR)


def _stacked(points: tuple[Point, ...]) -> Array:
    """Matrices of one shape: reports that never come fill up those with fewer."""
    matrices = [point.matrix() for point in points]
    listed = [matrix for matrix in matrices if matrix is not None]
    if not listed or len(listed) < len(matrices):
        raise SottovoceError("front", "must have points, all of them with reports that can be listed", Words("others"))
    most = max(len(matrix) for matrix in listed)
    return np.stack([np.pad(matrix, ((0, most - len(matrix)), (0, 0))) for matrix in listed])
