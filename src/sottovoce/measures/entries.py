"""Privacy of a single entry before and after mining, and the recoverability of Zhan & Matwin.

Prefer `privacy_after_mining`. Taken literally, scenario I over an exhaustive set of rules is 1
whatever the data, scenario II may exceed 1, and the remaining privacy falls below zero.
"""

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from sottovoce.checks import Array, whole_number
from sottovoce.errors import SottovoceError
from sottovoce.measures.matrices import TOLERANCE, conditional, joint, real_array


def entry_privacy(channel: Any, prior: Any) -> Array:
    """Return `PSE = sum_o sum_r P(o) P(r | o) (1 - P(o | r))`, privacy before mining (Zhan & Matwin 2006, 4.1).

    For a yes/no entry this is the paper's definition, `1 - P(o | r) = P(1 - o | r)`, and with a yes/no
    report it equals `2 W (1 - W) (1 - corr^2)`, W the share of ones and corr the correlation of truth
    and report. The components that the paper derives agree with its definition at W_y = .5 only: component 1
    has `1 - W_y` instead of `W_y`, and the last line merges unequal denominators.

    >>> from sottovoce.schemes import UnrelatedQuestion
    >>> question = UnrelatedQuestion(theta=0.6, known=[0.5, 0.5]).mechanism((2,)).channel
    >>> round(float(entry_privacy(question, [0.5, 0.5])), 6)  # 2 / 4 (1 - .6^2)
    0.32
    """
    return _wrong_guesses(joint(channel, prior))


def privacy_given(evidence: Any) -> Array:
    """Return `sum_e sum_o P(o, e) (1 - P(o | e))` from a table of P(e, o), e all that the adversary knows.

    This is a consistent definition of privacy after mining: it is never negative, and never rises when
    evidence is added.

    >>> round(float(privacy_given([[0.5, 0.0], [0.25, 0.25]])), 6)
    0.25
    """
    table = real_array("evidence", evidence)
    if table.ndim < 2 or not (table >= 0).all():
        raise SottovoceError("evidence", "must be probabilities of evidence by truths", table.shape)
    totals = table.sum(axis=(-2, -1))
    if (np.abs(totals - 1) > TOLERANCE).any():
        raise SottovoceError("evidence", "must sum to 1", totals.tolist())
    return _wrong_guesses(table)


def privacy_after_mining(
    channel: Any, prior: Any, sizes: Sequence[int], entry: int, known: Sequence[int] = ()
) -> Array:
    """Return the privacy of one entry of a record against an adversary who knows the joint prior by mining.

    The evidence is the whole record's report, and the true values of the attributes in `known`. With
    none known this is the paper's scenario II (centralised, or records divided among parties); with
    some, scenario I (attributes divided among parties, each of which knows its own). `channel` and
    `prior` are over the joint cells of attributes of these `sizes`; `entry` and `known` are their indices.

    >>> coin = np.array([[0.75, 0.25], [0.25, 0.75]])
    >>> alike = [0.5, 0, 0, 0.5]
    >>> [round(float(privacy_after_mining(np.kron(coin, coin), alike, (2, 2), 0, known)), 6) for known in ((), (1,))]
    [0.3, 0.0]
    """
    joint_probabilities = joint(channel, prior)
    _check_indices(sizes, entry, known, joint_probabilities.shape[-1])
    leading = joint_probabilities.shape[:-1]
    table = joint_probabilities.reshape(*leading, *sizes)
    others = tuple(len(leading) + a for a in range(len(sizes)) if a != entry and a not in known)
    table = np.moveaxis(table.sum(axis=others, keepdims=True), len(leading) + entry, -1)
    return _wrong_guesses(table.reshape(*leading[:-1], -1, sizes[entry]))


def group_privacy(channel: Any, prior: Any, sizes: Sequence[int], known: Sequence[int] = ()) -> Array:
    """Return the least privacy after mining among the entries of a record that are not known (Zhan & Matwin 2006, 4.2).

    >>> coin = np.array([[0.75, 0.25], [0.25, 0.75]])
    >>> float(group_privacy(np.kron(coin, np.eye(2)), [0.25] * 4, (2, 2)))
    0.0
    """
    entries = [a for a in range(len(sizes)) if a not in known]
    if not entries:
        raise SottovoceError("known", "must leave an entry to protect", tuple(known))
    least: Array = np.min([privacy_after_mining(channel, prior, sizes, entry, known) for entry in entries], axis=0)
    return least


def _wrong_guesses(table: Array) -> Array:
    wrong: Array = (table * (1 - conditional(table))).sum(axis=(-2, -1))
    return wrong


def _check_indices(sizes: Sequence[int], entry: int, known: Sequence[int], truths: int) -> None:
    if prod(sizes) != truths:
        raise SottovoceError("sizes", f"must have {truths} joint cells", tuple(sizes))
    whole_number("entry", entry, least=0, most=len(sizes) - 1)
    if entry in known or any(a not in range(len(sizes)) for a in known):
        raise SottovoceError("known", "must be indices of other attributes than the entry", tuple(known))


def recoverability_known(precondition: Any, confidence: Any) -> float:
    """Return `REC = sum P(precondition) P(conclusion | precondition)`, scenario I (Zhan & Matwin 2006, 4.2).

    `confidence` has a row for each precondition and a column for each conclusion, 0 where no rule was
    found. The original values of the precondition are known to the adversary.

    >>> round(recoverability_known([0.5, 0.5], [[0.8, 0.6], [0.4, 0.3]]), 6)  # the paper's rules
    1.05
    """
    rules = _rule_confidences(confidence)
    return float(_probabilities("precondition", precondition, rules.shape[0]) @ rules.sum(axis=1))


def recoverability_unknown(confidence: Any, correct: Any) -> float:
    """Return `REC = sum P(conclusion* | precondition*) P(original | report)`, scenario II (Zhan & Matwin 2006, 4.2).

    `confidence` is that of the rules among REPORTS, and `correct` the probability, for each value, that
    its report is true: `P(o = v | r = v)`.

    >>> round(recoverability_unknown([[0.7, 0.3], [0.4, 0.6]], [0.75, 0.75]), 6)
    1.5
    """
    rules = _rule_confidences(confidence)
    return float(rules.sum(axis=0) @ _probabilities("correct", correct, rules.shape[1]))


def literal_privacy(before: Any, recoverability: Any) -> Array:
    """Return `PSE = PSE(PRE) - REC`, REC the largest over the sets of rules for an entry (Zhan & Matwin 2006, 4.2).

    The last axis of `recoverability` runs over those sets. The group's privacy is the least of its entries'.

    >>> literal_privacy([0.32, 0.5], [[0.1, 0.2], [0.1, 1.0]]).tolist()
    [0.12, -0.5]
    """
    recovered = real_array("recoverability", recoverability)
    if recovered.ndim == 0 or recovered.shape[-1] == 0 or not np.isfinite(recovered).all():
        raise SottovoceError("recoverability", "must be finite, one for each set of rules", recovered.tolist())
    remaining: Array = real_array("before", before) - recovered.max(axis=-1)
    return remaining


def _rule_confidences(confidence: Any) -> Array:
    rules = real_array("confidence", confidence)
    if rules.ndim != 2 or not ((rules >= 0) & (rules <= 1)).all():
        rule = "must be between 0 and 1, in rows of preconditions by columns of conclusions"
        raise SottovoceError("confidence", rule, rules.tolist())
    return rules


def _probabilities(parameter: str, values: Any, count: int) -> Array:
    array = real_array(parameter, values)
    if array.shape != (count,) or not ((array >= 0) & (array <= 1)).all():
        raise SottovoceError(parameter, f"must be {count} probabilities", array.tolist())
    return array
