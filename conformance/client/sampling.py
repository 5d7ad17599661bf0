"""Every kind of mechanism by its name, and the one that is made of others."""

from collections.abc import Sequence
from itertools import pairwise

from conformance.client.answers import Diagonal, Listed, PrivateDiagonal, Replacement
from conformance.client.bits import Flips, OneHot, Turning
from conformance.client.drawn import RandomSet
from conformance.client.mechanism import Mechanism, Report
from conformance.client.rules import Json, listed, require
from conformance.client.schema import as_text, categories, category
from conformance.client.sets import CutPaste, Subset


class Sampling(Mechanism):
    """What one of several parts reports; nothing is asked of the other columns."""

    codes_of_truth = False

    def __init__(self, sizes: Sequence[int], json: Json) -> None:
        """Places and mechanism of each part."""
        self.sizes = sizes
        self.parts = [(_places(part["attributes"], len(sizes)), part["mechanism"]) for part in json["parts"]]
        self.mechanisms = [read_mechanism([sizes[a] for a in places], own) for places, own in self.parts]
        require(self.parts, "no parts")
        require(all(own.codes_of_truth for own in self.mechanisms), "a part that reports in other codes")
        self.coins = [len(self.parts), *(sides for own in self.mechanisms for sides in own.coins)]
        found = [own.odds for own in self.mechanisms]
        self.odds = None if None in found else max(odds for odds in found if odds is not None)

    def respond(self, truth: Sequence[int], shown: Sequence[int]) -> Report:
        """Skip the coins of the parts before, and leave those of the parts behind."""
        start = 1 + sum(len(own.coins) for own in self.mechanisms[: shown[0]])
        places, own = self.parts[shown[0]][0], self.mechanisms[shown[0]]
        answers = own.respond([truth[a] for a in places], shown[start : start + len(own.coins)])
        asked = dict(zip(places, answers, strict=True))
        return [asked.get(a, [size]) for a, size in enumerate(self.sizes)]

    def columns(self, attributes: Sequence[Json]) -> list[Json]:
        """Attributes of the truth, with one category more."""
        return [category(a["name"], _with_not_asked(list(map(as_text, categories(a))))) for a in attributes]


MECHANISMS: dict[str, type[Mechanism]] = {
    "cut_paste": CutPaste,
    "diagonal": Diagonal,
    "flips": Flips,
    "listed": Listed,
    "one_hot": OneHot,
    "private_diagonal": PrivateDiagonal,
    "random_set": RandomSet,
    "replacement": Replacement,
    "sampling": Sampling,
    "subset": Subset,
    "turning": Turning,
}


def read_mechanism(sizes: Sequence[int], json: Json) -> Mechanism:
    """Mechanism of columns with so many codes."""
    kind = json["kind"]
    require(kind in MECHANISMS, f"the reference client lacks the mechanism kind {kind!r}: write it from docs/format.md")
    found = MECHANISMS[kind](sizes, json)
    require(all(1 <= sides <= 2**64 for sides in found.coins), "coins of other than 1 to 2^64 sides")
    return found


def _places(json: object, columns: int) -> list[int]:
    given = listed(json)
    require(given and all(type(a) is int and 0 <= a < columns for a in given), "places of no columns")
    require(all(low < high for low, high in pairwise(given)), "places that do not increase")
    return given


def _with_not_asked(labels: list[str]) -> list[str]:
    label = "not asked"
    while label in labels:
        label += "*"
    return [*labels, label]
