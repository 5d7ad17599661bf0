"""Pages from which results are published: files, a report, a page for ethics boards, a methods paragraph.

Files are made in the worker process, so that collecting reports is not held up.
"""

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from starlette.responses import Response

from sottovoce.checks import level as checked_level
from sottovoce.errors import MissingExtraError, SottovoceError, Words, value_text
from sottovoce.plans.document import plan_to_text
from sottovoce.surveys.codebook import codebook, codebook_text
from sottovoce.surveys.collect.app_state import Refusal, RefusedError
from sottovoce.surveys.collect.store import Store, opened
from sottovoce.surveys.dashboard.downloads import download
from sottovoce.surveys.dashboard.report import ethics_context, html_report
from sottovoce.surveys.dashboard.survey_pages import survey_state
from sottovoce.surveys.dashboard.visit import Visit, route
from sottovoce.surveys.definition.survey import Survey, survey_from_bytes
from sottovoce.surveys.methods import methods_paragraph, references
from sottovoce.surveys.publications import estimates_document, estimates_text, export_reports, json_text
from sottovoce.surveys.results import survey_results

LEVELS = ("0.9", "0.95", "0.99")


@dataclass(frozen=True)
class Offer:
    """A file that can be downloaded: the end of its name, what it is, and the libraries that it needs."""

    name: str
    title: str
    about: str
    needs: tuple[str, ...] = ()

    @property
    def missing(self) -> str | None:
        """Return how to install what is missing; None if nothing is."""
        absent = [library for library in self.needs if find_spec(library) is None]
        return str(MissingExtraError("This", absent[0], "publish")) if absent else None


REPORT_FILES = (
    Offer("reports.zip", "CSV", "with the plan and the codebook, in a zip archive; for every program"),
    Offer("reports.parquet", "Parquet", "with the plan in it; for Python, R and databases", ("pyarrow",)),
    Offer("reports.sav", "SPSS", "with labels of variables and values", ("pyreadstat",)),
    Offer("reports.dta", "Stata", "with labels of variables and values", ("pyreadstat",)),
)
RESULT_FILES = (
    Offer("report.html", "Report", "all questions with charts and tables, in one file to read, send or print"),
    Offer("estimates.csv", "Estimates (CSV)", "a row for each answer, with its interval"),
    Offer("estimates.json", "Estimates (JSON)", "the same for programs"),
)
PLAIN_FILES = (
    Offer("codebook.csv", "Codebook", "what columns, labels and codes mean"),
    Offer("plan.json", "Plan", "how answers are disguised, for programs"),
    Offer("survey.json", "Survey", "the very bytes of which the hash is computed"),
)
MADE = {offer.name for offer in (*REPORT_FILES, *RESULT_FILES)}


def show_publish(visit: Visit) -> Response:
    """Return the page with everything that can be published."""
    survey, level = visit.survey(), _level(visit)
    state = survey_state(visit, survey)
    return visit.page(
        "publish.html",
        survey=survey,
        state=state,
        enough=state.counts["reports"] >= survey.minimum,
        report_files=REPORT_FILES,
        result_files=RESULT_FILES,
        plain_files=PLAIN_FILES,
        level=f"{level:g}",
        levels=LEVELS,
        methods=methods_paragraph(survey, state.counts["reports"], level=level),
        references=references(survey),
    )


def show_ethics(visit: Visit) -> Response:
    """Return the page for ethics boards."""
    survey = visit.survey()
    context = visit.dashboard.submit(make_ethics_context, survey.document).result()
    return visit.page("ethics.html", survey=survey, **context)


def send_file(visit: Visit) -> Response:
    """Return a file with reports or estimates, made in the worker process."""
    survey, name = visit.survey(), visit.part("file")
    if name in MADE:
        database = visit.store.engine.url.render_as_string(hide_password=False)
        made = visit.dashboard.submit(make_file, database, survey.id, name, _level(visit)).result()
        if isinstance(made, Mistake):
            raise SottovoceError(made.parameter, made.rule, Words(made.value))
        return download(survey, name, made)
    plain = {
        "codebook.csv": lambda: codebook_text(codebook(survey)).encode(),
        "plan.json": lambda: plan_to_text(survey.plan).encode(),
        "survey.json": lambda: survey.document,
    }
    if name not in plain:
        raise RefusedError(Refusal.not_found)
    return download(survey, name, plain[name]())


@dataclass(frozen=True)
class Mistake:
    """The parts of an error that was raised in another process: errors themselves do not travel."""

    parameter: str
    rule: str
    value: str


def make_file(database: str, survey: str, name: str, level: float) -> bytes | Mistake:
    """Return the content of a file, or why it cannot be made; called in the worker process."""
    try:
        with opened(database) as store:
            return _content(store, store.select(survey), name, level)
    except MissingExtraError as missing:
        return Mistake("The file", f"cannot be made: {missing}", "a server without it")
    except SottovoceError as mistake:
        return Mistake(mistake.parameter, mistake.rule, value_text(mistake.value))


def make_ethics_context(document: bytes) -> dict[str, Any]:
    """Return what the page for ethics boards says about a survey; its times take seconds to simulate."""
    return ethics_context(survey_from_bytes(document))


def _content(store: Store, survey: Survey, name: str, level: float) -> bytes:
    if name.startswith("reports."):
        with TemporaryDirectory() as folder:
            path = Path(folder) / f"{'rehearsal-' * survey.rehearsal}{name}"
            export_reports(store, survey, path)
            return path.read_bytes()
    results, counts = survey_results(survey, store.reports(survey.id), level=level), store.counts(survey.id)
    if name == "report.html":
        return html_report(survey, results, counts, level=level).encode()
    if name == "estimates.csv":
        return estimates_text(survey, results).encode()
    return json_text(estimates_document(survey, results, counts)).encode()


def _level(visit: Visit) -> float:
    """Return the level of intervals that the address asks for."""
    try:
        return checked_level(float(visit.text("level", "0.95")))
    except ValueError:
        raise SottovoceError("level", "must be a number between 0 and 1", visit.text("level")) from None


ROUTES = [
    route("/surveys/{survey}/publish", show_publish),
    route("/surveys/{survey}/publish/ethics", show_ethics),
    route("/surveys/{survey}/publish/files/{file}", send_file),
]
