"""Shared by FRAPP's Figures 4.1 to 4.4: mining a table of categories under each disguise of the thesis."""

from collections.abc import Callable

import numpy as np

from papers._frapp import CUTOFF, GAMMA, MIN_SUPPORT, PASTED, Data
from papers._repeated import frequent
from sottovoce.disguises.records import disguise_codes
from sottovoce.disguises.tables import disguise_frame
from sottovoce.disguises.transactions import disguise_transactions
from sottovoce.mechanisms.coins import random_words
from sottovoce.mining.itemsets.result import Itemsets
from sottovoce.plans.plan import Plan
from sottovoce.schemes.cut_and_paste import CutAndPaste
from sottovoce.schemes.emask import Emask
from sottovoce.schemes.gamma_diagonal import GammaDiagonal
from sottovoce.schemes.randomized_gamma_diagonal import RandomizedGammaDiagonal
from sottovoce.schemes.scheme import Scheme
from sottovoce.tables.bitsets import Bitsets

Mine = Callable[[int], Itemsets]
"""Disguise by a seed, and mine."""


def mined(data: Data, scheme: Scheme) -> Mine:
    """Mine disguises of whole records."""
    schema, _ = data.table
    plan = Plan.of(schema, {schema.names: scheme})
    return lambda seed: frequent(disguise_frame(data.arrow, plan, rng=seed), plan, MIN_SUPPORT)


def mined_by_item(data: Data, p: float) -> Mine:
    """Mine disguises by MASK; sets of two values of an attribute, which cannot be, are left out."""
    plan = data.items_under(Emask(p=p, q=p))

    def mine(seed: int) -> Itemsets:
        reports = disguise_transactions(data.transactions, plan, rng=seed, kind="bitsets")
        return data.possible(frequent(reports, plan, MIN_SUPPORT))

    return mine


def mined_by_size(data: Data, scheme: CutAndPaste) -> Mine:
    """Mine disguises by cut-and-paste: every record has as many items as there are attributes."""
    plan, size = data.items_under(scheme), len(data.table[0].names)
    truths = Bitsets.from_csr(*data.transactions, len(data.labels)).to_matrix().astype(np.uint8)

    def mine(seed: int) -> Itemsets:
        reports = np.stack(disguise_codes(tuple(truths.T), plan, random_words(seed)), axis=1)
        return data.possible(frequent({size: Bitsets.from_matrix(reports.astype(bool))}, plan, MIN_SUPPORT))

    return mine


def schemes(data: Data) -> dict[str, Mine]:
    """The four of the thesis; MASK's p from `(p / (1 - p))^2M = gamma`."""
    odds = GAMMA ** (1 / (2 * len(data.table[0].names)))
    return {
        "DET-GD": mined(data, GammaDiagonal(gamma=GAMMA)),
        "RAN-GD": mined(data, RandomizedGammaDiagonal(gamma=GAMMA)),
        "MASK": mined_by_item(data, odds / (1 + odds)),
        "C&P": mined_by_size(data, CutAndPaste(CUTOFF, PASTED)),
    }
