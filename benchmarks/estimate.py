"""Estimating from a million reports on one core, and the bias of the estimates; twenty bits jointly.

Ours counts codes, as the peers do; one row is the call of a user, `Reports.estimate` on a pandas frame.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd

import sottovoce as sv
from benchmarks.disguise.values import one_core
from benchmarks.measure import Row, best_seconds
from sottovoce.channels.keep_or_uniform import KeepOrUniform
from sottovoce.channels.kronecker import Kronecker
from sottovoce.counts.counter import count_cells
from sottovoce.disguises.records import disguise_codes
from sottovoce.estimates.counted import Counted
from sottovoce.estimates.proportions import by_inversion
from sottovoce.mechanisms.coins import random_words
from sottovoce.plans.budget import new_plan
from sottovoce.schemas.attribute import Attribute, Codes
from sottovoce.schemas.schema import Schema

REPORTS = 10**6
K = 100
EPSILON = 1.0
RARE = 0.5
"""True share of the first category; the others share the rest."""


def rows() -> list[Row]:
    """Counting plus estimating with all variances, the peers' estimators, everyone's bias, a joint of 2^20 cells."""
    with one_core():
        return [*_times(), *_biases(), _twenty_bits()]


def _times() -> list[Row]:
    reports = _reports(REPORTS, seed=1)
    listed = reports.tolist()
    frame = sv.Reports(pd.DataFrame({"answer": reports.astype(np.int64)}), _plan())
    ours, in_frame, multi = best_seconds(
        lambda: _ours(reports),
        lambda: frame.estimate("answer").standard_error,
        lambda: _multi_freq_ldpy(listed),
        rounds=5,
    )
    (pure,) = best_seconds(lambda: _pure_ldp(listed), rounds=2)
    name = f"count + estimate with variances, k = {K}"
    return [
        Row(title, peer_name, 1e9 * seconds / REPORTS, 1e9 * peer / REPORTS, "ns per report")
        for title, seconds in ((name, ours), (f"Reports.estimate of a pandas frame, k = {K}", in_frame))
        for peer_name, peer in (("multi-freq-ldpy", multi), ("pure-ldp", pure))
    ]


def _biases() -> list[Row]:
    """Mean error of the first category over 40 disguises of 20,000 people."""
    estimators: list[Callable[[Any], Any]] = [_ours, _multi_freq_ldpy, _pure_ldp]
    errors = np.zeros(len(estimators))
    for seed in range(40):
        reports = _reports(20_000, seed)
        given = (reports, reports.tolist(), reports.tolist())
        errors += [float(estimate(r)[0]) - RARE for estimate, r in zip(estimators, given, strict=True)]
    ours, multi, pure = np.abs(errors / 40).tolist()
    name = f"bias of a true share of {RARE}, k = {K}, 20,000 reports"
    return [Row(name, peer, ours, theirs, "share") for peer, theirs in (("multi-freq-ldpy", multi), ("pure-ldp", pure))]


def _twenty_bits() -> Row:
    bits = Kronecker([KeepOrUniform((2,), "4/5")] * 20)
    counts = np.random.default_rng(2).multinomial(REPORTS, np.full(2**20, 2.0**-20))
    counted = Counted(tuple(f"q{i}" for i in range(20)), ((0, 1),) * 20, bits, counts, np.arange(2**20))
    (seconds,) = best_seconds(lambda: by_inversion(counted, "population").standard_error, rounds=5)
    return Row("joint of 20 bits, estimates and standard errors", None, seconds, None, "seconds")


def _plan() -> Any:
    return new_plan(Schema([Attribute("answer", range(K))]), epsilon=EPSILON)


def _reports(count: int, seed: int) -> Codes:
    shares = np.full(K, (1 - RARE) / (K - 1))
    shares[0] = RARE
    truths = np.random.default_rng(seed).choice(K, count, p=shares).astype(np.uint8)
    return disguise_codes([truths], _plan(), random_words(seed))[0]


def _ours(reports: Codes) -> Any:
    plan = _plan()
    counts = count_cells([reports], (K,))
    counted = Counted(("answer",), (tuple(range(K)),), plan.channel(), counts, np.arange(K))
    estimate = by_inversion(counted, "population")
    return estimate.value if len(estimate.standard_error) else None


def _multi_freq_ldpy(reports: list[int]) -> Any:
    return import_module("multi_freq_ldpy.pure_frequency_oracles.GRR").GRR_Aggregator_MI(reports, K, EPSILON)


def _pure_ldp(reports: list[int]) -> Any:
    server = import_module("pure_ldp.frequency_oracles.direct_encoding").DEServer(epsilon=EPSILON, d=K)
    for report in reports:
        server.aggregate(report)
    return np.array([server.estimate(v, suppress_warnings=True) for v in range(1, K + 1)]) / len(reports)
