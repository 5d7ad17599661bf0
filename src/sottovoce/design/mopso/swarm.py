"""The swarm: particles that copy what better ones have, a repository of the best, and an archive that mutates."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sottovoce.channel.channel import Array
from sottovoce.design.mopso.matrices import bounded, near_frapp, random_matrices
from sottovoce.design.mopso.settings import Settings
from sottovoce.design.objective import non_dominated
from sottovoce.estimate.em import Progress
from sottovoce.measure.bits import mutual_information
from sottovoce.measure.utility import distortion


@dataclass
class Swarm:
    """State of a search among n x n matrices whose rows keep the odds; `step` makes one generation.

    The paper bounds the ratios in columns, which is no differential privacy: here each report, a row, keeps them.
    """

    prior: Array
    odds: float
    settings: Settings
    rng: np.random.Generator
    places: Array = field(init=False)
    losses: Array = field(init=False)
    quiet: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        """Particles at random, or near the gamma-diagonal matrices; velocities at random."""
        draw = random_matrices if self.settings.start == "random" else near_frapp
        self.places = draw(self.prior, self.odds, self.settings.particles, self.rng)
        self.losses = self._assessed(self.places)
        self._speeds = self.rng.random(self.places.shape)
        self._own, self._own_losses = self.places.copy(), self.losses.copy()
        self.best, self.best_losses = self.places[:0], self.losses[:0]
        self.archive = self.places[:0]
        self._keep_best(self.places, self.losses)

    def step(self) -> None:
        """Velocities, positions, own bests, mutation of the archive, repository."""
        weights, rng = self.settings, self.rng
        guides = self.best[self._leaders(len(self.places))]
        own, all_of = rng.random((2, len(self.places), 1, 1))
        pulled = weights.inertia * self._speeds + weights.pull * own * (self._own - self.places)
        self._speeds = np.maximum(pulled + weights.pull * all_of * (guides - self.places), 0)
        copied = np.where(self._speeds > 0, guides, self.places)  # AND with the guide, and replacement
        self.places = bounded(copied / copied.sum(axis=1, keepdims=True), self.prior, self.odds)
        self.losses = self._assessed(self.places)
        self._remember()
        mutants = self._mutated()
        found = np.concatenate([self.places, mutants])
        self._keep_best(found, np.concatenate([self.losses, self._assessed(mutants)]))

    def run(self, progress: Progress | None = None) -> None:
        """All generations, or until nobody has entered the repository for as long as the patience."""
        for generation in range(self.settings.generations):
            self.step()
            if progress is not None:
                progress(generation + 1, self.settings.generations)
            if self.settings.patience is not None and self.quiet >= self.settings.patience:
                return

    def front(self) -> tuple[Array, Array]:
        """Undominated matrices of repository and archive, and their losses."""
        everyone = np.concatenate([self.best, self.archive])
        losses = self._assessed(everyone)
        kept = non_dominated(losses)
        return everyone[kept], losses[kept]

    def _assessed(self, matrices: Array) -> Array:
        """Bits and distortion."""
        if not len(matrices):
            return np.zeros((0, 2))
        return np.stack([mutual_information(matrices, self.prior), distortion(matrices, self.prior)], axis=-1)

    def _leaders(self, count: int) -> NDArray[np.intp]:
        """Guides by roulette over the occupied cubes of a grid: a cube with fewer matrices is the better one."""
        low, high = self.best_losses.min(axis=0), self.best_losses.max(axis=0)
        scaled = (self.best_losses - low) / np.where(high > low, high - low, 1)
        grids = self.settings.grids
        cubes = np.minimum((scaled * grids).astype(int), grids - 1) @ [grids, 1]
        _, cube, crowd = np.unique(cubes, return_inverse=True, return_counts=True)
        chance = 1 / crowd[cube] ** 2  # that of its cube, 1 / crowd, shared by all in it
        return self.rng.choice(len(self.best), size=count, p=chance / chance.sum())

    def _remember(self) -> None:
        """Own bests: a place that is no worse in both, or by a coin where neither dominates."""
        better = (self.losses <= self._own_losses).all(axis=1)
        worse = (self._own_losses <= self.losses).all(axis=1)
        taken = better | (~worse & (self.rng.random(len(self.places)) < 0.5))
        self._own[taken], self._own_losses[taken] = self.places[taken], self.losses[taken]

    def _mutated(self) -> Array:
        """Archive with some columns drawn anew in a share of its matrices, and copied from a guide in the others."""
        count, n = len(self.archive), len(self.prior)
        if not count:
            return self.archive
        share = self.settings.mutation_share
        fresh = self.rng.random(count) < share
        columns = np.where(fresh, max(1, round(share * n)), n - max(1, round(share * n)))
        order = self.rng.random((count, n)).argsort(axis=1)
        replaced = (order < columns[:, None])[:, None, :]
        guides = self.best[self._leaders(count)]
        drawn = random_matrices(self.prior, self.odds, count, self.rng)
        source = np.where(fresh[:, None, None], drawn, guides)
        return bounded(np.where(replaced, source, self.archive), self.prior, self.odds)

    def _keep_best(self, matrices: Array, losses: Array) -> None:
        """Undominated ones; of too many, those nearest to all others move to the archive (36)."""
        everyone, values = np.concatenate([self.best, matrices]), np.concatenate([self.best_losses, losses])
        kept = np.flatnonzero(non_dominated(values))
        self.quiet = 0 if (kept >= len(self.best)).any() else self.quiet + 1
        self.best, self.best_losses = everyone[kept], values[kept]
        room = self.settings.repository
        if len(kept) > room:
            flat = self.best.reshape(len(kept), -1)
            squares = (flat**2).sum(axis=1)
            crowding = len(kept) * squares - 2 * flat @ flat.sum(axis=0) + squares.sum()
            order = np.argsort(-crowding, kind="stable")
            self.archive = np.concatenate([self.archive, self.best[order[room:]]])[-self.settings.archive :]
            self.best, self.best_losses = self.best[order[:room]], self.best_losses[order[:room]]
        if not len(self.archive):  # nobody was sent there yet: some newcomers mutate
            self.archive = matrices[: self.settings.archive // 10 + 1].copy()
