"""Made by tools/stubs.py from the table of homes in `__init__.py`."""

from sottovoce.graphs.central import central_degrees as central_degrees
from sottovoce.graphs.central import central_triangles as central_triangles
from sottovoce.graphs.central import smooth_triangles as smooth_triangles
from sottovoce.graphs.convert import as_graph as as_graph
from sottovoce.graphs.convert import to_kind as to_kind
from sottovoce.graphs.degrees import NodeEstimates as NodeEstimates
from sottovoce.graphs.degrees import estimate_degrees as estimate_degrees
from sottovoce.graphs.degrees import estimate_edges as estimate_edges
from sottovoce.graphs.degrees import reconstruct_graph as reconstruct_graph
from sottovoce.graphs.edge_files import read_edges as read_edges
from sottovoce.graphs.edge_files import read_reports as read_reports
from sottovoce.graphs.edge_files import write_reports as write_reports
from sottovoce.graphs.graph import Graph as Graph
from sottovoce.graphs.reports import GraphReports as GraphReports
from sottovoce.graphs.reports import disguise_graph as disguise_graph
from sottovoce.graphs.reports import disguise_row as disguise_row
from sottovoce.graphs.reports import expected_reports as expected_reports
from sottovoce.graphs.reports import graph_of_rows as graph_of_rows
from sottovoce.graphs.stars import StarEstimates as StarEstimates
from sottovoce.graphs.stars import estimate_stars as estimate_stars
from sottovoce.graphs.stars import node_stars as node_stars
from sottovoce.graphs.triangles import Triangles as Triangles
from sottovoce.graphs.triangles import estimate_triangles as estimate_triangles
