"""What is served convicts by itself: files, headers, the logo and what the survey states about itself."""

import json
from dataclasses import replace

import pytest

from sottovoce.surveys.audit.run import served_findings
from sottovoce.surveys.audit.visitors import Fetched, fetch_all, visitors, wrong_statements
from sottovoce.surveys.links import Link
from sottovoce.surveys.page.files import release
from tests.surveys.audit.dishonest import INVITED, KINDS, OPEN, by_agent, only_for, serving, with_scripts
from tests.surveys.audit.test_outside_audit import admitted, kinds
from tests.surveys.test_presentation import png


@pytest.fixture(scope="module")
def fetched(tmp_path_factory):
    """An honest survey with a logo, its link, and what one visitor gets."""
    folder = tmp_path_factory.mktemp("served")
    (folder / "logo.png").write_bytes(png())
    with serving(folder, OPEN.replace("invitation: open", "invitation: open\nlogo: logo.png")) as site:
        link = Link(site.address, site.survey.hash)
        return site.survey, link, fetch_all(link, site.survey, visitors([None])[:1])


@pytest.fixture
def judged(fetched):
    """Findings about what is served, after a change of one file."""
    survey, link, served = fetched

    def judge(name: str = "", **changes) -> dict[str, str]:
        path = next(path for path in served if path.endswith(name))
        other = {who: replace(got, **changes) for who, got in served[path].items()}
        found = served_findings(survey, link, served | {path: other})
        return {finding.kind: finding.observed for finding in found}

    return judge


def body_of(fetched, name: str) -> bytes:
    return next(next(iter(got.values())).body for path, got in fetched[2].items() if path.endswith(name))


def test_nothing_is_wrong(judged):
    assert judged() == {}


def test_files(judged, fetched):
    assert judged("coins.js", body=b"//").keys() == {"scripts", "statements"}
    assert "status 404" in judged("coins.js", status=404)["files"]
    assert judged(fetched[0].id, body=body_of(fetched, fetched[0].id) + b"<!-- -->").keys() == {"page"}


def test_files_of_the_release_are_known_without_a_stated_hash(judged):
    assert judged("page.css", body=b"*{}")["scripts"].endswith("is not that of the installed release")


def test_headers(judged):
    assert "is missing" in judged("survey.json", headers={})["headers"]
    assert "nel is there" in judged("survey.json", headers={"nel": "{}"})["headers"]


def test_logos(judged):
    assert "of type image/png" in judged("/logo", body=b"other")["logo"]
    assert judged("/logo", headers={"content-type": "image/webp"}).keys() == {"logo"}
    assert judged("/logo", status=404).keys() == {"files"}


def test_statements_of_a_survey_about_itself(judged, fetched):
    def stated(**changes):
        whole = json.loads(body_of(fetched, "/audit.json")) | changes
        return judged("/audit.json", body=json.dumps(whole).encode())

    time = json.loads(body_of(fetched, "/audit.json"))["time"]
    assert stated() == {}
    assert stated(whole={"odds": "3"})["statements"].endswith("has another 'whole'")
    assert stated(more=1).keys() == {"statements"}
    assert stated(time=[sentence.replace("1", "2.5") for sentence in time]) == {}  # simulated numbers may be rounded
    assert stated(time=["Nothing is told."]).keys() == {"statements"}
    assert stated(files={}).keys() == {"statements"}
    assert judged("/audit.json", body=b"[]")["statements"].endswith("is no audit of a survey")
    assert judged("/audit.json", status=404).keys() == {"files"}


def test_statements_of_another_release(fetched):
    """Its sentences may be others, but not its survey, plan or files."""
    survey, _, served = fetched
    home = f"/s/{survey.id}"
    page = {"one": Fetched(200, {}, body_of(fetched, home).replace(release().encode(), b"0" * 16))}

    def found(**changes):
        whole = json.dumps(json.loads(body_of(fetched, "/audit.json")) | changes).encode()
        stated = {"one": Fetched(200, {}, whole)}
        return wrong_statements(survey, home, served | {home: page, f"{home}/audit.json": stated})

    assert found(limits=[]) == []
    assert len(found(plan_hash="0" * 64)) == 1


REWRITTEN = {
    "scripts without their hashes": (
        lambda scope, reply: setattr(reply, "body", reply.body + b"//") if scope["path"].endswith("coins.js") else None,
        {"scripts"},
    ),
    "scripts of this release with other hashes": (
        with_scripts([KINDS["beacon"][1][0]], known=True),
        {"scripts", "page"},
    ),
    "headers stripped": (lambda _, reply: reply.headers.pop(b"content-security-policy", None), {"headers"}),
    "header changed": (lambda _, reply: reply.headers.update({b"referrer-policy": b"unsafe-url"}), {"headers"}),
    "reports of the browser": (lambda _, reply: reply.headers.update({b"nel": b"{}"}), {"headers"}),
    "cookies": (lambda _, reply: reply.headers.update({b"set-cookie": b"a=b"}), {"headers"}),
    "body rewritten": (
        lambda _, reply: setattr(reply, "body", reply.body.replace(b"</body>", b"<!-- fast --></body>")),
        {"page"},
    ),
    "another page for telephones": (
        only_for(by_agent(b"Mobile"), with_scripts(KINDS["beacon"][1])),
        {"another page for some visitors"},
    ),
    "another page for an address": (
        only_for(lambda scope: scope["client"][0] == "127.0.0.2", with_scripts(KINDS["beacon"][1])),
        {"another page for some visitors"},
    ),
    "files are missing": (
        lambda scope, reply: setattr(reply, "status", 404) if scope["path"].endswith("demo.js") else None,
        {"files"},
    ),
}


FIRST, *OTHERS = REWRITTEN


@pytest.mark.parametrize("name", [FIRST, *(pytest.param(name, marks=pytest.mark.slow) for name in OTHERS)])
def test_what_is_served_convicts_by_itself(tmp_path, audit, name):
    """No walk is needed, and the invitation is not spent."""
    rewrite, convicting = REWRITTEN[name]
    with serving(tmp_path, INVITED, rewrite) as site:
        result = audit(site, sources=["127.0.0.1", "127.0.0.2"])
        assert admitted(site) == 0
    assert convicting <= kinds(result)
    assert result.walks == 0
    assert result.verdict == "convicted"
