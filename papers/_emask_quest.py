"""Tables 3.2 and 3.3: T10.I4.D1M.N1K, of which we have the recipe and not the data."""

from dataclasses import replace

import numpy as np

from papers._emask_privacy import EXPLAINED
from papers._emask_table import QUICK_TURNS, TIMED, TURNS, Table
from papers._repeated import error_rows, numbers_of, ranges
from papers.rerun import Progress, Rerun, Row, claimed
from sottovoce.datasets.quest import quest_transactions
from sottovoce.mining.itemsets.evaluation import mining_errors

DATA_SETS, QUICK, COUNTED = 40, 4, 24
"""How many are disguised; of those that are only counted a quick run can have more."""

BASKETS = 100_000


def rerun(table: Table, *, quick: bool, seed: int, progress: Progress) -> Rerun:
    """As many data sets, each disguised and mined once: theirs is one more of them, if it is at all like ours."""
    repetitions, counted, lengths = *((QUICK, COUNTED) if quick else (DATA_SETS, DATA_SETS)), len(table.printed)
    counts, errors, privacies = [], [], []
    for done, own in enumerate(range(seed, seed + counted), start=1):
        items, once = quest_transactions(BASKETS, seed=own)
        truth = table.truth(items, once)
        counts.append([truth.by_length.get(length, 0) for length in range(1, lengths + 1)])
        if done <= repetitions:
            found = [numbers_of(each) for each in mining_errors(table.mine(items, once, own), truth)]
            errors.append([*found, *[(np.nan,) * 3] * lengths][:lengths])
            privacies.append(table.privacies(items, once, own))
        progress(done, counted)
    rows = [_count(table, place, [own[place] for own in counts]) for place in range(lengths)]
    rows += _privacies(table, privacies, seed)
    rows.append(table.timed(*quest_transactions(BASKETS, seed=seed), seed, QUICK_TURNS if quick else TURNS))
    errors_found, notes = error_rows(table.title, [n[1:] for n in table.printed], np.ma.masked_invalid(errors))
    rows += [_as_claim(row, holds=row.verdict == "reproduced") for row in errors_found]
    settings = {**table.settings, "transactions": f"{BASKETS} made and taken {table.times} times"}
    about = {**settings, "data sets": counted, "of them disguised, each once": repetitions, "seed": seed}
    note = "The data sets are of the same recipe: a row says whether the printed number is within the range of ours."
    return Rerun(about, rows, [note, *notes, TIMED, *([] if table.privacy is None else EXPLAINED)])


def _as_claim(row: Row, *, holds: bool) -> Row:
    return replace(row, verdict="claim holds" if holds else "claim fails")


def _count(table: Table, place: int, counts: list[int]) -> Row:
    """Ours is the first; theirs is one of them if it is neither below nor above all of ours."""
    printed = table.printed[place][0]
    row = claimed(f"{table.title} length {place + 1}", "", counts[0], holds=min(counts) <= printed <= max(counts))
    return replace(row, published=printed)


def _privacies(table: Table, found: list[list[Row]], seed: int) -> list[Row]:
    """The mean over the data sets: theirs could be one of them or not; and that of published baskets."""
    if table.privacy is None:
        return []
    basic, first = found[0]
    ours = np.ma.masked_invalid([row.ours for _, row in found])
    low, high = ranges(ours)
    row = replace(first, ours=float(ours.mean()), spread=float(ours.std(ddof=1)))
    published = replace(table, name="T10I4D100K x10").privacies(*table.data(), seed)
    return [basic, _as_claim(row, holds=bool(low <= table.privacy.reinterrogation <= high)), published[1]]
