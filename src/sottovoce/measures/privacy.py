"""Privacy of a channel: odds and epsilon, an adversary's guesses, breaches, and information in bits."""

from collections.abc import Iterable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sottovoce.channels.channel import Channel
from sottovoce.checks import Array, whole_number
from sottovoce.errors import SottovoceError
from sottovoce.exact import Number, OddsLike, epsilon_of_odds, odds, probability
from sottovoce.measures.matrices import as_matrices, as_prior, conditional, joint, posteriors, real_array
from sottovoce.plans.plan import Plan


def exact_odds(channel: Channel | Plan) -> Fraction | None:
    """Return `max_y max_x A[y, x] / min_x A[y, x]` as a fraction, None where it is unbounded.

    >>> from sottovoce.channels.dense import Dense
    >>> exact_odds(Dense([[3, 1], [1, 3]], 4))
    Fraction(3, 1)
    """
    return channel.guarantee.odds if isinstance(channel, Plan) else channel.odds


def odds_of(channel: Any) -> Array:
    """Return the amplification gamma: the largest ratio in a row, infinite if an entry is zero (Agrawal 2004, eq. 4.2).

    Rows are compared, one report against all truths; Gao et al. (2018) first write the bound by column,
    which guarantees nothing, and by row in 5.2. A row of zeros is a report of probability zero. The odds of channels
    and plans are exact and rounded once; beyond double precision they are infinite here.

    >>> round(float(odds_of([[0.75, 0.25], [0.25, 0.75]])), 12)
    3.0
    """
    if isinstance(channel, Plan | Channel):
        exact: Array = np.asarray(_rounded(exact_odds(channel)))[()]
        return exact
    matrices = as_matrices(channel)
    high, low = matrices.max(axis=-1), matrices.min(axis=-1)
    ratios = np.divide(high, low, out=np.where(high > 0, np.inf, 1.0), where=low > 0)
    worst: Array = ratios.max(axis=-1)
    return worst


def epsilon_of(channel: Any) -> Array:
    """Return epsilon of local differential privacy: the natural logarithm of the odds (Wang, Wu & Hu 2016, eq. 1).

    >>> round(float(epsilon_of([[0.75, 0.25], [0.25, 0.75]])), 6)
    1.098612
    """
    if isinstance(channel, Plan | Channel):
        exact: Array = np.asarray(epsilon_of_odds(exact_odds(channel)))[()]
        return exact
    return np.log(odds_of(channel))


def _rounded(odds: Fraction | None) -> float:
    try:
        return np.inf if odds is None else float(odds)
    except OverflowError:
        return np.inf


def adversary_accuracy(channel: Any, prior: Any, score: Any = None) -> Array:
    """Return the adversary's mean score, `sum_y max_g sum_x G(g, x) A[y, x] p(x)` (Huang & Du 2008, from eq. 5).

    The adversary makes the guess g that scores best for each report. Without `score`, G is 1 for the
    truth and 0 otherwise, and this is the share of right guesses of the MAP adversary (eq. 6-8). Else
    `score` is an array of guesses by truths, or a function of the indices of both; there may be more guesses
    than truths ("somewhere between 1 and 3").

    >>> warner = [[0.75, 0.25], [0.25, 0.75]]
    >>> round(float(adversary_accuracy(warner, [0.5, 0.5])), 12)
    0.75
    >>> round(float(adversary_accuracy(warner, [0.5, 0.5], score=[[1, -3], [-3, 1], [0, 0]])), 12)
    0.0
    """
    best: Array = _scores(channel, prior, score).max(axis=-1).sum(axis=-1)
    return best


def adversary_privacy(channel: Any, prior: Any) -> Array:
    """Return `1 - sum_y max_x A[y, x] p(x)`, the share of wrong guesses of the MAP adversary (Huang & Du 2008, eq. 8).

    >>> round(float(adversary_privacy([[0.75, 0.25], [0.25, 0.75]], [0.9, 0.1])), 12)
    0.1
    """
    return 1 - adversary_accuracy(channel, prior)


def best_guess(channel: Any, prior: Any, score: Any = None) -> NDArray[np.intp]:
    """Return the guess that scores best for each report, the first among equals (Huang & Du 2008, eq. 7).

    >>> best_guess([[0.75, 0.25], [0.25, 0.75]], [0.9, 0.1])
    array([0, 0])
    """
    return np.asarray(_scores(channel, prior, score).argmax(axis=-1))


def worst_posterior(channel: Any, prior: Any) -> Array:
    """Return `delta = max_y max_x P(x | y)`, over reports of positive probability (Huang & Du 2008, eq. 9).

    Never below the largest prior (Theorem 5).

    >>> round(float(worst_posterior([[0.75, 0.25], [0.25, 0.75]], [0.75, 0.25])), 12)
    0.9
    """
    worst: Array = posteriors(channel, prior).max(axis=(-2, -1))
    return worst


def individual_reconstruction(channel: Any, prior: Any) -> Array:
    """Return `sum_y A[y, x] P(x | y)` for each truth x (Wang, Wu & Hu 2016, eq. 5 and 14).

    The probability that someone of truth x is reconstructed as x by a draw from the posterior.

    >>> individual_reconstruction([[0.75, 0.25], [0.25, 0.75]], [0.75, 0.25])
    array([0.8, 0.4])
    """
    right: Array = (as_matrices(channel) * posteriors(channel, prior)).sum(axis=-2)
    return right


def _scores(channel: Any, prior: Any, score: Any) -> Array:
    """Return `P(y) E[G(g, X) | y]` for each report and guess."""
    probabilities = joint(channel, prior)
    if score is None:
        return probabilities
    expected: Array = probabilities @ _score_table(score, probabilities.shape[-1]).T
    return expected


def _score_table(score: Any, truths: int) -> Array:
    if callable(score):
        score = [[score(guess, truth) for truth in range(truths)] for guess in range(truths)]
    table = real_array("score", score)
    if table.ndim != 2 or table.shape[0] == 0 or table.shape[1] != truths or not np.isfinite(table).all():
        raise SottovoceError("score", f"must be a finite number for each guess and each of {truths} truths", score)
    return table


def amplification(before: Number, after: Number) -> Fraction:
    """Return `gamma = psi2 (1 - psi1) / (psi1 (1 - psi2))`, the largest odds with (psi1, psi2) privacy.

    Under odds of at most gamma no belief below psi1 = `before` can rise above psi2 = `after` (Agrawal 2004, eq. 4.2).

    >>> amplification(0.05, 0.50)
    Fraction(19, 1)
    """
    low, high = probability("before", before), probability("after", after)
    if not 0 < low <= high < 1:
        raise SottovoceError(
            "before and after", "must be between 0 and 1, the first not larger than the second", (before, after)
        )
    return high * (1 - low) / (low * (1 - high))


def largest_posterior(before: Number, gamma: OddsLike | None) -> Fraction:
    """Return `psi2 = gamma psi1 / (gamma psi1 + 1 - psi1)`, the largest posterior of belief psi1 under odds gamma.

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
    """Return `psi1 = psi2 / (psi2 + gamma (1 - psi2))`, the largest belief that odds gamma keep at psi2 or below.

    Eq. 4.2 solved for psi1: every smaller belief stays below psi2.

    >>> largest_prior(0.5, 19)
    Fraction(1, 20)
    """
    belief = probability("after", after)
    if gamma is None:
        return Fraction(int(belief == 1))
    return belief / (belief + odds("gamma", gamma) * (1 - belief))


class Breach(NamedTuple):
    """Belief in a property before any report, after the worst report, and the index of that report."""

    before: Array
    after: Array
    report: NDArray[np.intp]


def worst_breach(channel: Any, prior: Any, truths: Iterable[int]) -> Breach:
    """Return `P(Q)` and `max_y P(Q | y)` for a set Q of truths, given by their indices (Agrawal 2004, 4.3.1).

    >>> breach = worst_breach([[0.75, 0.25], [0.25, 0.75]], [0.75, 0.25], [1])
    >>> float(breach.before), float(breach.after), int(breach.report)
    (0.25, 0.5, 1)
    """
    probabilities = joint(channel, prior)
    members = _members(truths, probabilities.shape[-1])
    after = conditional(probabilities)[..., members].sum(axis=-1)
    before = as_prior(prior, probabilities.shape[-1])[..., members].sum(axis=-1)
    return Breach(before, after.max(axis=-1), after.argmax(axis=-1))


def _members(truths: Iterable[int], count: int) -> list[int]:
    members = [whole_number("truths", truth, least=0, most=count - 1) for truth in truths]
    if not members or len(set(members)) < len(members):
        raise SottovoceError("truths", "must be at least one, and different", members)
    return members


def entropy(prior: Any) -> Array:
    """Return the entropy `H(X) = -sum_x p(x) log2 p(x)` in bits.

    >>> float(entropy([0.5, 0.25, 0.25]))
    1.5
    """
    array = real_array("prior", prior)
    bits: Array = -_weighted_logarithm(as_prior(array, array.shape[-1] if array.ndim else 1)).sum(axis=-1)
    return bits


def conditional_entropy(channel: Any, prior: Any) -> Array:
    """Return `H(X | Y) = -sum_yx P(y, x) log2 P(x | y)`, the uncertainty left by a report, in bits (Gao et al. 2018).

    >>> float(conditional_entropy([[0.5, 0.5], [0.5, 0.5]], [0.5, 0.5]))
    1.0
    """
    probabilities = joint(channel, prior)
    bits: Array = -_weighted_logarithm(probabilities, conditional(probabilities)).sum(axis=(-2, -1))
    return bits


def mutual_information(channel: Any, prior: Any) -> Array:
    """Return `I(X; Y) = sum_yx P(y, x) log2(P(x | y) / p(x)) = H(X) - H(X | Y)`, in bits (Gao et al. 2018).

    >>> round(float(mutual_information([[0.75, 0.25], [0.25, 0.75]], [0.5, 0.5])), 6)
    0.188722
    """
    probabilities = joint(channel, prior)
    truths = probabilities.sum(axis=-2, keepdims=True)
    lift = np.divide(conditional(probabilities), truths, out=np.zeros_like(probabilities), where=probabilities > 0)
    bits: Array = _weighted_logarithm(probabilities, lift).sum(axis=(-2, -1))
    # Rounding may leave a number below zero where truth and report are independent.
    return np.maximum(bits, 0.0)


def _weighted_logarithm(weights: Array, values: Array | None = None) -> Array:
    """Return `w log2 v` with 0 log 0 = 0; v = w by default."""
    values = weights if values is None else values
    logarithms = np.log2(values, out=np.zeros_like(values), where=(weights > 0) & (values > 0))
    product: Array = weights * logarithms
    return product
