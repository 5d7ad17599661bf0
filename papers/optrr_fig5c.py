"""OptRR, figure 5(c): attributes of Adult."""

import numpy as np

from papers._optrr import DELTA, PAPER, RESPONDENTS, draw, excess, fronts, generations, lower_everywhere
from papers.rerun import Progress, Rerun
from sottovoce.checks import Array
from sottovoce.datasets.published import ADULT, adult

TITLE = "Warner's scheme and OptRR on the first attributes of Adult, delta = .75"
SOURCE = f"{PAPER}, figure 5(c)"

BINS = 10
"""Of an attribute of numbers, all as wide."""


def rerun(*, quick: bool, seed: int, progress: Progress) -> Rerun:
    """One search for the first attribute, or for the first four."""
    names = ADULT[: 1 if quick else 4]
    table = adult()
    rows, notes, panels = [], [], []
    for name in names:
        prior = shares(table[name])
        found = fronts(prior, DELTA, quick=quick, seed=seed, progress=progress)
        rows.append(lower_everywhere(f"error, {name} of {len(prior)} categories", found.gains(), quick=quick))
        notes.append(f"{name}: {excess(found)}.")
        panels.append((f"{name}, delta = .75", (found.warner, found.optrr, found.certified)))
    notes.append("The paper states neither delta nor how numbers are cut: .75 as elsewhere, and ten equal bins, here.")
    about = {"attributes": list(names), "respondents": RESPONDENTS, "delta": DELTA, "seed": seed, "quick": quick}
    about["generations"] = generations(quick=quick)
    return Rerun(about, rows, notes, lambda figure: draw(figure, panels))


def shares(column: Array) -> Array:
    """Shares of the categories that occur, of numbers in equal bins."""
    counts = np.unique(column, return_counts=True)[1] if column.dtype == object else np.histogram(column, BINS)[0]
    return np.asarray(counts[counts > 0] / counts.sum())
