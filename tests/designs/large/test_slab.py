"""Moments by roots of unity against all sets."""

import numpy as np
import pytest

from sottovoce.designs.large.set_distribution import conditional_poisson


@pytest.mark.parametrize(
    ("lengths", "size"), [([1] * 6, 1), ([1] * 6, 3), ([1] * 6, 5), ([1, 2, 3, 1, 2, 3], 5), ([1, 7, 1, 1, 1, 1], 4)]
)
@pytest.mark.parametrize("spread", [0.0, 1.0, 4.0])
def test_moments_are_those_of_all_sets(all_sets, lengths, size, spread):
    logs = spread * np.random.default_rng(4).normal(size=6)
    sets = all_sets(6)[all_sets(6) @ np.array(lengths) == size]
    weights = np.exp(sets @ logs)
    law = conditional_poisson(logs, np.array(lengths, float), size)
    assert law.inclusion == pytest.approx(weights @ sets / weights.sum(), abs=1e-12)
    assert law.pairs == pytest.approx(sets.T @ (weights[:, None] * sets) / weights.sum(), abs=1e-12)
    assert law.log_total == pytest.approx(np.log(weights.sum()), abs=1e-9)
