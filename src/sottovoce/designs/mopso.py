"""MOPSO: discrete particle swarm for mutual information against distortion (Gao et al. 2018)."""

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sottovoce.checks import Array, Progress, number, one_of, whole_number
from sottovoce.designs.front import INFORMATION_AND_DISTORTION, Front, non_dominated
from sottovoce.designs.optrr.search import points_of
from sottovoce.designs.requirement import Requirement
from sottovoce.errors import SottovoceError, Words
from sottovoce.exact import Number, OddsLike
from sottovoce.measures.privacy import mutual_information
from sottovoce.measures.utility import checked_respondents, distortion

Start = Literal["random", "frapp"]

ROUNDS = 3
"""Times that small entries are raised before the rest of the excess is mixed away."""

RARE = 1e-9
"""Weight of an unused report, so that the matrix stays invertible."""


@dataclass(frozen=True)
class Settings:
    """Table 2 of the paper: particles, repository, mutation archive, generations, and the coefficients.

    The search ends early after `patience` generations without a new matrix in the repository.
    """

    particles: int = 100
    repository: int = 200
    archive: int = 200
    generations: int = 200
    mutation_share: float = 1 / 3
    inertia: float = 0.4
    pull: float = 2.0
    grids: int = 20
    start: Start = "random"
    patience: int | None = None

    def __post_init__(self) -> None:
        """Check sizes and shares."""
        for name in ("particles", "repository", "archive", "generations", "grids", "patience"):
            value = getattr(self, name)
            if name != "patience" or value is not None:
                whole_number(name, value)
        number("mutation_share", self.mutation_share, 0, 1)
        one_of("start", self.start, ("random", "frapp"))


def bounded(matrices: Array, prior: Array, odds: float) -> Array:
    """Make rows keep the odds: raise small entries to the largest over the odds, and normalise the columns.

    That may need many rounds. The remaining excess is removed by mixing with reports of the same distribution that
    ignore the truth, as much as the worst row needs.

    >>> bounded(np.eye(2)[None], np.array([0.5, 0.5]), 3.0)[0]
    array([[0.75, 0.25],
           [0.25, 0.75]])
    """
    for _ in range(ROUNDS):
        raised = np.maximum(matrices, matrices.max(-1, keepdims=True) / odds)
        matrices = raised / raised.sum(-2, keepdims=True)
    reports = (matrices @ prior)[..., None]
    excess = np.maximum(matrices.max(-1, keepdims=True) - odds * matrices.min(-1, keepdims=True), 0)
    needed = np.divide(excess, excess + (odds - 1) * reports, out=np.zeros_like(excess), where=excess > 0)
    share = needed.max(axis=-2, keepdims=True)
    return np.asarray((1 - share) * matrices + share * reports)


def random_matrices(prior: Array, odds: float, count: int, rng: np.random.Generator) -> Array:
    """Return matrices of random columns, more or less alike and truthful, with a random share of the reports unused."""
    n = len(prior)
    true, alike, used = rng.random((3, count, 1, 1))
    shared = rng.dirichlet(np.ones(n), count)[:, :, None]
    noise = alike * shared + (1 - alike) * rng.dirichlet(np.ones(n), (count, n)).transpose(0, 2, 1)
    ticket = rng.random((count, n, 1))
    kept = ticket <= np.maximum(used, ticket.min(axis=1, keepdims=True))  # at least one
    matrices = (true * np.eye(n) + (1 - true) * noise) * kept + RARE
    return bounded(matrices / matrices.sum(axis=1, keepdims=True), prior, odds)


def near_frapp(prior: Array, odds: float, count: int, rng: np.random.Generator) -> Array:
    """Return gamma-diagonal matrices of random odds, each entry multiplied by a random factor."""
    n = len(prior)
    gamma = odds ** rng.random((count, 1, 1))
    disturbed = np.exp(0.3 * rng.random((count, 1, 1)) * rng.standard_normal((count, n, n)))
    matrices = (1 + (gamma - 1) * np.eye(n)) * disturbed
    return bounded(matrices / matrices.sum(axis=1, keepdims=True), prior, odds)


@dataclass
class Swarm:
    """State of a search among n x n matrices whose rows keep the odds; `step` makes one generation.

    The paper bounds ratios within columns, which is no differential privacy; here they are bounded within rows.
    """

    prior: Array
    odds: float
    settings: Settings
    rng: np.random.Generator
    positions: Array = field(init=False)
    losses: Array = field(init=False)
    stagnation: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        """Draw particles at random, or near the gamma-diagonal matrices, and random velocities."""
        draw = random_matrices if self.settings.start == "random" else near_frapp
        self.positions = draw(self.prior, self.odds, self.settings.particles, self.rng)
        self.losses = self._losses_of(self.positions)
        self._velocities = self.rng.random(self.positions.shape)
        self._personal_best, self._personal_losses = self.positions.copy(), self.losses.copy()
        self.best, self.best_losses = self.positions[:0], self.losses[:0]
        self.archive = self.positions[:0]
        self._keep_best(self.positions, self.losses)

    def step(self) -> None:
        """Update velocities, positions, personal bests, the mutated archive, and the repository."""
        weights, rng = self.settings, self.rng
        guides = self.best[self._leaders(len(self.positions))]
        personal, social = rng.random((2, len(self.positions), 1, 1))
        pulled = weights.inertia * self._velocities + weights.pull * personal * (self._personal_best - self.positions)
        self._velocities = np.maximum(pulled + weights.pull * social * (guides - self.positions), 0)
        copied = np.where(self._velocities > 0, guides, self.positions)  # AND with the guide, and replacement
        self.positions = bounded(copied / copied.sum(axis=1, keepdims=True), self.prior, self.odds)
        self.losses = self._losses_of(self.positions)
        self._remember()
        mutants = self._mutated()
        newcomers = np.concatenate([self.positions, mutants])
        self._keep_best(newcomers, np.concatenate([self.losses, self._losses_of(mutants)]))

    def run(self, progress: Progress | None = None) -> None:
        """Run all generations, or until the repository has not changed for `patience` generations."""
        for generation in range(self.settings.generations):
            self.step()
            if progress is not None:
                progress(generation + 1, self.settings.generations)
            if self.settings.patience is not None and self.stagnation >= self.settings.patience:
                return

    def front(self) -> tuple[Array, Array]:
        """Return the non-dominated matrices of repository and archive, and their losses."""
        matrices = np.concatenate([self.best, self.archive])
        losses = self._losses_of(matrices)
        kept = non_dominated(losses)
        return matrices[kept], losses[kept]

    def _losses_of(self, matrices: Array) -> Array:
        """Mutual information in bits, and distortion."""
        if not len(matrices):
            return np.zeros((0, 2))
        return np.stack([mutual_information(matrices, self.prior), distortion(matrices, self.prior)], axis=-1)

    def _leaders(self, count: int) -> NDArray[np.intp]:
        """Choose guides by roulette over the occupied cubes of a grid, cubes with fewer matrices more often."""
        low, high = self.best_losses.min(axis=0), self.best_losses.max(axis=0)
        scaled = (self.best_losses - low) / np.where(high > low, high - low, 1)
        grids = self.settings.grids
        cubes = np.minimum((scaled * grids).astype(int), grids - 1) @ [grids, 1]
        _, cube, crowd = np.unique(cubes, return_inverse=True, return_counts=True)
        chance = 1 / crowd[cube] ** 2  # that of its cube, 1 / crowd, divided among its matrices
        return self.rng.choice(len(self.best), size=count, p=chance / chance.sum())

    def _remember(self) -> None:
        """Update personal bests: to a position no worse in both losses, or at random if neither dominates."""
        better = (self.losses <= self._personal_losses).all(axis=1)
        worse = (self._personal_losses <= self.losses).all(axis=1)
        taken = better | (~worse & (self.rng.random(len(self.positions)) < 0.5))
        self._personal_best[taken], self._personal_losses[taken] = self.positions[taken], self.losses[taken]

    def _mutated(self) -> Array:
        """Return the archive with columns redrawn in a share of its matrices, and copied from a guide in the others."""
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
        """Keep the non-dominated matrices; of too many, those nearest to all others move to the archive (36)."""
        candidates, values = np.concatenate([self.best, matrices]), np.concatenate([self.best_losses, losses])
        kept = np.flatnonzero(non_dominated(values))
        self.stagnation = 0 if (kept >= len(self.best)).any() else self.stagnation + 1
        self.best, self.best_losses = candidates[kept], values[kept]
        room = self.settings.repository
        if len(kept) > room:
            flat = self.best.reshape(len(kept), -1)
            squares = (flat**2).sum(axis=1)
            crowding = len(kept) * squares - 2 * flat @ flat.sum(axis=0) + squares.sum()
            order = np.argsort(-crowding, kind="stable")
            self.archive = np.concatenate([self.archive, self.best[order[room:]]])[-self.settings.archive :]
            self.best, self.best_losses = self.best[order[:room]], self.best_losses[order[:room]]
        if not len(self.archive):  # empty at first: some of the new matrices mutate
            self.archive = matrices[: self.settings.archive // 10 + 1].copy()


def mopso_front(
    prior: Any,
    respondents: float,
    *,
    odds: OddsLike | None = None,
    epsilon: Number | None = None,
    settings: Settings | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
) -> Front:
    """Return a front of mutual information against distortion by a particle swarm (Gao et al. 2018, Algorithm 1).

    A heuristic without a bound; the certified front is better. The same seed finds the same front.

    >>> quick = Settings(generations=5, particles=10)
    >>> front = mopso_front([0.5, 0.3, 0.2], respondents=1000, odds=4, settings=quick, seed=1)
    >>> max(point["epsilon"] for point in front) <= np.log(4)
    np.True_
    """
    requirement = Requirement.of(prior, odds=odds, epsilon=epsilon).for_information()
    bound = requirement.float_odds
    if bound is None:
        raise SottovoceError("odds or epsilon", "must be given, one of them, for the swarm to keep", Words("none"))
    swarm = Swarm(requirement.prior_array, bound, settings or Settings(), np.random.default_rng(seed))
    swarm.run(progress)
    size = checked_respondents(respondents)
    matrices, losses = swarm.front()
    points = points_of(matrices, losses[:, 0], requirement, size)
    return Front(points, requirement.prior, size, "MOPSO", INFORMATION_AND_DISTORTION)
