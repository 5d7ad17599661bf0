"""What designed channels give away and what they cost: the measures that fronts are drawn by."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from sottovoce.channel.channel import Array, Channel
from sottovoce.channel.drawn_sets import LARGEST_LISTED
from sottovoce.design.sets import set_design
from sottovoce.design.solution import SetDesign
from sottovoce.measure.adversary import adversary_accuracy, worst_posterior
from sottovoce.measure.bits import mutual_information
from sottovoce.measure.matrices import as_prior
from sottovoce.measure.utility import average_mean_squared_error, distortion

MEASURES = ("mse", "adversary_accuracy", "worst_posterior", "epsilon", "mutual_information", "distortion")
"""Less is better in all of them. Of channels whose reports are not categories of the truth there is no distortion."""

UNBOUNDED = ("mse", "epsilon")
"""Infinite for a singular channel, and for one that is not deniable: null in JSON."""

BLOCK = 2**22
"""Matrix entries that are measured at once."""

Measures = dict[str, float]


def measures_of(channel: Channel, prior: Any, respondents: float) -> Measures:
    """Every measure of a channel.

    `mse` is the mean squared error of a proportion estimated from so many respondents by the best linear unbiased
    estimate, averaged over the categories.

    >>> from fractions import Fraction
    >>> from sottovoce.channel.keep_or_uniform import KeepOrUniform
    >>> measures_of(KeepOrUniform((2,), Fraction(1, 2)), [0.8, 0.2], 1000)["adversary_accuracy"]
    0.8
    """
    return measures_of_all([channel], prior, respondents)[0]


def measures_of_all(channels: Sequence[Channel], prior: Any, respondents: float) -> list[Measures]:
    """Measures of channels with the same numbers of reports and truths, many at a time, or of sets too many to list."""
    designs = [set_design(channel) if channel.n_in > LARGEST_LISTED else None for channel in channels]
    if designs[0] is not None:
        law = as_prior(prior, channels[0].n_in)
        pairs = zip(channels, designs, strict=True)
        return [_measures_of_sets(channel, design, law, respondents) for channel, design in pairs if design is not None]
    step = max(1, BLOCK // (channels[0].n_in * channels[0].n_out))
    found: list[Measures] = []
    for start in range(0, len(channels), step):
        some = channels[start : start + step]
        found += _measures_of_stack(some, np.stack([channel.dense() for channel in some]), prior, respondents)
    return found


def _measures_of_stack(channels: Sequence[Channel], matrices: Array, prior: Any, respondents: float) -> list[Measures]:
    """Measures of channels whose matrices are at hand; the odds are read exactly."""
    columns = {
        "mse": average_mean_squared_error(matrices, prior, respondents),
        "adversary_accuracy": adversary_accuracy(matrices, prior),
        "worst_posterior": worst_posterior(matrices, prior),
        "epsilon": np.array([channel.epsilon for channel in channels]),
        "mutual_information": mutual_information(matrices, prior),
    }
    if channels[0].shape_out == channels[0].shape_in:
        columns["distortion"] = distortion(matrices, prior)
    return [{name: float(values[i]) for name, values in columns.items()} for i in range(len(channels))]


def _measures_of_sets(channel: Channel, design: SetDesign, law: Array, respondents: float) -> Measures:
    from sottovoce.design.large import measures

    return {
        "mse": measures.mean_squared_error(design, law) / respondents,
        "adversary_accuracy": measures.adversary_accuracy(design, law),
        "worst_posterior": measures.worst_posterior(design, law),
        "epsilon": channel.epsilon,
        "mutual_information": measures.mutual_information(design, law),
    }
