"""How well an adversary who knows the prior guesses a truth from its report."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.channel.channel import Array
from sottovoce.errors import SottovoceError
from sottovoce.measure.matrices import as_matrices, joint, posteriors
from sottovoce.measure.reals import real_array


def adversary_accuracy(channel: Any, prior: Any, score: Any = None) -> Array:
    """`A = sum_y max_g sum_x G(g, x) A[y, x] p(x)` (Huang & Du 2008, eq. 5 averaged over the reports).

    The adversary makes the guess g that scores best for each report. Without `score`, G is 1 for the
    truth and 0 otherwise, and this is the share of right guesses of the MAP adversary (eq. 6-8). Else
    `score` is an array of guesses by truths, or a function of the numbers of both categories; guesses
    may outnumber the truths ("somewhere between 1 and 3").

    >>> warner = [[0.75, 0.25], [0.25, 0.75]]
    >>> round(float(adversary_accuracy(warner, [0.5, 0.5])), 12)
    0.75
    >>> round(float(adversary_accuracy(warner, [0.5, 0.5], score=[[1, -3], [-3, 1], [0, 0]])), 12)
    0.0
    """
    best: Array = _scores(channel, prior, score).max(axis=-1).sum(axis=-1)
    return best


def adversary_privacy(channel: Any, prior: Any) -> Array:
    """`1 - sum_y max_x A[y, x] p(x)`, the share of wrong guesses of the MAP adversary (Huang & Du 2008, eq. 8).

    >>> round(float(adversary_privacy([[0.75, 0.25], [0.25, 0.75]], [0.9, 0.1])), 12)
    0.1
    """
    return 1 - adversary_accuracy(channel, prior)


def best_guess(channel: Any, prior: Any, score: Any = None) -> NDArray[np.intp]:
    """Guess that scores best for each report, the first among equals (Huang & Du 2008, eq. 7).

    >>> best_guess([[0.75, 0.25], [0.25, 0.75]], [0.9, 0.1])
    array([0, 0])
    """
    return np.asarray(_scores(channel, prior, score).argmax(axis=-1))


def worst_posterior(channel: Any, prior: Any) -> Array:
    """`delta = max_y max_x P(x | y)`, over reports that can come (Huang & Du 2008, eq. 9).

    Never below the largest prior (Theorem 5).

    >>> round(float(worst_posterior([[0.75, 0.25], [0.25, 0.75]], [0.75, 0.25])), 12)
    0.9
    """
    worst: Array = posteriors(channel, prior).max(axis=(-2, -1))
    return worst


def individual_reconstruction(channel: Any, prior: Any) -> Array:
    """`sum_y A[y, x] P(x | y)` for each truth x (Wang, Wu & Hu 2016, eq. 5 and 14).

    The probability that someone of truth x is reconstructed as x by a draw from the posterior.

    >>> individual_reconstruction([[0.75, 0.25], [0.25, 0.75]], [0.75, 0.25])
    array([0.8, 0.4])
    """
    right: Array = (as_matrices(channel) * posteriors(channel, prior)).sum(axis=-2)
    return right


def _scores(channel: Any, prior: Any, score: Any) -> Array:
    """`P(y) E[G(g, X) | y]` for each report and guess."""
    together = joint(channel, prior)
    if score is None:
        return together
    expected: Array = together @ _score_table(score, together.shape[-1]).T
    return expected


def _score_table(score: Any, truths: int) -> Array:
    if callable(score):
        score = [[score(guess, truth) for truth in range(truths)] for guess in range(truths)]
    table = real_array("score", score)
    if table.ndim != 2 or table.shape[0] == 0 or table.shape[1] != truths or not np.isfinite(table).all():
        raise SottovoceError("score", f"must be a finite number for each guess and each of {truths} truths", score)
    return table
