"""A proxy that changes what passes through it: whatever it does to scripts, questions and reports is noticed."""

import gzip
import json
from dataclasses import dataclass, field
from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from starlette.routing import Route

from sottovoce.surveys.collect.server import listen, running

pytestmark = pytest.mark.slow


@dataclass
class Passing:
    """A request or an answer on its way."""

    path: str
    headers: dict[str, str]
    body: bytes
    status: int = 200


@dataclass
class Rewriting:
    """A proxy with two functions that may change requests and answers."""

    server: str
    request: object = field(default=lambda passing: None)
    answer: object = field(default=lambda passing: None)

    async def pass_on(self, request) -> Response:
        sent = Passing(request.url.path, dict(request.headers), await request.body())
        self.request(sent)
        got = await run_in_threadpool(self._ask, request.method, sent)
        self.answer(got)
        got.headers.pop("content-length", None)
        return Response(got.body, got.status, got.headers)

    def _ask(self, method: str, sent: Passing) -> Passing:
        headers = sent.headers | {"content-length": str(len(sent.body))}
        connection = HTTPConnection(urlsplit(self.server).netloc, timeout=60)
        try:
            connection.request(method, sent.path, sent.body, headers)
            response = connection.getresponse()
            names = {name.lower(): value for name, value in response.getheaders()}
            return Passing(sent.path, names, response.read(), response.status)
        finally:
            connection.close()


@pytest.fixture
def through(invited):
    """The link of an invitation through a proxy with these functions."""
    stack = []

    def link(**changes) -> str:
        proxy = Rewriting(invited.address, **changes)
        app = Starlette(routes=[Route("/{path:path}", proxy.pass_on, methods=["GET", "POST"])])
        stack.append(running(app, listen("127.0.0.1", 0)))
        (given,) = invited.invite()
        return given.replace(invited.address, stack[-1].__enter__())

    yield link
    for server in stack:
        server.__exit__(None, None, None)


def of(ending: str, change):
    """A change of what has a path with this ending."""
    return lambda passing: change(passing) if passing.path.endswith(ending) else None


def test_a_proxy_that_changes_nothing(through, phone, walk, invited):
    phone.goto(through())
    walk(phone, 0, 1)
    phone.wait_for_selector(".receipt")
    assert len(invited.reports()) == 1


def minified(passing: Passing) -> None:
    """Comments are lost, as with a proxy that makes pages faster."""
    passing.headers.pop("content-encoding", None)
    passing.body = b"\n".join(line for line in passing.body.split(b"\n") if not line.startswith(b"//"))


def plain_only(passing: Passing) -> None:
    passing.headers["accept-encoding"] = "identity"


def test_scripts_that_were_changed_do_not_run(through, phone):
    phone.goto(through(request=plain_only, answer=of("main.js", minified)))
    phone.wait_for_load_state("networkidle")
    assert phone.locator("button.primary, fieldset").count() == 0
    assert "something changed them on their way" in phone.text_content("main")


def pretty(passing: Passing) -> None:
    passing.body = json.dumps(json.loads(passing.body), indent=1).encode()


def test_questions_that_were_changed_are_not_asked(through, phone):
    phone.goto(through(request=plain_only, answer=of("survey.json", pretty)))
    phone.wait_for_selector("[role=alert]")
    assert phone.inner_text("main h1") == "Please do not answer here"
    assert phone.locator("button").count() == 0


def compressed_unsaid(passing: Passing) -> None:
    """The proxy compresses, and removes the header that says so."""
    passing.body = gzip.compress(passing.body)


def test_a_header_that_is_lost_stops_the_page(through, phone):
    phone.goto(through(request=plain_only, answer=of("survey.json", compressed_unsaid)))
    phone.wait_for_selector("[role=alert]")
    assert phone.inner_text("main h1") == "Please do not answer here"


def with_script(passing: Passing) -> None:
    added = b"<script>document.documentElement.dataset.added = 'yes'</script><script src='/added.js'></script></body>"
    passing.body = passing.body.replace(b"</body>", added)


def test_scripts_that_were_added_do_not_run(through, phone, invited):
    """The policy that the server sends with the page forbids them, as long as the proxy passes it on."""
    phone.goto(through(request=plain_only, answer=of(invited.survey.id, with_script)))
    phone.wait_for_selector("button.primary")
    assert "added" in phone.content()
    assert phone.evaluate("document.documentElement.dataset.added") is None


def another_answer(passing: Passing) -> None:
    sent = json.loads(passing.body)
    sent["report"] = f"{1 - int(sent['report'][:2]):02x}{sent['report'][2:]}"
    passing.body = json.dumps(sent).encode()


def test_a_report_that_was_changed_gets_another_receipt(through, phone, walk):
    """The page does not say that its report was stored."""
    phone.goto(through(request=of("/reports", another_answer)))
    walk(phone, 0, 1)
    phone.wait_for_selector("[role=alert]")
    assert "receipt is not that of your report" in phone.inner_text("[role=alert]")


def without_type(passing: Passing) -> None:
    del passing.headers["content-type"]


def test_a_request_without_its_type_is_refused(through, phone, invited):
    """An admission: nothing is spent, and no question is asked."""
    phone.goto(through(request=of("/check", without_type)))
    phone.wait_for_selector("h1")
    phone.wait_for_load_state("networkidle")
    assert phone.locator("fieldset").count() == 0
    assert invited.reports() == []


def portal(passing: Passing) -> None:
    """A page of somebody else, as in hotels, with a status as if all were well."""
    passing.status, passing.body = 200, b"<h1>Please log in</h1>"


def test_a_stranger_who_answers_is_not_believed(through, phone, walk, invited):
    """The report waits, and the same bytes are sent again."""
    strange = [portal]
    answer = of("/reports", lambda passing: strange and strange.pop()(passing))
    phone.goto(through(answer=answer))
    walk(phone, 0, 1)
    phone.wait_for_selector(".receipt")
    assert strange == []
    assert len(invited.reports()) == 1
