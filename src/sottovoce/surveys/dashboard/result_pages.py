"""Pages of results: estimates of every question, groups, cross tables, patterns of choices, and classifiers.

Everything that is asked for stands in the address, so that a page can be kept and passed on.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from sottovoce.errors import SottovoceError
from sottovoce.surveys.crossing import NOT_CHOSEN, Crossing, Side, side_named, sides, why_not_crossed
from sottovoce.surveys.dashboard import result_words
from sottovoce.surveys.dashboard.charts import IntervalRow, heat_map, interval_chart
from sottovoce.surveys.dashboard.live_results import Found, Inquiry
from sottovoce.surveys.dashboard.result_cards import (
    FORGED,
    GroupCards,
    QuestionCards,
    estimate_row,
    margin_cell,
    words_of,
)
from sottovoce.surveys.dashboard.survey_pages import SurveyState, survey_state
from sottovoce.surveys.dashboard.truths import rehearsal_truths
from sottovoce.surveys.dashboard.visit import Visit, route
from sottovoce.surveys.definition.survey import Survey

if TYPE_CHECKING:
    from sottovoce.surveys.dashboard.analyses import Classified, Patterns

LEVELS = {"90": 0.9, "95": 0.95, "99": 0.99}
SUPPORTS = ("1", "2", "5", "10", "20", "50")
CONFIDENCES = ("30", "50", "60", "70", "80", "90")
MODELS = {"naive_bayes": "Naive Bayes", "tree": "Decision tree"}

REFRESH_SECONDS = 2
"""After which a page is loaded again that has to wait for its results."""


@dataclass(frozen=True)
class Page:
    """A page of results: the survey and its state, the level of its intervals, and what was found."""

    survey: Survey
    state: SurveyState
    level: str
    found: Found | None = None

    @property
    def language(self) -> str:
        """Language in which questions and answers are shown."""
        return self.survey.languages[0]

    @property
    def missing(self) -> int:
        """Reports that are missing for results to be shown."""
        return max(max(self.survey.minimum, 1) - self.state.counts["reports"], 0)

    @property
    def newer(self) -> int:
        """Reports that have arrived since the results that are shown were computed."""
        return 0 if self.found is None else max(self.state.counts["reports"] - self.found.reports, 0)

    def question(self, name: str) -> str:
        """Return the text of a question, or of a single choice of a question with several."""
        side = side_named(self.survey, name)
        asked = self.survey.question(side.question)
        text = asked.full_text(self.language)
        return text if side.item is None else f"{text} {asked.words(side.item, self.language)}"


def _words(page: Page, question: str) -> dict[str, str]:
    return words_of(page.survey, page.survey.question(question))


def _page(visit: Visit) -> Page:
    survey = visit.survey()
    level = visit.text("level", "95")
    if level not in LEVELS:
        raise SottovoceError("level", f"must be one of {', '.join(LEVELS)}", level)
    return Page(survey, survey_state(visit, survey), level)


def _show(visit: Visit, template: str, page: Page, about: Mapping[str, Any]) -> Response:
    """Show a page, with what its results say in `about`; if it waits for results, let it be loaded again."""
    waits = about.get("asked", True) and page.found is None and not page.missing
    response = visit.page(template, survey=page.survey, page=page, levels=list(LEVELS), waits=waits, **about)
    if waits:
        response.headers["refresh"] = str(REFRESH_SECONDS)
    return response


def _asked(visit: Visit, page: Page, analysis: str, *options: str) -> Page:
    """Return the page with what an analysis found, unless there are too few reports."""
    if page.missing:
        return page
    inquiry = Inquiry(page.survey.id, analysis, LEVELS[page.level], options)
    return Page(page.survey, page.state, page.level, visit.dashboard.results.ask(visit.store, inquiry))


def _value(page: Page) -> Any:
    """Return what was found; None if there is nothing (yet), or if a reason is given instead."""
    return None if page.found is None else page.found.value


def show_results(visit: Visit) -> Response:
    """Return the estimates of every question."""
    page = _page(visit)
    truths = rehearsal_truths(visit.store, page.survey.id) if page.survey.rehearsal else None
    page = _asked(visit, page, "questions", json.dumps(truths or {}, sort_keys=True))
    found: QuestionCards | None = _value(page)
    numbers = [_answered(page), *(found.numbers[:1] if found else ()), _odds(page.survey)]
    numbers += found.numbers[1:] if found else ()
    return _show(visit, "results.html", page, {"cards": found.cards if found else (), "numbers": numbers})


def _answered(page: Page) -> tuple[str, str]:
    counts, survey = page.state.counts, page.survey
    invited = counts["issued"] - counts["replaced"]
    of = f"of {invited:,} invited have answered" if survey.invitation == "single" else "reports, from an open link"
    return f"{counts['reports']:,}", "reports of a rehearsal" if survey.rehearsal else of


def _odds(survey: Survey) -> tuple[str, str]:
    groups = [survey.plan.group_of(question.id).guarantee for question in survey.protected]
    worst = max(groups, key=lambda guarantee: float("inf") if guarantee.odds is None else guarantee.odds)
    same = "" if all(guarantee.odds == worst.odds for guarantee in groups) else " at most"
    whole = result_words.odds_words(survey.plan.guarantee)
    return result_words.odds_words(worst), f"odds promised per question{same}, {whole} in all"


def show_groups(visit: Visit) -> Response:
    """Return results by public questions."""
    page, by = _page(visit), list(dict.fromkeys(visit.request.query_params.getlist("by")))
    names = {question.id: question.full_text(page.language) for question in page.survey.public}
    by = by or list(names)[:1]
    if not set(by) <= set(names):
        raise SottovoceError("by", f"must name public questions ({', '.join(names) or 'there are none'})", by)
    if by:
        page = _asked(visit, page, "groups", *by)
    found: GroupCards | None = _value(page)
    return _show(visit, "result_groups.html", page, {"by": by, "asked": bool(by), "names": names, "groups": found})


def show_cross(visit: Visit) -> Response:
    """Return a cross table of two questions."""
    page, offered = _page(visit), sides(visit.survey())
    first, second = (visit.text(name) for name in ("first", "second"))
    about: dict[str, Any] = {"sides": _side_names(page, offered), "first": first, "second": second, "table": None}
    about |= {"asked": bool(first and second), "reason": None}
    if first and second:
        pair = side_named(page.survey, first), side_named(page.survey, second)
        about["reason"] = why_not_crossed(page.survey, *pair)
        about["asked"] = about["reason"] is None
        if about["asked"]:
            page = _asked(visit, page, "crossing", first, second)
            about["table"] = _cross_table(page, pair)
    return _show(visit, "result_cross.html", page, about)


def _side_names(page: Page, offered: list[Side]) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return what can be chosen for a side, by question: single choices stand below the question that has them."""
    names: dict[str, list[tuple[str, str]]] = {}
    for side in offered:
        asked = page.survey.question(side.question)
        text = asked.full_text(page.language)
        shown = text if side.item is None else asked.words(side.item, page.language)
        names.setdefault(text if side.item is not None else "", []).append((side.name, result_words.shortened(shown)))
    return list(names.items())


def _side_words(page: Page, side: Side) -> dict[str, str]:
    return _words(page, side.question) if side.item is None else {}


def _cross_table(page: Page, pair: tuple[Side, Side]) -> dict[str, Any] | None:
    crossing: Crossing | None = _value(page)
    if crossing is None:
        return None
    result = crossing.result
    words = [_side_words(page, side) for side in pair]
    lines = {line.labels: line for line in result.lines}
    rows, columns = (list(dict.fromkeys(line.labels[index] for line in result.lines)) for index in (0, 1))
    texts = [page.question(side.name) for side in pair]
    cells = [[margin_cell(lines[row, column]) for column in columns] for row in rows]
    shown = [[words[index].get(label, label) for label in labels] for index, labels in enumerate((rows, columns))]
    rows_of_table = [
        estimate_row(" · ".join(words[index].get(label, label) for index, label in enumerate(line.labels)), line)
        for line in result.lines
    ]
    names = {label: words[index].get(label, label) for line in result.lines for index, label in enumerate(line.labels)}
    return {
        "texts": texts,
        "map": heat_map(" and ".join(texts), "Percent of all, with margin of error.", shown[0], shown[1], cells),
        "chart": interval_chart(
            " and ".join(texts), "Combinations of two answers.", rows_of_table, LEVELS[page.level], note_names=(FORGED,)
        ),
        "sentence": result_words.association_words(crossing, *texts),
        "method": None if result.test is None else f"{result.test.method[:1].upper()}{result.test.method[1:]}",
        "untested": result.untested,
        "no_interval": crossing.association.reason,
        "fragile": result_words.fragile_words(result.lines, names),
        "single": any(side.item is not None for side in pair) and NOT_CHOSEN in names,
    }


def _choice(visit: Visit, name: str, allowed: Mapping[str, Any] | tuple[str, ...], default: str) -> str:
    """Return what a query chooses; raise for what is not offered."""
    text = visit.text(name) or default
    if text not in allowed:
        raise SottovoceError(name, f"must be one of {', '.join(allowed) or 'none'}", text)
    return text


def show_patterns(visit: Visit) -> Response:
    """Return choices that go together, and rules between them."""
    page = _page(visit)
    several = {q.id: q.full_text(page.language) for q in page.survey.protected if q.kind == "several"}
    about: dict[str, Any] = {"several": several, "asked": bool(several), "table": None, "supports": SUPPORTS}
    about |= {"confidences": CONFIDENCES, "question": "", "support": "5", "confidence": "50"}
    if several:
        about["question"] = _choice(visit, "question", several, next(iter(several)))
        about["support"] = _choice(visit, "support", SUPPORTS, "5")
        about["confidence"] = _choice(visit, "confidence", CONFIDENCES, "50")
        shares = [str(int(about[name]) / 100) for name in ("support", "confidence")]
        page = _asked(visit, page, "patterns", about["question"], *shares)
        about["table"] = _pattern_table(page, about["question"])
    return _show(visit, "result_patterns.html", page, about)


def _pattern_table(page: Page, question: str) -> dict[str, Any] | None:
    found: Patterns | None = _value(page)
    if found is None:
        return None
    words = _words(page, question)

    def named(items: tuple[str, ...]) -> str:
        return " + ".join(words[item] for item in items)

    rows = [IntervalRow(named(row.items), row.support, row.low, row.high) for row in found.sets]
    text = page.survey.question(question).full_text(page.language)
    chart = interval_chart(text, "Shares of those who made all of these choices.", rows, LEVELS[page.level])
    return {
        "chart": chart if rows else None,
        "rules": [(named(rule.first), named(rule.second), rule) for rule in found.rules],
        "notes": found.notes,
    }


def show_classifier(visit: Visit) -> Response:
    """Return how well the answer to a question can be predicted from others."""
    page = _page(visit)
    usable = {q.id: q.full_text(page.language) for q in page.survey.questions if q.kind != "several"}
    labels = {q.id: usable[q.id] for q in page.survey.protected if q.id in usable}
    label, features = visit.text("label"), list(dict.fromkeys(visit.request.query_params.getlist("features")))
    model = _choice(visit, "model", MODELS, "naive_bayes")
    about: dict[str, Any] = {"usable": usable, "labels": labels, "models": MODELS, "label": label, "model": model}
    about |= {"features": features, "asked": bool(label and features), "table": None}
    if about["asked"]:
        _choice(visit, "label", labels, "")
        for name in features:
            if name not in usable or name == label:
                raise SottovoceError("features", "must be questions with one answer, and not the one to predict", name)
        page = _asked(visit, page, "classifier", label, model, *features)
        about["table"] = _classifier_table(page, label)
    return _show(visit, "result_classifier.html", page, about)


def _classifier_table(page: Page, label: str) -> dict[str, Any] | None:
    found: Classified | None = _value(page)
    if found is None:
        return None
    words = _words(page, label)
    rows = [
        IntervalRow(words[name], each.value, each.low, each.high)
        for name, each in zip(found.classes, found.recall, strict=False)
        if each.low is not None and each.high is not None
    ]
    about = "Of those with an answer, the share whose answer is predicted."
    return {
        "found": found,
        "guess": result_words.quoted(words[found.guess]),
        "better": found.accuracy.low is not None and found.accuracy.low > found.share,
        "chart": interval_chart(page.question(label), about, rows, LEVELS[page.level]) if rows else None,
    }


_PAGES: dict[str, Callable[[Visit], Response]] = {
    "": show_results,
    "/groups": show_groups,
    "/cross": show_cross,
    "/patterns": show_patterns,
    "/classifier": show_classifier,
}

ROUTES = [route(f"/surveys/{{survey}}/results{end}", handler) for end, handler in _PAGES.items()]
