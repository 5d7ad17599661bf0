"""The networks of the graph paper's stand-ins, and the cholesterol table: sizes, and the readers on a few lines."""

import dataclasses

import numpy as np
import pytest

from sottovoce.counts.counter import count_cells
from sottovoce.datasets import published
from sottovoce.datasets.files import FILES
from sottovoce.tables.source import open_source


@dataclasses.dataclass(frozen=True)
class Lines:
    content: str

    def text(self) -> str:
        return self.content


def test_the_search_goes_breadth_first(monkeypatch):
    """From 171 in order of numbers: 3 and 5, then 9, which only 3 knows; 7 is left out, and so are its ties."""
    monkeypatch.setitem(FILES, "ego-facebook", Lines("171 5\n3 171\n3 9\n5 7\n3 5\n9 7\n"))
    monkeypatch.setattr(published, "FRIENDS", 4)
    assert published.friendships().tolist() == [[3, 1], [0, 3], [0, 2], [0, 1]]
    monkeypatch.setattr(published, "FRIENDS", 400)
    assert len(published.friendships()) == 6


def test_cholesterol_is_cut_at_the_panels_bounds(monkeypatch):
    rows = "".join(f"1,{total},{ldl}\n" for total, ldl in [(199.9, 69.9), (200, 70), (239, 190)])
    monkeypatch.setitem(FILES, "diabetes", Lines("age,s1,s2\n" + rows))
    schema, table = published.cholesterol()
    codes = next(iter(open_source(table).coded(schema)))
    assert [column.tolist() for column in codes] == [[0, 1, 5], [0, 1, 1]]


@pytest.mark.usefixtures("data_sets")
def test_sizes_are_the_stated_ones():
    """SNAP: 4,039 people, 88,234 ties; 185 people and 746 ties of the small network; 248 patients."""
    edges, small = published.ego_facebook(), published.friendships()
    assert (len(edges), edges.max() + 1) == (88_234, 4_039)
    assert (len(small), small.max() + 1, len(np.unique(small))) == (746, 185, 185)
    schema, table = published.cholesterol()
    counts = count_cells(list(next(iter(open_source(table).coded(schema)))), schema.sizes).reshape(schema.sizes)
    assert counts.sum(axis=1).tolist() == [16, 64, 103, 50, 12, 3]
    assert counts.sum(axis=0).tolist() == [168, 65, 15]
