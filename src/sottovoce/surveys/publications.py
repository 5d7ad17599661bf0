"""Files to publish: disguised reports in several formats with their plan and codebook, and estimates.

Reports are in random order, fewer than the survey's minimum are refused, and files of a rehearsal say that they are.
"""

import csv
import io
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from sottovoce.errors import SottovoceError, file_errors
from sottovoce.plans.document import plan_hash
from sottovoce.surveys.codebook import codebook, codebook_text
from sottovoce.surveys.definition.questions import harmless
from sottovoce.surveys.definition.survey import Survey
from sottovoce.surveys.invitations import archive
from sottovoce.surveys.labelled_files import write_labelled
from sottovoce.surveys.results import QuestionResult, shuffled_columns
from sottovoce.tables.csv_file import sidecar
from sottovoce.tables.sink import check_new, file_sink, new_file

if TYPE_CHECKING:
    from sottovoce.surveys.collect.store import Store

SUFFIXES = (".csv", ".parquet", ".zip", ".sav", ".dta")
READ_ME = """{title}

{name}: one line for each respondent, in random order. These are disguised responses: each was
changed at random on the respondent's own device, before it was sent. A table of them is not a table
of answers. Only answers to public questions are as they were given; the codebook says which these are.

{plan}: the plan, which says how they were disguised. Keep it beside {name}.
codebook.csv: what the columns and labels mean.

Estimates with Sottovoce (https://pypi.org/project/sottovoce):

    import sottovoce as sv
    reports = sv.read("{name}")
    print(reports.estimate("{question}", method="best"))

SHA-256 of the survey: {hash}
"""


def export_reports(store: "Store", survey: Survey, path: str | Path, *, overwrite: bool = False) -> int:
    """Write the stored reports to a file, for the owner only; return their number.

    A CSV file has its plan beside it, a Parquet file in it; a zip archive holds CSV, plan and codebook; SPSS (.sav)
    and Stata (.dta) files have labels. No header and no cell begins like a formula of a spreadsheet: definitions
    refuse such names. A file of a rehearsal must have a name that says so.
    """
    file = check_output(survey, path, SUFFIXES, overwrite=overwrite)
    columns = shuffled_columns(store, survey)
    if file.suffix.lower() in (".csv", ".parquet"):
        _write_table(survey, columns, file, overwrite=overwrite)
        return len(columns[0])
    with file_errors(file), TemporaryDirectory() as folder, new_file(file, private=True) as hidden:
        if file.suffix.lower() == ".zip":
            hidden.write_bytes(b"".join(archive(_archived(survey, columns, Path(folder)))))
        else:
            made = Path(folder) / file.name
            write_labelled(survey, columns, made)
            hidden.write_bytes(made.read_bytes())
    return len(columns[0])


def check_output(survey: Survey, path: str | Path, suffixes: Sequence[str], *, overwrite: bool) -> Path:
    """Return the path of a file to write; refuse a rehearsal's that does not say so, and other endings."""
    file = Path(path)
    if survey.rehearsal and "rehearsal" not in file.name.lower():
        raise SottovoceError("output", "must have 'rehearsal' in its name, because the survey is one", str(path))
    if file.suffix.lower() not in suffixes:
        *others, last = suffixes
        endings = f"{', '.join(others)} or {last}" if others else last
        raise SottovoceError("output", f"must end in {endings}", str(path))
    check_new(file, overwrite=overwrite)
    return file


def _write_table(survey: Survey, columns: Sequence[NDArray[Any]], path: Path, *, overwrite: bool = False) -> None:
    with file_sink(path, survey.plan, overwrite=overwrite, private=True) as sink:
        disguised = len(survey.plan.report_schema.sizes)
        sink.write(columns[:disguised], tuple(columns[disguised:]))


def _archived(survey: Survey, columns: Sequence[NDArray[Any]], folder: Path) -> Iterator[tuple[str, bytes]]:
    """Return the files of an archive, made in a folder."""
    table = folder / f"{'rehearsal-' * survey.rehearsal}reports.csv"
    _write_table(survey, columns, table)
    plan = sidecar(table)
    texts = {
        "title": f"{'REHEARSAL, in which nothing counts: ' * survey.rehearsal}{survey.default_title}",
        "name": table.name,
        "plan": plan.name,
        "question": survey.protected[0].id,
        "hash": survey.hash,
    }
    yield "README.txt", READ_ME.format(**texts).encode()
    yield table.name, table.read_bytes()
    yield plan.name, plan.read_bytes()
    yield "codebook.csv", codebook_text(codebook(survey)).encode()


ESTIMATE_COLUMNS = (
    *("question", "text", "label", "answer", "estimate", "standard_error", "low", "high", "level"),
    *("reports", "forged", "rehearsal", "survey"),
)


def estimates_text(survey: Survey, results: Sequence[QuestionResult]) -> str:
    """Return estimates as CSV: a row for each answer, for the mean of a scale, and for its shares up to a step."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(ESTIMATE_COLUMNS)
    language, rehearsal = survey.languages[0], "yes" if survey.rehearsal else "no"
    for result in results:
        (name,) = result.questions
        question = survey.question(name)
        about = harmless(name), harmless(question.full_text(language))
        common = f"{result.level:g}", result.respondents
        for line in result.lines:
            answer = (*about, line.labels[0], harmless(question.words(line.labels[0], language)))
            numbers = map(repr, (line.estimate, line.standard_error, line.low, line.high))
            writer.writerow((*answer, *numbers, *common, line.forged, rehearsal, survey.hash))
        if result.missing is not None:
            writer.writerow((*about, "", result.missing, *[None] * 4, *common, None, rehearsal, survey.hash))
        for label, each in result.scale_lines:
            numbers = map(repr, (each.value, each.standard_error, each.low, each.high))
            writer.writerow((*about, "", label, *numbers, *common, None, rehearsal, survey.hash))
    return stream.getvalue()


def estimates_document(survey: Survey, results: Sequence[QuestionResult], counts: dict[str, int]) -> dict[str, Any]:
    """Return all estimates as JSON, with what is needed to understand and to check them."""
    from sottovoce import __version__

    language = survey.languages[0]
    return {
        "title": survey.default_title,
        "survey": survey.hash,
        "plan": plan_hash(survey.plan),
        "rehearsal": survey.rehearsal,
        "software": f"Sottovoce {__version__}",
        "reports": counts["reports"],
        "replaced": counts["replaced"],
        "level": results[0].level,
        "questions": {
            question.id: {
                "text": question.full_text(language),
                "answers": {label: question.words(label, language) for label in question.labels},
                "public": question.public,
            }
            for question in survey.questions
        },
        "results": [result.to_json() for result in results],
    }


def json_text(document: dict[str, Any]) -> str:
    """Return a document as JSON for people and programs."""
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
