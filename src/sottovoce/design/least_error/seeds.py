"""Reports to begin with, from which every feasible requirement can be met."""

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.design.least_error.atoms import allowed
from sottovoce.design.least_error.limits import Limits


def seeds(limits: Limits, start: Array | None = None) -> Array:
    """Reports that meet the limits, a row of likelihood ratios each, with weights that make them a channel.

    Saying nothing, and k-ary randomized response with odds so low that posteriors stay within delta, and again so low
    that the adversary always guesses the likeliest category. Mixtures of these meet every accuracy.
    """
    prior = limits.prior
    unlikely = np.sort(prior)[::-1][:2]
    most = limits.odds if limits.odds is not None else 2.0
    if limits.delta is not None:
        most = min(most, float((limits.delta * (1 - prior) / (prior * (1 - limits.delta))).min()))
    rows = [np.ones((1, prior.size))]
    for odds in {most, min(most, float(unlikely[0] / unlikely[1]))} - {1.0}:
        likelihoods = 1 + (odds - 1) * np.eye(prior.size)
        rows.append(likelihoods / (likelihoods @ prior)[:, None])
    if start is not None and start.shape[1] == prior.size:
        ratios = start / (start @ prior)[:, None]
        rows.append(ratios[allowed(limits, ratios)])
    return np.vstack(rows)
