"""Products of channels: 2^20 joint cells of twenty yes/no questions, multiplied and solved."""

from fractions import Fraction

import numpy as np
from pykronecker import KroneckerProduct

from benchmarks.measure import Row, best_seconds
from sottovoce.channels.keep_or_uniform import KeepOrUniform
from sottovoce.channels.kronecker import Kronecker

BITS = 20


def rows() -> list[Row]:
    """Time a product and a solution against pykronecker on the same vector; both must agree."""
    bit = KeepOrUniform((2,), Fraction(4, 5))
    ours = Kronecker([bit] * BITS)
    peer = KroneckerProduct([bit.dense()] * BITS)
    inverse = KroneckerProduct([np.linalg.inv(bit.dense())] * BITS)
    truth = np.random.default_rng(1).dirichlet(np.ones(2**BITS))
    reports = ours.matvec(truth)
    assert np.allclose(peer @ truth, reports, atol=1e-15)
    assert np.allclose(ours.solve(reports), truth, atol=1e-12)
    multiply = best_seconds(lambda: ours.matvec(truth), lambda: peer @ truth)
    solve = best_seconds(lambda: ours.solve(reports), lambda: inverse @ reports)
    return [
        Row("multiply 2^20 cells", "pykronecker", multiply[0], multiply[1], "seconds"),
        Row("solve 2^20 cells", "pykronecker", solve[0], solve[1], "seconds"),
    ]
