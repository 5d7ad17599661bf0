"""The swarm's operators as laws, and its front against sweeps and the certified optimum."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.designs.certified import information_front
from sottovoce.designs.front import hypervolume, non_dominated
from sottovoce.designs.mopso import Settings, Swarm, bounded, mopso_front
from sottovoce.designs.requirement import named_prior
from sottovoce.errors import SottovoceError
from sottovoce.measures.privacy import mutual_information
from sottovoce.measures.utility import distortion

SMALL = Settings(particles=20, repository=15, archive=12, generations=25, grids=5)
PRIOR = np.array([0.5, 0.25, 0.15, 0.1])


def swarm(settings: Settings = SMALL, seed: int = 1, odds: float = 4.0, prior=PRIOR) -> Swarm:
    return Swarm(prior, odds, settings, np.random.default_rng(seed))


def keeps(matrices, odds: float) -> bool:
    stochastic = np.allclose(matrices.sum(axis=-2), 1, atol=1e-9)
    rows = matrices.max(axis=-1) <= odds * matrices.min(axis=-1) * (1 + 1e-9)
    return bool(stochastic and (matrices > 0).all() and rows.all())


def test_table_2():
    """Gao et al. (2018), Table 2."""
    table = Settings()
    assert (table.particles, table.repository, table.archive, table.generations) == (100, 200, 200, 200)
    assert (table.mutation_share, table.inertia, table.pull, table.grids) == (1 / 3, 0.4, 2, 20)


@given(st.integers(0, 2**32 - 1), st.floats(1.01, 50), st.sampled_from(["random", "frapp"]))
def test_every_particle_always_keeps_the_odds_in_rows(seed, odds, start):
    settings = Settings(particles=6, repository=5, archive=4, generations=1, grids=3, start=start)
    one = swarm(settings, seed, odds)
    for _ in range(4):
        one.step()
        for matrices in (one.positions, one.best, one.archive):
            assert keeps(matrices, odds)
        assert len(one.best) <= 5
        assert len(one.archive) <= 4
        assert non_dominated(one.best_losses).all()


@given(st.integers(0, 2**32 - 1), st.floats(1.01, 50))
def test_bounding_keeps_the_odds_and_leaves_alone_what_keeps_them(seed, odds):
    rng = np.random.default_rng(seed)
    wild = rng.dirichlet(np.full(4, 0.3), (5, 4)).transpose(0, 2, 1) + 1e-12
    kept = bounded(wild / wild.sum(axis=1, keepdims=True), PRIOR, odds)
    assert keeps(kept, odds)
    assert np.allclose(bounded(kept, PRIOR, odds), kept, atol=1e-9)


def test_bounding_the_truth_gives_frapp():
    """The gamma-diagonal matrix: gamma on the diagonal, 1 elsewhere, over gamma + n - 1."""
    assert bounded(np.eye(4)[None], PRIOR, 4.0)[0] == pytest.approx((np.ones((4, 4)) + 3 * np.eye(4)) / 7)


def test_a_step_copies_the_guide_where_the_velocity_is_positive():
    """ReLU, AND with the guide, replacement and normalisation, (32)-(35), by hand with one guide."""
    settings = Settings(particles=1, repository=1, archive=1, generations=1, inertia=0, start="frapp")
    one = swarm(settings, odds=1e6)  # so large that nothing has to be bounded
    guide = np.array([[0.7, 0.2, 0.25, 0.1], [0.1, 0.4, 0.25, 0.2], [0.1, 0.2, 0.25, 0.3], [0.1, 0.2, 0.25, 0.4]])
    place = np.full((4, 4), 0.25)
    one.best, one.best_losses = guide[None], np.zeros((1, 2))  # nobody beats it
    one.positions = one._personal_best = place[None].copy()
    one.step()
    copied = np.where(guide > place, guide, place)
    assert one.positions[0] == pytest.approx(copied / copied.sum(axis=0))


def test_guides_come_from_sparse_cubes():
    one = swarm()
    one.best = np.zeros((10, 4, 4))
    one.best_losses = np.array([[0.0, 1.0]] * 9 + [[1.0, 0.0]])
    chosen = one._leaders(4000)
    assert np.mean(chosen == 9) == pytest.approx(0.9, abs=0.02)  # cubes by 1 / crowd: 1 against 1/9


def test_the_crowded_move_to_the_archive():
    one = swarm(Settings(particles=2, repository=2, archive=5, generations=1))
    matrices = np.stack([np.full((4, 4), share) for share in (0.0, 1.0, 1.1, 3.0)])
    one.best, one.best_losses, one.archive = matrices[:0], np.zeros((0, 2)), matrices[:0]
    one._keep_best(matrices, np.array([[0.0, 3], [1, 2], [2, 1], [3, 0]]))
    assert sorted(one.best[:, 0, 0]) == [0.0, 3.0]  # (36): farthest from all others
    assert sorted(one.archive[:, 0, 0]) == [1.0, 1.1]


@given(st.integers(0, 2**32 - 1))
def test_mutants_change_a_third_or_two_thirds_of_their_columns(seed):
    one = swarm(Settings(particles=5, repository=5, archive=9, generations=1), seed, odds=1e9, prior=np.full(6, 1 / 6))
    one.archive = np.tile(np.full((6, 6), 1 / 6), (9, 1, 1))
    one.best = np.stack([np.eye(6) * 0.88 + 0.02])
    one.best_losses = np.zeros((1, 2))
    changed = (~np.isclose(one._mutated(), 1 / 6, atol=1e-6).all(axis=1)).sum(axis=1)
    assert set(changed) <= {2, 4}


def test_an_empty_archive_has_no_mutants():
    one = swarm()
    one.archive = one.archive[:0]
    assert len(one._mutated()) == 0
    assert one._losses_of(one.archive).shape == (0, 2)


def test_a_seed_decides_everything_and_losses_are_the_measures():
    one, again = swarm(), swarm()
    calls = []
    one.run(lambda done, total: calls.append((done, total)))
    again.run()
    matrices, losses = one.front()
    assert np.array_equal(matrices, again.front()[0])
    assert calls[-1] == (25, 25)
    assert losses[:, 0] == pytest.approx(mutual_information(matrices, PRIOR))
    assert losses[:, 1] == pytest.approx(distortion(matrices, PRIOR))
    assert non_dominated(losses).all()


def test_it_stops_when_nobody_enters_the_repository():
    one = swarm(Settings(particles=2, repository=2, archive=2, generations=10_000, patience=3), odds=1.0)
    calls = []
    one.run(lambda done, _: calls.append(done))
    assert one.stagnation == 3  # at odds 1 : 1 every report ignores the truth
    assert calls[-1] < 10_000


@pytest.mark.parametrize("name", ["particles", "repository", "archive", "generations", "grids", "patience"])
def test_swarms_of_nobody_are_refused(name):
    with pytest.raises(SottovoceError, match=f"{name} must be a positive whole number. Got 0"):
        Settings(**{name: 0})


def test_other_settings_are_checked():
    with pytest.raises(SottovoceError, match="mutation_share must be from 0 to 1"):
        Settings(mutation_share=-0.1)
    with pytest.raises(SottovoceError, match="start must be one of random, frapp"):
        Settings(start="warm")
    with pytest.raises(SottovoceError, match="odds or epsilon must be given"):
        mopso_front(PRIOR, 1000)


def test_its_front_is_exact_and_beaten_by_the_certified_one():
    front = mopso_front(PRIOR, 1000, epsilon=1, settings=SMALL, seed=1)
    assert front.name == "MOPSO"
    assert max(point["epsilon"] for point in front) <= 1
    useful = [point for point in front if point["distortion"] < 0.5]  # from there on one report is enough
    assert len(useful) >= 5
    best = information_front(PRIOR, 1000, epsilon=1, distortions=[point["distortion"] for point in useful])
    for point, bound in zip(useful, best, strict=True):
        assert point["mutual_information"] >= bound.lower_bound - 1e-9


@pytest.mark.slow
@pytest.mark.parametrize(("name", "least"), [("gamma", 0.6), ("beta", 0.75), ("uniform", 0.9)])
def test_a_random_start_reaches_low_distortion(name, least):
    """Table 2's settings at n = 8, epsilon 2, against the certified front between its ends."""
    prior = named_prior(name, 8)
    one = Swarm(prior, np.exp(2), Settings(), np.random.default_rng(1))
    one.run()
    best = information_front(prior, 1000, epsilon=2, distortions=40).losses()
    reference = np.array([1.2 * best[:, 0].max(), best[:, 1].max()])
    assert hypervolume(one.front()[1], reference) >= least * hypervolume(best, reference)
    truth_kept = np.exp(2) / (np.exp(2) + 7)  # FRAPP's least distortion is one minus that
    assert one.front()[1][:, 1].min() <= 1 - truth_kept + 0.01
