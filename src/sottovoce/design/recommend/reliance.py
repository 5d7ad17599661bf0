"""What a design made for a prior does if the prior is wrong."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from sottovoce.channel.channel import Array, Channel
from sottovoce.design.measured import guesses_of
from sottovoce.design.recommend.spread import second_moments
from sottovoce.plan.plan import Plan
from sottovoce.schema.item_set import ItemSet


@dataclass(frozen=True)
class Reliance:
    """Of one attribute: how often the best adversary is right, and the error, if the prior holds and if all is uniform.

    `error_if_uniform` is relative to plain randomized response's at the same odds, likewise if the truth is uniform.
    """

    attribute: str
    accuracy: float
    accuracy_if_uniform: float
    plain_accuracy: float
    plain_accuracy_if_uniform: float
    error_if_uniform: float

    def to_json(self) -> dict[str, Any]:
        """All fields."""
        return asdict(self)

    def __str__(self) -> str:
        """The warning, in words."""
        return (
            f"{self.attribute!r} relies on the prior. If the prior is right, the best guess from a report is right in "
            f"{self.accuracy:.1%} of all cases; if the truth is uniform, in {self.accuracy_if_uniform:.1%} "
            f"(randomized response: {self.plain_accuracy:.1%} and {self.plain_accuracy_if_uniform:.1%}), and its error "
            f"variance is then {self.error_if_uniform:.2f} times that of randomized response. "
            "The odds hold whatever the truth is."
        )


def reliances(plan: Plan, plain: Plan, laws: Mapping[str, tuple[Array, ...]]) -> tuple[Reliance, ...]:
    """Attributes whose coins were made for a prior, compared with their plain coins."""
    made = [v.name for v in plan.schema if not isinstance(v, ItemSet) and plan.group_of(v.name).scheme in MADE_FOR]
    return tuple(_reliance(name, plan.channel([name]), plain.channel([name]), laws[name][0]) for name in made)


MADE_FOR = ("matrix", "random_set")
"""Schemes that a certified design becomes."""


def _reliance(name: str, channel: Channel, plain: Channel, law: Array) -> Reliance:
    uniform = np.full(len(law), 1 / len(law))
    accuracy, flat = (guesses_of(channel, truth)[0] for truth in (law, uniform))
    plain_accuracy, plain_flat = (guesses_of(plain, truth)[0] for truth in (law, uniform))
    error = _error(channel, uniform) / _error(plain, uniform)
    return Reliance(name, accuracy, flat, plain_accuracy, plain_flat, error)


def _error(channel: Channel, law: Array) -> float:
    return float((second_moments(channel, law) - law**2).mean())
