"""Strata: one estimate of the whole from those of its parts, whose shares are known."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.channel.channel import Array
from sottovoce.errors import SottovoceError
from sottovoce.estimate.estimate import Estimate
from sottovoce.estimate.spread import Spread
from sottovoce.exact import distribution


@dataclass(frozen=True)
class CombinedSpread:
    """Covariance of `sum_h f_h p_h` for independent p_h: `sum_h f_h^2 V_h`."""

    spreads: tuple[Spread, ...]
    factors: tuple[float, ...]

    @cached_property
    def variances(self) -> Array:
        """Variance of every cell."""
        return np.asarray(sum(f**2 * s.variances for f, s in zip(self.factors, self.spreads, strict=True)))

    def covariance(self, cells: Sequence[int] | NDArray[np.intp]) -> Array:
        """Covariance matrix of some cells."""
        return np.asarray(sum(f**2 * s.covariance(cells) for f, s in zip(self.factors, self.spreads, strict=True)))


def stratified(estimates: Mapping[Any, Estimate], shares: Mapping[Any, Any] | None = None) -> Estimate:
    """Estimate of the whole from one of each stratum: `p = sum_h W_h p_h`, covariance `sum_h W_h^2 V_h`.

    The shares W are those of the strata in the whole, known from elsewhere (Cochran 1977, ch. 5). Left
    out, they are the sample's own: right for the table as target, and for a population sampled in
    proportion to its strata. A sample that was not planned so has random shares, whose scatter this leaves out:
    then give the population's, or estimate without strata.

    >>> from sottovoce.estimate.proportions import estimate_by
    >>> from sottovoce.plan.budget import new_plan
    >>> from sottovoce.schema.schema import Schema
    >>> from sottovoce.schema.attribute import boolean
    >>> plan = new_plan(Schema([boolean("evaded tax")]), odds=3)
    >>> reports = {"evaded tax": [True, False] * 40 + [False] * 80, "town": ["Bonn"] * 80 + ["Ulm"] * 80}
    >>> print(stratified(estimate_by(reports, plan, "evaded tax", "town"), {"Bonn": 0.9, "Ulm": 0.1}))
    evaded tax: 160 reports, proportions in the population by inversion, 2 strata
      False    0.6000 +- 0.1006  [ 0.4028,  0.7972]
      True     0.4000 +- 0.1006  [ 0.2028,  0.5972]
    """
    parts = list(estimates.values())
    if not parts:
        raise SottovoceError("estimates", "must be those of at least one stratum", estimates)
    first = parts[0]
    for part in parts[1:]:
        check_alike(first, part)
        if part.method != first.method or len(part.seen) != len(first.seen):
            raise SottovoceError("estimates", "must all be of one plan and method", part.method)
    factors = _shares(estimates, shares)
    value, seen = (sum(f * getattr(p, of) for f, p in zip(factors, parts, strict=True)) for of in ("value", "seen"))
    spread = CombinedSpread(tuple(part.spread for part in parts), factors)
    method = f"{first.method}, {len(parts)} strata"
    respondents = sum(part.respondents for part in parts)
    return Estimate(first.attributes, first.categories, value, spread, seen, respondents, first.target, method)


def check_alike(first: Estimate, second: Estimate) -> None:
    """Refuse estimates of different things."""
    for what in ("attributes", "categories", "target"):
        if getattr(first, what) != getattr(second, what):
            rule = f"must be the same in all estimates ({getattr(first, what)})"
            raise SottovoceError(what, rule, getattr(second, what))


def _shares(estimates: Mapping[Any, Estimate], shares: Mapping[Any, Any] | None) -> tuple[float, ...]:
    """Share of each stratum, in the estimates' order."""
    if shares is None:
        if any(part.effective is not None for part in estimates.values()):
            raise SottovoceError("shares", "must be given where reports have weights", shares)
        total = sum(part.respondents for part in estimates.values())
        return tuple(part.respondents / total for part in estimates.values())
    if set(shares) != set(estimates):
        raise SottovoceError("shares", f"must be of the strata {list(estimates)}", list(shares))
    return tuple(float(share) for share in distribution("shares", (shares[name] for name in estimates)))
