"""Synthetic market baskets after IBM's Quest generator: patterns of items, put in as a whole or in part."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.checks import whole_number
from sottovoce.datasets import _kernels
from sottovoce.errors import SottovoceError
from sottovoce.schemas.item_set import ItemSet
from sottovoce.tables.bitsets import Csr
from sottovoce.tables.parallel import kernel

Numbers = NDArray[np.int64]

BASKETS_AT_ONCE = 2**17
"""Baskets filled at once, which bounds the memory."""


def quest_transactions(
    transactions: int,
    average_length: float = 10,
    pattern_length: float = 4,
    items: int = 1000,
    *,
    patterns: int = 2000,
    correlation: float = 0.25,
    corruption: tuple[float, float] = (0.5, 0.1),
    seed: int,
) -> tuple[ItemSet, Csr]:
    """Generate market baskets in which items go together (R. Agrawal & R. Srikant 1994, Proc. VLDB, section 2.4.3).

    A pattern has `1 + Poisson(pattern_length - 1)` items. A share of them, exponential with mean `correlation`, is
    from the pattern before; the others are drawn with exponential weights of the items. Patterns have exponential
    weights, too, and a corruption level each, normal with the mean and standard deviation `corruption`: items are
    dropped as long as coins with that probability come up. The size of a basket is `1 + Poisson(average_length - 1)`;
    patterns are put in until it is reached. One that does not fit is put in anyway in half of the cases, and into the
    next basket otherwise, unless that would leave a basket empty.

    The paper draws items with equal probabilities, and has a correlation of .5 and a variance of .1 for the corruption:
    then 99 % of the items would occur, and there would be many long sets. In the usual T10.I4.D100K 870 of 1,000 items
    occur, and 61 sets of six items have .3 %: that takes weights of items, .25, and a standard deviation of .1.

    >>> basket, (indptr, items) = quest_transactions(1000, seed=1)
    >>> len(basket.items), len(indptr), round(len(items) / 1000, 1)
    (1000, 1001, 10.0)
    """
    _check(transactions, average_length, pattern_length, items, patterns)
    _check_shares(correlation=correlation, corruption=corruption[0], deviation=corruption[1])
    rng = np.random.default_rng(seed)
    pool = Patterns.draw(rng, patterns, pattern_length, items, correlation, corruption)
    chunks = [
        _baskets(rng, pool, 1 + rng.poisson(average_length - 1, min(BASKETS_AT_ONCE, transactions - first)), items)
        for first in range(0, transactions, BASKETS_AT_ONCE)
    ]
    lengths = np.concatenate([np.diff(indptr) for indptr, _ in chunks])
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    return ItemSet("basket", range(items)), (indptr, np.concatenate([indices for _, indices in chunks]))


@dataclass(frozen=True, eq=False)
class Patterns:
    """Items of all patterns one after the other, the patterns' cumulated probabilities and corruption levels."""

    starts: Numbers
    items: Numbers
    cumulated: NDArray[np.float64]
    corruption: NDArray[np.float64]

    @classmethod
    def draw(
        cls,
        rng: np.random.Generator,
        count: int,
        length: float,
        items: int,
        correlation: float,
        corruption: tuple[float, float],
    ) -> "Patterns":
        """Draw patterns that share items with the one before."""
        weights = rng.exponential(size=items)
        chances = weights / weights.sum()
        sizes = np.minimum(1 + rng.poisson(length - 1, count), items)
        shares = np.minimum(rng.exponential(correlation, count), 1)
        patterns = [rng.choice(items, sizes[0], replace=False, p=chances)]
        for size, share in zip(sizes[1:].tolist(), shares[1:].tolist(), strict=True):
            kept = rng.permutation(patterns[-1])[: round(share * size)]
            # `size` items are drawn, since those that were kept may be among them.
            drawn = rng.choice(items, size, replace=False, p=chances)
            patterns.append(np.concatenate([kept, drawn[~np.isin(drawn, kept)][: size - len(kept)]]))
        levels = np.clip(rng.normal(*corruption, count), 0, 1)
        chosen = rng.exponential(size=count).cumsum()
        return cls(np.concatenate([[0], sizes.cumsum()]), np.concatenate(patterns), chosen / chosen[-1], levels)

    def corrupted(self, rng: np.random.Generator, count: int) -> tuple[Numbers, Numbers]:
        """Draw patterns by weight and drop items from them: starts and items."""
        chosen = np.searchsorted(self.cumulated, rng.random(count), side="right")
        sizes = np.diff(self.starts)[chosen]
        dropped = np.minimum(_successes(rng, self.corruption[chosen]), sizes)
        ends = np.cumsum(sizes)
        within = np.arange(ends[-1]) - np.repeat(ends - sizes, sizes)
        owner = np.repeat(np.arange(count), sizes)
        listed = self.items[np.repeat(self.starts[chosen], sizes) + within]
        shuffled = np.argsort(owner + rng.random(len(owner)))  # patterns stay in order, their items do not
        starts = np.concatenate([[0], np.cumsum(sizes - dropped)])
        return starts, listed[shuffled][within >= np.repeat(dropped, sizes)]


def _successes(rng: np.random.Generator, chance: NDArray[np.float64]) -> Numbers:
    """Return geometric numbers: how often a coin comes up before it fails once."""
    with np.errstate(divide="ignore"):
        lasts = np.log1p(-rng.random(len(chance))) / np.log(chance)
    return np.where(chance < 1, np.minimum(lasts, 2**31), 2**31).astype(np.int64)


def _baskets(rng: np.random.Generator, pool: Patterns, sizes: Numbers, items: int) -> Csr:
    """Fill baskets of these sizes; items are ascending in each."""
    moves = rng.random(len(sizes)) < 0.5
    longest = int(np.diff(pool.starts).max())
    state = np.zeros(len(sizes) + 3, np.int64)
    seen, indices = np.full(items, -1, np.int64), np.empty(sizes.sum() + longest * len(sizes), np.int64)
    fill = kernel(_kernels.fill_baskets, _kernels.fill_baskets)
    while state[-1] < len(sizes):
        missing = int(sizes[state[-1] :].sum())
        fill(*pool.corrupted(rng, missing // 3 + 1), sizes, moves, seen, state, indices)
    indptr, indices = state[:-2], indices[: state[-2]]
    owner = np.repeat(np.arange(len(sizes)), np.diff(indptr))
    return indptr, (np.sort(owner * items + indices) % items).astype(np.int32)


def _check(transactions: Any, average_length: Any, pattern_length: Any, items: Any, patterns: Any) -> None:
    for parameter, given in (("transactions", transactions), ("items", items), ("patterns", patterns)):
        whole_number(parameter, given)
    for parameter, length in (("average_length", average_length), ("pattern_length", pattern_length)):
        if not 1 <= length <= items / 2:
            raise SottovoceError(parameter, f"must be from 1 to half the number of items, {items / 2:g}", length)


def _check_shares(**shares: Any) -> None:
    for parameter, share in shares.items():
        if not 0 <= share < 1:
            raise SottovoceError(parameter, "must be at least 0 and below 1", share)
