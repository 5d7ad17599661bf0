r"""The proof: weak duality over every atom, in a form that other code can check again.

For any symmetric Y, any nu and `eta >= 0` with `v^T Y^2 v <= nu.v + eta a_v` on every atom v, `a_v = max_x p_x v_x`,

    `tr J^-1 >= 2 tr Y - sum(nu) - eta accuracy`

for the information matrix `J = sum_y w_y v_y v_y^T` of every channel within the limits: `tr J^-1 + tr J Y^2 >= 2 tr Y`,
and `tr J Y^2 = sum w v^T Y^2 v <= sum(nu) + eta accuracy` since `sum w v = 1`. Since `p.v = 1`, an atom that exceeds the
inequality by k costs k: nu + k p does not. Floating point, not interval arithmetic.
"""

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.design.least_error.atoms import blocks
from sottovoce.design.least_error.limits import Limits
from sottovoce.design.least_error.pricing import Multipliers, price
from sottovoce.errors import SottovoceError


def bound_without_excess(limits: Limits, root: Array, nu: Array, eta: float, excess: float = 0.0) -> float:
    """Error times respondents that nothing is below, if no atom exceeds the inequality by more than `excess`."""
    cost = nu.sum() + excess + (eta * limits.accuracy if limits.accuracy is not None else 0.0)
    return float(2 * np.trace(root) - cost - limits.prior @ limits.prior) / limits.prior.size


def proven_bound(limits: Limits, root: Array, nu: Array, eta: float) -> float:
    """Error times respondents that no channel within the limits is below; every atom is looked at.

    Y = 2 I proves the error of the best channel for four equally likely categories told apart in pairs.

    >>> from sottovoce.design.least_error.limits import limits
    >>> pairs = limits([0.25, 0.25, 0.25, 0.25], delta=0.5)
    """
    if eta < 0:
        raise SottovoceError("eta", "must not be negative", eta)
    multipliers = Multipliers(root @ root, nu, eta)
    worst = max(price(block, limits, multipliers).worst for block in blocks(limits))
    return bound_without_excess(limits, root, nu, eta, worst)
