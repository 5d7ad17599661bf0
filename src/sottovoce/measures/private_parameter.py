"""RAN-GD: posteriors of a miner who knows a client's private parameter, and of one who does not."""

from typing import Any, NamedTuple

import numpy as np

from sottovoce.checks import Array, whole_number
from sottovoce.errors import SottovoceError
from sottovoce.exact import Number, OddsLike, odds, probability
from sottovoce.measures.matrices import real_array


class PosteriorRange(NamedTuple):
    """Worst posteriors at both ends of the private parameter, and that of a miner who averages over it."""

    low: float
    high: float
    averaged: float


def private_posterior(before: Number, gamma: OddsLike, cells: int, shift: Any) -> Array:
    """Return `psi2(r) = P (gamma x + r) / (P (gamma x + r) + (1 - P) (x - r / (n - 1)))`, `x = 1 / (gamma + n - 1)`.

    Worst posterior of a property of prior P = `before` given that a client's parameter is r = `shift`
    (Agrawal 2004, 4.3.1, printed without the parentheses around gamma x + r). At r = 0 it is that of
    the gamma-diagonal matrix.

    >>> round(float(private_posterior(0.05, 19, 2000, 0)), 12)
    0.5
    """
    belief, (diagonal, other) = _belief(before), _diagonal(gamma, cells)
    moved = real_array("shift", shift)
    if not ((moved >= -diagonal) & (moved <= other * (cells - 1))).all():
        rule = f"must be between {-diagonal:.6g} and {other * (cells - 1):.6g}, where it leaves probabilities"
        raise SottovoceError("shift", rule, moved.tolist())
    for_it, against = belief * (diagonal + moved), (1 - belief) * (other - moved / (cells - 1))
    raised: Array = for_it / (for_it + against)
    return raised


def posterior_range(before: Number, gamma: OddsLike, cells: int, alpha: Number = 0.5) -> PosteriorRange:
    """Return `[psi2(-a), psi2(a)]` for r uniform on +-a, `a = alpha gamma x` (Agrawal 2004, 4.3.1).

    `alpha` is the scheme's share of the diagonal, 1/2 in the thesis, limited so that no entry of
    the matrix is negative. The range is no protection: for a miner who does not know r the reports come
    through the gamma-diagonal matrix, with posterior `averaged`, 50 % in the thesis' example;
    one who learns r reaches up to `high`.

    >>> thesis = posterior_range(0.05, 19, 2000)
    >>> [round(value, 3) for value in thesis]
    [0.332, 0.601, 0.5]
    """
    reach = _largest_shift(gamma, cells, alpha)
    low, averaged, high = (float(private_posterior(before, gamma, cells, r)) for r in (-reach, 0.0, reach))
    return PosteriorRange(low, high, averaged)


def share_below(posterior: Any, before: Number, gamma: OddsLike, cells: int, alpha: Number = 0.5) -> Array:
    """Return `P(psi2(r) <= t)` over the clients, for t = `posterior`: the distribution behind the range.

    psi2 rises with r, so the share is `(r(t) + a) / 2a`, cut to [0, 1], with
    `r(t) = x (k - gamma) / (1 + k / (n - 1))` and `k = t (1 - P) / ((1 - t) P)`.

    >>> [round(float(share), 3) for share in share_below([0.3, 0.4, 0.5, 0.6, 0.7], 0.05, 19, 2000)]
    [0.0, 0.169, 0.5, 0.993, 1.0]
    """
    belief, (diagonal, other) = _belief(before), _diagonal(gamma, cells)
    wanted = real_array("posterior", posterior)
    if not ((wanted >= 0) & (wanted <= 1)).all():
        raise SottovoceError("posterior", "must be between 0 and 1", wanted.tolist())
    reach = _largest_shift(gamma, cells, alpha)
    if reach == 0:
        raise SottovoceError("alpha", "must not be 0, where every client has the same matrix", alpha)
    # Both parts of the fraction are multiplied by (1 - t) P, so that t = 1 does not divide by zero.
    for_it, against = wanted * (1 - belief), (1 - wanted) * belief
    shift = (other * for_it - diagonal * against) / (against + for_it / (cells - 1))
    return np.clip((shift + reach) / (2 * reach), 0, 1)


def _belief(before: Number) -> float:
    belief = float(probability("before", before))
    if not 0 < belief < 1:
        raise SottovoceError("before", "must be between 0 and 1, both excluded", before)
    return belief


def _diagonal(gamma: OddsLike, cells: int) -> tuple[float, float]:
    """Return the diagonal `gamma x` and the other entries, x."""
    whole_number("cells", cells, least=2)
    ratio = float(odds("gamma", gamma))
    return ratio / (ratio + cells - 1), 1 / (ratio + cells - 1)


def _largest_shift(gamma: OddsLike, cells: int, alpha: Number) -> float:
    diagonal, other = _diagonal(gamma, cells)
    return min(float(probability("alpha", alpha)) * diagonal, (cells - 1) * other)
