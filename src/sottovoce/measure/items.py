"""Basic privacy of the ones in a table of items."""

from typing import Any

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.errors import SottovoceError
from sottovoce.measure.reals import real_array


def reconstruction_of_ones(p: Any, q: Any, supports: Any) -> Array:
    """`R1 = p^2 s / (s p + (1-s)(1-q)) + (1-p)^2 s / (s (1-p) + (1-s) q)` for each item.

    The probability that a true 1, kept with p among zeros kept with q, is reconstructed from its report
    by a draw from the posterior, s being the item's support (Agrawal 2004, eq. 2.1 and 3.2; the line
    Pr(V=0|U=1) = q before it should read 1 - p). MASK is q = p.

    >>> round(float(reconstruction_of_ones(0.5051, 0.9696, 0.01)), 4)
    0.0751
    """
    one, zero, share = _of_equal_length(_shares("p", p), _shares("q", q), _shares("supports", supports))
    kept, lost = one * share, (1 - one) * share
    found = kept + (1 - share) * (1 - zero), lost + (1 - share) * zero
    return _ratio(one * kept, found[0]) + _ratio((1 - one) * lost, found[1])


def basic_privacy(p: Any, q: Any, supports: Any) -> float:
    """`BP = 1 - sum_j s_j R1_j / sum_j s_j`, averaged over the ones of all items (Agrawal 2004, 3.3.2).

    `supports` is one average support, or one for each item; p and q likewise.

    >>> round(basic_privacy(0.5051, 0.9696, 0.01), 3)  # 92.5 % in the thesis
    0.925
    """
    found = reconstruction_of_ones(p, q, supports)
    weights = np.broadcast_to(_shares("supports", supports), found.shape)
    if weights.sum() == 0:
        raise SottovoceError("supports", "must not all be 0: there would be no ones to protect", supports)
    return float(1 - (weights * found).sum() / weights.sum())


def _shares(parameter: str, values: Any) -> Array:
    array = real_array(parameter, values)
    if not ((array >= 0) & (array <= 1)).all():
        raise SottovoceError(parameter, "must be between 0 and 1", array.tolist())
    return array


def _of_equal_length(*shares: Array) -> tuple[Array, ...]:
    try:
        return np.broadcast_arrays(*shares)
    except ValueError:
        rule = "must be one number each or one for each item"
        raise SottovoceError("p, q and supports", rule, [share.shape for share in shares]) from None


def _ratio(part: Array, whole: Array) -> Array:
    """Zero over a report that never comes."""
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
