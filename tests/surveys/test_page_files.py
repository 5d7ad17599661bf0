"""The modules that a survey's page gets: they seal reports of every kind, each has its hash, and they are small."""

import gzip
import json
import re
from base64 import b64encode
from dataclasses import replace
from datetime import date
from hashlib import sha256
from pathlib import Path

import brotli
import pytest

from sottovoce.mechanisms.mechanism import mechanism_kinds
from sottovoce.plans.canonical import canonical_bytes
from sottovoce.surveys.collect.app_state import PublishedSurvey
from sottovoce.surveys.collect.audit import audit_document
from sottovoce.surveys.collect.server import CONTENT_SECURITY_POLICY
from sottovoce.surveys.definition.definition import sample_definition, sample_names, survey_from_text
from sottovoce.surveys.page.files import (
    FOLDER,
    address,
    import_map,
    later_modules,
    page_files,
    page_modules,
    release,
    words_module,
)
from sottovoce.surveys.report import ReportFormat

SEALING = Path(__file__).parent / "browser/sealing.mjs"
MODULES = [name for name in page_files() if name.endswith(".js")]
ADMISSION = ["admission.js", "blind_rsa.js"]
"""Modules that only surveys with invitations need."""


def run(node, folder, document: bytes) -> str:
    """What the modules make of a survey under its own hash."""
    (folder / "survey.json").write_bytes(document)
    return node(SEALING, FOLDER, folder / "survey.json", sha256(document).hexdigest())


def check_it_seals(node, folder, survey) -> None:
    sent = json.loads(run(node, folder, survey.document))
    assert sent["survey"] == survey.hash
    assert ReportFormat(survey.plan).fits(bytes.fromhex(sent["report"]))


@pytest.mark.parametrize("name", sample_names())
def test_samples_are_sealed(node, tmp_path, secret_key, name):
    draft = survey_from_text(sample_definition(name, date(2100, 1, 1)))
    key = secret_key.public if draft.invitation == "single" else None
    check_it_seals(node, tmp_path, replace(draft, admission=key))


def test_every_kind_of_coin_is_tossed(node, tmp_path, every_kind):
    assert {group.mechanism.kind for group in every_kind.plan.groups} == set(mechanism_kinds())
    check_it_seals(node, tmp_path, every_kind)


def test_every_kind_of_coin_has_a_module_that_the_page_knows():
    kinds = sorted(mechanism_kinds())
    assert [name for name in MODULES if name.startswith("mechanisms/")] == [f"mechanisms/{kind}.js" for kind in kinds]
    known = re.search(r"const MECHANISMS = (\[[^]]*\]);", page_files()["documents.js"].content.decode())
    assert json.loads(known[1]) == kinds


def test_a_kind_of_coin_that_the_page_does_not_know_is_refused(node, tmp_path, plain_definition):
    document = json.loads(survey_from_text(plain_definition).document)
    for kind in ("loaded", "../demo", None):
        document["plan"]["groups"][0]["mechanism"]["kind"] = kind
        assert run(node, tmp_path, canonical_bytes(document)) == "an unknown mechanism\n"


def test_odds_above_the_promise_are_refused(node, tmp_path, plain_definition):
    document = json.loads(survey_from_text(plain_definition).document)
    document["plan"]["groups"][0]["mechanism"]["truth"] = "99"
    assert "above the promise 27/1" in run(node, tmp_path, canonical_bytes(document))


def test_a_page_loads_the_kinds_of_coins_of_its_survey_only(plain_definition):
    plain = page_modules(survey_from_text(plain_definition))
    assert (plain[0], plain[-2:]) == ("main.js", ["demo.js", "coins.js"])
    assert [name for name in plain if "/" in name] == ["mechanisms/diagonal.js", "texts/en.js"]
    sampled = plain_definition + "groups: [{questions: [sick, theft], scheme: attribute_sampling}]\n"
    assert set(page_modules(survey_from_text(sampled))) == {*plain, "mechanisms/sampling.js"}


def test_admission_is_loaded_where_there_are_invitations(open_survey, survey, old_survey):
    assert set(page_modules(survey)) == {*page_modules(open_survey), "blind_rsa.js"}
    assert set(later_modules(survey)) == {*later_modules(open_survey), "admission.js"}
    assert set(page_modules(old_survey)) == set(page_modules(open_survey))


def test_what_a_module_imports_is_loaded_with_it(every_kind):
    loaded = [*page_modules(every_kind), *later_modules(every_kind)]
    asked_for = [name for name in MODULES if name not in (*ADMISSION, "presentation.js")]
    assert sorted(loaded) == [name for name in asked_for if not name.startswith("texts/") or name == "texts/en.js"]


@pytest.mark.parametrize(("language", "name"), [("de", "de"), ("de-AT", "de"), ("sv", "en")])
def test_a_page_has_the_words_of_its_first_language(plain_definition, language, name):
    definition = plain_definition.replace("kind: yes_no,", "kind: single, answers: [a, b],")
    loaded = page_modules(survey_from_text(f"languages: [{language}]\n{definition}"))
    assert [module for module in loaded if module.startswith("texts/")] == [f"texts/{name}.js"]
    assert words_module(language) == f"texts/{name}.js"


def test_all_languages_have_the_same_texts_with_the_same_gaps(node):
    script = """
        const gaps = (text) => [...text.matchAll(/\\{\\w+\\}/g)].map(([gap]) => gap).sort();
        const flat = (words, path = "") => Object.entries(words).flatMap(([name, text]) =>
          typeof text === "string" ? [[path + name, gaps(text)]] : flat(text, `${path}${name}.`));
        const read = (path) => import(path).then(({ words }) => flat(words).sort());
        Promise.all(process.argv.slice(1).map(read)).then((found) => console.log(JSON.stringify(found)));
    """
    texts = [f"file://{FOLDER / name}" for name in MODULES if name.startswith("texts/")]
    first, *others = json.loads(node("-e", script, *texts))
    assert len(first) > 80
    assert [other == first for other in others] == [True] * 4


def test_every_text_is_a_language_that_the_page_speaks():
    tags = [name.removeprefix("texts/").removesuffix(".js") for name in MODULES if name.startswith("texts/")]
    assert f"const LANGUAGES = {json.dumps(tags)};" in page_files()["view.js"].content.decode()


def test_a_page_states_the_hash_of_everything_it_loads(plain_definition):
    survey = survey_from_text(plain_definition)
    shown = PublishedSurvey(survey).page.content.decode()
    found = dict(re.findall(r'<link rel="(?:modulepreload|stylesheet)" href="([^"]+)" integrity="([^"]+)">', shown))
    assert set(found) == {address(name) for name in (*page_modules(survey), "page.css")}
    for name in (*page_modules(survey), "page.css"):
        digest = sha256((FOLDER / name).read_bytes()).digest()
        assert found[address(name)] == f"sha256-{b64encode(digest).decode()}"
    assert f'<script type="module" src="{address("main.js")}" integrity="{found[address("main.js")]}">' in shown
    assert "<script" not in re.sub(r'<script type="(?:module|importmap)"', "", shown)


def test_the_only_inline_script_is_the_list_of_all_hashes(plain_definition):
    """Modules that are imported by others are checked by it, also those that are loaded later."""
    shown = PublishedSurvey(survey_from_text(plain_definition)).page.content.decode()
    (inline,) = re.findall(r'<script type="importmap">(.*?)</script>', shown, re.DOTALL)
    assert inline.encode() == import_map().content
    assert json.loads(inline) == {"integrity": {address(name): page_files()[name].integrity for name in MODULES}}
    allowed = f"sha256-{b64encode(sha256(inline.encode()).digest()).decode()}"
    assert f"; script-src 'self' '{allowed}'; " in CONTENT_SECURITY_POLICY


def test_addresses_change_with_any_file(monkeypatch):
    before = release()
    changed = page_files() | {"coins.js": page_files()["demo.js"]}
    monkeypatch.setattr("sottovoce.surveys.page.files.page_files", lambda: changed)
    assert release.__wrapped__() != before == release()


def test_the_audit_names_what_a_browser_runs(plain_definition):
    """Also the words of the survey's other languages, which only some browsers load."""
    definition = re.sub(r"(title|asker|purpose): (.*)", r"\1: {en: \2, ar: \2}", plain_definition)
    definition = re.sub(r'text: ("[^"]*")', r"text: {en: \1, ar: \1}", definition)
    definition = definition.replace(
        "answers: [never, once, often, daily]", "answers: {a: {en: a, ar: a}, b: {en: b, ar: b}}"
    )
    definition = definition.replace("kind: yes_no,", "kind: single, answers: {a: {en: a, ar: a}, b: {en: b, ar: b}},")
    survey = survey_from_text(f"languages: [en, ar]\n{definition}")
    found = audit_document(survey)
    assert found["modules"] == sorted([*page_modules(survey), *later_modules(survey), "texts/ar.js"])
    for name, file in page_files().items():
        assert found["files"][name] == {"path": address(name), "sha256": file.hash}
    shown = PublishedSurvey(survey).audit_page("en").content.decode()
    for name in found["modules"]:
        assert f'<dt><a href="{address(name)}">{name}</a></dt><dd><code>{page_files()[name].hash}</code></dd>' in shown


def test_a_plain_page_is_small(plain_definition):
    """Bytes for yes/no and single-choice questions in English; other versions of zlib may need some more."""
    survey = survey_from_text(plain_definition)
    page = PublishedSurvey(survey).page
    files = [page_files()[name] for name in (*page_modules(survey), "page.css")]
    assert len(page.packed["br"]) + sum(len(file.packed["br"]) for file in files) < 36_000
    assert sum(len(page_files()[name].packed["br"]) for name in ADMISSION) < 3_000
    for file in (*files, page):
        assert brotli.decompress(file.packed["br"]) == gzip.decompress(file.packed["gzip"]) == file.content
