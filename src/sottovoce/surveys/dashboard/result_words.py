"""Results in sentences: what is negative, what forged answers would do, what goes together, and what was promised."""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from math import ceil

from sottovoce.plans.guarantee import Guarantee
from sottovoce.surveys.crossing import Crossing
from sottovoce.surveys.dashboard.charts import percent
from sottovoce.surveys.definition.facts import Facts, facts_of, per_hundred
from sottovoce.surveys.definition.questions import Question
from sottovoce.surveys.definition.survey import Survey
from sottovoce.surveys.results import AnswerEstimate, QuestionResult
from sottovoce.surveys.scales import ScaleSummary

LONG_TEXT = 80
"""Characters of a label or of a question that a sentence repeats."""

MOST_ODDS = 10**6
"""Largest odds that are written out."""

PROMISES = {
    "yes_no": (
        "“{yes}” is also sent by {first} people for whom it is not true, and “{no}” by {second} people for whom it is."
    ),
    "answers": "Every answer is also sent by at least {share} people with any other answer.",
    "set": (
        "Several answers are sent at once. Every answer is also among those sent by at least {share} people with any "
        "other answer."
    ),
    "items": (
        "Every choice is also sent by at least {first} people who did not make it, and left out by at least {second} "
        "people who did."
    ),
    "symbols": (
        "What is sent is no answer, but a sign. Every sign is sent by at least {share} people, whatever they answer."
    ),
}
"""The sentences of the respondents' page about a question, by the form of its reports."""

IF_PICKED = "If your device picks this question:"
SHARED_COINS = "Other questions share its coins; this holds whatever you answer to them."
PUBLIC_NOTE = "This answer is public: it is sent as you give it, and no coin changes it."


def shortened(text: str) -> str:
    """Return a text as sentences repeat it.

    >>> shortened("A  b"), len(shortened("x" * 500))
    ('A b', 80)
    """
    joined = " ".join(text.split())
    return joined if len(joined) <= LONG_TEXT else f"{joined[: LONG_TEXT - 1]}…"


def quoted(text: str) -> str:
    """Return a text in quotation marks, kept apart from the direction of the words around it."""
    return f"“\N{FIRST STRONG ISOLATE}{shortened(text)}\N{POP DIRECTIONAL ISOLATE}”"


def promise_words(survey: Survey, question: Question) -> str:
    """Return what the respondents' page says that coins do to the answers to a question, with the same numbers."""
    if question.public:
        return PUBLIC_NOTE
    facts = facts_of(survey.plan, question.id)
    form = "answers" if facts.form == "yes_no" and question.kind != "yes_no" else facts.form
    said = PROMISES[form].format(**_numbers(survey, question, facts, form))
    parts = (IF_PICKED if facts.sampled is not None else "", said, SHARED_COINS if facts.grouped else "")
    return " ".join(part for part in parts if part)


def _numbers(survey: Survey, question: Question, facts: Facts, form: str) -> dict[str, str]:
    if form == "yes_no":
        no, yes = sorted(question.answers, key=lambda answer: answer.id == "yes")
        words = {"yes": yes.text[survey.languages[0]], "no": no.text[survey.languages[0]]}
        return words | {"first": _share([facts.shares[yes.id]]), "second": _share([facts.shares[no.id]])}
    if facts.omitted is not None:
        return {"first": _share(facts.shares.values()), "second": _share(facts.omitted.values())}
    return {"share": _share(facts.shares.values())}


def _share(shares: Iterable[Fraction]) -> str:
    """Return the smallest of some shares of people, in words."""
    found = per_hundred(min(shares))
    if "count" in found:
        return f"{found['count']} of 100"
    return f"one in {found['one_in']:,}" if "one_in" in found else "none of the"


def odds_words(guarantee: Guarantee) -> str:
    """Return odds in three digits, rounded up, or that there is no bound.

    >>> odds_words(Guarantee(Fraction(81))), odds_words(Guarantee(Fraction(722468, 100000)))
    ('81 : 1', '7.23 : 1')
    """
    if guarantee.odds is None:
        return "no bound"
    if guarantee.odds >= 100:
        return f"{ceil(guarantee.odds):,} : 1" if guarantee.odds <= MOST_ODDS else f"over {MOST_ODDS:,} : 1"
    return f"{ceil(guarantee.odds * 100) / 100:g} : 1"


def fragile_words(lines: Sequence[AnswerEstimate], words: Mapping[str, str]) -> str:
    """Return how many forged answers would move the most fragile estimate of a question."""
    weakest = most_fragile(lines)
    if weakest is None or weakest.forged is None:
        return "It is not known how many forged answers would move these results, or no number would."
    name = quoted(" and ".join(words[label] for label in weakest.labels))
    answers = "1 forged answer" if weakest.forged == 1 else f"{weakest.forged:,} forged answers"
    return f"{answers} would move the share of {name} out of its interval."


def most_fragile(lines: Iterable[AnswerEstimate]) -> AnswerEstimate | None:
    """Return the estimate that the fewest forged answers would move; None where that is not known of any.

    Intervals that end at 0 or 1 come last: beyond these ends there is noise, and nothing that would mislead.
    """
    known = [line for line in lines if line.forged is not None]
    return min(known, key=lambda line: (not 0 < line.low < line.high < 1, line.forged or 0), default=None)


def noise_words(lines: Sequence[AnswerEstimate], words: Mapping[str, str]) -> str | None:
    """Explain estimates below zero or above one, if there are any."""
    below = [line for line in lines if line.estimate < 0]
    above = [line for line in lines if line.estimate > 1]
    if not below and not above:
        return None
    shown = [f"{quoted(words[line.labels[0]])} at {percent(line.estimate)} %" for line in (below + above)[:3]]
    more = f" and {len(below + above) - 3} more" if len(below + above) > 3 else ""
    what = "below zero is noise around a rare answer" if below else "above 100 % is noise around a very common answer"
    return (
        f"Estimated: {', '.join(shown)}{more}. A share {what}. It is shown as it is, because estimates that are "
        "cut off would be too large on average; its interval holds possible shares only."
    )


def scale_words(question: Question, summary: ScaleSummary, language: str) -> str:
    """Return the mean and the median of a scale in a sentence."""
    if summary.mean is None or summary.median is None:
        return "Nobody seems to have given an answer: there is neither a mean nor a median."
    mean, median = summary.mean, summary.median
    ends = "" if question.ends is None else " ({} to {})".format(*(quoted(end[language]) for end in question.ends))
    return (
        f"Among those who gave an answer, from 1 to {len(question.answers)}{ends}: mean {mean.value:.2f} "
        f"({mean.low:.2f} to {mean.high:.2f}), median {median.step} ({median.low} to {median.high})."
    )


def truth_words(result: QuestionResult, truths: Mapping[str, float]) -> str:
    """Return how many truths of a rehearsal lie within their intervals."""
    known = [(line, truths[line.labels[0]]) for line in result.lines if line.labels[0] in truths]
    outside = sum(not line.low <= truth <= line.high for line, truth in known)
    if not outside:
        everything = "Both" if len(known) == 2 else f"All {len(known)}"
        return f"{everything} truths of the rehearsal lie within their intervals."
    misses = round(1 / (1 - result.level))
    lie = "lies outside of its interval" if outside == 1 else "lie outside of their intervals"
    return (
        f"{outside} of {len(known)} truths of the rehearsal {lie}. Of {100 * result.level:g} % intervals, one in "
        f"{misses} does."
    )


def association_words(crossing: Crossing, first: str, second: str) -> str:
    """Return whether two questions go together, in a sentence."""
    found, result = crossing.association, crossing.result
    names = f"{quoted(first)} and {quoted(second)}"
    strength = found.measure if found.value is None else f"{found.measure} {_decimal(found.value)}"
    if found.value is None and found.low is None:
        strength += " not defined"
    elif found.low is not None and found.high is not None:
        strength += f", {100 * result.level:g} % interval {_decimal(found.low)} to {_decimal(found.high)}"
    if result.test is None:
        return f"Whether {names} go together was not tested: {strength}."
    p = result.test.p_value
    tested = "p < .001" if p < 0.001 else f"p = {f'{p:.3f}'.lstrip('0')}"
    if p < 1 - result.level:
        return f"{names} are associated: {strength}, {tested}."
    return (
        f"No association between {names} was found: {strength}, {tested}. That is no proof of independence: an "
        "association within the interval may be there."
    )


def _decimal(number: float) -> str:
    """Return a number with two digits, or that it has no end.

    >>> _decimal(2.444), _decimal(float("inf")), _decimal(123.4)
    ('2.4', 'infinity', '123')
    """
    if number == float("inf"):
        return "infinity"
    return f"{number:.0f}" if number >= 100 else f"{number:.1f}" if number >= 1 else f"{number:.2f}"
