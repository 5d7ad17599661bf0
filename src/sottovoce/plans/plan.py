"""Plans: a schema, the mechanism of each group of attributes, and the guarantee of the whole record."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from hashlib import sha256
from math import prod
from operator import mul
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.channels.channel import Channel
from sottovoce.channels.kronecker import Kronecker
from sottovoce.display import html_table
from sottovoce.errors import SottovoceError
from sottovoce.exact import Number, OddsLike, odds_asked, ratio_text
from sottovoce.mechanisms.coins import Coin
from sottovoce.mechanisms.mechanism import Mechanism
from sottovoce.mechanisms.sampling import Sampling
from sottovoce.plans.canonical import canonical_bytes
from sottovoce.plans.guarantee import Guarantee, odds_text
from sottovoce.plans.public import PublicColumn, checked_public
from sottovoce.schemas.attribute import Label, Variable
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.scheme import Scheme

SOURCES = ("public", "pilot", "private")
"""Where the prior that a plan was designed for may come from."""

MOST_SHOWN = 20
"""Groups that a printed plan lists."""

MOST_VIEWS = 64
LARGEST_KEPT_VIEW = 2**16
"""Number of views that a plan keeps, and the joint cells beyond which it keeps none."""


@dataclass(frozen=True)
class PriorSource:
    """Where the prior that a plan was designed for comes from.

    `source` is "public" (a published table), "pilot" (an earlier disguised sample) or "private". A private prior is
    refused unless `forced`, which the plan then states.

    >>> PriorSource("public", "census 2021, table 4").to_json()
    {'source': 'public', 'note': 'census 2021, table 4'}
    """

    source: str
    note: str
    forced: bool = False

    def __post_init__(self) -> None:
        """Check source and note."""
        if self.source not in SOURCES:
            raise SottovoceError("source", f"must be one of {', '.join(SOURCES)}", self.source)
        if not isinstance(self.note, str) or not self.note:
            raise SottovoceError("note", "must say where the prior comes from", self.note)
        if self.source == "private" and not self.forced:
            rule = "must not be private: the plan is public and would publish it (force it with forced=True)"
            raise SottovoceError("source", rule, self.source)

    def to_json(self) -> dict[str, Any]:
        """Return source, note and, if it is true, `forced`."""
        json: dict[str, Any] = {"source": self.source, "note": self.note}
        return json | {"forced": True} if self.forced else json


@dataclass(frozen=True)
class Group:
    """Attributes that share their coins, the name of their scheme, and its mechanism."""

    attributes: tuple[str, ...]
    scheme: str
    mechanism: Mechanism

    @property
    def guarantee(self) -> Guarantee:
        """Guarantee of the group's report, computed from the integers of its mechanism."""
        return Guarantee(self.mechanism.channel.odds)

    def to_json(self) -> dict[str, Any]:
        """Return attributes, scheme and mechanism."""
        return {"attributes": list(self.attributes), "scheme": self.scheme, "mechanism": self.mechanism.to_json()}


@dataclass(frozen=True)
class Plan:
    """Groups with independent coins that cover every attribute of a schema once, within a promised guarantee.

    Columns in `public` are not disguised: they are passed on with the reports, and nothing protects them.

    >>> from sottovoce.schemas.attribute import Attribute, boolean
    >>> from sottovoce.schemes.warner import Warner
    >>> schema = Schema([boolean("evaded tax"), Attribute("drug", ["never", "once", "often"])])
    >>> plan = Plan.of(schema, {"evaded tax": Warner(p=3 / 4), "drug": Warner(p=3 / 5)})
    >>> print(plan.guarantee)
    9 : 1 (epsilon 2.19723)
    """

    schema: Schema
    groups: tuple[Group, ...]
    promise: Guarantee
    prior: PriorSource | None = None
    public: tuple[PublicColumn, ...] = ()

    def __post_init__(self) -> None:
        """Check that every attribute is disguised once, that no public column is, and that the promise is kept."""
        grouped = [name for group in self.groups for name in group.attributes]
        for name in grouped:
            if name not in self.schema.names or grouped.count(name) > 1:
                raise SottovoceError("groups", f"must name attributes of the schema once each; {name!r}", grouped)
        for name in self.schema.names:
            if name not in grouped:
                raise SottovoceError("groups", f"must cover every attribute; {name!r} is not disguised", grouped)
        # The schema of the reports refuses columns that clash or cannot be named.
        disguised = (*self.schema.names, *self.report_schema.names)
        object.__setattr__(self, "public", checked_public(self.public, disguised))
        if not self.guarantee.within(self.promise):
            allowed = "none" if self.promise.odds is None else odds_text(self.promise.odds)
            rule = f"must be at least those of the whole record: {self._arithmetic()}"
            raise SottovoceError("odds", rule, allowed)

    def __str__(self) -> str:
        """Return the guarantee of the whole record, and a line for each group."""
        lines = [f"Plan with odds {self.guarantee}"]
        lines += [f"  {', '.join(names)} ({sizes}): {scheme}, {odds}" for names, sizes, scheme, odds in self._rows()]
        if len(self.groups) > MOST_SHOWN:
            lines.append(f"  ... and {len(self.groups) - MOST_SHOWN} more")
        return "\n".join([*lines, *self._notes()])

    def __repr__(self) -> str:
        """Return what `print` shows."""
        return str(self)

    def _repr_html_(self) -> str:
        """Table of the groups, for notebooks."""
        rows = [(", ".join(names), *rest) for names, *rest in self._rows(len(self.groups))]
        columns = ("attributes", "categories", "scheme", "odds")
        return html_table(f"Plan with odds {self.guarantee}", columns, rows, self._notes())

    def _rows(self, most: int = MOST_SHOWN) -> Iterator[tuple[tuple[str, ...], str, str, str]]:
        for group in self.groups[:most]:
            sizes = " x ".join(size_text(self.schema[name]) for name in group.attributes)
            yield group.attributes, sizes, group.scheme, str(group.guarantee)

    def _notes(self) -> list[str]:
        public = [f"Public, not protected: {', '.join(self.public_names)}"] if self.public else []
        return [*([self.sampling_text] if self.sampling_text else []), *public]

    @cached_property
    def answers_per_report(self) -> tuple[int, int]:
        """Least and largest number of a person's answers that a report depends on.

        >>> from sottovoce.schemas.attribute import boolean
        >>> from sottovoce.schemes.attribute_sampling import AttributeSampling
        >>> schema = Schema(map(boolean, "abc"))
        >>> Plan.of(schema, {schema.names: AttributeSampling(odds=9, size=2)}).answers_per_report
        (2, 2)
        """
        least = most = 0
        for group in self.groups:
            counts = [len(group.attributes)]
            if isinstance(group.mechanism, Sampling):
                counts = [len(axes) for axes, _ in group.mechanism.parts]
            least, most = least + min(counts), most + max(counts)
        return least, most

    @property
    def sampling_text(self) -> str:
        """Sentence about how many answers a report speaks of; empty if it speaks of all."""
        (least, most), total = self.answers_per_report, len(self.schema.names)
        if least == total:
            return ""
        number = str(most) if least == most else f"{least} to {most}"
        return f"Each report speaks of {number} of {total} answers, drawn at random."

    @classmethod
    def of(
        cls,
        schema: Schema,
        schemes: Mapping[str | tuple[str, ...], Scheme],
        *,
        odds: OddsLike | None = None,
        epsilon: Number | None = None,
        prior: PriorSource | None = None,
        public: Iterable[PublicColumn] = (),
    ) -> "Plan":
        """Make a plan from schemes of attributes, or of tuples of them; refuse guarantees above `odds` or `epsilon`.

        Columns in `public`, variables with categories or `PublicNumber`s, are passed on as they are.
        """
        groups = tuple(_group(schema, names, scheme) for names, scheme in schemes.items())
        if odds is None and epsilon is None:
            promise = _composed(groups)
        else:
            promise = Guarantee(odds_asked(odds=odds, epsilon=epsilon))
        return cls(schema, groups, promise, prior, tuple(public))

    def with_public(self, public: Iterable[PublicColumn]) -> "Plan":
        """Return the same plan with these public columns."""
        return replace(self, public=tuple(public))

    @cached_property
    def public_names(self) -> tuple[str, ...]:
        """Names of the public columns, in order."""
        return tuple(column.name for column in self.public)

    def to_json(self) -> dict[str, Any]:
        """Return the plan as JSON: version 1, or version 2 if it has public columns."""
        json = {
            "version": 1,
            "schema": self.schema.to_json(),
            "groups": [group.to_json() for group in self.groups],
            "odds": None if self.promise.odds is None else ratio_text(self.promise.odds),
            "prior": None if self.prior is None else self.prior.to_json(),
        }
        return json | {"version": 2, "public": [column.to_json() for column in self.public]} if self.public else json

    @cached_property
    def hash(self) -> str:
        """SHA-256 of the canonical bytes of the JSON in hexadecimal, which identifies the plan."""
        return sha256(canonical_bytes(self.to_json())).hexdigest()

    @cached_property
    def guarantee(self) -> Guarantee:
        """Guarantee of the whole record, given its public columns: the product over the groups, within the promise."""
        return replace(_composed(self.groups), public=self.public_names)

    def guarantee_of(self, attribute: str) -> Guarantee:
        """Guarantee of one attribute: that of its group."""
        return self.group_of(attribute).guarantee

    def guarantee_within(self, changes: int) -> Guarantee:
        """Guarantee between records that differ in at most so many answers, or items of a set.

        For a set of a thousand items the odds of the whole record are astronomical; those between sets that differ in
        a few items are what a respondent can rely on.
        """
        return Guarantee(self.channel().odds_within(changes))

    def group_of(self, attribute: str) -> Group:
        """Group of an attribute."""
        self.schema[attribute]
        return next(group for group in self.groups if attribute in group.attributes)

    def in_group_order(self, attributes: Iterable[str]) -> tuple[str, ...]:
        """Attributes in the order of the axes of `channel`: group by group."""
        wanted = set(attributes)
        return tuple(name for group in self.groups for name in group.attributes if name in wanted)

    def cell_order(self, attributes: Sequence[str]) -> NDArray[np.intp]:
        """Index in `channel` of every joint cell of these attributes, in the order given."""
        grouped = self.in_group_order(attributes)
        sizes = [self.schema.project([name]).cells for name in grouped]
        cells = np.arange(prod(sizes)).reshape(sizes)
        return cells.transpose([grouped.index(name) for name in attributes]).ravel()

    def channel(self, attributes: Sequence[str] | None = None) -> Channel:
        """Channel of some attributes, or all, `in_group_order`: a product of the groups' channels, never built."""
        wanted = set(self.schema.names if attributes is None else self.schema.project(attributes).names)
        parts = [self._marginal(group, wanted) for group in self.groups if wanted & set(group.attributes)]
        return parts[0] if len(parts) == 1 else Kronecker(parts)

    @cached_property
    def coins(self) -> tuple[Coin, ...]:
        """Coins of one record: those of each group, in order."""
        return tuple(coin for group in self.groups for coin in group.mechanism.coins)

    @cached_property
    def report_schema(self) -> Schema:
        """Schema of the reports, in the order of the schema of truths."""
        names, placed = self.schema.names, []
        for group, reports in zip(self.groups, self._reports, strict=True):
            first = min(names.index(name) for name in group.attributes)
            placed += [(names.index(v.name) if v.name in names else first, v) for v in reports]
        return Schema(variable for _, variable in sorted(placed, key=lambda pair: pair[0]))

    def truth_columns(self, group: Group) -> list[int]:
        """Indices of a group's truths among the coded columns of the schema."""
        return _positions(self.schema, group.attributes)

    def report_columns(self, group: Group) -> list[int]:
        """Indices of a group's reports among the coded columns of the report schema."""
        return _positions(self.report_schema, self._reports[self.groups.index(group)].names)

    def report_names(self, attributes: Sequence[str]) -> tuple[str, ...]:
        """Report columns that depend on some attributes, in the order of the axes of `channel`.

        Where the report of a group has other columns than its attributes, these are all of the group's columns.
        """
        wanted = self.schema.project(attributes).names
        columns: list[str] = []
        for group, reports in zip(self.groups, self._reports, strict=True):
            asked = [name for name in group.attributes if name in wanted]
            columns += asked if asked and reports.names == group.attributes else reports.names if asked else ()
        return tuple(columns)

    def categories_of(self, names: Sequence[str]) -> tuple[tuple[Label, ...], ...]:
        """Categories of some attributes; item sets have none and are refused."""
        found = []
        for name in names:
            categories = getattr(self.schema[name], "categories", None)
            if categories is None:
                rule = "must have categories; for sets of items see estimate_supports"
                raise SottovoceError("attributes", rule, name)
            found.append(categories)
        return tuple(found)

    def view(self, names: Sequence[str]) -> "PlanView":
        """Everything that estimators need to know about some attributes, looked up once.

        >>> from sottovoce.schemas.attribute import Attribute, boolean
        >>> from sottovoce.schemes.warner import Warner
        >>> schema = Schema([boolean("a"), Attribute("b", ["x", "y", "z"]), boolean("c")])
        >>> plan = Plan.of(schema, {name: Warner(p=3 / 4) for name in ("c", "b", "a")})
        >>> view = plan.view(["a", "c"])
        >>> view.columns, view.categories, view.order
        (('c', 'a'), ((False, True), (False, True)), array([0, 2, 1, 3]))
        """
        key = tuple(names)
        view = self._views.get(key)
        if view is None:
            view = PlanView(self, key, self.report_schema.project(self.report_names(key)), self.channel(key))
            if view.channel.n_in <= LARGEST_KEPT_VIEW:
                if len(self._views) >= MOST_VIEWS:
                    self._views.clear()
                self._views[key] = view
        return view

    def with_inseparable(self, names: Sequence[str]) -> tuple[str, ...]:
        """Some attributes, followed by the others of every group whose report says nothing of a part of it alone.

        >>> from sottovoce.schemas.attribute import boolean
        >>> from sottovoce.schemes.subset_selection import SubsetSelection
        >>> plan = Plan.of(Schema([boolean("a"), boolean("b")]), {("b", "a"): SubsetSelection(odds=3)})
        >>> plan.with_inseparable(["a"])
        ('a', 'b')
        """
        wanted = self.schema.project(names).names
        others: list[str] = []
        for group in self.groups:
            asked = set(group.attributes) & set(wanted)
            if asked and not self._splits(group, asked):
                others += [name for name in group.attributes if name not in asked]
        return (*wanted, *others)

    @cached_property
    def _views(self) -> dict[tuple[str, ...], "PlanView"]:
        return {}

    @cached_property
    def _reports(self) -> list[Schema]:
        return [g.mechanism.report_schema(self.schema.project(g.attributes)) for g in self.groups]

    def _marginal(self, group: Group, wanted: set[str]) -> Channel:
        schema = self.schema.project(group.attributes)
        axes = _positions(schema, (name for name in schema.names if name in wanted))
        return group.mechanism.channel.marginal(axes)

    def _splits(self, group: Group, wanted: set[str]) -> bool:
        """Whether a group's report has a part for these attributes alone."""
        try:
            self._marginal(group, wanted)
        except SottovoceError:
            return False
        return True

    def _arithmetic(self) -> str:
        """Product of the groups' odds, written out."""
        if self.guarantee.odds is None:
            return "they are unbounded"
        factors = [odds_text(g.guarantee.odds) for g in self.groups if g.guarantee.odds is not None]
        return f"{' x '.join(factors)} = {odds_text(self.guarantee.odds)}"


def size_text(variable: Variable) -> str:
    """Number of categories of a variable, or of its items.

    >>> from sottovoce.schemas.item_set import ItemSet
    >>> size_text(ItemSet("basket", ["ale", "bread"]))
    '2 items'
    """
    return str(variable.sizes[0]) if len(variable.sizes) == 1 else f"{len(variable.sizes)} items"


def check_plan(plan: Any) -> None:
    """Refuse anything that is not a plan, such as a table where arguments were swapped."""
    if not isinstance(plan, Plan):
        raise SottovoceError("plan", "must be a Plan (read_plan reads one from a file)", type(plan))


@dataclass(frozen=True, eq=False)
class PlanView:
    """What a plan says about the attributes `names`: their report columns and their channel.

    `reports` is the schema of the report columns that depend on them, in the order of the axes of `channel`.
    """

    plan: Plan
    names: tuple[str, ...]
    reports: Schema
    channel: Channel

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the report columns."""
        return self.reports.names

    @cached_property
    def order(self) -> NDArray[np.intp]:
        """Index in `channel` of every joint cell of `names`, in their order, the last varying fastest."""
        return self.plan.cell_order(self.names)

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Number of cells of each attribute."""
        return tuple(prod(self.plan.schema[name].sizes) for name in self.names)

    @cached_property
    def categories(self) -> tuple[tuple[Label, ...], ...]:
        """Categories of each attribute; item sets have none and are refused."""
        return self.plan.categories_of(self.names)

    def __repr__(self) -> str:
        """Return names, report columns and the size of the channel."""
        size = f"{self.channel.n_out} x {self.channel.n_in}"
        return f"PlanView({', '.join(self.names)}; reports {', '.join(self.columns)}; channel {size})"


def _group(schema: Schema, names: str | tuple[str, ...], scheme: Scheme) -> Group:
    if not isinstance(scheme, Scheme):
        raise SottovoceError("schemes", "must map attributes to schemes", scheme)
    attributes = (names,) if isinstance(names, str) else tuple(names)
    return Group(attributes, scheme.name, scheme.mechanism(schema.project(attributes).sizes))


def _composed(groups: Sequence[Group]) -> Guarantee:
    if not groups:
        raise SottovoceError("groups", "must be at least one", groups)
    return reduce(mul, (group.guarantee for group in groups))


def _positions(schema: Schema, names: Iterable[str]) -> list[int]:
    everything = range(len(schema.sizes))
    return [position for name in names for position in everything[schema.columns_of(name)]]
