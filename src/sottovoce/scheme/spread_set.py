"""Sets whose translates tell all cells apart alike, so that one cell as the report stands for a whole set."""

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from math import ceil, prod

import numpy as np
from numpy.typing import NDArray

from sottovoce.mechanism.listed import Listed
from sottovoce.schema.cells import ravel, unravel

MOST_CELLS = 128
"""Joint cells for which a set is searched; of more, the matrix would make plans too long."""

SMALL = 0.05
"""Keeps the search going while some difference between cells cannot be seen at all."""


def spread_set(sizes: Sequence[int], odds: Fraction) -> tuple[int, ...]:
    """Find a set D of joint cells for the channel `P(y | x) ~ odds if x - y in D else 1`.

    Differences are taken attribute by attribute, modulo its size. Of the contrasts of uniform truths such a report
    tells `(a - b)^2 |D(chi)|^2`, D(chi) the Fourier transform of the set, a and b the two entries; D makes the harmonic
    mean over all contrasts large. For a difference set it equals that of subset selection with as many cells,
    the best there is (M. Ye & A. Barg 2018, IEEE Trans. Inf. Theory 64, 5662-5676; H.-Y. Park, S.-H. Nam & S.-H. Lee
    2023, arXiv 2305.04261). The set (0,) is the gamma-diagonal matrix. The search grows a set cell by cell and
    swaps cells while that helps.

    >>> spread_set((7,), Fraction(2))
    (0, 1, 3)
    >>> spread_set((4,), Fraction(3))
    (0,)
    """
    return _searched(tuple(sizes), odds)


def translated(sizes: Sequence[int], members: Sequence[int], odds: Fraction) -> Listed:
    """Mechanism that reports y with `odds` for those truths x for which x - y is one of the members, else with 1."""
    cells = prod(sizes)
    columns = unravel(np.arange(cells), sizes)
    steps = [(c[None, :].astype(np.int64) - c[:, None]) % size for c, size in zip(columns, sizes, strict=True)]
    inside = np.isin(ravel([step.ravel() for step in steps], sizes), members).reshape(cells, cells)
    rest = 1 / (len(members) * odds + cells - len(members))
    return Listed.near(sizes, [[odds * rest if here else rest for here in row] for row in inside.tolist()])


@cache
def _searched(sizes: tuple[int, ...], odds: Fraction) -> tuple[int, ...]:
    cells, gamma = prod(sizes), float(odds)
    waves = np.fft.fftn(np.eye(cells).reshape(*sizes, cells), axes=range(len(sizes))).reshape(cells, cells)[1:]
    members, best = [0], (_told(waves, [0], gamma), [0])
    for _ in range(min(cells // 2, 2 * ceil(cells / (gamma + 1)) + 2) - 1):
        grown = _scores(waves[:, members].sum(axis=1)[:, None] + waves)
        grown[members] = np.inf
        members = _swapped(waves, [*members, int(grown.argmin())])
        told = _told(waves, members, gamma)
        if told > best[0] * (1 + 1e-9):
            best = told, sorted(members)
    return tuple(best[1])


def _swapped(waves: NDArray[np.complex128], members: list[int]) -> list[int]:
    """Put another cell in the place of a member while that spreads the set better."""
    score = float(_scores(waves[:, members].sum(axis=1)[:, None])[0])
    while True:
        total = waves[:, members].sum(axis=1)
        others = np.array([_scores((total - waves[:, member])[:, None] + waves) for member in members])
        others[:, members] = np.inf
        place, cell = np.unravel_index(others.argmin(), others.shape)
        if others[place, cell] >= score:
            return members
        score = float(others[place, cell])
        members = [*members[:place], *members[place + 1 :], int(cell)]


def _scores(transforms: NDArray[np.complex128]) -> NDArray[np.float64]:
    """Mean of inverse squares of each column, rounded so that ties are ties on every machine."""
    return np.asarray(np.round(np.mean(1 / (np.abs(transforms) ** 2 + SMALL), axis=0), 9))


def _told(waves: NDArray[np.complex128], members: list[int], gamma: float) -> float:
    """Harmonic mean over the contrasts of what a report tells of them."""
    squares = np.abs(waves[:, members].sum(axis=1)) ** 2
    difference = (gamma - 1) / (len(members) * gamma + len(waves) + 1 - len(members))
    return float(difference**2 / np.mean(1 / np.maximum(squares, 1e-12)))
