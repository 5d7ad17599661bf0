"""The search: population, archive and the large set Omega, generation by generation."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.channel.channel import Array
from sottovoce.design.objective import non_dominated
from sottovoce.design.optrr.breeding import bred, compiled, first_matrices
from sottovoce.design.optrr.matrices import assessed, iterative_errors, repair
from sottovoce.design.optrr.settings import Settings
from sottovoce.estimate.em import Progress

SAMPLES = 5
"""Samples of reports by which the error of the iterative approach is judged."""


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
