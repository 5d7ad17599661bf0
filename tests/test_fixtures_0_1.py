"""Plans, disguised files and survey databases of version 0.1 are read for good, with the same results.

The files in `fixtures/0.1` were written by version 0.1.0 (`fixtures/write_0_1.py`) and are not to be
written again: where a test here fails, the code is wrong, not the file.
"""

import json
import shutil
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

import sottovoce as sv
from sottovoce.errors import SottovoceError
from sottovoce.estimates.asked_together import estimate_asked_together
from sottovoce.estimates.itemsets import estimate_supports
from sottovoce.estimates.proportions import estimate_proportions, is_sampled
from sottovoce.mechanisms.mechanism import mechanism_kinds
from sottovoce.plans.document import plan_from_text, plan_hash, plan_to_text
from sottovoce.surveys.client.client import Client, SealedReport
from sottovoce.surveys.collect.server import listen, make_app, running
from sottovoce.surveys.collect.store import Store
from sottovoce.surveys.definition.definition import read_definition, survey_from_text
from sottovoce.surveys.definition.survey import survey_from_bytes
from sottovoce.surveys.links import read_link
from sottovoce.surveys.results import cross_table, question_result
from sottovoce.tables.plan_file import read_plan, write_plan

FOLDER = Path(__file__).parent / "fixtures" / "0.1"
MANIFEST = json.loads((FOLDER / "manifest.json").read_text(encoding="utf-8"))
LINES = (FOLDER / "plans" / "cases.jsonl").read_text(encoding="utf-8").splitlines()
CASES = [pytest.param(text, case, id=case["case"]) for text, case in zip(LINES, MANIFEST["cases"], strict=True)]
ESTIMATES = {"proportions": estimate_proportions, "covered": estimate_asked_together, "supports": estimate_supports}
TOLERANCE = {"rel": 1e-12, "abs": 1e-14}
"""Matrix products differ in their last digits (up to 3e-14) between processors; on one processor they are equal."""

LATER_COUNTS = {"replaced": 0, "admitted": 0}
"""What 0.1 did not count."""

ANSWERS = {"sick": "yes", "days": 2, "drink": "once", "seen": ["words"], "job": "c", "theft": "no"}
"""Answers of a respondent to the survey `work`."""


@pytest.fixture
def database(tmp_path):
    """A copy of the database, which a test may write to."""
    return str(shutil.copy(FOLDER / "surveys" / "surveys.db", tmp_path))


@pytest.fixture
def store(database):
    opened = Store(database)
    yield opened
    opened.close()


@pytest.fixture
def server(database):
    """A server over the copy, and a client of it."""
    with running(make_app(Store(database), per_window=None), listen("127.0.0.1", 0)) as address:
        client = Client(address)
        yield address, client
        client.close()


def link_at(address, text):
    return replace(read_link(text), server=address)


def test_fixtures_are_those_of_the_manifest():
    assert {path.name for path in (FOLDER / "plans").glob("*.json")} == set(MANIFEST["plans"])
    reports = {path.name for path in (FOLDER / "reports").iterdir() if not path.name.endswith(".plan.json")}
    assert reports == set(MANIFEST["reports"])
    kinds = {group["mechanism"]["kind"] for text in LINES for group in json.loads(text)["plan"]["groups"]}
    assert kinds <= set(mechanism_kinds())
    assert len(kinds) == 11


@pytest.mark.parametrize("file", MANIFEST["plans"])
def test_a_plan_file_is_read_and_written_as_it_was(file, tmp_path):
    path, recorded = FOLDER / "plans" / file, MANIFEST["plans"][file]
    plan = read_plan(path, recorded["sha256"])
    assert (plan_hash(plan), plan.guarantee.exact) == (recorded["sha256"], recorded["odds"])
    write_plan(plan, tmp_path / file)
    assert (tmp_path / file).read_bytes() == path.read_bytes()


@pytest.mark.parametrize(("text", "recorded"), CASES)
def test_a_plan_of_a_scheme_is_read_and_written_as_it_was(text, recorded):
    plan = plan_from_text(text, recorded["sha256"])
    assert (plan_hash(plan), plan.guarantee.exact) == (recorded["sha256"], recorded["odds"])
    assert plan_to_text(plan) == text


@pytest.mark.parametrize("file", MANIFEST["reports"])
def test_a_disguised_file_gives_the_same_estimates(file):
    path, recorded = FOLDER / "reports" / file, MANIFEST["reports"][file]
    plan = read_plan(path, recorded["sha256"])
    for expected in recorded["estimates"]:
        found = ESTIMATES[expected["how"]](path, plan, expected["of"])
        assert found.respondents == recorded["rows"]
        assert found.value.tolist() == pytest.approx(expected["value"], **TOLERANCE)
        assert found.standard_error.tolist() == pytest.approx(expected["standard_error"], **TOLERANCE)


@pytest.mark.parametrize("name", MANIFEST["surveys"])
def test_a_frozen_survey_is_read_as_it_was(name, store):
    document, recorded = (FOLDER / "surveys" / f"{name}.json").read_bytes(), MANIFEST["surveys"][name]
    survey = survey_from_bytes(document, recorded["sha256"])
    assert survey.document == document
    assert (survey.hash, survey.plan.guarantee.exact) == (sha256(document).hexdigest(), recorded["odds"])
    assert store.survey(survey.id) == survey


@pytest.mark.parametrize("name", MANIFEST["surveys"])
def test_a_definition_freezes_to_the_same_document(name):
    """0.1 sent reports at once and split the budget; both defaults have changed since."""
    path, frozen = FOLDER / "surveys" / f"{name}.yaml", (FOLDER / "surveys" / f"{name}.json").read_bytes()
    if survey_from_bytes(frozen).strength == "very weak":  # which definitions must accept now
        with pytest.raises(SottovoceError, match="must be at most 1000 : 1"):
            read_definition(path)
        accepted = survey_from_text(path.read_text(encoding="utf-8") + "\nsplit: true\nweak: accepted\n")
        assert replace(accepted, send_interval=0, weak=False).document == frozen
        return
    survey = survey_from_text(path.read_text(encoding="utf-8") + "\nsplit: true\n")
    assert survey.send_interval == 600
    assert replace(survey, send_interval=0).document == frozen


def test_old_definitions_are_frozen_anew_unless_they_are_open(store):
    """An old survey lets invitations travel with reports: nobody gets it by freezing its definition again."""
    for name, recorded in MANIFEST["surveys"].items():
        old = survey_from_bytes((FOLDER / "surveys" / f"{name}.json").read_bytes())
        assert old.hash == recorded["sha256"]
        frozen = store.freeze(old)
        assert (frozen.hash == old.hash) == (old.invitation == "open")
        assert (frozen.admission is None) == (old.invitation == "open")


@pytest.mark.parametrize("name", MANIFEST["surveys"])
def test_stored_reports_give_the_same_results(name, store):
    recorded = MANIFEST["surveys"][name]
    survey = store.survey(recorded["sha256"][:16])
    assert store.counts(survey.id) == recorded["counts"] | LATER_COUNTS
    reports = store.reports(survey.id)
    for expected in recorded["results"]:
        names = expected["questions"]
        estimate = question_result if len(names) == 1 else cross_table
        lines = estimate(survey, reports, *names).lines
        assert [list(line.labels) for line in lines] == expected["labels"]
        # 0.1 did not take into account how many people happened to be asked a question that is asked of some
        tolerance = {"abs": 0.03} if is_sampled(survey.plan, names) else TOLERANCE
        assert [line.estimate for line in lines] == pytest.approx(expected["value"], **tolerance)
        errors = [line.standard_error for line in lines]
        assert errors == pytest.approx(expected["standard_error"], **tolerance)


def test_an_unspent_link_is_accepted_once(server, store):
    address, client = server
    recorded = MANIFEST["surveys"]["work"]
    link = link_at(address, recorded["unspent"][0])
    assert len(client.answer(link, ANSWERS)) == 16
    with pytest.raises(SottovoceError, match="report must be accepted; status 403"):
        client.answer(link, ANSWERS)
    before, after = recorded["counts"], store.counts(link.hash[:16])
    assert after == {**before, **LATER_COUNTS, "unspent": before["unspent"] - 1, "reports": before["reports"] + 1}


def test_spent_links_are_refused(server, store):
    address, client = server
    recorded = MANIFEST["surveys"]["work"]
    for text in recorded["spent"]:
        with pytest.raises(SottovoceError, match="report must be accepted; status 403"):
            client.answer(link_at(address, text), ANSWERS)
    assert store.counts(recorded["sha256"][:16]) == recorded["counts"] | LATER_COUNTS


@pytest.mark.parametrize("name", MANIFEST["surveys"])
def test_a_sealed_report_may_be_sent_later_and_again(name, server, store):
    """A device may seal a report under one version of the server and send it to the next."""
    address, client = server
    recorded = MANIFEST["surveys"][name]
    link = link_at(address, f"https://survey.example.org/s/{recorded['sha256'][:16]}#{recorded['sha256']}")
    for kept in ("sent", "not sent"):
        seal = SealedReport(recorded[kept]["body"].encode(), recorded[kept]["receipt"])
        assert client.send(link, seal) == client.send(link, seal) == seal.receipt
    assert store.counts(link.hash[:16])["reports"] == recorded["counts"]["reports"] + 1


def test_reports_of_a_survey_are_reports(database):
    """The face reads a database: by the beginning of the survey's id, and not below its minimum."""
    store = Store(str(database))
    names = store.surveys()
    store.close()
    for name in names:
        reports = sv.surveys.reports(database, name[:6])
        assert len(reports) == 160
        first = reports.plan.schema.names[0]
        assert reports.estimate(first).respondents == 160
    with pytest.raises(SottovoceError, match="survey must be one of those in the database"):
        sv.surveys.reports(database)
    with pytest.raises(SottovoceError, match="database must be the file or URL of a survey database"):
        sv.surveys.reports("nowhere.db")
