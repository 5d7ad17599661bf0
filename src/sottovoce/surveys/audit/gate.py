"""The gate of an audit: what passes to the server, and what is answered on its behalf."""

import json
from collections import deque
from dataclasses import dataclass, field

from sottovoce.surveys.audit.proxy import DroppedError, Reply, SentRequest
from sottovoce.surveys.definition.survey import Survey
from sottovoce.surveys.report import receipt_of

JSON = (("content-type", "application/json"),)


@dataclass
class Gate:
    """Decides what passes the proxy: files of the page, and one admission. Reports are answered here."""

    survey: Survey
    admits: bool = False
    admitted: bytes | None = None
    fails: deque[str] = field(default_factory=deque)
    admissions: list[str] = field(default_factory=list)
    reports: list[bytes] = field(default_factory=list)

    def __call__(self, request: SentRequest) -> Reply | None:
        """Return the answer to a request, or None if the server may answer it."""
        home = f"/s/{self.survey.id}"
        if request.method == "POST":
            answer = {f"{home}/reports": self._report, f"{home}/admission": self._admission, f"{home}/check": _check}
            return answer[request.path](request) if request.path in answer else Reply(404)
        files = (home, f"{home}/survey.json", f"{home}/logo")
        passes = request.method == "GET" and (request.path in files or request.path.startswith("/assets/"))
        return None if passes else Reply(404)

    def _report(self, request: SentRequest) -> Reply:
        """Take a report, and throw it away; or fail, as networks and servers do."""
        self.reports.append(request.body)
        failure = self.fails.popleft() if self.fails else None
        if failure == "network":
            raise DroppedError
        if failure == "server":
            return Reply(503, b'{"error":"busy","reason":"later"}', (*JSON, ("retry-after", "2")))
        try:
            sent = json.loads(request.body)
            receipt = receipt_of(sent["survey"], sent["report"], sent.get("credential") or sent["key"])
        except (ValueError, LookupError, TypeError, AttributeError):
            return Reply(400, b'{"error":"malformed","reason":"no report"}', JSON)
        return Reply(201, json.dumps({"receipt": receipt}).encode(), JSON)

    def _admission(self, request: SentRequest) -> Reply | None:
        """Pass on one admission; hold all others back."""
        self.admissions.append(request.body.decode("utf-8", "replace"))
        if self.admits and self.admitted in (None, request.body):  # the same bytes may have to be sent again
            self.admitted = request.body
            return None
        return Reply(503, b'{"error":"busy","reason":"later"}', (*JSON, ("retry-after", "5")))


def _check(_: SentRequest) -> Reply:
    """Say that an invitation can be used: the server was asked before the browser was started."""
    return Reply(200, b'{"invitation":"unspent"}', JSON)
