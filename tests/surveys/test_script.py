"""The script that a survey's page gets: it runs, it is small, and it knows no coins but the survey's."""

import gzip
import json
from datetime import date
from hashlib import sha256
from pathlib import Path

import pytest

from sottovoce.mechanisms.mechanism import mechanism_kinds
from sottovoce.plans.document import canonical_bytes
from sottovoce.surveys.collect.app_state import Published
from sottovoce.surveys.definition.definition import sample, sample_names, survey_from_text
from sottovoce.surveys.page.script import page_files, page_script
from sottovoce.surveys.report import ReportFormat

SEALING = Path(__file__).parent / "browser/sealing.mjs"


def run(node, folder, script: bytes, document: bytes) -> str:
    """What the script makes of a survey under its own hash."""
    (folder / "page.mjs").write_bytes(script)
    (folder / "survey.json").write_bytes(document)
    return node(SEALING, folder / "page.mjs", folder / "survey.json", sha256(document).hexdigest())


def check_it_seals(node, folder, survey) -> None:
    script = page_script(survey)
    sent = json.loads(run(node, folder, script.content, survey.document))
    node("--check", folder / "page.mjs")
    assert sent["survey"] == survey.hash
    assert ReportFormat(survey.plan).fits(bytes.fromhex(sent["report"]))


@pytest.mark.parametrize("name", sample_names())
def test_samples_are_sealed(node, tmp_path, name):
    check_it_seals(node, tmp_path, survey_from_text(sample(name, date(2100, 1, 1))))


def test_every_kind_of_coin_is_tossed(node, tmp_path, every_kind):
    assert {group.mechanism.kind for group in every_kind.plan.groups} == set(mechanism_kinds())
    check_it_seals(node, tmp_path, every_kind)


def test_every_kind_of_coin_is_known_to_the_page():
    table = page_files()["sampling.js"].content.decode()
    for kind in mechanism_kinds():
        assert f"MECHANISMS.{kind} = " in table


def test_a_plan_with_coins_that_were_left_out_is_refused(node, tmp_path, plain_definition, every_kind):
    """Nobody is asked with coins that the page cannot check."""
    script = page_script(survey_from_text(plain_definition)).content
    assert b"MECHANISMS.diagonal=" in script
    assert b"randomSet" not in script
    document = every_kind.document
    assert run(node, tmp_path, script, document) == "an unknown mechanism\n"


def test_parts_of_a_sample_are_coins_of_the_survey(plain_definition):
    sampled = plain_definition + "groups: [{questions: [sick, theft], scheme: attribute_sampling}]\n"
    script = page_script(survey_from_text(sampled)).content
    assert b"MECHANISMS.sampling=" in script
    assert b"MECHANISMS.diagonal=" in script


def test_odds_above_the_promise_are_refused(node, tmp_path, plain_definition):
    survey = survey_from_text(plain_definition)
    document = json.loads(survey.document)
    document["plan"]["groups"][0]["mechanism"]["truth"] = "99"
    said = run(node, tmp_path, page_script(survey).content, canonical_bytes(document))
    assert "above the promise 27/1" in said


@pytest.mark.parametrize(
    ("language", "words"), [("de", "Ihr eigenes Gerät"), ("de-AT", "Ihr eigenes Gerät"), ("sv", "Your own device")]
)
def test_the_words_of_the_first_language_are_in_it(plain_definition, language, words):
    definition = plain_definition.replace("kind: yes_no,", "kind: single, answers: [a, b],")
    script = page_script(survey_from_text(f"languages: [{language}]\n{definition}")).content.decode()
    assert words in script
    assert script.count("promiseTitle:") == 1


def test_every_text_is_a_language_that_the_page_speaks():
    speech = page_files()["speech.js"].content.decode()
    tags = [name.removeprefix("texts/").removesuffix(".js") for name in page_files() if name.startswith("texts/")]
    assert f"const SPOKEN = {json.dumps(tags)};" in speech
    for tag in tags:
        assert f"WORDS.{tag} = {tag};" in speech


def test_surveys_with_the_same_needs_share_a_script(plain_definition):
    survey, other = (survey_from_text(plain_definition.replace("at work", place)) for place in ("there", "here"))
    assert survey.hash != other.hash
    assert page_script(survey) is page_script(other)


def test_a_plain_page_is_small(plain_definition):
    """Bytes for yes/no and single-choice questions in English; other versions of zlib may need some more."""
    published = Published(survey_from_text(plain_definition))
    css = page_files()["page.css"]
    assert len(published.script.packed) < 11_000
    assert len(css.packed) < 1_300
    assert len(published.page.packed) < 500
    for file in (published.script, css, published.page):
        assert gzip.decompress(file.packed) == file.content
