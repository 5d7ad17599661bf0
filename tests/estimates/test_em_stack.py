"""Many likelihoods at once are the same as one after the other."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.channels.dense import Dense
from sottovoce.errors import SottovoceError
from sottovoce.estimates.likelihood import em, em_stack


@pytest.mark.slow
@settings(max_examples=40)  # five likelihoods each
@given(st.integers(0, 2**32 - 1), st.integers(2, 4), st.integers(0, 2))
def test_each_is_as_likely_as_em_finds_it(seed, truths, more):
    """Compared by likelihood: a channel that hardly tells truths apart leaves the distribution open."""
    rng = np.random.default_rng(seed)
    whole = rng.multinomial(97, np.full(truths + more, 1 / (truths + more)), (5, truths)).transpose(0, 2, 1)
    counts = rng.multinomial(200, rng.dirichlet(np.ones(truths + more)), 5)
    possible = (whole.sum(axis=2) > 0) | (counts == 0)
    whole, counts = whole[possible.all(axis=1)], counts[possible.all(axis=1)]
    if not len(whole):
        return
    found = em_stack(whole / 97, counts)
    assert found.sum(axis=1) == pytest.approx(np.ones(len(found)))
    assert found.min() >= 0
    for matrix, reports, value in zip(whole, counts, found, strict=True):
        best = em(Dense(matrix.tolist(), 97), reports)
        expected = matrix / 97 @ value
        reached = float((reports[reports > 0] * np.log(expected[reports > 0])).sum())
        assert reached == pytest.approx(best.log_likelihood, abs=1e-5)


def test_steps_may_run_out():
    """From the uniform start one leap towards (1, 0) gets some of the way."""
    (found,) = em_stack([[[0.6, 0.4], [0.4, 0.6]]], [[100, 0]], most_steps=1)
    assert 0.5 < found[0] < 1


@pytest.mark.parametrize(
    ("matrices", "counts"),
    [
        ([[0.5, 0.5], [0.5, 0.5]], [1, 1]),
        ([[[0.5, 0.5], [0.5, 0.5]]], [[1, 1], [1, 1]]),
        ([[[0.5, 0.5], [0.5, 0.5]]], [[0, 0]]),
    ],
)
def test_counts_must_belong_to_the_matrices(matrices, counts):
    with pytest.raises(SottovoceError, match="counts must be some reports for each of"):
        em_stack(matrices, counts)
