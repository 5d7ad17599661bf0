"""OptRR, figure 4: the normal prior at four bounds on posteriors."""

from papers._optrr import (
    PAPER,
    RESPONDENTS,
    draw,
    excess,
    fronts,
    generations,
    lower_everywhere,
    papers_ranges,
    short,
)
from papers.comparison import Printed, Row, claim, compare, compare_draw
from papers.rerun import Progress, Rerun
from sottovoce.designs.requirement import named_prior

TITLE = "Warner's scheme and OptRR on the normal prior, delta = .6, .7, .8, .9"
SOURCE = f"{PAPER}, figure 4"

LEAST_PRIVACY = {0.6: ("0.6", "0.4"), 0.7: ("0.5", "0.3"), 0.8: ("0.4", "0.22"), 0.9: ("0.22", "0.17")}
"""Of Warner's scheme and of OptRR, as section VI.C.1 states them."""


WARNER = "The text reads its numbers off the figure; how the normal distribution was cut into ten bins is not said."


def rerun(*, quick: bool, seed: int, progress: Progress) -> Rerun:
    """Four searches with our operators, and some more with the paper's alone."""
    prior = named_prior("normal", 10)
    rows: list[Row] = []
    notes, panels = [], []
    for delta, (warner, optrr) in LEAST_PRIVACY.items():
        found = fronts(prior, delta, quick=quick, seed=seed, progress=progress)
        ranges = found.ranges
        theirs = papers_ranges(prior, delta, quick=quick, seed=seed, progress=progress)
        name = f"least privacy of OptRR, delta {delta}"
        larger = claim(
            f"range, delta {delta}",
            "OptRR covers a larger range of privacy than Warner's scheme",
            f"from {ranges[1]:.3f} instead of {ranges[0]:.3f}; the certified front from {ranges[2]:.3f}",
            ranges[1] < ranges[0],
        )
        rows += [
            compare(f"least privacy of Warner's scheme, delta {delta}", Printed(warner), ranges[0], WARNER),
            short(compare_draw(name, Printed(optrr), theirs), quick=quick, improves=False),
            short(larger, quick=quick),
            lower_everywhere(f"error, delta {delta}", found.gains(), quick=quick),
        ]
        notes.append(f"delta {delta}: {excess(found)}.")
        panels.append((f"delta = {delta}", (found.warner, found.optrr, found.certified)))
    notes.append(
        "Least privacies of OptRR are those of searches with the paper's operators alone; claims are about a search "
        "with ours. Half of the first matrices have noise spread like the prior; the paper does not say how it drew "
        "its own. No front can go below 1 - delta, which square matrices reach."
    )
    about = {"prior": "normal", "respondents": RESPONDENTS, "generations": generations(quick=quick), "seed": seed}
    return Rerun({**about, "quick": quick}, rows, notes, lambda figure: draw(figure, panels))
