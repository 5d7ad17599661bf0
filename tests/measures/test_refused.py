"""Bad input to a measure is refused with the parameter, the rule and the value."""

from math import nan

import numpy as np
import pytest

from sottovoce.channels.dense import Dense
from sottovoce.channels.keep_or_uniform import KeepOrUniform
from sottovoce.channels.kronecker import Kronecker
from sottovoce.errors import SottovoceError
from sottovoce.measures.entries import (
    group_privacy,
    literal_privacy,
    privacy_after_mining,
    privacy_given,
    recoverability_known,
    recoverability_unknown,
)
from sottovoce.measures.item_privacy import basic_privacy, reinterrogation_privacy
from sottovoce.measures.matrices import as_matrices, as_prior
from sottovoce.measures.privacy import (
    adversary_accuracy,
    amplification,
    entropy,
    largest_posterior,
    largest_prior,
    mutual_information,
    worst_breach,
)
from sottovoce.measures.private_parameter import posterior_range, private_posterior, share_below
from sottovoce.measures.summary import column_matrix

COIN = np.array([[0.75, 0.25], [0.25, 0.75]])
HALF = [0.5, 0.5]
MANY = Kronecker([Dense([[3, 1], [1, 3]], 4)] * 20_000)

CASES = [
    ("channel must be real numbers", lambda: as_matrices("coin")),
    ("channel must be a channel, a plan, or matrices of reports by truths", lambda: as_matrices(HALF)),
    ("channel must be a channel, a plan, or matrices", lambda: as_matrices(np.zeros((0, 2)))),
    (r"channel must not be negative anywhere\. Got -0.5", lambda: as_matrices([[1.5], [-0.5]])),
    ("channel must not be negative anywhere", lambda: as_matrices([[nan], [1]])),
    (r"channel must have columns that sum to 1\. Got 1.1", lambda: as_matrices([COIN, COIN * 1.1])),
    ("channel must have columns that sum to 1", lambda: as_matrices([[np.inf], [1]])),
    (r"channel must be small enough to be written out.* Got more than 2\^40000 entries", lambda: as_matrices(MANY)),
    ("prior must be real numbers", lambda: as_prior([0.5, None, "x"], 3)),
    (r"prior must have a probability for each of 2 truths\. Got \(3,\)", lambda: as_prior([0.2, 0.3, 0.5], 2)),
    ("prior must have a probability for each of 1 truths", lambda: entropy(1.0)),
    ("prior must be between 0 and 1", lambda: as_prior([1.5, -0.5], 2)),
    ("prior must be between 0 and 1", lambda: as_prior([nan, 1], 2)),
    ("prior must sum to 1; the sum is 1.00000001", lambda: as_prior([HALF, [0.5, 0.50000001]], 2)),
    (r"prior must come in a stack that fits .*\(3,\)", lambda: mutual_information([COIN] * 3, [HALF] * 2)),
    ("score must be a finite number for each guess", lambda: adversary_accuracy(COIN, HALF, [[1, 0, 0]])),
    ("score must be a finite number for each guess", lambda: adversary_accuracy(COIN, HALF, [[nan, 0]])),
    ("score must be a finite number for each guess", lambda: adversary_accuracy(COIN, HALF, [1, 0])),
    ("score must be a finite number for each guess", lambda: adversary_accuracy(COIN, HALF, np.zeros((0, 2)))),
    ("truths must be a whole number from 0 to 1", lambda: worst_breach(COIN, HALF, [2])),
    ("truths must be at least one, and different", lambda: worst_breach(COIN, HALF, [1, 1])),
    ("truths must be a whole number", lambda: worst_breach(COIN, HALF, [True])),
    ("truths must be at least one", lambda: worst_breach(COIN, HALF, [])),
    ("before and after must be between 0 and 1, the first not larger", lambda: amplification(0.5, 0.05)),
    ("before and after must be between 0 and 1", lambda: amplification(0.5, 1)),
    ("before must be between 0 and 1", lambda: largest_posterior(1.5, 3)),
    ("gamma must be at least 1 : 1", lambda: largest_posterior(0.5, 0.5)),
    ("gamma must be at least 1 : 1", lambda: largest_prior(0.5, 0.5)),
    ("p must be between 0 and 1", lambda: basic_privacy(1.2, 0.9, 0.01)),
    ("q must be between 0 and 1", lambda: basic_privacy(0.5, nan, 0.01)),
    ("supports must not all be 0", lambda: basic_privacy(0.5, 0.9, [0, 0])),
    ("p, q and supports must be one number each or one for each item", lambda: basic_privacy([0.5] * 3, 0.9, HALF)),
    ("truths must be a table of zeros and ones", lambda: reinterrogation_privacy([[2]], [[1]], [], 0.9)),
    ("reports must be a table of zeros and ones", lambda: reinterrogation_privacy([[1]], [1], [], 0.9)),
    (r"reports must have the shape of the truths", lambda: reinterrogation_privacy([[1]], [[1, 0]], [], 0.9)),
    ("truths must hold a one to protect", lambda: reinterrogation_privacy([[0]], [[1]], [], 0.9)),
    ("itemsets must be a whole number from 0 to 0", lambda: reinterrogation_privacy([[1]], [[1]], [[1]], 0.9)),
    ("itemsets must have at least one item each", lambda: reinterrogation_privacy([[1]], [[1]], [[]], 0.9)),
    ("basic must be between 0 and 1", lambda: reinterrogation_privacy([[1]], [[1]], [], 92.5)),
    ("evidence must be probabilities of evidence by truths", lambda: privacy_given(HALF)),
    ("evidence must be probabilities of evidence by truths", lambda: privacy_given([[1.5, -0.5]])),
    ("evidence must sum to 1", lambda: privacy_given([[0.5, 0.6]])),
    ("sizes must have 2 joint cells", lambda: privacy_after_mining(COIN, HALF, (2, 2), 0)),
    ("entry must be a whole number from 0 to 0", lambda: privacy_after_mining(COIN, HALF, (2,), 1)),
    ("known must be indices of other attributes", lambda: privacy_after_mining(COIN, HALF, (2,), 0, [0])),
    ("known must be indices of other attributes", lambda: privacy_after_mining(COIN, HALF, (2,), 0, [1])),
    ("known must leave an entry to protect", lambda: group_privacy(COIN, HALF, (2,), [0])),
    ("confidence must be between 0 and 1", lambda: recoverability_known(HALF, [[1.5, 0], [0, 0]])),
    ("confidence must be between 0 and 1", lambda: recoverability_unknown(HALF, HALF)),
    ("precondition must be 2 probabilities", lambda: recoverability_known([1.0], COIN)),
    ("correct must be 2 probabilities", lambda: recoverability_unknown(COIN, [2.0, 0.5])),
    ("recoverability must be finite, one for each set of rules", lambda: literal_privacy(0.3, [])),
    ("recoverability must be finite", lambda: literal_privacy(0.3, 0.2)),
    ("recoverability must be finite", lambda: literal_privacy(0.3, [nan])),
    ("cells must be a whole number of at least 2", lambda: posterior_range(0.05, 19, 1)),
    ("cells must be a whole number of at least 2", lambda: posterior_range(0.05, 19, True)),
    ("before must be between 0 and 1, both excluded", lambda: posterior_range(0, 19, 5)),
    ("alpha must be between 0 and 1", lambda: posterior_range(0.05, 19, 5, 2)),
    ("shift must be between .* where it leaves probabilities", lambda: private_posterior(0.05, 19, 5, [0, 0.9])),
    ("posterior must be between 0 and 1", lambda: share_below(1.5, 0.05, 19, 5)),
    ("alpha must not be 0, where every client has the same matrix", lambda: share_below(0.5, 0.05, 19, 5, 0)),
    ("axis must be one of 1, with a prior for each", lambda: column_matrix(KeepOrUniform((2,), 0), 1, [HALF])),
    ("axis must be one of 1, with a prior for each", lambda: column_matrix(KeepOrUniform((2,), 0), 0, [])),
    ("channel must have at most 16777216 entries", lambda: column_matrix(KeepOrUniform((9999,), 0), 0, [[1]])),
]


@pytest.mark.parametrize(("message", "call"), CASES)
def test_refused(message, call):
    with pytest.raises(SottovoceError, match=rf"^{message}.* instead\.$"):
        call()


def test_a_prior_within_tolerance_is_put_right():
    law = as_prior([0.5, 0.5 + 5e-10], 2)
    assert law.sum() == pytest.approx(1, abs=1e-15)
