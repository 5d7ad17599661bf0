"""Audits of served pages in a real browser: dishonest servers are convicted, and honest ones never."""

import json
from contextlib import closing

import pytest

from sottovoce.errors import SottovoceError
from sottovoce.surveys.collect.store import Store
from tests.surveys.audit.dishonest import (
    AT_ONCE,
    INVITED,
    KINDS,
    ONE,
    OPEN,
    UNBOUNDED,
    WIDE,
    by_agent,
    only_for,
    serving,
    with_scripts,
)
from tests.surveys.browser.test_same_bytes import DEFINITION

MANY = {"wrong matrix": 150, "a file as a sign": 120}
"""Walks for kinds that only show in many of them."""


def admitted(site) -> int:
    with closing(Store(str(site.database))) as store:
        return store.counts(site.survey.id)["admitted"]


def kinds(result) -> set[str]:
    return {finding.kind for finding in result.findings}


def test_an_honest_survey_with_invitations(tmp_path, audit, heading_of):
    """All kinds of questions, branches and languages; the invitation is spent, and no report is stored."""
    with serving(tmp_path, DEFINITION.replace("send_interval: 0", "send_interval: 600")) as site:
        (link,) = site.invite()
        result = audit(site, 12, invitation=link, sources=["127.0.0.1", "127.0.0.2"])
        assert result.passed, result
        assert result.walks == 12
        assert site.reports() == []
        assert result.scripts.startswith("those of the installed release")
        assert [bound.name for bound in result.bounds][-1] == "all answers together"
        with pytest.raises(SottovoceError, match="invitation must have an invitation that can be used"):
            audit(site, invitation=link)
    token = link.rpartition(".")[2]
    for published in (str(result), json.dumps(result.to_json()), result.to_html()):
        assert token not in published
        assert site.survey.hash in published
    assert heading_of(result.to_html()) == "Nothing found"


@pytest.fixture
def heading_of():
    return lambda page: page.partition("<h1>")[2].partition("</h1>")[0]


@pytest.mark.slow
def test_an_open_survey_with_one_question(tmp_path, audit):
    with serving(tmp_path, ONE) as site:
        result = audit(site, 15)
    assert result.passed, result
    assert [bound.name for bound in result.bounds] == ["tax"]
    assert result.truths in (("tax = no", "tax = yes"), ("tax = yes", "tax = no"))


def test_a_page_that_is_convicted_before_it_stops(tmp_path, audit, heading_of):
    changes = [
        ("requests.js", "    waiting(seconds);", "    body += ' ';\n$&"),
        ("requests.js", "  } catch {\n    return { again: true };", "  } catch {\n    return { error: 'failed' };"),
    ]
    with serving(tmp_path, ONE, with_scripts(changes)) as site:
        result = audit(site, any_release=True)
    assert kinds(result) == {"retry"}
    assert "broken off" in result.remarks[0]
    assert heading_of(result.to_html()) == "Convicted"


STOPS = ("sending.js", '? null : "receipt"', '? "receipt" : "receipt"')
"""A page that takes no receipt for the right one."""


def test_a_page_that_cannot_be_walked(tmp_path, audit):
    with serving(tmp_path, ONE, with_scripts([STOPS])) as site, pytest.raises(SottovoceError) as refused:
        audit(site, any_release=True)
    assert "page must lead a respondent through the survey" in str(refused.value)


@pytest.mark.slow
def test_a_server_that_admits_nobody(tmp_path, audit):
    def busy(scope, reply):
        if scope["path"].endswith("/admission"):
            reply.status, reply.body = 503, b"{}"

    with (
        serving(tmp_path, INVITED, busy) as site,
        pytest.raises(SottovoceError, match="must be admitted by the server"),
    ):
        audit(site)


def test_scripts_of_another_release_are_named_and_not_convicted(tmp_path, audit):
    with serving(tmp_path, INVITED, with_scripts([])) as site:
        (link,) = site.invite()
        with pytest.raises(SottovoceError, match="scripts must be those of the installed release"):
            audit(site, invitation=link)
        assert admitted(site) == 0


@pytest.mark.slow
def test_time_runs_out(tmp_path, audit):
    with serving(tmp_path, ONE) as site:
        result = audit(site, 100, minutes=0.001)
    assert result.walks == 0
    assert result.passed


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


@pytest.mark.parametrize("name", REWRITTEN)
def test_what_is_served_convicts_by_itself(tmp_path, audit, name):
    """No walk is needed, and the invitation is not spent."""
    rewrite, convicting = REWRITTEN[name]
    with serving(tmp_path, INVITED, rewrite) as site:
        result = audit(site, sources=["127.0.0.1", "127.0.0.2"])
        assert admitted(site) == 0
    assert convicting <= kinds(result)
    assert result.walks == 0
    assert result.verdict == "convicted"


@pytest.mark.slow
def test_a_page_that_some_loads_get_differently(tmp_path, audit):
    """The page is an honest one for whoever asks without a browser."""
    spied = only_for(lambda scope: b"sec-fetch-dest" in dict(scope["headers"]), with_scripts(KINDS["beacon"][1]))
    with serving(tmp_path, ONE, spied) as site:
        result = audit(site)
    assert "another page for some visitors" in kinds(result)


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_dishonest_pages_are_convicted_by_what_they_do(tmp_path, audit, name):
    definition, changes, kind = KINDS[name]
    with serving(tmp_path, definition, with_scripts(changes)) as site:
        result = audit(site, MANY.get(name, 10), any_release=True)
        assert site.reports() == []
    assert kind in kinds(result), result
    assert result.seconds < 600


@pytest.mark.slow
@pytest.mark.parametrize("number", range(20))
def test_honest_surveys_are_never_convicted(tmp_path, audit, number):
    definition = (OPEN, INVITED, AT_ONCE, DEFINITION, WIDE, UNBOUNDED)[number % 6]
    with serving(tmp_path, definition) as site:
        result = audit(site, 15, seed=number)
    assert result.passed, result
