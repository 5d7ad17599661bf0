"""Schemes side by side: numbers against the measure room, the optimum below all, the picture's words."""

import json
from functools import partial

import numpy as np
import pytest
from matplotlib import pyplot

from sottovoce.designs.compare import EPSILONS, comparable_schemes, compare
from sottovoce.designs.compare_measures import derived_error
from sottovoce.errors import SottovoceError
from sottovoce.estimates.laplace_costs import mechanism_costs
from sottovoce.measures.privacy import adversary_accuracy
from sottovoce.measures.utility import average_mean_squared_error, condition_number
from sottovoce.schemes import ForcedResponse, OptimizedUnary, RandomizedResponse, Warner

PRIOR = [0.5, 0.3, 0.2]


def test_numbers_are_those_of_the_measures():
    found = compare(["randomized_response"], PRIOR, 1000, ["mse", "adversary_accuracy", "distortion"], epsilons=[1, 2])
    for row in found.rows:
        channel = RandomizedResponse(epsilon=row["asked"]).mechanism((3,)).channel
        assert row["epsilon"] == pytest.approx(row["asked"])
        assert row["mse"] == pytest.approx(float(average_mean_squared_error(channel, PRIOR, 1000)))
        assert row["adversary_accuracy"] == pytest.approx(float(adversary_accuracy(channel, PRIOR)))
        assert row["distortion"] == pytest.approx(1 - np.exp(row["asked"]) / (np.exp(row["asked"]) + 2))


def test_what_follows_from_the_error():
    measures = ["mse", "standard_error", "interval_width", "respondents_needed"]
    (row,) = compare(["randomized_response"], PRIOR, 1000, measures, epsilons=[1], width=0.02, level=0.9).rows
    assert row["standard_error"] == pytest.approx(row["mse"] ** 0.5)
    assert row["interval_width"] == pytest.approx(2 * 1.6448536 * row["standard_error"])
    again = compare(["randomized_response"], PRIOR, row["respondents_needed"], measures, epsilons=[1], level=0.9).rows
    assert again[0]["interval_width"] == pytest.approx(0.02, rel=1e-4)
    (nothing,) = compare(["randomized_response"], PRIOR, 1000, measures, epsilons=[0]).rows
    assert all(nothing[name] is None for name in measures)  # infinite


def test_nothing_is_below_the_certified_optimum():
    """Every scheme of the literature that an epsilon gives; Laplace at the epsilon that its coins really have."""
    names = [name for name in comparable_schemes() if name != "laplace"]
    found = compare([*names, "certified"], PRIOR, 1000, ["mse"], epsilons=[0.5, 1.5])
    least = {row["asked"]: row["mse"] for row in found.of("certified")}
    assert len(found.schemes) == len(names) + 1 >= 9
    for row in found.rows:
        assert row["mse"] >= least[row["asked"]] * (1 - 1e-6)
    (laplace,) = compare(["laplace"], PRIOR, 1000, ["mse"], epsilons=[1.5]).rows
    assert laplace["epsilon"] < 1.4


def test_functions_of_an_epsilon_and_measures_of_ones_own():
    def forced(epsilon):
        share = 1 / (1 + np.exp(epsilon))
        return ForcedResponse(truth=1 - 2 * share, yes=share)

    schemes = {"mine": forced, "coin": lambda epsilon: Warner(p=3 / 4), "usual": "randomized_response"}
    found = compare(
        schemes, [0.9, 0.1], 1000, {"condition": lambda channel, _: condition_number(channel)}, epsilons=[1]
    )
    mine, coin, usual = (row["condition"] for row in found.rows)
    assert mine == pytest.approx(usual)
    assert coin == pytest.approx(2)
    named = compare([forced], [0.9, 0.1], 1000, [adversary_accuracy], epsilons=[1])
    assert (named.schemes, named.measures) == (("forced",), ("adversary_accuracy",))


def test_sets_too_many_to_list_have_errors_only():
    prior = np.arange(1, 21) / 210
    found = compare(
        ["optimized_unary", "subset_selection"], prior, 1000, ["mse", "adversary_accuracy"], epsilons=[1]
    ).rows
    channel = OptimizedUnary(epsilon=1).mechanism((20,)).channel
    gain = float(channel.inside - channel.outside)
    share = float(channel.outside) + gain * prior
    assert found[0]["mse"] == pytest.approx((share * (1 - share)).mean() / gain**2 / 1000)
    assert found[0]["adversary_accuracy"] is None
    assert found[1]["adversary_accuracy"] > prior.max()


TABLE = np.array([[30, 10, 5], [12, 60, 20]])


def test_what_follows_from_proportions_of_two_attributes():
    """As `mechanism_costs` has them; each attribute spends its own epsilon."""
    names = ["entropy", "chi_squared", "mutual_information", "correlation"]
    measures = [f"{name.replace('-', '_')}_error" for name in names]
    found = compare(
        ["randomized_response", "laplace"], TABLE / TABLE.sum(), TABLE.sum(), ["mse", *measures], epsilons=[2]
    )
    costs = mechanism_costs(TABLE, 2, target="population")
    for row in found.rows:
        cost = costs[row["scheme"]]
        assert row["mse"] == pytest.approx(cost.average_error)
        assert row["epsilon"] == pytest.approx(sum(cost.epsilons))
        assert [row[name] for name in measures] == pytest.approx([cost.derived[name].error for name in names])
    assert found.to_json()["shape"] == [2, 3]


def test_errors_of_this_table_alone():
    """Only the coins are random, by a function of one's own; without coins there is no error at all."""
    own = partial(derived_error, name="entropy_error", respondents=TABLE.sum(), target="table")
    measures = {"table": own, "population": "entropy_error"}
    rows = compare(["randomized_response"], TABLE / TABLE.sum(), TABLE.sum(), measures, epsilons=[2, 30]).rows
    expected = mechanism_costs(TABLE, 2, target="table")["randomized_response"].derived["entropy"].error
    assert rows[0]["table"] == pytest.approx(expected)
    assert rows[0]["table"] < rows[0]["population"]
    assert rows[1]["table"] == pytest.approx(0, abs=1e-5)
    assert rows[1]["population"] > 0.01


def test_errors_that_do_not_exist_are_none():
    """The entropy has no gradient where a cell is empty, and nothing is estimated at epsilon 0."""
    law = [[0.5, 0], [0.25, 0.25]]
    measures = ["entropy_error", "correlation_error"]
    usual, nothing = compare(["randomized_response"], law, 100, measures, epsilons=[1, 0]).rows
    assert usual["entropy_error"] is None
    assert usual["correlation_error"] > 0
    assert nothing["correlation_error"] is None


def test_people_are_reconstructed():
    """`sum_x p(x) sum_y A[y, x] P(x | y)` of a coin (Wang, Wu & Hu 2016, eq. 5), by hand: .75 x .8 + .25 x .4."""
    (row,) = compare({"coin": lambda epsilon: Warner(p=3 / 4)}, [0.75, 0.25], 10, ["reconstruction"], epsilons=[1]).rows
    assert row["reconstruction"] == pytest.approx(0.7)


def test_pictures_of_two_attributes():
    (axes, other) = compare(
        ["laplace"], TABLE / TABLE.sum(), 100, ["chi_squared_error", "reconstruction"], epsilons=[1, 2]
    ).plot()
    assert axes.get_ylabel() == "standard error of the chi squared"
    assert other.get_ylabel() == "people reconstructed rightly"
    assert "2 x 3 categories" in axes.figure._suptitle.get_text()
    pyplot.close(axes.figure)


def test_frames_json_and_progress():
    told = []
    found = compare(["laplace"], PRIOR, 1000, epsilons=[2, 1], progress=lambda *done: told.append(done))
    assert told == [(1, 2), (2, 2)]
    assert found.to_frame("polars").columns == ["scheme", "asked", "epsilon", "interval_width", "adversary_accuracy"]
    assert json.loads(json.dumps(found.to_json()))["rows"] == list(found.rows)
    assert [row["asked"] for row in found.of("laplace")] == [1, 2]


def overlap(figure, texts) -> list[tuple[str, str]]:
    """Pairs of words whose boxes touch."""
    figure.canvas.draw()
    boxes = [(text.get_text(), text.get_window_extent()) for text in texts if text.get_text() and text.get_visible()]
    return [(a, b) for i, (a, first) in enumerate(boxes) for b, second in boxes[i + 1 :] if first.overlaps(second)]


@pytest.mark.parametrize("count", [*(pytest.param(number, marks=pytest.mark.slow) for number in (1, 2)), 3])
def test_the_picture_has_words_that_do_not_touch(count, tmp_path):
    measures = ["respondents_needed", "adversary_accuracy", "mutual_information"][:count]
    names = [*comparable_schemes(), "certified"]
    axes = compare(names, PRIOR, 10_000, measures, epsilons=EPSILONS[::3]).plot()
    (figure,) = {drawn.figure for drawn in axes}
    assert len(axes) == len(figure.axes) == count
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [
        *(name.replace("_", " ") for name in names[:-1]),
        "certified optimum",
    ]
    texts = [*legend.get_texts(), figure._suptitle]
    for drawn in axes:
        above = drawn.child_axes[0]
        texts += [drawn.xaxis.label, drawn.yaxis.label, above.xaxis.label, *above.get_xticklabels()]
        (left, right), (low, high) = drawn.get_xlim(), drawn.get_ylim()
        texts += [text for text in drawn.get_xticklabels() if left <= text.get_position()[0] <= right]
        texts += [text for text in drawn.get_yticklabels(which="both") if low <= text.get_position()[1] <= high]
    assert overlap(figure, texts) == []
    assert {text.get_text() for text in axes[0].child_axes[0].get_xticklabels()} >= {"3:1", "10:1"}
    pyplot.close(figure)
    compare(names[:1], [0.5, 0.5], 100, measures, epsilons=[1, 2]).plot(tmp_path / "schemes.png")
    assert (tmp_path / "schemes.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"schemes": ["kuk"]}, "schemes must be functions of an epsilon, or among certified, .* Got 'kuk' instead"),
        ({"schemes": ["laplace", "laplace"]}, "schemes must have different names. Got 'laplace'"),
        ({"schemes": []}, "schemes and epsilons must be at least one of each"),
        ({"epsilons": []}, "schemes and epsilons must be at least one of each"),
        ({"epsilons": [-1]}, "epsilon must be between 0 and 700. Got -1"),
        ({"measures": []}, "measures must be at least one"),
        ({"measures": ["fun"]}, "measures must be functions, or among mse, .* Got 'fun' instead"),
        ({"prior": [0.5, 0.4]}, "prior must sum to 1"),
        ({"prior": [[0.5, 0.4]]}, "prior must sum to 1"),
        ({"prior": [[0.5, 0.5]]}, "prior must be the probabilities of two categories or more"),
        ({"prior": [[0.5, 0.5], [0, 0]]}, "prior must be positive in every category; leave out category 1"),
        ({"prior": [[[0.5, 0.5]]]}, "prior must be the probabilities of two categories or more"),
        (
            {"prior": [[0.5, 0], [0, 0.5]], "schemes": ["certified"]},
            "schemes must be functions of an epsilon, or among",
        ),
        (
            {"prior": np.full((12, 12), 1 / 144), "schemes": ["optimized_unary"]},
            "schemes must have matrices of at most 4194304 entries for two attributes together. Got 16777216 x 144",
        ),
        ({"measures": ["chi_squared_error"]}, "measures must fit the prior, which is of one attribute. Got 'chi_sq"),
        ({"respondents": -1}, "respondents must be a number above 0"),
        ({"width": 0}, "width must be a positive number"),
        ({"level": 1}, "level must be between 0 and 1"),
    ],
)
def test_mistakes_are_told(arguments, message):
    usual = {"schemes": ["laplace"], "prior": [0.5, 0.5], "respondents": 100, "measures": ["mse"]}
    with pytest.raises(SottovoceError, match=message):
        compare(**{**usual, **arguments})


def test_summaries():
    comparison = compare(
        ["randomized_response", "optimized_unary"], [0.5, 0.3, 0.2], 1000, ["mse", "distortion"], epsilons=[1]
    )
    assert repr(comparison) == (
        "<SchemeComparison: 2 rows, 3 categories, 1,000 respondents; "
        "randomized_response, optimized_unary; mse, distortion>"
    )
    lines = str(comparison).splitlines()
    assert lines[1].split() == ["scheme", "epsilon", "mse", "distortion"]
    assert lines[3].split()[:2] == ["optimized_unary", "1"]
    assert len(lines[3].split()) == 3  # the distortion of sets is undefined
    assert "<td>optimized_unary</td><td>1</td>" in comparison._repr_html_()
    assert "<small>2 rows, 3 categories, 1,000 respondents</small>" in comparison._repr_html_()
