"""Pairs looked over on a sample of the reports first: most of them are so far from frequent that a part tells.

Under a disguise nearly all pairs of items occur together somewhere, so that all of them have to be counted, and of a
million reports a part decides: a pair is left out when its estimate from a random sample of n reports is 4 of its
standard errors below what would survive, the standard error being that of a pair exactly at the threshold. A
frequent pair is lost so with probability 3.2e-5 or so, by the normal law and with other items taken as
independent. Exact data are never sampled.
"""

import numpy as np

from sottovoce.count.transactions import Transactions
from sottovoce.mine.candidates import Numbers, slices
from sottovoce.mine.reconstruction import Reconstruction, Sums

FAR = 4.0
"""Standard errors below the threshold that rule a pair out."""

NEAR = 0.55
"""Part of the threshold that so many standard errors of the sample may be."""

WORTHWHILE = 3
"""A sample is drawn where so many times its size is at hand."""


def promising_pairs(
    source: Transactions, chosen: Numbers, sums: Sums, how: Reconstruction, least: tuple[float, float]
) -> Numbers | None:
    """Pairs of the chosen items, by their places among them, that a sample does not rule out; None without one.

    `sums` are those of the chosen items alone, and `least` is the threshold with the standard errors below it that
    are allowed.
    """
    if how.held_square is None or len(chosen) < 2:
        return None
    threshold, deviations = least
    rows, squares = source.rows(), how.moments(sums)[1] / source.rows()
    held = np.broadcast_to(how.held_square, len(chosen))
    spread = float(held.mean() ** 2 * threshold + squares.mean() ** 2)
    size = int(spread * (FAR / (NEAR * threshold)) ** 2) + 1
    sample = source.sample(size) if WORTHWHILE * size <= rows else None
    if sample is None:
        return None
    absent, present = (np.broadcast_to(own, len(chosen)) for own in how.line)
    singles = size * absent / 2 + present * sample.singles()[chosen]
    table, every, found = sample.narrowed(chosen).pairs(), np.arange(len(chosen)), []
    for first, last in slices(np.full(len(chosen), len(chosen))):
        part = slice(first, last), None
        # The sum of (a_i + b_i y_i) (a_j + b_j y_j): either of the singles brings half of a_i a_j.
        estimate = present[part] * present * table[first:last] + absent[part] * singles + singles[part] * absent
        variance = (held * threshold)[part] * held + squares[part] * squares
        enough = threshold - np.sqrt(variance) * (deviations / np.sqrt(rows) + FAR / np.sqrt(size))
        one, two = np.nonzero((estimate >= size * enough) & (every[part] < every))
        found.append(np.column_stack([every[first:last][one], two]))
    return np.concatenate(found)
