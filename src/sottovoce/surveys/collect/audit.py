"""The audit document of a survey: plan, hash and odds, how to check them, and what they do not protect against."""

from dataclasses import replace
from fractions import Fraction
from math import floor
from typing import Any

from sottovoce.errors import SottovoceError
from sottovoce.plans.document import plan_hash, plan_to_json
from sottovoce.plans.guarantee import Guarantee, odds_text
from sottovoce.plans.plan import Plan
from sottovoce.surveys.definition.ceilings import protection_in_words
from sottovoce.surveys.definition.facts import CEILING, CEILING_OF_ALL, facts_of, strength_of
from sottovoce.surveys.definition.questions import Question
from sottovoce.surveys.definition.survey import Survey
from sottovoce.surveys.page.files import address, later_modules, page_files, page_modules, words_module
from sottovoce.surveys.results import column_channels
from sottovoce.surveys.sentences import Sentences, sentences_in
from sottovoce.surveys.timing import timing_statement


def audit_document(survey: Survey) -> dict[str, Any]:
    """Return everything on the audit page as JSON, in English and with the survey's own texts in all its languages."""
    plan, english = survey.plan, sentences_in("en")
    return {
        "id": survey.id,
        "hash": survey.hash,
        "title": {tag: survey.title[tag] for tag in survey.languages},
        "asker": {tag: survey.asker[tag] for tag in survey.languages},
        "purpose": {tag: survey.purpose[tag] for tag in survey.languages},
        "contact": survey.contact,
        "until": survey.until.isoformat(),
        "invitation": survey.invitation,
        "minimum": survey.minimum,
        "rehearsal": survey.rehearsal,
        "send_interval": survey.send_interval,
        "admission": english.several(_admission(survey)),
        "time": timing_statement(survey.send_interval, len(survey.questions)),
        "strength": survey.strength,
        "whole": _promise(plan.guarantee, all_together=True),
        "budget": _promise(plan.promise, all_together=True),
        "questions": [_question(survey, question) for question in survey.questions],
        "plan_hash": plan_hash(plan),
        "plan": plan_to_json(plan),
        "modules": _modules(survey),
        "files": {name: {"path": address(name), "sha256": file.hash} for name, file in page_files().items()},
        "checks": english.several("checks"),
        "limits": english.several("limits"),
    }


def audit_sentences(survey: Survey, language: str) -> dict[str, Any]:
    """Return the sentences of the audit page that depend on the survey, in a language.

    >>> from sottovoce.surveys.definition.definition import survey_from_text
    >>> survey = survey_from_text("{title: T, asker: A, purpose: P, until: 2999-12-31, odds: 3, invitation: open, "
    ...     "questions: [{id: q, kind: yes_no, text: Q}]}")
    >>> audit_sentences(survey, "fr")["together"]
    'Toutes les réponses ensemble : 3 : 1 (epsilon 1,09862)'
    """
    say, whole = sentences_in(language), survey.plan.guarantee
    return {
        "taken": say(f"taken_{survey.invitation}", until=survey.until.isoformat(), minimum=survey.minimum),
        "together": say("together", odds=_odds(say, whole)),
        "whole": _whole(say, whole),
        "questions": [_question_sentences(say, survey, question) for question in survey.questions],
        "admission": say.several(_admission(survey)),
        "time": timing_statement(survey.send_interval, len(survey.questions), language=language),
    }


def _odds(say: Sentences, guarantee: Guarantee) -> str:
    """Return odds and epsilon, rounded up, or that there is no bound."""
    if guarantee.odds is None:
        return say("unbounded")
    odds = say.isolated(say.number(str(replace(guarantee, public=()))))
    return say("given_public", odds=odds) if guarantee.public else odds


def _whole(say: Sentences, guarantee: Guarantee) -> list[str]:
    """Return what the guarantee means for a respondent, in the words that its odds allow."""
    public = [say("public", names=", ".join(guarantee.public))] if guarantee.public else []
    if guarantee.odds == 1:
        return [*public, say("whole_nothing")]
    weak = _weakness(say, guarantee, all_together=True)
    if strength_of(guarantee.odds, all_together=True) == "very weak":
        return [*public, *weak]
    return [*public, say("whole_given_public" if public else "whole", factor=_factor(say, guarantee)), *weak]


def _weakness(say: Sentences, guarantee: Guarantee, *, all_together: bool = False) -> list[str]:
    """Return a sentence if the odds are above their ceiling."""
    strength = strength_of(guarantee.odds, all_together=all_together)
    if strength == "deniable":
        return []
    if strength == "weak":
        return [say("weak", advised=CEILING_OF_ALL if all_together else CEILING)]
    if guarantee.odds is None:
        return [say("very_weak_unbounded")]
    return [say("very_weak", factor=_factor(say, guarantee))]


def _factor(say: Sentences, guarantee: Guarantee) -> str:
    return say.number(odds_text(guarantee.odds or Fraction(1)).removesuffix(" : 1").replace(" : ", " / "))


def _question_sentences(say: Sentences, survey: Survey, question: Question) -> list[str]:
    """Return how the answers to a question are disguised; those to a public one are not."""
    known = _question(survey, question)
    if question.public:
        return [say("public_question")]
    guarantee = survey.plan.group_of(question.id).guarantee
    told, picked = known["told_in_percent"], survey.plan.group_of(question.id).mechanism.channel.samples
    told_so = "told_if_picked" if picked else "told"
    return [
        _odds(say, guarantee),
        say("scheme", scheme=known["scheme"].replace("_", " ")),
        *_shared_coins(say, survey.plan, question.id),
        say("other_reports") if told is None else say(told_so, percent=say.number(told.replace(" ", "\u00a0"))),
        *_weakness(say, guarantee),
    ]


def _shared_coins(say: Sentences, plan: Plan, name: str) -> list[str]:
    """Return a sentence about the questions that share coins with this one, or that the device picks from with it."""
    group, sampled = plan.group_of(name), facts_of(plan, name).sampled
    names = ", ".join(other for other in group.attributes if other != name)
    if sampled is not None and names:
        counts = dict.fromkeys((sampled.least, sampled.picked))
        return [say("picked", names=names, picked=say.number("\u2013".join(map(str, counts))), of=sampled.of)]
    return [say("shares_coins", names=names)] if names else []


def _admission(survey: Survey) -> str:
    """Return the key of the sentences on what links an invitation to a report, and what does not."""
    if survey.admission is not None:
        return "admission"
    return "open" if survey.invitation == "open" else "old_admission"


def _modules(survey: Survey) -> list[str]:
    """Return the modules that a browser runs: at once, when somebody begins, and for further languages."""
    words = [words_module(language) for language in survey.languages]
    return sorted({*page_modules(survey), *later_modules(survey), *words})


def _promise(guarantee: Guarantee, *, all_together: bool = False) -> dict[str, Any]:
    """Return exact odds for programs, and rounded ones with an explanation for people."""
    return {
        "odds": guarantee.exact,
        "epsilon": guarantee.epsilon if guarantee.deniable else None,
        "strength": strength_of(guarantee.odds, all_together=all_together),
        "short": str(guarantee).partition(" (")[0],
        "text": str(guarantee),
        "words": protection_in_words(guarantee, all_together=all_together).replace("\n", " "),
    }


def _question(survey: Survey, question: Question) -> dict[str, Any]:
    """Return what is promised about a question; about a public one, nothing."""
    about = {
        "id": question.id,
        "text": {tag: question.full_text(tag) for tag in survey.languages},
        "labels": list(question.labels),
        "public": question.public,
    }
    if question.public:
        return about | {"scheme": None, "told_as_it_is": "1", "promise": None}
    plan = survey.plan
    group = plan.group_of(question.id)
    truthful = _truthful_probability(plan, question.id)
    return about | {
        "scheme": group.scheme,
        "shares_coins_with": [name for name in group.attributes if name != question.id],
        "told_as_it_is": None if truthful is None else str(truthful),
        "told_in_percent": None if truthful is None else f"{floor(1000 * truthful) / 10:g} %",
        "promise": _promise(group.guarantee),
        "facts": facts_of(plan, question.id).to_json(),
    }


def _truthful_probability(plan: Plan, name: str) -> Fraction | None:
    """Return the smallest probability that an answer is reported unchanged; None if reports are no answers.

    If the device picks answers, the probability is that for an answer that was picked.
    """
    if plan.group_of(name).mechanism.channel.samples:
        coins = [part.channel for part in plan.channel([name]).parts if part.axes and part.channel is not None]
        return min(channel.entry(x, x) for channel in coins for x in range(channel.n_in))
    try:
        channels = column_channels(plan, name)
    except SottovoceError:
        return None
    return min(channel.entry(x, x) for channel in channels for x in range(channel.n_in))
