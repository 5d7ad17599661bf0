"""Whether there are reports enough for what is asked of them."""

from sottovoce.channel.channel import Channel
from sottovoce.channel.kronecker import Kronecker
from sottovoce.channel.sampled import Sampled
from sottovoce.errors import SottovoceError, Words
from sottovoce.estimate.counted import Counted

FEWEST = 2
"""Reports without which nothing is known of their scatter."""

ALONE = 1 + 1e-6
"""Effective number of reports below which one of them has all the weight."""


def check_number(respondents: int) -> None:
    """Refuse fewer reports than a standard error takes."""
    if respondents < FEWEST:
        raise SottovoceError("reports", f"must be at least {FEWEST} for a standard error", respondents)


def check_enough(counted: Counted) -> None:
    """Refuse fewer than two reports, and attributes that fewer than two respondents were asked together.

    One report has no scatter: its standard errors would be zero, or made of nothing else than the coins'.
    Where attributes are sampled, reports that leave one of them out say nothing of how they go together.
    """
    check_number(counted.respondents)
    if counted.effective < ALONE:
        rule = f"must leave at least {FEWEST} reports that count"
        raise SottovoceError("weights", rule, Words(f"an effective number of {counted.effective:.6g}"))
    speaking = int(counted.counts.reshape(counted.channel.shape_out)[_answered(counted.channel)].sum())
    if speaking < FEWEST:
        asked = " and ".join(counted.attributes) + (" were" if len(counted.attributes) > 1 else " was")
        raise SottovoceError("reports", f"must be at least {FEWEST} in which {asked} asked", speaking)


def _answered(channel: Channel) -> tuple[slice, ...]:
    """Where in the table of reports every sampled attribute was asked: not in its last code."""
    factors = channel.factors if isinstance(channel, Kronecker) else (channel,)
    kept: list[slice] = []
    for factor in factors:
        kept += [slice(-1 if isinstance(factor, Sampled) else None) for _ in factor.shape_out]
    return tuple(kept)
