"""Error of the support of an itemset that is reconstructed from flipped bits (MASK, EMASK)."""

from math import comb
from typing import Any

import numpy as np

from sottovoce.checks import Array, whole_number
from sottovoce.checks import target as checked_target
from sottovoce.errors import SottovoceError
from sottovoce.measures.matrices import real_array
from sottovoce.measures.utility import checked_counts, checked_respondents

MOST_ITEMS = 60
"""Most items of a set: beyond, powers exceed double precision."""


def ones_channel(p: Any, q: Any, items: int) -> Array:
    """Return `A[i, j] = P(i ones reported | j of the items held)`, n + 1 by n + 1 (Agrawal 2004, eq. 3.4).

    `sum_k C(j, k) p^k (1-p)^(j-k) C(n-j, i-k) (1-q)^(i-k) q^(n-j-i+k)`, k the number of held items among those
    reported; a 1 is kept with probability p, a 0 with q. Arrays of p and q give a stack.

    >>> ones_channel(0.9, 0.8, items=1)
    array([[0.8, 0.1],
           [0.2, 0.9]])
    """
    ones, zeros = _keeps(p, q)
    n = whole_number("items", items, most=MOST_ITEMS)
    columns = [_convolved(_binomial(ones, j), _binomial(1 - zeros, n - j)) for j in range(n + 1)]
    return np.stack(columns, axis=-1)


def support_error(p: Any, q: Any, ones: Any, respondents: float, target: str = "population") -> Array:
    """Return the standard deviation of the reconstructed support of n items, relative to the support.

    `ones[j]` is the share of transactions that hold exactly j of the n items, `s = ones[n]` the support.
    The inverse of `ones_channel` gives a reported 1 the weight `q / d`, a 0 the weight `-(1-q) / d`,
    `d = p + q - 1`, and multiplies them; the mean square of the product is `a^j b^(n-j)` with
    `a = (p q^2 + (1-p) (1-q)^2) / d^2`, `b = q (1-q) / d^2`. So for the table, where only the coins are random,

        error = sqrt((sum_j ones[j] a^j b^(n-j) - s) / N) / s,

    and with `s^2` in place of the s under the root for the population. One item gives the thesis'
    `sqrt((s p (1-p) + (1-s) q (1-q)) / N) / (s |d|)` (Agrawal 2004, eq. 3.7 as derived: as printed it has
    s under the root instead of s^2). The mean absolute error, the thesis' rho, is `sqrt(2 / pi)` times
    this when N is large. Arrays of p and q, or of `ones`, are broadcast.

    >>> print(support_error(0.5051, 0.9696, ones=[0.99, 0.01], respondents=1_000_000, target="table").round(4))
    0.0375
    """
    shares = _checked_ones(ones)
    support, n = shares[..., -1], shares.shape[-1] - 1
    if (support <= 0).any():
        raise SottovoceError("ones", "must have transactions that hold all items, for an error relative to them", ones)
    held, other = _mean_squares(*_keeps(p, q))
    squares = [shares[..., j] * held**j * other ** (n - j) for j in range(n + 1)]
    centre = support if checked_target(target) == "table" else support**2
    # Rounding must not leave a variance below zero where every bit is kept.
    variance = np.maximum(np.sum(squares, axis=0) - centre, 0) / checked_respondents(respondents)
    return np.asarray(np.sqrt(variance) / support)


def _mean_squares(ones: Array, zeros: Array) -> tuple[Array, Array]:
    """Return the mean square of one bit's weight, for an item that is held and for one that is not."""
    gap = (ones + zeros - 1) ** 2
    if (gap == 0).any():
        raise SottovoceError("p", "must not be 1 - q, where a report says nothing about its item", ones)
    held = (ones * zeros**2 + (1 - ones) * (1 - zeros) ** 2) / gap
    return held, zeros * (1 - zeros) / gap


def _keeps(p: Any, q: Any) -> tuple[Array, Array]:
    ones, zeros = real_array("p", p), real_array("q", q)
    for parameter, keep in (("p", ones), ("q", zeros)):
        if not ((keep >= 0) & (keep <= 1)).all():
            raise SottovoceError(parameter, "must be between 0 and 1", keep)
    return ones, zeros


def _checked_ones(ones: Any) -> Array:
    length = (1, *real_array("ones", ones).shape)[-1]
    if not 2 <= length <= MOST_ITEMS + 1:
        raise SottovoceError("ones", f"must be the shares of 0 to n of n items, n from 1 to {MOST_ITEMS}", ones)
    shares = checked_counts("ones", ones, length)
    if (np.abs(shares.sum(axis=-1) - 1) > 1e-9).any():
        raise SottovoceError("ones", "must sum to 1", ones)
    return shares


def _binomial(share: Array, trials: int) -> Array:
    """Return the distribution of the number of ones among so many bits, along a new last axis."""
    return np.stack([comb(trials, k) * share**k * (1 - share) ** (trials - k) for k in range(trials + 1)], axis=-1)


def _convolved(left: Array, right: Array) -> Array:
    """Return the distribution of the sum of two independent numbers, along the last axis."""
    size = left.shape[-1] + right.shape[-1] - 1
    stack = np.broadcast_shapes(left.shape[:-1], right.shape[:-1])
    total = np.zeros((*stack, size))
    for k in range(left.shape[-1]):
        total[..., k : k + right.shape[-1]] += left[..., k : k + 1] * right
    return total
