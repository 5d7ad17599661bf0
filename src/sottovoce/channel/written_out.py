"""Channels that are solved by writing their matrix out: no closed form undoes them."""

from functools import cached_property
from math import inf
from typing import Any

import numpy as np

from sottovoce.channel.channel import Array, Channel, checked_vector
from sottovoce.errors import SingularChannelError, Words

LARGEST_CONDITION = 1e12
"""Beyond this condition number double precision cannot tell a channel from a singular one."""


class WrittenOut(Channel):
    """Weighted least squares over the dense matrix; plain inversion where it is square.

    Each report is weighed by the inverse of its probability under uniform truths: `B = J^-1 A^T D^-1`,
    `J = A^T D^-1 A`, D the diagonal of `A 1 / n`. For those truths no unbiased estimate is better, for any it is
    unbiased, and a report that is split in two by a coin changes nothing, as it would in plain least squares.
    """

    def solve(self, reports: Any) -> Array:
        """Weighted least squares; plain inversion where the matrix is square."""
        vector = checked_vector("reports", self.n_out, reports)
        if self.condition_number > LARGEST_CONDITION:
            rule = "must tell every truth from every other for truths to be estimated; its condition number is inf"
            raise SingularChannelError(
                "channel", rule, Words(f"a matrix of rank {np.linalg.matrix_rank(self._matrix)}")
            )
        return np.asarray(np.tensordot(self._left_inverse, vector, axes=1))

    @cached_property
    def condition_number(self) -> float:
        """By singular values; infinite beyond double precision."""
        values = np.linalg.svd(self._matrix, compute_uv=False)
        enough = self.n_out >= self.n_in and values[-1] * LARGEST_CONDITION > values[0]
        return float(values[0] / values[-1]) if enough else inf

    @cached_property
    def _matrix(self) -> Array:
        return self.dense()

    @cached_property
    def _left_inverse(self) -> Array:
        if self.n_in == self.n_out:
            return np.asarray(np.linalg.pinv(self._matrix), dtype=np.float64)
        seen = self._matrix.sum(axis=1)
        weight = 1 / np.sqrt(np.where(seen > 0, seen, 1))
        return np.asarray(np.linalg.pinv(self._matrix * weight[:, None]) * weight, dtype=np.float64)
