"""Covariances by a factor, and margins of joint estimates, which sum its rows."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from sottovoce.channel.channel import Array
from sottovoce.errors import SottovoceError
from sottovoce.estimate.estimate import Estimate
from sottovoce.estimate.spread import MatrixSpread, Spread


@dataclass(frozen=True, eq=False)
class FactorSpread:
    """Covariance `F F^T` by a factor with a row for each cell: margins of cells are sums of rows."""

    factor: Array

    @cached_property
    def variances(self) -> Array:
        """Sums of squares of the rows."""
        return np.asarray((self.factor**2).sum(axis=1))

    def covariance(self, cells: Sequence[int] | NDArray[np.intp]) -> Array:
        """Products of the rows of these cells."""
        rows = self.factor[np.asarray(cells)]
        return np.asarray(rows @ rows.T)


def margin_of(joint: Estimate, attributes: Sequence[str]) -> Estimate:
    """Proportions of some attributes of an estimate, in the order given: sums of its cells, with their covariance.

    >>> import numpy as np
    >>> spread = FactorSpread(np.array([[0.1], [0.0], [0.0], [-0.1]]))
    >>> flat = np.full(4, 0.25)
    >>> joint = Estimate(("a", "b"), ((0, 1), (0, 1)), flat, spread, flat, 10, "population", "model")
    >>> print(margin_of(joint, ["b"]))
    b: 10 reports, proportions in the population by model
      0    0.5000 +- 0.1000  [ 0.3040,  0.6960]
      1    0.5000 +- 0.1000  [ 0.3040,  0.6960]
    """
    unknown = [name for name in attributes if name not in joint.attributes]
    if unknown or not attributes or len(set(attributes)) < len(attributes):
        raise SottovoceError(
            "attributes", f"must be some of {', '.join(joint.attributes)}, once each", list(attributes)
        )
    kept = [joint.attributes.index(name) for name in attributes]
    dropped = [place for place in range(len(joint.shape)) if place not in kept]

    def summed(cells: Array) -> Array:
        table = cells.reshape(*joint.shape, -1).transpose(*kept, *dropped, len(joint.shape))
        sums = table.reshape(prod(joint.shape[place] for place in kept), -1, table.shape[-1]).sum(axis=1)
        return np.asarray(sums.reshape(-1, *cells.shape[1:]))

    spread: Spread
    if isinstance(joint.spread, FactorSpread):
        spread = FactorSpread(summed(joint.spread.factor))
    else:
        spread = MatrixSpread(summed(summed(joint.covariance).T))
    return replace(
        joint,
        attributes=tuple(joint.attributes[place] for place in kept),
        categories=tuple(joint.categories[place] for place in kept),
        value=summed(joint.value),
        spread=spread,
    )
