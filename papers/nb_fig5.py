"""Naive Bayes from disguised breast cancers: variance of the accuracy against theta."""

from papers.nb_fig2 import breast_cancer_runs
from papers.nb_fig4 import NOTE, draw_variances, variance_claims
from papers.rerun import Progress, Rerun

TITLE = "Naive Bayes on disguised breast cancers: variance of accuracy against theta"
SOURCE = "Zhan & Matwin 2006, figure 5"


def rerun(*, quick: bool, seed: int, progress: Progress) -> Rerun:
    """Run it."""
    found = breast_cancer_runs(quick=quick, seed=seed, progress=progress)
    return Rerun(found.settings, variance_claims(found), [NOTE], lambda figure: draw_variances(found, figure))
