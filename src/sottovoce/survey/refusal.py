"""What the server refuses, with a status, a short name for programs and a plain reason for people."""

from enum import Enum


class Refusal(Enum):
    """Status, reason, and after how many seconds the same bytes may be sent again (None: never)."""

    malformed = (400, "The body must be JSON with survey, report, key and token, as the survey's page sends it.", None)
    invitation = (403, "This invitation is missing, was used already, or is not one of this survey's.", None)
    cross_site = (403, "Reports are taken from the survey's own page only.", None)
    unknown_survey = (404, "There is no such survey here.", None)
    not_found = (404, "There is nothing at this address.", None)
    method = (405, "This address does not take requests of this kind.", None)
    too_slow = (408, "The body took too long to arrive.", 1)
    other_survey = (409, "The report belongs to another survey, or to another version of this one.", None)
    other_report = (409, "This key has come with another report before. A report cannot be changed.", None)
    closed = (410, "The survey has ended.", None)
    too_large = (413, "The body is longer than any report of this survey.", None)
    content_type = (415, "The body must be sent as application/json.", None)
    unfit = (422, "The report does not fit the survey's plan.", None)
    slow_down = (429, "Too many reports from one address. Send the same bytes again later.", 10)
    failed = (500, "Something went wrong here. Send the same bytes again later.", 10)
    busy = (503, "The report could not be stored. Send the same bytes again later.", 2)

    def __init__(self, status: int, reason: str, retry_after: int | None) -> None:
        """Name the parts of the value."""
        self.status = status
        self.reason = reason
        self.retry_after = retry_after


class RefusedError(Exception):
    """A request that is answered with a refusal."""

    def __init__(self, refusal: Refusal) -> None:
        """Carry the refusal to where it is answered."""
        self.refusal = refusal
        super().__init__(refusal.name)
