"""Figure 6: average error of an entry of the sequence of triangles."""

from dataclasses import replace
from functools import partial
from typing import Any

from papers._ldp_graph import Run, friends, local_answers, rerun_sequence
from papers._ldp_table import SOURCE, epsilons
from papers.rerun import Progress, Rerun
from sottovoce.graphs.central import central_triangles, laplace_noise, smooth_scale, true_triangles
from sottovoce.graphs.triangles import estimate_triangles

__all__ = ["SOURCE", "TITLE", "rerun"]

TITLE = "Error of the triangles of a friendship graph"
DELTA = 1e-6
SMOOTH = (
    "LM-smooth is (epsilon, 1e-6)-private. For the whole sequence its beta has to shrink with the number of entries, "
    "and little is left of the gain over LM-global; the beta of one number (LM-smooth, one entry) protects each entry "
    "alone, which is the most that the figure can mean."
)
CENTRAL = ("LM-global", "LM-smooth", "LM-smooth, one entry")
CLAIMS = [
    *(("lower than output perturbation", ours, other) for ours in ("RR", "LM", "RR instance") for other in CENTRAL),
    *(("RR achieves the best utility", "RR", other) for other in ("LM", "RR instance", "LM instance")),
]


def rerun(*, quick: bool, seed: int, progress: Progress) -> Rerun:
    """Errors of local answers, unbiased or by an instance, and of a trusted server with noise."""
    graph, run = friends(), Run(epsilons(quick=quick), 5 if quick else 100, seed, progress)
    truth = true_triangles(graph)
    answers = local_answers(graph, lambda reports: estimate_triangles(reports).nodes.value, true_triangles)
    answers["LM-global"] = lambda epsilon, rng: central_triangles(graph, epsilon, rng)
    for name, numbers in (("LM-smooth", graph.nodes), ("LM-smooth, one entry", 1)):
        scales = {epsilon: smooth_scale(graph, epsilon, DELTA, numbers) for epsilon in run.grid}
        answers[name] = partial(_noisy, truth, scales)
    found = rerun_sequence(graph, truth, answers, CLAIMS, run, "mean absolute error of a node's triangles")
    return replace(found, settings={**found.settings, "delta": DELTA}, notes=(*found.notes, SMOOTH))


def _noisy(truth: Any, scales: dict[float, float], epsilon: float, rng: Any) -> Any:
    """The truth with Laplace noise of the scale for an epsilon."""
    return truth + laplace_noise(len(truth), scales[epsilon], rng)
