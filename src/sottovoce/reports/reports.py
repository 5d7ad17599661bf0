"""Disguised responses and the plan they were disguised under, in one object."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Unpack, overload

from sottovoce.checks import Progress, Target, one_of
from sottovoce.checks import names as checked_names
from sottovoce.counts.counter import as_counter
from sottovoce.counts.protocol import Counter
from sottovoce.counts.tally import Tally
from sottovoce.display import html_table, html_text, progress_line
from sottovoce.errors import SottovoceError, Words, renamed_parameters
from sottovoce.plans.document import plan_hash
from sottovoce.plans.plan import Plan
from sottovoce.tables.csv_source import CsvSource
from sottovoce.tables.source import Source, is_table, open_source

if TYPE_CHECKING:
    from sottovoce.estimates.estimate import Estimate, Respondents
    from sottovoce.estimates.groups import Estimates
    from sottovoce.estimates.independence import IndependenceTest
    from sottovoce.estimates.presentation import Backend
    from sottovoce.estimates.supports import Supports
    from sottovoce.estimates.two_samples import TwoSamples
    from sottovoce.mining.classify.learner import DisguisedClassifier
    from sottovoce.mining.itemsets.halves import HalvesOptions
    from sottovoce.mining.itemsets.result import Itemsets
    from sottovoce.mining.itemsets.selection import Selection
    from sottovoce.mining.regression.regress import RegressOptions
    from sottovoce.mining.regression.result import Regression
    from sottovoce.mining.rules import Rules
    from sottovoce.reports.estimation import EstimateArguments, Method, Strata

Names = str | Sequence[str]

MOST_NAMED = 6
"""Attributes that a summary names."""


class Reports:
    """Disguised responses and their plan: what can be learned about the group is asked of this object.

    `table` is a disguised pandas, polars or Arrow table, a mapping of columns, the path of a CSV or Parquet file,
    transactions of one set of items, or a `Tally`, whose plan need not be given. `frequencies` names a column
    that says how many equal reports a row stands for; `from_counts` makes a tally from published counts.

    >>> from sottovoce.plans.budget import new_plan
    >>> from sottovoce.schemas.attribute import boolean
    >>> from sottovoce.schemas.schema import Schema
    >>> plan = new_plan(Schema([boolean("evaded tax")]), odds=3)
    >>> reports = Reports({"evaded tax": [True] * 40 + [False] * 60}, plan)
    >>> len(reports)
    100
    >>> print(reports.estimate("evaded tax"))
    evaded tax: 100 reports, proportions in the population by inversion, exact 95 % intervals
      False    0.7000 +- 0.0980  [ 0.5000,  0.8858]
      True     0.3000 +- 0.0980  [ 0.1142,  0.5000]
    """

    def __init__(self, table: Any, plan: Plan | None = None, *, frequencies: str | None = None) -> None:
        """Check that the table can hold reports of this plan."""
        from sottovoce.reports.views import checked_plan

        if isinstance(table, Reports):
            rule = "must be a table, not Reports, which have their plan already"
            raise SottovoceError("table", rule, Words("Reports"))
        self._set(table, checked_plan(table, plan, frequencies), frequencies)

    def _set(self, table: Any, plan: Plan, frequencies: str | None) -> None:
        tallied = isinstance(table, Tally) and table.schema is not None
        self.plan = plan
        self.frequencies = table.frequencies if tallied else frequencies
        self._table = table
        self._transactions = not (isinstance(table, Tally) or is_table(table))
        self._group: dict[str, tuple[Any, ...]] = {}
        self._origins: frozenset[Any] = frozenset([_identity(table)])

    @classmethod
    def just_disguised(cls, table: Any, plan: Plan) -> "Reports":
        """Return reports that were made under this plan a moment ago, without checking that they were."""
        reports = cls.__new__(cls)
        reports._set(table, plan, None)
        return reports

    @classmethod
    def from_counts(cls, counts: Mapping[Any, int], plan: Plan, names: Names | None = None) -> "Reports":
        """Make reports from published counts: `{report: number}`, or `{(report, ...): number}` for several columns.

        They are the Reports of a `Tally`. `names` are the report columns that the keys speak of, by default all.

        >>> from sottovoce.schemas.attribute import boolean
        >>> from sottovoce.schemas.schema import Schema
        >>> from sottovoce.schemes.forced_response import ForcedResponse
        >>> plan = Plan.of(Schema([boolean("bribe")]), {"bribe": ForcedResponse("2/3", "1/6")})
        >>> print(Reports.from_counts({True: 831, False: 1604}, plan).estimate("bribe"))
        bribe: 2435 reports, proportions in the population by inversion, exact 95 % intervals
          False    0.7381 +- 0.0144  [ 0.7096,  0.7663]
          True     0.2619 +- 0.0144  [ 0.2337,  0.2904]
        """
        return cls(Tally.of_counts(counts, plan, names))

    @property
    def table(self) -> Any:
        """The disguised table as it was given; some rows of files come as a pandas frame."""
        return self.to_frame() if isinstance(self._table, Source) else self._table

    def __len__(self) -> int:
        """Number of reports."""
        if self._transactions:
            from sottovoce.reports.transactions import sparse_rows

            return len(sparse_rows(self._table, self.plan)[0]) - 1
        return self.as_counter().rows()

    def where(self, **public: Any) -> "Reports":
        """Keep the reports whose public columns have these values: one, or a list of them, for each column.

        Columns that were disguised are refused: a report says little about the person who sent it, so that the rows
        with a certain report are not the people with that answer.
        """
        from sottovoce.reports.views import condition, filtered, several

        if not public:
            return self
        source, chosen = self.source("where"), {name: several(values) for name, values in public.items()}
        conditions = {name: condition(self.plan, source, name, values) for name, values in chosen.items()}
        part = self._derived(filtered(source, conditions))
        for name, values in chosen.items():
            part._group[name] = tuple(value for value in values if value in self._group.get(name, values))
        return part

    def known(self) -> "Reports":
        """Leave out rows with a report that the plan does not know, and warn of how many they are."""
        from sottovoce.reports.views import known_rows

        return self._derived(known_rows(self.source("known"), self.plan))

    def concat(self, *others: "Reports") -> "Reports":
        """Join reports of other respondents under the same plan, such as those of several files or waves."""
        from sottovoce.reports.transactions import item_set
        from sottovoce.reports.views import joined

        for other in others:
            if not isinstance(other, Reports):
                raise SottovoceError("others", "must be Reports", type(other))
            if plan_hash(other.plan) != plan_hash(self.plan):
                rule = f"must have been disguised under the same plan, {plan_hash(self.plan)[:12]}"
                raise SottovoceError("others", rule, Words(plan_hash(other.plan)[:12]))
            if other.frequencies != self.frequencies:
                rule = "must be rows if these are rows, or else counts in the same column (`counts()` makes both alike)"
                raise SottovoceError("others", rule, Words("rows" if other.frequencies is None else "counts"))
            if other._origins & self._origins and other._group == self._group:
                raise SottovoceError("others", "must be of other respondents", Words("the same reports"))
        parts = [self, *others]
        if all(isinstance(part._table, Tally) for part in parts):
            whole = self._derived(self._table.merge(*(part._table for part in others)))
        else:
            in_files = str | Path | Source
            tables = [part.source("concat") if isinstance(part._table, in_files) else part._table for part in parts]
            whole = self._derived(joined(tables, item_set(self.plan) if self._transactions else None))
        whole._origins = frozenset().union(*(part._origins for part in parts))
        whole._group = self._group if all(part._group == self._group for part in parts) else {}
        return whole

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the reports and their plan to a CSV or Parquet file, which appears when it is complete.

        Tallies are also written as counts, to a `.json` or `.arrow` file.
        """
        from sottovoce.counts.tally_document import is_tally
        from sottovoce.reports.transactions import save_transactions
        from sottovoce.reports.views import save_table

        if not isinstance(path, str | Path):
            raise SottovoceError("path", "must be the path of a file", path)
        with renamed_parameters({"output": "path"}):
            if isinstance(self._table, Tally) and is_tally(path):
                self._table.save(path, overwrite=overwrite)
            elif self._transactions:
                save_transactions(self._table, self.plan, path, overwrite=overwrite)
            else:
                save_table(self.as_source(), self.plan, path, overwrite=overwrite)

    def to_frame(self, backend: "Backend" = "pandas") -> Any:
        """Return the reports as a data frame of the library named: "pandas", "polars" or "pyarrow"."""
        from sottovoce.estimates.presentation import new_frame
        from sottovoce.reports.views import labelled_columns

        return new_frame(labelled_columns(self.source("to_frame"), self.plan), backend)

    def counts(self, names: Names | None = None, *, itemsets: Iterable[Any] | None = None) -> Tally:
        """Count the reports about some attributes and public columns, all of them if left out, and sets of items.

        What is estimated from the tally equals what is estimated from the reports; see `Tally`.
        """
        tally = Tally(self.plan, names, itemsets=itemsets)
        tally.update(self)
        return tally

    @overload
    def estimate(self, names: Names, *, by: None = None, **options: "Unpack[EstimateArguments]") -> "Estimate": ...

    @overload
    def estimate(self, names: Names, *, by: Names, **options: "Unpack[EstimateArguments]") -> "Estimates": ...

    @overload
    def estimate(self, names: None = None, **options: "Unpack[EstimateArguments]") -> "Estimates": ...

    def estimate(
        self,
        names: Names | None = None,
        *,
        by: Names | None = None,
        weights: str | Sequence[float] | None = None,
        frequencies: str | Sequence[int] | None = None,
        strata: "Strata | None" = None,
        method: "Method" = "best",
        target: Target = "population",
        progress: Progress | bool | None = None,
    ) -> "Estimate | Estimates":
        """Estimate the proportions of an attribute, or of all joint cells of several, with their covariance.

        Returns an `Estimate`. Without `names` there is one for every attribute, and with `by` one for each value of
        a public column (or of several): `Estimates`, a mapping. `strata` joins the estimates of a public
        column's values to one of the whole, with their shares in the sample or, as `{column: {value: share}}`, in
        the population. Public columns with categories may be among the `names`.

        `weights` are survey weights (respondents stand for unequal numbers of people), `frequencies` say how many
        equal reports a row stands for: a public column, or a number for each row.

        `method` is "inversion" (unbiased; Huang & Du 2008), "blue" (best linear unbiased weights), "em" (maximum
        likelihood), "simplex" (the distribution nearest to the inversion) or "model" (a log-linear model of all
        joint cells, which fills in what nobody was asked together). "best", the default, is the inversion, and for
        plans that ask everyone a few of the attributes least squares over what all of them were asked.
        """
        if frequencies is not None and self.frequencies is not None:
            rule = f"must be left out: the rows of these Reports have theirs, in {self.frequencies!r}"
            raise SottovoceError("frequencies", rule, frequencies)
        if names is not None:
            names = checked_names("names", names, known=(*self.plan.schema.names, *self.plan.public_names))
        options: dict[str, Any] = {
            "weights": weights,
            "frequencies": self.frequencies if frequencies is None else frequencies,
            "method": method,
            "target": target,
            "progress": progress,
        }
        if not isinstance(progress, bool):
            return self._estimate(names, by, strata, options)
        with progress_line(progress, "estimating") as advance:
            return self._estimate(names, by, strata, options | {"progress": advance})

    def _estimate(
        self, names: list[str] | None, by: Names | None, strata: "Strata | None", options: dict[str, Any]
    ) -> "Estimate | Estimates":
        from sottovoce.estimates.proportions import estimate_proportions

        if names is None or by is not None or strata is not None or options["method"] == "model" or self.plan.public:
            from sottovoce.reports.estimation import estimate_from

            return estimate_from(self, names, by, strata, options)
        estimate = estimate_proportions(self.source("estimate"), self.plan, names, **options)
        return replace(estimate, origin=self.respondents())

    def test(self, first: str, second: str, *, progress: Progress | bool | None = None) -> "IndependenceTest":
        """Test that two attributes, or an attribute and a public column, are independent."""
        from sottovoce.estimates.independence import independence_test
        from sottovoce.reports.views import with_public_attributes

        for parameter, name in (("first", first), ("second", second)):
            one_of(parameter, name, (*self.plan.schema.names, *self.plan.public_names))
        plan, source = with_public_attributes(self.plan, [first, second]), self.source("test")
        with progress_line(progress, "testing") as advance:
            return independence_test(source, plan, first, second, frequencies=self.frequencies, progress=advance)

    def supports(
        self,
        itemsets: Iterable[Any],
        *,
        name: str | None = None,
        sizes: str | Sequence[int] | None = None,
        target: Target = "population",
    ) -> "Supports":
        """Estimate the supports of some sets of items: the shares of respondents who hold all items of a set.

        Under cut-and-paste the `sizes` of the true transactions must be known: a public column, or a number for
        each report.
        """
        from sottovoce.estimates.itemsets import estimate_supports, estimate_supports_by_size
        from sottovoce.reports.transactions import bitsets_by_size

        by_size = bitsets_by_size(self._table, self.plan, sizes)
        if by_size is None:
            return estimate_supports(self.as_counter(), self.plan, itemsets, attribute=name, target=target)
        return estimate_supports_by_size(by_size, self.plan, itemsets, attribute=name, target=target)

    def two_samples(self, other: "Reports", names: Names) -> "TwoSamples":
        """Estimate sensitive and unrelated answers from two samples, asked with different probabilities (Greenberg)."""
        from sottovoce.estimates.two_samples import estimate_two_samples

        if not isinstance(other, Reports):
            raise SottovoceError("other", "must be the Reports of the second sample", type(other))
        return estimate_two_samples(self.as_counter(), self.plan, other.as_counter(), other.plan, names)

    def itemsets(
        self,
        min_support: float = 0.01,
        *,
        names: Names | None = None,
        selection: "Selection" = "smoothed",
        model: bool = False,
        longest: int | None = None,
        sizes: str | Sequence[int] | None = None,
        target: Target = "population",
        progress: Any = None,
        **halves: "Unpack[HalvesOptions]",
    ) -> "Itemsets":
        """Find the sets of items, or of attribute = value, that at least `min_support` of the respondents hold.

        `selection` says which candidates are reported: "smoothed" (judged by their subsets, too), "threshold" or
        `Recall(.9)`. With `model`, long sets are judged by a model of joint cells. `sizes` are those of the true
        transactions, under cut-and-paste. With `halves=True` a random half of the reports (`rng`) picks
        the sets, and the other half estimates them, so that intervals need no adjustment for having been picked.
        """
        from sottovoce.mining.itemsets.frequent import frequent_itemsets
        from sottovoce.mining.itemsets.pattern_model import modelled_itemsets
        from sottovoce.reports.transactions import bitsets_by_size

        if model and (selection != "smoothed" or target != "population"):
            raise SottovoceError("model", "must be left out where a selection or the table is asked for", model)
        by_size = bitsets_by_size(self._table, self.plan, sizes)
        table = self._mined(halves=halves.get("halves", False)) if by_size is None else by_size
        options: dict[str, Any] = {"attributes": names, "longest": longest, **halves}
        options |= {} if model else {"selection": selection, "target": target}
        mine = modelled_itemsets if model else frequent_itemsets
        if not isinstance(progress, bool):
            return mine(table, self.plan, min_support, progress=progress, **options)
        with progress_line(progress, "counting sets") as line:
            return mine(table, self.plan, min_support, progress=_by_length(line), **options)

    def rules(self, min_support: float = 0.01, min_confidence: float = 0.8, **options: Any) -> "Rules":
        """Find association rules, all or the `top` ones of a measure (`sort_by`); options else as in `itemsets`."""
        ranked = {name: options.pop(name) for name in ("sort_by", "top") if name in options}
        return self.itemsets(min_support, **options).rules(min_confidence, **ranked)

    def classify(
        self,
        label: str,
        *,
        features: Sequence[str] | None = None,
        model: Literal["naive_bayes", "tree"] = "naive_bayes",
        **options: Any,
    ) -> "DisguisedClassifier":
        """Learn to predict an attribute from others; further options are those of `NaiveBayes` or `DecisionTree`."""
        from sottovoce.mining.classify.decision_tree import DecisionTree
        from sottovoce.mining.classify.naive_bayes import NaiveBayes

        kinds: dict[str, Any] = {"naive_bayes": NaiveBayes, "tree": DecisionTree}
        kind = kinds[one_of("model", model, tuple(kinds))]
        classifier: DisguisedClassifier = kind(self.plan, label, attributes=features, **options)
        classifier.fit(self)
        return classifier

    def regress(self, formula: str, **options: "Unpack[RegressOptions]") -> "Regression":
        """Explain an outcome by predictors, disguised or not: "evaded ~ age + C(region)"; options as of `regress`."""
        from sottovoce.mining.regression.regress import regress

        return regress(self, formula, **options)

    def source(self, parameter: str) -> Source:
        """The table as a source of rows, with public columns as labels and numbers whatever file they come from."""
        if self._transactions:
            raise SottovoceError(parameter, "must be asked of a table; these are transactions", type(self._table))
        source = open_source(self._table.to_table() if isinstance(self._table, Tally) else self._table)
        if isinstance(self._table, Tally):
            source.ordered = False  # its rows are combinations, not respondents
        if isinstance(source, CsvSource) and self.plan.public:
            from sottovoce.reports.views import LabelledSource

            return LabelledSource(source, self.plan.public)
        return source

    def as_source(self) -> Source:
        """The reports as a source with a row for each, so that every function that takes a table takes them, too."""
        source = self.source("reports")
        if self.frequencies is None:
            return source
        from sottovoce.reports.views import RepeatedSource

        return RepeatedSource(source, self.frequencies)

    def as_counter(self) -> Counter:
        """The reports as counts, which is what estimators ask for."""
        if isinstance(self._table, Tally):
            return self._table
        if not self._transactions:
            return as_counter(self.source("reports"), self.frequencies)
        from sottovoce.reports.transactions import as_bitsets

        return as_counter(as_bitsets(self._table, self.plan), self.frequencies)

    def respondents(self, **group: Any) -> "Respondents":
        """Which respondents these are, so that a difference of estimates can tell whether they overlap."""
        from sottovoce.estimates.estimate import Respondents

        chosen = self._group | {name: (value,) for name, value in group.items()}
        return Respondents(self._origins, tuple(sorted(chosen.items())))

    def __repr__(self) -> str:
        """Number of reports, what they are about, and the odds they were disguised under."""
        names = self.plan.schema.names
        shown = ", ".join(names[:MOST_NAMED]) + (", ..." if len(names) > MOST_NAMED else "")
        group = "".join(f", {name} = {' or '.join(map(str, values))}" for name, values in self._group.items())
        return f"{len(self)} reports of {shown}{group}, disguised at {self.plan.guarantee}"

    def _repr_html_(self) -> str:
        """The first rows, for notebooks."""
        if self._transactions or (isinstance(self._table, Tally) and self._table.schema is None):
            return html_text(repr(self))
        first = next(iter(self.source("reports").batches(rows=5)), {})
        rows = zip(*(list(values[:5]) for values in first.values()), strict=True)
        return html_table(repr(self), list(first), rows, notes=["the first rows"])

    def _mined(self, *, halves: bool) -> Any:
        """What sets are searched in: transactions, rows, or counts where rows stand for several reports."""
        if self._transactions:
            return self._table
        counted = self.frequencies is not None or isinstance(self._table, Tally)
        return self.as_counter() if counted and not halves else self.as_source()

    def _derived(self, table: Any) -> "Reports":
        """The same plan and respondents, another table."""
        made = Reports.just_disguised(table, self.plan)
        made.frequencies, made._group, made._origins = self.frequencies, dict(self._group), self._origins
        return made


def _identity(table: Any) -> Any:
    """What two Reports of the same respondents have in common: the file, or the table in memory."""
    path = table.path if isinstance(table, Tally) else table
    return ("file", str(Path(path).resolve())) if isinstance(path, str | Path) else ("memory", id(table))


def _by_length(line: Progress | None) -> Callable[[int, int, int], object] | None:
    """Progress of a search that goes from length to length."""
    return None if line is None else lambda length, done, total: line(done, total)
