"""A million secret answers on one core, from secure words to estimates; joint records; and without numba.

Peers are used as their documentation shows: one call a value, then their aggregator. Theirs is the
generalized randomized response, ours the same channel with exact coins from a secure stream. Ours takes codes, as the
peers do; one row is the calls of a user, `sv.disguise` and `Reports.estimate` on a pandas frame.
"""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd

import sottovoce as sv
from benchmarks.measure import Row, best_seconds
from sottovoce.counts.counter import count_cells
from sottovoce.disguises.records import disguise_codes
from sottovoce.mechanisms.bulk import kernels
from sottovoce.mechanisms.coins import random_words
from sottovoce.plans.budget import new_plan
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Attribute, Codes, Columns
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.gamma_diagonal import GammaDiagonal

VALUES = 10**6
EPSILON = 1.0
SEVEN = (5, 5, 5, 3, 2, 2, 5)
"""Seven attributes with 7,500 joint cells, about as many as gamma-diagonal matrices were published for."""

Estimator = Callable[[], Any]


def rows() -> list[Row]:
    """Disguise, count and estimate: against both peers, over joint records, and in numpy alone."""
    with one_core():
        return [*_categories(10), *_categories(100), _joint_records(), _without_numba(10)]


def _categories(k: int) -> list[Row]:
    codes = _truths((k,))[0]
    calls = (_ours(codes, k), multi_freq_ldpy(codes, k), pure_ldp(codes, k))
    shares = np.bincount(codes, minlength=k) / VALUES
    for call in calls:  # noise has a standard deviation of about .002 at k = 10 and .006 at k = 100
        assert np.abs(call() - shares).max() < 0.03
    ours, *peers = (_nanoseconds(seconds) for seconds in best_seconds(*calls, rounds=5))
    name = f"disguise + count, k = {k}"
    names = ("multi-freq-ldpy", "pure-ldp")
    (in_frame,) = best_seconds(_in_frame(codes, k), rounds=3)
    return [
        Row(title, peer_name, seconds, peer, "ns per value")
        for title, seconds in ((name, ours), (f"sv.disguise + estimate, pandas, k = {k}", _nanoseconds(in_frame)))
        for peer_name, peer in zip(names, peers, strict=True)
    ]


def _in_frame(codes: Codes, k: int) -> Estimator:
    plan = sv.plan(sv.Schema([sv.Attribute("answer", range(k))]), epsilon=EPSILON)
    people = pd.DataFrame({"answer": codes.astype(np.int64)})
    return lambda: sv.disguise(people, plan).estimate("answer").standard_error


def _joint_records() -> Row:
    truths = _truths(SEVEN)
    schema = Schema(Attribute(f"q{number}", range(size)) for number, size in enumerate(SEVEN))
    plan = Plan.of(schema, {schema.names: GammaDiagonal(gamma=19)})
    ours, plain = best_seconds(
        lambda: count_cells(disguise_codes(truths, plan, random_words()), SEVEN), lambda: _joint_in_numpy(truths, 19)
    )
    name = "disguise + count, 7 attributes jointly"
    return Row(
        f"{name}; the peer's coins are not secure", "numpy", _nanoseconds(ours), _nanoseconds(plain), "ns per record"
    )


def _without_numba(k: int) -> Row:
    ours = _ours(_truths((k,))[0], k)
    with patch.dict(sys.modules, {"numba": None}):
        kernels.cache_clear()
        (seconds,) = best_seconds(ours)
    kernels.cache_clear()
    return Row(f"disguise + count, k = {k}, without numba", None, _nanoseconds(seconds), None, "ns per value")


def _ours(codes: Codes, k: int) -> Estimator:
    plan = new_plan(Schema([Attribute("answer", range(k))]), epsilon=EPSILON)

    def estimate() -> Any:
        counts = count_cells(disguise_codes([codes], plan, random_words()), (k,))
        return plan.channel().solve(counts / VALUES)

    return estimate


def multi_freq_ldpy(codes: Codes, k: int) -> Estimator:
    """Estimate by multi-freq-ldpy, one call for each value."""
    protocol = import_module("multi_freq_ldpy.pure_frequency_oracles.GRR")
    values = codes.tolist()

    def estimate() -> Any:
        reports = [protocol.GRR_Client(value, k, EPSILON) for value in values]
        return protocol.GRR_Aggregator_MI(reports, k, EPSILON)

    return estimate


def pure_ldp(codes: Codes, k: int) -> Estimator:
    """Estimate by pure-ldp, one call for each value."""
    protocol = import_module("pure_ldp.frequency_oracles.direct_encoding")
    values = (codes + 1).tolist()  # its categories are numbered from one

    def estimate() -> Any:
        client, server = protocol.DEClient(epsilon=EPSILON, d=k), protocol.DEServer(epsilon=EPSILON, d=k)
        for value in values:
            server.aggregate(client.privatise(value))
        return np.array([server.estimate(value, suppress_warnings=True) for value in range(1, k + 1)]) / VALUES

    return estimate


def _joint_in_numpy(truths: Columns, gamma: int) -> Any:
    """What one would write in an afternoon: floating-point coins from a generator anybody can predict."""
    rng = np.random.default_rng()
    cells = int(np.prod(SEVEN))
    joint = np.ravel_multi_index(truths, SEVEN)
    lie = rng.random(VALUES) >= gamma / (gamma + cells - 1)
    joint[lie] = (joint[lie] + rng.integers(1, cells, lie.sum())) % cells
    reports = np.unravel_index(joint, SEVEN)
    return np.bincount(np.ravel_multi_index(reports, SEVEN), minlength=cells)


def _truths(sizes: tuple[int, ...]) -> Columns:
    rng = np.random.default_rng(1)
    return tuple(rng.integers(0, size, VALUES).astype(np.uint8) for size in sizes)


def _nanoseconds(seconds: float) -> float:
    return 1e9 * seconds / VALUES


@contextmanager
def one_core() -> Iterator[None]:
    """Keep this process, ours and the peers' alike, on one of its cores where the system can."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)
