"""Sums over all sets of a mixture of slabs, in whole numbers: what truths make of them, without listing any."""

from collections.abc import Sequence

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.channel.slab import Slab

Moments = list[list[int]]


def norm_moments(components: Sequence[Slab], tilt: Sequence[int] | None) -> Moments:
    """Coefficients A of `norm_x = sum_S m(S) t_S u_S(x)`, a row for each power; `norms` puts the factors in.

    With `u_S(x) = b + (a - b) [x in S]` and `t_S = sum_i h_i u_S(i)`, H the sum of h and h(S) that of the members,
    `norm_x = b^2 H m + b (a - b) (H m_x + sum_i h_i m_i) + (a - b)^2 sum_{S with x} m(S) h(S)`, m_x being the sum of m
    over the sets with x. Without a tilt it is `b m + (a - b) m_x`.
    """
    categories = range(len(components[0].items))
    total = sum(c.total for c in components)
    holding = [sum(c.holding(x) for c in components) for x in categories]
    if tilt is None:
        return [[total for _ in categories], holding]
    weight, mean = sum(tilt), sum(h * own for h, own in zip(tilt, holding, strict=True))
    both = [sum(parts) for parts in zip(*(c.holding_weighed(tilt) for c in components), strict=True)]
    return [[weight * total for _ in categories], [weight * own + mean for own in holding], both]


def norms(moments: Moments, inside: int, outside: int) -> list[int]:
    """`norm_x = sum_k b^(d-k) (a - b)^k A_kx` for a = `inside`, b = `outside` and the largest power d.

    >>> norms(norm_moments([Slab(1, 1, (1, 1, 2))], None), inside=2, outside=1)
    [5, 5, 6]
    """
    powers = [outside ** (len(moments) - 1 - k) * (inside - outside) ** k for k in range(len(moments))]
    return [sum(p * m for p, m in zip(powers, column, strict=True)) for column in zip(*moments, strict=True)]


def second_moments(slab: Slab, inside: int, outside: int, norms: Sequence[int]) -> Array:
    """`sum_S m(S) u_S(i) u_S(x) / norm_x`, by i and x: whole numbers, divided once.

    >>> second_moments(Slab(1, 1, (1, 1, 2)), inside=2, outside=1, norms=[1, 1, 1])
    array([[ 7.,  6.,  7.],
           [ 6.,  7.,  7.],
           [ 7.,  7., 10.]])
    """
    categories = range(len(slab.items))
    plus, holding = inside - outside, [slab.holding(x) for x in categories]
    found = np.empty((len(categories), len(categories)))
    for i in categories:
        for x in range(i + 1):
            both = plus * plus * slab.holding_both(i, x) + plus * outside * (holding[i] + holding[x])
            own = both + outside * outside * slab.total
            found[i, x], found[x, i] = own / norms[x], own / norms[i]
    return found
