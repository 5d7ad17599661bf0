"""Reports split at random into a half that picks and a half that estimates what was picked."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypedDict

import narwhals.stable.v2 as nw
import numpy as np

from sottovoce.checks import Target
from sottovoce.counts.protocol import Counter
from sottovoce.errors import SottovoceError, Words
from sottovoce.mechanisms.coins import Randomness
from sottovoce.mining.itemsets.selection import Mask
from sottovoce.schemas.attribute import Columns, Variable
from sottovoce.schemas.item_set import ItemSet
from sottovoce.tables.bitsets import Csr
from sottovoce.tables.source import Batch, Source, is_table, open_source
from sottovoce.tables.sparse_rows import transactions_to_csr
from sottovoce.tables.values import Values


class HalvesOptions(TypedDict, total=False):
    """Whether one half of the reports picks and the other half estimates, and the randomness that splits them."""

    halves: bool
    rng: Randomness


class SomeRows(Source):
    """The rows of a table whose mask is set.

    >>> some = SomeRows(open_source({"a": [1, 2, 3]}), np.array([True, False, True]))
    >>> [batch["a"] for batch in some.batches(rows=2)]
    [[1], [3]]
    """

    def __init__(self, source: Source, kept: Mask) -> None:
        """Keep the table and the mask."""
        self._source, self._kept = source, kept
        self.names, self.rows = source.names, int(np.count_nonzero(kept))

    def _batches(self, names: Sequence[str], rows: int) -> Iterator[Batch]:
        """Rows of each batch that has any."""
        start = 0
        for batch in self._source.batches(names, rows):
            mask = self._kept[start : start + len(batch[names[0]])]
            start += len(mask)
            if mask.any():
                yield {name: _masked(values, mask) for name, values in batch.items()}

    def encode(self, variable: Variable, values: Values) -> Columns:
        """As the table does."""
        return self._source.encode(variable, values)

    def with_empty_labels(self, variable: Variable, values: Values) -> Values:
        """As the table does."""
        return self._source.with_empty_labels(variable, values)


def random_halves(reports: Any, items: ItemSet | None, target: Target, rng: Randomness) -> tuple[Any, Any]:
    """Return two random halves of a table or file, of transactions, or of transactions by size.

    >>> first, second = random_halves([["ale"], ["bread"]] * 4, ItemSet("basket", ["ale", "bread"]), "population", 1)
    >>> len(first[0]) - 1, len(second[0]) - 1
    (4, 4)
    """
    if target == "table":
        rule = "must be left out for the table: the half that estimates is a sample of it, so ask for the population"
        raise SottovoceError("halves", rule, Words("target='table'"))
    if isinstance(reports, Counter):
        raise SottovoceError("halves", "must be given with single reports", Words("counts"))
    generator = np.random.default_rng(rng)
    if items is not None and isinstance(reports, Mapping) and all(isinstance(size, int) for size in reports):
        return _split_by_size({size: transactions_to_csr(each, items) for size, each in reports.items()}, generator)
    if items is not None and not is_table(reports):
        listed = transactions_to_csr(reports, items)
        kept = _half(len(listed[0]) - 1, generator)
        return _some_transactions(listed, kept), _some_transactions(listed, ~kept)
    source = open_source(reports)
    if source.waits:
        raise SottovoceError("halves", "must be given with a file, which can be read again", Words("a stream"))
    if not source.ordered:
        rule = "must be given with a table whose rows always come in the same order; save the reports to a file first"
        raise SottovoceError("halves", rule, Words("a query of an engine"))
    kept = _half(source.count_rows(), generator)
    return SomeRows(source, kept), SomeRows(source, ~kept)


def _split_by_size(listed: Mapping[int, Csr], generator: np.random.Generator) -> tuple[dict[int, Csr], dict[int, Csr]]:
    """Split all transactions at once; a size of which a half has none is left out there."""
    rows = [len(indptr) - 1 for indptr, _ in listed.values()]
    kept = np.split(_half(sum(rows), generator), np.cumsum(rows)[:-1])
    first, second = (
        {
            size: _some_transactions(csr, mask)
            for (size, csr), mask in zip(listed.items(), masks, strict=True)
            if mask.any()
        }
        for masks in (kept, [~mask for mask in kept])
    )
    return first, second


def _some_transactions(csr: Csr, kept: Mask) -> Csr:
    sizes = np.diff(csr[0])
    return np.concatenate([[0], np.cumsum(sizes[kept])]), csr[1][np.repeat(kept, sizes)]


def _half(rows: int, generator: np.random.Generator) -> Mask:
    """Return a mask of half of the rows, each such half as likely as any other."""
    if rows < 4:
        raise SottovoceError("halves", "must have at least 2 reports each", Words(f"{rows} reports"))
    return np.asarray(generator.permutation(rows) < rows // 2)


def _masked(values: Values, mask: Mask) -> Values:
    """The values whose mask is set, of a series, an array or a list."""
    if isinstance(values, nw.Series):
        return values.filter(mask.tolist())
    if isinstance(values, np.ndarray):
        return values[mask]
    return [value for value, kept in zip(values, mask.tolist(), strict=True) if kept]
