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
    """Least squares over the dense matrix; plain inversion where it is square."""

    def solve(self, reports: Any) -> Array:
        """Least squares; plain inversion where the matrix is square."""
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
        return np.asarray(np.linalg.pinv(self._matrix), dtype=np.float64)
