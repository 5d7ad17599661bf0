"""Functionals of an estimate, by name or as any function, with standard errors and intervals."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import inf, isfinite, log2, nan
from typing import Any

import numpy as np

from sottovoce.checks import Array, Progress
from sottovoce.checks import level as checked_level
from sottovoce.errors import SottovoceError
from sottovoce.estimates.bootstrap import checked_draws
from sottovoce.estimates.covariance import MOST_CELLS, InversionCovariance
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.functional_intervals import Null, Profile, evidence_of, report_source
from sottovoce.estimates.independence import chi_square_tail, independence_statistic
from sottovoce.estimates.intervals import critical_value
from sottovoce.estimates.inverted_tests import accepted_values
from sottovoce.estimates.likelihood import nearest_distribution
from sottovoce.estimates.presentation import TextResult, json_row
from sottovoce.measures.association import (
    ChiSquared,
    GSquared,
    LogOddsRatio,
    MutualInformation,
    OddsRatio,
    PearsonCorrelation,
    RiskDifference,
)
from sottovoce.measures.functionals import Entropy, Functional, Mean, UserFunction, checked_scores
from sottovoce.mechanisms.coins import Randomness
from sottovoce.schemas.attribute import Label

CLEAR_OF_ZERO = 5
"""Standard errors by which a cell must exceed zero for functionals that need positive cells."""

SMALL_BIAS = 0.1
"""Largest bias by curvature, in standard errors, with which an interval still covers.

At .16, 95 % intervals of a table's chi-square covered 92.6 % of 1,500 samples; at .075, 95.3 % of 4,000.
"""

MOST_PROFILED = 36
"""Most cells of a table whose functionals have intervals by profile likelihood, which take seconds for 6 x 6."""

Categories = Sequence[tuple[Label, ...]]

Scores = Sequence[Sequence[float]]
"""Scores of the categories of each attribute."""

NAMED_FUNCTIONALS: dict[str, tuple[str, Callable[[Any], Functional]]] = {
    "entropy": ("", lambda categories: Entropy()),
    "mean": ("of one attribute", lambda scores: Mean(scores[0])),
    "mutual_information": ("of two attributes", lambda categories: MutualInformation(_shape(categories))),
    "chi_squared": ("of two attributes", lambda categories: ChiSquared(_shape(categories))),
    "g_squared": ("of two attributes", lambda categories: GSquared(_shape(categories))),
    "correlation": ("of two attributes", lambda scores: PearsonCorrelation(*scores)),
    "odds_ratio": ("of two yes/no attributes", lambda categories: OddsRatio()),
    "log_odds_ratio": ("of two yes/no attributes", lambda categories: LogOddsRatio()),
    "risk_difference": ("of two yes/no attributes", lambda categories: RiskDifference()),
}
"""By name: the attributes that a functional is of, and a function that makes it for their categories or scores."""

SCORED = ("mean", "correlation")
"""Measures that need a number for every category."""


def as_functional(wanted: Any, estimate: Estimate, scores: Any = None) -> Functional:
    """Return a functional: as it is, by its name, or from any function of the cells of the estimate's table."""
    if isinstance(wanted, str):
        return functional_named(wanted, estimate, scores)
    if scores is not None:
        raise SottovoceError("scores", f"must come with the name of a measure: {' or '.join(SCORED)}", scores)
    if hasattr(wanted, "gradient") and hasattr(wanted, "value"):
        functional: Functional = wanted
        return functional
    if not callable(wanted):
        rule = "must be the name of a measure, a functional, or a function of the cells"
        raise SottovoceError("derive", rule, wanted)
    return UserFunction(getattr(wanted, "__name__", "function"), wanted)


def functional_named(name: str, estimate: Estimate, scores: Any = None) -> Functional:
    """Return the functional of this name for an estimate's table; raise if it does not fit.

    >>> sorted(NAMED_FUNCTIONALS)[:3]
    ['chi_squared', 'correlation', 'entropy']
    """
    if name not in NAMED_FUNCTIONALS:
        raise SottovoceError("derive", f"must be one of {', '.join(NAMED_FUNCTIONALS)}", name)
    needs, make = NAMED_FUNCTIONALS[name]
    dimensions = len(estimate.shape)
    fits = {
        "": True,
        "of one attribute": dimensions == 1,
        "of two attributes": dimensions == 2,
        "of two yes/no attributes": estimate.shape == (2, 2),
    }
    if not fits[needs]:
        raise SottovoceError("derive", f"must fit the attributes: {name} is {needs}", estimate.attributes)
    if name in SCORED:
        return make(scores_of(estimate, name, scores))
    if scores is not None:
        raise SottovoceError("scores", f"must come with {' or '.join(SCORED)}", scores)
    return make(estimate.categories)


def scores_of(estimate: Estimate, measure: str, scores: Any = None) -> Scores:
    """Return a number for every category of each attribute: those given, or what the categories are themselves.

    Numbers are their own scores, True is 1, bins have their midpoints. Text has none, except that a correlation is the
    same up to its sign for any two numbers, so that two categories score 0 and 1 there.
    """
    given = _by_attribute(estimate, scores)
    known = estimate.scores or (None,) * len(estimate.attributes)
    found = []
    for name, categories, own in zip(estimate.attributes, estimate.categories, known, strict=True):
        if name in given:
            numbers = checked_scores("scores", given[name])
            if len(numbers) != len(categories):
                raise SottovoceError("scores", f"must be {len(categories)} numbers, one for each of {name}", numbers)
            found.append(numbers)
        else:
            found.append(_own_scores(name, categories, own, measure))
    return found


def _by_attribute(estimate: Estimate, scores: Any) -> Mapping[str, Any]:
    """Return the scores given by attribute: a mapping, or for a single attribute just its scores."""
    if scores is None:
        return {}
    if not isinstance(scores, Mapping):
        if len(estimate.attributes) > 1:
            rule = "must map attributes to the scores of their categories, such as {'age': [20, 40]}"
            raise SottovoceError("scores", rule, scores)
        return {estimate.attributes[0]: scores}
    unknown = [name for name in scores if name not in estimate.attributes]
    if unknown:
        raise SottovoceError("scores", f"must be of {', '.join(estimate.attributes)}", unknown)
    return scores


def _own_scores(
    name: str, categories: tuple[Label, ...], own: tuple[float, ...] | None, measure: str
) -> tuple[float, ...]:
    """Return the numbers that categories stand for; raise and say what else has a meaning where there are none."""
    if own is not None:
        without = [str(label) for label, number in zip(categories, own, strict=True) if not isfinite(number)]
        if without:
            rule = f"must have a number for every category: {', '.join(without)} of {name} has no midpoint"
            raise SottovoceError("derive", f"{rule}; give scores={{{name!r}: [...]}}", measure)
        return own
    if not any(isinstance(label, str) for label in categories):
        return tuple(float(label) for label in categories)
    if measure == "correlation" and len(categories) == 2:
        return (0.0, 1.0)
    instead = "entropy" if measure == "mean" else "mutual_information"
    rule = f"must suit the categories: those of {name} are text, which has no {measure}"
    raise SottovoceError(
        "derive", f"{rule}; {instead} and the proportions have a meaning, or give scores={{{name!r}: [...]}}", measure
    )


def _shape(categories: Categories) -> tuple[int, int]:
    return len(categories[0]), len(categories[1])


@dataclass(frozen=True, repr=False)
class Derived(TextResult):
    """A functional of an estimate with its interval; where there is none for a plan and a measure, the `reason`.

    `value` is corrected for the `bias` by curvature. `method` says how the interval was computed. An end may be
    infinite. `unit` is that of the numbers, where they have one.
    """

    name: str
    value: float
    bias: float
    standard_error: float | None
    low: float | None
    high: float | None
    level: float
    reason: str | None = None
    method: str | None = "delta method"
    unit: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return all fields; a value that is not defined and an infinite end are None."""
        return json_row(asdict(self))

    def __str__(self) -> str:
        """Name, value, standard error and interval, in one line."""
        unit = "" if self.unit is None else f" {self.unit}"
        if self.reason is not None:
            return f"{self.name}: {self.value:.4f}{unit}, without an interval: {self.reason}"
        if self.standard_error is None:
            return f"{self.name}: {self.value:.4f}{unit}  [{self.low:.4f}, {self.high:.4f}], by {self.method}"
        error = f" +- {self.standard_error:.4f}"
        return f"{self.name}: {self.value:.4f}{error}{unit}  [{self.low:.4f}, {self.high:.4f}]"


def derive(
    estimate: Estimate,
    functional: Functional | str | Callable[[Any], Any],
    level: float = 0.95,
    *,
    scores: Any = None,
    bootstrap: int | None = None,
    rng: Randomness = None,
    progress: Progress | None = None,
) -> Derived:
    """Estimate a functional of the proportions, with an interval by profile likelihood.

    The functional is one of `sottovoce.measures`, a name ("entropy", "mean", "correlation", ...), or any function of
    the cells. `scores`, a number for every category of an attribute, or a mapping from attributes to such numbers, are
    for means and correlations; left out, numbers are their own scores and bins have their midpoints.

    Whether there is an interval depends on the plan, the method and the measure, never on the reports: at most
    `MOST_PROFILED` cells, or a mean or a correlation, have one. It holds the values that a likelihood ratio
    through the channel does not reject (`functional_intervals`); for the table as target, weights, strata and
    models the likelihood is that of a normal distribution with the estimate's covariance. Mutual information, chi^2
    and G^2 hold 0 exactly where the test of independence does not reject at this level. An odds ratio ends at
    infinity where a table with an empty cell is not rejected.

    With `bootstrap` samples, an interval comes from a test that is inverted by simulation instead (see
    `accepted_values`), for inversions. `rng` is a generator or a seed.

    >>> from sottovoce.estimates.proportions import estimate_proportions
    >>> from sottovoce.plans.budget import new_plan
    >>> from sottovoce.schemas.attribute import Attribute
    >>> from sottovoce.schemas.schema import Schema
    >>> plan = new_plan(Schema([Attribute("children", [0, 1, 2])]), odds=3)
    >>> children = estimate_proportions({"children": [0] * 400 + [1] * 300 + [2] * 300}, plan, "children")
    >>> print(derive(children, "mean"))
    mean: 0.7500 +- 0.0657  [0.6219, 0.8791]
    >>> print(derive(children, "entropy"))
    entropy: 1.5098 +- 0.0400 bits  [1.4066, 1.5576]
    """
    measure = as_functional(functional, estimate, scores)
    checked_level(level)
    if bootstrap is not None:
        return _by_bootstrap(estimate, measure, level, bootstrap, np.random.default_rng(rng), progress)
    if len(estimate.value) > MOST_PROFILED:
        return _of_many_cells(estimate, measure, level)
    return _by_profile(estimate, measure, level)


def _by_bootstrap(
    estimate: Estimate,
    measure: Functional,
    level: float,
    bootstrap: int,
    rng: np.random.Generator,
    progress: Progress | None,
) -> Derived:
    draws = checked_draws(bootstrap, len(estimate.value))
    source = estimate.covariances
    if not isinstance(source, InversionCovariance) or len(estimate.value) > MOST_CELLS:
        rule = f"must be left out but for plain inversions of at most {MOST_CELLS} cells"
        raise SottovoceError("bootstrap", rule, bootstrap)
    unit = getattr(measure, "unit", None)
    try:
        test = accepted_values(source, measure, level, draws, rng, progress)
    except SottovoceError as reason:
        return _without_interval(measure, source.value, level, f"the bootstrap has none ({reason})")
    bias = measure.value(nearest_distribution(source.value)) - test.value
    return Derived(measure.name, test.value, bias, None, test.low, test.high, level, None, "bootstrap", unit)


def _of_many_cells(estimate: Estimate, measure: Functional, level: float) -> Derived:
    """Return the delta method's interval of a mean or a correlation, which many cells make no worse."""
    derived = delta_method(estimate, measure, level)
    if isinstance(measure, Mean | PearsonCorrelation):
        return derived
    rule = f"of more than {MOST_PROFILED} cells only mean and correlation have one"
    return _without_interval(measure, estimate.value, level, rule, derived.bias)


def _by_profile(estimate: Estimate, measure: Functional, level: float) -> Derived:
    """Return the interval by profile likelihood, and the value at its maximum, less its bias."""
    evidence, method = evidence_of(estimate)
    bent = LogOddsRatio() if isinstance(measure, OddsRatio) else measure
    ratio = isinstance(bent, LogOddsRatio)
    steep = next((sign for kind, sign in STEEP.items() if isinstance(bent, kind)), 0)
    null = _null(bent, len(estimate.value))
    profile = Profile(evidence, bent, level, null=null, steep=steep, scored=not (steep or ratio))
    low, high = _low_end(profile, estimate), _high_end(profile)
    if isinstance(bent, Mean | PearsonCorrelation | RiskDifference):
        # Extremes are found from inside: what is a hundredth of a standard error from the end of the range is there.
        least, most = (min(bent.scores), max(bent.scores)) if isinstance(bent, Mean) else (-1.0, 1.0)
        low = least if low - least < profile.scale / 100 else low
        high = most if most - high < profile.scale / 100 else high
    bias = 0.0 if isinstance(bent, Mean) or ratio else profile.bias
    value = bent.value(evidence.unbiased if isinstance(bent, Mean) else profile.start) - bias
    value = _log_odds_ratio(profile.start, value) if ratio else value
    value, error = float(np.clip(value, low, high)), profile.standard_error if isfinite(value) else None
    if isinstance(measure, OddsRatio):
        value, low, high = (float(np.exp(number)) for number in (value, low, high))
        error = None if error is None else value * error
    return Derived(measure.name, value, bias, error, low, high, level, None, method, getattr(measure, "unit", None))


STEEP = {Entropy: -1, MutualInformation: 1, GSquared: 1}
"""Functionals that are infinitely steep at zero cells, and the sign of the end that these pin."""

INDEPENDENCE = MutualInformation | GSquared | ChiSquared
"""Functionals that are zero exactly at independence."""

EMPTY = 1e-6
"""Proportion below which a cell of the distribution of maximal likelihood is zero."""


def _null(functional: Functional, cells: int) -> Null | None:
    """Return where the gradient of a functional vanishes: entropy's at uniformity, others' at independence."""
    if isinstance(functional, Entropy):
        return Null(lambda p: np.full(cells, 1 / cells), cells - 1)
    if not isinstance(functional, INDEPENDENCE):
        return None
    rows, columns = functional.shape

    def independent(p: Array) -> Array:
        table = p.reshape(rows, columns)
        return np.outer(table.sum(axis=1), table.sum(axis=0)).ravel()

    return Null(independent, (rows - 1) * (columns - 1))


def _low_end(profile: Profile, estimate: Estimate) -> float:
    """Return the lower end: minus infinity, or the least value of all, where these are not rejected."""
    functional = profile.functional
    if isinstance(functional, LogOddsRatio) and any(profile.reaches(cell) for cell in (0, 3)):
        return -inf
    if isinstance(functional, Entropy) and any(profile.accepts(vertex) for vertex in np.eye(len(profile.start))):
        return 0.0
    if isinstance(functional, INDEPENDENCE):
        accepted = _accepts_independence(profile, estimate, functional.shape)
        return 0.0 if accepted else max(profile.end(-1), float(np.finfo(float).tiny))
    return profile.end(-1)


def _high_end(profile: Profile) -> float:
    """Return the upper end: infinity, or the greatest value of all, where these are not rejected."""
    functional, cells = profile.functional, len(profile.start)
    if isinstance(functional, LogOddsRatio) and any(profile.reaches(cell) for cell in (1, 2)):
        return inf
    if isinstance(functional, Entropy) and profile.accepts(np.full(cells, 1 / cells)):
        return log2(cells)
    return profile.end(1)


def _accepts_independence(profile: Profile, estimate: Estimate, shape: tuple[int, int]) -> bool:
    """Return whether independence is not rejected: by the test on the reports, or by the normal likelihood."""
    source = report_source(estimate)
    if source is None:
        return profile.end(-1) <= 1e-4 * profile.end(1)
    statistic, _ = independence_statistic(source.channel, source.reported * source.respondents, source.order, shape)
    return chi_square_tail(statistic, (shape[0] - 1) * (shape[1] - 1)) >= 1 - profile.level


def _log_odds_ratio(p: Array, value: float) -> float:
    """Return the log odds ratio of maximal likelihood, infinite or undefined where cells are empty."""
    above, below = min(p[0], p[3]) < EMPTY, min(p[1], p[2]) < EMPTY
    return nan if above and below else -inf if above else inf if below else value


def delta_method(estimate: Estimate, functional: Functional, level: float = 0.95) -> Derived:
    """Return value, standard error and interval by the delta method, or the reason why it does not hold.

    A functional f of an estimate p with covariance S is `f(p) - b` with variance `g^T S g`, g the gradient; the bias of
    second order, `b = tr(H S) / 2`, is computed by differences of f along the principal directions of S. That is wrong
    where the gradient vanishes, and where noise reaches cells at zero of a functional that needs positive
    ones. Before anyone is asked this says how large errors will be; from reports, `derive` has intervals.
    """
    deviations = critical_value(level)
    p, covariance = estimate.value, estimate.covariance
    try:
        value = functional.value(p)
        gradient = functional.gradient(p)
        bias = 0.0 if isinstance(functional, Mean) else _bias(functional, p, covariance)  # a mean is linear
        _check_reach(functional, p, estimate.standard_error)
    except SottovoceError as reason:
        return _without_interval(functional, p, level, f"noise reaches where it is not defined ({reason})")
    error = max(float(gradient @ covariance @ gradient), 0.0) ** 0.5
    if abs(bias) > SMALL_BIAS * error:
        why = f"its curvature biases it by {abs(bias):.2g}, more than a tenth of its standard error, {error:.2g}"
        return _without_interval(functional, p, level, why, bias)
    half, unit = deviations * error, getattr(functional, "unit", None)
    return Derived(
        functional.name, value - bias, bias, error, value - bias - half, value - bias + half, level, unit=unit
    )


def _bias(functional: Functional, p: Array, covariance: Array) -> float:
    """Return half the trace of Hessian times covariance, by differences along the principal directions."""
    sizes, directions = np.linalg.eigh(covariance)
    total, here = 0.0, functional.value(p)
    for size, direction in zip(sizes, directions.T, strict=True):
        if size > 1e-12 * sizes[-1]:
            step = np.sqrt(size) * (direction - direction.mean())
            total += functional.value(p + step) - 2 * here + functional.value(p - step)
    return total / 2


def _check_reach(functional: Functional, p: Array, errors: Array) -> None:
    """Compute the value where noise could push each cell; functionals that need positive cells raise."""
    for cell in np.flatnonzero(p < CLEAR_OF_ZERO * errors):
        moved = p.copy()
        moved[cell] -= CLEAR_OF_ZERO * errors[cell]
        moved[np.argmax(p)] += CLEAR_OF_ZERO * errors[cell]
        functional.value(moved)


def _without_interval(functional: Functional, p: Array, level: float, reason: str, bias: float = 0.0) -> Derived:
    """Return the value at the nearest distribution, for orientation, and the reason why there is no interval."""
    try:
        value = functional.value(nearest_distribution(p)) - bias
    except SottovoceError:
        value = float("nan")
    unit = getattr(functional, "unit", None)
    return Derived(functional.name, value, bias, None, None, None, level, reason, None, unit)
