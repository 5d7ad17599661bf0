"""Figure 6: average error of an entry of the sequence of triangles."""

from papers._ldp_graph import (
    INSTANCE,
    STAND_IN,
    against_zero,
    draw_errors,
    entrywise_errors,
    friends,
    less,
    local_answers,
)
from papers._ldp_table import SOURCE, epsilons
from papers.rerun import Progress, Rerun
from sottovoce.mine.graph.central import central_triangles, laplace_noise, smooth_scale, true_triangles
from sottovoce.mine.graph.triangles import estimate_triangles

__all__ = ["SOURCE", "TITLE", "rerun"]

TITLE = "Error of the triangles of a friendship graph"
DELTA = 1e-6
SMOOTH = (
    "LM-smooth is (epsilon, 1e-6)-private. For the whole sequence its beta has to shrink with the number of entries, "
    "and little is left of the gain over LM-global; the beta of one number (LM-smooth, one entry) protects each entry "
    "alone, which is the most that the figure can mean."
)


def rerun(*, quick: bool, seed: int, progress: Progress) -> Rerun:
    """Errors of local answers, unbiased or by an instance, and of a trusted server with noise."""
    grid, draws = epsilons(quick=quick), 5 if quick else 100
    graph = friends()
    truth = true_triangles(graph)
    answers = local_answers(graph, lambda reports: estimate_triangles(reports).nodes.value, true_triangles)
    answers["LM-global"] = lambda epsilon, rng: central_triangles(graph, epsilon, rng)
    for name, numbers in (("LM-smooth", graph.nodes), ("LM-smooth, one entry", 1)):
        scales = {epsilon: smooth_scale(graph, epsilon, DELTA, numbers) for epsilon in grid}
        answers[name] = lambda epsilon, rng, scales=scales: truth + laplace_noise(len(truth), scales[epsilon], rng)  # type: ignore[misc]
    errors = entrywise_errors(truth, answers, grid, draws, seed, progress)
    zero = float(truth.mean())
    central = ("LM-global", "LM-smooth", "LM-smooth, one entry")
    rows = [
        less("lower than output perturbation", errors, ours, other, grid)
        for ours in ("RR", "LM", "RR instance")
        for other in central
    ]
    rows += [
        less("RR achieves the best utility", errors, "RR", other, grid)
        for other in ("LM", "RR instance", "LM instance")
    ]
    rows.append(against_zero(errors, "RR instance", zero, grid))
    settings = {"epsilons": grid, "draws": draws, "seed": seed, "delta": DELTA, "edges": graph.edges, "errors": errors}
    notes = (STAND_IN, INSTANCE, SMOOTH)
    return Rerun(settings, rows, notes, draw_errors(grid, errors, zero, "mean absolute error of a node's triangles"))
