"""Graphs: disguise and estimate degrees and triangles, in time and memory that follow what is reported."""

import tracemalloc
from time import perf_counter

import numpy as np

import sottovoce as sv
from benchmarks.measure import Row, best_seconds
from sottovoce.graphs import Graph, disguise_graph, estimate_degrees, estimate_triangles

NODES, EDGES = 20_000, 1_000_000
EPSILON = 4
LARGE = 1_000_000


def synthetic(seed: int = 1) -> Graph:
    """A million ties of 20,000 nodes; node number i takes part in proportion to `i^-1/2`."""
    rng = np.random.default_rng(seed)
    weight = np.arange(1, NODES + 1) ** -0.5
    ends = rng.choice(NODES, size=(EDGES * 5 // 4, 2), p=weight / weight.sum())
    graph = Graph.of_edges(ends[ends[:, 0] != ends[:, 1]], NODES)
    return Graph(graph.labels, np.sort(rng.permutation(graph.pairs)[:EDGES]))


def rows() -> list[Row]:
    """ego-Facebook where its file is at hand, a million ties of few nodes, and few ties of a million nodes."""
    found = _degrees("1M ties of 20,000 nodes", synthetic(), EPSILON)
    ring = Graph.of_edges(np.stack([np.arange(LARGE), np.roll(np.arange(LARGE), 1)], axis=1), LARGE)
    found += _degrees("1M ties of 1M nodes", ring, 12)
    try:
        ties = sv.datasets.ego_facebook()
    except sv.SottovoceError:
        return found
    friends = Graph.of_edges(ties, 4039)
    found += _degrees("ego-Facebook", friends, 1)
    for graph, name in ((friends, "triangles"), (Graph.of_edges(ties, 4039, directed=True), "directed triangles")):
        for epsilon in (1, 2, EPSILON):
            reports = disguise_graph(graph, epsilon)
            start = perf_counter()
            estimate_triangles(reports)
            taken = perf_counter() - start
            found.append(Row(f"ego-Facebook, {name}, epsilon {epsilon}", None, taken, None, "seconds"))
    return found


def _degrees(name: str, graph: Graph, epsilon: float) -> list[Row]:
    """Time of disguise and of all degrees together; memory beyond the graph, for each pair reported."""

    def work() -> int:
        reports = disguise_graph(graph, epsilon)
        assert len(estimate_degrees(reports).value) == graph.nodes
        return reports.graph.edges

    work()
    (taken,) = best_seconds(work, rounds=3)
    tracemalloc.start()
    reported = work()
    memory = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    label = f"{name}, disguise and degrees, epsilon {epsilon:g}"
    return [
        Row(label, None, taken, None, "seconds"),
        Row(f"{name}, pairs reported", None, float(reported), None, "pairs"),
        Row(f"{name}, most memory", None, memory / reported, None, "bytes a pair"),
    ]
