"""FRAPP, Table 4.3: how many itemsets are frequent in CENSUS and HEALTH at 2 %."""

from papers import _frapp, _thesis
from papers._frapp import CENSUS, HEALTH, Data
from papers.comparison import Printed, Row, compare
from papers.rerun import Progress, Rerun
from sottovoce.datasets.published import Columns, census
from sottovoce.schemas.binned import Binned
from sottovoce.schemas.schema import Schema

TITLE = "frequent itemsets of CENSUS and HEALTH at 2 %, by length"
SOURCE = _thesis.SOURCE.format("Table 4.3")


def rerun(*, quick: bool, seed: int, progress: Progress) -> Rerun:
    """Exact counts; quick is no different."""
    tables = {
        "CENSUS": CENSUS,
        "CENSUS, hours closed on the right as Table 4.1 prints them,": Data("CENSUS", _as_printed, CENSUS.counts),
        "HEALTH stand-in": HEALTH,
    }
    rows: list[Row] = []
    for done, (name, data) in enumerate(tables.items(), start=1):
        rows += _rows(name, data)
        progress(done, len(tables))
    notes = ["Hours closed on the left are our reading of CENSUS; the bins as printed are another.", HEALTH.note]
    return Rerun({"min_support": _frapp.MIN_SUPPORT, "seed": seed, "quick": quick}, rows, notes)


def _rows(name: str, data: Data) -> list[Row]:
    found = data.truth.by_length
    return [
        compare(f"{name} length {length}", Printed(str(printed)), found.get(length, 0), data.note)
        for length, printed in enumerate(data.counts, start=1)
    ]


def _as_printed() -> tuple[Schema, Columns]:
    """CENSUS with its hours closed on the right."""
    schema, columns = census()
    hours = schema["hours-per-week"]
    if not isinstance(hours, Binned):
        raise TypeError(hours)
    turned = Binned(hours.name, hours.edges, closed="right")
    return Schema(turned if name == hours.name else schema[name] for name in schema.names), columns
