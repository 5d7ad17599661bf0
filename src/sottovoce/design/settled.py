"""A scheme that has met its sizes: the integers of a mechanism, under the name of the scheme they came from."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

from sottovoce.errors import SottovoceError
from sottovoce.mechanism.mechanism import Mechanism, mechanism_from_json
from sottovoce.scheme.scheme import Scheme, Sizes, schemes


@dataclass(frozen=True)
class Settled(Scheme):
    """What a plan takes for one attribute of as many categories as the design has.

    >>> from sottovoce.scheme.warner import Warner
    >>> Settled.of(Warner(p=0.7), (3,)).mechanism((3,)).channel.odds
    Fraction(14, 3)
    """

    name: ClassVar[str] = "settled"
    citation: ClassVar[str] = ""

    scheme: str
    settled: Mechanism

    def __post_init__(self) -> None:
        """Go by the name, and cite the source, of the scheme."""
        if self.scheme not in schemes():
            raise SottovoceError("scheme", f"must be one of {', '.join(sorted(schemes()))}", self.scheme)
        object.__setattr__(self, "name", self.scheme)
        object.__setattr__(self, "citation", schemes()[self.scheme].citation)

    @classmethod
    def of(cls, scheme: Scheme, sizes: Sizes) -> "Settled":
        """Integers that a scheme becomes for these sizes."""
        return cls(scheme.name, scheme.mechanism(sizes))

    def mechanism(self, sizes: Sizes) -> Mechanism:
        """The one there is, for the sizes it was made for."""
        if sizes != self.settled.sizes:
            raise SottovoceError("sizes", f"must be those the design was made for, {self.settled.sizes}", sizes)
        return self.settled

    def to_json(self) -> dict[str, Any]:
        """Scheme and integers, as a plan's groups have them."""
        return {"scheme": self.scheme, "mechanism": self.settled.to_json()}

    @classmethod
    def from_json(cls, sizes: Sizes, json: Any) -> "Settled":
        """Read what `to_json` wrote."""
        if not isinstance(json, dict) or set(json) != {"scheme", "mechanism"}:
            raise SottovoceError("channel", "must have the keys scheme and mechanism", json)
        return cls(json["scheme"], mechanism_from_json(sizes, json["mechanism"]))

    @classmethod
    def cases(cls) -> Iterable[tuple["Settled", Sizes]]:
        """None of its own: it is what other schemes become."""
        return ()

    @classmethod
    def refused(cls) -> Iterable[tuple[str, dict[str, Any]]]:
        """None of its own."""
        return ()
