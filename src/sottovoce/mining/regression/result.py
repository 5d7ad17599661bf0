"""The result of a regression: coefficients with standard errors, intervals and tests."""

import re
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from sottovoce.checks import Array, one_of
from sottovoce.checks import level as checked_level
from sottovoce.errors import SottovoceError, Words
from sottovoce.estimates.presentation import ResultTable, TextResult
from sottovoce.mining.regression.families import (
    LINKS,
    SMALLEST,
    Binary,
    Family,
    Gaussian,
    Link,
    Logit,
    Multinomial,
    Ordinal,
    Poisson,
)
from sottovoce.mining.regression.formula import Designs
from sottovoce.mining.regression.likelihood import Fit, expected_information, maximise
from sottovoce.mining.regression.respondents import Respondents
from sottovoce.tables.figures import ACCENT, INK, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Information = Literal["observed", "expected"]

SHIFT = re.compile(r"Intercept$| \| |^log\(standard deviation\)$")
"""Names of coefficients that do not belong to predictors."""

FEWEST_UNITS = 2
"""Fewest clusters, or respondents of a stratum, whose sums have a variance."""

LARGEST_STEP = 10.0
"""Standard error beyond which a coefficient is taken for one without a finite estimate."""

MOST_DOUBLINGS = 12
"""How often the search for the end of an interval goes twice as far."""


@dataclass(frozen=True)
class Covariance:
    """Covariance matrix of all coefficients, where it comes from, and degrees of freedom of t; infinite for normal."""

    matrix: Array
    source: str
    freedom: float = inf


def sample_covariance(fit: Fit, people: Respondents, information: Information) -> Covariance:
    """Invert the information; with weights, clusters or strata, wrap it around the variance of the scores (sandwich).

    The scores of a cluster are added; within each stratum, sums are compared with their mean (Binder 1983).
    """
    matrix = fit.information if information == "observed" else expected_information(fit.problem, fit.coefficients)
    try:
        inverse: Array = np.asarray(np.linalg.inv(matrix), dtype=np.float64)
    except np.linalg.LinAlgError:
        inverse = np.full_like(matrix, np.nan)
    if people.weights is None and people.clusters is None and people.strata is None:
        return Covariance(inverse, f"{information} information")
    weighted = fit.scores if people.weights is None else fit.scores * people.weights[:, None]
    variance, freedom = _variance_of_sums(weighted, people)
    source = "scores of clusters" if people.clusters is not None else "scores within strata"
    source = "weighted scores" if people.clusters is None and people.strata is None else source
    return Covariance(inverse @ variance @ inverse, source, freedom)


def _variance_of_sums(scores: Array, people: Respondents) -> tuple[Array, float]:
    """Variance of the sum of the scores over sampled units, and degrees of freedom: clusters minus strata.

    Units are clusters, or respondents; rows that stand for several equal respondents count as often.
    """
    rows = len(scores)
    times = people.frequencies
    units = np.arange(rows) if people.clusters is None else people.clusters
    strata = np.zeros(rows, np.int64) if people.strata is None else people.strata
    if people.clusters is not None:
        pairs, units = np.unique(np.stack([strata, units]), axis=1, return_inverse=True)
        sums = np.zeros((pairs.shape[1], scores.shape[1]))
        np.add.at(sums, units, scores * times[:, None])
        strata, scores, times = pairs[0], sums, np.ones(len(sums))
    number = np.bincount(strata, times)
    if (number < FEWEST_UNITS).any():
        name = "clusters" if people.strata is None else "strata"
        what = "clusters" if people.clusters is not None else "respondents"
        rule = f"must leave at least {FEWEST_UNITS} {what}" + (" in each stratum" if people.strata is not None else "")
        raise SottovoceError(name, rule, Words("one"))
    means = np.zeros((len(number), scores.shape[1]))
    np.add.at(means, strata, scores * times[:, None])
    left = scores - (means / number[:, None])[strata]
    factor = (times * (number / (number - 1))[strata])[:, None]
    sampled = people.clusters is not None or people.strata is not None
    return left.T @ (factor * left), float(number.sum() - len(number)) if sampled else inf


@dataclass(frozen=True, repr=False)
class Regression(ResultTable):
    """Coefficients of a regression through the channel of a plan.

    `estimate` and `standard_error` are those of the coefficients in `names`; the distribution of disguised predictors
    is estimated with them, and not shown.
    """

    formula: str
    family: Family
    labels: tuple[Any, ...]
    names: tuple[str, ...]
    fit: Fit
    covariance_of_all: Covariance
    respondents: Respondents
    designs: Designs
    disguised: tuple[str, ...]

    @property
    def estimate(self) -> Array:
        """Coefficients."""
        return self.fit.coefficients[: len(self.names)]

    @cached_property
    def covariance(self) -> Array:
        """Covariance matrix of the coefficients."""
        return self.covariance_of_all.matrix[: len(self.names), : len(self.names)]

    @cached_property
    def standard_error(self) -> Array:
        """Standard errors of the coefficients."""
        return np.sqrt(np.maximum(np.diag(self.covariance), 0))

    @property
    def log_likelihood(self) -> float:
        """Logarithm of the likelihood at its maximum."""
        return self.fit.log_likelihood

    @property
    def reports(self) -> int:
        """Number of reports."""
        return self.respondents.number

    @property
    def headline(self) -> str:
        """Formula, family, number of reports, and where the standard errors come from."""
        kind = type(self.family).__name__.lower()
        return f"{self.formula}: {self.reports} reports, {kind}, standard errors by {self.covariance_of_all.source}"

    @property
    def notes(self) -> list[str]:
        """What a reader should know."""
        found = [f"log-likelihood {self.log_likelihood:.4f}"]
        if self.respondents.omitted:
            found.append(f"{self.respondents.omitted} reports with missing values were left out")
        if not self.fit.converged:
            found.append("the search for the maximum did not come to its end: do not use these numbers")
        return found

    def to_rows(self, level: float = 0.95) -> list[dict[str, Any]]:
        """Return name, estimate, standard error, interval and p-value of each coefficient."""
        low, high = self.interval(level)
        columns = zip(self.names, self.estimate, self.standard_error, low, high, self.p_value, strict=True)
        keys = ("name", "estimate", "standard_error", "low", "high", "p_value")
        return [dict(zip(keys, (name, *map(float, rest)), strict=True)) for name, *rest in columns]

    def interval(self, level: float = 0.95) -> tuple[Array, Array]:
        """Return the ends of Wald's intervals, by t where clusters or strata limit the degrees of freedom."""
        width = self.quantile(0.5 + checked_level(level) / 2) * self.standard_error
        return self.estimate - width, self.estimate + width

    @cached_property
    def p_value(self) -> Array:
        """Two-sided p-values of Wald's tests that a coefficient is zero."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return 2 * self._tail(np.abs(self.estimate / self.standard_error))

    def profile_interval(self, name: str, level: float = 0.95) -> tuple[float, float]:
        """Return the values of a coefficient that a likelihood-ratio test does not reject; ends may be infinite.

        Where the reports of a group leave only one answer possible (separation), the likelihood grows for ever in one
        direction, and so does the interval.
        """
        number = self.names.index(one_of("name", name, self.names))
        checked_level(level)
        self._check_plain("profile_interval")
        return self._profile_end(number, -1, level), self._profile_end(number, 1, level)

    def _profile_end(self, number: int, sign: int, level: float) -> float:
        from scipy.optimize import brentq
        from scipy.special import chdtri

        allowed = float(chdtri(1, 1 - level)) / 2
        centre, error = float(self.estimate[number]), float(self.standard_error[number])
        step = error if 0 < error < LARGEST_STEP else 1.0
        start = self.fit.coefficients

        def left(distance: float) -> float:
            nonlocal start
            point = start.copy()
            point[number] = centre + sign * distance
            found = maximise(self.fit.problem, point, fixed=number)
            start = found.coefficients
            return allowed - (self.log_likelihood - found.log_likelihood)

        near, far = 0.0, step
        for _ in range(MOST_DOUBLINGS):
            if left(far) < 0:
                return centre + sign * float(brentq(left, near, far, xtol=1e-8 * (1 + far), rtol=1e-10))
            near, far = far, 2 * far
        return sign * inf

    def compare(self, smaller: "Regression") -> "LikelihoodRatio":
        """Test this model against a smaller one of the same reports, by the ratio of their likelihoods.

        Both must be of the same disguised attributes: the reports of others are not part of the likelihood.
        """
        if not isinstance(smaller, Regression) or type(smaller.family) is not type(self.family):
            raise SottovoceError("smaller", "must be a regression of the same family", Words(type(smaller).__name__))
        if smaller.reports != self.reports or set(smaller.disguised) != set(self.disguised):
            rule = f"must be of the same {self.reports} reports of {', '.join(self.disguised) or 'clear columns'}"
            raise SottovoceError("smaller", rule, Words(f"{smaller.reports} of {', '.join(smaller.disguised)}"))
        freedom = len(self.fit.coefficients) - len(smaller.fit.coefficients)
        if freedom < 1:
            raise SottovoceError("smaller", f"must have fewer coefficients than {len(self.names)}", len(smaller.names))
        if not set(smaller.names) <= set(self.names):
            rule = f"must have coefficients that this model has, too ({', '.join(self.names)})"
            raise SottovoceError("smaller", rule, Words(", ".join(smaller.names)))
        self._check_plain("smaller")
        return LikelihoodRatio(max(2 * (self.log_likelihood - smaller.log_likelihood), 0.0), freedom)

    def _check_plain(self, parameter: str) -> None:
        """Refuse samples with weights, clusters or strata, whose likelihood is not that of the respondents."""
        if self.respondents.is_sampled:
            rule = "must be asked of a sample without weights, clusters and strata; use `interval`, whose errors hold"
            raise SottovoceError(parameter, rule, Words(self.covariance_of_all.source))

    def slopes(self, level: float = 0.95) -> list[dict[str, Any]]:
        """Return the rows of `to_rows` but for intercepts, thresholds and the deviation."""
        rows = self.to_rows(level)
        return [row for row in rows if not SHIFT.search(row["name"])]

    def odds_ratios(self, level: float = 0.95) -> "OddsRatios":
        """Return the exponentials of the coefficients, with the ends of their intervals."""
        if not isinstance(self.family, Binary | Multinomial | Ordinal) or not isinstance(self._link, Logit):
            raise SottovoceError("odds_ratios", "must be asked of a logistic model", Words(self.headline))
        return OddsRatios(self, level)

    @property
    def _link(self) -> Link:
        return getattr(self.family, "link", LINKS["logit"])

    def predict(self, frame: Any, level: float = 0.95) -> "Predictions":
        """Predict the outcome of people with these predictors, clear ones and true values of disguised ones.

        Probabilities of categories, or means of numbers. Intervals are of the mean of such people, not of one person.
        """
        design = self.designs.new(frame)
        return Predictions(self, design, checked_level(level))

    def to_json(self, level: float = 0.95) -> dict[str, Any]:
        """Return coefficients, log-likelihood, number of reports and notes."""
        return {
            "coefficients": self.to_rows(level),
            "log_likelihood": self.log_likelihood,
            "reports": self.reports,
            "notes": self.notes,
        }

    def plot(self, level: float = 0.95, *, axes: "Axes | None" = None) -> "Axes":
        """Draw the coefficients with their intervals, but for the intercept and thresholds."""
        shown = self.slopes(level)
        axes = axes or new_axes(7, 1.4 + 0.32 * len(shown))
        for height, row in enumerate(reversed(shown)):
            axes.plot([row["low"], row["high"]], [height, height], color=INK)
            axes.plot(row["estimate"], height, "o", color=ACCENT)
        axes.axvline(0, color=INK, linewidth=0.5)
        axes.set_yticks(range(len(shown)), [row["name"] for row in reversed(shown)])
        axes.set_xlabel(f"coefficient, {100 * level:g} % interval")
        axes.set_title(self.formula)
        return axes

    def quantile(self, probability: float) -> float:
        """Return the quantile of the normal distribution, or of t with the sample's degrees of freedom."""
        from scipy.special import ndtri, stdtrit

        freedom = self.covariance_of_all.freedom
        return float(ndtri(probability) if freedom == inf else stdtrit(freedom, probability))

    def _tail(self, statistic: Array) -> Array:
        from scipy.special import ndtr, stdtr

        freedom = self.covariance_of_all.freedom
        return np.asarray(ndtr(-statistic) if freedom == inf else stdtr(freedom, -statistic))


@dataclass(frozen=True)
class LikelihoodRatio(TextResult):
    """Likelihood-ratio test of a model against a smaller one: twice the gain in log-likelihood, chi-square."""

    statistic: float
    df: int

    @property
    def p_value(self) -> float:
        """Probability of such a gain if the smaller model is true."""
        from scipy.special import chdtrc

        return float(chdtrc(self.df, self.statistic))

    def __str__(self) -> str:
        """Statistic, degrees of freedom and p-value."""
        return f"likelihood ratio {self.statistic:.4f} on {self.df} df, p = {self.p_value:.4g}"


@dataclass(frozen=True, repr=False)
class OddsRatios(ResultTable):
    """Exponentials of the coefficients of a logistic model."""

    regression: Regression
    level: float

    @property
    def headline(self) -> str:
        """What the odds are of."""
        return f"Odds ratios of {self.regression.formula}, {100 * self.level:g} % intervals"

    def to_rows(self) -> list[dict[str, Any]]:
        """Return name, odds ratio and interval, without intercepts and thresholds."""
        rows = [
            r for r in self.regression.to_rows(self.level) if "Intercept" not in r["name"] and " | " not in r["name"]
        ]
        return [
            {"name": row["name"], **{key: float(np.exp(row[key])) for key in ("estimate", "low", "high")}}
            for row in rows
        ]


@dataclass(frozen=True, repr=False)
class Predictions(ResultTable):
    """Predicted probabilities or means of some people, with intervals by the delta method.

    Intervals of probabilities are computed on the scale of log odds, and those of counts on that of logarithms.
    """

    regression: Regression
    design: Array
    level: float

    @property
    def headline(self) -> str:
        """What is predicted, and of how many."""
        return (
            f"Predictions of {self.regression.formula} for {len(self.design)} people, {100 * self.level:g} % intervals"
        )

    def to_rows(self) -> list[dict[str, Any]]:
        """Return a row for each person, and for each category of the outcome if it has some."""
        value, error = self.value, self.standard_error
        low, high = self._interval(value, error)
        labels = self.regression.labels or (None,)
        return [
            {
                "person": person,
                **({} if label is None else {"outcome": label}),
                "estimate": float(value[person, number]),
                "standard_error": float(error[person, number]),
                "low": float(low[person, number]),
                "high": float(high[person, number]),
            }
            for person in range(len(self.design))
            for number, label in enumerate(labels)
        ]

    @cached_property
    def _parts(self) -> tuple[Array, Array]:
        """Means and their derivatives by the linear predictors: people x outcomes, and x predictors."""
        return self.regression.family.means(self._eta)

    @cached_property
    def _eta(self) -> Array:
        return self.regression.family.eta(self.design, self.regression.estimate)

    @property
    def value(self) -> Array:
        """Predicted probabilities or means, people x outcomes."""
        return self._parts[0]

    @cached_property
    def standard_error(self) -> Array:
        """Standard errors of the predictions."""
        family, slopes, covariance = self.regression.family, self._parts[1], self.regression.covariance
        columns = []
        for number in range(slopes.shape[1]):
            gradient = family.scores(self.design, slopes[:, number])
            columns.append(np.sqrt(np.maximum(np.einsum("ip,pq,iq->i", gradient, covariance, gradient), 0)))
        return np.stack(columns, axis=1)

    def _interval(self, value: Array, error: Array) -> tuple[Array, Array]:
        width = self.regression.quantile(0.5 + self.level / 2) * error
        if isinstance(self.regression.family, Gaussian):
            return value - width, value + width
        if isinstance(self.regression.family, Poisson):
            factor = np.exp(width / value)
            return value / factor, value * factor
        inner = np.clip(value, SMALLEST, 1 - 1e-16)
        odds, factor = inner / (1 - inner), np.exp(width / (inner * (1 - inner)))
        return odds / factor / (1 + odds / factor), 1 - 1 / (1 + odds * factor)
