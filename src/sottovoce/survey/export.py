"""Reports as a file for any other program, with their plan, in an order that says nothing."""

import secrets
from pathlib import Path

import numpy as np

from sottovoce.errors import SottovoceError
from sottovoce.survey.results import Reports
from sottovoce.table.sink import file_sink

SUFFIXES = (".csv", ".parquet")


def export_reports(reports: Reports, path: str | Path, *, overwrite: bool = False) -> int:
    """Write a CSV or Parquet file that carries its plan, rows shuffled; returns their number.

    No header and no cell starts as a spreadsheet's formula does: names that would are refused in definitions.
    """
    if Path(path).suffix.lower() not in SUFFIXES:
        raise SottovoceError("output", f"must end in {' or '.join(SUFFIXES)}", str(path))
    order = np.random.default_rng(secrets.randbits(256)).permutation(len(reports))
    with file_sink(path, reports.survey.plan, overwrite=overwrite) as sink:
        sink.write([codes[order] for codes in reports.columns])
    return len(reports)
