"""Which coins a question gets if its author leaves the choice to us: plain ones, unless others gain much more.

People understand plain randomized response, and it fails when they do not understand it. So another design is
taken only where it needs at least 15 % fewer answers for the same precision, at equal odds.
"""

from fractions import Fraction

from sottovoce.channel.subset_selection import SubsetSelection as SubsetChannel
from sottovoce.exact import root_of_odds
from sottovoce.schema.item_set import ItemSet
from sottovoce.schema.variable import Variable
from sottovoce.scheme.mask import Mask
from sottovoce.scheme.randomized_response import RandomizedResponse
from sottovoce.scheme.scheme import Scheme
from sottovoce.scheme.subset_selection import SubsetSelection, best_size

WORTH = Fraction(15, 100)
"""Gain in respondents from which another design is worth its explanation."""

MOST_JOINT_ITEMS = 10
"""Items whose sets one coin disguises together; beyond, coins of their own always win."""


def chosen_scheme(variable: Variable, odds: Fraction) -> Scheme:
    """Plain randomized response, or the design that gains more than 15 % over it.

    >>> from sottovoce.schema.attribute import Attribute
    >>> [chosen_scheme(Attribute("a", range(k)), Fraction(3)).name for k in (5, 8)]
    ['randomized_response', 'subset_selection']
    """
    if isinstance(variable, ItemSet):
        return _for_items(len(variable.items), odds)
    (cells,) = variable.sizes
    gain = subset_gain(cells, odds)
    return SubsetSelection(odds=odds) if gain > WORTH else RandomizedResponse(odds=odds)


def subset_gain(cells: int, odds: Fraction) -> Fraction:
    """How many more answers randomized response needs than subset selection, as a share, for uniform truths.

    A category is in a share f of the sets, a for bearers and b for others, so its proportion is estimated with
    the variance `f (1 - f) / (a - b)^2 / N`, f = w / n (Ye & Barg 2018); randomized response is w = 1.

    >>> [round(float(subset_gain(k, Fraction(3))), 2) for k in (4, 5, 8, 10)]
    [0.0, 0.0, 0.19, 0.31]
    """
    if odds == 1:
        return Fraction(0)
    return _variance(cells, 1, odds) / _variance(cells, best_size(cells, odds), odds) - 1


def _variance(cells: int, size: int, odds: Fraction) -> Fraction:
    channel = SubsetChannel((cells,), size, size * odds / (size * odds + cells - size))
    share = Fraction(size, cells)
    return share * (1 - share) / (channel.inside - channel.outside) ** 2


def _for_items(items: int, odds: Fraction) -> Scheme:
    """A coin for each item with its share of the odds, or one for the whole set where those are much weaker.

    An item is kept with a share c of its difference: `(r - 1) / (r + 1)`, r the m-th root of the odds, or
    `(odds - 1) / (odds + 2^m - 1)` together; the variance goes with `1 / c^2`.
    """
    root = root_of_odds(odds, items)
    if items <= MOST_JOINT_ITEMS and odds > 1:
        alone, together = (root - 1) / (root + 1), (odds - 1) / (odds + 2**items - 1)
        if together**2 > (1 + WORTH) * alone**2:
            return RandomizedResponse(odds=odds)
    return Mask(p=root / (1 + root))
