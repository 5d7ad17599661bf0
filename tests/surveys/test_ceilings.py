"""Ceilings of the odds: what is warned about, what must be accepted, and surveys whose reports can rule out answers."""

import json
from dataclasses import replace
from datetime import date
from fractions import Fraction
from hashlib import sha256
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from sottovoce.channels.slabs import Slab
from sottovoce.errors import SottovoceError
from sottovoce.mechanisms.flips import BitCoin
from sottovoce.mechanisms.matrix import Listed
from sottovoce.mechanisms.one_hot import OneHot
from sottovoce.mechanisms.random_set import SetByRank
from sottovoce.mechanisms.sampling import Sampling
from sottovoce.plans.canonical import canonical_bytes
from sottovoce.plans.guarantee import Guarantee
from sottovoce.surveys.client.simulate import simulate_respondents
from sottovoce.surveys.collect.audit import audit_document
from sottovoce.surveys.collect.store import Store
from sottovoce.surveys.definition.ceilings import ceiling_warnings, protection_in_words
from sottovoce.surveys.definition.definition import sample_definition, sample_names, survey_from_text
from sottovoce.surveys.definition.facts import facts_of
from sottovoce.surveys.definition.preview import preview
from sottovoce.surveys.definition.survey import survey_from_bytes
from sottovoce.surveys.page.files import FOLDER
from sottovoce.surveys.report import PossibleReports
from sottovoce.surveys.results import question_result
from tests.surveys.test_facts import PLANS, plan_of, schemas

HEAD = "title: T\nasker: A\npurpose: P\nuntil: 2100-12-31\ninvitation: open\nminimum: 1\n"
ONE = "questions: [{id: a, kind: yes_no, text: A}]\n"
TWO = "questions:\n  - {id: a, kind: yes_no, text: A}\n  - {id: b, kind: yes_no, text: B}\n"
MANGAT = TWO.replace("text: A", "text: A, scheme: {name: mangat, p: 0.7}")
SEALING = Path(__file__).parent / "browser" / "sealing.mjs"
OLD = Path(__file__).parents[1] / "fixtures"


def made(odds, rest=ONE):
    return survey_from_text(f"{HEAD}odds: {odds}\n{rest}")


@pytest.mark.parametrize(
    ("odds", "questions", "strength", "warnings"),
    [
        ("10:1", ONE, "deniable", 0),
        ("101:10", ONE, "weak", 1),
        ("100:1", ONE, "weak", 1),
        ("100:1", TWO, "deniable", 0),
        ("101:1", TWO, "weak", 3),
        ("1000:1", ONE, "weak", 2),
    ],
)
def test_authors_are_warned_above_the_ceilings(odds, questions, strength, warnings):
    survey = made(odds, questions)
    found = ceiling_warnings(survey.plan)
    assert (survey.strength, len(found), survey.weak) == (strength, warnings, False)
    assert all(text.endswith("is weak.") for text in found)


def test_a_warning_names_the_question_its_odds_and_the_ceiling():
    assert ceiling_warnings(made("101:1", TWO).plan)[1:] == [
        "b: odds of 10.0499 : 1 are above 10 : 1, the ceiling of a question; "
        "the page says that its protection is weak.",
        "All questions together: odds of 101 : 1 are above 100 : 1, the ceiling of a survey; "
        "the page says that protection is weak.",
    ]


@pytest.mark.parametrize(
    ("odds", "questions", "message"),
    [
        ("1001:1", ONE, r"odds must be at most 1000 : 1 for all.*weak: accepted.*\(line 7\). Got '1001 : 1' instead"),
        ("1e9", TWO, r"odds must be at most 1000 : 1 for all questions together: lower it.*\(line 7\)"),
        (
            "1e9",
            "questions:\n  - {id: a, kind: yes_no, text: A, odds: 5000}\n",
            r"questions\[0\] must have odds of at most 1000 : 1 for a: lower them.*\(line 9\). Got '5000 : 1' instead",
        ),
        ("1001", ONE.replace("A}", "A, odds: 3}"), r"odds must be at most 1000 : 1 for all questions together"),
        ("9", MANGAT, r"questions\[0\].scheme must not let a report rule out an answer to a: use another.*\(line 9\)"),
        (
            "9\nweak: accepted",
            ONE,
            r"weak must be left out: nothing here is above 1000 : 1.*\(line 8\). Got 'accepted, at",
        ),
        ("1e305\nweak: accepted", ONE, r"questions\[0\] odds must be within reach of 64-bit integers.*\(line 9\)"),
        ("1e9\nweak: yes", ONE, r"weak must be one of accepted \(line 8\)"),
    ],
)
def test_very_weak_odds_must_be_accepted_and_no_others_may_be(odds, questions, message):
    with pytest.raises(SottovoceError, match=message):
        made(odds, questions)


@pytest.mark.parametrize("odds", ["1001:1", "1e9"])
def test_accepted_odds_are_stated_in_the_document_and_never_called_deniable(odds):
    survey = made(f"{odds}\nweak: accepted")
    assert (survey.strength, survey.weak) == ("very weak", True)
    document = json.loads(replace(survey, send_interval=0).document)
    assert (document["version"], document["weak"]) == (2, True)
    assert survey_from_bytes(survey.document) == survey
    audit = audit_document(survey)
    assert (audit["strength"], audit["whole"]["strength"]) == ("very weak", "very weak")
    assert "Protection is very weak" in audit["whole"]["words"]
    assert "deniab" not in audit["whole"]["words"]
    assert all(text.endswith("is very weak.") for text in ceiling_warnings(survey.plan))


def changed(survey, **changes):
    return canonical_bytes(json.loads(survey.document) | changes)


def sealed(node, tmp_path, document):
    (tmp_path / "survey.json").write_bytes(document)
    return node(SEALING, FOLDER, tmp_path / "survey.json", sha256(document).hexdigest())


def test_python_and_the_page_refuse_the_same_documents(node, tmp_path):
    fair, weak = made("9"), made("1e9\nweak: accepted")
    unbounded = made("9\nweak: accepted", MANGAT)
    old = replace(weak, weak=False, send_interval=0)
    cases = {
        weak.document: "",
        unbounded.document: "",
        old.document: "",  # as 0.1 froze it
        changed(weak, weak=False): "nobody has accepted",
        changed(unbounded, weak=False): "nobody has accepted",
        changed(fair, weak=True): "not above 1000 : 1",
        changed(weak, weak=1): "neither true nor false",
        changed(weak, weak=None): "neither true nor false",
        changed(fair, plan=json.loads(fair.document)["plan"] | {"odds": None}): "nobody has accepted",
        changed(
            old, plan=json.loads(unbounded.document)["plan"], questions=json.loads(unbounded.document)["questions"]
        ): ("can rule out answers"),
    }
    for document, message in cases.items():
        found = sealed(node, tmp_path, document)
        if message:
            assert message in found
            with pytest.raises(SottovoceError, match=r"^(weak|plan) must"):
                survey_from_bytes(document)
        else:
            assert json.loads(found)["report"]
            assert survey_from_bytes(document).document == document


def test_a_survey_of_0_1_is_never_refused_for_its_odds(node, tmp_path):
    document = (OLD / "0.1" / "surveys" / "coins.json").read_bytes()
    survey = survey_from_bytes(document)
    assert (survey.strength, survey.weak) == ("very weak", False)
    assert json.loads(sealed(node, tmp_path, document))["report"]
    assert audit_document(survey)["whole"]["words"].startswith("Protection is very weak")


UNBOUNDED = [
    "kind: yes_no, scheme: {name: mangat, p: 0.7}",
    "kind: yes_no, scheme: {name: forced_response, truth: 0.5, yes: 0.5}",
    "kind: single, answers: [x, y, z], scheme: {name: matrix, matrix: [[0.5, 0, 0.5], [0.5, 0.5, 0], [0, 0.5, 0.5]]}",
    "kind: yes_no, scheme: {name: triangular, q: 0.25}",
    "kind: several, answers: [x, y, z], scheme: {name: emask, p: 0.8, q: 1}",
]


@pytest.mark.parametrize("question", UNBOUNDED)
def test_a_survey_whose_reports_rule_out_answers_works_once_that_is_accepted(question, tmp_path, node):
    questions = f"questions:\n  - {{id: a, text: A, {question}}}\n  - {{id: b, kind: yes_no, text: B}}\n"
    survey = made("9\nweak: accepted", questions)
    assert survey.plan.promise == Guarantee(None) == survey.plan.guarantee_of("a")
    assert survey.plan.guarantee_of("b").odds == 9  # the budget is that of the other questions
    respondents = simulate_respondents(survey, 300, np.random.default_rng(1))
    reports = respondents.reports(rng=1)
    for name in "ab":
        result = question_result(survey, reports, name)
        assert all(np.isfinite(line.estimate) for line in result.lines)
    shown, other = preview(survey, 500)
    assert (shown.to_json()["epsilon"], shown.to_json()["odds"], shown.facts.strength) == (None, None, "very weak")
    assert other.facts.strength == "deniable"
    assert any("rule out an answer" in text for text in ceiling_warnings(survey.plan))
    store = Store(str(tmp_path / "surveys.db"))
    assert store.survey(store.freeze(survey).id) == survey
    audit = audit_document(survey)
    assert audit["whole"]["words"].startswith("Protection is very weak: your report can rule out an answer")
    json.dumps(audit, allow_nan=False)
    assert json.loads(sealed(node, tmp_path, survey.document))["report"]
    assert "unbounded" in repr(survey)


def more_plans():
    """Reports that no truth has, where some truths have not all others: sets without the truth, parts, whole sets."""
    (three,) = schemas((3,))
    yield plan_of(OneHot((3,), BitCoin(one=1, zero=0, sides=1)), three)
    yield plan_of(OneHot((3,), BitCoin(one=2, zero=1, sides=2)), three)
    yield plan_of(SetByRank((3,), [Slab(1, 2, [1, 1, 2])], None), three)
    part = Listed((2,), [[1, 0], [0, 0], [0, 1]], ["no", "never", "yes"])
    (pair,) = (schema for schema in schemas((2, 2)) if len(schema.names) == 2)
    yield plan_of(
        Sampling((2, 2), [((0,), Listed((2,), [[2, 1], [0, 1]])), ((1,), Listed((2,), [[1, 1], [0, 0]]))]), pair
    )
    (one,) = (schema for schema in schemas((2,)) if schema.names == ("q0",))
    yield plan_of(part, one)


@pytest.mark.parametrize("plan", [*PLANS, *more_plans()], ids=lambda plan: plan.groups[0].scheme)
def test_reports_are_possible_if_any_truth_has_them(plan):
    possible = PossibleReports(plan)
    if len(plan.groups) > 1:
        return
    channel = plan.groups[0].mechanism.channel
    for y, codes in enumerate(product(*(range(size) for size in channel.shape_out))):
        assert possible(codes) == any(channel.entry(y, x) > 0 for x in range(channel.n_in))


def test_words_for_guarantees():
    with_region = protection_in_words(Guarantee(None, public=("region",)))
    assert with_region.startswith(
        "Not protected, and passed on as you gave them: your answers to region.\nProtection is"
    )
    assert "weak" not in protection_in_words(Guarantee(Fraction(10)))
    assert protection_in_words(Guarantee(Fraction(11))).endswith(
        "Protection is weak: a factor of at most 10 is advised here."
    )
    assert "weak" not in protection_in_words(Guarantee(Fraction(11)), all_together=True)


@pytest.mark.parametrize("name", sample_names())
def test_our_own_samples_keep_the_ceilings(name):
    survey = survey_from_text(sample_definition(name, date(2100, 1, 1)))
    assert survey.strength == "deniable"
    assert all(facts_of(survey.plan, question.id).odds <= 10 for question in survey.protected)
