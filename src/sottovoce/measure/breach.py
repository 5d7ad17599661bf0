"""Breaches: how far a belief can rise, for every prior (strict privacy) and for a given one."""

from collections.abc import Iterable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sottovoce.channel.channel import Array
from sottovoce.errors import SottovoceError
from sottovoce.exact import Number, OddsLike, odds, probability
from sottovoce.measure.matrices import as_prior, conditional, joint


def amplification(before: Number, after: Number) -> Fraction:
    """`gamma = psi2 (1 - psi1) / (psi1 (1 - psi2))`: the largest odds that keep (psi1, psi2) (Agrawal 2004, eq. 4.2).

    Under odds of at most gamma no belief below psi1 = `before` can rise to more than psi2 = `after`.

    >>> amplification(0.05, 0.50)
    Fraction(19, 1)
    """
    low, high = probability("before", before), probability("after", after)
    if not 0 < low <= high < 1:
        raise SottovoceError("before and after", "must rise, between 0 and 1", (before, after))
    return high * (1 - low) / (low * (1 - high))


def largest_posterior(before: Number, gamma: OddsLike | None) -> Fraction:
    """`psi2 = gamma psi1 / (gamma psi1 + 1 - psi1)`, the most that belief psi1 rises to under odds gamma.

    Eq. 4.2 solved for psi2, attained by the worst prior. Unbounded odds (None) may lead to certainty.

    >>> largest_posterior(0.05, 19), largest_posterior(0.05, None)
    (Fraction(1, 2), Fraction(1, 1))
    """
    belief = probability("before", before)
    if gamma is None:
        return Fraction(int(belief > 0))
    raised = odds("gamma", gamma) * belief
    return raised / (raised + 1 - belief)


def largest_prior(after: Number, gamma: OddsLike | None) -> Fraction:
    """`psi1 = psi2 / (psi2 + gamma (1 - psi2))`, the belief that odds gamma can just raise to psi2.

    Eq. 4.2 solved for psi1: every smaller belief stays below psi2.

    >>> largest_prior(0.5, 19)
    Fraction(1, 20)
    """
    belief = probability("after", after)
    if gamma is None:
        return Fraction(int(belief == 1))
    return belief / (belief + odds("gamma", gamma) * (1 - belief))


class Breach(NamedTuple):
    """Belief in a property before any report, after the worst one, and which report that is."""

    before: Array
    after: Array
    report: NDArray[np.intp]


def worst_breach(channel: Any, prior: Any, truths: Iterable[int]) -> Breach:
    """`P(Q)` and `max_y P(Q | y)` for a set Q of truths, by their numbers (Agrawal 2004, 4.3.1).

    >>> found = worst_breach([[0.75, 0.25], [0.25, 0.75]], [0.75, 0.25], [1])
    >>> float(found.before), float(found.after), int(found.report)
    (0.25, 0.5, 1)
    """
    together = joint(channel, prior)
    members = _members(truths, together.shape[-1])
    raised = conditional(together)[..., members].sum(axis=-1)
    before = as_prior(prior, together.shape[-1])[..., members].sum(axis=-1)
    return Breach(before, raised.max(axis=-1), raised.argmax(axis=-1))


def _members(truths: Iterable[int], count: int) -> list[int]:
    members = list(truths)
    whole = all(isinstance(x, int | np.integer) and not isinstance(x, bool) and 0 <= x < count for x in members)
    if not members or not whole or len(set(members)) < len(members):
        raise SottovoceError("truths", f"must be different whole numbers from 0 to {count - 1}", members)
    return members
