"""Derived measures by name, for one attribute or two, or by any function: what one can ask to be derived."""

from collections.abc import Callable, Sequence
from typing import Any

from sottovoce.errors import SottovoceError
from sottovoce.estimate.estimate import Estimate
from sottovoce.measure.association import ChiSquared, GSquared, MutualInformation
from sottovoce.measure.correlation import PearsonCorrelation
from sottovoce.measure.functional import Functional
from sottovoce.measure.functionals import Entropy, Mean
from sottovoce.measure.gradients import UserFunction
from sottovoce.measure.two_by_two import LogOddsRatio, OddsRatio, RiskDifference
from sottovoce.schema.variable import Label

Categories = Sequence[tuple[Label, ...]]

MAKERS: dict[str, tuple[str, Callable[[Categories], Functional]]] = {
    "entropy": ("", lambda own: Entropy()),
    "mean": ("of one attribute", lambda own: Mean(category_scores(own[0]))),
    "mutual-information": ("of two attributes", lambda own: MutualInformation(_shape(own))),
    "chi-squared": ("of two attributes", lambda own: ChiSquared(_shape(own))),
    "g-squared": ("of two attributes", lambda own: GSquared(_shape(own))),
    "correlation": ("of two attributes", lambda own: PearsonCorrelation(*map(category_scores, own))),
    "odds-ratio": ("of two yes/no attributes", lambda own: OddsRatio()),
    "log-odds-ratio": ("of two yes/no attributes", lambda own: LogOddsRatio()),
    "risk-difference": ("of two yes/no attributes", lambda own: RiskDifference()),
}
"""What each needs, and how it is made for a table of these categories."""


def as_functional(wanted: Any, estimate: Estimate) -> Functional:
    """A functional as it is, one by its name, or any function of the cells of an estimate's table."""
    if isinstance(wanted, str):
        return functional_named(wanted, estimate)
    if hasattr(wanted, "gradient") and hasattr(wanted, "value"):
        functional: Functional = wanted
        return functional
    return UserFunction(getattr(wanted, "__name__", "function"), wanted)


def functional_named(name: str, estimate: Estimate) -> Functional:
    """Functional of this name for an estimate's table, if it fits.

    >>> sorted(MAKERS)[:3]
    ['chi-squared', 'correlation', 'entropy']
    """
    if name not in MAKERS:
        raise SottovoceError("derive", f"must be one of {', '.join(MAKERS)}", name)
    needs, make = MAKERS[name]
    dimensions = len(estimate.shape)
    fits = {
        "": True,
        "of one attribute": dimensions == 1,
        "of two attributes": dimensions == 2,
        "of two yes/no attributes": estimate.shape == (2, 2),
    }
    if not fits[needs]:
        raise SottovoceError("derive", f"must fit the attributes: {name} is {needs}", estimate.attributes)
    return make(estimate.categories)


def category_scores(categories: tuple[Label, ...]) -> list[float]:
    """Numbers that categories stand for: themselves if they are numbers, 0, 1, 2, ... in order if they are text.

    >>> category_scores((0, 1, 5)), category_scores(("never", "once", "often"))
    ([0.0, 1.0, 5.0], [0.0, 1.0, 2.0])
    """
    return [float(place) if isinstance(label, str) else float(label) for place, label in enumerate(categories)]


def _shape(categories: Categories) -> tuple[int, int]:
    return len(categories[0]), len(categories[1])
