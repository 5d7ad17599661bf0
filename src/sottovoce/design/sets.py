"""Sets that are drawn and never listed: from an optimiser's design to a scheme, and from a channel back to a design."""

from fractions import Fraction
from math import inf, log

import numpy as np

from sottovoce.channel.channel import Array, Channel
from sottovoce.channel.random_set import RandomSet as DrawnSet
from sottovoce.channel.slab import Slab
from sottovoce.channel.subset_selection import SubsetSelection
from sottovoce.design.settled import Settled
from sottovoce.design.solution import SetComponent, SetDesign
from sottovoce.scheme.random_set import RandomSet


def settled_sets(design: SetDesign, odds: Fraction | None) -> Settled:
    """Scheme `random_set` in whole numbers near a design, with its odds but at most these, or with unbounded ones.

    >>> pairs = SetDesign((SetComponent(1.0, 2, np.ones(4), np.ones(4)),), odds=3.0)
    >>> float(settled_sets(pairs, Fraction(3)).settled.channel.odds)
    3.0
    """
    parts = [
        (
            part.mass,
            part.size,
            part.weights.tolist(),
            None if (part.lengths == 1).all() else part.lengths.astype(int).tolist(),
        )
        for part in design.components
    ]
    tilt = None if design.tilt is None else design.tilt.tolist()
    kept = inf if odds is None or design.odds is None else min(odds, Fraction(design.odds))
    scheme = RandomSet.near(parts, kept, tilt)
    return Settled.of(scheme, (len(design.components[0].weights),))


def set_design(channel: Channel) -> SetDesign | None:
    """Design that a channel of drawn sets follows, to double precision; None of channels of other kinds.

    >>> design = set_design(SubsetSelection((6,), 2, Fraction(3, 5)))
    >>> design.odds, design.components[0].size
    (3.0, 2)
    """
    if isinstance(channel, SubsetSelection):
        ones = np.ones(channel.n_in)
        odds = None if channel.odds is None else float(channel.odds)
        return SetDesign((SetComponent(1.0, channel.size, ones, ones),), odds)
    if not isinstance(channel, DrawnSet):
        return None
    totals = [slab.total for slab in channel.components]
    parts = tuple(
        SetComponent(total / sum(totals), slab.size, _weights(slab), np.array(slab.lengths, float))
        for slab, total in zip(channel.components, totals, strict=True)
    )
    tilt = channel.tilt
    shares = None if tilt is None else np.array([weight / sum(tilt) for weight in tilt])
    return SetDesign(parts, None if channel.favour is None else float(channel.favour), shares)


def _weights(slab: Slab) -> Array:
    """Weights within double precision: those of length g times `c^g` draw the same sets, whatever c."""
    logs, lengths = np.array([log(weight) for weight in slab.items]), np.array(slab.lengths, float)
    return np.asarray(np.exp(logs - lengths * np.median(logs / lengths)))
