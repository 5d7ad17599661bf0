"""What designed channels give away and what they cost: the measures that fronts are drawn by."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from sottovoce.channels.channel import Array, Channel
from sottovoce.channels.set_valued import LARGEST_LISTED
from sottovoce.designs.exact_scheme import SetDesign, set_design
from sottovoce.estimates.likelihood import Progress
from sottovoce.measures.matrices import as_prior
from sottovoce.measures.privacy import adversary_accuracy, mutual_information, worst_posterior
from sottovoce.measures.utility import average_mean_squared_error, distortion

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
    >>> from sottovoce.channels.keep_or_uniform import KeepOrUniform
    >>> measures_of(KeepOrUniform((2,), Fraction(1, 2)), [0.8, 0.2], 1000)["adversary_accuracy"]
    0.8
    """
    return measures_of_all([channel], prior, respondents)[0]


def measures_of_all(
    channels: Sequence[Channel], prior: Any, respondents: float, progress: Progress | None = None
) -> list[Measures]:
    """Measures of channels with the same numbers of reports and truths, many at a time where they can be listed."""
    law = as_prior(prior, channels[0].n_in)
    step = max(1, BLOCK // (channels[0].n_in * channels[0].n_out))
    found: list[Measures] = []
    for start in range(0, len(channels), step):
        some = channels[start : start + step]
        design = _unlisted(some[0])
        found += _of_stack(some, law, respondents) if design is None else _of_sets(design, some[0], law, respondents)
        if progress is not None:
            progress(len(found), len(channels))
    return found


def guesses_of(channel: Channel, law: Array) -> tuple[float, float]:
    """Accuracy of the adversary and worst posterior alone, which need no matrix to be inverted.

    >>> from fractions import Fraction
    >>> from sottovoce.channels.keep_or_uniform import KeepOrUniform
    >>> guesses_of(KeepOrUniform((2,), Fraction(1, 2)), np.array([0.75, 0.25]))
    (0.75, 0.9)
    """
    design = _unlisted(channel)
    if design is None:
        matrix = channel.dense()
        return float(adversary_accuracy(matrix, law)), float(worst_posterior(matrix, law))
    from sottovoce.designs.large import set_measures

    return set_measures.adversary_accuracy(design, law), set_measures.worst_posterior(design, law)


def _unlisted(channel: Channel) -> SetDesign | None:
    """Design of a channel with too many sets to list."""
    return set_design(channel) if channel.n_in > LARGEST_LISTED else None


def _of_stack(channels: Sequence[Channel], law: Array, respondents: float) -> list[Measures]:
    """Measures of channels whose matrices are written out; the odds are read exactly."""
    matrices = np.stack([channel.dense() for channel in channels])
    columns = {
        "mse": average_mean_squared_error(matrices, law, respondents),
        "adversary_accuracy": adversary_accuracy(matrices, law),
        "worst_posterior": worst_posterior(matrices, law),
        "epsilon": np.array([channel.epsilon for channel in channels]),
        "mutual_information": mutual_information(matrices, law),
    }
    if channels[0].shape_out == channels[0].shape_in:
        columns["distortion"] = distortion(matrices, law)
    return [{name: float(values[i]) for name, values in columns.items()} for i in range(len(channels))]


def _of_sets(design: SetDesign, channel: Channel, law: Array, respondents: float) -> list[Measures]:
    from sottovoce.designs.large import set_measures

    accuracy, worst = guesses_of(channel, law)
    return [
        {
            "mse": set_measures.mean_squared_error(design, law) / respondents,
            "adversary_accuracy": accuracy,
            "worst_posterior": worst,
            "epsilon": channel.epsilon,
            "mutual_information": set_measures.mutual_information(design, law),
        }
    ]
