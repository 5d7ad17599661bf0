"""From answers to truths and to bytes: branches, extra categories, bins, sets; and back to columns."""

import numpy as np
import pytest

from sottovoce.disguises.records import disguise_codes
from sottovoce.errors import SottovoceError
from sottovoce.mechanisms.coins import random_words
from sottovoce.plans.budget import new_plan
from sottovoce.schemas.attribute import Attribute
from sottovoce.schemas.schema import Schema
from sottovoce.schemes import RandomizedResponse
from sottovoce.surveys.client.client import Submission, disguise_answers, truth_of
from sottovoce.surveys.report import ReportFormat

ANSWERS = {"sick": "no", "drink": "once", "seen": ["touch"], "job": "c", "theft": "no"}


def truth_codes(survey):
    return survey.plan.schema.encode({name: [value] for name, value in truth_of(survey, ANSWERS).items()})


def test_a_skipped_question_is_a_truth_of_its_own(survey):
    assert truth_of(survey, ANSWERS) == ANSWERS | {"days": "not asked"}
    assert [int(column[0]) for column in truth_codes(survey)] == [0, 3, 1, 0, 1, 0, 2, 0]


@pytest.mark.parametrize(
    ("days", "label"), [(1, "[1, 3)"), (2.9, "[1, 3)"), (3, "[3, 6)"), (400, "[6, inf)"), ("[3, 6)", "[3, 6)")]
)
def test_numbers_find_their_bins(survey, days, label):
    assert truth_of(survey, ANSWERS | {"sick": "yes", "days": days})["days"] == label


def test_declining_and_choosing_nothing(survey):
    found = truth_of(survey, ANSWERS | {"sick": None, "seen": []})
    assert (found["sick"], found["days"], found["seen"]) == ("no answer", "not asked", [])
    assert truth_of(survey, ANSWERS | {"seen": "words"})["seen"] == ["words"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"days": 3}, "days must not be answered, because its condition does not hold"),
        ({"sick": "yes"}, "days must be answered"),
        ({"sick": "yes", "days": 0}, "days must lie between 1 and inf"),
        ({"sick": "maybe"}, "sick must be one of no, yes"),
        ({"sick": "no answer"}, "sick must be one of no, yes"),
        ({"drink": None}, "drink must be answered: declining is not offered"),
        ({"seen": ["words", "blood"]}, "seen must be one of words, touch, threats"),
        ({"age": 3}, "answers must be to questions of the survey"),
    ],
)
def test_refused_answers(survey, change, message):
    with pytest.raises(SottovoceError, match=message):
        truth_of(survey, ANSWERS | change)


def test_numbers_in_bins_closed_on_the_right():
    from sottovoce.surveys.definition.definition import survey_from_text

    survey = survey_from_text(
        "title: T\nasker: A\npurpose: P\nuntil: 2030-12-31\nodds: 3\ninvitation: open\n"
        "questions: [{id: q, kind: number, text: Q, edges: [0, 1, 2], closed: right}]"
    )
    assert truth_of(survey, {"q": 1}) == {"q": "(0, 1]"}
    with pytest.raises(SottovoceError, match="q must lie between 0 and 2"):
        truth_of(survey, {"q": 0})


def test_reports_have_one_length_whatever_the_answers(survey, credential):
    form = ReportFormat(survey.plan)
    assert form.length == 3 + 3 + 8 + 1
    sick = disguise_answers(survey, ANSWERS | {"sick": "yes", "days": 2}, credential=credential())
    assert len(sick.body) == len(disguise_answers(survey, ANSWERS | {"seen": []}, credential=credential()).body)


def test_the_same_words_give_the_same_report_as_the_reference(old_survey):
    """The seal holds what `disguise_codes` gives, which the conformance vectors are of."""
    from msgspec.json import decode

    survey = old_survey
    given = decode(disguise_answers(survey, ANSWERS, "A" * 22, random_words(5)).body, type=Submission)
    columns = disguise_codes(truth_codes(survey), survey.plan, random_words(5))
    assert list(bytes.fromhex(given.report)) == [int(column[0]) for column in columns]
    assert given.survey == survey.hash


def test_tokens_are_for_single_invitations_only(survey, old_survey, open_survey):
    with pytest.raises(SottovoceError, match="credential must be given: the survey has an admission key"):
        disguise_answers(survey, ANSWERS, "A" * 22)
    with pytest.raises(SottovoceError, match="token must be given"):
        disguise_answers(old_survey, ANSWERS)
    with pytest.raises(SottovoceError, match="token must be left out"):
        disguise_answers(open_survey, ANSWERS, "A" * 22)


@pytest.mark.parametrize("sizes", [(2, 3), (300, 2), (256, 65536)])
def test_columns_and_bytes_are_inverse(sizes):
    plan = new_plan(Schema([Attribute(f"a{i}", range(size)) for i, size in enumerate(sizes)]), odds=9)
    form = ReportFormat(plan)
    columns = tuple(np.array([0, size - 1, size // 2]) for size in sizes)
    reports = form.to_bytes(columns)
    assert [len(report) for report in reports] == [form.length] * 3
    assert all(form.fits(report) for report in reports)
    for back, codes in zip(form.to_columns(reports), columns, strict=True):
        np.testing.assert_array_equal(back, codes)


def test_reports_that_cannot_come_about():
    """Every report drawn is possible; sets of another size, and two of two sampled questions, are not."""
    from sottovoce.plans.plan import Plan
    from sottovoce.schemes import AttributeSampling, SubsetSelection

    schema = Schema([Attribute(name, range(3)) for name in "abcd"])
    plan = Plan.of(
        schema,
        {("a", "c"): AttributeSampling(odds=3), "d": SubsetSelection(odds=3, size=2), "b": RandomizedResponse(odds=3)},
    )
    form = ReportFormat(plan)
    truths = [np.arange(300) % 3] * 4
    assert all(form.fits(report) for report in form.to_bytes(disguise_codes(truths, plan, random_words(1))))
    possible = [0, 2, 3, 1, 0, 1]  # a told, b, c not asked, d a set of two
    assert form.fits(bytes(possible))
    for place, code in ((2, 1), (0, 3), (4, 1)):
        assert not form.fits(bytes([*possible[:place], code, *possible[place + 1 :]]))


def test_bytes_that_are_no_report():
    form = ReportFormat(new_plan(Schema([Attribute("a", range(3)), Attribute("b", range(300))]), odds=9))
    assert form.fits(bytes([2, 1, 43]))
    assert not form.fits(bytes([2, 1, 44]))
    assert not form.fits(bytes([3, 0, 0]))
    assert not form.fits(bytes([0, 0]))
    assert [len(column) for column in form.to_columns([])] == [0, 0]
    with pytest.raises(SottovoceError, match="must have 3 bytes each"):
        form.to_columns([b"12"])
    with pytest.raises(SottovoceError, match="codes below the sizes"):
        form.to_columns([bytes([9, 0, 0])])
