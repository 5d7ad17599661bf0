"""What someone who mined a naive Bayes classifier can tell of each entry from a report."""

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.measure.entry import privacy_after_mining
from sottovoce.measure.matrices import conditional
from sottovoce.mine.classify.whole_record import WholeRecord
from sottovoce.plan.plan import Plan
from sottovoce.schema.cells import unravel

MOST_CELLS = 1024
"""Joint records of a plan whose channel is written out to find what a whole report tells."""

Laws = Sequence[Array]
"""Of the class, then of each attribute with the class."""


def entries_after_mining(plan: Plan, names: Sequence[str], laws: Laws) -> tuple[dict[str, float], str]:
    """Privacy of each entry after mining, the class last, and from what evidence."""
    channel, sizes = plan.channel(names), [len(law) for law in (*laws[1:], laws[0])]
    whole = WholeRecord.of(channel)
    if whole is not None and whole.listed is not None:
        order = [names.index(name) for name in plan.in_group_order(names)]
        columns, drawn = whole.listed
        placed = dict(zip(order, columns, strict=True))
        together = _record_law(laws, [placed[place] for place in range(len(names))])
        left = [_left(whole.keep, together, drawn, placed[place], size) for place, size in enumerate(sizes)]
        return dict(zip(names, left, strict=True)), "whole report"
    if prod(sizes) <= MOST_CELLS and channel.n_out <= MOST_CELLS:
        cells = unravel(np.arange(prod(sizes)), sizes)
        law = _record_law(laws, cells)
        matrix = channel.dense()[:, plan.cell_order(names)]
        left = [float(privacy_after_mining(matrix, law, sizes, entry)) for entry in range(len(sizes))]
        return dict(zip(names, left, strict=True)), "whole report"
    return _after_pairs(plan, names, laws), "reports of the entry and one other"


def _record_law(laws: Laws, columns: Sequence[Any]) -> Array:
    """`P(c) prod P(a | c)` of records whose class comes last."""
    law = laws[0][columns[-1]]
    for table, codes in zip(laws[1:], columns[:-1], strict=True):
        law = law * conditional(table.T).T[codes, columns[-1]]
    return np.asarray(law / law.sum())


def _left(keep: float, law: Array, drawn: Array, codes: Any, size: int) -> float:
    """`sum_y P(y) (1 - sum_o P(o | y)^2)`, with `P(o, y) = keep p(y) [o = y_e] + (1 - keep) q(y) p_e(o)`."""
    own = np.bincount(codes, weights=law, minlength=size)
    true, replaced = keep * law, (1 - keep) * drawn
    squares = true**2 + 2 * true * replaced * own[codes] + replaced**2 * (own**2).sum()
    return float(1 - np.divide(squares, true + replaced, out=np.zeros_like(law), where=true + replaced > 0).sum())


def _after_pairs(plan: Plan, names: Sequence[str], laws: Laws) -> dict[str, float]:
    """From the reports of an attribute and the class: an upper bound, since the other reports may tell more."""
    left = dict.fromkeys(names, 1.0)
    for name, law in zip(names[:-1], laws[1:], strict=True):
        pair = [name, names[-1]]
        matrix = plan.channel(pair).dense()[:, plan.cell_order(pair)]
        for entry, one in enumerate(pair):
            found = float(privacy_after_mining(matrix, law.ravel(), law.shape, entry))
            left[one] = min(left[one], found)
    return left
