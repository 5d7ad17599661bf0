"""What anyone may know of a survey: its plan, hash and odds, how to check them, and what no design can do."""

from fractions import Fraction
from math import floor
from typing import Any

from sottovoce.errors import SottovoceError
from sottovoce.plans.document import plan_hash, plan_to_json
from sottovoce.plans.guarantee import Guarantee
from sottovoce.plans.plan import Plan
from sottovoce.surveys.definition.survey import Question, Survey
from sottovoce.surveys.page.script import page_files, page_script
from sottovoce.surveys.results import column_channels

CHECKS = (
    "Compare the hash above with the one behind the # in your link: they must be the same.",
    "Fetch survey.json and compute its SHA-256, for example with sha256sum: it must be that hash.",
    "Recompute the odds from the integers in the plan, as docs/format.md of Sottovoce says. The survey's page does so "
    "before it shows the first question, and stops if anything is amiss.",
    "Compare the hashes of the page's files below with those of the Sottovoce release. The page's script is made of "
    "these files: page_script in sottovoce/surveys/page/script.py makes it again from survey.json.",
    "After sending, compare what the page says was sent with what your browser's network tools show.",
)
LIMITS = (
    "A server that also changes the page's script can read answers. Whoever fears that uses a client of their own, "
    "or checks the files before answering.",
    "The network sees that a device talks to this server. The server stores no address and no time, but has to be "
    "believed in that.",
    "Who answers the same question in several surveys, or again on another device, gives fresh coins away that can be "
    "averaged.",
    "A commit to disk holds all reports of the same moment. When only one report came at that moment, somebody who "
    "compares two copies of the database from before and after can tell which invitation it belongs to. The odds hold "
    "even then.",
    "Forged reports shift results. Beside each result stands how many it would take to move it out of its interval.",
    "Nobody is protected from what the group's result says about its members.",
)


def audit_document(survey: Survey) -> dict[str, Any]:
    """Everything on the audit page, for programs."""
    plan = survey.plan
    return {
        "id": survey.id,
        "hash": survey.hash,
        "title": dict(survey.title),
        "asker": dict(survey.asker),
        "purpose": dict(survey.purpose),
        "contact": survey.contact,
        "until": survey.until.isoformat(),
        "invitation": survey.invitation,
        "minimum": survey.minimum,
        "whole": _promise(plan.guarantee),
        "budget": _promise(plan.promise),
        "questions": [_question(plan, question) for question in survey.questions],
        "plan_hash": plan_hash(plan),
        "plan": plan_to_json(plan),
        "script": {"path": f"/s/{survey.id}/page.js", "sha256": page_script(survey).hash},
        "files": {name: file.hash for name, file in page_files().items()},
        "checks": list(CHECKS),
        "limits": list(LIMITS),
    }


def _promise(guarantee: Guarantee) -> dict[str, Any]:
    """Exact odds for programs, rounded-up ones and words for people."""
    return {
        "odds": guarantee.exact,
        "epsilon": guarantee.epsilon,
        "short": str(guarantee).partition(" (")[0],
        "text": str(guarantee),
        "words": guarantee.in_words().replace("\n", " "),
    }


def _question(plan: Plan, question: Question) -> dict[str, Any]:
    group = plan.group_of(question.id)
    told = _told(plan, question.id)
    return {
        "id": question.id,
        "text": dict(question.text),
        "labels": list(question.labels),
        "scheme": group.scheme,
        "shares_coins_with": [name for name in group.attributes if name != question.id],
        "told_as_it_is": None if told is None else str(told),
        "told_in_percent": None if told is None else f"{floor(1000 * told) / 10:g} %",
        "promise": _promise(group.guarantee),
    }


def _told(plan: Plan, name: str) -> Fraction | None:
    """Least probability with which an answer is reported as it is, where reports are answers."""
    try:
        channels = column_channels(plan, name)
    except SottovoceError:
        return None
    return min(channel.entry(x, x) for channel in channels for x in range(channel.n_in))
