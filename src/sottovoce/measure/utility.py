"""Utility: how far estimates through a channel, and its reports, are from the truth.

Each is a function of a channel, a plan, or a stack of matrices. The covariance behind the errors is in
`covariance`, the condition number in `condition`, the error of an itemset's support in `itemset_error`.
"""

from typing import Any

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.errors import SottovoceError, Words
from sottovoce.measure.condition import condition_number
from sottovoce.measure.covariance import checked_counts, checked_respondents, checked_target, covariance, fitting
from sottovoce.measure.matrices import as_matrices, as_prior


def mean_squared_errors(channel: Any, prior: Any, respondents: float, target: str = "population") -> Array:
    """Mean squared error of each category's unbiased estimate: the diagonal of `estimate_covariance`.

    Theorem 6 of Huang & Du (2008), by its matrix form: as printed it counts every covariance twice over.
    Infinite in every category where a channel is singular, so that a search over many may meet such ones.

    >>> mean_squared_errors([[0.75, 0.25], [0.25, 0.75]], [0.8, 0.2], respondents=1000).round(6)
    array([0.00091, 0.00091])
    """
    matrices = as_matrices(channel)
    law = fitting("prior", as_prior(prior, matrices.shape[-1]), matrices)
    singular = np.isinf(condition_number(matrices))[..., None, None]
    harmless = np.where(singular, np.eye(*matrices.shape[-2:]), matrices)
    law = np.where(singular[..., 0], 1 / law.shape[-1], law)
    spread = covariance(harmless, law, checked_respondents(respondents), checked_target(target))
    # Rounding must not leave a variance below zero where a channel is nearly certain.
    errors = np.maximum(np.diagonal(spread, axis1=-2, axis2=-1), 0)
    return np.where(singular[..., 0], np.inf, errors)


def average_mean_squared_error(channel: Any, prior: Any, respondents: float, target: str = "population") -> Array:
    """Mean over the categories of `mean_squared_errors`: OptRR's utility, less is better (Huang & Du 2008, eq. 10).

    >>> print(average_mean_squared_error([[0.75, 0.25], [0.25, 0.75]], [0.8, 0.2], respondents=1000).round(6))
    0.00091
    """
    return np.asarray(mean_squared_errors(channel, prior, respondents, target).mean(axis=-1))


def distortion(channel: Any, prior: Any) -> Array:
    """`P(X != Y) = 1 - sum_x p(x) A[x, x]`: how often a report is not the truth (Gao et al. 2018).

    >>> print(distortion([[0.75, 0.25], [0.25, 0.75]], [0.8, 0.2]).round(12))
    0.25
    """
    matrices = as_matrices(channel)
    if matrices.shape[-1] != matrices.shape[-2]:
        rule = "must report the truths' own categories, as many as there are truths"
        raise SottovoceError("channel", rule, Words(f"{matrices.shape[-2]} x {matrices.shape[-1]}"))
    law = fitting("prior", as_prior(prior, matrices.shape[-1]), matrices)
    return np.asarray(1 - (np.diagonal(matrices, axis1=-2, axis2=-1) * law).sum(axis=-1))


def report_variances(channel: Any, table: Any) -> Array:
    """`Var(Y_v) = sum_u A[v, u] (1 - A[v, u]) X_u`: how much the count of each report of a fixed table varies.

    The counts Y are Poisson-binomial: every respondent of the table X tosses a coin of their own. Equal to
    `A_v X (1 - A_v X / N) - sum_u (A[v, u] - A_v X / N)^2 X_u` (Agrawal 2004, eq. 4.10).

    >>> report_variances([[0.75, 0.25], [0.25, 0.75]], [60, 40])
    array([18.75, 18.75])
    """
    matrices = as_matrices(channel)
    truths = fitting("table", checked_counts("table", table, matrices.shape[-1]), matrices)
    return np.asarray(((matrices * (1 - matrices)) @ truths[..., None])[..., 0])
