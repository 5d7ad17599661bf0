"""Naive Bayes from disguised breast cancers: mean accuracy against theta."""

from papers.nb_fig2 import breast_cancer_runs, draw, shared_claims, very_close
from papers.rerun import Progress, Rerun

TITLE = "Naive Bayes on disguised breast cancers: mean accuracy against theta"
SOURCE = "Zhan & Matwin 2006, figure 3"

NOTES = (
    "The figure has no numbers. Which of UCI's breast cancers the paper used is not said; these are Wisconsin's, "
    "the ones with ranges to cut, without 16 rows that lack a grade.",
    "546 records are few: below theta = .3 a plain estimate is often negative.",
)


def rerun(*, quick: bool, seed: int, progress: Progress) -> Rerun:
    """Run it."""
    found = breast_cancer_runs(quick=quick, seed=seed, progress=progress)
    rows = [very_close(found.main), *shared_claims(found)]
    return Rerun(found.settings, rows, NOTES, lambda figure: draw(found, figure))
