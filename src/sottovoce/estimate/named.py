"""Derived measures by name, for one attribute or two: what a command line or a form can ask for."""

from collections.abc import Callable

from sottovoce.errors import SottovoceError
from sottovoce.estimate.estimate import Estimate
from sottovoce.measure.association import ChiSquared, GSquared, MutualInformation
from sottovoce.measure.correlation import PearsonCorrelation
from sottovoce.measure.functional import Functional
from sottovoce.measure.functionals import Entropy, Mean
from sottovoce.measure.two_by_two import LogOddsRatio, OddsRatio, RiskDifference

Shape = tuple[int, ...]

MAKERS: dict[str, tuple[str, Callable[[Shape], Functional]]] = {
    "entropy": ("", lambda shape: Entropy()),
    "mean": ("of one attribute", lambda shape: Mean(range(shape[0]))),
    "mutual-information": ("of two attributes", lambda shape: MutualInformation((shape[0], shape[1]))),
    "chi-squared": ("of two attributes", lambda shape: ChiSquared((shape[0], shape[1]))),
    "g-squared": ("of two attributes", lambda shape: GSquared((shape[0], shape[1]))),
    "correlation": ("of two attributes", lambda shape: PearsonCorrelation(range(shape[0]), range(shape[1]))),
    "odds-ratio": ("of two yes/no attributes", lambda shape: OddsRatio()),
    "log-odds-ratio": ("of two yes/no attributes", lambda shape: LogOddsRatio()),
    "risk-difference": ("of two yes/no attributes", lambda shape: RiskDifference()),
}
"""What each needs, and how it is made for a table of this shape; categories score 0, 1, 2, ... in order."""


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
    return make(estimate.shape)
