"""What is said beside an estimate that a reader would stumble over."""

from sottovoce.channel.channel import Array
from sottovoce.estimate.intervals import errors_at_zero
from sottovoce.estimate.spread import InversionSpread, Spread

NEGATIVE = "A negative estimate is noise around a small proportion; it is shown, not hidden."

FAR = 5
"""Standard errors below zero that noise does not carry an estimate: once in three million."""

MOST_REPORTS = 512
"""Different reports up to which is looked how far below zero estimates are."""


def remarks(value: Array, spread: Spread) -> list[str]:
    """Words about negative estimates, and a warning where they are further below zero than noise explains.

    Standard errors are those that a cell would have if its proportion were zero. An estimate many of them below
    has reports that no truth makes under this plan: another plan, or made up.
    """
    negative = value < 0
    if not negative.any():
        return []
    if not isinstance(spread, InversionSpread) or spread.channel.n_out > MOST_REPORTS:
        return [NEGATIVE]
    farthest = float((value[negative] / errors_at_zero(value, spread)[negative]).min())
    if farthest > -FAR:
        return [NEGATIVE]
    return [
        f"An estimate is {-farthest:.1f} standard errors below zero, further than noise carries it: "
        "were these reports disguised under this plan?"
    ]
