"""Plans: a schema, the scheme of each group of attributes, and the guarantee of the whole record."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from math import prod
from operator import mul
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.channels.channel import Channel
from sottovoce.channels.kronecker import Kronecker
from sottovoce.errors import SottovoceError
from sottovoce.exact import Number, OddsLike
from sottovoce.mechanisms.coins import Coin
from sottovoce.mechanisms.mechanism import Mechanism
from sottovoce.plans.guarantee import Guarantee, odds_text
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.scheme import Scheme, odds_asked

SOURCES = ("public", "pilot", "private")


@dataclass(frozen=True)
class PriorSource:
    """`source` is "public" (a published table), "pilot" (an earlier disguised sample) or "private".

    Private priors are refused unless forced, and a forced one says so in the plan for everyone to see.

    >>> PriorSource("public", "census 2021, table 4").to_json()
    {'source': 'public', 'note': 'census 2021, table 4'}
    """

    source: str
    note: str
    forced: bool = False

    def __post_init__(self) -> None:
        """Refuse unknown sources, empty notes, and private data unless forced."""
        if self.source not in SOURCES:
            raise SottovoceError("source", f"must be one of {', '.join(SOURCES)}", self.source)
        if not isinstance(self.note, str) or not self.note:
            raise SottovoceError("note", "must say where the prior comes from", self.note)
        if self.source == "private" and not self.forced:
            rule = "must not be private: the plan is public and would publish it (force it with forced=True)"
            raise SottovoceError("source", rule, self.source)

    def to_json(self) -> dict[str, Any]:
        """Source and note, and that it was forced if it was."""
        json: dict[str, Any] = {"source": self.source, "note": self.note}
        return json | {"forced": True} if self.forced else json


@dataclass(frozen=True)
class Group:
    """Attributes that share their coins, the name of the scheme, and the mechanism it became."""

    attributes: tuple[str, ...]
    scheme: str
    mechanism: Mechanism

    @property
    def guarantee(self) -> Guarantee:
        """Odds of the group's report, from the integers of its mechanism."""
        return Guarantee(self.mechanism.channel.odds)

    def to_json(self) -> dict[str, Any]:
        """Attributes, scheme and integers."""
        return {"attributes": list(self.attributes), "scheme": self.scheme, "mechanism": self.mechanism.to_json()}


@dataclass(frozen=True)
class Plan:
    """Groups with independent coins that cover every attribute once, within a promise.

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

    def __post_init__(self) -> None:
        """Check that every attribute is disguised once, and that the promise is kept."""
        named = [name for group in self.groups for name in group.attributes]
        for name in named:
            if name not in self.schema.names or named.count(name) > 1:
                raise SottovoceError("groups", f"must name attributes of the schema once each; {name!r}", named)
        for name in self.schema.names:
            if name not in named:
                raise SottovoceError("groups", f"must cover every attribute; {name!r} is not disguised", named)
        self.report_schema  # noqa: B018  # refuses reports that no column could hold or name
        if not self.guarantee.within(self.promise):
            allowed = "none" if self.promise.odds is None else odds_text(self.promise.odds)
            rule = f"must be at least those of the whole record: {self._arithmetic()}"
            raise SottovoceError("odds", rule, allowed)

    @classmethod
    def of(
        cls,
        schema: Schema,
        schemes: Mapping[str | tuple[str, ...], Scheme],
        *,
        odds: OddsLike | None = None,
        epsilon: Number | None = None,
        prior: PriorSource | None = None,
    ) -> "Plan":
        """Bind schemes to attributes, or tuples of them; refuse a whole above `odds` or `epsilon`."""
        groups = tuple(_group(schema, names, scheme) for names, scheme in schemes.items())
        if odds is None and epsilon is None:
            promise = _composed(groups)
        else:
            promise = Guarantee(odds_asked(odds=odds, epsilon=epsilon))
        return cls(schema, groups, promise, prior)

    @cached_property
    def guarantee(self) -> Guarantee:
        """What the whole record really gets: the product over the groups, never above the promise."""
        return _composed(self.groups)

    def guarantee_of(self, attribute: str) -> Guarantee:
        """What one attribute gets: the odds of the group whose coins it shares."""
        return self.group_of(attribute).guarantee

    def guarantee_within(self, changes: int) -> Guarantee:
        """What protects two records that differ in at most so many answers, or items of a set.

        For a set of a thousand items the whole record's odds are astronomical; those of one item, or
        of a few, are what a person can rely on.
        """
        return Guarantee(self.channel().odds_within(changes))

    def group_of(self, attribute: str) -> Group:
        """Group that disguises an attribute."""
        self.schema[attribute]
        return next(group for group in self.groups if attribute in group.attributes)

    def in_group_order(self, attributes: Iterable[str]) -> tuple[str, ...]:
        """Arrange attributes as `channel` arranges its cells: group by group."""
        wanted = set(attributes)
        return tuple(name for group in self.groups for name in group.attributes if name in wanted)

    def cell_order(self, attributes: Sequence[str]) -> NDArray[np.intp]:
        """Number among `channel`'s cells of every joint cell of these attributes, in the order given."""
        grouped = self.in_group_order(attributes)
        sizes = [self.schema.project([name]).cells for name in grouped]
        cells = np.arange(prod(sizes)).reshape(sizes)
        return cells.transpose([grouped.index(name) for name in attributes]).ravel()

    def channel(self, attributes: Sequence[str] | None = None) -> Channel:
        """Channel of some attributes, or all, `in_group_order`: a product, never built."""
        wanted = set(self.schema.names if attributes is None else self.schema.project(attributes).names)
        parts = [self._marginal(group, wanted) for group in self.groups if wanted & set(group.attributes)]
        return parts[0] if len(parts) == 1 else Kronecker(parts)

    @cached_property
    def coins(self) -> tuple[Coin, ...]:
        """Coins of one record: those of each group, in order."""
        return tuple(coin for group in self.groups for coin in group.mechanism.coins)

    @cached_property
    def report_schema(self) -> Schema:
        """Columns of the reports: the truths' own where they look alike, in the schema's order."""
        placed = []
        for group, reports in zip(self.groups, self._reports, strict=True):
            first = min(self.schema.names.index(name) for name in group.attributes)
            same = self.schema.names
            placed += [(same.index(v.name) if v.name in same else first, v) for v in reports]
        return Schema(variable for _, variable in sorted(placed, key=lambda pair: pair[0]))

    def truth_columns(self, group: Group) -> list[int]:
        """Where a group's truths stand among the coded columns of the schema."""
        return _positions(self.schema, group.attributes)

    def report_columns(self, group: Group) -> list[int]:
        """Where a group's reports stand among the coded columns of the report schema."""
        own = self._reports[self.groups.index(group)]
        return _positions(self.report_schema, own.names)

    def report_names(self, attributes: Sequence[str]) -> tuple[str, ...]:
        """Report columns that speak of some attributes, in the order of `channel`'s cells.

        A group whose reports are not columns of its attributes speaks with all its columns.
        """
        wanted = self.schema.project(attributes).names
        found: list[str] = []
        for group, reports in zip(self.groups, self._reports, strict=True):
            own = [name for name in group.attributes if name in wanted]
            found += own if own and reports.names == group.attributes else reports.names if own else ()
        return tuple(found)

    @cached_property
    def _reports(self) -> list[Schema]:
        return [g.mechanism.report_schema(self.schema.project(g.attributes)) for g in self.groups]

    def _marginal(self, group: Group, wanted: set[str]) -> Channel:
        own = self.schema.project(group.attributes)
        axes = [a for name in own.names if name in wanted for a in range(*own.columns_of(name).indices(len(own.sizes)))]
        return group.mechanism.channel.marginal(axes)

    def _arithmetic(self) -> str:
        """Show how the groups' odds multiply."""
        if self.guarantee.odds is None:
            return "they are unbounded"
        factors = [odds_text(g.guarantee.odds) for g in self.groups if g.guarantee.odds is not None]
        return f"{' x '.join(factors)} = {odds_text(self.guarantee.odds)}"


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
