"""The audit document of a survey: plan, hash and odds, how to check them, and what they do not protect against."""

from fractions import Fraction
from math import floor
from typing import Any

from sottovoce.errors import SottovoceError
from sottovoce.plans.document import plan_hash, plan_to_json
from sottovoce.plans.guarantee import Guarantee
from sottovoce.plans.plan import Plan
from sottovoce.surveys.definition.survey import Question, Survey
from sottovoce.surveys.page.files import address, page_files, page_modules, words_module
from sottovoce.surveys.results import column_channels

CHECKS = (
    "Compare the hash above with the one behind the # in your link: they must be the same.",
    "Fetch survey.json and compute its SHA-256, for example with sha256sum: it must be that hash.",
    "Recompute the odds from the integers in the plan, as docs/format.md of Sottovoce says. The survey's page does so "
    "before it shows the first question, and stops if they differ.",
    "Compare the hashes of the modules below with those of the same files in the Sottovoce release, in the folder "
    "sottovoce/surveys/page: they are served as they are there. The page states the same hashes, and browsers run no "
    "module with another one.",
    "After sending, compare what the page says was sent with what your browser's network tools show.",
)
LIMITS = (
    "A server that changes the page's script can read your answers. If you do not trust it, use a client of your own, "
    "or check the files before you answer.",
    "Your network can see that your device contacts this server. The server stores no address and no time, but you "
    "have to trust it in that.",
    "If you answer the same question in several surveys, or again on another device, your disguised responses can be "
    "averaged, and protect you less.",
    "Reports that arrive at the same moment are stored together. If only one report arrives at a moment, somebody who "
    "compares copies of the database from before and after can tell which invitation it belongs to. The odds hold "
    "even then.",
    "Forged reports change results. Each result states how many of them would move it out of its interval.",
    "Nobody is protected from what the result for the group says about its members.",
)


def audit_document(survey: Survey) -> dict[str, Any]:
    """Return everything on the audit page as JSON."""
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
        "modules": _modules(survey),
        "files": {name: {"path": address(name), "sha256": file.hash} for name, file in page_files().items()},
        "checks": list(CHECKS),
        "limits": list(LIMITS),
    }


def _modules(survey: Survey) -> list[str]:
    """Return the modules that a browser runs: those that the page loads at once, and those of further languages."""
    words = [words_module(language) for language in survey.languages]
    return sorted({*page_modules(survey), *words})


def _promise(guarantee: Guarantee) -> dict[str, Any]:
    """Return exact odds for programs, and rounded ones with an explanation for people."""
    return {
        "odds": guarantee.exact,
        "epsilon": guarantee.epsilon,
        "short": str(guarantee).partition(" (")[0],
        "text": str(guarantee),
        "words": guarantee.in_words().replace("\n", " "),
    }


def _question(plan: Plan, question: Question) -> dict[str, Any]:
    group = plan.group_of(question.id)
    truthful = _truthful_probability(plan, question.id)
    return {
        "id": question.id,
        "text": dict(question.text),
        "labels": list(question.labels),
        "scheme": group.scheme,
        "shares_coins_with": [name for name in group.attributes if name != question.id],
        "told_as_it_is": None if truthful is None else str(truthful),
        "told_in_percent": None if truthful is None else f"{floor(1000 * truthful) / 10:g} %",
        "promise": _promise(group.guarantee),
    }


def _truthful_probability(plan: Plan, name: str) -> Fraction | None:
    """Return the smallest probability that an answer is reported unchanged; None if reports are no answers."""
    try:
        channels = column_channels(plan, name)
    except SottovoceError:
        return None
    return min(channel.entry(x, x) for channel in channels for x in range(channel.n_in))
