"""A point of a front: an exact channel, what it attains, and, where certified, what nothing can beat."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf, isfinite
from typing import Any

from sottovoce.channel.channel import Array, Channel
from sottovoce.design.measured import MEASURES, UNBOUNDED
from sottovoce.design.settled import Settled
from sottovoce.design.solution import relative_gap
from sottovoce.errors import SottovoceError
from sottovoce.scheme.scheme import Sizes

LARGEST_MATRIX = 10**6
"""Entries of a matrix that is written out."""


@dataclass(frozen=True)
class Certificate:
    """No channel that meets the requirement has an `objective` below `lower_bound`.

    `rounding_loss` is the part by which whole sides of coins made the objective worse than the optimiser left it.
    """

    objective: str
    lower_bound: float
    rounding_loss: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """All fields."""
        return {
            "objective": self.objective,
            "lower_bound": self.lower_bound,
            "rounding_loss": self.rounding_loss,
        }


@dataclass(frozen=True)
class Point:
    """`scheme` may stand in a plan; `measures` are of its integers, by name. Absent ones have no meaning for it.

    >>> from sottovoce.scheme.warner import Warner
    >>> point = Point(Settled.of(Warner(p=0.75), (2,)), {"mse": 3e-4}, Certificate("mse", 2e-4))
    >>> point["mse"], round(point.gap, 6)
    (0.0003, 0.5)
    """

    scheme: Settled
    measures: Mapping[str, float]
    certificate: Certificate | None = None

    def __getitem__(self, measure: str) -> float:
        """Value of a measure."""
        if measure not in self.measures:
            raise SottovoceError("measure", f"must be one of {', '.join(self.measures)}", measure)
        return self.measures[measure]

    @property
    def channel(self) -> Channel:
        """Channel of the very integers that a device will use."""
        return self.scheme.settled.channel

    @property
    def deniable(self) -> bool:
        """Whether every report could have come from every truth."""
        return self.channel.odds is not None

    @property
    def lower_bound(self) -> float | None:
        """What no channel can beat, where it is proven."""
        return None if self.certificate is None else self.certificate.lower_bound

    @property
    def gap(self) -> float | None:
        """Relative distance of the rounded channel from the proven bound."""
        if self.certificate is None:
            return None
        return relative_gap(self[self.certificate.objective], self.certificate.lower_bound)

    def matrix(self) -> Array | None:
        """Reports by truths, of sets only those that can come; None where it has more than a million entries."""
        channel = self.channel
        if channel.n_in * channel.n_out > LARGEST_MATRIX:
            return None
        matrix = channel.dense()
        return matrix[matrix.any(axis=1)] if len(channel.shape_out) > 1 else matrix

    def to_json(self) -> dict[str, Any]:
        """Matrix, scheme, every measure, bound and gap; what is infinite or has no meaning is null."""
        matrix = self.matrix()
        certificate = Certificate("", 0) if self.certificate is None else self.certificate
        numbers = {name: self.measures.get(name) for name in (*MEASURES, *self.measures)}
        return {
            "matrix": None if matrix is None else matrix.tolist(),
            "channel": self.scheme.to_json(),
            **{name: value if value is not None and isfinite(value) else None for name, value in numbers.items()},
            **{key: None if self.certificate is None else value for key, value in certificate.to_json().items()},
            "gap": self.gap,
        }

    @classmethod
    def from_json(cls, sizes: Sizes, json: Any) -> "Point":
        """Read what `to_json` wrote, for truths of these sizes; the matrix is that of the channel's integers."""
        if not isinstance(json, dict) or "channel" not in json:
            raise SottovoceError("point", "must be an object with a channel", json)
        given = {name: value for name, value in json.items() if name not in _OTHERS}
        measures = {
            name: inf if value is None else float(value)
            for name, value in given.items()
            if value is not None or name in UNBOUNDED
        }
        proof: dict[str, Any] = {key: json.get(key) for key in _PROOF}
        certificate = None if proof["lower_bound"] is None else Certificate(**proof)
        return cls(Settled.from_json(sizes, json["channel"]), measures, certificate)


_PROOF = ("objective", "lower_bound", "rounding_loss")
_OTHERS = {"matrix", "channel", "gap", *_PROOF}
