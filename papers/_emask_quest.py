"""Tables 3.2 and 3.3: T10.I4.D1M.N1K, of which we have the recipe and not the data."""

from dataclasses import replace

import numpy as np

from papers import _emask_privacy
from papers._emask_table import QUICK_TURNS, TIMED, TURNS, Table
from papers._repeated import error_rows, numbers_of
from papers.comparison import Printed, Row, compare_draw
from papers.rerun import Progress, Rerun
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
            privacies += [each.reinterrogation() for each in table.disguises(items, once, [own])]
        progress(done, counted)
    rows = [_count(table, place, [own[place] for own in counts]) for place in range(lengths)]
    rows += _privacies(table, privacies, seed, quick=quick)
    rows.append(table.timed(*quest_transactions(BASKETS, seed=seed), seed, QUICK_TURNS if quick else TURNS))
    rows += error_rows(table.title, [n[1:] for n in table.printed], np.ma.masked_invalid(errors))
    settings = {**table.settings, "transactions": f"{BASKETS} made and taken {table.times} times"}
    about = {**settings, "data sets": counted, "of them disguised, each once": repetitions, "seed": seed}
    note = (
        "The data sets are of the same recipe: a row says whether the printed number could be of another one of ours."
    )
    return Rerun(about, rows, [note, TIMED, *([] if table.privacy is None else [_emask_privacy.NOTE])])


def _count(table: Table, place: int, counts: list[int]) -> Row:
    """Whether theirs could be another of our data sets."""
    printed = Printed(str(table.printed[place][0]))
    return compare_draw(f"{table.title} length {place + 1}", printed, counts, numbers=len(table.printed))


def _privacies(table: Table, found: list[float], seed: int, *, quick: bool) -> list[Row]:
    """Of our data sets by the first reading, and of published baskets by each reading."""
    if table.privacy is None:
        return []
    name, printed = (
        f"{table.name} reinterrogation privacy, data sets of the recipe",
        Printed(table.privacy.reinterrogation),
    )
    basic, *readings = replace(table, name="T10I4D100K x10").privacies(*table.data(), seed, quick=quick)
    return [replace(basic, name=f"{table.name} basic privacy"), compare_draw(name, printed, found), *readings]
