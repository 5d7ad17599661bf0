"""How well frequent sets were identified, and their supports, where the truth is known: for evaluations."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sottovoce.channel.channel import Array


@dataclass(frozen=True)
class IdentityErrors:
    """Of one length, in percent of the truly frequent sets: false ones `sigma_plus`, missing ones `sigma_minus`.

    `rho` is the mean relative error of the supports of those rightly found (Agrawal 2004, 3.4.1), `f1` the harmonic
    mean of precision and recall. Where nothing is frequent, or nothing was rightly found, what has no meaning
    is not a number.
    """

    frequent: int
    found: int
    sigma_plus: float
    sigma_minus: float
    rho: float
    f1: float


def identity_errors(
    found: NDArray[np.int64], support: Array, true: NDArray[np.int64], true_support: Array
) -> IdentityErrors:
    """Compare found sets of one length with the truly frequent ones: rows of item numbers, and their supports.

    >>> errors = identity_errors(np.array([[0, 2], [1, 2]]), np.array([0.3, 0.1]), np.array([[0, 2]]), np.array([0.25]))
    >>> errors.sigma_plus, errors.sigma_minus, round(errors.rho, 6), round(errors.f1, 1)
    (100.0, 0.0, 20.0, 66.7)
    """
    truth = dict(zip(map(tuple, true.tolist()), true_support.tolist(), strict=True))
    guess = dict(zip(map(tuple, found.tolist()), support.tolist(), strict=True))
    right = [items for items in guess if items in truth]
    gaps = [abs(guess[items] - truth[items]) / truth[items] for items in right]

    def percent(part: float, whole: int) -> float:
        return 100 * part / whole if whole else float("nan")

    return IdentityErrors(
        len(truth),
        len(guess),
        percent(len(guess) - len(right), len(truth)),
        percent(len(truth) - len(right), len(truth)),
        percent(sum(gaps), len(right)),
        percent(2 * len(right), len(truth) + len(guess)),
    )
