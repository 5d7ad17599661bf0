"""Fronts: picking, dominance, hypervolume, pictures, JSON."""

import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sottovoce.designs.exact_scheme import ExactScheme
from sottovoce.designs.front import (
    ACCURACY_AND_ERROR,
    Certificate,
    Front,
    Objective,
    Point,
    hypervolume,
    non_dominated,
)
from sottovoce.designs.pictures import draw_fronts
from sottovoce.designs.sweeps import subset_sweep, sweep, warner_sweep
from sottovoce.errors import MissingExtraError, SottovoceError
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Attribute
from sottovoce.schemas.schema import Schema
from sottovoce.schemes import Matrix, RandomizedResponse, Warner

PRIOR = [0.5, 0.3, 0.2]
SCHEME = ExactScheme.of(Warner(p=0.7), (3,))
PLAIN = (Objective("a"), Objective("b"))


def front_of(*pairs: tuple[float, float], objectives=PLAIN) -> Front:
    names = [goal.name for goal in objectives]
    points = tuple(Point(SCHEME, dict(zip(names, pair, strict=True)) | {"epsilon": 1.0}) for pair in pairs)
    return Front(points, tuple(PRIOR), 1000, objectives=objectives)


small = arrays(np.float64, st.tuples(st.integers(1, 12), st.just(2)), elements=st.integers(0, 6).map(float))


@given(small)
@settings(deadline=None)
def test_dominance_is_what_it_says(losses):
    kept = non_dominated(losses)
    for i, row in enumerate(losses):
        beaten = any((other <= row).all() and (other < row).any() for other in losses)
        twin = any((losses[j] == row).all() for j in range(i))
        assert kept[i] == (not beaten and not twin)


@given(small)
@settings(deadline=None)
def test_hypervolume_counts_unit_squares(losses):
    """Integer points below (5, 5): the unit squares whose lower left corner some point is at or below."""
    corners = np.array([(x, y) for x in range(5) for y in range(5)])
    covered = sum(any((point <= corner).all() for point in losses) for corner in corners)
    assert hypervolume(losses, np.array([5.0, 5.0])) == covered


def test_points_come_in_order_of_the_last_objective():
    front = front_of((1, 5), (3, 2), (2, 4))
    assert [point["b"] for point in front] == [2, 4, 5]
    assert (len(front), front[0]["a"]) == (3, 3)


def test_more_may_be_better():
    objectives = (Objective("privacy", more=True), Objective("b"))
    front = front_of((0.4, 1), (0.6, 2), (0.5, 3), objectives=objectives)
    assert [point["privacy"] for point in front.non_dominated()] == [0.4, 0.6]
    assert front.pick(privacy=0.45)["b"] == 2  # at least .45 of it
    assert front.hypervolume((0, 4)) == pytest.approx(0.4 * 3 + 0.2 * 2)
    with pytest.raises(SottovoceError, match=r"privacy must be at most 0\.6, the best on this front\. Got 0\.7"):
        front.pick(privacy=0.7)


def test_picking_meets_every_level_and_is_best_in_what_is_open():
    front = warner_sweep(PRIOR, 1000, steps=100)
    by_accuracy = front.pick(accuracy=0.6)
    assert by_accuracy["adversary_accuracy"] == pytest.approx(0.6)  # p = .6: .5 x .6 + .3 x .6 + .2 x .6
    assert by_accuracy["mse"] == pytest.approx((4.5 - 0.38) / 3 / 1000)  # ((1 - b)^2 + 2 b^2) / k^2, b = .2, k = .4
    assert front.pick(mse=0.0014) == by_accuracy  # p = .59 has .00148
    assert front.pick(epsilon=np.log(3)) == by_accuracy  # odds p (n - 1) / (1 - p) = 3
    assert front.pick(delta=0.75, epsilon=2) == by_accuracy  # .3 / (.3 + .2 x .5)
    assert front.pick(accuracy=0.6, mse=0.002) == by_accuracy


@pytest.mark.parametrize(
    ("levels", "message"),
    [
        ({"accuracy": 0.4}, "accuracy must be at least 0.5, the best on this front. Got 0.4 instead."),
        ({"accuracy": 0.6, "mse": 0.0005}, "levels must be met by some point all together, not only one by one"),
        ({"colour": 1}, "measure must be one of mse, adversary_accuracy"),
    ],
)
def test_levels_out_of_reach(levels, message):
    with pytest.raises(SottovoceError, match=message):
        warner_sweep(PRIOR, 1000, steps=100).pick(**levels)


def test_an_epsilon_cannot_be_picked_where_nothing_is_deniable():
    told = Point(SCHEME, {"adversary_accuracy": 0.6, "mse": 1e-4, "epsilon": np.inf})
    certain = Front((told,), tuple(PRIOR), 1000)
    with pytest.raises(SottovoceError, match="epsilon must be left out: it is unbounded at every point of this front"):
        certain.pick(epsilon=1)


def test_nothing_can_be_picked_from_an_empty_front():
    with pytest.raises(SottovoceError, match="levels must be met"):
        Front((), tuple(PRIOR), 1000).pick(accuracy=0.6)
    assert Front((), tuple(PRIOR), 1000).hypervolume((1, 1)) == 0


@pytest.mark.parametrize("reference", [(1,), (1, 2, 3)])
def test_the_reference_is_a_point_of_the_plane(reference):
    with pytest.raises(SottovoceError, match="reference must have a value for each of two objectives"):
        front_of((1, 1)).hypervolume(reference)


def test_json_keeps_everything_that_matters():
    schemes = [Warner(p=0.6), Warner(p=1), Warner(p=Fraction(1, 3))]
    front = sweep(schemes, PRIOR, 1000, name="three")
    certified = Point(front[0].scheme, front[0].measures, Certificate("mse", 1e-4, 1e-9))
    front = Front((certified, *front.points[1:]), front.prior, 1000, "three", ACCURACY_AND_ERROR)
    written = json.loads(json.dumps(front.to_json(), allow_nan=False))
    assert Front.from_json(written) == front
    first, _, last = written["points"]
    assert set(first) == {
        "matrix",
        "channel",
        "mse",
        "adversary_accuracy",
        "worst_posterior",
        "epsilon",
        "mutual_information",
        "distortion",
        "objective",
        "lower_bound",
        "rounding_loss",
        "gap",
    }
    assert first["channel"] == {"scheme": "warner", "mechanism": {"kind": "diagonal", "truth": "1", "other": "0"}}
    assert (first["epsilon"], first["lower_bound"]) == (None, 1e-4)  # p = 1 is not deniable
    assert first["gap"] == pytest.approx(first["mse"] / 1e-4 - 1)
    assert (last["mse"], last["gap"], last["lower_bound"]) == (None, None, None)  # p = 1/3 is singular
    assert np.array(last["matrix"]) == pytest.approx(np.full((3, 3), 1 / 3))


@pytest.mark.parametrize(
    "broken",
    [
        {},
        None,
        {"prior": PRIOR, "points": [{}], "objectives": [], "respondents": 1, "name": "x"},
        {"prior": PRIOR, "points": [{"channel": {}}], "objectives": [], "respondents": 1, "name": "x"},
        {
            "prior": PRIOR,
            "points": [{"channel": {"scheme": "no", "mechanism": SCHEME.exact_mechanism.to_json()}}],
            "objectives": [],
            "respondents": 1,
            "name": "x",
        },
    ],
)
def test_json_that_is_no_front_is_refused(broken):
    with pytest.raises(SottovoceError, match="must"):
        Front.from_json(broken)


def test_sets_show_the_reports_that_can_come():
    point = subset_sweep(PRIOR, 1000, [1])[0]
    assert point.matrix().shape == (3, 3)  # of the 8 sets those of one category
    assert "distortion" not in point.measures
    assert point.to_json()["distortion"] is None


def test_large_matrices_are_not_written_out():
    wide = ExactScheme.of(RandomizedResponse(epsilon=1), (1001,))
    assert Point(wide, {}).to_json()["matrix"] is None


def test_a_point_is_a_scheme_for_a_plan():
    point = warner_sweep(PRIOR, 1000, steps=100).pick(accuracy=0.6)
    schema = Schema([Attribute("drug", ["never", "once", "often"]), Attribute("tax", ["no", "yes"])])
    plan = Plan.of(schema, {"drug": point.scheme, "tax": Warner(p=0.75)})
    assert plan.guarantee.odds == 9
    assert (plan.groups[0].scheme, point.scheme.citation) == ("warner", Warner.citation)
    assert point.deniable
    with pytest.raises(SottovoceError, match=r"sizes must be those the design was made for, \(3,\)"):
        Plan.of(schema, {"drug": Warner(p=0.5), "tax": point.scheme})
    assert (list(ExactScheme.cases()), list(ExactScheme.refused())) == ([], [])


def test_gaps_are_of_the_bounded_objective():
    assert Point(SCHEME, {"mse": 3.0}).gap is None
    assert Point(SCHEME, {"mse": 3.0}).lower_bound is None
    assert Point(SCHEME, {"mse": 3.0}, Certificate("mse", 2.0)).gap == 0.5
    assert Point(SCHEME, {"mutual_information": 0.25}, Certificate("mutual_information", 0.0)).gap == 0.25


def test_several_fronts_on_one_picture(tmp_path):
    warner, subset = warner_sweep(PRIOR, 1000), subset_sweep(PRIOR, 1000, [0.5, 1, 2])
    axes = warner.plot(subset, path=tmp_path / "fronts.png")
    assert (tmp_path / "fronts.png").read_bytes().startswith(b"\x89PNG")
    assert [line.get_label() for line in axes.get_lines()] == ["warner", "subset"]
    assert axes.get_yscale() == "log"
    assert np.isfinite(axes.get_lines()[0].get_ydata()).all()
    plain = front_of((1, 2), (2, 1))
    assert plain.plot(axes=plain.plot()).get_xlabel() == "a"
    with pytest.raises(SottovoceError, match="fronts must have the same two objectives"):
        warner.plot(plain)


def test_pictures_need_matplotlib(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.pyplot", None)
    with pytest.raises(
        MissingExtraError, match=r"plot needs matplotlib; install it with: pip install 'sottovoce\[plot\]'"
    ):
        draw_fronts([front_of((1, 2))])


def test_any_matrix_may_be_a_point():
    front = sweep([Matrix([[0.8, 0.3], [0.2, 0.7]])], [0.5, 0.5], 100, name="mine")
    assert front[0]["distortion"] == pytest.approx(0.25)


def test_summaries():
    point = Point(SCHEME, {"mse": 3.0, "epsilon": 1.5}, Certificate("mse", 2.0))
    assert repr(point) == "<Point, warner: mse 3, epsilon 1.5, gap 0.5>"
    assert repr(Point(SCHEME, {"mse": 3.0})) == "<Point, warner: mse 3>"
    assert "<td>epsilon</td><td>1.5</td>" in point._repr_html_()
    assert "no channel has less than 2; gap 0.5" in point._repr_html_()
    assert "gap" not in Point(SCHEME, {"mse": 3.0})._repr_html_()
    front = front_of((1, 2), (2, 1))
    assert repr(front) == "<Front 'front': 2 points, 3 categories, 1,000 respondents, a 1 to 2, b 1 to 2>"
    assert repr(front_of()) == "<Front 'front': 0 points, 3 categories, 1,000 respondents>"
    assert front._repr_html_().count("<tr>") == 3
    assert "<small>2 points, 3 categories, 1,000 respondents</small>" in front._repr_html_()
