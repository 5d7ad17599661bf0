"""Published files: read again they give the same numbers, and nobody takes their texts for formulas."""

import csv
import io
import json
import os
import sys
import zipfile
from dataclasses import replace

import numpy as np
import pyreadstat
import pytest

import sottovoce as sv
from sottovoce.errors import MissingExtraError, SottovoceError
from sottovoce.estimates.intervals import interval_method
from sottovoce.schemes.scheme import all_schemes
from sottovoce.surveys.client.simulate import random_shares, simulate_respondents
from sottovoce.surveys.codebook import COLUMNS, codebook, codebook_text
from sottovoce.surveys.collect.entries import Entry
from sottovoce.surveys.collect.store import Store
from sottovoce.surveys.definition.definition import survey_from_text
from sottovoce.surveys.definition.facts import Sampled, facts_of
from sottovoce.surveys.labelled_files import labelled_variables, write_labelled
from sottovoce.surveys.methods import methods_paragraph, references
from sottovoce.surveys.publications import estimates_document, estimates_text, export_reports, json_text
from sottovoce.surveys.report import ReportFormat
from sottovoce.surveys.results import survey_results

HEAD = "asker: A\npurpose: P\nuntil: 2999-12-31\nminimum: 20\ninvitation: open\n"
MIXED = f"""
title: Everything at once
{HEAD}
odds: 729:1
split: true
questions:
  - {{id: ward, kind: single, public: true, text: Ward, answers: {{n: North, s: South}}}}
  - {{id: sick, kind: yes_no, text: Sick, decline: true}}
  - {{id: days, kind: number, text: Days, edges: [1, 3, inf], when: {{sick: yes}}}}
  - {{id: seen, kind: several, text: Seen, answers: [words, blows]}}
  - {{id: feel, kind: matrix, text: How is, steps: 3, ends: [bad, good], wanted: mean, items: {{work: work, pay: pay}}}}
  - {{id: job, kind: single, text: Job, answers: [a, b, c, d, e, f, g, h], scheme: subset_selection}}
"""
PICKED = f"""
title: Picked
{HEAD}
odds: 9:1
questions:
  - {{id: a, kind: yes_no, text: A}}
  - {{id: b, kind: scale, text: B, steps: 4, ends: [low, high], wanted: trend}}
  - {{id: c, kind: yes_no, text: C}}
"""
ONE = f"""
title: One
{HEAD}
odds: 3:1
questions: [{{id: q, kind: yes_no, text: "=HYPERLINK()", answers: {{"no": "-1", "yes": "@SUM(A1)"}}}}]
"""
MANY = f"""
title: Many
{HEAD}
odds: 3:1
questions: [{{id: q, kind: single, text: Which, answers: [{", ".join(f"answer {i}" for i in range(100))}]}}]
"""
UNRELATED = f"""
title: Doping
{HEAD}
odds: 3:1
questions:
  - id: doping
    kind: yes_no
    text: Did you?
    scheme: {{name: unrelated_question, known: [0.75, 0.25]}}
    unrelated: Were you born in spring?
"""
CARDS = f"""
title: Cards
{HEAD}
odds: 27:1
questions: [{{id: q, kind: yes_no, text: Q, scheme: {{name: kuk, yes: 0.6, no: 0.2, cards: 3}}}}]
"""
SURVEYS = {"mixed": MIXED, "picked": PICKED, "one": ONE, "many": MANY, "unrelated": UNRELATED, "cards": CARDS}


@pytest.fixture(params=SURVEYS)
def kept(request, tmp_path):
    """A store with 300 reports of a survey."""
    store, survey = filled(tmp_path, survey_from_text(SURVEYS[request.param]))
    yield store, survey
    store.close()


@pytest.fixture
def mixed(tmp_path):
    store, survey = filled(tmp_path, survey_from_text(MIXED))
    yield store, survey
    store.close()


def filled(folder, draft, count: int = 300):
    store, rng = Store(str(folder / "surveys.db")), np.random.default_rng(1)
    survey = store.freeze(draft)
    made = simulate_respondents(survey, count, rng, random_shares(survey, rng)).reports()
    store.commit([Entry(survey.id, os.urandom(16), report) for report in made])
    return store, survey


def unpacked(path, folder):
    with zipfile.ZipFile(path) as packed:
        assert packed.testzip() is None
        packed.extractall(folder)
        return packed.namelist()


@pytest.mark.parametrize("end", ["zip", "parquet"])
def test_what_is_read_again_gives_the_same_numbers_to_the_last_digit(kept, tmp_path, end):
    store, survey = kept
    path = tmp_path / f"reports.{end}"
    assert export_reports(store, survey, path) == 300
    if end == "zip":
        names = unpacked(path, tmp_path / "out")
        assert names == ["README.txt", "reports.csv", "reports.csv.plan.json", "codebook.csv"]
        path = tmp_path / "out" / "reports.csv"
    reports = sv.read(path)
    assert len(reports) == 300
    for result in survey_results(survey, store.reports(survey.id)):
        (name,) = result.questions
        question = survey.question(name)
        if question.kind == "several":
            found = reports.supports([[label] for label in question.labels], name=name)
        else:
            found = reports.estimate(name, method="best")
        rows = found.to_rows(0.95)
        share = "support" if question.kind == "several" else "estimate"
        same = [(row[share], row["standard_error"], row["low"], row["high"]) for row in rows]
        assert same == [(x.estimate, x.standard_error, x.low, x.high) for x in result.lines]


@pytest.mark.parametrize("end", ["sav", "dta"])
def test_labelled_files_have_the_values_and_labels_of_the_reports(kept, tmp_path, end):
    store, survey = kept
    path = tmp_path / f"reports.{end}"
    export_reports(store, survey, path)
    read = pyreadstat.read_sav if end == "sav" else pyreadstat.read_dta
    options = {"user_missing": True} if end == "sav" else {}
    table, about = read(path, output_format="dict", **options)
    variables = labelled_variables(survey)
    assert list(table) == [variable.name for variable in variables]
    columns = ReportFormat(survey.plan).to_columns(store.reports(survey.id))
    expected = []
    for variable, codes in zip(variables, columns, strict=True):
        values = np.array(variable.values)[codes].tolist()
        expected.append([None if end == "dta" and value == -3 else value for value in values])
        labels = {k: v for k, v in variable.value_labels.items() if end == "sav" or k != -3}
        assert {k: v.lstrip("'") for k, v in about.variable_value_labels[variable.name].items()} == labels
        assert about.column_names_to_labels[variable.name].lstrip("'") == variable.text
    found = zip(*([None if v is None else int(v) for v in column] for column in table.values()), strict=True)
    assert sorted(map(str, found)) == sorted(map(str, zip(*expected, strict=True)))
    if end == "sav":
        missing = {v.name for v in variables if -3 in v.values}
        assert {name for name, ranges in about.missing_ranges.items() if ranges} == missing
        assert survey.hash in about.notes


def test_values_follow_what_analysts_expect():
    survey = survey_from_text(MIXED)
    values = {variable.name: variable.value_labels for variable in labelled_variables(survey)}
    assert values["sick"] == {0: "No", 1: "Yes", -1: "Prefer not to say"}
    assert values["days"] == {1: "≥ 1, < 3", 2: "≥ 3", -2: "not asked"}
    assert values["seen_blows"] == {0: "no", 1: "yes"}
    assert values["feel_work"] == {1: "1 (bad)", 2: "2", 3: "3 (good)"}
    assert values["ward"] == {1: "North", 2: "South"}
    assert list(values)[-1] == "ward", "public answers stand behind the disguised ones"
    picked = labelled_variables(survey_from_text(PICKED))
    assert picked[1].value_labels[-3] == "not picked by the device"
    cards = labelled_variables(survey_from_text(CARDS))[0]
    assert cards.value_labels == {1: "0", 2: "1", 3: "2", 4: "3"}


def test_no_label_begins_like_a_formula(tmp_path):
    store, survey = filled(tmp_path, survey_from_text(ONE))
    for end, read in (("sav", pyreadstat.read_sav), ("dta", pyreadstat.read_dta)):
        export_reports(store, survey, tmp_path / f"r.{end}")
        _, about = read(tmp_path / f"r.{end}")
        assert about.column_names_to_labels == {"q": "'=HYPERLINK()"}
        assert about.variable_value_labels == {"q": {0: "'-1", 1: "'@SUM(A1)"}}
    export_reports(store, survey, tmp_path / "r.zip")
    unpacked(tmp_path / "r.zip", tmp_path / "out")
    results = survey_results(survey, store.reports(survey.id))
    texts = [(tmp_path / "out" / name).read_text() for name in ("reports.csv", "codebook.csv")]
    for text in (*texts, estimates_text(survey, results)):
        for row in csv.reader(io.StringIO(text)):
            for cell in row:
                assert not cell.startswith(("=", "+", "@", "\t", "\r")), row
                assert not cell.startswith("-") or float(cell) < 0, "numbers stay numbers"
    store.close()


def test_names_and_labels_that_formats_do_not_allow(tmp_path):
    long = "é" * 300
    text = f"""
title: {long}
{HEAD}
odds: 729:1
split: true
questions:
  - {{id: to, kind: yes_no, text: "{long}"}}
  - {{id: TO, kind: single, text: B, answers: {{a: "{long}", b: B}}}}
  - {{id: "سؤال", kind: yes_no, text: C}}
  - {{id: "سؤال ثان", kind: yes_no, text: D}}
  - {{id: str7, kind: yes_no, text: E}}
  - {{id: "{"x" * 40}", kind: several, text: F, answers: [one, two]}}
"""
    store, survey = filled(tmp_path, survey_from_text(text))
    names = [variable.name for variable in labelled_variables(survey)]
    assert names == ["to_", "TO__2", "v", "v_", "str7_", "x" * 31, "x" * 29 + "_2"]
    told = {(row[0], row[4]): row[8:] for row in codebook(survey)}
    assert told["x" * 40, "two"] == ("x" * 29 + "_2", "1")
    assert told["سؤال", "yes"] == ("v", "1")
    for end, read, most in (("sav", pyreadstat.read_sav, 255), ("dta", pyreadstat.read_dta, 320)):
        export_reports(store, survey, tmp_path / f"r.{end}")
        _, about = read(tmp_path / f"r.{end}")
        label = about.column_names_to_labels["to_"]
        assert label.endswith("é…")
        assert len(label.encode()) <= most
        assert about.variable_value_labels["TO__2"][1].endswith("é…")
        assert about.file_label.startswith("éé")
    store.close()


def test_rehearsals_are_marked_in_names_and_contents(tmp_path):
    store, trial = filled(tmp_path, survey_from_text(MIXED).as_rehearsal())
    for end in ("zip", "sav", "dta"):
        with pytest.raises(SottovoceError, match="must have 'rehearsal' in its name"):
            export_reports(store, trial, tmp_path / f"reports.{end}")
        export_reports(store, trial, tmp_path / f"rehearsal.{end}")
    names = unpacked(tmp_path / "rehearsal.zip", tmp_path / "out")
    assert names[1:3] == ["rehearsal-reports.csv", "rehearsal-reports.csv.plan.json"]
    assert (tmp_path / "out" / "README.txt").read_text().startswith("REHEARSAL")
    assert len(sv.read(tmp_path / "out" / "rehearsal-reports.csv")) == 300
    _, about = pyreadstat.read_sav(tmp_path / "rehearsal.sav")
    assert about.file_label == "Rehearsal: Everything at once"
    assert "This is a rehearsal: nothing in it counts." in about.notes
    assert pyreadstat.read_dta(tmp_path / "rehearsal.dta")[1].file_label == "Rehearsal: Everything at once"
    results = survey_results(trial, store.reports(trial.id))
    assert {row["rehearsal"] for row in csv.DictReader(io.StringIO(estimates_text(trial, results)))} == {"yes"}
    assert estimates_document(trial, results, store.counts(trial.id))["rehearsal"] is True
    assert methods_paragraph(trial, 300).endswith("none of its numbers count.")
    store.close()


@pytest.mark.parametrize("end", ["csv", "parquet", "zip", "sav", "dta"])
def test_nothing_is_written_below_the_minimum(tmp_path, end):
    store, survey = filled(tmp_path, survey_from_text(ONE), 19)
    with pytest.raises(SottovoceError, match="reports must be at least 20"):
        export_reports(store, survey, tmp_path / f"reports.{end}")
    assert not (tmp_path / f"reports.{end}").exists()
    store.close()


@pytest.mark.parametrize("end", ["zip", "sav", "dta"])
def test_files_are_private_and_not_replaced(mixed, tmp_path, end):
    path = tmp_path / f"reports.{end}"
    export_reports(*mixed, path)
    assert path.stat().st_mode & 0o777 == 0o600
    first = path.read_bytes()
    with pytest.raises(SottovoceError, match="must not exist yet"):
        export_reports(*mixed, path)
    export_reports(*mixed, path, overwrite=True)
    assert path.read_bytes() != first, "every export is in another order"


def test_the_library_of_frames_that_is_there_is_used(mixed, tmp_path, monkeypatch):
    store, survey = mixed
    columns = ReportFormat(survey.plan).to_columns(store.reports(survey.id))
    write_labelled(survey, columns, tmp_path / "with_polars.sav")
    monkeypatch.setitem(sys.modules, "polars", None)
    write_labelled(survey, columns, tmp_path / "with_pandas.sav")
    tables = [pyreadstat.read_sav(tmp_path / f"with_{name}.sav")[0] for name in ("polars", "pandas")]
    assert tables[0].equals(tables[1])
    monkeypatch.setattr("sottovoce.errors.find_spec", lambda _: None)
    with pytest.raises(
        MissingExtraError, match=r"needs pyreadstat; install it with: pip install 'sottovoce\[publish\]'"
    ):
        write_labelled(survey, columns, tmp_path / "again.sav")


def test_estimates_as_a_table_and_for_programs(mixed):
    store, survey = mixed
    results = survey_results(survey, store.reports(survey.id), level=0.9)
    rows = list(csv.DictReader(io.StringIO(estimates_text(survey, results))))
    lines = [line for result in results for line in result.lines]
    shares = [row for row in rows if row["label"]]
    assert [float(row["estimate"]) for row in shares] == [line.estimate for line in lines]
    assert [float(row["high"]) for row in shares] == [line.high for line in lines]
    assert {(row["level"], row["reports"], row["survey"]) for row in rows} == {("0.9", "300", survey.hash)}
    assert [row["answer"] for row in rows if not row["label"]] == ["mean", "mean"]
    document = json.loads(json_text(estimates_document(survey, results, store.counts(survey.id))))
    assert document["results"][1]["lines"][0]["estimate"] == results[1].lines[0].estimate
    assert (document["level"], document["reports"], document["survey"]) == (0.9, 300, survey.hash)
    assert document["questions"]["days"]["answers"]["[3, inf)"] == "≥ 3"


def test_the_codebook_names_reports_that_are_no_answers():
    rows = codebook(survey_from_text(CARDS))
    assert [row[:5] + row[8:] for row in rows] == [
        ("q", "yes_no", "no", "Q", "no", "", ""),
        ("q", "yes_no", "no", "Q", "yes", "", ""),
        *(("q", "report", "no", "", str(count), "q", str(count + 1)) for count in range(4)),
    ]
    assert codebook_text(rows).splitlines()[0] == ",".join(COLUMNS)


def test_the_methods_paragraph_follows_the_plan(survey, old_survey, every_kind):
    text = methods_paragraph(survey_from_text(MIXED), 1842, level=0.99)
    assert "The answers to sick, days, seen, feel_work and feel_pay were disguised by the scheme" in text
    assert "at odds of at most 3\u00a0:\u00a01 (epsilon 1.09862) each" in text
    assert "The answers to ward were not disguised." in text
    assert "given the public answers" in text
    assert "1,842 disguised responses were collected through one open link" in text
    assert "99 % confidence intervals" in text
    assert "by the delta method" in text
    assert f"Sottovoce, version {sv.__version__}" in text
    text = methods_paragraph(survey_from_text(PICKED), 1)
    assert "of these 3 questions the device picked 2 at random" in text
    assert "1 disguised response was collected" in text
    assert "by generalised least squares" in text
    assert "by inverting" not in text
    text, cited = methods_paragraph(survey, 50), references(survey)
    assert f"blind signatures [{len(cited)}]" in text
    assert "RFC 9474" in cited[-1]
    assert "by invitations that can be used once." in methods_paragraph(old_survey, 50)
    text = methods_paragraph(every_kind, 50)
    assert "by inverting the known probabilities of the disguise and by generalised least squares" in text
    for group in every_kind.plan.groups:
        assert all_schemes()[group.scheme].citation in references(every_kind)


def test_the_methods_paragraph_promises_no_bound_that_there_is_not():
    survey = survey_from_text(
        f"title: T\n{HEAD}\nodds: 3:1\nweak: accepted\nquestions: [{{id: q, kind: yes_no, text: Q, "
        "scheme: {name: mangat, p: 0.5}}]"
    )
    text = methods_paragraph(survey, 30)
    assert "without a bound on the odds" in text
    assert "a response can rule out an answer" in text
    assert "factor" not in text


def test_different_numbers_of_picks_are_told(monkeypatch):
    facts = replace(facts_of(survey_from_text(PICKED).plan, "a"), sampled=Sampled(1, 2, 3))
    monkeypatch.setattr("sottovoce.surveys.methods.facts_of", lambda *_: facts)
    assert "of these 3 questions the device picked 1 to 2 at random" in methods_paragraph(survey_from_text(PICKED), 30)


@pytest.mark.parametrize("name", ["reports.xlsx", "reports", "-"])
def test_other_endings_are_refused(mixed, tmp_path, name):
    with pytest.raises(SottovoceError, match=r"output must end in \.csv, \.parquet, \.zip, \.sav or \.dta"):
        export_reports(*mixed, tmp_path / name)


def test_intervals_are_what_the_methods_paragraph_says(kept):
    store, survey = kept
    reports = sv.surveys.reports(str(store.engine.url.database), survey.id)
    for question in survey.questions:
        if question.kind != "several":
            name = question.id
            assert interval_method(reports.estimate(name, method="best")) in ("exact", "constrained score")


def test_variables_are_the_columns_of_reports():
    survey = survey_from_text(MIXED)
    assert [len(v.values) for v in labelled_variables(survey)] == list(ReportFormat(survey.plan).sizes)
