"""Base class of mechanisms: coins, and an exact rule from truth and coins to the report."""

from abc import ABC, abstractmethod
from functools import cache
from importlib import import_module
from inspect import isabstract
from pkgutil import iter_modules
from types import ModuleType
from typing import Any, ClassVar, TypeVar

from sottovoce.channels.channel import Channel
from sottovoce.errors import SottovoceError
from sottovoce.mechanisms.coins import Blocks, Coin, Coins, read_blocks
from sottovoce.schemas.attribute import Attribute, Columns
from sottovoce.schemas.schema import Schema

Kind = TypeVar("Kind")

MOST_DIGITS = 4000
"""Largest number of decimal digits of a number in a plan: below Python's limit, and beyond what mechanisms need."""


class Mechanism(ABC):
    """Integers that determine the coins, the channel and the guarantee alike. Immutable."""

    kind: ClassVar[str]
    sizes: tuple[int, ...]

    @property
    @abstractmethod
    def coins(self) -> tuple[Coin, ...]:
        """Coins of one report, in order; all are flipped, whatever the truth is."""

    @abstractmethod
    def respond(self, truth: Columns, flips: Coins) -> Columns:
        """Reports from the truths and the sides that the coins show, row by row: a pure function."""

    def respond_in_bulk(self, truth: Columns, blocks: Blocks) -> Columns:
        """The same reports from accepted words, which a mechanism may compute faster.

        It may rely on all codes being below their sizes.
        """
        return self.respond(truth, read_blocks(self.coins, blocks))

    @property
    @abstractmethod
    def channel(self) -> Channel:
        """Distribution of the report given the truth, from the same integers."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """Kind and integers; integers are decimal text, which no language rounds."""

    @classmethod
    @abstractmethod
    def from_json(cls, sizes: tuple[int, ...], json: dict[str, Any]) -> "Mechanism":
        """Read what `to_json` wrote, for truths of these sizes."""

    def report_schema(self, truths: Schema) -> Schema:
        """Schema of the reports: that of the truths, or one column with a category for each report."""
        if self.channel.shape_out == self.sizes:
            return truths.as_report()
        labels = [f"report {number + 1}" for number in range(self.channel.n_out)]
        return Schema([Attribute.trusted("+".join(truths.names), labels)])


def discover(package: ModuleType, base: type[Kind]) -> list[type[Kind]]:
    """Concrete subclasses of a base class in the public modules of a package, by module name.

    >>> import sottovoce.channels
    >>> from sottovoce.channels.channel import Channel
    >>> [channel.__name__ for channel in discover(sottovoce.channels, Channel)][:2]
    ['Complement', 'CutAndPaste']
    """
    classes = []
    for module_info in iter_modules(package.__path__):
        if module_info.name.startswith("_"):
            continue
        module = import_module(f"{package.__name__}.{module_info.name}")
        classes += [
            member
            for member in vars(module).values()
            if isinstance(member, type)
            and issubclass(member, base)
            and member.__module__ == module.__name__
            and not isabstract(member)
        ]
    return classes


def mechanism_from_json(sizes: tuple[int, ...], json: Any) -> Mechanism:
    """Read any mechanism by its kind."""
    kinds = mechanism_kinds()
    kind = json.get("kind") if isinstance(json, dict) else None
    if not isinstance(kind, str) or kind not in kinds:
        raise SottovoceError("kind", f"must be one of {', '.join(sorted(kinds))}", kind)
    try:
        return kinds[kind].from_json(sizes, json)
    except (KeyError, TypeError, AttributeError) as reason:
        raise SottovoceError("mechanism", f"must be written in full ({reason})", json) from None


@cache
def mechanism_kinds() -> dict[str, type[Mechanism]]:
    """All mechanisms of this package by kind; a new file is found without being registered."""
    import sottovoce.mechanisms as package

    return {mechanism.kind: mechanism for mechanism in discover(package, Mechanism)}


def integer(parameter: str, text: Any) -> int:
    """Read an integer written as decimal text.

    >>> integer("truth", "4294967296")
    4294967296
    """
    if not isinstance(text, str) or not text.isdecimal() or not text.isascii() or len(text) > MOST_DIGITS:
        raise SottovoceError(parameter, "must be a whole number written as text", text)
    return int(text)
