"""What a set design gives away and how well it estimates, without listing its sets."""

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.design.large.guess import Guess
from sottovoce.design.large.lightest_set import lightest_sets
from sottovoce.design.large.set_law import SetLaw
from sottovoce.design.solution import SetDesign


def information_matrix(design: SetDesign, prior: Array) -> Array:
    """`J = sum_S A(S|x) A(S|y) / P(S) = E[t u_x u_y / s] / (norm_x norm_y)`; `1/s` is the integral of `exp(-tau s)`."""
    law = SetLaw(design, prior)
    total = np.zeros((len(prior), len(prior)))
    for _, step, part in law.decays():
        edge = law.base * law.rise * part.single
        total += step * (law.base**2 * part.total + np.add.outer(edge, edge) + law.rise**2 * part.double)
    return total / (law.scale * np.outer(law.norm, law.norm))


def mean_squared_error(design: SetDesign, prior: Array) -> float:
    """`(tr J^-1 - |p|^2) / n`: mean squared error of an estimated proportion, times the number of respondents."""
    inverse = np.linalg.inv(information_matrix(design, prior))
    return float((np.trace(inverse) - prior @ prior) / len(prior))


def mutual_information(design: SetDesign, prior: Array) -> float:
    """Bits that the set tells of the truth, `E[log2(A(S|x) / P(S))]`.

    The logarithm of `A(S|x) / P(S) = u_x / (norm_x s)` has three parts; that of s is the integral of
    `(exp(-tau) - exp(-tau s)) / tau`.
    """
    law = SetLaw(design, prior)
    odds, q = design.odds, law.lifts
    inside = 0.0 if odds is None else odds * float(np.log(odds) * (q @ law.moments.single))
    spread = np.log(law.scale)
    for tau, step, part in law.decays():
        left = law.base * q.sum() * part.total + law.rise * float(q @ part.single)
        spread += (np.exp(-tau) - left) * step / tau
    nats = inside - prior @ np.log(law.norm) - spread
    return max(float(nats / np.log(2)), 0.0)


def adversary_accuracy(design: SetDesign, prior: Array) -> float:
    """Share of right guesses of an adversary who knows the prior, `sum_S m t max_x q_x u_x`.

    With categories in order of `q = p / norm`, the best guess is the first member of the set, or the first of all
    categories if that has the larger `q u`. One minus this is the guess's expected distortion.
    """
    law = SetLaw(design, prior)
    guess = Guess.of(law.lifts, law.base, law.rise, law.tilt)
    return float(
        sum(part.mass * guess.chance(np.log(part.weights), part.lengths, part.size) for part in design.components)
    )


def worst_posterior(design: SetDesign, prior: Array) -> float:
    """Largest `P(x | S) = q_x u_x / s` of any set that can be reported."""
    law = SetLaw(design, prior)
    q = law.lifts
    worst = 0.0
    for part in design.components:
        for member, top in ((1, law.base + law.rise), (0, law.base)):
            rest = lightest_sets(part, q, member=bool(member))
            worst = max(worst, float((q * top / (law.base * q.sum() + law.rise * (rest + member * q))).max()))
    return worst


def epsilon(design: SetDesign, prior: Array) -> float:
    """`log max_S max_xy A(S|x) / A(S|y)`, the logarithm of the odds where norms are equal; infinite without odds."""
    if design.odds is None:
        return float("inf")
    norm = SetLaw(design, prior).norm
    return float(np.log(design.odds * norm.max() / norm.min()))
