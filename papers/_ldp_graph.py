"""What figures 5 and 6 of Wang, Wu & Hu (2016) share: errors of a sequence of numbers of the friendship graph.

`compare` is for channels, and says what one bit of the graph costs; a sequence is one answer for all pairs, and what a
trusted server adds to it is no channel of a bit at all. So these errors are simulated.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from papers._ldp_picture import COLOURS, tidy
from papers._ldp_table import MECHANISMS, everywhere
from papers.comparison import Measured, Row
from papers.rerun import Progress, Rerun
from sottovoce.datasets.published import friendships
from sottovoce.graphs.degrees import reconstruct_graph
from sottovoce.graphs.graph import Graph
from sottovoce.graphs.reports import GraphReports, disguise_graph
from sottovoce.tables.figures import INK

Array = NDArray[np.float64]
Answer = Callable[[float, np.random.Generator], Array]
Errors = dict[str, list[Measured]]
"""Mean absolute error of an entry at every epsilon, by answer."""
Claim = tuple[str, str, str]
"""What is said, of which answer, compared with which."""

NAMES = {"randomized_response": "RR", "laplace": "LM"}
STYLES = {
    "RR": (COLOURS["randomized_response"], "-"),
    "RR instance": (COLOURS["randomized_response"], "--"),
    "LM": (COLOURS["laplace"], "-"),
    "LM instance": (COLOURS["laplace"], "--"),
    "LM-global": (INK, "-"),
    "LM-smooth": (INK, "--"),
    "LM-smooth, one entry": (INK, "-."),
}
CLEARLY = 0.9
"""Share of the error of answering zero that is clearly less."""

STAND_IN = (
    "The YesiWell network (185 users, 684 ties) is private: 185 people and 746 ties of ego-Facebook stand in, "
    "met first by a breadth-first search."
)
INSTANCE = (
    "Instances have the estimated number of edges, since the exact one is private; RR and LM are the unbiased "
    "estimates. Where epsilon is small, an instance is mostly chance: of triangles it tells hardly more than zero does."
)


@dataclass(frozen=True)
class Run:
    """Epsilons, how often each is tried, the seed of all of it, and whom to tell."""

    grid: list[float]
    draws: int
    seed: int
    progress: Progress


def friends() -> Graph:
    """The friendship graph."""
    return Graph.of_edges(friendships(), 185)


def local_answers(
    graph: Graph, estimated: Callable[[GraphReports], Array], counted: Callable[[Graph], Array]
) -> dict[str, Answer]:
    """Unbiased estimates and the paper's instances, for both mechanisms."""

    def unbiased(mechanism: str) -> Answer:
        return lambda epsilon, rng: estimated(_reports(graph, mechanism, epsilon, rng))

    def instance(mechanism: str) -> Answer:
        return lambda epsilon, rng: counted(reconstruct_graph(_reports(graph, mechanism, epsilon, rng), rng))

    plain = {NAMES[name]: unbiased(name) for name in MECHANISMS}
    return plain | {f"{NAMES[name]} instance": instance(name) for name in MECHANISMS}


def rerun_sequence(
    graph: Graph, truth: Array, answers: Mapping[str, Answer], claims: Sequence[Claim], run: Run, label: str
) -> Rerun:
    """Errors of all answers, claims that one has less error than another everywhere, and a picture."""
    errors, zero = _entrywise_errors(truth, answers, run), float(truth.mean())
    rows = [_less(claim, errors, run.grid) for claim in claims]
    rows.append(_against_zero(errors, "RR instance", zero, run.grid))
    about = {"epsilons": run.grid, "draws": run.draws, "seed": run.seed}
    sizes = {"nodes": graph.nodes, "edges": graph.edges, "zero": zero}
    picture = _picture(run.grid, errors, zero, label)
    shown = {name: [asdict(each) for each in found] for name, found in errors.items()}
    return Rerun({**about, **sizes, "errors": shown}, rows, (STAND_IN, INSTANCE), picture)


def _entrywise_errors(truth: Array, answers: Mapping[str, Answer], run: Run) -> Errors:
    """Mean absolute error of an entry, averaged over draws."""
    rng, errors = np.random.default_rng(run.seed), Errors()
    for step, (name, answer) in enumerate(answers.items()):
        found = np.array([[np.abs(answer(e, rng) - truth).mean() for _ in range(run.draws)] for e in run.grid])
        errors[name] = [Measured.mean_of(each) for each in found]
        run.progress(step + 1, len(answers))
    return errors


def _less(claim: Claim, errors: Errors, grid: Sequence[float]) -> Row:
    """Row of the claim that one answer has the smaller error at every epsilon."""
    words, better, worse = claim
    pairs = list(zip(errors[better], errors[worse], strict=True))
    said = " ".join(f"{a.value:.3g}/{b.value:.3g}" for a, b in pairs)
    return everywhere(f"{better} against {worse}", words, grid, [a.below(b) for a, b in pairs], said)


def _against_zero(errors: Errors, name: str, zero: float, grid: Sequence[float]) -> Row:
    """Row of what every such figure implies and none says: that an answer is worth more than answering zero."""
    scores = errors[name]
    said = " ".join(f"{score.value:.3g}" for score in scores) + f", zero scores {zero:.3g}"
    holds = [score.below(CLEARLY * zero) for score in scores]
    read = f"read as: at most {CLEARLY:.0%} of the error of answering zero"
    return everywhere(name, "clearly better than answering zero", grid, holds, said, read).as_reference()


def _picture(grid: Sequence[float], errors: Errors, zero: float, label: str) -> Callable[[Any], None]:
    """All errors with error bars."""

    def draw(figure: Any) -> None:
        axes = figure.subplots()
        for name, found in errors.items():
            middle = [each.value for each in found]
            spread = [each.error * sqrt(each.runs or 1) for each in found]
            colour, style = STYLES[name]
            look = {"color": colour, "linestyle": style, "capsize": 2.5, "elinewidth": 1}
            axes.errorbar(grid, middle, spread, label=name, **look)
        axes.axhline(zero, color="grey", linewidth=1, linestyle=(0, (1, 3)), label="answering zero")
        axes.set(xlabel="epsilon", ylabel=label, yscale="log")
        tidy(axes)
        figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False)

    return draw


def _reports(graph: Graph, mechanism: str, epsilon: float, rng: np.random.Generator) -> GraphReports:
    return disguise_graph(graph, rng=rng, scheme=MECHANISMS[mechanism](epsilon=epsilon))
