"""Tallies: counts of reports that add up over batches, machines and days.

A tally holds how many reports have each combination of some columns, and how many have all items of each declared set.
Estimators ask for nothing else (`Counter`), so estimates from a tally equal those from its reports to the last
digit, and tallies of the same plan can be merged in any order.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import chain, combinations, combinations_with_replacement
from pathlib import Path
from typing import Any

import numpy as np

from sottovoce.checks import names as checked_names
from sottovoce.checks import whole_number
from sottovoce.counts.counter import CodedCounter, as_pattern_counter
from sottovoce.counts.frequencies import Frequencies
from sottovoce.counts.patterns import Patterns
from sottovoce.counts.protocol import Counts, Sets, check_sets, padded
from sottovoce.display import html_table, html_text
from sottovoce.errors import EmptyTableError, SottovoceError, Words, renamed_parameters
from sottovoce.plans.plan import Plan, check_plan
from sottovoce.plans.public import PublicNumber
from sottovoce.schemas.attribute import Columns, Variable
from sottovoce.schemas.item_set import ItemSet
from sottovoce.schemas.schema import Schema
from sottovoce.tables.bitsets import Bitsets
from sottovoce.tables.plan_file import plan_mark
from sottovoce.tables.source import MappingSource, is_table
from sottovoce.tables.sparse_rows import transactions_to_csr

LONGEST = 12
"""Most items of a declared set."""

MOST_COUNTED = 2**20
"""Most subsets of two declared sets together that are counted."""

FREQUENCY = "frequency"
"""Column of a table of counts that says how many reports a row stands for."""

MOST_SHOWN = 20
"""Rows that a notebook shows."""

WAITING = 2**12
"""Single reports that wait before they are counted."""

MOST_REPORTS = 2**53
"""Most reports of a tally: estimates are computed in double precision, which holds such counts exactly."""

Items = tuple[int, ...]
Names = str | Sequence[str]


class Tally:
    """Counts of the reports about some attributes, and of the reports that have all items of some sets.

    `names` are attributes and public columns with categories, all of them if left out. `itemsets` are sets of
    items of the one attribute that holds sets: the supports of these sets and of their subsets can be estimated.

    >>> from sottovoce.plans.budget import new_plan
    >>> from sottovoce.schemas.attribute import boolean
    >>> plan = new_plan(Schema([boolean("tax"), boolean("drug")]), odds=9)
    >>> monday, tuesday = Tally(plan), Tally(plan)
    >>> monday.add({"tax": True, "drug": False})
    >>> tuesday.update({"tax": [True, False], "drug": [False, False]})
    >>> monday.merge(tuesday)
    <Tally: 3 reports of tax, drug, plan 8825a28aa19e>
    >>> monday.merge(tuesday).to_table()
    {'tax': [False, True], 'drug': [False, False], 'frequency': [1, 2]}
    """

    def __init__(self, plan: Plan, names: Names | None = None, *, itemsets: Iterable[Any] | None = None) -> None:
        """Start with no reports."""
        check_plan(plan)
        self._set(plan, _columns_asked(plan, names, may_be_none=itemsets is not None), *_declared(plan, itemsets))

    @classmethod
    def of_columns(cls, plan: Plan, columns: Sequence[str], sets: tuple[Items, ...] = ()) -> "Tally":
        """Start with no reports of these report columns and public columns, and these sets of items by number."""
        tally = cls.__new__(cls)
        tally._set(plan, _project(plan, columns) if columns else None, item_set_of(plan) if sets else None, sets)
        return tally

    def _set(self, plan: Plan, schema: Schema | None, items: ItemSet | None, sets: tuple[Items, ...]) -> None:
        self.plan, self.schema, self.items, self.sets = plan, schema, items, sets
        self._counted = Patterns.of([], self._sizes)
        self._waiting: list[Patterns] = []
        self._set_counts: Counts = np.zeros(len(sets), np.int64)
        self._rows = 0
        self.path: str | Path | None = None
        """File that holds the same reports, which says whether two tallies are of the same respondents."""

    @classmethod
    def of_counts(cls, counts: Mapping[Any, int], plan: Plan, names: Names | None = None) -> "Tally":
        """Make a tally of published counts: `{report: number}`, or `{(report, ...): number}` for several columns.

        `names` are the report columns that the keys speak of, all of the plan's if left out.

        >>> from sottovoce.schemas.attribute import boolean
        >>> from sottovoce.schemes.forced_response import ForcedResponse
        >>> plan = Plan.of(Schema([boolean("bribe")]), {"bribe": ForcedResponse("2/3", "1/6")})
        >>> Tally.of_counts({True: 831, False: 1604}, plan).contingency(plan.report_schema)
        array([1604,  831])
        """
        check_plan(plan)
        known = (*plan.report_schema.names, *plan.public_names)
        columns = plan.report_schema.names if names is None else checked_names("names", names, known)
        tally = cls.of_columns(plan, columns)
        tally._add_counts(counts)
        return tally

    @property
    def set_counts(self) -> list[int]:
        """Number of reports that have all items of each set of `sets`."""
        return [int(number) for number in self._set_counts]

    @property
    def names(self) -> tuple[str, ...]:
        """Report columns whose joint counts are held."""
        return () if self.schema is None else self.schema.names

    def __len__(self) -> int:
        """Number of reports."""
        return self._rows

    def __eq__(self, other: object) -> bool:
        """Whether plan, columns, sets and all counts are equal."""
        if not isinstance(other, Tally):
            return NotImplemented
        return self._difference(other) is None and self.to_json() == other.to_json()

    __hash__ = None  # type: ignore[assignment]  # tallies change

    def __repr__(self) -> str:
        """Number of reports, and what is counted."""
        counted = [*self.names, *([f"{len(self.sets)} sets of {self.items.name}"] if self.items else [])]
        return f"<Tally: {len(self)} reports of {', '.join(counted)}, plan {self.plan.hash[:12]}>"

    def _repr_html_(self) -> str:
        """The counts, for notebooks."""
        if self.schema is None:
            return html_text(repr(self)[1:-1])
        table = self.to_table()
        return html_table(repr(self)[1:-1], list(table), list(zip(*table.values(), strict=True))[:MOST_SHOWN])

    def add(self, report: Mapping[str, Any]) -> None:
        """Add one report, a mapping from column to label (for sets of items, to a list of labels)."""
        if not isinstance(report, Mapping):
            raise SottovoceError("report", "must map columns to labels", type(report))
        wanted = [*self.names, *([self.items.name] if self.items else [])]
        missing = [name for name in wanted if name not in report]
        if missing:
            rule = f"must have the columns {', '.join(wanted)}"
            raise SottovoceError("report", rule, Words(", ".join(map(str, report)) or "none"))
        self._add(MappingSource({name: [report[name]] for name in wanted}), None)

    def update(self, reports: Any, frequencies: Frequencies = None) -> None:
        """Add a batch: a table, its path, Reports, or transactions of items; all of it, or nothing if it is refused.

        A batch without rows adds nothing.
        """
        from sottovoce.counts.tally_document import is_tally

        if isinstance(reports, Tally) or (isinstance(reports, str | Path) and is_tally(reports)):
            raise SottovoceError("reports", "must be a table or Reports; tallies are merged", Words("a tally"))
        with suppress(EmptyTableError):
            self._update(reports, frequencies)

    def _update(self, reports: Any, frequencies: Frequencies) -> None:
        """Add a batch that is no tally."""
        if isinstance(getattr(reports, "plan", None), Plan):
            self._check_hash(reports.plan.hash)
            self._add(reports.as_counter() if frequencies is None else reports.as_source(), frequencies)
        elif self.items is not None and not is_table(reports):
            bits = Bitsets.from_csr(*transactions_to_csr(reports, self.items), len(self.items.items))
            self._add(bits, frequencies)
        else:
            mark = plan_mark(reports)
            if mark is not None:
                self._check_hash(mark[0])
            self._add(reports, frequencies)

    def merge(self, *others: "Tally") -> "Tally":
        """Return a tally of the reports of all; they must be of the same plan, columns and sets."""
        for tally in others:
            if not isinstance(tally, Tally):
                raise SottovoceError("others", "must be tallies", type(tally))
            differs = self._difference(tally)
            if differs is not None:
                raise SottovoceError("others", f"must have the same {differs[0]}", Words(differs[1]))
        merged, parts = Tally.of_columns(self.plan, self.names, self.sets), (self, *others)
        merged._rows = _checked_number("others", sum(map(len, parts)))
        merged._waiting = [tally.counted for tally in parts]
        merged._set_counts = np.sum([tally._set_counts for tally in parts], axis=0)
        return merged

    def rows(self) -> int:
        """Number of reports."""
        return self._rows

    def contingency(self, schema: Schema) -> Counts:
        """Number of reports in each joint cell of some of the columns, in the order asked for."""
        return self._counter().contingency(schema)

    def all_ones(self, schema: Schema, sets: Sets) -> Counts:
        """Counts of declared sets of items, or of combinations of yes/no columns."""
        if self.items is None or schema.names != (self.items.name,):
            return self._counter().all_ones(schema, sets)
        check_sets(schema, sets)
        known = dict(zip(self.sets, self.set_counts, strict=True))
        wanted = [tuple(sorted(set(row))) for row in sets.tolist()]
        unknown = [items for items in wanted if items not in known]
        if unknown:
            labels = [self.items.items[index] for index in unknown[0]]
            raise SottovoceError("itemsets", "must have been declared when the tally was started", labels)
        return np.array([known[items] for items in wanted], np.int64)

    def patterns(self, schema: Schema) -> Patterns:
        """Different combinations of some of the columns, and how many reports have each."""
        return self._counter().patterns(schema)

    def to_table(self) -> dict[str, list[Any]]:
        """Return the joint counts as a table: a row for each combination that was reported, and its frequency."""
        labels = self._counter().schema.decode(self.counted.columns)
        columns = {name: v.tolist() if isinstance(v, np.ndarray) else list(v) for name, v in labels.items()}
        return {**columns, self.frequencies: self.counted.times.tolist()}

    @property
    def frequencies(self) -> str:
        """Name of the column of frequencies in `to_table`."""
        name = FREQUENCY
        while name in self.names:
            name += "_"
        return name

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON, with the plan and a hash of the whole."""
        from sottovoce.counts.tally_document import tally_to_json

        return tally_to_json(self)

    @staticmethod
    def from_json(document: Any) -> "Tally":
        """Read a tally; refuse a newer version, another kind of document, and one that was changed."""
        from sottovoce.counts.tally_document import tally_from_json

        return tally_from_json(document)

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the tally and its plan to a `.json` or an `.arrow` file, which appears when it is complete."""
        from sottovoce.counts.tally_document import write_tally

        with renamed_parameters({"output": "path"}):
            write_tally(self, path, overwrite=overwrite)

    @staticmethod
    def load(path: str | Path) -> "Tally":
        """Read a saved tally; one that was cut short or changed is refused."""
        from sottovoce.counts.tally_document import read_tally

        return read_tally(path)

    @property
    def _sizes(self) -> tuple[int, ...]:
        return () if self.schema is None else self.schema.sizes

    @property
    def counted(self) -> Patterns:
        """Different combinations of all columns, and how many reports have each."""
        if self._waiting:
            self._join_waiting()
        return self._counted

    def _join_waiting(self) -> None:
        self._counted = Patterns.joined([self._counted, *self._waiting], self._sizes)
        self._waiting = []

    def _counter(self) -> CodedCounter:
        if self.schema is None:
            raise SottovoceError("names", "must have been tallied", Words("sets of items only"))
        return CodedCounter(self.schema, self.counted.columns, self.counted.times)

    def _add(self, reports: Any, frequencies: Frequencies) -> None:
        """Count a batch, then add it: an error changes nothing."""
        counter = as_pattern_counter(reports, frequencies)
        counted = None if self.schema is None else counter.patterns(self.schema)
        sets = None if self.items is None else counter.all_ones(Schema([self.items]), padded(self.sets))
        self._rows = _checked_number("reports", self._rows + counter.rows())
        self.path = None
        if sets is not None:
            self._set_counts = self._set_counts + sets
        if counted is not None:
            self._waiting.append(counted)
        if len(self._waiting) >= WAITING:
            self._join_waiting()

    def _add_counts(self, counts: Mapping[Any, int]) -> None:
        """Add published counts of combinations of all columns."""
        if not isinstance(counts, Mapping) or not counts:
            raise SottovoceError("counts", "must map at least one report to its number", counts)
        several, times = len(self.names) > 1, []
        columns: dict[str, list[Any]] = {name: [] for name in self.names}
        for report, number in counts.items():
            labels = report if several else (report,)
            if not isinstance(labels, tuple) or len(labels) != len(self.names):
                raise SottovoceError("counts", f"must be of tuples with a report for each of {[*self.names]}", report)
            times.append(whole_number(f"counts of {report!r}", number, least=0))
            for name, label in zip(self.names, labels, strict=True):
                columns[name].append(label)
        self.fill(self._encoded(columns, list(counts)), times, _checked_number("counts", sum(times)))

    def _encoded(self, columns: Mapping[str, list[Any]], reports: list[Any]) -> Columns:
        """Codes of published reports; an unknown one is named as it was given."""
        coded: list[Any] = []
        for variable in self.schema or ():
            for report, label in zip(reports, columns[variable.name], strict=True):
                try:
                    variable.encode([label])
                except SottovoceError as error:
                    rule = f"must be of known reports: {error.parameter} {error.rule}"
                    raise SottovoceError("counts", rule, report) from None
            coded += variable.encode(columns[variable.name])
        return tuple(coded)

    def fill(self, columns: Columns, times: Sequence[int], rows: int, set_counts: Sequence[int] = ()) -> None:
        """Set all counts at once."""
        self._rows = _checked_number("reports", rows)
        self._counted = Patterns.of([(columns, np.array(times, np.int64))], self._sizes)
        self._set_counts = np.array(set_counts, np.int64)

    def _check_hash(self, found: str) -> None:
        if found != self.plan.hash:
            rule = f"must have been disguised under the plan of the tally, {self.plan.hash[:12]}"
            raise SottovoceError("reports", rule, Words(found[:12]))

    def _difference(self, other: "Tally") -> tuple[str, str] | None:
        """Return what two tallies do not have in common, and what the other has; None if they can be added."""
        if other.plan.hash != self.plan.hash:
            return f"plan, {self.plan.hash[:12]}", other.plan.hash[:12]
        if other.names != self.names:
            return f"columns, {', '.join(self.names)}", ", ".join(other.names)
        return ("sets of items", f"{len(other.sets)} sets") if other.sets != self.sets else None


def _checked_number(parameter: str, reports: int) -> int:
    """Return the number of reports of a tally; raise if there are too many for exact counts."""
    if reports > MOST_REPORTS:
        raise SottovoceError(parameter, "must add up to at most 2^53 reports", reports)
    return reports


def _columns_asked(plan: Plan, names: Names | None, *, may_be_none: bool) -> Schema | None:
    """Return the report columns of some attributes, and public columns; all that have categories if left out."""
    public = [column.name for column in plan.public if not isinstance(column, PublicNumber)]
    every = [*(variable.name for variable in plan.schema if not isinstance(variable, ItemSet)), *public]
    if not (every if names is None else names):
        if may_be_none:
            return None
        raise SottovoceError("names", "must name an attribute, or itemsets must be given", [])
    known = list(dict.fromkeys((*plan.schema.names, *plan.public_names, *plan.report_schema.names)))
    wanted = every if names is None else checked_names("names", names, known)
    columns: dict[str, None] = {}
    for name in wanted:
        reported = name in plan.public_names or name in plan.report_schema.names
        columns |= dict.fromkeys((name,) if reported else plan.report_names([name]))
    return _project(plan, list(columns))


def _project(plan: Plan, names: Sequence[str]) -> Schema:
    variables: list[Variable] = []
    for name in names:
        column = next((c for c in plan.public if c.name == name), None)
        if isinstance(column, PublicNumber):
            raise SottovoceError("names", "must have categories; this is a public number", name)
        variables.append(plan.report_schema[name] if column is None else column.as_report())
    return Schema(variables)


def _declared(plan: Plan, itemsets: Iterable[Any] | None) -> tuple[ItemSet | None, tuple[Items, ...]]:
    """Return the attribute that holds sets, and all subsets of the unions of two of the sets declared."""
    if itemsets is None:
        return None, ()
    variable = item_set_of(plan)
    listed = itemsets if isinstance(itemsets, Iterable) else ()
    given = [list(items) if isinstance(items, Iterable) else [] for items in listed]
    if not given or not all(1 <= len(items) <= LONGEST for items in given):
        raise SottovoceError("itemsets", f"must be at least one set, of 1 to {LONGEST} items each", itemsets)
    bits = np.stack(variable.encode(given), axis=1)
    sets = sorted({tuple(np.flatnonzero(row).tolist()) for row in bits})
    # Covariances of two supports need the counts of the subsets of both sets together.
    unions = {tuple(sorted({*first, *second})) for first, second in combinations_with_replacement(sets, 2)}
    if sum(2 ** len(items) for items in unions) > MOST_COUNTED:
        rule = f"must have at most {MOST_COUNTED} subsets of two sets together; declare fewer or shorter sets"
        raise SottovoceError("itemsets", rule, Words(f"{len(sets)} sets"))
    subsets = (combinations(items, length) for items in unions for length in range(1, len(items) + 1))
    return variable, tuple(sorted(set(chain.from_iterable(subsets))))


def item_set_of(plan: Plan) -> ItemSet:
    """Return the one attribute of the reports that holds sets of items."""
    found = [v for v in plan.report_schema if isinstance(v, ItemSet) and v.name in plan.schema.names]
    if len(found) != 1:
        names = ", ".join(v.name for v in found) or "none"
        raise SottovoceError("itemsets", "must come with a plan that has one attribute of sets of items", Words(names))
    return found[0]
