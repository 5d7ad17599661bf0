"""Schemes: parameters that people know, a citation, and the mechanism they stand for."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cache
from typing import Any, ClassVar

from sottovoce.errors import SottovoceError, Words
from sottovoce.exact import odds, odds_of_epsilon
from sottovoce.mechanisms.matrix import Listed
from sottovoce.mechanisms.mechanism import Mechanism, discover
from sottovoce.schemas.attribute import Label

Sizes = tuple[int, ...]


class Scheme(ABC):
    """A way to disguise one group of attributes; it becomes exact when it meets their sizes."""

    name: ClassVar[str]
    citation: ClassVar[str]
    identified: ClassVar[str] = ""
    """What its parameters must be for truths to be told apart; empty where others are refused anyway."""

    @abstractmethod
    def mechanism(self, sizes: Sizes) -> Mechanism:
        """Coins and integers for attributes of these sizes, rounded towards privacy."""

    @classmethod
    @abstractmethod
    def cases(cls) -> Iterable[tuple["Scheme", Sizes]]:
        """Examples on which the laws of schemes are checked."""

    @classmethod
    @abstractmethod
    def refused(cls) -> Iterable[tuple[str, dict[str, Any]]]:
        """Bad arguments, each with the parameter its error must name."""


@cache
def schemes() -> dict[str, type[Scheme]]:
    """Every scheme in this room, by name; a new file is found without being listed.

    >>> "warner" in schemes()
    True
    """
    import sottovoce.schemes as room

    return {found.name: found for found in discover(room, Scheme)}


def set_fields(scheme: Scheme, **fields: Any) -> None:
    """Fill the fields of a frozen dataclass with their checked values."""
    for name, value in fields.items():
        object.__setattr__(scheme, name, value)


def odds_asked(**given: Any) -> Fraction:
    """Odds from `odds=` (also called `gamma` or `frapp_lambda`) or from `epsilon=`: exactly one of them.

    >>> odds_asked(odds="3:1", epsilon=None)
    Fraction(3, 1)
    """
    named = {name: value for name, value in given.items() if value is not None}
    if len(named) != 1:
        raise SottovoceError(" or ".join(given), "must be given, exactly one of them", named or Words("none"))
    ((name, value),) = named.items()
    return odds_of_epsilon(name, value) if name == "epsilon" else odds(name, value)


def yes_no(
    sizes: Sizes, no: Sequence[Fraction], yes: Sequence[Fraction], reports: Iterable[Label] | None = None
) -> Listed:
    """Mechanism from the law of the report of a no and that of a yes, for one attribute (no, yes).

    >>> yes_no((2,), no=[Fraction(3, 4), Fraction(1, 4)], yes=[Fraction(1, 4), Fraction(3, 4)]).channel.odds
    Fraction(3, 1)
    """
    if sizes != (2,):
        raise SottovoceError("sizes", "must be those of one yes/no attribute, (2,)", sizes)
    return Listed.near(sizes, list(zip(no, yes, strict=True)), reports)
