"""OptRR, figure 5(b): the uniform prior."""

from dataclasses import replace

from papers._optrr import DELTA, PAPER, draw, excess, fronts, gains, lower_everywhere, settings, short
from papers.comparison import claim
from papers.rerun import Progress, Rerun
from sottovoce.designs.front import Front
from sottovoce.designs.requirement import named_prior

TITLE = "Warner's scheme and OptRR on the uniform prior, delta = .75"
SOURCE = f"{PAPER}, figure 5(b)"

LIES = (
    "Warner's matrices with p below 1/n report anything but the truth. For a uniform prior and p near 0 that is the "
    "certified optimum at right guesses of 1/9: every report leaves nine categories equally likely. A search by small "
    "random steps does not find so many ties at once; it reaches accuracies that low with larger errors."
)


def rerun(*, quick: bool, seed: int, progress: Progress) -> Rerun:
    """One search."""
    prior = named_prior("uniform", 10)
    found = fronts(prior, DELTA, quick=quick, seed=seed, progress=progress)
    warner, optrr, best = found.ranges
    informative = _truer_than_chance(found.warner)
    same = claim(
        "range of privacy",
        "the same as that of Warner's scheme",
        f"from {optrr:.3f}, Warner's from {warner:.3f}, the certified front from {best:.3f}",
        abs(optrr - warner) <= 0.05,
        "read as: to one decimal, as the text gives most ranges",
    )
    true = "error, where Warner's reports are true more often than by chance"
    rows = [
        lower_everywhere("error", found.gains(), quick=quick),
        lower_everywhere(true, gains(informative, found.optrr), quick=quick),
        short(same, quick=quick, improves=False),
    ]
    return Rerun(
        settings(prior, DELTA, quick=quick, seed=seed),
        rows,
        [excess(found) + ".", LIES],
        lambda figure: draw(figure, [("uniform, delta = .75", (found.warner, found.optrr, found.certified))]),
    )


def _truer_than_chance(warner: Front) -> Front:
    """Those of Warner's matrices whose diagonal is at least one over the number of categories."""
    points = [point for point in warner if point.channel.dense()[0, 0] >= 1 / point.channel.n_in]
    return replace(warner, points=tuple(points))
