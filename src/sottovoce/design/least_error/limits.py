"""What a channel may reveal: bounds on the adversary's guesses, on posteriors and on likelihood ratios."""

from dataclasses import dataclass
from math import inf, log
from typing import Any

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.design.prior import checked_prior
from sottovoce.errors import SottovoceError, Words

MOST_CATEGORIES = 20
"""Atoms are subsets of the categories, and all of them are looked at."""

LEAST_ODDS, MOST_ODDS = 1.0001, 1e8
"""Odds nearer to even leave no digits of what reports tell, and larger ones none of what they leave in doubt."""


@dataclass(frozen=True)
class Limits:
    """A prior and what is required under it; None where nothing is, or where it would not bind.

    `accuracy` bounds the chance of the adversary's best guess, `delta` every posterior probability, `odds` the ratio
    of two truths' probabilities of the same report.
    """

    prior: Array
    accuracy: float | None = None
    delta: float | None = None
    odds: float | None = None

    @property
    def free(self) -> bool:
        """Whether the truth itself may be reported."""
        return self.accuracy is None and self.delta is None and self.odds is None


def limits(
    prior: Any,
    accuracy: float | None = None,
    delta: float | None = None,
    odds: float | None = None,
    *,
    most_categories: int = MOST_CATEGORIES,
) -> Limits:
    """Checked limits, or a message that says which two contradict and what the nearest feasible value is.

    The adversary who sees no report is right with the chance of the likeliest category, and no channel lowers that.
    A report whose worst posterior is no more than it says nothing about that category, and no estimator exists.

    >>> limits([0.5, 0.3, 0.2], delta=0.4)
    Traceback (most recent call last):
    ...
    sottovoce.errors.SottovoceError: delta must be above 0.5, the largest probability of the prior. Got 0.4 instead.
    """
    checked = _prior(prior, most_categories)
    likeliest = np.sort(checked)[::-1]
    top = f"{likeliest[0]:.6g}, the largest probability of the prior"
    if odds is not None and not odds > 1:
        raise SottovoceError(
            "odds", "must be above 1: with even odds reports say nothing, and the error is infinite", odds
        )
    if odds is not None and odds != inf and not LEAST_ODDS <= odds <= MOST_ODDS:
        rule = f"must be between {LEAST_ODDS} and {MOST_ODDS:.0e} for errors to be compared in floating point"
        raise SottovoceError("odds", f"{rule}: epsilon from {log(LEAST_ODDS):.4f} to {log(MOST_ODDS):.1f}", odds)
    if delta is not None and not delta > likeliest[0] + _LEAST:
        raise SottovoceError("delta", f"must be above {top}", delta)
    if accuracy is not None and not accuracy >= likeliest[0] - _LEAST:
        raise SottovoceError("accuracy", f"must be at least {top}", accuracy)
    if accuracy is not None and accuracy <= likeliest[0] + _LEAST and likeliest[1] > likeliest[0] - _LEAST:
        rule = (
            f"must be above {top}, which two categories share: no report may tell them apart, and the error is infinite"
        )
        raise SottovoceError("accuracy", rule, accuracy)
    delta = None if delta is None or delta >= 1 else float(delta)
    accuracy = None if accuracy is None or accuracy >= (delta or 1) else float(accuracy)
    return Limits(checked, accuracy, delta, None if odds is None or odds == inf else float(odds))


_LEAST = 1e-9


def _prior(prior: Any, most: int) -> Array:
    checked = checked_prior(prior)
    if len(checked) > most:
        other = "; large_least_error takes more" if most == MOST_CATEGORIES else ""
        rule = f"must have at most {most} categories for this method{other}"
        raise SottovoceError("prior", rule, Words(f"{len(checked)} categories"))
    return checked
