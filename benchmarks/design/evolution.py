"""pymoo's evolutionary algorithms on square matrices: right guesses against error, worst posterior as constraint."""

from typing import Any

import numpy as np
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.algorithms.moo.spea2 import SPEA2
from pymoo.core.problem import Problem
from pymoo.optimize import minimize

from sottovoce.checks import Array
from sottovoce.measures.privacy import adversary_accuracy, worst_posterior
from sottovoce.measures.utility import average_mean_squared_error

POPULATION = 100
ALGORITHMS = {"SPEA2": SPEA2, "NSGA2": NSGA2}


class SquareMatrices(Problem):  # type: ignore[misc]  # pymoo has no types
    """Entries between 0 and 1, columns scaled to one; measured by the same functions as everything here."""

    def __init__(self, prior: Array, respondents: float, delta: float) -> None:
        """Remember what matrices are measured by."""
        self.prior, self.respondents, self.delta = prior, respondents, delta
        super().__init__(n_var=len(prior) ** 2, n_obj=2, n_ieq_constr=1, xl=1e-9, xu=1.0)

    def _evaluate(self, given: Array, out: dict[str, Any], *_: object, **__: object) -> None:
        matrices = self.matrices(given)
        error = average_mean_squared_error(matrices, self.prior, self.respondents)
        out["F"] = np.column_stack([adversary_accuracy(matrices, self.prior), np.minimum(error, 1e3)])
        out["G"] = (worst_posterior(matrices, self.prior) - self.delta)[:, None]

    def matrices(self, given: Array) -> Array:
        """Stack of column-stochastic matrices."""
        square = given.reshape(len(given), len(self.prior), len(self.prior))
        return np.asarray(square / square.sum(axis=1, keepdims=True))


def evolved(name: str, prior: Array, respondents: float, delta: float, generations: int) -> Array:
    """Objectives of the front that an algorithm finds, started from random matrices between noise and the truth."""
    rng = np.random.default_rng(1)
    kept = rng.random((POPULATION, 1, 1))
    noise = rng.dirichlet(np.ones(len(prior)), (POPULATION, len(prior))).transpose(0, 2, 1)
    start = (kept * np.eye(len(prior)) + (1 - kept) * noise).reshape(POPULATION, -1)
    algorithm = ALGORITHMS[name](pop_size=POPULATION, sampling=np.clip(start, 1e-9, 1))
    problem = SquareMatrices(prior, respondents, delta)
    return np.asarray(minimize(problem, algorithm, ("n_gen", generations), seed=1, verbose=False).F)
