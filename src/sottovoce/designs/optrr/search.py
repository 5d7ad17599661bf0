"""OptRR: the evolutionary search of Huang & Du (2008), and the fronts it finds, as exact schemes."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.checks import Array, Progress, whole_number
from sottovoce.designs.exact_scheme import Solution, round_solution
from sottovoce.designs.front import Front, Objective, Point, measures_of, non_dominated
from sottovoce.designs.optrr.matrices import (
    Settings,
    children_of,
    compiled_loops,
    first_matrices,
    iterative_errors,
    losses_of,
    repair,
)
from sottovoce.designs.requirement import Requirement
from sottovoce.errors import SottovoceError, Words
from sottovoce.estimates.likelihood import em_stack
from sottovoce.measures.utility import checked_respondents

SAMPLES = 5
"""Samples of reports over which the error of EM estimates is averaged."""

ACCURACY_AND_ITERATIVE_ERROR = (Objective("adversary_accuracy"), Objective("iterative_mse"))
"""Objectives of OptRR's figure 5(d)."""


@dataclass
class Search:
    """State of a search; `step` makes one generation.

    Omega keeps, for each interval of privacy, the matrix with the least error seen there: a large memory beside the
    small population and archive.
    """

    prior: Array
    delta: float
    respondents: float
    settings: Settings
    rng: np.random.Generator
    loops: Any = None
    generation: int = 0
    stagnation: int = 0
    omega: Array = field(init=False)
    omega_losses: Array = field(init=False)

    def __post_init__(self) -> None:
        """Draw the first population."""
        self.loops = self.loops or compiled_loops()
        n = len(self.prior)
        self._noise = self.rng.standard_normal((SAMPLES, n)) if self.settings.estimator == "em" else np.zeros((0, n))
        self.omega = np.zeros((self.settings.omega, n, n))
        self.omega_losses = np.full((self.settings.omega, 2), np.inf)
        self._population = first_matrices(self.prior, self.settings.population, self.rng)
        repair(self.loops, self._population, self.prior, self.delta)
        self._losses = self._losses_of(self._population)
        self._archive, self._archive_losses = np.zeros((0, n, n)), np.zeros((0, 2))

    @property
    def filled(self) -> NDArray[np.intp]:
        """Indices of Omega that hold a matrix."""
        return np.flatnonzero(np.isfinite(self.omega_losses[:, 1]))

    def step(self) -> None:
        """Fitness, environmental selection, mating, crossover and mutation, repair, exchange with Omega."""
        fitness = self._select()
        filled = self.filled
        front = filled[non_dominated(self.omega_losses[filled])]
        parents = (self._archive, fitness), (self.omega, front)
        self._population = children_of(self.loops, self.settings, self.rng, self.prior, *parents)
        repair(self.loops, self._population, self.prior, self.delta)
        self._losses = self._losses_of(self._population)
        changes = np.zeros(1, np.int64)
        for matrices, losses in ((self._population, self._losses), (self._archive, self._archive_losses)):
            self.loops.exchange(matrices, losses, self.omega, self.omega_losses, changes)
        self.generation += 1
        self.stagnation = 0 if changes[0] else self.stagnation + 1

    def run(self, progress: Progress | None = None) -> None:
        """Run all generations, or until Omega has not changed for `patience` generations."""
        for generation in range(self.settings.generations):
            self.step()
            if progress is not None and generation % 100 == 99:
                progress(generation + 1, self.settings.generations)
            if self.settings.patience is not None and self.stagnation >= self.settings.patience:
                return

    def _losses_of(self, matrices: Array) -> Array:
        """Adversary's accuracy, and the error of the chosen estimator."""
        losses = losses_of(matrices, self.prior, self.respondents)
        if self.settings.estimator == "em":
            losses[:, 1] = iterative_errors(matrices, self.prior, self.respondents, self._noise)
        return losses

    def _select(self) -> Array:
        """Select the archive by fitness, or by distance if too many are non-dominated; return its fitness."""
        matrices = np.concatenate([self._population, self._archive])
        losses = np.concatenate([self._losses, self._archive_losses])
        fitness, distances = np.empty(len(losses)), np.empty((len(losses), len(losses)))
        self.loops.rank(losses, _scaled(losses), fitness, distances)
        size = min(self.settings.archive, len(losses))
        alive = fitness < 1
        if alive.sum() > size:
            self.loops.truncate(alive, distances, size)
            chosen = np.flatnonzero(alive)
        else:
            chosen = np.argsort(fitness, kind="stable")[:size]
        self._archive, self._archive_losses = matrices[chosen], losses[chosen]
        return fitness[chosen]


def _scaled(losses: Array) -> Array:
    """Scale accuracy and logarithm of the error to the range from 0 to 1."""
    error = np.log(np.clip(losses[:, 1], 1e-300, 1e6))
    points = np.stack([losses[:, 0], error], axis=1)
    low, high = points.min(axis=0), points.max(axis=0)
    return np.asarray((points - low) / np.where(high > low, high - low, 1))


def optrr_front(
    prior: Any,
    respondents: float,
    *,
    delta: float = 1.0,
    settings: Settings | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
) -> Front:
    """Return a front of square matrices by SPEA2, with no posterior above delta (Huang & Du 2008, section V).

    A heuristic without a bound; the certified front is better. The same seed finds the same front.

    >>> quick = Settings(generations=20, population=10, archive=10)
    >>> front = optrr_front([0.5, 0.3, 0.2], respondents=1000, delta=0.75, settings=quick, seed=1)
    >>> max(point["worst_posterior"] for point in front) <= 0.75 + 1e-9
    True
    """
    requirement = Requirement.of(prior, delta=delta).for_error()
    size = checked_respondents(respondents)
    bound = min(delta, 1 - 1e-9)  # the repair divides by 1 - delta
    rng = np.random.default_rng(seed)
    search = Search(requirement.prior_array, bound, size, settings or Settings(), rng)
    search.run(progress)
    filled = search.filled
    kept = filled[non_dominated(search.omega_losses[filled])]
    points = points_of(search.omega[kept], search.omega_losses[kept, 1] * size, requirement, size)
    return Front(points, requirement.prior, size, "OptRR")


def points_of(matrices: Array, values: Array, requirement: Requirement, respondents: float) -> tuple[Point, ...]:
    """Return matrices as points: exact schemes with their measures, without a certificate."""
    points = []
    for matrix, value in zip(matrices, values, strict=True):
        scheme = round_solution(Solution(float(value), 0.0, matrix=matrix / matrix.sum(axis=0)), requirement)
        points.append(Point(scheme, measures_of(scheme.channel, requirement.prior_array, respondents)))
    return tuple(points)


def with_iterative_error(
    front: Front, *, repetitions: int = 20, seed: int | None = None, progress: Progress | None = None
) -> Front:
    """Return the front with `iterative_mse` at each point: the mean squared error of the EM estimate, by simulation.

    Each repetition draws the reports of as many respondents as the front was made for from each channel (Huang & Du
    2008, section VI.E). Unlike the error of unbiased estimates it has no closed form.

    >>> from sottovoce.designs.sweeps import warner_sweep
    >>> front = with_iterative_error(warner_sweep([0.5, 0.3, 0.2], 1000, steps=10), repetitions=5, seed=1)
    >>> bool(front[0]["iterative_mse"] < 1e-3)
    True
    """
    repetitions = whole_number("repetitions", repetitions)
    rng, prior = np.random.default_rng(seed), np.array(front.prior)
    stack = _stacked(front.points)
    distributions = stack @ prior
    distributions /= distributions.sum(axis=1, keepdims=True)
    errors = np.zeros(len(stack))
    for done in range(repetitions):
        estimates = em_stack(stack, rng.multinomial(round(front.respondents), distributions))
        errors += ((estimates - prior) ** 2).mean(axis=1) / repetitions
        if progress is not None:
            progress(done + 1, repetitions)
    points = (
        replace(point, measures={**point.measures, "iterative_mse": float(error)})
        for point, error in zip(front.points, errors, strict=True)
    )
    return replace(front, points=tuple(points), objectives=ACCURACY_AND_ITERATIVE_ERROR)


def _stacked(points: tuple[Point, ...]) -> Array:
    """Stack matrices, padded with rows of zeros to one shape."""
    matrices = [point.matrix() for point in points]
    small = [matrix for matrix in matrices if matrix is not None]
    if not small or len(small) < len(matrices):
        raise SottovoceError("front", "must have points, all of them with reports that can be listed", Words("others"))
    most = max(len(matrix) for matrix in small)
    return np.stack([np.pad(matrix, ((0, most - len(matrix)), (0, 0))) for matrix in small])
