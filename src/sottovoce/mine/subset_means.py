"""Mean supports of a set's subsets, and how the coins scatter them, from the sums that mining carries along."""

from functools import lru_cache
from math import comb

import numpy as np

from sottovoce.channel.channel import Array

DEPTH = 4
"""Lengths of subsets that are looked at: n, n - 1, n - 2, n - 3."""


@lru_cache(maxsize=64)
def moments_of_means(ones: float, zeros: float, length: int) -> tuple[Array, Array, Array]:
    """What turns the sums `S_j` of a set into the means `x_k` of its subsets' counts, and into sums of their products.

    A report with a of the set's items counts for a number `g_k(a)` towards `x_k`, a polynomial in a, and so do
    products of two of them. `S_j` is the sum of `C(a, j)` over the reports, so that all of these are sums of `S_j`.
    Last come products of what the true numbers of items would count for: coins scatter by the difference.

    >>> to_means, _, _ = moments_of_means(0.9, 0.8, 2)
    >>> to_means.round(4)  # of both items, and the mean of the two
    array([[ 0.0816, -0.4082,  2.0408],
           [-0.2857,  0.7143,  0.    ]])
    """
    gap, numbers, lengths = ones + zeros - 1, range(length + 1), range(length, max(length - DEPTH, 0), -1)

    def weights(k: int) -> list[float]:
        return [
            comb(length - j, k - j) * (zeros - 1) ** (k - j) / gap**k / comb(length, k) if j <= k else 0.0
            for j in numbers
        ]

    choose = np.array([[comb(a, j) for j in numbers] for a in numbers], float)
    reported = np.linalg.inv(choose).T
    to_means = np.array([weights(k) for k in lengths])
    counts_for = choose @ to_means.T
    held = reported @ (np.array([[comb(length, k)] for k in numbers]) * [weights(k) for k in numbers])
    of_truth = np.array([[comb(h, k) / comb(length, k) for k in lengths] for h in numbers])
    to_squares = np.einsum("ak,al,aj->klj", counts_for, counts_for, reported)
    return to_means, to_squares, np.einsum("hk,hl,hj->klj", of_truth, of_truth, held)
