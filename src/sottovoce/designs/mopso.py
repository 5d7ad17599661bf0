"""Discrete particle swarm for the trade of information against distortion (Gao et al. 2018)."""

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sottovoce.channels.channel import Array
from sottovoce.designs.front import BITS_AND_DISTORTION, Front, non_dominated
from sottovoce.designs.optrr.search import measured_points
from sottovoce.designs.requirement import Requirement
from sottovoce.errors import SottovoceError, Words
from sottovoce.estimates.likelihood import Progress
from sottovoce.exact import Number, OddsLike
from sottovoce.measures.privacy import mutual_information
from sottovoce.measures.utility import checked_respondents, distortion

Start = Literal["random", "frapp"]
ROUNDS = 3
"""Times that small entries are raised before what still exceeds the odds is mixed away."""

RARE = 1e-9
"""Weight of a report that is left out, for the matrix to stay invertible."""


@dataclass(frozen=True)
class Settings:
    """Table 2 of the paper: particles, repository, mutation archive, generations, and the coefficients.

    `patience` is the number of generations without a newcomer in the repository that ends the search before its time.
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
        """Refuse swarms of nobody."""
        for name in ("particles", "repository", "archive", "generations", "grids", "patience"):
            value = getattr(self, name)
            whole = isinstance(value, int) and not isinstance(value, bool) and value >= 1
            if not whole and not (name == "patience" and value is None):
                raise SottovoceError(name, "must be a whole number of at least 1", value)
        if not 0 <= self.mutation_share <= 1:
            raise SottovoceError("mutation_share", "must be between 0 and 1", self.mutation_share)
        if self.start not in ("random", "frapp"):
            raise SottovoceError("start", "must be random or frapp", self.start)


def bounded(matrices: Array, prior: Array, odds: float) -> Array:
    """Matrices whose rows keep the odds: small entries are raised to the largest over the odds, columns normalised.

    That may need many rounds. What is left is mixed with reports of the same law that ignore the truth, as much as the
    worst row needs.

    >>> bounded(np.eye(2)[None], np.array([0.5, 0.5]), 3.0)[0]
    array([[0.75, 0.25],
           [0.25, 0.75]])
    """
    for _ in range(ROUNDS):
        raised = np.maximum(matrices, matrices.max(-1, keepdims=True) / odds)
        matrices = raised / raised.sum(-2, keepdims=True)
    law = (matrices @ prior)[..., None]
    excess = np.maximum(matrices.max(-1, keepdims=True) - odds * matrices.min(-1, keepdims=True), 0)
    needed = np.divide(excess, excess + (odds - 1) * law, out=np.zeros_like(excess), where=excess > 0)
    share = needed.max(axis=-2, keepdims=True)
    return np.asarray((1 - share) * matrices + share * law)


def random_matrices(prior: Array, odds: float, count: int, rng: np.random.Generator) -> Array:
    """Random columns, more or less alike and more or less often true, a random share of the reports left out."""
    n = len(prior)
    true, alike, used = rng.random((3, count, 1, 1))
    shared = rng.dirichlet(np.ones(n), count)[:, :, None]
    noise = alike * shared + (1 - alike) * rng.dirichlet(np.ones(n), (count, n)).transpose(0, 2, 1)
    ticket = rng.random((count, n, 1))
    kept = ticket <= np.maximum(used, ticket.min(axis=1, keepdims=True))  # one at the least
    matrices = (true * np.eye(n) + (1 - true) * noise) * kept + RARE
    return bounded(matrices / matrices.sum(axis=1, keepdims=True), prior, odds)


def near_frapp(prior: Array, odds: float, count: int, rng: np.random.Generator) -> Array:
    """Gamma-diagonal matrices of random odds, every entry disturbed by a random factor."""
    n = len(prior)
    gamma = odds ** rng.random((count, 1, 1))
    disturbed = np.exp(0.3 * rng.random((count, 1, 1)) * rng.standard_normal((count, n, n)))
    matrices = (1 + (gamma - 1) * np.eye(n)) * disturbed
    return bounded(matrices / matrices.sum(axis=1, keepdims=True), prior, odds)


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
    """Front of bits against distortion that a discrete particle swarm finds (Gao et al. 2018, Algorithm 1).

    A search: it knows no bound, and the certified front lies below it. The same seed finds the same front.

    >>> quick = Settings(generations=5, particles=10)
    >>> front = mopso_front([0.5, 0.3, 0.2], respondents=1000, odds=4, settings=quick, seed=1)
    >>> max(point["epsilon"] for point in front) <= np.log(4)
    np.True_
    """
    asked = Requirement.of(prior, odds=odds, epsilon=epsilon).for_information()
    if asked.float_odds is None:
        raise SottovoceError("odds or epsilon", "must be given, one of them: the swarm keeps to it", Words("none"))
    swarm = Swarm(np.asarray(asked.law), asked.float_odds, settings or Settings(), np.random.default_rng(seed))
    swarm.run(progress)
    size = checked_respondents(respondents)
    matrices, losses = swarm.front()
    points = measured_points(matrices, losses[:, 0], asked, size)
    return Front(points, asked.prior, size, "MOPSO", BITS_AND_DISTORTION)
