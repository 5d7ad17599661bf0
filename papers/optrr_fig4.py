"""OptRR, figure 4: the normal prior at four bounds on posteriors."""

from papers._optrr import PAPER, RESPONDENTS, draw, excess, fronts, generations, lower_everywhere
from papers.rerun import Progress, Rerun, Row, claimed, compared
from sottovoce.designs.requirement import named_prior

TITLE = "Warner's scheme and OptRR on the normal prior, delta = .6, .7, .8, .9"
SOURCE = f"{PAPER}, figure 4"

LEAST_PRIVACY = {0.6: (0.6, 0.4), 0.7: (0.5, 0.3), 0.8: (0.4, 0.22), 0.9: (0.22, 0.17)}
"""Of Warner's scheme and of OptRR, as section VI.C.1 states them."""


def rerun(*, quick: bool, seed: int, progress: Progress) -> Rerun:
    """Four searches."""
    prior = named_prior("normal", 10)
    rows: list[Row] = []
    notes, panels = [], []
    for delta, (warner, optrr) in LEAST_PRIVACY.items():
        found = fronts(prior, delta, quick=quick, seed=seed, progress=progress)
        ranges = found.ranges
        rows += [
            compared(f"least privacy of Warner's scheme, delta {delta}", warner, ranges[0], tolerance=0.02),
            compared(f"least privacy of OptRR, delta {delta}", optrr, ranges[1], tolerance=0.05),
            claimed(
                f"range, delta {delta}",
                "OptRR covers a larger range of privacy than Warner's scheme",
                f"from {ranges[1]:.3f} instead of {ranges[0]:.3f}; the certified front from {ranges[2]:.3f}",
                holds=ranges[1] < ranges[0],
            ),
            lower_everywhere(f"error, delta {delta}", found.gains()),
        ]
        notes.append(f"delta {delta}: {excess(found)}.")
        panels.append((f"delta = {delta}", (found.warner, found.optrr, found.certified)))
    notes.append(
        "No front can go below 1 - delta, which square matrices reach. The paper's operators alone, started from "
        "evenly spread noise, end at .49, .42, .29, .18; half of our first matrices have noise spread like the prior, "
        "and at delta .9 they take the search further than the paper's. It does not say how it drew its own."
    )
    about = {"prior": "normal", "respondents": RESPONDENTS, "generations": generations(quick=quick), "seed": seed}
    return Rerun({**about, "quick": quick}, rows, notes, lambda figure: draw(figure, panels))
