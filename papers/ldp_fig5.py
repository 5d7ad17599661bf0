"""Figure 5: average error of an entry of the degree sequence."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import binom

from papers._ldp_graph import NAMES, Run, friends, local_answers, rerun_sequence
from papers._ldp_table import SOURCE, epsilons, everywhere, exact
from papers.comparison import Row
from papers.rerun import Progress, Rerun
from sottovoce.graphs.central import central_degrees
from sottovoce.graphs.degrees import estimate_degrees
from sottovoce.graphs.graph import Graph

__all__ = ["SOURCE", "TITLE", "rerun"]

TITLE = "Error of the degrees of a friendship graph"
CLAIMS = (
    ("less error than LM", "RR", "LM"),
    ("less error than LM", "RR instance", "LM instance"),
    ("incurs less error than RR", "LM-global", "RR"),
    ("incurs less error than LM", "LM-global", "LM"),
    ("incurs less error than RR", "LM-global", "RR instance"),
)


def rerun(*, quick: bool, seed: int, progress: Progress) -> Rerun:
    """Errors of local answers, unbiased or by an instance, and of a trusted server with noise."""
    graph, run = friends(), Run(epsilons(quick=quick), 10 if quick else 1000, seed, progress)
    answers = local_answers(
        graph, lambda reports: estimate_degrees(reports).value, lambda made: made.degrees.astype(float)
    )
    answers["LM-global"] = lambda epsilon, rng: central_degrees(graph, epsilon, rng)
    truth = graph.degrees.astype(float)
    found = rerun_sequence(graph, truth, answers, CLAIMS, run, "mean absolute error of a degree")
    return replace(found, rows=[*found.rows, *_exact_claims(graph, run.grid)])


def _exact_claims(graph: Graph, grid: list[float]) -> list[Row]:
    """The same claims by exact expectations: bits of both mechanisms compared, and noise of mean size 2 / epsilon."""
    pairs = np.array([graph.pair_count - graph.edges, graph.edges])
    found = exact(pairs, {"error": partial(_expected_error, graph.degrees)}, grid)
    errors = {NAMES[name]: found[name, "error"] for name in NAMES} | {"LM-global": [2 / e for e in grid]}
    rows = []
    for words, better, worse in CLAIMS:
        if better in errors and worse in errors:
            both = list(zip(errors[better], errors[worse], strict=True))
            said = " ".join(f"{a:.3g}/{b:.3g}" for a, b in both)
            rows.append(everywhere(f"{better} against {worse}, exactly", words, grid, [a < b for a, b in both], said))
    return rows


def _expected_error(degrees: Any, channel: Any, _prior: Any) -> float:
    """Mean absolute error of an unbiased degree: reports are a sum of two binomials."""
    keep, flip = float(channel.entry(1, 1)), float(channel.entry(1, 0))
    others, total = len(degrees) - 1, 0.0
    for degree, nodes in zip(*np.unique(degrees, return_counts=True), strict=True):
        kept = binom.pmf(np.arange(degree + 1), degree, keep)
        reported = np.convolve(kept, binom.pmf(np.arange(others - degree + 1), others - degree, flip))
        total += nodes * reported @ np.abs((np.arange(others + 1) - others * flip) / (keep - flip) - degree)
    return total / len(degrees)
