"""Utility of a channel: condition number, covariance and mean squared error of estimates, distortion.

`A[report, truth]` is the channel, p the distribution of the truths, `lam = A p` that of the reports, and N
the number of respondents. Each measure is a function of a channel, a plan, or a stack of matrices.
"""

from typing import Any

import numpy as np

from sottovoce.channels.channel import LARGEST_CONDITION
from sottovoce.checks import Array, Target, number
from sottovoce.checks import target as checked_target
from sottovoce.errors import SingularChannelError, SottovoceError, Words
from sottovoce.measures.matrices import as_matrices, as_prior, real_array


def condition_number(channel: Any) -> Array:
    """Return the ratio of the largest to the smallest singular value, infinite if singular (Agrawal 2004, eq. 4.9).

    It bounds the amplification of the relative error of the counts of reports by inversion.

    >>> print(condition_number([[0.75, 0.25], [0.25, 0.75]]).round(12))
    2.0
    """
    matrices = as_matrices(channel)
    values = np.linalg.svd(matrices, compute_uv=False)
    largest, smallest = values[..., 0], values[..., -1]
    enough = (matrices.shape[-2] >= matrices.shape[-1]) & (smallest * LARGEST_CONDITION > largest)
    return np.asarray(np.where(enough, largest / np.where(enough, smallest, 1), np.inf))


def refuse_singular(matrices: Array) -> None:
    """Raise if a matrix of a stack is singular."""
    singular = int(np.isinf(condition_number(matrices)).sum())
    if singular:
        rule = "must tell every truth from every other for truths to be estimated"
        raise SingularChannelError("channel", rule, Words(f"{singular} singular out of {matrices[..., 0, 0].size}"))


def estimate_covariance(channel: Any, prior: Any, respondents: float, target: str = "population") -> Array:
    """Return `(J^-1 - p p^T) / N` with `J = A^T diag(lam)^-1 A`, or `(J^-1 - diag(p)) / N` for the table.

    For a square channel `J^-1 = A^-1 diag(lam) A^-T`, so that the first is the covariance of plain inversion,
    `A^-1 (diag(lam) - lam lam^T) A^-T / N` (Wang, Wu & Hu 2016, eq. 18). With more reports than truths it
    is that of the best linear unbiased estimate, `J^-1 A^T diag(lam)^-1` times the frequencies of the
    reports. For the table only the coins are random: the counts of reports of a fixed table are sums of independent
    coins, with covariance `diag(A X) - A diag(X) A^T` for counts X (Agrawal 2004, eq. 4.10).

    >>> estimate_covariance([[0.75, 0.25], [0.25, 0.75]], [0.5, 0.5], respondents=100)
    array([[ 0.01, -0.01],
           [-0.01,  0.01]])
    >>> estimate_covariance([[0.75, 0.25], [0.25, 0.75]], [0.5, 0.5], respondents=100, target="table")
    array([[ 0.0075, -0.0075],
           [-0.0075,  0.0075]])
    """
    matrices = as_matrices(channel)
    refuse_singular(matrices)
    truths = fitting("prior", as_prior(prior, matrices.shape[-1]), matrices)
    return _covariance(matrices, truths, checked_respondents(respondents), checked_target(target))


def dispersion(channel: Any, counts: Any) -> Array:
    """Return `A^-1 (diag(lam) - lam lam^T) A^-T / (N - 1)`, lam the observed shares of N reports.

    This is an unbiased estimate of the covariance of `A^-1 lam` for respondents drawn from a population (Wang, Wu
    & Hu 2016, eq. 18). With more reports than truths the least-squares inverse takes the place of `A^-1`.

    >>> dispersion([[0.75, 0.25], [0.25, 0.75]], [51, 50]).round(6)
    array([[ 0.009999, -0.009999],
           [-0.009999,  0.009999]])
    """
    matrices = as_matrices(channel)
    refuse_singular(matrices)
    reports = fitting("counts", checked_counts("counts", counts, matrices.shape[-2]), matrices)
    total = reports.sum(axis=-1)[..., None, None]
    if (total <= 1).any():
        raise SottovoceError("counts", "must be of more than one report", counts)
    shares = reports[..., None] / total
    inverse = np.linalg.pinv(matrices)
    value = inverse @ shares
    second_moments = (inverse * np.swapaxes(shares, -1, -2)) @ np.swapaxes(inverse, -1, -2)
    return np.asarray((second_moments - value @ np.swapaxes(value, -1, -2)) / (total - 1))


def _covariance(matrices: Array, prior: Array, respondents: float, target: Target) -> Array:
    """Return the covariance of estimates for checked arguments and matrices that are not singular."""
    root = _root_of_inverse_information(matrices, prior)
    product_of_means = prior[..., None] * (np.eye(prior.shape[-1]) if target == "table" else prior[..., None, :])
    return np.asarray((root @ np.swapaxes(root, -1, -2) - product_of_means) / respondents)


def checked_respondents(respondents: Any) -> float:
    """Return a positive, finite number of respondents; a fraction is an effective sample size."""
    return number("respondents", respondents, 0, open_ends=True)


def checked_counts(parameter: str, counts: Any, cells: int) -> Array:
    """Return counts with this number of cells along the last axis; raise unless they are finite and not negative."""
    array = real_array(parameter, counts)
    if array.shape[-1:] != (cells,) or not (np.isfinite(array) & (array >= 0)).all():
        raise SottovoceError(parameter, f"must be {cells} counts that are not negative", counts)
    return array


def fitting(parameter: str, vectors: Array, matrices: Array) -> Array:
    """Return the vectors; raise unless their stack can be broadcast with the stack of matrices."""
    try:
        np.broadcast_shapes(vectors.shape[:-1], matrices.shape[:-2])
    except ValueError:
        rule = f"must come in a stack that fits the one of the matrices, {matrices.shape[:-2]}"
        raise SottovoceError(parameter, rule, vectors.shape[:-1]) from None
    return vectors


def _root_of_inverse_information(matrices: Array, prior: Array) -> Array:
    """Return R with `R R^T = J^-1`; for a square channel also where a report has probability zero."""
    lam = (matrices @ prior[..., None])[..., 0]
    if matrices.shape[-1] == matrices.shape[-2]:
        return np.asarray(np.linalg.inv(matrices) * np.sqrt(lam)[..., None, :])
    if ((lam <= 0) & (matrices > 0).any(axis=-1)).any():
        rule = "must make every report of a channel with more reports than truths possible"
        raise SottovoceError("prior", rule, prior)
    weight = 1 / np.sqrt(np.where(lam > 0, lam, 1))
    return np.asarray(np.linalg.pinv(matrices * weight[..., None]))


def mean_squared_errors(channel: Any, prior: Any, respondents: float, target: str = "population") -> Array:
    """Return the mean squared error of each category's unbiased estimate: the diagonal of `estimate_covariance`.

    Theorem 6 of Huang & Du (2008) in matrix form: as printed it counts every covariance twice.
    The errors of a singular channel are infinite rather than refused, for searches over many channels.

    >>> mean_squared_errors([[0.75, 0.25], [0.25, 0.75]], [0.8, 0.2], respondents=1000).round(6)
    array([0.00091, 0.00091])
    """
    matrices = as_matrices(channel)
    truths = fitting("prior", as_prior(prior, matrices.shape[-1]), matrices)
    singular = np.isinf(condition_number(matrices))[..., None, None]
    invertible = np.where(singular, np.eye(*matrices.shape[-2:]), matrices)
    truths = np.where(singular[..., 0], 1 / truths.shape[-1], truths)
    matrix = _covariance(invertible, truths, checked_respondents(respondents), checked_target(target))
    # Rounding may leave a variance below zero where a channel is nearly the identity.
    errors = np.maximum(np.diagonal(matrix, axis1=-2, axis2=-1), 0)
    return np.where(singular[..., 0], np.inf, errors)


def average_mean_squared_error(channel: Any, prior: Any, respondents: float, target: str = "population") -> Array:
    """Return the mean over the categories of `mean_squared_errors`, the utility of OptRR (Huang & Du 2008, eq. 10).

    >>> print(average_mean_squared_error([[0.75, 0.25], [0.25, 0.75]], [0.8, 0.2], respondents=1000).round(6))
    0.00091
    """
    return np.asarray(mean_squared_errors(channel, prior, respondents, target).mean(axis=-1))


def distortion(channel: Any, prior: Any) -> Array:
    """Return `P(X != Y) = 1 - sum_x p(x) A[x, x]`, how often a report differs from the truth (Gao et al. 2018).

    >>> print(distortion([[0.75, 0.25], [0.25, 0.75]], [0.8, 0.2]).round(12))
    0.25
    """
    matrices = as_matrices(channel)
    if matrices.shape[-1] != matrices.shape[-2]:
        rule = "must report the truths' own categories, as many as there are truths"
        raise SottovoceError("channel", rule, Words(f"{matrices.shape[-2]} x {matrices.shape[-1]}"))
    truths = fitting("prior", as_prior(prior, matrices.shape[-1]), matrices)
    return np.asarray(1 - (np.diagonal(matrices, axis1=-2, axis2=-1) * truths).sum(axis=-1))


def report_variances(channel: Any, table: Any) -> Array:
    """Return the variance of the count of each report of a fixed table, `Var(Y_v) = sum_u A[v, u] (1 - A[v, u]) X_u`.

    The counts Y are Poisson-binomial: every respondent of the table X tosses a separate coin. Equal to
    `A_v X (1 - A_v X / N) - sum_u (A[v, u] - A_v X / N)^2 X_u` (Agrawal 2004, eq. 4.10).

    >>> report_variances([[0.75, 0.25], [0.25, 0.75]], [60, 40])
    array([18.75, 18.75])
    """
    matrices = as_matrices(channel)
    truths = fitting("table", checked_counts("table", table, matrices.shape[-1]), matrices)
    return np.asarray(((matrices * (1 - matrices)) @ truths[..., None])[..., 0])
