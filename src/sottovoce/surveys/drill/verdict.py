"""What was lost: acknowledged reports that are not stored, and everything else that is stored wrongly."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import select

from sottovoce.errors import SottovoceError
from sottovoce.surveys.collect.database import levels_of, lock_reports, reading
from sottovoce.surveys.collect.entries import tables_of_reports
from sottovoce.surveys.collect.store import Store
from sottovoce.surveys.definition.survey import Survey
from sottovoce.surveys.drill.respondents import Respondent
from sottovoce.surveys.drill.state import Drill
from sottovoce.surveys.results import survey_results

LEAST_ESTIMATED = 100
"""Fewest reports from which estimates must be possible, also if the survey shows results earlier."""


class Row(NamedTuple):
    """A stored report."""

    survey: str
    key: bytes
    report: bytes
    receipt: bytes


def stored_rows(store: Store) -> list[Row]:
    """Return the reports of all surveys from all tables."""
    with reading(store.engine) as connection:
        lock_reports(connection)
        return [
            Row(survey, bytes(key), bytes(report), bytes(receipt or b""))
            for table in tables_of_reports(levels_of(connection))
            for survey, key, report, receipt in connection.execute(
                select(table.c.survey, table.c.key, table.c.report, table.c.receipt)
            )
        ]


def check_stored(drill: Drill) -> None:
    """Compare what is stored with what respondents have sent and got acknowledged; note every difference."""
    surveys = {respondent.survey.id: respondent.survey for respondent in drill.respondents}
    with drill.store() as store:
        rows = stored_rows(store)
        listed = {name: {receipt.hex() for receipt in store.receipts(name) or []} for name in surveys}
        for survey in surveys.values():
            _check_admissions(drill, survey, store)
            _check_estimates(drill, survey, store.reports(survey.id))
    _check_acknowledged(drill, rows, listed)
    _check_rows(drill, rows)


def _check_acknowledged(drill: Drill, rows: Sequence[Row], listed: dict[str, set[str]]) -> None:
    stored = {(row.survey, row.key): row.report for row in rows}
    for respondent in drill.respondents:
        if not respondent.acknowledged:
            continue
        report = stored.get((respondent.survey.id, respondent.key))
        if report is None:
            drill.note("lost", f"{_named(respondent)} is not stored")
        elif report != respondent.report:
            drill.note("lost", f"{_named(respondent)} is stored with other bytes")
        elif respondent.receipt not in listed[respondent.survey.id]:
            drill.note("lost", f"{_named(respondent)} is not among the receipts that anybody can check")


def _named(respondent: Respondent) -> str:
    return f"the report of respondent {respondent.number}, acknowledged with receipt {respondent.receipt},"


def _check_rows(drill: Drill, rows: Sequence[Row]) -> None:
    """Every row is somebody's, and nobody has two."""
    sent = {(each.survey.id, each.key): each for each in drill.respondents if each.sealed is not None}
    for (survey, key), count in Counter((row.survey, row.key) for row in rows).items():
        if (survey, key) not in sent:
            drill.note("broken", f"a report is stored that nobody has sent, under the key {key.hex()}")
        elif count > 1:
            drill.note("broken", f"the report of respondent {sent[survey, key].number} is stored {count} times")
    for receipt, count in Counter(row.receipt for row in rows).items():
        if count > 1:
            drill.note("broken", f"{count} reports are stored with the receipt {receipt.hex()}")


def _check_admissions(drill: Drill, survey: Survey, store: Store) -> None:
    """Nobody is admitted without an invitation, and no report is there without an admission."""
    if survey.admission is None or store.is_closed(survey.id):
        return
    counts = store.counts(survey.id)
    asked = sum(each.survey.id == survey.id and each.blinded is not None for each in drill.respondents)
    if counts["admitted"] + counts["unspent"] != counts["issued"]:
        drill.note("lost", f"invitations are missing or too many: {counts}")
    if counts["admitted"] > asked:
        drill.note("broken", f"{counts['admitted']} invitations are spent, and {asked} respondents asked for that")
    if counts["reports"] > counts["admitted"]:
        drill.note("broken", f"{counts['reports']} reports are stored, and {counts['admitted']} invitations spent")


def _check_estimates(drill: Drill, survey: Survey, reports: list[bytes]) -> None:
    try:
        if len(reports) >= max(survey.minimum, LEAST_ESTIMATED):
            survey_results(survey, reports)
    except SottovoceError as reason:
        drill.note("broken", f"nothing can be estimated from the stored reports: {reason}")
