"""Graphs under edge local differential privacy: edges are disguised, statistics of the graph are estimated."""

from sottovoce._lazy import lazy

HOMES = {
    "graphs.central": ("central_degrees", "central_triangles", "smooth_triangles"),
    "graphs.convert": ("as_graph", "to_kind"),
    "graphs.degrees": ("NodeEstimates", "estimate_degrees", "estimate_edges", "reconstruct_graph"),
    "graphs.triangles": ("Triangles", "estimate_triangles"),
    "graphs.edge_files": ("read_edges", "read_reports", "write_reports"),
    "graphs.graph": ("Graph",),
    "graphs.reports": ("GraphReports", "disguise_graph", "disguise_row", "expected_reports", "graph_of_rows"),
    "graphs.stars": ("StarEstimates", "estimate_stars", "node_stars"),
}

__getattr__, __dir__ = lazy(__name__, HOMES)
