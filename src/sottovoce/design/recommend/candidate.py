"""Designs that keep one budget over all attributes, the plainest first."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from sottovoce.channel.channel import Array
from sottovoce.design.certified import least_error_design
from sottovoce.design.requirement import LARGEST_CERTIFIED
from sottovoce.estimate.em import Progress
from sottovoce.exact import root_of_odds
from sottovoce.schema.cells import LARGEST_DOMAIN
from sottovoce.schema.item_set import ItemSet
from sottovoce.schema.schema import Schema
from sottovoce.schema.variable import Variable
from sottovoce.scheme.attribute_sampling import AttributeSampling
from sottovoce.scheme.gamma_diagonal import GammaDiagonal
from sottovoce.scheme.mask import Mask
from sottovoce.scheme.optimized_unary import OptimizedUnary
from sottovoce.scheme.randomized_response import RandomizedResponse
from sottovoce.scheme.scheme import Scheme
from sottovoce.scheme.subset_selection import SubsetSelection, best_size

Schemes = Mapping[str | tuple[str, ...], Scheme]

PLAIN = "randomized response"
CERTIFIED = "certified design"

MOST_SET_CELLS = 1000
"""Joint cells that a reported set may be drawn from: a report has a bit for each."""

MOST_WHOLE_ITEMS = 10
"""Items whose sets one coin disguises together; beyond, coins of their own always win."""

MOST_PAIRED_BY_SAMPLING = 32
"""Attributes of which every pair may be the one that is asked: the plan lists all pairs."""


@dataclass(frozen=True)
class Candidate:
    """Schemes by attribute, or by attributes that share their coins, and what they are called."""

    name: str
    structure: str
    schemes: Schemes
    relies_on_prior: bool = False


def candidates(schema: Schema, odds: Fraction, purpose: str) -> Iterator[Candidate]:
    """Designs that need no prior, with these odds for the whole record, in order of how plain they are.

    >>> from sottovoce.schema.attribute import boolean
    >>> [found.name for found in candidates(Schema([boolean("a"), boolean("b")]), Fraction(9), "each")]
    ['randomized response', 'attribute sampling', 'joint gamma-diagonal', 'optimized unary']
    """
    plain = _shared(schema, odds, RandomizedResponse)
    yield Candidate(PLAIN, "split", plain)
    if _whole_sets(schema):
        each = root_of_odds(odds, len(schema.names))
        whole = dict(plain)
        whole.update((variable.name, RandomizedResponse(odds=each)) for variable in schema if _small_set(variable))
        yield Candidate("whole sets", "split", whole)
    yield from _together(schema, odds, purpose)
    for name, make in (("subset selection", _subset), ("optimized unary", OptimizedUnary)):
        schemes = _shared(schema, odds, make)
        if schemes != plain:
            yield Candidate(name, "split", schemes)


def certified_candidate(
    schema: Schema, odds: Fraction, laws: Mapping[str, tuple[Array, ...]], progress: Progress | None = None
) -> Candidate:
    """Least error that its share of the odds allows for each attribute, proven, for the laws expected.

    Item sets keep their plain coins, and attributes of too many categories for a proof have subset selection.
    """
    plain, sets = _shared(schema, odds, RandomizedResponse), _shared(schema, odds, _subset)
    each = root_of_odds(odds, len(schema.names))
    solved: dict[bytes, Scheme] = {}
    schemes: dict[str | tuple[str, ...], Scheme] = {}
    for variable in schema:
        if isinstance(variable, ItemSet):
            schemes[variable.name] = plain[variable.name]
        elif variable.sizes[0] > LARGEST_CERTIFIED:
            schemes[variable.name] = sets[variable.name]
        else:
            (law,) = laws[variable.name]
            if law.tobytes() not in solved:
                solved[law.tobytes()] = least_error_design(law, 1, odds=each, progress=progress).scheme
            schemes[variable.name] = solved[law.tobytes()]
    return Candidate(CERTIFIED, "split", schemes, relies_on_prior=True)


def _together(schema: Schema, odds: Fraction, purpose: str) -> Iterator[Candidate]:
    """Designs with one coin for all attributes, or for those that are drawn."""
    names = schema.names
    size = {"each": 1, "pairs": 2}.get(purpose)
    most = MOST_PAIRED_BY_SAMPLING if size == 2 else LARGEST_DOMAIN
    listed = not any(isinstance(variable, ItemSet) for variable in schema)
    if size is not None and listed and size < len(names) <= most:
        yield Candidate("attribute sampling", "sample", {names: AttributeSampling(odds=odds, size=size)})
    if len(names) > 1 and schema.cells <= LARGEST_DOMAIN:
        yield Candidate("joint gamma-diagonal", "joint", {names: GammaDiagonal(odds)})
        # A set of joint cells does not split: single attributes cannot be read from it.
        if purpose == "joint" and schema.cells <= MOST_SET_CELLS and best_size(schema.cells, odds) > 1:
            yield Candidate("joint subset selection", "joint", {names: SubsetSelection(odds=odds)})


def _shared(schema: Schema, odds: Fraction, make: Callable[..., Scheme]) -> dict[str | tuple[str, ...], Scheme]:
    """An equal share of the budget for each attribute; a coin for each item of a set."""
    each = root_of_odds(odds, len(schema.names))
    return {v.name: _masked(v, each) if isinstance(v, ItemSet) else _fitting(make, v, each) for v in schema}


def _fitting(make: Callable[..., Scheme], variable: Variable, odds: Fraction) -> Scheme:
    """Sets of one category are no sets: that is randomized response."""
    if make is _subset and best_size(variable.sizes[0], odds) == 1:
        return RandomizedResponse(odds=odds)
    return make(odds=odds)


def _subset(*, odds: Fraction) -> Scheme:
    return SubsetSelection(odds=odds)


def _masked(variable: ItemSet, odds: Fraction) -> Scheme:
    item = root_of_odds(odds, len(variable.items))
    return Mask(p=item / (1 + item))


def _small_set(variable: Variable) -> bool:
    return isinstance(variable, ItemSet) and 1 < len(variable.items) <= MOST_WHOLE_ITEMS


def _whole_sets(schema: Schema) -> bool:
    return any(_small_set(variable) for variable in schema)
