"""Frozen documents: canonical bytes, a hash that anyone can recompute, and refusals of anything else."""

import json
import sys
from dataclasses import replace
from datetime import date
from hashlib import sha256
from importlib import reload

import pytest

from sottovoce.errors import MissingExtraError, SottovoceError
from sottovoce.plans.canonical import canonical_bytes
from sottovoce.plans.plan import Plan
from sottovoce.plans.public import PublicNumber
from sottovoce.schemas.attribute import Attribute
from sottovoce.schemas.schema import Schema
from sottovoce.schemes import RandomizedResponse, Warner
from sottovoce.surveys import client, collect, definition
from sottovoce.surveys.collect.audit import audit_document
from sottovoce.surveys.definition.definition import sample_definition, sample_names, survey_from_text
from sottovoce.surveys.definition.questions import Answer, Question
from sottovoce.surveys.definition.survey import survey_from_bytes
from sottovoce.surveys.links import Link, new_token, read_link, server_address
from sottovoce.surveys.page.files import page_files


def test_a_frozen_survey_comes_back_byte_by_byte(survey):
    assert survey.hash == sha256(survey.document).hexdigest()
    back = survey_from_bytes(survey.document, survey.hash)
    assert back == survey
    assert back.document == survey.document
    assert survey.document == canonical_bytes(json.loads(survey.document))
    assert survey.id == survey.hash[:16]


def test_a_survey_reads_as_a_summary(survey):
    assert repr(survey).startswith(
        "Honesty at work: 6 questions at 729 : 1 (epsilon 6.59168), until 2999-12-31, sha256"
    )
    shown = survey._repr_html_()
    assert "<td>Called in sick?</td><td>yes_no</td><td>no, yes, no answer</td><td>3 : 1" in shown
    assert survey.hash in shown


def test_any_change_changes_the_hash(survey):
    assert replace(survey, minimum=51).hash != survey.hash
    assert replace(survey, until=date(2998, 1, 1)).hash != survey.hash


def changed(survey, **changes) -> bytes:
    return canonical_bytes(json.loads(survey.document) | changes)


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (lambda s: s.document + b" ", "must be canonical JSON without other keys"),
        (lambda s: changed(s, extra=1), "must be canonical JSON without other keys"),
        (lambda s: changed(s, version=0), r"^version must be from 1 to 2\. Got 0"),
        (lambda s: changed(s, version=3), r"written by a newer version of Sottovoce \(document version 3\)"),
        (lambda s: changed(s, send_interval=9), "send_interval must be 0, or 10 to 86400 seconds"),
        (lambda s: changed(s, send_interval=-1), "send_interval must be a whole number that is not negative"),
        (lambda s: changed(s, send_interval=True), "send_interval must be a whole number that is not negative"),
        (lambda s: changed(s, send_interval=0, admission=None), "must be canonical JSON without other keys"),
        (lambda s: changed(s, rehearsal=1), "rehearsal must be true or false"),
        (lambda s: changed(s, invitation="open"), "admission must be null for an open survey"),
        (lambda s: changed(s, admission={}), "admission must"),
        (lambda s: changed(s, questions=[]), "must have the questions as its attributes"),
        (lambda s: changed(s, questions=[1]), "must be a complete survey document"),
        (lambda s: changed(s, until="soon"), "must be a complete survey document"),
        (lambda s: b"{}", "must be a complete survey document"),
        (lambda s: b"[" * 100_000, "must be a complete survey document"),
        (lambda s: b"\xff", "must be a complete survey document"),
    ],
)
def test_refused_documents(survey, document, message):
    with pytest.raises(SottovoceError, match=message):
        survey_from_bytes(document(survey))


def test_another_hash_is_refused(survey, open_survey):
    with pytest.raises(SottovoceError, match=f"must have the hash of its link, {open_survey.hash}"):
        survey_from_bytes(survey.document, open_survey.hash)


def test_a_raised_odds_ratio_is_refused(survey):
    plan = json.loads(survey.document)["plan"] | {"odds": "2/1"}
    with pytest.raises(SottovoceError, match="odds must be at least those of the whole record"):
        survey_from_bytes(changed(survey, plan=plan))


def test_questions_are_found_by_name(survey):
    assert survey.question("job").kind == "single"
    with pytest.raises(SottovoceError, match="question must be one of sick, days"):
        survey.question("age")


def test_plans_that_no_survey_can_have(survey):
    asked = Question("q", "single", {"en": "Q"}, (Answer("a", {"en": "A"}), Answer("b", {"en": "B"})))
    certain = Plan.of(Schema([asked.variable]), {"q": Warner(p=1)})
    with pytest.raises(SottovoceError, match="plan must promise odds"):
        replace(survey, questions=(asked,), plan=certain)
    public = survey.plan.with_public([PublicNumber("weight")])
    with pytest.raises(SottovoceError, match="plan must have the public questions as its public columns"):
        replace(survey, plan=public)
    many = replace(asked, answers=tuple(Answer(f"a{i}", {"en": "A"}) for i in range(2**16 + 1)))
    plan = Plan.of(Schema([Attribute("q", many.labels)]), {"q": RandomizedResponse(odds=3)})
    with pytest.raises(SottovoceError, match="must have at most 65536 codes"):
        replace(survey, questions=(many,), plan=plan)


def test_links():
    link = Link("https://example.org", "ab" * 32, new_token())
    assert read_link(str(link)) == link
    assert read_link(str(replace(link, token=None))) == replace(link, token=None)


@pytest.mark.parametrize(
    "text",
    [
        "https://example.org/s/" + "ab" * 8,
        "https://example.org/s/" + "ac" * 8 + "#" + "ab" * 32,
        "https://example.org/s/" + "ab" * 8 + "#" + "ab" * 32 + ".short",
        "https://example.org/s/" + "ab" * 8 + "#" + "ab" * 32 + ".",
        "ftp://example.org/s/" + "ab" * 8 + "#" + "ab" * 32,
        "/s/" + "ab" * 8 + "#" + "ab" * 32,
    ],
)
def test_refused_links(text):
    with pytest.raises(SottovoceError, match="link must look like"):
        read_link(text)


@pytest.mark.parametrize("text", ["example.org", "ftp://example.org", "https://", "https://example.org/a", "https:x"])
def test_refused_servers(text):
    with pytest.raises(SottovoceError, match="url must look like https://HOST"):
        server_address(text)


def test_samples_are_surveys():
    for name in sample_names():
        survey = survey_from_text(sample_definition(name, date(2030, 1, 1)))
        assert survey.until == date(2030, 4, 1)
    with pytest.raises(SottovoceError, match="sample must be one of doping, exams, health, minimal, workplace"):
        sample_definition("magic", date(2030, 1, 1))


def test_the_audit_says_the_odds_per_question_and_in_all(survey):
    found = audit_document(survey)
    assert found["hash"] == survey.hash
    assert found["whole"]["odds"] == "729"
    promised, weak = found["whole"]["words"].split(" Protection is ")
    assert promised.endswith("by a factor of at most 729. No report proves any answer.")
    assert (found["strength"], weak) == ("weak", "weak: a factor of at most 100 is advised here.")
    shown = {question["id"]: question for question in found["questions"]}
    assert all(question["promise"]["odds"] == "3" for question in shown.values())
    assert shown["drink"]["told_as_it_is"] == "1/2"  # 3 / (3 + 4 - 1)
    assert shown["seen"]["told_as_it_is"] == "3/5"  # (3 + 3) / 10: three other sets of eight have the same item
    assert [shown[name]["told_in_percent"] for name in ("seen", "job")] == ["60 %", None]
    assert shown["job"]["told_as_it_is"] is None
    # theta / (1 - theta) = 2 * 1/4 gives odds of 3; the answer no is told with theta + (1 - theta) 3/4, yes with 1/4.
    assert shown["theft"]["told_as_it_is"] == "1/2"
    assert set(found["files"]) == set(page_files())


def test_the_audit_says_what_links_invitations_and_reports(survey, open_survey, old_survey):
    assert "blind signatures" in " ".join(audit_document(survey)["admission"])
    assert "a survey of their own" in " ".join(audit_document(survey)["admission"])
    assert "frozen by version 0.1" in " ".join(audit_document(old_survey)["admission"])
    assert "no invitations" in " ".join(audit_document(open_survey)["admission"])
    assert "next whole interval of 10 minutes" in audit_document(survey)["time"][0]
    assert audit_document(old_survey)["time"][0] == "Each report is sent at once."


def test_the_audit_names_questions_that_share_coins():
    text = "title: T\nasker: A\npurpose: P\nuntil: 2030-12-31\nodds: 9\nquestions:\n"
    text += "".join(f"  - {{id: {name}, kind: yes_no, text: Q}}\n" for name in "abc")
    joint = survey_from_text(text + "groups: [{questions: [a, c], scheme: gamma_diagonal}]\n")
    shown = {question["id"]: question for question in audit_document(joint)["questions"]}
    assert shown["a"]["shares_coins_with"] == ["c"]
    sampled = survey_from_text(text + "groups: [{questions: [a, c], scheme: attribute_sampling}]\n")
    assert audit_document(sampled)["questions"][0]["told_as_it_is"] == "3/4"  # if it is picked
    turned = survey_from_text(text + "groups: [{questions: [a, c], scheme: symmetric_unary}]\n")
    assert audit_document(turned)["questions"][0]["told_as_it_is"] is None


@pytest.mark.parametrize(
    ("part", "module", "library"),
    [(definition, "yaml", "PyYAML"), (collect, "sqlalchemy", "SQLAlchemy"), (client, "msgspec", "msgspec")],
)
def test_a_missing_library_is_named_before_anything_is_loaded(monkeypatch, part, module, library):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=rf"a survey needs {library}; .* pip install 'sottovoce\[survey\]'"):
        reload(part)
