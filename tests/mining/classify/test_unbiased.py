"""Functions of the report: E[h(report) | x] = f(x) for every channel of the house, which defines them."""

import numpy as np
import pytest

import sottovoce.channels
from sottovoce.channels.channel import Channel
from sottovoce.channels.dense import Dense
from sottovoce.errors import SottovoceError
from sottovoce.mechanisms.mechanism import discover
from sottovoce.mining.classify import joint_table
from sottovoce.mining.classify.joint_table import unbiased_scores

CASES = [
    case
    for kind in discover(sottovoce.channels, Channel)
    for case in kind.cases()
    if np.isfinite(case.condition_number) and case.n_in * case.n_out < 2**16
]


@pytest.mark.parametrize("channel", CASES, ids=lambda c: f"{type(c).__name__} {c.shape_in}")
def test_means_given_the_truth(channel):
    functions = np.random.default_rng(1).normal(size=(channel.n_in, 3))
    assert channel.rmatvec(unbiased_scores(channel, functions)) == pytest.approx(functions, abs=1e-6)


def test_large_inverses_are_refused(monkeypatch):
    monkeypatch.setattr(joint_table, "MOST_ENTRIES", 3)
    with pytest.raises(SottovoceError, match="must have at most 3 entries"):
        unbiased_scores(Dense([[3, 1], [1, 3]], 4), np.eye(2))
