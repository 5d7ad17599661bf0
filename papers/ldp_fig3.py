"""Figure 3: the entropy of LDL, estimated by randomized response and by Laplace noise."""

from papers._ldp_derived import rerun_measure
from papers._ldp_table import SOURCE, counts
from papers.rerun import Progress, Rerun
from sottovoce.measures.functionals import Entropy

__all__ = ["SOURCE", "TITLE", "rerun"]

TITLE = "Entropy of six LDL levels"


def rerun(*, quick: bool, seed: int, progress: Progress) -> Rerun:
    """Estimates of both targets against epsilon."""
    table = counts().sum(axis=1)
    return rerun_measure(table, "entropy", Entropy().value, quick=quick, seed=seed, progress=progress)
