"""Ask a random subset of the attributes, each subset with its own mechanism, and leave the others out."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sottovoce.channels.channel import Part, checked_shape
from sottovoce.channels.sampled import Sampled
from sottovoce.errors import SottovoceError
from sottovoce.mechanisms.coins import Coin, Coins
from sottovoce.mechanisms.mechanism import Mechanism, mechanism_from_json
from sottovoce.schemas.attribute import Columns, narrow, with_not_asked
from sottovoce.schemas.schema import Schema

Asked = tuple[tuple[int, ...], Mechanism]
"""Positions of some attributes, and the mechanism that disguises them."""


@dataclass(frozen=True)
class Sampling(Mechanism):
    """A first coin draws one of `parts`; the coins of all parts follow in order, and all are flipped.

    The attributes of the drawn part are reported by its mechanism, the others as their last code, "not asked".
    """

    kind = "sampling"

    sizes: tuple[int, ...]
    parts: tuple[Asked, ...]

    def __init__(self, sizes: Iterable[int], parts: Iterable[Asked]) -> None:
        """Check that there is a part, and that every part reports the attributes it asks."""
        object.__setattr__(self, "sizes", checked_shape(sizes, "sizes"))
        object.__setattr__(self, "parts", tuple(parts))
        self.channel  # noqa: B018  # checks the parts

    @cached_property
    def coins(self) -> tuple[Coin, ...]:
        """Coin of the choice, then those of every part."""
        return (Coin(len(self.parts)), *(coin for _, mechanism in self.parts for coin in mechanism.coins))

    def respond(self, truth: Columns, flips: Coins) -> Columns:
        """Compute the response of every part, and report that of the drawn one."""
        report = [np.full(len(flips[0]), size, np.int64) for size in self.sizes]
        used = 1
        for number, (axes, mechanism) in enumerate(self.parts):
            part_flips = flips[used : used + len(mechanism.coins)]
            used += len(part_flips)
            drawn = flips[0] == np.uint64(number)
            answers = mechanism.respond(tuple(truth[a] for a in axes), part_flips)
            for a, answer in zip(axes, answers, strict=True):
                report[a][drawn] = answer[drawn]
        return tuple(narrow(codes, size + 1) for codes, size in zip(report, self.sizes, strict=True))

    @cached_property
    def channel(self) -> Sampled:
        """Mixture of the parts' channels."""
        return Sampled(self.sizes, (Part(axes, mechanism.channel) for axes, mechanism in self.parts))

    def report_schema(self, truths: Schema) -> Schema:
        """The attributes, each with a category "not asked"."""
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
