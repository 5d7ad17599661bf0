"""Laws of the verdicts: what is printed, what ours may be, and nothing else."""

import ast
from importlib import import_module
from math import inf
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from papers._emask_privacy import READINGS, Breach, Disguise, _kept
from papers._repeated import percentage
from papers.comparison import LEVEL, Measured, Printed, Row, all_of, claim, compare, compare_draw
from sottovoce.tables.bitsets import Bitsets

PAPERS = Path(__file__).parent.parent.parent / "papers"

numbers = st.floats(-1e4, 1e4, allow_nan=False)
places = st.integers(0, 6)
errors = st.floats(1e-6, 100)
runs = st.integers(2, 5000)


def printed(number: float, decimals: int) -> Printed:
    return Printed(f"{number:.{decimals}f}")


@given(numbers, places)
def test_a_computed_number_agrees_with_its_rounding(number, decimals):
    assert compare("n", printed(number, decimals), number).verdict == "reproduced"


@given(numbers, places, st.floats(1e-3, 100), st.booleans())
def test_a_computed_number_further_off_than_rounding_differs_on_its_side(number, decimals, more, upwards):
    low, high = printed(number, decimals).ends
    ours = high + more if upwards else low - more
    row = compare("n", printed(number, decimals), ours)
    assert row.verdict == "differs"
    assert row.reason.startswith("ours is above" if upwards else "ours is below")


@given(numbers, places, errors, runs)
def test_the_rounding_of_ours_never_differs_and_is_told_if_runs_resolve_it(number, decimals, error, times):
    ours = Measured(number, error, times)
    row = compare("n", printed(number, decimals), ours)
    (low, high), (least, most) = printed(number, decimals).ends, ours.ends
    assert row.verdict == ("reproduced" if low <= least and most <= high else "too few runs to tell")


@given(numbers, places, errors, runs)
def test_a_margin_wider_than_the_rounding_is_never_a_pass(number, decimals, error, times):
    shown = printed(number, decimals)
    ours = Measured(number, error, times)
    assume(ours.ends[1] - ours.ends[0] > shown.ends[1] - shown.ends[0])
    assert compare("n", shown, ours).verdict != "reproduced"


@given(numbers, places, errors, runs, st.floats(1e-3, 10))
def test_a_number_off_by_more_than_rounding_and_error_differs(number, decimals, error, times, more):
    shown = printed(number, decimals)
    margin = Measured(0.0, error, times).ends[1]
    for ours in (shown.ends[1] + margin + more, shown.ends[0] - margin - more):
        assert compare("n", shown, Measured(ours, error, times)).verdict == "differs"


def test_variances_printed_with_four_decimals_are_compared_as_such():
    verdicts = {ours: compare("v", Printed("0.0001"), ours).verdict for ours in (0.0, 4.9e-5, 5.1e-5, 1.4e-4, 2e-4)}
    assert list(verdicts.values()) == ["differs", "differs", "reproduced", "reproduced", "differs"]
    assert compare("v", Printed("0", decimals=4), 2e-5).verdict == "reproduced"
    assert compare("v", Printed("0", decimals=4), 6e-5).verdict == "differs"


@pytest.mark.parametrize(
    ("text", "options", "ends", "value"),
    [
        ("389", {}, (388.5, 389.5), 389),
        ("0.6", {}, (0.55, 0.65), 0.6),
        ("6", {"decimals": 2, "cut": True}, (6.0, 6.01), 6.0),
        ("11.62", {"cut": True}, (11.62, 11.63), 11.62),
        ("-0.5", {}, (-0.55, -0.45), -0.5),
    ],
)
def test_what_a_printed_number_stands_for(text, options, ends, value):
    assert Printed(text, **options).ends == ends
    assert Printed(text, **options).value == value
    assert type(Printed(text, **options).value) is type(value)


def test_few_equal_runs_within_a_range():
    """Nothing found in twenty runs is less than half of them; of one run this is not known."""
    never = Measured.mean_of([0.0] * 20, within=(0, 100))
    assert never.below(50.0) is True
    assert never.below(20.0) is None
    assert Measured.mean_of([100.0] * 20, within=(0, 100)).below(50.0) is False
    assert Measured.mean_of([0.0], within=(0, 100)).below(50.0) is None
    assert Measured.mean_of([1.0, 3.0] * 9, within=(0, 100)) == Measured.mean_of([1.0, 3.0] * 9)


def test_one_run_or_few_equal_ones_tell_nothing():
    for samples in ([5.0], [5.0, 5.0], [5.0] * 150, [np.nan, np.nan]):
        assert compare("n", Printed("5"), Measured.mean_of(samples)).verdict == "too few runs to tell"
        assert Measured.mean_of(samples).below(7.0) is None
        assert compare_draw("n", Printed("7"), samples).verdict == "too few runs to tell"
    enough = Measured.mean_of([5.0] * 200)
    assert compare("n", Printed("5"), enough).verdict == "reproduced"
    assert compare_draw("n", Printed("7"), [5.0] * 200).verdict == "differs"


@given(st.lists(st.floats(-100, 100), min_size=2, max_size=40), st.data())
def test_one_of_our_runs_is_never_different(samples, data):
    one = data.draw(st.sampled_from(samples))
    row = compare_draw("n", printed(one, 4), samples)
    assert row.verdict == "reproduced"


def test_draws_outside_the_range_differ_on_either_side():
    ours = np.random.default_rng(1).normal(10, 1, size=30)
    verdicts = [compare_draw("n", Printed(text), ours) for text in ("10.0", "0.0", "20.0")]
    assert [row.verdict for row in verdicts] == ["reproduced", "differs", "differs"]
    assert [row.reason.split(":")[0] for row in verdicts[1:]] == ["ours is above", "ours is below"]


def test_few_runs_leave_open_what_more_decide():
    """Four standard deviations off: outside of what many runs would have, within what four runs leave open."""
    rng = np.random.default_rng(2)
    few, many = rng.normal(0, 1, 4), rng.normal(0, 1, 1000)
    assert compare_draw("n", Printed("4.2"), few).verdict == "too few runs to tell"
    assert compare_draw("n", Printed("4.2"), many).verdict == "differs"
    assert compare_draw("n", Printed("2.0"), many[:20]).verdict in ("too few runs to tell", "reproduced")
    assert compare_draw("n", Printed("2.0"), many).verdict == "reproduced"


def test_limits_hold_all_numbers_of_another_run_together():
    """In 99 % of the families, normal ones: 400 of them, 3.5 standard errors."""
    rng, inside = np.random.default_rng(1), 0
    for _ in range(400):
        ours, other = rng.normal(size=(30, 6)), rng.normal(size=6)
        rows = [compare_draw("n", Printed(f"{o:.9f}"), s, numbers=6) for o, s in zip(other, ours.T, strict=True)]
        inside += all(row.verdict != "differs" for row in rows)
    assert inside / 400 > LEVEL - 3.5 * np.sqrt(LEVEL * (1 - LEVEL) / 400)


def test_means_of_a_reference_are_compared_within_chance():
    ours = np.random.default_rng(1).normal(10, 2, size=200)
    verdicts = [compare_draw("n", Printed(text), ours, of=20).verdict for text in ("10.0", "12.5")]
    assert verdicts == ["reproduced", "differs"]
    assert compare_draw("n", Printed("10.0"), ours[:3], of=20).verdict == "too few runs to tell"


@given(st.lists(st.sampled_from([True, False, None]), max_size=6))
def test_all_of_is_what_every_completion_says(statements):
    completions = {
        all(fill if holds is None else holds for holds in statements) for fill in (True, False)
    }  # all unknown ones true, or all false: the extremes
    assert all_of(statements) == (completions.pop() if len(completions) == 1 else None)


@given(numbers, numbers, errors, errors, runs)
def test_below_is_never_both(a, b, first, second, times):
    here, there = Measured(a, first, times), Measured(b, second, times)
    assert not (here.below(there) is True and there.below(here) is True)
    assert here.below(there) in (True, False, None)
    if here.below(there) is not None:
        assert here.below(there) == (a < b)
        assert here.reaches(there) == (a >= b)


def test_computed_numbers_are_always_told_apart():
    assert [Measured(1).below(limit) for limit in (0.5, 1, 2)] == [False, False, True]
    assert str(Measured(0.25)) == "0.25"
    assert str(Measured(0.25, 0.1, 1000)) == "0.25 +- 0.26"
    assert Measured(3.0, 0.3, 10).distance(Measured(1.0, 0.4, 20)) == Measured(2.0, 0.5, 10)


def test_limits_of_a_variance_hold_it():
    """Normal samples of ten: 99 % of 2,000 limits hold 1, 3.5 standard errors."""
    samples = np.random.default_rng(3).normal(size=(2000, 10))
    limits = [Measured.variance_of(float(value), 10).ends for value in samples.var(axis=1, ddof=1)]
    held = np.mean([low <= 1 <= high for low, high in limits])
    assert abs(held - LEVEL) < 3.5 * np.sqrt(LEVEL * (1 - LEVEL) / 2000)
    assert "(" in str(Measured.variance_of(1.0, 10))


def test_a_share_has_an_error_even_if_all_succeed():
    share = Measured.share_of([True] * 20)
    assert share.value == 1
    assert 0 < share.error < 0.1
    assert share.reaches(0.5)


def test_a_claim_is_judged_by_what_was_computed():
    assert [claim("c", "w", "o", holds).verdict for holds in (True, False, None)] == [
        "claim holds",
        "claim fails",
        "too few runs to tell",
    ]
    row = claim("c", "w", "o", np.bool_(False)).as_reference()
    assert (row.published, row.reference, row.verdict) == (None, "w", "claim fails")


def test_a_short_search_decides_only_what_more_of_it_cannot_change():
    holds, fails = claim("c", "w", "o", holds=True), claim("c", "w", "o", holds=False, reason="read so")
    assert holds.of_short_search(1, 10) == holds
    assert fails.of_short_search(10, 10) == fails
    assert fails.of_short_search(1, 10).verdict == "too few runs to tell"
    assert fails.of_short_search(1, 10).reason == "1 of 10 generations. read so"
    assert holds.of_short_search(1, 10, improves=False).verdict == "too few runs to tell"


def test_columns():
    row = compare("n", Printed("0.5"), Measured(0.51, 0.001, 100)).to_json()
    assert list(row) == ["name", "published", "reference", "ours", "error", "runs", "verdict", "reason"]
    assert (row["published"], row["reference"], row["error"], row["runs"]) == (0.5, None, 0.001, 100)
    assert compare("n", Printed("0.5"), Measured(0.5, inf, 1)).error is None


def test_the_thesis_cuts_its_percentages_off():
    """Each printed share is 100 k / |F| with its digits cut off; rounding would print many of them otherwise."""
    rounded = []
    for number in range(2, 8):
        module = import_module(f"papers.emask_table3_{number}")
        table = getattr(module, "table", None) or module.rerun.__self__
        for sets, *shares, _rho in table.printed:
            possible = [100 * k / sets for k in range(sets + 1)]
            for share in shares:
                low, high = percentage(share).ends
                assert any(low <= each + 1e-9 and each < high for each in possible), (sets, share)
                rounded.append(any(round(each, 2) == share for each in possible))
    assert 0.2 < np.mean(rounded) < 0.8


def test_no_verdict_is_written_down():
    """Rows come from comparisons: no module makes one itself, or says itself that a claim holds or fails."""
    for path in PAPERS.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if path.name == "comparison.py" or not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                continue
            assert node.func.id != "Row", path
            given = [*node.args[3:4], *(word.value for word in node.keywords if word.arg == "holds")]
            constant = [each for each in given if isinstance(each, ast.Constant)]
            assert node.func.id != "claim" or not constant, (path, node.lineno)


def small_disguise(seed: int) -> Disguise:
    rng = np.random.default_rng(seed)
    truths, reports = rng.random((300, 4)) < 0.4, rng.random((300, 4)) < 0.5
    sets = [[0], [1], [2], [3], [0, 1], [1, 2], [0, 1, 2]]
    made = (Bitsets.from_matrix(truths), Bitsets.from_matrix(reports))
    return Disguise(*made, sets, (0.6, 0.8), 0.3, int(truths.sum()) + 50, 0.5)


@pytest.mark.parametrize("seed", range(5))
def test_the_first_reading_is_that_of_the_library(seed):
    disguise = small_disguise(seed)
    readings = disguise.by_reading()
    assert readings[0] == pytest.approx(disguise.reinterrogation())
    assert len(readings) == len(READINGS) == 11


def test_readings_are_ordered_as_they_must_be():
    """A mean breach is at most the worst one, and fewer sets breach less."""
    found = dict(zip((reading.words for reading in READINGS), small_disguise(7).by_reading(), strict=True))
    first, *_ = found.values()
    assert found["the mean breach instead of the worst"] >= first
    assert found["single items"] >= first
    assert found["sets in both"] >= first


def test_an_item_without_a_set_of_the_size_keeps_its_floor():
    breach = Breach(1, 0.5, dict.fromkeys(("report", "original", "both"), np.packbits([1, 0, 1])))
    assert _kept(READINGS[3], 3, [breach], 0.9) == pytest.approx(2.7)
    assert _kept(READINGS[7], 3, [breach], 0.9) == pytest.approx(2 * 0.5 + 0.9)


def test_rows_have_one_source():
    row = compare("n", Printed("5"), 5)
    assert isinstance(row, Row)
    assert row.reason == "equal"
    assert (row.published is None) != (row.reference is None)
