"""Estimates of several groups or attributes: a mapping that prints, tabulates and plots as one."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sottovoce.errors import SottovoceError
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.groups import stratified
from sottovoce.estimates.presentation import ResultTable, json_row, plot_intervals

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Estimates(ResultTable, Mapping[Any, Estimate]):
    """An `Estimate` for each value of some public columns (`by`), or for each attribute.

    >>> from sottovoce.plans.budget import new_plan
    >>> from sottovoce.estimates.proportions import estimate_by
    >>> from sottovoce.schemas.attribute import boolean
    >>> from sottovoce.schemas.schema import Schema
    >>> plan = new_plan(Schema([boolean("evaded tax")]), odds=3)
    >>> reports = {"evaded tax": [True, False] * 40, "town": ["Bonn"] * 40 + ["Ulm"] * 40}
    >>> towns = Estimates(estimate_by(reports, plan, "evaded tax", "town"), ["town"])
    >>> list(towns), towns["Ulm"].respondents
    (['Bonn', 'Ulm'], 40)
    """

    def __init__(self, estimates: Mapping[Any, Estimate], by: Sequence[str] = ()) -> None:
        """Keep the estimates in their order."""
        self._estimates = dict(estimates)
        self.by = tuple(by)

    def __getitem__(self, key: Any) -> Estimate:
        """Estimate of one group or attribute; an unknown one is refused with those there are."""
        try:
            estimate: Estimate = self._estimates[key]
        except (KeyError, TypeError):
            what = " x ".join(self.by) or "attribute"
            raise SottovoceError(what, f"must be one of {', '.join(map(repr, self._estimates))}", key) from None
        return estimate

    def __contains__(self, key: object) -> bool:
        """Whether there is an estimate of this group or attribute."""
        return key in self._estimates

    def __iter__(self) -> Iterator[Any]:
        """Groups or attributes, in order."""
        return iter(self._estimates)

    def __len__(self) -> int:
        """Number of estimates."""
        return len(self._estimates)

    def stratified(self, shares: Mapping[Any, Any] | None = None) -> Estimate:
        """Join the groups to one estimate of the whole, with their shares in the population if they are known."""
        return stratified(self, shares)

    @property
    def headline(self) -> str:
        """What is estimated, and by what."""
        first = next(iter(self.values()), None)
        if not self.by or first is None:
            return f"proportions of {len(self)} attributes"
        return f"{' x '.join(first.attributes)} by {', '.join(self.by)}: {len(self)} groups"

    def to_rows(self, level: float = 0.95, **options: Any) -> list[dict[str, Any]]:
        """Return the rows of all estimates with their group; of attributes by themselves, with the attribute's name."""
        rows = []
        for key, estimate in self.items():
            for row in estimate.to_rows(level, **options):
                labels = row.pop("values")
                shown = labels if self.by else {"category": next(iter(labels.values()))}
                rows.append({"values": self._labels(key) | shown, **row})
        return rows

    def to_json(self, level: float = 0.95, **options: Any) -> dict[str, Any]:
        """Return everything as plain Python, for programs: the groups in order, each with its estimate."""
        groups = [
            {"group": json_row(self._labels(key)), **estimate.to_json(level, **options)}
            for key, estimate in self.items()
        ]
        return {"by": list(self.by), "groups": groups}

    def plot(self, level: float = 0.95, axes: "Axes | None" = None, **options: Any) -> "Axes":
        """Draw a dot with an interval for every cell of every group, on these matplotlib axes or new ones."""
        rows = self.to_rows(level, **options)
        labels = [", ".join(map(str, row["values"].values())) for row in rows]
        value, low, high = (np.array([row[name] for row in rows]) for name in ("estimate", "low", "high"))
        drawn = plot_intervals(labels, value, low, high, axes)
        drawn.set_xlabel(f"proportion, {100 * level:g} % intervals")
        drawn.set_title(self.headline, loc="left")
        return drawn

    @property
    def notes(self) -> list[str]:
        """Remarks on the estimates, each once."""
        return list(dict.fromkeys(note for estimate in self.values() for note in estimate.notes))

    def _labels(self, key: Any) -> dict[str, Any]:
        """Public columns and their values, or the name of an attribute."""
        return dict(zip(self.by, (key,) if len(self.by) == 1 else key, strict=True)) if self.by else {"attribute": key}
