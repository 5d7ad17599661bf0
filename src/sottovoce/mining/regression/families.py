"""Families of regression models: the distribution of an outcome given linear predictors, and its derivatives.

A family says how the linear predictors `eta` (one column or several) follow from a design matrix and the coefficients,
and gives `log f` of every category of the outcome, or of the outcome itself if that is a number, with its first and
second derivatives by `eta`. The likelihood through a channel (`likelihood`) needs no more of a model.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from sottovoce.checks import Array

SMALLEST = 1e-300
"""Probabilities below this are taken for it, so that logarithms stay finite."""


class Terms(NamedTuple):
    """Logarithms of probabilities or densities (rows x categories), and their derivatives by the linear predictors.

    `first` has rows x categories x predictors; `second` has one more axis of predictors.
    """

    value: Array
    first: Array
    second: Array


class Family(ABC):
    """An outcome given linear predictors. `categories` is 1 for outcomes that are numbers."""

    categories: int
    predictors: int
    """Number of linear predictors of each row."""

    @abstractmethod
    def eta(self, design: Array, coefficients: Array) -> Array:
        """Linear predictors, rows x predictors."""

    @abstractmethod
    def terms(self, eta: Array, outcome: Any = None) -> Terms:
        """Log-probabilities of all categories, or the log-density of an `outcome` that is a number."""

    def means(self, eta: Array) -> tuple[Array, Array]:
        """Probabilities of the categories, or the mean of a number, and their derivatives by the linear predictors."""
        terms = self.terms(eta)
        shares = np.exp(terms.value)
        return shares, shares[:, :, None] * terms.first

    @abstractmethod
    def scores(self, design: Array, gradient: Array) -> Array:
        """Derivatives by the coefficients, rows x coefficients, from those by the linear predictors."""

    @abstractmethod
    def curvature(self, design: Array, blocks: Array) -> Array:
        """Sum over rows of `J^T B J`: J the derivatives of the predictors by the coefficients, B the rows' `blocks`."""

    @abstractmethod
    def names(self, columns: Sequence[str], labels: Sequence[str]) -> list[str]:
        """Names of the coefficients, from those of the columns of the design and of the outcome's categories."""

    @abstractmethod
    def start(self, design: Array, shares: Array) -> Array:
        """Coefficients at which a search begins, from rough shares of the categories, or the mean and deviation."""


class Separate(Family):
    """Families in which every linear predictor has coefficients of its own."""

    def eta(self, design: Array, coefficients: Array) -> Array:
        """Return one column for each predictor."""
        return np.asarray(design @ coefficients.reshape(self.predictors, -1).T)

    def scores(self, design: Array, gradient: Array) -> Array:
        """Return the coefficients of the first predictor, then those of the second, ..."""
        return np.asarray((gradient[:, :, None] * design[:, None, :]).reshape(len(design), -1))

    def curvature(self, design: Array, blocks: Array) -> Array:
        """Return a matrix of blocks, one for each pair of predictors."""
        width = design.shape[1]
        whole = np.empty((self.predictors * width, self.predictors * width))
        for row in range(self.predictors):
            for column in range(self.predictors):
                part = design.T @ (blocks[:, row, column, None] * design)
                whole[row * width : (row + 1) * width, column * width : (column + 1) * width] = part
        return whole


class Link(ABC):
    """A distribution function F, by which the probability of a yes follows from the linear predictor."""

    @abstractmethod
    def logs(self, eta: Array) -> tuple[Terms, Terms]:
        """Terms of `log F` and of `log (1 - F)`, without axes of categories and predictors."""

    @abstractmethod
    def density(self, eta: Array) -> tuple[Array, Array]:
        """Density `F'` and its derivative."""

    @abstractmethod
    def inverse(self, probability: Array) -> Array:
        """Linear predictor at which F has this value."""

    def probability(self, eta: Array) -> Array:
        """Value of F."""
        return np.asarray(np.exp(self.logs(eta)[0].value))


class Logit(Link):
    """`F = 1 / (1 + exp(-eta))`."""

    def logs(self, eta: Array) -> tuple[Terms, Terms]:
        """Closed forms that neither overflow nor lose digits."""
        size = np.exp(-np.abs(eta))
        share = np.where(eta >= 0, 1, size) / (1 + size)
        curved = -size / (1 + size) ** 2
        tail = np.log1p(size)
        yes = Terms(np.minimum(eta, 0) - tail, 1 - share, curved)
        return yes, Terms(np.minimum(-eta, 0) - tail, -share, curved)

    def density(self, eta: Array) -> tuple[Array, Array]:
        """Return `F (1 - F)` and `F (1 - F) (1 - 2 F)`."""
        share = self.probability(eta)
        return share * (1 - share), share * (1 - share) * (1 - 2 * share)

    def inverse(self, probability: Array) -> Array:
        """Log odds."""
        return np.asarray(np.log(probability) - np.log1p(-probability))


class Probit(Link):
    """F is the standard normal distribution function."""

    def logs(self, eta: Array) -> tuple[Terms, Terms]:
        """With `r = F' / F`, the derivatives are r and `-r (eta + r)`; `1 - F(eta) = F(-eta)`."""
        yes, no = self._side(eta), self._side(-eta)
        return yes, Terms(no.value, -no.first, no.second)

    def _side(self, eta: Array) -> Terms:
        from scipy.special import log_ndtr

        value = log_ndtr(eta)
        ratio = np.exp(-0.5 * eta**2 - 0.5 * np.log(2 * np.pi) - value)
        return Terms(value, ratio, -ratio * (eta + ratio))

    def density(self, eta: Array) -> tuple[Array, Array]:
        """Return the normal density, and its derivative."""
        density = np.exp(-0.5 * eta**2) / np.sqrt(2 * np.pi)
        return density, -eta * density

    def inverse(self, probability: Array) -> Array:
        """Normal quantile."""
        from scipy.special import ndtri

        return np.asarray(ndtri(probability))


class Cloglog(Link):
    """`F = 1 - exp(-exp(eta))`."""

    def logs(self, eta: Array) -> tuple[Terms, Terms]:
        """With `t = exp(eta)` and `h = t / (exp(t) - 1)`, the derivatives of `log F` are h and `h (1 - t - h)`."""
        rate = np.exp(np.minimum(eta, 700))
        inner = np.clip(rate, 1e-10, 700)
        rise = np.where(rate > 700, 0, inner / np.expm1(inner))
        share = np.log(np.maximum(-np.expm1(-rate), SMALLEST))
        return Terms(share, rise, rise * (1 - rate - rise)), Terms(-rate, -rate, -rate)

    def density(self, eta: Array) -> tuple[Array, Array]:
        """Return `t exp(-t)` and `t exp(-t) (1 - t)`."""
        rate = np.exp(np.minimum(eta, 700))
        density = rate * np.exp(-rate)
        return density, density * (1 - rate)

    def inverse(self, probability: Array) -> Array:
        """Logarithm of the rate."""
        return np.asarray(np.log(-np.log1p(-probability)))


class Cauchit(Link):
    """F is the distribution function of Cauchy's distribution."""

    def logs(self, eta: Array) -> tuple[Terms, Terms]:
        """From density over probability; tails by the arc tangent of the reciprocal."""
        yes, no = self._side(eta), self._side(-eta)
        return yes, Terms(no.value, -no.first, no.second)

    def _side(self, eta: Array) -> Terms:
        share = np.arctan2(1, -eta) / np.pi
        density, slope = self.density(eta)
        ratio = density / share
        return Terms(np.log(share), ratio, slope / share - ratio**2)

    def density(self, eta: Array) -> tuple[Array, Array]:
        """Return `1 / (pi (1 + eta^2))`, and its derivative."""
        density = 1 / (np.pi * (1 + eta**2))
        return density, -2 * eta * np.pi * density**2

    def inverse(self, probability: Array) -> Array:
        """Cauchy's quantile."""
        return np.asarray(np.tan(np.pi * (probability - 0.5)))


LINKS: dict[str, Link] = {"logit": Logit(), "probit": Probit(), "cloglog": Cloglog(), "cauchit": Cauchit()}


@dataclass(frozen=True)
class Binary(Separate):
    """Two categories: `P(second) = F(x b)`."""

    link: Link
    categories = 2
    predictors = 1

    def terms(self, eta: Array, outcome: Any = None) -> Terms:
        """Both categories."""
        yes, no = self.link.logs(eta[:, 0])
        joined = [np.stack(pair, axis=1) for pair in zip(no, yes, strict=True)]
        return Terms(joined[0], joined[1][:, :, None], joined[2][:, :, None, None])

    def names(self, columns: Sequence[str], labels: Sequence[str]) -> list[str]:
        """Those of the columns."""
        return list(columns)

    def start(self, design: Array, shares: Array) -> Array:
        """The share of the second category for everyone."""
        return _least_squares(design, self.link.inverse(shares[1:]))


@dataclass(frozen=True)
class Multinomial(Separate):
    """Several categories: `log P(k) / P(first) = x b_k`."""

    categories: int

    @property
    def predictors(self) -> int:  # type: ignore[override]
        """One for each category but the first."""
        return self.categories - 1

    def terms(self, eta: Array, outcome: Any = None) -> Terms:
        """With probabilities P, the derivatives of `log P(k)` by `eta_j` are `[k = j] - P(j)`."""
        rows = len(eta)
        whole = np.concatenate([np.zeros((rows, 1)), eta], axis=1)
        whole -= whole.max(axis=1, keepdims=True)
        value = whole - np.log(np.exp(whole).sum(axis=1, keepdims=True))
        shares = np.exp(value[:, 1:])
        first = np.eye(self.categories)[None, :, 1:] - shares[:, None, :]
        curved = shares[:, :, None] * shares[:, None, :]
        curved[:, np.arange(self.predictors), np.arange(self.predictors)] -= shares
        return Terms(value, first, np.broadcast_to(curved[:, None], (rows, self.categories, *curved.shape[1:])))

    def names(self, columns: Sequence[str], labels: Sequence[str]) -> list[str]:
        """Category and column."""
        return [f"{label}: {column}" for label in labels[1:] for column in columns]

    def start(self, design: Array, shares: Array) -> Array:
        """The shares of the categories for everyone."""
        return _least_squares(design, np.log(shares[1:] / shares[0]))


@dataclass(frozen=True)
class Ordinal(Family):
    """Ordered categories: `P(at most k) = F(t_k - x b)`, with thresholds `t_1 < t_2 < ...` and without an intercept."""

    categories: int
    link: Link

    @property
    def predictors(self) -> int:  # type: ignore[override]
        """One for each threshold."""
        return self.categories - 1

    def eta(self, design: Array, coefficients: Array) -> Array:
        """Thresholds minus what the design adds."""
        thresholds, slopes = np.split(coefficients, [self.predictors])
        return np.asarray(thresholds - (design @ slopes)[:, None])

    def terms(self, eta: Array, outcome: Any = None) -> Terms:
        """`P(k) = F(eta_k) - F(eta_{k - 1})`; no category is possible where thresholds are out of order."""
        rows, count = len(eta), self.predictors
        below, above = self.link.logs(eta)
        # Differences of the smaller tails, which keep their digits.
        upper = np.concatenate([np.exp(below.value), np.ones((rows, 1))], axis=1)
        lower = np.concatenate([np.zeros((rows, 1)), np.exp(below.value)], axis=1)
        rest_upper = np.concatenate([np.exp(above.value), np.zeros((rows, 1))], axis=1)
        rest_lower = np.concatenate([np.ones((rows, 1)), np.exp(above.value)], axis=1)
        shares = np.where(lower > 0.5, rest_lower - rest_upper, upper - lower)
        shares, ordered = np.maximum(shares, SMALLEST), (np.diff(eta, axis=1) > 0).all(axis=1, keepdims=True)
        value = np.where(ordered, np.log(shares), -np.inf)
        density, slope = (np.where(ordered, part, 0) for part in self.link.density(eta))
        first = np.zeros((rows, self.categories, count))
        second = np.zeros((rows, self.categories, count, count))
        numbers = np.arange(count)
        first[:, numbers, numbers] = density / shares[:, :-1]
        first[:, numbers + 1, numbers] = -density / shares[:, 1:]
        second[:, numbers, numbers, numbers] = slope / shares[:, :-1]
        second[:, numbers + 1, numbers, numbers] = -slope / shares[:, 1:]
        return Terms(value, first, second - first[:, :, :, None] * first[:, :, None, :])

    def scores(self, design: Array, gradient: Array) -> Array:
        """Thresholds first."""
        return np.concatenate([gradient, -gradient.sum(axis=1, keepdims=True) * design], axis=1)

    def curvature(self, design: Array, blocks: Array) -> Array:
        """Thresholds first."""
        sides = blocks.sum(axis=2)
        corner, edge = blocks.sum(axis=0), -sides.T @ design
        inner = design.T @ (sides.sum(axis=1)[:, None] * design)
        return np.asarray(np.block([[corner, edge], [edge.T, inner]]))

    def names(self, columns: Sequence[str], labels: Sequence[str]) -> list[str]:
        """Thresholds by the categories that they divide."""
        return [*(f"{low} | {high}" for low, high in pairwise(labels)), *columns]

    def start(self, design: Array, shares: Array) -> Array:
        """Thresholds at the quantiles of the shares."""
        return np.concatenate([self.link.inverse(np.cumsum(shares)[:-1]), np.zeros(design.shape[1])])


@dataclass(frozen=True)
class Gaussian(Family):
    """A number: normal around `x b` with one standard deviation, whose logarithm is the last coefficient."""

    categories = 1
    predictors = 2

    def eta(self, design: Array, coefficients: Array) -> Array:
        """The mean, and the logarithm of the standard deviation."""
        deviation = np.full(len(design), coefficients[-1])
        return np.stack([design @ coefficients[:-1], deviation], axis=1)

    def terms(self, eta: Array, outcome: Any = None) -> Terms:
        """Logarithm of the normal density at the outcome."""
        precision = np.exp(-2 * eta[:, 1])
        left = outcome - eta[:, 0]
        scaled = left**2 * precision
        value = -eta[:, 1] - 0.5 * scaled - 0.5 * np.log(2 * np.pi)
        first = np.stack([left * precision, scaled - 1], axis=1)
        cross = -2 * left * precision
        second = np.stack([np.stack([-precision, cross], axis=1), np.stack([cross, -2 * scaled], axis=1)], axis=1)
        return Terms(value[:, None], first[:, None], second[:, None])

    def means(self, eta: Array) -> tuple[Array, Array]:
        """The first linear predictor."""
        return eta[:, :1], np.broadcast_to([[[1.0, 0.0]]], (len(eta), 1, 2))

    def scores(self, design: Array, gradient: Array) -> Array:
        """The deviation last."""
        return np.concatenate([gradient[:, :1] * design, gradient[:, 1:]], axis=1)

    def curvature(self, design: Array, blocks: Array) -> Array:
        """The deviation last."""
        inner = design.T @ (blocks[:, 0, 0, None] * design)
        edge = (blocks[:, 0, 1] @ design)[:, None]
        return np.asarray(np.block([[inner, edge], [edge.T, blocks[:, 1, 1].sum()]]))

    def names(self, columns: Sequence[str], labels: Sequence[str]) -> list[str]:
        """Those of the columns, and the deviation."""
        return [*columns, "log(standard deviation)"]

    def start(self, design: Array, shares: Array) -> Array:
        """Mean and standard deviation of the outcome."""
        mean, deviation = shares
        return np.append(_least_squares(design, np.array([mean])), np.log(max(deviation, SMALLEST)))


@dataclass(frozen=True)
class Poisson(Separate):
    """A count with mean `exp(x b)`."""

    categories = 1
    predictors = 1

    def terms(self, eta: Array, outcome: Any = None) -> Terms:
        """`y eta - exp(eta) - log y!`."""
        from scipy.special import gammaln

        line = eta[:, 0]
        mean = np.exp(np.minimum(line, 700))
        value = outcome * line - mean - gammaln(outcome + 1)
        return Terms(value[:, None], (outcome - mean)[:, None, None], -mean[:, None, None, None])

    def means(self, eta: Array) -> tuple[Array, Array]:
        """Exponential of the linear predictor."""
        mean = np.exp(np.minimum(eta, 700))
        return mean, mean[:, :, None]

    def names(self, columns: Sequence[str], labels: Sequence[str]) -> list[str]:
        """Those of the columns."""
        return list(columns)

    def start(self, design: Array, shares: Array) -> Array:
        """The mean for everyone."""
        return _least_squares(design, np.log(np.maximum(shares[:1], SMALLEST)))


def _least_squares(design: Array, levels: Array) -> Array:
    """Coefficients that come nearest to constant linear predictors, which are exact if there is an intercept."""
    constant = np.linalg.lstsq(design, np.ones(len(design)), rcond=None)[0]
    return np.concatenate([level * constant for level in levels])
