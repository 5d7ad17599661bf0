"""Likelihood of a regression through a channel, its derivatives, and its maximum.

A respondent has an outcome k and disguised predictors z, both unknown, and sent a report r. With clear predictors x,

    L = sum_z P(z | x) sum_k A[r | k, z] f(k | x, z),

f by a family of models, `P(z | x)` multinomial. With `q` the probabilities of (z, k) given the report, the score is the
mean of the scores that respondents would have with their truths known, and the information is the mean information
minus the covariance of these scores (Louis 1982), both under q. An outcome that is known is a channel that tells it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sottovoce.checks import Array
from sottovoce.mining.regression.families import Family, Multinomial, Terms

ROWS_AT_ONCE = 2**14
"""Rows that are computed together: their scores fit the cache."""

TOLERANCE = 1e-10
"""Gain in log-likelihood, as half the score's squared length in the information, below which a search ends."""

MOST_STEPS = 200
MOST_HALVINGS = 40


@dataclass(frozen=True)
class Problem:
    """What is known of the respondents, and the model.

    `reports` numbers each respondent's report, and `emission` has reports x predictors' cells x categories: the
    probability of a report given both. `designs` has one matrix for each cell of the disguised predictors, `background`
    their own design. `outcome` is a number for each row in families of numbers. `weights` multiply the rows'
    log-likelihoods.
    """

    family: Family
    designs: Sequence[Array]
    reports: NDArray[np.int64]
    emission: Array
    weights: Array
    background: Array | None = None
    outcome: Array | None = None

    @cached_property
    def log_emission(self) -> Array:
        """Logarithms of the emission; minus infinity for what is impossible."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.emission))

    @property
    def predictors(self) -> Multinomial | None:
        """Family of the disguised predictors, if there are any."""
        return None if self.background is None else Multinomial(len(self.designs))

    def split(self, coefficients: Array) -> tuple[Array, Array]:
        """Coefficients of the outcome, and of the disguised predictors."""
        if self.background is None:
            return coefficients, coefficients[:0]
        outcome, predictors = np.split(coefficients, [len(coefficients) - self.nuisances])
        return outcome, predictors

    @property
    def nuisances(self) -> int:
        """Number of coefficients of the disguised predictors."""
        return 0 if self.background is None else (len(self.designs) - 1) * self.background.shape[1]


class Derivatives(NamedTuple):
    """Log-likelihood, every row's and its score, both without its weight, and the observed information."""

    log_likelihood: float
    logs: Array
    scores: Array
    information: Array


def log_likelihood(problem: Problem, coefficients: Array) -> float:
    """Return the log-likelihood; minus infinity where a report is impossible."""
    total = 0.0
    for rows in _parts(problem):
        logs = _joint(problem, rows, coefficients)[0]
        peak = logs.max(axis=(1, 2))
        if not np.isfinite(peak).all():
            return -np.inf
        total += problem.weights[rows] @ (peak + np.log(np.exp(logs - peak[:, None, None]).sum(axis=(1, 2))))
    return float(total)


def derivatives(problem: Problem, coefficients: Array) -> Derivatives:
    """Return log-likelihood, scores and observed information."""
    count = len(coefficients)
    information, scores = np.zeros((count, count)), np.empty((len(problem.weights), count))
    every = np.empty(len(problem.weights))
    inner = count - problem.nuisances
    for rows in _parts(problem):
        logs, terms, cells = _joint(problem, rows, coefficients)
        weight = problem.weights[rows]
        peak = logs.max(axis=(1, 2))
        shares = np.exp(logs - peak[:, None, None])
        sums = shares.sum(axis=(1, 2))
        every[rows] = peak + np.log(sums)
        shares /= sums[:, None, None]  # of (z, k) given the report
        score = scores[rows]
        score[:] = 0
        family = problem.family
        for cell, (design, term) in enumerate(zip(problem.designs, terms, strict=True)):
            part, share = design[rows], shares[:, cell]
            mean = np.einsum("ik,ikm->im", share, term.first)
            outer = np.einsum("ik,ikm,ikl->iml", share, term.first, term.first)
            curved = np.einsum("ik,ikml->iml", share, term.second)
            information[:inner, :inner] -= family.curvature(part, weight[:, None, None] * (curved + outer))
            own = family.scores(part, mean)
            score[:, :inner] += own
            if cells is not None and problem.predictors is not None and problem.background is not None:
                background, whole = problem.background[rows], share.sum(axis=1)
                ground = problem.predictors.scores(background, cells.first[:, cell])
                cross = own.T @ (weight[:, None] * ground)
                information[:inner, inner:] -= cross
                information[inner:, :inner] -= cross.T
                first = cells.first[:, cell]
                block = cells.second[:, cell] + first[:, :, None] * first[:, None, :]
                block = (weight * whole)[:, None, None] * block
                information[inner:, inner:] -= problem.predictors.curvature(background, block)
                score[:, inner:] += whole[:, None] * ground
        information += score.T @ (weight[:, None] * score)
    return Derivatives(float(problem.weights @ every), every, scores, information)


def expected_information(problem: Problem, coefficients: Array) -> Array:
    """Return the information that is expected before the reports are seen: the mean of `s s^T` over all reports."""
    count = len(coefficients)
    information = np.zeros((count, count))
    for report in range(len(problem.emission)):
        assumed = replace(problem, reports=np.full(len(problem.weights), report))
        if not np.isfinite(assumed.log_emission[report]).any():
            continue  # nobody can send it
        found = derivatives(assumed, coefficients)
        chance = np.exp(found.logs)
        information += found.scores.T @ ((problem.weights * chance)[:, None] * found.scores)
    return information


def _parts(problem: Problem) -> list[slice]:
    return [slice(start, start + ROWS_AT_ONCE) for start in range(0, len(problem.weights), ROWS_AT_ONCE)]


def _joint(problem: Problem, rows: slice, coefficients: Array) -> tuple[Array, list[Terms], Terms | None]:
    """Logarithms of the joint probability of predictors, outcome and report, and the terms that they are made of."""
    own, ground = problem.split(coefficients)
    outcome = None if problem.outcome is None else problem.outcome[rows]
    family = problem.family
    terms = [family.terms(family.eta(design[rows], own), outcome) for design in problem.designs]
    logs = problem.log_emission[problem.reports[rows]]
    for cell, term in enumerate(terms):
        logs[:, cell] += term.value
    if problem.predictors is None or problem.background is None:
        return logs, terms, None
    cells = problem.predictors.terms(problem.predictors.eta(problem.background[rows], ground))
    return logs + cells.value[:, :, None], terms, cells


@dataclass(frozen=True)
class Fit:
    """The maximum of a likelihood: coefficients, derivatives there, steps, and whether the search came to its end."""

    problem: Problem
    coefficients: Array
    log_likelihood: float
    scores: Array
    information: Array
    steps: int
    converged: bool


def maximise(problem: Problem, start: Array, fixed: int | None = None) -> Fit:
    """Climb by Newton's method with halved steps; where the information is not positive, by that of the scores.

    The log-likelihood never falls. The search has converged when a further step would gain less than `TOLERANCE`. A
    coefficient that is `fixed` stays as it is.
    """
    point = np.asarray(start, dtype=np.float64)
    free = np.arange(len(point)) != fixed
    here = derivatives(problem, point)
    for step in range(1, MOST_STEPS + 1):
        gradient = problem.weights @ here.scores
        direction = np.zeros_like(point)
        direction[free] = _direction(problem, here, gradient, free)
        gain = float(gradient @ direction) / 2
        if gain < TOLERANCE:
            return _fit(problem, point, here, step - 1, converged=True)
        length, value = 1.0, -np.inf
        for _ in range(MOST_HALVINGS):
            value = log_likelihood(problem, point + length * direction)
            if value >= here.log_likelihood:
                break
            length /= 2
        else:
            return _fit(problem, point, here, step, converged=gain < 1e-6)
        point = point + length * direction
        here = derivatives(problem, point)
    return _fit(problem, point, here, MOST_STEPS, converged=False)


def _direction(problem: Problem, here: Derivatives, gradient: Array, free: NDArray[np.bool_]) -> Array:
    """Newton's step of the free coefficients, or one that surely leads upwards."""
    gradient, chosen = gradient[free], np.ix_(free, free)
    scale = np.sqrt(np.maximum(np.abs(np.diag(here.information)[free]), 1e-12))
    for each in (here.information, here.scores.T @ (problem.weights[:, None] * here.scores)):
        matrix = each[chosen]
        try:
            root = np.linalg.cholesky(matrix / np.outer(scale, scale))
        except np.linalg.LinAlgError:
            continue
        return np.asarray(np.linalg.solve(root.T, np.linalg.solve(root, gradient / scale)) / scale)
    return np.asarray(gradient / scale**2)


def _fit(problem: Problem, point: Array, here: Derivatives, steps: int, *, converged: bool) -> Fit:
    return Fit(problem, point, here.log_likelihood, here.scores, here.information, steps, converged)
