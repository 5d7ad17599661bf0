"""Questions that surveys really ask: public ones, scales, matrices, limits, and texts missing in a language."""

import json
from dataclasses import replace
from hashlib import sha256

import numpy as np
import pytest

from sottovoce.errors import SottovoceError
from sottovoce.mechanisms.coins import random_words
from sottovoce.plans.canonical import canonical_bytes
from sottovoce.reports.reports import Reports
from sottovoce.surveys.client.client import disguise_answers, truth_of
from sottovoce.surveys.client.simulate import simulate_respondents
from sottovoce.surveys.codebook import write_codebook
from sottovoce.surveys.collect.audit import audit_document
from sottovoce.surveys.definition.definition import survey_from_text
from sottovoce.surveys.definition.preview import definition_warnings, preview, respondents_needed
from sottovoce.surveys.definition.questions import Answer, PartialTexts, Question
from sottovoce.surveys.definition.survey import survey_from_bytes
from sottovoce.surveys.page.files import FOLDER
from sottovoce.surveys.publications import export_reports
from sottovoce.surveys.report import ReportFormat
from sottovoce.surveys.results import (
    cross_table,
    disguised_table,
    question_result,
    results_by,
    survey_results,
)
from sottovoce.surveys.scales import scale_mean

HEAD = "title: T\nasker: A\npurpose: P\nuntil: 2999-12-31\ninvitation: open\nsend_interval: 0\nminimum: 20\n"
"""Seven lines: the next one is line 8."""

TEXT = (
    HEAD
    + """odds: 100:1
questions:
  - {id: ward, kind: single, text: "Your ward?", answers: [north, south], public: true}
  - {id: street, kind: single, text: "Which street?", answers: [a, b], public: true, decline: true, when: {ward: north}}
  - {id: tax, kind: yes_no, text: "Did you evade tax?", answers: [yes, no]}
  - {id: fear, kind: scale, text: "Are you afraid?", steps: 5, ends: [never, always], wanted: mean, when: {ward: south}}
  - {id: seen, kind: several, text: "What?", answers: [x, y, z], least: 1, most: 2, shuffle: true, decline: true}
  - id: trust
    kind: matrix
    text: How much do you trust
    items: {police: "the police?", press: "the press?"}
    labels: [not at all, a little, fully]
    wanted: trend
"""
)
ANSWERS = {"ward": "south", "tax": "yes", "fear": "4", "seen": ["x"], "trust_police": "1", "trust_press": "3"}


def made(rest: str):
    return survey_from_text(HEAD + rest)


@pytest.fixture(scope="module")
def asked():
    return survey_from_text(TEXT)


@pytest.fixture(scope="module")
def simulated(asked):
    shares = {
        "ward": {"north": 0.9, "south": 0.1},
        "street": {"a": 0.5, "b": 0.5},
        "tax": {"yes": 0.3, "no": 0.7},
        "fear": {"1": 0.5, "5": 0.5},
        "seen": {"x": 0.5, "y": 0.2},
        "trust_police": {"1": 0.2, "2": 0.3, "3": 0.5},
        "trust_press": {"1": 0.6, "2": 0.2, "3": 0.2},
    }
    return simulate_respondents(asked, 4000, np.random.default_rng(3), shares)


def test_the_plan_protects_all_but_public_questions(asked):
    assert asked.plan.schema.names == ("tax", "fear", "seen", "trust_police", "trust_press")
    assert asked.plan.public_names == ("ward", "street")
    assert str(asked.plan.guarantee).endswith("given the public answers")
    assert asked.question("tax").labels == ("yes", "no")
    assert [answer.text["en"] for answer in asked.question("tax").answers] == ["Yes", "No"]
    assert asked.question("trust_press").full_text("en") == "How much do you trust the press?"
    assert asked.question("trust_press").labels == ("1", "2", "3")
    assert [a.text["en"] for a in asked.question("fear").answers] == ["1 (never)", "2", "3", "4", "5 (always)"]
    assert "<td>public</td>" in asked._repr_html_()
    assert "<td>How much do you trust the press?</td>" in asked._repr_html_()


def test_documents_come_back_and_have_all_keys(asked):
    document = json.loads(asked.document)
    assert document["version"] == 2
    assert all(q.keys() >= {"public", "shuffle", "limits", "scale", "wanted", "matrix"} for q in document["questions"])
    assert document["questions"][3]["scale"] == {"ends": [{"en": "never"}, {"en": "always"}]}
    assert document["questions"][4]["limits"] == [1, 2]
    assert document["questions"][5]["matrix"] == {"id": "trust", "text": {"en": "How much do you trust"}}
    assert survey_from_bytes(asked.document) == asked


def test_a_report_has_public_answers_behind_the_disguised_ones(asked):
    body = json.loads(disguise_answers(asked, ANSWERS, words=random_words(1)).body)
    report = bytes.fromhex(body["report"])
    layout = ReportFormat(asked.plan)
    assert len(report) == layout.length == len(asked.plan.report_schema.sizes) + 2
    assert list(report[-2:]) == [1, 3]  # south, not asked
    assert layout.fits(report)
    assert not layout.fits(report[:-1] + bytes([4]))
    assert not layout.fits(report[:-2] + bytes([2, 0]))
    north = json.loads(disguise_answers(asked, NORTH).body)
    assert list(bytes.fromhex(north["report"])[-2:]) == [0, 2]  # declined


NORTH = {"ward": "north", "street": None, "tax": "no", "seen": None, "trust_police": "2", "trust_press": "2"}


def test_limits_hold_in_python_as_well(asked):
    assert truth_of(asked, NORTH)["seen"] == ["no answer"]
    for chosen in ([], ["x", "y", "z"]):
        with pytest.raises(SottovoceError, match="seen must be 1 to 2 answers"):
            truth_of(asked, ANSWERS | {"seen": chosen})


def test_simulated_respondents_keep_to_the_limits(simulated):
    assert {len(chosen) for chosen in simulated.truths["seen"]} == {1, 2}
    assert simulated.share("seen", "x") > simulated.share("seen", "y") > 0.2


def test_results_of_every_kind(asked, simulated):
    found = {result.questions[0]: result for result in survey_results(asked, simulated.reports(rng=1))}
    ward = found["ward"].lines[0]
    assert ward.estimate == pytest.approx(simulated.share("ward", "north"))
    assert ward.forged is not None
    mean = found["fear"].mean
    assert abs(mean.value - 3) < 4 * mean.standard_error
    assert 1 <= mean.low < mean.high <= 5
    assert "  mean: " in repr(found["fear"])
    assert "mean" in found["fear"]._repr_html_()
    police = found["trust_police"].up_to
    assert [round(each.value - truth, 0) for each, truth in zip(police, (0.2, 0.5), strict=True)] == [0, 0]
    assert all(abs(e.value - t) < 4 * e.standard_error for e, t in zip(police, (0.2, 0.5), strict=True))
    assert [name for name, _ in found["trust_police"].scale_lines] == ["1 to 1", "1 to 2"]
    assert found["tax"].scale_lines == []
    assert found["fear"].to_json()["mean"]["value"] == mean.value
    table = cross_table(asked, simulated.reports(rng=1), "ward", "tax")
    assert table.test is not None
    assert sum(line.estimate for line in table.lines) == pytest.approx(1)


def test_a_mean_of_nobody_is_none(asked, simulated):
    from sottovoce.estimates.proportions import estimate_proportions

    nobody = replace(
        estimate_proportions({"trust_press": ["1", "2", "3"] * 9}, asked.plan.__class__.of(
            asked.plan.schema.project(["trust_press"]), {"trust_press": _coins()}), ["trust_press"]),
        value=np.array([-0.1, 0.0, 1.1]),
    )  # fmt: skip
    assert scale_mean(nobody, 2) is None


def _coins():
    from sottovoce.schemes import RandomizedResponse

    return RandomizedResponse(odds=3)


def test_results_by_public_answers_keep_the_minimum(asked, simulated):
    reports = simulated.reports(rng=1)
    results, small = results_by(replace(asked, minimum=1000), reports, ["ward"])
    assert {result.group for result in results} == {("north",)}
    assert [result.questions[0] for result in results] == [question.id for question in asked.protected]
    assert list(small) == [("south",)]
    assert small["south",] + results[0].respondents == 4000
    assert results[0].headline.startswith("tax (north): ")
    both, none = results_by(replace(asked, minimum=1), reports, ["ward", "street"])
    assert {result.group for result in both} == {("north", "a"), ("north", "b"), ("south", "not asked")}
    assert none == {}
    for by in ([], ["tax"], ["ward", "ward"]):
        with pytest.raises(SottovoceError, match=r"by must name different public questions \(ward, street\)"):
            results_by(asked, reports, by)
    with pytest.raises(SottovoceError, match="there are none"):
        results_by(made("odds: 3\nquestions: [{id: q, kind: yes_no, text: Q}]"), reports, ["q"])


class _Stored:
    def __init__(self, reports):
        self._reports = reports

    def reports(self, _):
        return self._reports


def test_public_answers_are_exported_as_labels(asked, simulated, tmp_path):
    stored = _Stored(simulated.reports(rng=1))
    found = Reports(disguised_table(stored, asked), asked.plan)
    assert len(found.where(ward="north")) == round(4000 * simulated.share("ward", "north"))
    assert set(found.estimate("tax", by="ward")) == {"north", "south"}
    assert export_reports(stored, asked, tmp_path / "out.csv") == 4000
    header, first, *_ = (tmp_path / "out.csv").read_text().splitlines()
    assert header == "tax,fear,seen,trust_police,trust_press,ward,street"
    assert first.split(",")[5] in ("north", "south")
    export_reports(stored, asked, tmp_path / "out.parquet")
    assert len(Reports(str(tmp_path / "out.parquet"), asked.plan)) == 4000


def test_the_audit_and_the_preview_leave_public_questions_out(asked):
    shown = {question["id"]: question for question in audit_document(asked)["questions"]}
    assert shown["ward"]["public"]
    assert shown["ward"]["promise"] is None
    assert not shown["tax"]["public"]
    assert "your answers to ward, street" in audit_document(asked)["whole"]["words"]
    assert [each.question.id for each in preview(asked, 100)] == [question.id for question in asked.protected]
    assert set(respondents_needed(asked, 0.1)) == set(asked.plan.schema.names)


def test_rare_combinations_of_public_answers_are_warned_of(asked):
    (warning,) = definition_warnings(asked, 40)
    assert warning.startswith("Public answers (ward, street) have 8 combinations: with 40 respondents, 5.0 share each")
    assert "ask 80 respondents" in warning
    assert definition_warnings(asked, 80) == []


def test_texts_that_are_missing_are_those_of_the_first_language():
    survey = made("""languages: [de, en]
odds: 3
questions:
  - {id: q, kind: yes_no, text: {de: Frage, en: Question}, help: Hilfe, decline: true}
""")
    question = survey.questions[0]
    assert question.help["en"] == "Hilfe"
    assert dict(question.help) == {"de": "Hilfe"}
    assert question.answers[1].text == {"de": "Ja", "en": "Yes"}
    assert question.decline == {"de": "Möchte ich nicht sagen", "en": "Prefer not to say"}
    assert survey.title["en"] == "T"
    assert survey.missing_texts == {"title": ("en",), "asker": ("en",), "purpose": ("en",), "q.help": ("en",)}
    assert definition_warnings(survey, 10) == ["Missing in en, and shown in de instead: title, asker, purpose, q.help."]
    back = survey_from_bytes(survey.document)
    assert back == survey
    assert back.title["en"] == "T"
    assert isinstance(back.title, PartialTexts)


def test_numbers_are_called_as_their_author_called_them():
    survey = made("odds: 3\nquestions: [{id: n, kind: number, text: N, edges: [0, 1, 9], labels: [none, some]}]")
    assert survey.questions[0].labels == ("none", "some")
    assert truth_of(survey, {"n": 3}) == {"n": "some"}


def test_no_cell_of_a_codebook_begins_like_a_formula(tmp_path):
    survey = made("odds: 3\nquestions: [{id: q, kind: yes_no, text: '=1+1'}]")
    assert write_codebook(survey, tmp_path / "codebook.csv") == 2
    assert "q,yes_no,no,'=1+1,no,No,randomized_response,3,q,0" in (tmp_path / "codebook.csv").read_text()


def test_labels_of_a_scale_may_have_other_ends():
    question = made("""odds: 3
questions: [{id: q, kind: scale, text: Q, steps: 3, labels: [a, b, c], ends: [low, high]}]""").questions[0]
    assert question.wanted == "shares"
    assert [end["en"] for end in question.ends] == ["low", "high"]
    partly = made("""languages: [en, de]
odds: 3
questions: [{id: q, kind: scale, text: Q, steps: 2, ends: [{en: no, de: nein}, {en: yes}]}]""").questions[0]
    assert [dict(answer.text) for answer in partly.answers] == [{"en": "1 (no)", "de": "1 (nein)"}, {"en": "2 (yes)"}]


@pytest.mark.parametrize(
    ("questions", "message"),
    [
        (
            "{id: a, kind: yes_no, text: A, public: true}",
            r"questions must have a question that is not public.*\(line 10\)",
        ),
        (
            "{id: a, kind: yes_no, text: A}, {id: b, kind: yes_no, text: B, public: true, when: {a: yes}}",
            r"when must not be about a protected answer.*Make a public as well, or .*\(line 10\)",
        ),
        (
            "{id: a, kind: yes_no, text: A}, {id: b, kind: yes_no, text: B, when: {a: yes}},"
            " {id: c, kind: yes_no, text: C, public: true, when: {b: yes}}",
            r"Make b public as well.*\(line 10\)",
        ),
        ("{id: a, kind: several, text: A, answers: [x, y], public: true}", r"public must be left out for several"),
        ("{id: a, kind: yes_no, text: A, public: maybe}", r"public must be true or false \(line 10\)"),
        ("{id: a, kind: yes_no, text: A, public: true, odds: 3}", r"odds must be left out of a public question"),
        (
            "{id: a, kind: scale, text: A, steps: 1, ends: [x, y]}",
            r"steps must be a whole number from 2 to 11 \(line 10\)",
        ),
        ("{id: a, kind: scale, text: A, steps: 12, ends: [x, y]}", r"steps must be a whole number from 2 to 11"),
        ("{id: a, kind: scale, text: A, steps: 5, ends: [x]}", r"ends must be two texts.*\(line 10\)"),
        ("{id: a, kind: scale, text: A, ends: [x, y]}", r"must have steps, the number of steps, and ends.*\(line 10\)"),
        ("{id: a, kind: scale, text: A, steps: 5}", r"must have steps, the number of steps, and ends"),
        ("{id: a, kind: scale, text: A, labels: [x]}", r"labels must name each step of the scale, which has 2 to 11"),
        ("{id: a, kind: scale, text: A, steps: 3, labels: [x, y]}", r"labels must name each step"),
        ("{id: a, kind: scale, text: A, steps: 3, ends: [x, y], wanted: all}", r"wanted must be one of shares, mean"),
        ("{id: a, kind: matrix, text: A, steps: 3, ends: [x, y]}", r"must have items \(line 10\)"),
        (
            "{id: a_x, kind: yes_no, text: A}, {id: a, kind: matrix, text: A, steps: 3, ends: [x, y], items: {x: X}}",
            r"items.x must differ from the ids of other questions \(line 10\)\. Got 'a_x'",
        ),
        ("{id: a, kind: several, text: A, answers: [x, y], most: 3}", r"most must be a whole number from 1 to 2"),
        (
            "{id: a, kind: several, text: A, answers: [x, y], least: 2, most: 1}",
            r"least must be at most 1, which is most",
        ),
        ("{id: a, kind: number, text: A, edges: [1, 2, 3], shuffle: true}", r"shuffle is not known here"),
        ("{id: a, kind: yes_no, text: A}, {id: a, kind: yes_no, text: A, public: true}", r"must differ from the ids"),
    ],
)
def test_refused_questions(questions, message):
    with pytest.raises(SottovoceError, match=message):
        made(f"odds: 9\nquestions:\n  [{questions}]\n")


def test_groups_and_names_of_joint_reports_know_public_questions():
    questions = "".join(f"  - {{id: {name}, kind: yes_no, text: Q}}\n" for name in "ab")
    rest = f"odds: 9\ngroups: [{{questions: [a, b], scheme: attribute_sampling}}]\nquestions:\n{questions}"
    named = made(rest.replace("attribute_sampling", "subset_selection")).plan.report_schema.names
    public = "  - {{id: '{}', kind: yes_no, text: Q, public: true}}\n"
    with pytest.raises(SottovoceError, match=r"must differ from the names of all columns of reports \(line 13\)"):
        made(rest.replace("attribute_sampling", "subset_selection") + public.format(named[0]))
    with pytest.raises(
        SottovoceError, match="must name two or more different questions of the survey that are not public"
    ):
        made(rest.replace("[a, b]", "[a, c]") + public.format("c"))


def changed(asked, index, **changes) -> bytes:
    document = json.loads(asked.document)
    document["questions"][index] |= changes
    return canonical_bytes(document)


ENDS = {"ends": [{"en": "a"}, {"en": "b"}]}
CHANGES = [
    (0, {"public": 1}),
    (0, {"public": False}),
    (2, {"public": True}),
    (0, {"unrelated": {"en": "R"}}),
    (0, {"shuffle": None}),
    (3, {"shuffle": True}),
    (0, {"limits": [0, 1]}),
    (4, {"limits": [0, 0]}),
    (4, {"limits": [2, 1]}),
    (4, {"limits": [0, 4]}),
    (4, {"limits": [True, 1]}),
    (4, {"limits": [1]}),
    (4, {"limits": "12"}),
    (4, {"limits": 2}),
    (0, {"scale": ENDS}),
    (3, {"scale": None}),
    (3, {"scale": {"ends": [{"en": "a"}]}}),
    (3, {"scale": ENDS | {"steps": 5}}),
    (3, {"scale": {"ends": [{"de": "a"}, {"en": "b"}]}}),
    (3, {"wanted": None}),
    (0, {"wanted": "mean"}),
    (0, {"matrix": {"id": "m", "text": {"en": "M"}}}),
    (5, {"matrix": {"id": "", "text": {"en": "M"}}}),
    (5, {"matrix": {"id": "m"}}),
    (5, {"kind": "single"}),
    (2, {"kind": "magic"}),
    (2, {"text": {"en": "Q", "de": "Q"}}),
    (2, {"text": {}}),
    (2, {"text": {"en": 1}}),
    (2, {"text": "Q"}),
    (1, {"when": [{"question": "tax", "is": ["yes"]}]}),
    (3, {"when": [{"question": "seen", "is": ["x"]}]}),
]


@pytest.fixture
def in_the_page(node, tmp_path):
    """Whether the page's own modules take a document: they seal a report, and say nothing else."""
    from pathlib import Path

    script = Path(__file__).parent / "browser" / "sealing.mjs"

    def takes(document: bytes) -> str:
        (tmp_path / "survey.json").write_bytes(document)
        return node(script, FOLDER, tmp_path / "survey.json", sha256(document).hexdigest()).strip()

    return takes


@pytest.mark.slow
def test_python_and_the_page_refuse_the_same_documents(asked, in_the_page):
    sealed = json.loads(in_the_page(asked.document))
    assert ReportFormat(asked.plan).fits(bytes.fromhex(sealed["report"]))
    assert sealed["report"].endswith("0000")  # the first answers of both public questions
    for index, changes in CHANGES:
        document = changed(asked, index, **changes)
        with pytest.raises(SottovoceError):
            survey_from_bytes(document)
        assert not in_the_page(document).startswith("{"), (index, changes)


def test_a_document_of_version_1_has_nothing_of_version_2(asked, in_the_page):
    plain = made("odds: 3\nquestions: [{id: q, kind: yes_no, text: Q}]")
    assert json.loads(plain.document)["version"] == 1
    assert in_the_page(plain.document).startswith("{")
    document = json.loads(plain.document)
    later = {"public": False, "shuffle": False, "limits": None, "scale": None, "wanted": None, "matrix": None}
    needless = document | {"version": 2, "send_interval": 0, "admission": None}
    needless["questions"] = [document["questions"][0] | later]
    scale = document | {"questions": [document["questions"][0] | {"kind": "scale"}]}
    partial = document | {"languages": ["en", "de"]}
    unheard = document | {"languages": []}
    for refused in (needless, scale, partial, unheard):
        with pytest.raises(SottovoceError):
            survey_from_bytes(canonical_bytes(refused))
        assert not in_the_page(canonical_bytes(refused)).startswith("{")


def test_a_survey_checks_its_questions(asked):
    lone = Question("q", "single", {"en": "Q"}, (Answer("a", {"en": "A"}), Answer("b", {"en": "B"})), public=True)
    with pytest.raises(SottovoceError, match="plan must have the public questions as its public columns"):
        replace(asked, questions=(*asked.questions, lone))


def test_estimates_of_public_questions_alone(asked, simulated):
    found = question_result(asked, simulated.reports(rng=1), "street")
    assert [line.labels for line in found.lines] == [("a",), ("b",), ("no answer",), ("not asked",)]
    assert found.lines[2].estimate == 0
