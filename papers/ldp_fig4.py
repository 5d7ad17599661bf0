"""Figure 4: chi-square between LDL and total cholesterol, estimated by randomized response and by Laplace noise."""

from papers._ldp_derived import rerun_measure
from papers._ldp_table import SOURCE, Array, counts
from papers.rerun import Progress, Rerun
from sottovoce.measures.association import ChiSquared

__all__ = ["SOURCE", "TITLE", "rerun"]

TITLE = "Chi-square of LDL and total cholesterol, over the number of respondents"


def rerun(*, quick: bool, seed: int, progress: Progress) -> Rerun:
    """Estimates of both targets against epsilon."""
    return rerun_measure(counts(), "chi_squared", _chi_squared, quick=quick, seed=seed, progress=progress)


def _chi_squared(cells: Array) -> float:
    """Of the levels that are there: a projected estimate may have lost some."""
    table = cells.reshape(6, 3)
    kept = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    return ChiSquared((len(kept), len(kept[0]))).value(kept) if min(kept.shape) > 1 else 0.0
