"""The chance of the best guess and its slope, against all sets and differences."""

import numpy as np
import pytest

from sottovoce.designs.large.set_measures import BestGuess


@pytest.mark.parametrize(("base", "rise"), [(1.0, 4.0), (1.0, 0.3), (0.0, 1.0)])
@pytest.mark.parametrize(("lengths", "size"), [(np.ones(7), 3), (np.array([1.0, 2, 3, 1, 1, 2, 9]), 4)])
def test_chance_is_that_of_all_sets_and_slopes_are_differences(all_sets, base, rise, lengths, size):
    rng = np.random.default_rng(2)
    lifts, logs = rng.dirichlet(np.ones(7)), rng.normal(size=7)
    guess = BestGuess.of(lifts, base, rise, (1.0, rise * lifts))
    sets = all_sets(7)[all_sets(7) @ lengths == size]
    weights = np.exp(sets @ logs)
    best = ((base + rise * sets) * lifts).max(axis=1) * (1 + rise * sets @ lifts)
    assert guess.chance(logs, lengths, size) == pytest.approx(weights @ best / weights.sum(), rel=1e-12)
    ahead, behind = (
        np.array([guess.chance(logs + d * unit, lengths, size) for unit in np.eye(7)]) for d in (1e-5, -1e-5)
    )
    chance, slopes = guess.chance_and_slopes(logs, lengths, size)
    assert chance == guess.chance(logs, lengths, size)
    assert slopes == pytest.approx((ahead - behind) / 2e-5, rel=1e-6, abs=1e-9)
