"""Draw which attributes to answer, answer those with a mechanism of their own, and leave the others out."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sottovoce.channels.channel import checked_shape
from sottovoce.channels.sampled import Part, Sampled
from sottovoce.errors import SottovoceError
from sottovoce.mechanisms.coins import Coin, Coins
from sottovoce.mechanisms.mechanism import Mechanism, mechanism_from_json
from sottovoce.schemas.attribute import Columns, narrow, with_not_asked
from sottovoce.schemas.schema import Schema

Asked = tuple[tuple[int, ...], Mechanism]
"""Positions of some attributes, and what disguises them."""


@dataclass(frozen=True)
class Sampling(Mechanism):
    """A first coin picks one of `parts`; the coins of all parts follow in order, and are flipped in any case.

    The attributes of the picked part are reported as its mechanism says, the others as their last
    code, "not asked".
    """

    kind = "sampling"

    sizes: tuple[int, ...]
    parts: tuple[Asked, ...]

    def __init__(self, sizes: Iterable[int], parts: Iterable[Asked]) -> None:
        """Check that the parts ask for attributes there are."""
        object.__setattr__(self, "sizes", checked_shape(sizes))
        object.__setattr__(self, "parts", tuple(parts))
        self.channel  # noqa: B018  # refuses no parts, and parts that do not report what they ask

    @cached_property
    def coins(self) -> tuple[Coin, ...]:
        """Coin of the choice, then those of every part."""
        return (Coin(len(self.parts)), *(coin for _, mechanism in self.parts for coin in mechanism.coins))

    def respond(self, truth: Columns, flips: Coins) -> Columns:
        """Let every part respond, and show the one that was picked."""
        shown = [np.full(len(flips[0]), size, np.int64) for size in self.sizes]
        used = 1
        for number, (axes, mechanism) in enumerate(self.parts):
            own = flips[used : used + len(mechanism.coins)]
            used += len(own)
            picked = flips[0] == np.uint64(number)
            answers = mechanism.respond(tuple(truth[a] for a in axes), own)
            for a, answer in zip(axes, answers, strict=True):
                shown[a][picked] = answer[picked]
        return tuple(narrow(codes, size + 1) for codes, size in zip(shown, self.sizes, strict=True))

    @cached_property
    def channel(self) -> Sampled:
        """Mixture of the parts' channels."""
        return Sampled(self.sizes, (Part(axes, mechanism.channel) for axes, mechanism in self.parts))

    def report_schema(self, truths: Schema) -> Schema:
        """The attributes, with a category for not having been asked."""
        return Schema(with_not_asked(variable) for variable in truths.as_report())

    def to_json(self) -> dict[str, Any]:
        """Positions and mechanism of every part."""
        parts = [{"attributes": list(axes), "mechanism": mechanism.to_json()} for axes, mechanism in self.parts]
        return {"kind": self.kind, "parts": parts}

    @classmethod
    def from_json(cls, sizes: tuple[int, ...], json: dict[str, Any]) -> "Sampling":
        """Read every part."""
        return cls(sizes, [_part(sizes, part) for part in json["parts"]])


def _part(sizes: tuple[int, ...], json: dict[str, Any]) -> Asked:
    axes = tuple(json["attributes"])
    if not axes or list(axes) != sorted(set(axes)) or not all(type(a) is int and 0 <= a < len(sizes) for a in axes):
        raise SottovoceError("attributes", f"must be increasing positions below {len(sizes)}", axes)
    return axes, mechanism_from_json(tuple(sizes[a] for a in axes), json["mechanism"])
