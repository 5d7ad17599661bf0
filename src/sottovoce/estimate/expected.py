"""What an estimate will be like before any report is in: its exact covariance under a known law of the truths."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from sottovoce.channel.channel import Array, Channel
from sottovoce.estimate.estimate import Estimate
from sottovoce.estimate.spread import InversionSpread, Target
from sottovoce.measure.covariance import checked_respondents, checked_target
from sottovoce.measure.matrices import as_prior
from sottovoce.schema.variable import Label


def expected_estimate(
    channel: Channel,
    prior: Any,
    respondents: int,
    target: Target = "population",
    categories: Sequence[Sequence[Label]] | None = None,
) -> Estimate:
    """Estimate by inversion as it is on average: the truth, with the covariance that estimates of it really have.

    With A the channel, B its inverse and `lam = A p`, the covariance is `(B diag(lam) B^T - p p^T) / N` where the
    respondents are a sample of the population, `(B diag(lam) B^T - diag(p)) / N` where p are the proportions of
    this table. `derive` gives the standard errors of functionals, by the delta method, or says why it cannot.

    >>> from sottovoce.estimate.derived import derive
    >>> from sottovoce.measure.functionals import Entropy
    >>> from sottovoce.scheme.randomized_response import RandomizedResponse
    >>> channel = RandomizedResponse(epsilon=3).mechanism((2,)).channel
    >>> print(derive(expected_estimate(channel, [0.7, 0.3], 1000), Entropy()))
    entropy: 0.8822 +- 0.0199  [0.8432, 0.9212]
    """
    law: Array = as_prior(np.ravel(prior), channel.n_in)
    count = checked_respondents(respondents)
    checked_target(target)
    seen = channel.matvec(law)
    labels = tuple(map(tuple, categories or [range(size) for size in channel.shape_in]))
    names = tuple(f"attribute {place}" for place in range(1, len(labels) + 1))
    spread = InversionSpread(channel, seen, law, count, np.arange(len(law)), target)
    return Estimate(names, labels, law, spread, seen, int(count), target, "expected")
