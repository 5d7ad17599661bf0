"""Supports of itemsets: the error equals brute force over all cells, and the thesis' table."""

from math import comb, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.channels.channel import kron
from sottovoce.errors import SottovoceError
from sottovoce.measures.itemset_error import ones_channel, support_error
from sottovoce.measures.utility import estimate_covariance

ONES = st.floats(0.55, 1)
ZEROS = st.floats(0.55, 1)


def ones_in(items: int) -> np.ndarray:
    return np.array([cell.bit_count() for cell in range(2**items)])


@given(ONES, ZEROS, st.integers(1, 5), st.integers(0, 2**32), st.sampled_from(["table", "population"]))
def test_error_is_that_of_inverting_all_cells(p, q, items, seed, target):
    """The covariance over the 2^n joint cells, each a product of bits: its last entry is the support's."""
    cells = np.random.default_rng(seed).dirichlet(np.ones(2**items))
    channel = kron([np.array([[q, 1 - p], [1 - q, p]])] * items)
    variance = estimate_covariance(channel, cells, 1000, target)[-1, -1]
    ones = np.bincount(ones_in(items), weights=cells)
    found = support_error(p, q, ones, 1000, target)
    assert (found * cells[-1]) ** 2 == pytest.approx(variance, rel=1e-6, abs=1e-15)


@given(ONES, ZEROS, st.integers(1, 5))
def test_ones_channel_is_the_cells_channel_summed(p, q, items):
    channel = kron([np.array([[q, 1 - p], [1 - q, p]])] * items)
    count = ones_in(items)
    first = [int(np.flatnonzero(count == j)[0]) for j in range(items + 1)]
    expected = np.array([[channel[count == i, cell].sum() for cell in first] for i in range(items + 1)])
    np.testing.assert_allclose(ones_channel(p, q, items), expected, atol=1e-14)


@given(ONES, ZEROS, st.integers(1, 6))
def test_ones_channel_is_equation_3_4(p, q, n):
    printed = [
        [
            sum(
                comb(j, k) * p**k * (1 - p) ** (j - k) * comb(n - j, i - k) * q ** (n - j - i + k) * (1 - q) ** (i - k)
                for k in range(max(0, i + j - n), min(i, j) + 1)
            )
            for j in range(n + 1)
        ]
        for i in range(n + 1)
    ]
    np.testing.assert_allclose(ones_channel(p, q, n), printed, atol=1e-14)


@pytest.mark.parametrize("target", ["table", "population"])
def test_error_is_that_of_inverting_the_ones(target):
    """The same estimate from n + 1 counts: the last entry of the covariance through `ones_channel`."""
    ones = np.array([0.7, 0.15, 0.1, 0.05])
    variance = estimate_covariance(ones_channel(0.8, 0.9, 3), ones, 400, target)[-1, -1]
    assert support_error(0.8, 0.9, ones, 400, target) == pytest.approx(sqrt(variance) / 0.05)


@pytest.mark.parametrize(
    ("p", "q", "support", "respondents", "published"),
    [
        (0.5051, 0.9696, 0.01, 1e6, 0.0375),
        (0.5673, 0.9877, 0.005, 6e5, 0.0537),
        (0.5350, 0.9958, 0.0015, 3_875_600, 0.0431),
    ],
    ids=["synthetic", "BMS-WebView-1", "BMS-WebView-2"],
)
def test_table_3_1_of_the_thesis(p, q, support, respondents, published):
    """Errors attained in Agrawal 2004, table 3.1; the settings of s and N are those of PAPERS.md."""
    assert support_error(p, q, [1 - support, support], respondents, "table") == pytest.approx(published, abs=2e-4)


def test_stacks_of_designs_and_of_itemsets():
    p, q = np.array([[0.6], [0.9]]), np.array([0.7, 0.8, 0.95])
    ones = np.array([0.5, 0.3, 0.2])
    errors, channels = support_error(p, q, ones, 100), ones_channel(p, q, 2)
    assert channels.shape == (2, 3, 3, 3)
    for i, j in np.ndindex(2, 3):
        assert errors[i, j] == pytest.approx(support_error(p[i, 0], q[j], ones, 100))
        np.testing.assert_allclose(channels[i, j], ones_channel(p[i, 0], q[j], 2))
    several = support_error(0.8, 0.9, [ones, ones[::-1]], 100)
    assert several[1] == pytest.approx(support_error(0.8, 0.9, ones[::-1], 100))


def test_the_error_of_a_simulated_table():
    """2,000 disguises of one table of 300: within 8 %, 5 Monte-Carlo errors of 1.6 %."""
    rng = np.random.default_rng(4)
    truth = rng.random((300, 2)) < 0.5
    ones = np.bincount(truth.sum(axis=1), minlength=3) / 300
    p, q = 0.8, 0.9
    reports = rng.random((2000, 300, 2)) < np.where(truth, p, 1 - q)
    counts = np.array([np.bincount(seen, minlength=3) for seen in reports.sum(axis=2)])
    supports = np.linalg.solve(ones_channel(p, q, 2), counts.T / 300)[-1]
    assert supports.mean() == pytest.approx(ones[-1], abs=5 * supports.std() / sqrt(2000))
    assert support_error(p, q, ones, 300, "table") == pytest.approx(supports.std() / ones[-1], rel=0.08)


def test_kept_bits_leave_no_error():
    """Ones that are always kept, in a table of nothing else: zero up to rounding, never the root of less."""
    assert support_error(1, 1, [0.3, 0.3, 0.4], 10, "table") == 0
    np.testing.assert_allclose(support_error(1, np.linspace(0.5, 1, 101), [0, 0, 1], 10, "table"), 0, atol=1e-7)


@pytest.mark.parametrize(
    ("parameter", "call"),
    [
        ("p", lambda: support_error(1.2, 0.9, [0.9, 0.1], 10)),
        ("p", lambda: support_error(0.3, 0.7, [0.9, 0.1], 10)),
        ("q", lambda: ones_channel(0.9, [0.5, -0.1], 2)),
        ("q", lambda: ones_channel(0.9, "half", 2)),
        ("items", lambda: ones_channel(0.9, 0.9, 0)),
        ("items", lambda: ones_channel(0.9, 0.9, True)),
        ("items", lambda: ones_channel(0.9, 0.9, 61)),
        ("ones", lambda: support_error(0.9, 0.9, [1.0, 0.0], 10)),
        ("ones", lambda: support_error(0.9, 0.9, [0.9, 0.2], 10)),
        ("ones", lambda: support_error(0.9, 0.9, [1.1, -0.1], 10)),
        ("ones", lambda: support_error(0.9, 0.9, 0.1, 10)),
        ("ones", lambda: support_error(0.9, 0.9, [1.0], 10)),
        ("respondents", lambda: support_error(0.9, 0.9, [0.9, 0.1], -1)),
        ("target", lambda: support_error(0.9, 0.9, [0.9, 0.1], 10, "both")),
    ],
)
def test_bad_input_is_refused(parameter, call):
    with pytest.raises(SottovoceError, match=rf"^{parameter} must .*\. Got .* instead\.$"):
        call()
