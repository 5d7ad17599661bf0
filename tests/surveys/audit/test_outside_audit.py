"""Audits of served pages in a real browser: dishonest servers are convicted, and honest ones never."""

import json
from contextlib import closing

import pytest

from sottovoce.errors import SottovoceError
from sottovoce.surveys.collect.store import Store
from tests.surveys.audit.dishonest import (
    AT_ONCE,
    DRAWN_OTHERWISE,
    INVITED,
    KINDS,
    LARGE,
    ONE,
    OPEN,
    UNBOUNDED,
    WIDE,
    only_for,
    serving,
    with_scripts,
)
from tests.surveys.browser.test_same_bytes import DEFINITION
from tests.surveys.test_presentation import png

MANY = {"a file as a sign": 120}
"""Walks for kinds that only show in many of them."""


def admitted(site) -> int:
    with closing(Store(str(site.database))) as store:
        return store.counts(site.survey.id)["admitted"]


def kinds(result) -> set[str]:
    return {finding.kind for finding in result.findings}


SHORT = {"edges": 1, "twins": 1, "retries": 1}
"""Just enough effort for every kind of walk."""


def test_a_short_audit_of_an_honest_survey(tmp_path, audit):
    with serving(tmp_path, OPEN) as site:
        result = audit(site, 6, effort=SHORT)
        assert result.passed, result
        assert result.walks == 6
        assert site.reports() == []


@pytest.mark.slow
def test_an_invitation_is_spent_and_not_published(tmp_path, audit, heading_of):
    with serving(tmp_path, INVITED) as site:
        (link,) = site.invite()
        result = audit(site, 6, invitation=link, effort=SHORT)
        assert result.passed, result
        assert site.reports() == []
        assert result.scripts.startswith("those of the installed release")
        with pytest.raises(SottovoceError, match="invitation must have an invitation that can be used"):
            audit(site, invitation=link)
    token = link.rpartition(".")[2]
    for published in (str(result), json.dumps(result.to_json()), result.to_html()):
        assert token not in published
        assert site.survey.hash in published
    assert heading_of(result.to_html()) == "Nothing found"


@pytest.mark.slow
def test_an_honest_survey_with_invitations(tmp_path, audit):
    """All kinds of questions, branches and languages, and a picture."""
    (tmp_path / "logo.png").write_bytes(png())
    definition = DEFINITION.replace("send_interval: 0", "send_interval: 600\nlogo: logo.png")
    with serving(tmp_path, definition) as site:
        result = audit(site, 30, sources=["127.0.0.1", "127.0.0.2"])
    assert result.passed, result
    assert [bound.name for bound in result.bounds][-1] == "all answers together"


@pytest.fixture
def heading_of():
    return lambda page: page.partition("<h1>")[2].partition("</h1>")[0]


@pytest.mark.slow
def test_an_open_survey_with_one_question(tmp_path, audit):
    with serving(tmp_path, ONE) as site:
        result = audit(site, 30)
    assert result.passed, result
    assert [bound.name for bound in result.bounds] == ["tax"]
    assert result.truths in (("tax = no", "tax = yes"), ("tax = yes", "tax = no"))


@pytest.mark.slow
def test_a_page_that_is_convicted_before_it_stops(tmp_path, audit, heading_of):
    changes = [
        ("requests.js", "    waiting(seconds);", "    body += ' ';\n$&"),
        ("requests.js", "  } catch {\n    return { again: true };", "  } catch {\n    return { error: 'failed' };"),
    ]
    with serving(tmp_path, ONE, with_scripts(changes)) as site:
        result = audit(site, any_release=True, effort=SHORT)
    assert kinds(result) == {"retry"}
    assert "broken off" in result.remarks[0]
    assert heading_of(result.to_html()) == "Convicted"


STOPS = ("sending.js", '? null : "receipt"', '? "receipt" : "receipt"')
"""A page that takes no receipt for the right one."""


@pytest.mark.slow
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
        result = audit(site, 100, effort={"minutes": 0.001})
    assert result.walks == 0
    assert result.passed


@pytest.mark.slow
def test_a_page_that_some_loads_get_differently(tmp_path, audit):
    """The page is an honest one for programs that ask without a browser."""
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
@pytest.mark.parametrize("name", DRAWN_OTHERWISE)
def test_pages_that_draw_otherwise_are_convicted_exactly(tmp_path, audit, name):
    """By numbers that they were given, in few walks, however small the difference is."""
    definition, changes, kind = DRAWN_OTHERWISE[name]
    with serving(tmp_path, definition, with_scripts(changes)) as site:
        result = audit(site, 6, any_release=True, effort={"edges": 24, "twins": 1})
    assert any(finding.kind == kind and finding.sureness.startswith("exact") for finding in result.findings), result


@pytest.mark.slow
@pytest.mark.parametrize("number", range(20))
def test_honest_surveys_are_never_convicted(tmp_path, audit, number):
    """One in five with as many walks of each kind as usual, but for the random ones."""
    definition = (OPEN, INVITED, AT_ONCE, DEFINITION, WIDE, UNBOUNDED, LARGE)[number % 7]
    thorough = {"edges": 24, "twins": 4, "retries": 6}
    with serving(tmp_path, definition) as site:
        if number % 5:
            result = audit(site, 6, effort=SHORT | {"seed": number})
        else:
            result = audit(site, 20, effort=thorough | {"seed": number})
    assert result.passed, result
