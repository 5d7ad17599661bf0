"""OptRR, figure 5(b): the uniform prior."""

from papers._optrr import DELTA, PAPER, draw, excess, fronts, lower_everywhere, settings
from papers.rerun import Progress, Rerun, claimed
from sottovoce.design.prior import named_prior

TITLE = "Warner's scheme and OptRR on the uniform prior, delta = .75"
SOURCE = f"{PAPER}, figure 5(b)"


def rerun(*, quick: bool, seed: int, progress: Progress) -> Rerun:
    """One search."""
    prior = named_prior("uniform", 10)
    found = fronts(prior, DELTA, quick=quick, seed=seed, progress=progress)
    warner, optrr, best = found.ranges
    rows = [
        lower_everywhere("error", found.gains()),
        claimed(
            "range of privacy",
            "the same as that of Warner's scheme",
            f"from {optrr:.3f}, Warner's from {warner:.3f}, the certified front from {best:.3f}",
            holds=abs(optrr - warner) < 0.05,
        ),
    ]
    return Rerun(
        settings(prior, DELTA, quick=quick, seed=seed),
        rows,
        [excess(found) + "."],
        lambda figure: draw(figure, [("uniform, delta = .75", (found.warner, found.optrr, found.certified))]),
    )
