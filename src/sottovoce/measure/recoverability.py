"""Privacy after mining as it is printed: the paper's recoverability (REC), kept for reproduction.

Prefer `entry.privacy_after_mining`. Taken literally, scenario I over an exhaustive set of rules is 1
whatever the data, scenario II may exceed 1, and the privacy that is left falls below zero.
"""

from typing import Any

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.errors import SottovoceError
from sottovoce.measure.reals import real_array


def recoverability_known(precondition: Any, confidence: Any) -> float:
    """`REC = sum P(precondition) P(conclusion | precondition)`, scenario I (Zhan & Matwin 2006, 4.2).

    `confidence` has a row for each precondition and a column for each conclusion, 0 where no rule was
    found. The original values of the precondition are known to the adversary.

    >>> round(recoverability_known([0.5, 0.5], [[0.8, 0.6], [0.4, 0.3]]), 6)  # the paper's rules
    1.05
    """
    rules = _rules(confidence)
    return float(_fitting("precondition", precondition, rules.shape[0]) @ rules.sum(axis=1))


def recoverability_unknown(confidence: Any, correct: Any) -> float:
    """`REC = sum P(conclusion* | precondition*) P(original | report)`, scenario II (Zhan & Matwin 2006, 4.2).

    `confidence` is that of the rules among REPORTS, and `correct` the probability, for each value, that
    its report is true: `P(o = v | r = v)`.

    >>> round(recoverability_unknown([[0.7, 0.3], [0.4, 0.6]], [0.75, 0.75]), 6)
    1.5
    """
    rules = _rules(confidence)
    return float(rules.sum(axis=0) @ _fitting("correct", correct, rules.shape[1]))


def literal_privacy(before: Any, recoverability: Any) -> Array:
    """`PSE = PSE(PRE) - REC`, REC the largest over the sets of rules for an entry (Zhan & Matwin 2006, 4.2).

    The last axis of `recoverability` runs over those sets. The group's privacy is the least of its entries'.

    >>> literal_privacy([0.32, 0.5], [[0.1, 0.2], [0.1, 1.0]]).tolist()
    [0.12, -0.5]
    """
    found = real_array("recoverability", recoverability)
    if found.ndim == 0 or found.shape[-1] == 0 or not np.isfinite(found).all():
        raise SottovoceError("recoverability", "must be finite, one for each set of rules", found.tolist())
    left: Array = real_array("before", before) - found.max(axis=-1)
    return left


def _rules(confidence: Any) -> Array:
    rules = real_array("confidence", confidence)
    if rules.ndim != 2 or not ((rules >= 0) & (rules <= 1)).all():
        rule = "must be between 0 and 1, in rows of preconditions by columns of conclusions"
        raise SottovoceError("confidence", rule, rules.tolist())
    return rules


def _fitting(parameter: str, values: Any, count: int) -> Array:
    array = real_array(parameter, values)
    if array.shape != (count,) or not ((array >= 0) & (array <= 1)).all():
        raise SottovoceError(parameter, f"must be {count} probabilities", array.tolist())
    return array
