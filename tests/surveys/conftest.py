"""A survey with every kind of question, and a server on a free port over a database of its own."""

import asyncio
import json
import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from http.client import HTTPConnection
from types import SimpleNamespace
from urllib.parse import urlsplit

import pytest

from sottovoce.plans.plan import Group
from sottovoce.schemes import CutAndPaste
from sottovoce.surveys.collect.server import listen, make_app, running
from sottovoce.surveys.collect.store import Store
from sottovoce.surveys.definition.definition import survey_from_text
from sottovoce.surveys.links import Link

TEXT = """
title: Honesty at work
asker: Institute of Examples
purpose: To learn how common it is.
contact: survey@example.org
until: 2999-12-31
minimum: 50
odds: 729:1
questions:
  - {id: sick, kind: yes_no, text: "Called in sick?", decline: true}
  - {id: days, kind: number, text: "How many days?", edges: [1, 3, 6, inf], when: {sick: yes}}
  - {id: drink, kind: single, text: "Drink?", answers: [never, once, often, daily]}
  - {id: seen, kind: several, text: "Seen?", help: All of them., answers: [words, touch, threats]}
  - {id: job, kind: single, text: "Job?", answers: [a, b, c, d, e, f, g, h]}
  - id: theft
    kind: yes_no
    text: Took something?
    scheme: {name: unrelated_question, known: [0.75, 0.25]}
    unrelated: Was your mother born in spring?
"""
OPEN = TEXT.replace("minimum: 50", "minimum: 50\ninvitation: open")

PLAIN = """
title: Honesty at work
asker: Institute of Examples
purpose: To learn how common it is.
until: 2100-12-31
invitation: open
odds: 27:1
questions:
  - {id: sick, kind: yes_no, text: "Did you call in sick although you were well?"}
  - {id: drink, kind: single, text: "How often did you drink at work?", answers: [never, once, often, daily]}
  - {id: theft, kind: yes_no, text: "Did you ever take home something that was not yours?"}
"""
EVERY_KIND = """
title: Everything
asker: Institute of Examples
purpose: To toss every kind of coin.
until: 2100-12-31
invitation: open
odds: 531441:1
questions:
  - {id: plain, kind: yes_no, text: Plain}
  - {id: forced, kind: yes_no, text: Forced, scheme: {name: forced_response, truth: 0.5, yes: 0.25}}
  - id: unrelated
    kind: yes_no
    text: Unrelated
    odds: 3:1
    scheme: {name: unrelated_question, known: [0.75, 0.25]}
    unrelated: Were you born in spring?
  - {id: related, kind: yes_no, text: Related, scheme: {name: related_question, theta: 0.75}}
  - {id: subset, kind: single, text: Subset, odds: 3:1, answers: [a, b, c, d], scheme: subset_selection}
  - id: drawn
    kind: single
    text: Drawn
    odds: 3:1
    answers: [a, b, c]
    scheme: {name: random_set, components: [[1, 1, [1, 1, 2]]]}
  - {id: unary, kind: single, text: Unary, odds: 3:1, answers: [a, b, c], scheme: symmetric_unary}
  - {id: shifted, kind: single, text: Shifted, answers: [a, b, c], scheme: {name: randomized_gamma_diagonal, gamma: 3}}
  - {id: flipped, kind: several, text: Flipped, answers: [a, b], scheme: {name: mask, p: 0.75}}
  - {id: pasted, kind: several, text: Pasted, answers: [a, b, c], scheme: {name: mask, p: 0.6}}
  - {id: one, kind: yes_no, text: One}
  - {id: two, kind: yes_no, text: Two}
groups: [{questions: [one, two], scheme: attribute_sampling, odds: 3:1}]
"""


@pytest.fixture(scope="session")
def survey():
    return survey_from_text(TEXT)


@pytest.fixture(scope="session")
def open_survey():
    return survey_from_text(OPEN)


@pytest.fixture(scope="session")
def plain_definition():
    """What most surveys are: yes/no and single-choice questions in one language."""
    return PLAIN


@pytest.fixture(scope="session")
def every_kind():
    """A survey that tosses every kind of coin that there is, also one that definitions refuse.

    Cut-and-paste is estimated only where the sizes of true sets are public, as they are not in a survey.
    """
    survey = survey_from_text(EVERY_KIND)
    pasting = CutAndPaste(cutoff=1, rho="0.5")
    groups = [
        Group(group.attributes, pasting.name, pasting.mechanism(group.mechanism.sizes))
        if group.attributes == ("pasted",)
        else group
        for group in survey.plan.groups
    ]
    return replace(survey, plan=replace(survey.plan, groups=tuple(groups)))


@pytest.fixture(scope="session")
def node():
    """Run a script under Node; where everything must be there, its absence is a failure."""
    path = shutil.which("node")
    if path is None:
        assert os.environ.get("CI") != "true", "node must be installed"
        pytest.skip("node is not installed")

    def run(*arguments) -> str:
        return subprocess.run([path, *arguments], capture_output=True, text=True, check=True).stdout

    return run


@pytest.fixture
def database(tmp_path):
    return str(tmp_path / "surveys.db")


@pytest.fixture
def store(database, survey, open_survey):
    opened = Store(database)
    opened.freeze(survey)
    opened.freeze(open_survey)
    yield opened
    opened.close()


class Server:
    """A running server, and plain requests to it."""

    def __init__(self, address: str) -> None:
        self.address = address

    def link(self, survey, token=None) -> Link:
        return Link(self.address, survey.hash, token)

    def ask(self, method: str, path: str, body=None, headers=None):
        connection = HTTPConnection(urlsplit(self.address).netloc, timeout=30)
        try:
            connection.request(method, path, body, headers or {})
            response = connection.getresponse()
            content = response.read()
            return SimpleNamespace(status=response.status, headers=dict(response.getheaders()), body=content)
        finally:
            connection.close()

    def post(self, survey, body, headers=None):
        """Status and the error's name, or the receipt."""
        given = {"Content-Type": "application/json"} | (headers or {})
        reply = self.ask("POST", f"/s/{survey.id}/reports", body, given)
        answer = json.loads(reply.body)
        return reply.status, answer.get("error") or answer["receipt"]


class Serving:
    """Starts servers over a database, with settings; they stop when its stack is closed."""

    def __init__(self, database: str) -> None:
        self._database = database
        self.stack = ExitStack()

    def __call__(self, **settings) -> Server:
        app = make_app(Store(self._database), **settings)
        return Server(self.stack.enter_context(running(app, listen("127.0.0.1", 0))))


@pytest.fixture
def served(database, store):
    serving = Serving(database)
    with serving.stack:
        yield serving


@pytest.fixture
def server(served):
    return served(per_window=None)


@pytest.fixture
def finished():
    """Run a coroutine in a thread of its own: a browser's tests may keep a loop running in this one."""

    def run(coroutine):
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(asyncio.run, coroutine).result()

    return run
