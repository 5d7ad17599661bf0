"""Two unknown distributions from two mixtures of them: the algebra of the unrelated question."""

from collections.abc import Sequence
from fractions import Fraction
from math import sqrt
from typing import Any

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.errors import SingularChannelError, SottovoceError
from sottovoce.exact import Number, distribution, probability
from sottovoce.measure.covariance import checked_counts


def solve_two_samples(first: Any, second: Any, theta: tuple[Number, Number]) -> tuple[Array, Array]:
    """Sensitive and unrelated proportions, one behind the other, and their covariance, from two rows of counts.

    Of the reports of sample i a share `lam_i = theta_i p + (1-theta_i) y` is expected, so

        p = ((1-theta_2) lam_1 - (1-theta_1) lam_2) / d,   y = (theta_1 lam_2 - theta_2 lam_1) / d,

    `d = theta_1 - theta_2` (Greenberg, Abul-Ela, Simmons & Horvitz 1969, JASA 64, 520-539; there for yes and no). The
    samples are independent, each with covariance `(diag(lam) - lam lam^T) / n`. That one person's two answers
    may hang together does no harm: only one of them is ever reported.

    >>> value, covariance = solve_two_samples([280, 120], [200, 200], theta=(0.75, 0.25))
    >>> value
    array([0.8, 0.2, 0.4, 0.6])
    """
    shares = _shares(theta)
    rows = np.linalg.inv(np.array([[float(t), float(1 - t)] for t in shares]))
    counts = [checked_counts(name, c, np.size(c)) for name, c in (("first", first), ("second", second))]
    if counts[0].shape != counts[1].shape or counts[0].ndim != 1:
        raise SottovoceError("second", "must be one row of counts, as long as the first", counts[1].shape)
    if not all(c.sum() for c in counts):
        raise SottovoceError("counts", "must be of at least one report in each sample", counts)
    laws = np.stack([c / c.sum() for c in counts])
    spreads = [(np.diag(law) - np.outer(law, law)) / c.sum() for law, c in zip(laws, counts, strict=True)]
    covariance = sum(np.kron(np.outer(row, row), spread) for row, spread in zip(rows.T, spreads, strict=True))
    return (rows @ laws).ravel(), np.asarray(covariance)


def best_split(theta: tuple[Number, Number], sensitive: Any, unrelated: Any) -> float:
    """Share of the people to ask in the first sample, so that the sensitive proportions come out best.

    `n_1 : n_2 = (1-theta_2) s_1 : (1-theta_1) s_2`, `s_i^2 = 1 - sum lam_i^2` the sum of the variances of one report's
    cells, makes the sum of the variances of p least (for yes and no: Greenberg et al. 1969, their optimal
    allocation). It needs a guess of both distributions.

    >>> round(best_split((0.8, 0.2), sensitive=[0.9, 0.1], unrelated=[0.5, 0.5]), 3)
    0.757
    """
    shares = _shares(theta)
    known, other = distribution("sensitive", sensitive), distribution("unrelated", unrelated)
    if len(known) != len(other):
        raise SottovoceError("unrelated", f"must have {len(known)} proportions, as the sensitive", len(other))
    scatter = [1 - sum((t * p + (1 - t) * y) ** 2 for p, y in zip(known, other, strict=True)) for t in shares]
    if not any(scatter):
        raise SottovoceError("sensitive", "must leave something to be found out", sensitive)
    parts = [float(1 - t) * sqrt(s) for t, s in zip(reversed(shares), scatter, strict=True)]
    return parts[0] / sum(parts)


def _shares(theta: Sequence[Number]) -> tuple[Fraction, Fraction]:
    first, second = (probability("theta", t) for t in theta)
    if first == second:
        rule = "must differ between the samples: only then are two distributions told apart"
        raise SingularChannelError("theta", rule, float(first))
    return first, second
