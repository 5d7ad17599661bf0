"""Stacks of matrices that OptRR breeds: settings, losses, repair, first generation and children."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sottovoce.channels.channel import LARGEST_CONDITION, Array
from sottovoce.errors import MissingExtraError, SottovoceError
from sottovoce.estimates.likelihood import em_of_all
from sottovoce.mechanisms.bulk import kernels

LEAST = {"population": 2, "archive": 1, "omega": 1, "generations": 1, "patience": 1}
"""Whole numbers, and the least that each may be."""
STEPS = 50
"""Of the iterative approach, for each matrix that is judged by it: further ones hardly move its error."""

SWEEPS = 50
"""Times that a repair goes over all columns before it mixes."""
LOOPS = "sottovoce.designs.optrr._kernels"
"""Module whose loops are compiled."""

UNIFORMS = 14
"""Random numbers of a child: six for its pair's parents, six for its mutation, and whether it mutates, and how."""

REACH = 100
"""Places of Omega's front that neighbours may be apart."""

SHIFTED = 2 / 3
"""Of mutations that keep zeros and ties, those that move a part of a column; the others raise or lower a report."""


@dataclass(frozen=True)
class Settings:
    """Sizes of the three sets, generations, mutation rate, and `patience`: generations without change that end it.

    Two shares go beyond the paper, which is what 0 makes of them. Of all pairs of parents, `neighbours` come from
    Omega's front and lie near each other there: columns of matrices that are about as private fit together, and what
    the small archive has forgotten is bred again. Of all mutations, `levelling` keep zeros and ties: the best matrices
    have reports that some truths never give and that leave the adversary to choose among the others, and the paper's
    mutation fills the zeros and breaks the ties. The paper leaves the sizes of population and archive open.

    `estimator` is what the error is of: "inversion", in closed form, or "em", its mean over a few samples of reports,
    the noise of which is the same for all matrices; that takes some hundred times as long.
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
        """Refuse sets of nothing, and shares that are none."""
        for name, least in LEAST.items():
            value = getattr(self, name)
            whole = isinstance(value, int) and not isinstance(value, bool)
            if not (whole and value >= least) and not (name == "patience" and value is None):
                raise SottovoceError(name, f"must be a whole number of at least {least}", value)
        for name in ("mutation_rate", "neighbours", "levelling"):
            if not 0 <= getattr(self, name) <= 1:
                raise SottovoceError(name, "must be between 0 and 1", getattr(self, name))
        if self.estimator not in ("inversion", "em"):
            raise SottovoceError("estimator", "must be inversion or em", self.estimator)


def assessed(matrices: Array, prior: Array, respondents: float) -> Array:
    """Losses of each matrix: `sum_y max_x p_x A_yx`, and the mean of `diag(A^-1 (diag(l) - l l^T) A^-T) / N`.

    As `measures.adversary_accuracy` and `measures.average_mean_squared_error`, without their checks; a singular matrix
    has an infinite error.

    >>> assessed(np.array([[[0.75, 0.25], [0.25, 0.75]]]), np.array([0.8, 0.2]), 1000).round(6)
    array([[0.8    , 0.00091]])
    """
    joint = matrices * prior
    singular = np.linalg.slogdet(matrices)[0] == 0
    inverses = np.linalg.inv(np.where(singular[:, None, None], np.eye(len(prior)), matrices))
    singular |= np.abs(inverses).sum(axis=1).max(axis=1) > LARGEST_CONDITION  # their own columns have norm 1
    squares = np.einsum("kiy,kiy,ky->k", inverses, inverses, joint.sum(axis=2))
    errors = np.where(singular, np.inf, (squares - prior @ prior) / (len(prior) * respondents))
    return np.stack([joint.max(axis=2).sum(axis=1), errors], axis=1)


def iterative_errors(matrices: Array, prior: Array, respondents: float, noise: Array) -> Array:
    """Mean squared error of the distribution that EM finds, over samples of reports with given noise.

    Shares of reports are `l + (sqrt(l) z - l sum(sqrt(l) z)) / sqrt(N)`, l their law and z a row of standard normal
    noise: what a sample of N gives, to the second moment.

    >>> iterative_errors(np.eye(2)[None], np.array([0.5, 0.5]), 100, np.array([[1.0, -1.0]])).round(6)
    array([0.005])
    """
    law = (matrices @ prior)[:, None, :]
    shock = np.sqrt(law) * noise
    shares = np.maximum(law + (shock - law * shock.sum(axis=-1, keepdims=True)) / np.sqrt(respondents), 0)
    stack = np.repeat(np.maximum(matrices, 0), len(noise), axis=0)  # children may be off by the last bit
    found = em_of_all(stack, shares.reshape(len(stack), -1), tolerance=1e-4, most_steps=STEPS)
    return np.asarray(((found - prior) ** 2).mean(axis=1).reshape(len(matrices), len(noise)).mean(axis=1))


def repair(loops: Any, matrices: Array, prior: Array, delta: float, sweeps: int = SWEEPS) -> None:
    """Make every matrix meet `max P(x | y) <= delta` in place, for any delta above the largest prior.

    First as the paper does (Huang & Du 2008, section V.G), column by column. Where that does not come to rest, the
    matrix is mixed with reports of the same law that ignore the truth, `(1 - t) A + t l 1^T`, as little as the worst
    posterior needs: it takes each from P to `(1 - t) P + t p_x`.
    """
    met = np.zeros(len(matrices), bool)
    loops.repair(matrices, prior, delta, sweeps, met)
    left = matrices[~met]
    joint = left * prior
    law = joint.sum(axis=2, keepdims=True)
    excess = np.maximum(joint - delta * law, 0)
    needed = np.divide(excess, excess + (delta - prior) * law, out=np.zeros_like(excess), where=excess > 0)
    matrices[~met] = left + needed.max(axis=(1, 2), keepdims=True) * (law - left)


def compiled() -> Any:
    """All loops of the search, compiled."""
    found = kernels(LOOPS)
    if found is None:
        raise MissingExtraError("OptRR's search", "numba", "design")
    return found


def first_matrices(prior: Array, count: int, rng: np.random.Generator) -> Array:
    """Random matrices between noise and the identity, for the repair to make them meet delta.

    The noise of a matrix is spread evenly, or like the prior, and its columns are more or less alike. So they are
    scattered along the whole front, which a search that starts near one of its ends does not reach.
    """
    n = len(prior)
    truth, alike, even = rng.random((3, count, 1, 1))
    noise = rng.standard_gamma(np.where(even < 0.5, 1.0, n * prior), (count, n + 1, n))
    noise /= noise.sum(axis=2, keepdims=True)
    columns = alike * noise[:, :1] + (1 - alike) * noise[:, 1:]
    return np.ascontiguousarray(truth * np.eye(n) + (1 - truth) * columns.transpose(0, 2, 1))


def bred(
    loops: Any,
    settings: Settings,
    rng: np.random.Generator,
    prior: Array,
    archive: tuple[Array, Array],
    omega: tuple[Array, NDArray[np.intp]],
) -> Array:
    """Children by crossover and one kind of mutation, or none, of an archive and its fitness, and Omega and its front.

    The front is of places, in order of privacy.
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
