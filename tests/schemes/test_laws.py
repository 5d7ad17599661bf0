"""Properties that all schemes share, tested on every case of every scheme that is discovered."""

import re
from copy import deepcopy
from dataclasses import FrozenInstanceError
from fractions import Fraction
from itertools import product
from math import prod

import numpy as np
import pytest
from scipy.stats import chisquare

from sottovoce.errors import SottovoceError
from sottovoce.mechanisms.coins import flip, random_words
from sottovoce.mechanisms.mechanism import Mechanism, mechanism_from_json
from sottovoce.plans.document import plan_from_text, plan_to_text
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Attribute, ravel, unravel
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.scheme import Scheme, all_schemes

CASES = [
    pytest.param(case, id=f"{name}-{number}")
    for name, found in all_schemes().items()
    for number, case in enumerate(found.cases())
]
REFUSED = [
    pytest.param(found, parameter, bad, id=f"{name}-{parameter}-{number}")
    for name, found in all_schemes().items()
    for number, (parameter, bad) in enumerate(found.refused())
]
DRAWS = 20_000


def ways_to_fall(case: tuple[Scheme, tuple[int, ...]]) -> int:
    return prod(coin.sides for coin in case[0].mechanism(case[1]).coins)


FEW_WAYS = [param for param in CASES if ways_to_fall(param.values[0]) <= 100_000]
"""Cases whose coins can be enumerated; the others have the chi-square test only."""


@pytest.fixture(params=CASES)
def case(request) -> tuple[Scheme, tuple[int, ...]]:
    return request.param


@pytest.fixture
def mechanism(case) -> Mechanism:
    scheme, sizes = case
    return scheme.mechanism(sizes)


def respond(mechanism: Mechanism, truth: int, flips) -> np.ndarray:
    """Joint report codes of one truth, repeated for every flip."""
    rows = len(flips[0])
    columns = unravel(np.full(rows, truth), mechanism.sizes)
    return ravel(mechanism.respond(columns, flips), mechanism.channel.shape_out)


def test_every_scheme_says_what_it_is():
    for name, found in all_schemes().items():
        assert name == name.lower()
        assert any(character.isdigit() for character in found.citation), f"{name} cites no year"
        assert ">>>" in (found.__doc__ or ""), f"{name} has no runnable example"
        assert re.search(r"odds|deniable", found.__doc__ or ""), f"{name} does not say its odds"
        assert list(found.cases()), f"{name} has no cases"
        assert list(found.refused()), f"{name} refuses nothing"


def test_columns_sum_to_one_exactly(mechanism):
    channel = mechanism.channel
    for truth in range(min(channel.n_in, 50)):
        assert sum(channel.entry(y, truth) for y in range(channel.n_out)) == 1


@pytest.mark.parametrize("case", FEW_WAYS)
def test_reports_follow_the_channel_coin_by_coin(case):
    """Where the coins are small, count every way they can fall: frequencies equal the matrix exactly."""
    mechanism = case[0].mechanism(case[1])
    channel, sides = mechanism.channel, [coin.sides for coin in mechanism.coins]
    ways = prod(sides)
    flips = tuple(np.array(column, np.uint64) for column in zip(*product(*map(range, sides)), strict=True))
    for truth in range(channel.n_in):
        counts = np.bincount(respond(mechanism, truth, flips), minlength=channel.n_out)
        assert [Fraction(int(c), ways) for c in counts] == [channel.entry(y, truth) for y in range(channel.n_out)]


def test_sampled_reports_fit_the_channel(mechanism):
    """Chi-square for every truth, 20,000 seeded draws; at 1e-6 a sound scheme fails once in 10,000 columns."""
    channel, words = mechanism.channel, random_words(11)
    for truth in range(min(channel.n_in, 12)):
        counts = np.bincount(respond(mechanism, truth, flip(mechanism.coins, DRAWS, words)), minlength=channel.n_out)
        expected = channel.column(truth)
        possible = expected > 0
        assert counts[~possible].sum() == 0
        if possible.sum() > 1:
            assert chisquare(counts[possible], DRAWS * expected[possible]).pvalue > 1e-6


def test_mechanisms_survive_json(mechanism):
    assert mechanism_from_json(mechanism.sizes, mechanism.to_json()) == mechanism


def test_plans_survive_json(case):
    scheme, sizes = case
    schema = Schema(Attribute(f"q{i}", range(size)) for i, size in enumerate(sizes))
    plan = Plan.of(schema, {schema.names: scheme})
    assert plan.report_schema.sizes == scheme.mechanism(sizes).channel.shape_out
    text = plan_to_text(plan)
    assert plan_from_text(text) == plan
    assert plan_to_text(plan_from_text(text)) == text


def test_stated_odds_are_those_of_the_matrix(mechanism):
    channel = mechanism.channel
    rows = [[channel.entry(y, x) for x in range(channel.n_in)] for y in range(channel.n_out)]
    rows = [row for row in rows if max(row) > 0]
    deniable = all(min(row) > 0 for row in rows)
    assert channel.odds == (max(max(row) / min(row) for row in rows) if deniable else None)


def test_schemes_are_frozen_values(case):
    scheme, sizes = case
    assert deepcopy(scheme) == scheme
    assert scheme.mechanism(sizes) == scheme.mechanism(sizes)
    with pytest.raises(FrozenInstanceError):
        scheme.name = "other"


@pytest.mark.parametrize(("found", "parameter", "bad"), REFUSED)
def test_bad_parameters_are_refused_by_name(found, parameter, bad):
    with pytest.raises(SottovoceError, match=rf"^{parameter}.* must .*\. Got .* instead\.$"):
        found(**bad)
