"""Figure 5: average error of an entry of the degree sequence."""

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
from sottovoce.mine.graph.central import central_degrees
from sottovoce.mine.graph.degrees import estimate_degrees

__all__ = ["SOURCE", "TITLE", "rerun"]

TITLE = "Error of the degrees of a friendship graph"


def rerun(*, quick: bool, seed: int, progress: Progress) -> Rerun:
    """Errors of local answers, unbiased or by an instance, and of a trusted server with noise."""
    grid, draws = epsilons(quick=quick), 10 if quick else 200
    graph = friends()
    truth = graph.degrees.astype(float)
    answers = local_answers(
        graph, lambda reports: estimate_degrees(reports).value, lambda made: made.degrees.astype(float)
    )
    answers["LM-global"] = lambda epsilon, rng: central_degrees(graph, epsilon, rng)
    errors = entrywise_errors(truth, answers, grid, draws, seed, progress)
    zero = float(truth.mean())
    rows = [
        less("less error than LM", errors, "RR", "LM", grid),
        less("less error than LM", errors, "RR instance", "LM instance", grid),
        less("incurs less error than RR", errors, "LM-global", "RR", grid),
        less("incurs less error than LM", errors, "LM-global", "LM", grid),
        less("incurs less error than RR", errors, "LM-global", "RR instance", grid),
        against_zero(errors, "RR instance", zero, grid),
    ]
    settings = {
        "epsilons": grid,
        "draws": draws,
        "seed": seed,
        "nodes": graph.nodes,
        "edges": graph.edges,
        "errors": errors,
    }
    return Rerun(
        settings, rows, (STAND_IN, INSTANCE), draw_errors(grid, errors, zero, "mean absolute error of a degree")
    )
