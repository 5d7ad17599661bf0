"""The best linear unbiased estimate, for channels with more reports than truths."""

import numpy as np

from sottovoce.channel.channel import Array, Channel
from sottovoce.errors import SingularChannelError, Words


def blue_matrix(channel: Channel, law: Array) -> Array:
    """Left inverse `B = J^-1 A^T diag(A p)^-1`, `J = A^T diag(A p)^-1 A`, best where the truth has the law p.

    `B A = I`, so `B lam` is unbiased whatever the truth; where p is the truth its covariance
    `(J^-1 - p p^T) / N` is the least that any unbiased estimate can have (Cramer-Rao). For square
    channels it is plain inversion. Reports that p never makes are left out.

    >>> from fractions import Fraction
    >>> from sottovoce.channel.keep_or_uniform import KeepOrUniform
    >>> blue_matrix(KeepOrUniform((2,), Fraction(1, 2)), np.array([0.9, 0.1])).round(6)
    array([[ 1.5, -0.5],
           [-0.5,  1.5]])
    """
    matrix = channel.dense()
    expected = matrix @ law
    weight = np.divide(1, expected, out=np.zeros_like(expected), where=expected > 0)
    information = matrix.T @ (weight[:, None] * matrix)
    if np.linalg.matrix_rank(information, tol=1e-12 * np.linalg.norm(information)) < channel.n_in:
        rule = "must tell every truth from every other for truths to be estimated"
        raise SingularChannelError("channel", rule, Words(f"{channel.n_out} reports of {channel.n_in} truths"))
    return np.asarray(np.linalg.solve(information, matrix.T * weight))
