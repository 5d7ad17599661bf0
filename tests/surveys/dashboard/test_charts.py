"""Charts show their numbers as a picture, in words and as a table, whatever the labels are."""

import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

from sottovoce.surveys.dashboard.charts import (
    MINUS,
    Cell,
    IntervalRow,
    heat_map,
    interval_chart,
    line_chart,
    wrapped,
)
from sottovoce.surveys.dashboard.visit import files
from sottovoce.surveys.page.files import page_files

NASTY = ["<script>alert(1)</script>", "\"quotes' & more", "🙂🙂🙂", "x" * 500, "شهريا في العمل", "", "&amp;"]
ROWS = [IntervalRow("Never", 0.687, 0.64, 0.74), IntervalRow("Weekly", -0.013, -0.05, 0.03)]


def parsed(markup) -> ElementTree.Element:
    """The chart as XML, which it is."""
    return ElementTree.fromstring(f"<div>{markup}</div>")  # noqa: S314, written by the test


def drawings(markup) -> dict[str, ElementTree.Element]:
    return {svg.get("class"): svg for svg in parsed(markup).iter("svg")}


@pytest.mark.parametrize("draw", [interval_chart, line_chart])
def test_a_chart_has_a_title_a_description_and_a_table(draw):
    chart = parsed(draw("Drinks", "Estimated shares.", ROWS, 0.9))
    ids = [element.get("id") for element in chart.iter() if element.get("id")]
    assert len(set(ids)) == len(ids) == 4
    for svg in chart.iter("svg"):
        assert svg.get("role") == "img"
        title, description = svg.get("aria-labelledby").split()
        words = {element.get("id"): element.text for element in svg if element.tag in ("title", "desc")}
        assert words[title] == "Drinks"
        assert "Never: 68.7 %, 64.0 to 74.0." in words[description]
    cells = ["".join(cell.itertext()) for cell in chart.find(".//table").iter() if cell.tag in ("td", "th")]
    assert cells[:3] == ["Answer", "Estimate", "90 % interval"]
    assert cells[3:] == ["Never", "68.7 %", "64.0 to 74.0", "Weekly", f"{MINUS}1.3 %", f"{MINUS}5.0 to 3.0"]


@pytest.mark.parametrize("kind", ["wide", "narrow"])
def test_dots_and_intervals_stand_where_their_shares_are_on_the_axis(kind):
    svg = drawings(interval_chart("T", "D", ROWS, 0.95))[kind]
    texts = {"".join(t.itertext()).strip(" %"): float(t.get("x")) for t in svg.iter("text") if t.get("class") == "tick"}
    assert set(texts) >= {"0", "20", "100", f"{MINUS}20"}
    lines = [float(line.get("x1")) for line in svg.iter("line") if "zero" in line.get("class")]
    zero, hundred = lines[0], max(float(line.get("x2")) for line in svg.iter("line"))
    dots = [float(dot.get("cx")) for dot in svg.iter("circle")]
    bars = [(float(bar.get("x1")), float(bar.get("x2"))) for bar in svg.iter("line") if bar.get("class") == "bar"]
    at = [zero + share * (hundred - zero) for share in (0.687, -0.013, 0.64, 0.03)]
    assert [*dots, bars[0][0], bars[1][1]] == pytest.approx(at, abs=0.2)


def test_truths_and_targets_are_drawn_beside_the_estimates():
    rows = [IntervalRow("a", 0.3, 0.2, 0.4, truth=0.35, notes=("12",)), IntervalRow("b", 0.7, 0.6, 0.8, notes=("9",))]
    chart = parsed(interval_chart("T", "D", rows, 0.95, 0.5, note_names=["Forged"]))
    for svg in chart.iter("svg"):
        assert len([path for path in svg.iter("path") if path.get("class") == "truth"]) == 1
        assert [line for line in svg.iter("line") if line.get("class") == "target"]
    table = "".join(chart.find(".//table").itertext())
    assert [word in table for word in ("Truth", "35.0 %", "Forged", "12")] == [True] * 4
    assert "Diamond" in "".join(chart.itertext())
    trend = parsed(line_chart("T", "D", rows, 0.95, note_names=["Forged"]))
    assert len(list(trend.iter("path"))) == 2


@pytest.mark.parametrize("share", [0.0004, 0.004, 0.03, 0.3, 0.99, 1.3, 7.0, 300.0])
def test_an_axis_has_few_lines_and_all_shares_on_it(share):
    svg = drawings(interval_chart("T", "D", [IntervalRow("a", share / 2, -share, share)], 0.95))["wide"]
    ticks = [float(t.get("x")) for t in svg.iter("text") if t.get("class") == "tick"]
    assert 2 <= len(ticks) <= (9 if share < 100 else 70)
    bar = next(line for line in svg.iter("line") if line.get("class") == "bar")
    assert ticks[0] <= float(bar.get("x1")) <= float(bar.get("x2")) <= ticks[-1]


@pytest.mark.parametrize("label", NASTY)
@pytest.mark.parametrize("draw", [interval_chart, line_chart])
def test_every_label_is_shown_as_it_is(draw, label):
    markup = draw(label, label, [IntervalRow(label, 0.3, 0.2, 0.4)], 0.95)
    assert "<script" not in markup
    chart = parsed(markup)
    assert chart.find(".//tbody//th/bdi").text == (label or None)
    for svg in chart.iter("svg"):
        texts = [text for text in svg.iter("text") if text.get("class") == "label"]
        shown = "".join("".join(span.itertext()) for span in texts[0].iter("tspan"))
        cut = texts[0].find("title")
        assert len(shown) <= 90
        assert shown.replace(" ", "") == label.replace(" ", "") if cut is None else cut.text == label
        assert (texts[0].get("direction") == "rtl") == (label == NASTY[4])


def test_nothing_has_a_style_or_a_script_of_its_own():
    marked = f"{interval_chart('T', 'D', ROWS, 0.95)}{line_chart('T', 'D', ROWS, 0.95)}{heat_map('T', 'D', [], [], [])}"
    found = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag, attributes):
            found.extend(name for name, _ in attributes)

    Reader().feed(marked)
    assert not [name for name in found if name == "style" or name.startswith("on")]


def test_a_heat_map_shades_its_cells_by_their_shares():
    cells = [[Cell(0.4, 0.06), Cell(-0.01, 0.02)], [Cell(0.2), Cell(None)]]
    table = parsed(heat_map("By ward", "Percent.", ["A", "<b>"], ["x", "y"], cells)).find(".//table")
    shown = [("".join(cell.itertext()), cell.get("class")) for cell in table.find("tbody").iter("td")]
    assert shown == [("40 ±6", "heat-10"), (f"{MINUS}1 ±2", "heat-0"), ("20", "heat-5"), ("\N{EN DASH}", None)]
    assert [heading.text for heading in table.findall(".//tbody//bdi")] == ["A", "<b>"]
    nothing = heat_map("T", "D", ["A"], ["x"], [[Cell(-0.1, 0.2)]])
    assert "heat-0" in nothing


@pytest.mark.parametrize(("accent", "ink", "card"), [("0f6b7c", "12303b", "ffffff"), ("5fc0cd", "e9efee", "18252a")])
def test_text_over_cells_has_enough_contrast(accent, ink, card):
    def luminance(colour):
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    parts = [[int(text[i : i + 2], 16) / 255 for i in (0, 2, 4)] for text in (accent, ink, card)]
    shares = [
        int(share) / 100 for share in re.findall(r"--chart-accent\) (\d+)%", files()["charts.css"].content.decode())
    ]
    assert len(shares) == 11
    for share in shares:
        ground = luminance([share * a + (1 - share) * c for a, c in zip(parts[0], parts[2], strict=True)])
        bright, dark = sorted([ground, luminance(parts[1])], reverse=True)
        assert (bright + 0.05) / (dark + 0.05) >= 4.5


def test_labels_wrap_at_spaces_and_are_cut_after_the_last_line():
    assert wrapped("Once or twice in the whole of the last year", 120, 2).lines[0] == "Once or twice in"
    long = wrapped("word " * 100, 120, 2)
    assert len(long.lines) == 2
    assert long.cut
    assert long.lines[1].endswith("…")
    assert wrapped("日本語の長いラベル", 60, 1).lines == ("日本語…",)
    assert not wrapped("e\u0301" * 10, 90, 1).cut
    assert wrapped("12 %", 90, 1).right_to_left is False


def test_colours_are_those_of_the_respondents_page():
    """Its style sheet repeats them, so that a phone loads one file less."""
    of_dashboard, of_page = (
        re.findall(r"--([\w-]+): (?:var\(--[\w-]+, )?(#\w+)", sheet.content.decode())
        for sheet in (files()["colours.css"], page_files()["page.css"])
    )
    assert len(of_dashboard) == 26
    assert of_dashboard == of_page
