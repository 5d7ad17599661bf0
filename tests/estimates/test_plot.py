"""Pictures show every cell where it was estimated; what does not fit is refused."""

import sys

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import MissingExtraError, SottovoceError
from sottovoce.estimates.covariance import MatrixCovariance
from sottovoce.estimates.estimate import Estimate
from sottovoce.tables.figures import WARNING, new_axes, save_figure


def estimate(*shape: int, value=None) -> Estimate:
    cells = int(np.prod(shape))
    numbers = np.arange(1, cells + 1) / 10 if value is None else np.asarray(value)
    names = tuple("abcdef"[: len(shape)])
    categories = tuple(tuple(range(size)) for size in shape)
    spread = MatrixCovariance(np.diag(np.full(cells, 0.01)))
    return Estimate(names, categories, numbers, spread, numbers, 100, "population", "inversion")


def test_one_attribute_is_dots_with_intervals():
    axes = estimate(3, value=[0.7, 0.4, -0.1]).plot(level=0.95)
    lines, dots = axes.collections
    assert dots.get_offsets().tolist() == [[0.7, 0], [0.4, 1], [-0.1, 2]]
    shown = [line[:, 0] for line in lines.get_segments()]
    assert np.allclose(shown[1], [0.204, 0.596], atol=1e-4)  # 1.96 standard errors of .1 either way
    assert shown[2][0] == 0
    assert 0.09 < shown[2][1] < 0.14  # at an estimate one standard error below zero
    assert [label.get_text() for label in axes.get_yticklabels()] == ["0", "1", "2"]
    assert axes.get_title(loc="left") == "a: 100 reports"


def test_two_attributes_are_a_heat_map_with_negative_cells_in_another_colour():
    axes = estimate(2, 2, value=[0.6, 0.5, -0.2, 0.1]).plot()
    assert axes.images[0].get_array().tolist() == [[0.6, 0.5], [-0.2, 0.1]]
    assert [text.get_text() for text in axes.texts] == [
        "0.600\n± 0.100",
        "0.500\n± 0.100",
        "-0.200\n± 0.100",
        "0.100\n± 0.100",
    ]
    assert [text.get_color() == WARNING for text in axes.texts] == [False, False, True, False]


def test_three_attributes_are_dots_on_axes_of_the_caller():
    axes = new_axes(4, 3)
    assert estimate(2, 2, 2).plot(axes=axes) is axes
    assert axes.get_yticklabels()[5].get_text() == "1, 0, 1"


def test_too_many_cells_are_refused():
    with pytest.raises(SottovoceError, match=r"cells must be at most 200 for a picture. Got 246 instead"):
        estimate(41, 6).plot()


def test_pictures_are_saved_whole_or_not_at_all(tmp_path):
    save_figure(estimate(3).plot(), tmp_path / "found.png")
    assert (tmp_path / "found.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(SottovoceError, match=r"plot must end in \.png"):
        save_figure(estimate(3).plot(), tmp_path / "found.doc")
    assert [path.name for path in tmp_path.iterdir()] == ["found.png"]


def test_without_matplotlib_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(MissingExtraError, match=r"sottovoce\[plot\]"):
        estimate(3).plot()


def test_estimates_of_reports_are_drawn(tmp_path):
    plan = sv.plan(sv.Schema([sv.boolean("evaded tax")]), odds=3)
    found = sv.Reports({"evaded tax": [True] * 40 + [False] * 60}, plan).estimate("evaded tax")
    assert "by inversion\n(95 % exact intervals)" in found.plot().get_xlabel()
    assert "by inversion\n(90 % score intervals)" in found.plot(0.9, kind="score").get_xlabel()
