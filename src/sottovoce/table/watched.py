"""Tables that tell how far they have been read."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from sottovoce.schema.cells import Columns
from sottovoce.schema.variable import Variable
from sottovoce.table.source import Batch, Source, open_source
from sottovoce.table.values import Values

Progress = Callable[[int, int | None], object]


class WatchedSource(Source):
    """Any table, with a callback that is told how many rows were read, of how many if that is known.

    >>> told = []
    >>> watched = WatchedSource({"a": [1, 2, 1]}, lambda done, total: told.append((done, total)))
    >>> [len(batch["a"]) for batch in watched.batches()], told
    ([3], [(3, 3)])
    """

    def __init__(self, table: Any, progress: Progress) -> None:
        """Open the table."""
        self._source, self._progress = open_source(table), progress
        self.names, self.rows, self.waits = self._source.names, self._source.rows, self._source.waits

    def _batches(self, names: Sequence[str], rows: int) -> Iterator[Batch]:
        """Those of the table, each counted once it has been used."""
        done = 0
        for batch in self._source.batches(names, rows):
            yield batch
            done += len(next(iter(batch.values())))
            self._progress(done, self.rows)

    def encode(self, variable: Variable, values: Values) -> Columns:
        """As the table does."""
        return self._source.encode(variable, values)
