r"""The proof: weak duality over every atom, in a form that other code can check again.

For any symmetric Y, any nu and `eta >= 0` with `v^T Y^2 v <= nu.v + eta a_v` on every atom v, `a_v = max_x p_x v_x`,

    `tr J^-1 >= 2 tr Y - sum(nu) - eta accuracy`

for the information matrix `J = sum_y w_y v_y v_y^T` of every channel within the limits: `tr J^-1 + tr J Y^2` is at
least `2 tr Y`, and `tr J Y^2 = sum w v^T Y^2 v <= sum(nu) + eta accuracy` since `sum w v = 1`. An atom that exceeds the
inequality by k costs k, since `p.v = 1`: no atom exceeds it with nu + k p. Floating point, not interval arithmetic.
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

    Two equally likely truths and odds of 3 : 1 leave Warner's coin: J has eigenvalues 2 and 1/2, and its inverse
    proves that nothing is better.

    >>> from sottovoce.design.least_error.limits import limits
    >>> inverse = np.array([[1.25, -0.75], [-0.75, 1.25]])
    >>> proven_bound(limits([0.5, 0.5], odds=3), inverse, np.full(2, 1.25), 0.0)
    1.0
    """
    if eta < 0:
        raise SottovoceError("eta", "must not be negative", eta)
    multipliers = Multipliers(root @ root, nu, eta)
    worst = max(price(block, limits, multipliers).worst for block in blocks(limits))
    return bound_without_excess(limits, root, nu, eta, worst)
