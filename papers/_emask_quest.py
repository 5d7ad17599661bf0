"""Tables 3.2 and 3.3: T10.I4.D1M.N1K, of which we have the recipe and not the data."""

from dataclasses import replace

import numpy as np

from papers._emask_table import Table
from papers._repeated import error_rows, numbers_of
from papers.rerun import Progress, Rerun, Row, claimed
from sottovoce.mine.accuracy import mining_errors
from sottovoce.table.datasets.quest import quest_transactions

DATA_SETS, QUICK = 40, 4
BASKETS = 100_000


def rerun(table: Table, *, quick: bool, seed: int, progress: Progress) -> Rerun:
    """As many data sets, each disguised and mined once: theirs is one more of them, if it is at all like ours."""
    repetitions, lengths = QUICK if quick else DATA_SETS, len(table.printed)
    counts, errors = [], []
    for own in range(seed, seed + repetitions):
        items, once = quest_transactions(BASKETS, seed=own)
        truth = table.truth(items, once)
        found = [numbers_of(each) for each in mining_errors(table.mine(items, once, own), truth)]
        errors.append([*found, *[(np.nan,) * 3] * lengths][:lengths])
        counts.append([truth.by_length.get(length, 0) for length in range(1, lengths + 1)])
        progress(own - seed + 1, repetitions)
    rows = [_count(table, place, [own[place] for own in counts]) for place in range(lengths)]
    errors_found, notes = error_rows(table.title, [n[1:] for n in table.printed], np.ma.masked_invalid(errors))
    rows += [
        replace(row, verdict="claim holds" if row.verdict == "reproduced" else "claim fails") for row in errors_found
    ]
    settings = {**table.settings, "transactions": f"{BASKETS} made and taken {table.times} times"}
    about = {**settings, "data sets, each disguised once": repetitions, "seed": seed}
    return Rerun(
        about,
        rows,
        ["The data are of the same recipe, not the same: a row tells whether theirs could be one of ours.", *notes],
    )


def _count(table: Table, place: int, counts: list[int]) -> Row:
    """Ours is the first; theirs may be up to twice as far out as any: a few heavy patterns make the long sets."""
    printed = table.printed[place][0]
    holds = min(counts) / 2 <= printed <= 2 * max(counts)
    row = claimed(f"{table.title} length {place + 1}", "", counts[0], holds=holds)
    return replace(row, published=printed)
