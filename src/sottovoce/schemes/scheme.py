"""Base class of schemes: parameters as published, a citation, and the mechanism that they determine."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cache
from typing import Any, ClassVar

from sottovoce.errors import SottovoceError
from sottovoce.mechanisms.matrix import Listed
from sottovoce.mechanisms.mechanism import Mechanism, discover
from sottovoce.schemas.attribute import Label

Sizes = tuple[int, ...]
"""Number of categories of each attribute of a group."""


class Scheme(ABC):
    """A way to disguise one group of attributes; their sizes determine its mechanism."""

    name: ClassVar[str]
    citation: ClassVar[str]
    identified: ClassVar[str] = ""
    """Condition on the parameters for the truths to be estimable; empty if the constructor checks it."""

    @abstractmethod
    def mechanism(self, sizes: Sizes) -> Mechanism:
        """Mechanism for attributes of these sizes, rounded towards privacy."""

    @classmethod
    @abstractmethod
    def cases(cls) -> Iterable[tuple["Scheme", Sizes]]:
        """Examples that the tests of all schemes run on, each with the sizes of its attributes."""

    @classmethod
    @abstractmethod
    def refused(cls) -> Iterable[tuple[str, dict[str, Any]]]:
        """Invalid arguments, each with the parameter that the error must name."""


@cache
def all_schemes() -> dict[str, type[Scheme]]:
    """All schemes of this package by name; a new file is found without being registered.

    >>> "warner" in all_schemes()
    True
    """
    import sottovoce.schemes as package

    return {scheme.name: scheme for scheme in discover(package, Scheme)}


def set_fields(scheme: Scheme, **fields: Any) -> None:
    """Set the fields of a frozen dataclass to their checked values."""
    for name, value in fields.items():
        object.__setattr__(scheme, name, value)


def yes_no(
    sizes: Sizes, no: Sequence[Fraction], yes: Sequence[Fraction], reports: Iterable[Label] | None = None
) -> Listed:
    """Mechanism from the distributions of the report given no and given yes, for one attribute (no, yes).

    >>> yes_no((2,), no=[Fraction(3, 4), Fraction(1, 4)], yes=[Fraction(1, 4), Fraction(3, 4)]).channel.odds
    Fraction(3, 1)
    """
    if sizes != (2,):
        raise SottovoceError("sizes", "must be those of one yes/no attribute, (2,)", sizes)
    return Listed.near(sizes, list(zip(no, yes, strict=True)), reports)
