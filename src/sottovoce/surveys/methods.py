"""A methods paragraph for papers and its references, computed from the survey and its plan."""

from collections.abc import Sequence

from sottovoce.estimates.proportions import is_sampled
from sottovoce.plans.guarantee import Guarantee, odds_text
from sottovoce.plans.plan import Group
from sottovoce.schemes.scheme import all_schemes
from sottovoce.surveys.definition.facts import facts_of
from sottovoce.surveys.definition.survey import Survey

NO_BREAK = "\u00a0"
BLIND_SIGNATURES = "F. Denis, F. Jacobs & C. A. Wood (2023), RSA Blind Signatures, RFC 9474"


def references(survey: Survey) -> list[str]:
    """Return what the methods paragraph cites, in the order of its numbers: Warner, then the schemes of the plan."""
    used = [all_schemes()[group.scheme].citation for group in survey.plan.groups]
    signatures = [] if survey.admission is None else [BLIND_SIGNATURES]
    return list(dict.fromkeys([all_schemes()["warner"].citation, *used, *signatures]))


def software() -> str:
    """Return the software and its version, as papers cite it."""
    from sottovoce import __version__

    return f"Sottovoce, version {__version__}"


def methods_paragraph(survey: Survey, reports: int, *, level: float = 0.95) -> str:
    """Return how the data were collected and estimated, to be pasted into a paper.

    >>> from sottovoce.surveys.definition.definition import survey_from_text
    >>> survey = survey_from_text('''{title: T, asker: A, purpose: P, until: 2999-12-31, odds: 3, invitation: open,
    ...     questions: [{id: tax, kind: yes_no, text: Q}]}''')
    >>> methods_paragraph(survey, 1842)[:58]
    'Sensitive questions were asked by randomized response [1]:'
    """
    return " ".join(
        [
            "Sensitive questions were asked by randomized response [1]: each respondent's own device disguised the "
            "answers at random before anything was sent, and only disguised responses reached the server.",
            *_disguises(survey),
            _together(survey.plan.guarantee),
            *_public(survey),
            _collected(survey, reports),
            _estimated(survey, level),
            f"Computations were done with {software()}; the survey's definition has the SHA-256 {survey.hash}.",
            *(["This was a rehearsal: none of its numbers count."] if survey.rehearsal else []),
        ]
    )


def _disguises(survey: Survey) -> list[str]:
    """Return a sentence for each way in which answers are disguised, and the questions that are."""
    cited = references(survey)
    alike: dict[tuple[str, str | None, tuple[str, ...]], list[Group]] = {}
    for group in survey.plan.groups:
        joint = group.attributes if len(group.attributes) > 1 else ()
        alike.setdefault((group.scheme, group.guarantee.exact, joint), []).append(group)
    sentences = []
    for (scheme, _, joint), groups in alike.items():
        names = [name for group in groups for name in group.attributes]
        number = 1 + cited.index(all_schemes()[scheme].citation)
        each = " each" if len(groups) > 1 else ""
        sentences.append(
            f'{_answers(names)} were disguised {"together " * bool(joint)}by the scheme "{scheme.replace("_", " ")}" '
            f"[{number}], {_odds(groups[0].guarantee)}{each}{_picked(survey, names)}."
        )
    return sentences


def _answers(names: Sequence[str]) -> str:
    return f"The answers to {_listed(names)}"


def _listed(names: Sequence[str]) -> str:
    """Return names as a sentence lists them.

    >>> _listed(["a", "b", "c"]), _listed(["a"])
    ('a, b and c', 'a')
    """
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)


def _odds(guarantee: Guarantee) -> str:
    if guarantee.odds is None:
        return "without a bound on the odds"
    epsilon = str(Guarantee(guarantee.odds)).partition(" (")[2].rstrip(")")
    return f"at odds of at most {odds_text(guarantee.odds).replace(' ', NO_BREAK)} ({epsilon})"


def _picked(survey: Survey, names: Sequence[str]) -> str:
    """Return how many questions the device picks, where it does."""
    sampled = facts_of(survey.plan, names[0]).sampled
    if sampled is None:
        return ""
    count = f"{sampled.picked}" if sampled.least == sampled.picked else f"{sampled.least} to {sampled.picked}"
    return f"; of these {sampled.of} questions the device picked {count} at random and sent nothing about the others"


def _together(whole: Guarantee) -> str:
    if whole.odds is None:
        return "No bound on the odds holds for all answers together: a response can rule out an answer."
    given = ", given the public answers" if whole.public else ""
    epsilon = str(Guarantee(whole.odds)).partition(" (epsilon ")[2].rstrip(")")
    return (
        "A whole response shifts the odds between any two ways of answering by a factor of at most "
        f"{odds_text(whole.odds).removesuffix(' : 1')}{given} (local differential privacy, epsilon = {epsilon})."
    )


def _public(survey: Survey) -> list[str]:
    names = [question.id for question in survey.public]
    return [f"{_answers(names)} were not disguised."] if names else []


def _collected(survey: Survey, reports: int) -> str:
    count = f"{reports:,} disguised {'response was' if reports == 1 else 'responses were'} collected"
    if survey.invitation == "open":
        return f"{count} through one open link, which does not keep a person from answering more than once."
    if survey.admission is None:
        return f"{count} by invitations that can be used once."
    number = 1 + references(survey).index(BLIND_SIGNATURES)
    return (
        f"{count} by invitations that can be used once and cannot be linked to responses (blind signatures [{number}])."
    )


def _estimated(survey: Survey, level: float) -> str:
    picked = [is_sampled(survey.plan, (question.id,)) for question in survey.protected]
    inversion = "by inverting the known probabilities of the disguise"
    squares = "by generalised least squares from the known probabilities of the disguise and of being picked"
    how = " and ".join(part for part, used in ((inversion, not all(picked)), (squares, any(picked))) if used)
    means = any(question.wanted == "mean" for question in survey.questions)
    delta = ", and are by the delta method for means of scales" if means else ""
    return (
        f"Proportions in the population were estimated without bias {how}; small ones can therefore come out below "
        f"zero. {100 * level:g} % confidence intervals invert tests, exact ones where an estimate depends on one "
        f"property of each response and score tests otherwise{delta}."
    )
