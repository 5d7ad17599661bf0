"""Operators of OptRR on stacks of matrices: settings, losses, repair, first generation and children."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sottovoce.channels.channel import LARGEST_CONDITION
from sottovoce.checks import Array, number, one_of, whole_number
from sottovoce.errors import MissingExtraError
from sottovoce.estimates.likelihood import em_stack
from sottovoce.mechanisms.bulk import kernels

LEAST = {"population": 2, "archive": 1, "omega": 1, "generations": 1, "patience": 1}
"""Least values of the settings that are whole numbers."""

STEPS = 50
"""EM steps for each matrix; more hardly change its error."""

SWEEPS = 50
"""Passes of a repair over all columns before it mixes."""

LOOPS = "sottovoce.designs.optrr._kernels"
"""Module whose loops are compiled."""

UNIFORMS = 14
"""Random numbers for a child: six for the parents of its pair, six for its mutation, and whether and how it mutates."""

REACH = 100
"""Largest distance of neighbours on Omega's front."""

SHIFTED = 2 / 3
"""Share of shifts among the mutations that keep zeros and ties; the others are lifts."""


@dataclass(frozen=True)
class Settings:
    """Sizes of the three sets, generations, mutation rate, and `patience`: generations without change before the end.

    Two shares extend the paper; 0 is the paper's method. `neighbours` is the share of pairs of parents taken from near
    each other on Omega's front: columns of matrices of similar privacy fit together, and matrices that the small
    archive has lost are bred again. `levelling` is the share of mutations that keep zeros and ties: the best matrices
    have reports that some truths never give, and ties among the adversary's best guesses, which the paper's mutation
    destroys. The paper does not state the sizes of population and archive.

    `estimator` is the estimator whose error counts: "inversion", in closed form, or "em", by its mean over a few
    samples of reports with the same noise for all matrices, which takes some hundred times as long.
    """

    population: int = 100
    archive: int = 40
    omega: int = 1000
    generations: int = 20_000
    mutation_rate: float = 0.8
    patience: int | None = None
    estimator: Literal["inversion", "em"] = "inversion"
    neighbours: float = 0.5
    levelling: float = 0.75

    def __post_init__(self) -> None:
        """Check sizes and shares."""
        for name, least in LEAST.items():
            value = getattr(self, name)
            if name != "patience" or value is not None:
                whole_number(name, value, least=least)
        for name in ("mutation_rate", "neighbours", "levelling"):
            number(name, getattr(self, name), 0, 1)
        one_of("estimator", self.estimator, ("inversion", "em"))


def losses_of(matrices: Array, prior: Array, respondents: float) -> Array:
    """Losses of each matrix: `sum_y max_x p_x A_yx`, and the mean of `diag(A^-1 (diag(l) - l l^T) A^-T) / N`.

    As `adversary_accuracy` and `average_mean_squared_error`, without their checks; a singular matrix has an infinite
    error.

    >>> losses_of(np.array([[[0.75, 0.25], [0.25, 0.75]]]), np.array([0.8, 0.2]), 1000).round(6)
    array([[0.8    , 0.00091]])
    """
    joint = matrices * prior
    singular = np.linalg.slogdet(matrices)[0] == 0
    inverses = np.linalg.inv(np.where(singular[:, None, None], np.eye(len(prior)), matrices))
    singular |= np.abs(inverses).sum(axis=1).max(axis=1) > LARGEST_CONDITION  # the columns of A have norm 1
    squares = np.einsum("kiy,kiy,ky->k", inverses, inverses, joint.sum(axis=2))
    errors = np.where(singular, np.inf, (squares - prior @ prior) / (len(prior) * respondents))
    return np.stack([joint.max(axis=2).sum(axis=1), errors], axis=1)


def iterative_errors(matrices: Array, prior: Array, respondents: float, noise: Array) -> Array:
    """Return the mean squared error of EM estimates over samples of reports with given noise.

    Shares of reports are `l + (sqrt(l) z - l sum(sqrt(l) z)) / sqrt(N)`, l their distribution and z a row of standard
    normal noise: first and second moments are those of a sample of N.

    >>> iterative_errors(np.eye(2)[None], np.array([0.5, 0.5]), 100, np.array([[1.0, -1.0]])).round(6)
    array([0.005])
    """
    expected = (matrices @ prior)[:, None, :]
    shock = np.sqrt(expected) * noise
    deviation = (shock - expected * shock.sum(axis=-1, keepdims=True)) / np.sqrt(respondents)
    shares = np.maximum(expected + deviation, 0)
    stack = np.repeat(np.maximum(matrices, 0), len(noise), axis=0)  # rounding may make entries slightly negative
    estimates = em_stack(stack, shares.reshape(len(stack), -1), tolerance=1e-4, most_steps=STEPS)
    return np.asarray(((estimates - prior) ** 2).mean(axis=1).reshape(len(matrices), len(noise)).mean(axis=1))


def repair(loops: Any, matrices: Array, prior: Array, delta: float, sweeps: int = SWEEPS) -> None:
    """Change every matrix in place to meet `max P(x | y) <= delta`, for any delta above the largest prior.

    First as in the paper (Huang & Du 2008, section V.G), column by column. If that does not converge, the matrix is
    mixed with reports of the same distribution that ignore the truth, `(1 - t) A + t l 1^T`, as little as the worst
    posterior needs: each changes from P to `(1 - t) P + t p_x`.
    """
    met = np.zeros(len(matrices), bool)
    loops.repair(matrices, prior, delta, sweeps, met)
    unmet = matrices[~met]
    joint = unmet * prior
    reports = joint.sum(axis=2, keepdims=True)
    excess = np.maximum(joint - delta * reports, 0)
    needed = np.divide(excess, excess + (delta - prior) * reports, out=np.zeros_like(excess), where=excess > 0)
    matrices[~met] = unmet + needed.max(axis=(1, 2), keepdims=True) * (reports - unmet)


def compiled_loops() -> Any:
    """Return the compiled loops of the search; raise if numba is missing."""
    loops = kernels(LOOPS)
    if loops is None:
        raise MissingExtraError("OptRR's search", "numba", "design")
    return loops


def first_matrices(prior: Array, count: int, rng: np.random.Generator) -> Array:
    """Return random matrices between noise and the identity, which do not yet meet delta.

    The noise of a matrix is uniform, or like the prior, and its columns are more or less alike. So matrices lie along
    the whole front, which a search that starts near one of its ends does not reach.
    """
    n = len(prior)
    truth, alike, even = rng.random((3, count, 1, 1))
    noise = rng.standard_gamma(np.where(even < 0.5, 1.0, n * prior), (count, n + 1, n))
    noise /= noise.sum(axis=2, keepdims=True)
    columns = alike * noise[:, :1] + (1 - alike) * noise[:, 1:]
    return np.ascontiguousarray(truth * np.eye(n) + (1 - truth) * columns.transpose(0, 2, 1))


def children_of(
    loops: Any,
    settings: Settings,
    rng: np.random.Generator,
    prior: Array,
    archive: tuple[Array, Array],
    omega: tuple[Array, NDArray[np.intp]],
) -> Array:
    """Children by crossover and at most one mutation, of the archive with its fitness, and of Omega with its front.

    The front has indices of Omega, in order of privacy.
    """
    uniforms = rng.random((settings.population, UNIFORMS))
    children = np.empty((settings.population, len(prior), len(prior)))
    loops.mate(*archive, *omega, uniforms, settings.neighbours, REACH, children)
    mutates, kind = uniforms[:, 12] < settings.mutation_rate, uniforms[:, 13]
    shifted, kept = kind < SHIFTED * settings.levelling, kind < settings.levelling
    loops.mutate(children, np.flatnonzero(mutates & ~kept), uniforms)
    loops.shift(children, np.flatnonzero(mutates & shifted), prior, uniforms)
    loops.lift(children, np.flatnonzero(mutates & kept & ~shifted), prior, uniforms)
    return children
