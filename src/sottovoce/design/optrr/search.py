"""The search: population, archive and the large set Omega, generation by generation."""

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sottovoce.channel.channel import Array
from sottovoce.design.optrr.matrices import assessed, iterative_errors, repair
from sottovoce.errors import MissingExtraError, SottovoceError
from sottovoce.estimate.em import Progress
from sottovoce.mechanism.bulk import kernels

UNIFORMS = 11
"""Random numbers of a child."""

SAMPLES = 5
"""Samples of reports by which the error of the iterative approach is judged."""


@dataclass(frozen=True)
class Settings:
    """Sizes of the three sets, generations, mutation rate, and `patience`: generations without change that end it.

    `estimator` is what the error is of: "inversion", in closed form, or "em", its mean over a few samples of reports,
    the noise of which is the same for all matrices; that takes some hundred times as long.
    """

    population: int = 40
    archive: int = 40
    omega: int = 1000
    generations: int = 20_000
    mutation_rate: float = 0.8
    patience: int | None = None
    estimator: Literal["inversion", "em"] = "inversion"

    def __post_init__(self) -> None:
        """Refuse sets of nothing."""
        for name, least in (("population", 2), ("archive", 1), ("omega", 1), ("generations", 1), ("patience", 1)):
            value = getattr(self, name)
            whole = isinstance(value, int) and not isinstance(value, bool)
            if not (whole and value >= least) and not (name == "patience" and value is None):
                raise SottovoceError(name, f"must be a whole number of at least {least}", value)
        if not 0 <= self.mutation_rate <= 1:
            raise SottovoceError("mutation_rate", "must be between 0 and 1", self.mutation_rate)
        if self.estimator not in ("inversion", "em"):
            raise SottovoceError("estimator", "must be inversion or em", self.estimator)


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
        self.loops = self.loops or kernels("sottovoce.design.optrr._kernels")
        if self.loops is None:
            raise MissingExtraError("OptRR's search", "numba", "design")
        n = len(self.prior)
        self._noise = self.rng.standard_normal((SAMPLES, n)) if self.settings.estimator == "em" else np.zeros((0, n))
        self.omega = np.zeros((self.settings.omega, n, n))
        self.omega_losses = np.full((self.settings.omega, 2), np.inf)
        self._population = self._first()
        self._losses = self._assessed(self._population)
        self._archive, self._archive_losses = np.zeros((0, n, n)), np.zeros((0, 2))

    @property
    def found(self) -> NDArray[np.intp]:
        """Places of Omega that are taken."""
        return np.flatnonzero(np.isfinite(self.omega_losses[:, 1]))

    def step(self) -> None:
        """Fitness, environmental selection, mating, crossover and mutation, repair, exchange with Omega."""
        fitness = self._select()
        uniforms = self.rng.random((self.settings.population, UNIFORMS))
        children = np.empty_like(self._population)
        self.loops.breed(self._archive, fitness, uniforms, self.settings.mutation_rate, children)
        repair(self.loops, children, self.prior, self.delta)
        self._population = children
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

    def _first(self) -> Array:
        """Random matrices between noise and the identity, made to meet delta.

        The noise of a matrix is spread evenly, or like the prior: the former start the search near the private end of
        the front, the latter near the accurate one, which it would not reach otherwise.
        """
        n, count = len(self.prior), self.settings.population
        even, alike = (self.rng.dirichlet(weights, (count, n)) for weights in (np.ones(n), n * self.prior))
        columns = np.where(self.rng.random((count, 1, 1)) < 0.5, even, alike).transpose(0, 2, 1)
        share = self.rng.random((count, 1, 1))
        drawn = np.ascontiguousarray(share * np.eye(n) + (1 - share) * columns)
        repair(self.loops, drawn, self.prior, self.delta)
        return drawn

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
