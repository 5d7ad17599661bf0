"""Public columns of a table: checked and passed on with the reports, and counted where few rows share their values."""

import warnings
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import SottovoceWarning
from sottovoce.plans.plan import Plan
from sottovoce.plans.public import PublicColumn, PublicNumber
from sottovoce.schemas.attribute import Codes, Labels, ravel
from sottovoce.tables.source import Source, open_source
from sottovoce.tables.values import Values

FEWEST_ROWS = 5
"""A combination of public categories that fewer rows hold is small: it may single out a respondent."""

PublicValues = tuple[NDArray[Any], ...]
"""Public columns of a batch, in the order of the plan: codes of categories, or numbers."""


class PublicReader:
    """Reads public columns batch by batch, and counts the rows with each combination of their categories."""

    def __init__(self, columns: Sequence[PublicColumn]) -> None:
        """Start without rows."""
        self.columns = tuple(columns)
        self.names = tuple(column.name for column in columns)
        self._counts: Counter[int] = Counter()

    @classmethod
    def of_reports(cls, plan: Plan) -> "PublicReader":
        """Reader of the public columns of a disguised table, in which binned numbers are names of bins."""
        return cls([c if isinstance(c, PublicNumber) else c.as_report() for c in plan.public])

    def read(self, source: Source, values: Sequence[Values]) -> PublicValues:
        """Check the public columns of a batch and return codes of categories, or numbers."""
        found: list[NDArray[Any]] = []
        categories: list[Codes] = []
        for column, given in zip(self.columns, values, strict=True):
            if isinstance(column, PublicNumber):
                found.append(source.numbers(column.name, given))
            else:
                categories += source.encode(column, given)
                found.append(categories[-1])
        self._count(categories)
        return tuple(found)

    def _count(self, categories: Sequence[Codes]) -> None:
        if categories:
            sizes = [c.sizes[0] for c in self.columns if not isinstance(c, PublicNumber)]
            cells, rows = np.unique(ravel(categories, sizes), return_counts=True)
            self._counts.update(dict(zip(cells.tolist(), rows.tolist(), strict=True)))

    @property
    def small_combinations(self) -> int:
        """Number of combinations of public categories that fewer than five of the rows read hold."""
        return sum(rows < FEWEST_ROWS for rows in self._counts.values())

    @property
    def small_combinations_text(self) -> str:
        """Sentence about small combinations, for people; empty if there are none."""
        small = self.small_combinations
        if not small:
            return ""
        names = ", ".join(c.name for c in self.columns if not isinstance(c, PublicNumber))
        held = "1 combination of public answers is" if small == 1 else f"{small} combinations of public answers are"
        return (
            f"{held} held by fewer than {FEWEST_ROWS} rows ({names}): someone who knows these answers of a person can "
            "find their report. Make fewer columns public, or merge categories."
        )

    def warn(self) -> None:
        """Warn about small combinations, if there are any."""
        if self.small_combinations:
            warnings.warn(self.small_combinations_text, SottovoceWarning, stacklevel=3)


def public_labels(column: PublicColumn, values: NDArray[Any]) -> Labels:
    """Values that are passed on: labels of categories or of bins, or numbers."""
    return values if isinstance(column, PublicNumber) else column.decode((values,))


def small_combinations(reports: Any, plan: Plan) -> int:
    """Number of combinations of public categories that fewer than five rows of a disguised table hold.

    >>> from sottovoce.plans.budget import new_plan
    >>> from sottovoce.schemas.attribute import Attribute, boolean
    >>> from sottovoce.schemas.schema import Schema
    >>> schema = Schema([boolean("tax"), Attribute("region", ["north", "south"])])
    >>> plan = new_plan(schema, odds=3, public=["region"])
    >>> small_combinations({"tax": [True] * 7, "region": ["north"] * 5 + ["south"] * 2}, plan)
    1
    """
    source, reader = open_source(reports), PublicReader.of_reports(plan)
    source.check_names(reader.names)
    for batch in source.batches(reader.names) if reader.names else ():
        reader.read(source, [batch[name] for name in reader.names])
    return reader.small_combinations
