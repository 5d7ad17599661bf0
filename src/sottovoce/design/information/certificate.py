"""A proof that no channel tells less: a bound that holds whatever it is made from."""

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.design.information.program import Program
from sottovoce.design.information.rows import targets


def proven_information(program: Program, worth: Array, slope: float, posteriors: Array) -> float:
    """Bits that every channel within these odds and this distortion tells, from any multipliers and any posteriors.

    Write `L_yx = worth_x - slope [x != y]` with slope >= 0, and u_y = posteriors_y / p for any rows that sum to one.
    A channel has report probabilities w_y and likelihood ratios v_y with `sum_y w_y v_y = 1` and `p.v_y = 1`, hence

        I >= sum_y w_y sum_x p_x v_yx (log v_yx - L_yx) + p.worth - slope distortion     (its distortion is no larger)
          >= sum_y w_y sum_x p_x v_yx (log u_yx - L_yx) + p.worth - slope distortion     (Gibbs' inequality)
          >= min_y min_v sum_x p_x v_x (log u_yx - L_yx) + p.worth - slope distortion,

    and the least mean over the v that the odds allow has v = e where `log u - L` is small and 1 elsewhere, so it is
    found by sorting. Every report is looked at, used or not. Floating point: a stated gap, not an interval proof.
    """
    prior, odds = program.prior, program.odds
    regrets = np.log(posteriors / prior) - targets(worth, slope)
    order = np.argsort(regrets, axis=1)
    weights, costs = prior[order], (prior * regrets)[np.arange(prior.size)[:, None], order]
    # Raising none is raising all, so that the first k, k = 1 ... n, are all the sets there are to try.
    means = (costs.sum(axis=1, keepdims=True) + (odds - 1) * costs.cumsum(axis=1)) / (
        1 + (odds - 1) * weights.cumsum(axis=1)
    )
    nats = prior @ worth - slope * program.distortion + means.min()
    return max(float(nats / np.log(2)), 0.0)
