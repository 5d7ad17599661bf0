"""`sottovoce survey audit`: exit status, what is written, and what is missing. The audits are tested elsewhere."""

import json
from dataclasses import replace

import pytest

import sottovoce.errors
from sottovoce.surveys.audit import run as audits
from sottovoce.surveys.audit.report import Bound, Finding, OutsideAudit

LINK = f"http://127.0.0.1:9/s/{'0' * 16}#{'0' * 64}"
HONEST = OutsideAudit(
    address="http://127.0.0.1:9/s/0000000000000000",
    hash="0" * 64,
    title="Honesty",
    began="2026-01-01T00:00+00:00",
    seconds=60.0,
    walks=600,
    truths=("tax = no", "tax = yes"),
    risk=1e-6,
    seed=1,
    release="0.2.0",
    scripts="those of the installed release",
    browser="Chromium 1",
    done=("Walks: 600.",),
    bounds=(Bound("tax", 1.1, 0.5),),
)


@pytest.fixture
def concluded(monkeypatch):
    """Let audits come to a conclusion without a server; what they were asked."""
    asked = {}

    def conclude(result):
        monkeypatch.setattr(audits, "outside_audit", lambda url, **options: asked.update(options, url=url) or result)
        return asked

    return conclude


def test_nothing_found(run, tmp_path, concluded):
    asked = concluded(HONEST)
    output = tmp_path / "audit.html"
    code, out, _ = run(
        "survey", "audit", LINK, "--walks", "9", "--from", "127.0.0.1", "-o", str(output), "--any-release"
    )
    assert code == 0
    assert out.startswith("Nothing found: Honesty at http://127.0.0.1:9")
    assert "600 walks in 60 seconds, 10.0 a second" in out
    assert "<h1>Nothing found</h1>" in output.read_text()
    assert (asked["url"], asked["effort"].walks, asked["sources"]) == (LINK, 9, ["127.0.0.1"])
    assert asked["any_release"]
    assert repr(HONEST) == str(HONEST)


def test_convicted(run, concluded):
    concluded(
        replace(HONEST, findings=(Finding("request", "POST /collect", "no", "exact"),), remarks=("once",), walks=0)
    )
    code, out, err = run("survey", "audit", LINK, "--json", "-")
    assert code == 1
    said = json.loads(out)
    assert (said["verdict"], said["passed"], said["findings"][0]["observed"]) == ("convicted", False, "POST /collect")
    assert said["bounds"] == [{"name": "tax", "promised": 1.1, "at_least": 0.5}]
    assert said["limits"]
    assert "remark: once" in err


def test_without_playwright(run, monkeypatch):
    monkeypatch.setattr(sottovoce.errors, "find_spec", lambda _: None)
    code, _, err = run("survey", "audit", LINK)
    assert code == 2
    assert "an audit from outside needs playwright; install it with: pip install 'sottovoce[audit]'" in err
