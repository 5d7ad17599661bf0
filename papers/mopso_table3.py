"""MOPSO, Table 3: running times by the number of categories."""

from time import process_time
from typing import Any

import numpy as np

from papers._mopso import PAPER, ROW_WISE, about, generations
from papers.comparison import Measured, Row, claim
from papers.rerun import Progress, Rerun
from sottovoce.checks import Array
from sottovoce.designs import mopso
from sottovoce.designs.certified import information_front
from sottovoce.designs.mopso import Swarm
from sottovoce.designs.optrr.matrices import Settings
from sottovoce.designs.optrr.search import Search
from sottovoce.designs.requirement import named_prior

TITLE = "Running times of MOPSO and OptRR for 5 ... 150 categories"
SOURCE = f"{PAPER}, Table 3"

TURNS = 3
"""How often each is timed."""

OWN_GENERATIONS = 20_000
"""Of OptRR in its own paper."""

SECONDS = {
    5: (6.57, 20.79),
    10: (6.87, 67.83),
    20: (7.08, 140.73),
    50: (10.88, 301.35),
    100: (27.12, 697.26),
    150: (53.28, 1762.43),
}
"""Of MOPSO and of OptRR, for 200 matrices."""


def rerun(*, quick: bool, seed: int, progress: Progress) -> Rerun:
    """As many generations and matrices of each, on the beta prior."""
    rows: list[Row] = []
    times: dict[int, tuple[float, ...]] = {}
    for done, (categories, (ours, theirs)) in enumerate(SECONDS.items(), start=1):
        if quick and categories > 20:
            break
        prior = named_prior("beta", categories)
        flown = Measured.mean_of([_swarm(prior, seed, quick=quick) for _ in range(TURNS)])
        bred = Measured.mean_of([_evolution(prior, seed, quick=quick) for _ in range(TURNS)])
        started = process_time()
        information_front(prior, 10_000, epsilon=2)
        certified = process_time() - started
        times[categories] = flown.value, bred.value, certified
        rows += _rows(categories, f"MOPSO {ours}, OptRR {theirs}: MOPSO is faster", flown, bred, quick=quick)
        progress(done, len(SECONDS))
    notes = [
        ROW_WISE,
        "Seconds are of this machine's processor, not the paper's. The paper does not say how many generations OptRR "
        "was given: as many as MOPSO, of as many matrices (100 new ones, 200 kept), or as many as in its own paper.",
        f"The certified front of 20 points takes at most {max(took for *_, took in times.values()):.2f} seconds.",
        "OptRR's operators are compiled, and it draws few random numbers; the swarm draws its mutants' columns anew.",
    ]
    return Rerun(
        about(quick=quick, seed=seed, prior="beta", epsilon=2, delta=0.75),
        rows,
        notes,
        lambda figure: _draw(figure, times),
    )


def _rows(categories: int, words: str, flown: Measured, bred: Measured, *, quick: bool) -> list[Row]:
    """Both readings of how many generations OptRR was given; all generations take the same time."""
    scale = OWN_GENERATIONS / generations(quick=quick)
    longer = Measured(scale * bred.value, scale * bred.error, bred.runs)
    return [
        claim(f"seconds, D = {categories}{given}", words, f"MOPSO {flown}, OptRR {took}", flown.below(took), read)
        for given, took, read in (
            ("", bred, "read as: both make as many generations"),
            (", OptRR's own generations", longer, f"read as: OptRR makes {OWN_GENERATIONS:,}"),
        )
    ]


def _draw(figure: Any, times: dict[int, tuple[float, ...]]) -> None:
    axes = figure.add_subplot()
    for place, label in enumerate(("MOPSO", "OptRR", "certified front")):
        axes.loglog(list(times), [seconds[place] for seconds in times.values()], marker="o", label=label)
    for place, label in enumerate(("MOPSO, published", "OptRR, published")):
        published = [seconds[place] for seconds in SECONDS.values()]
        axes.loglog(list(SECONDS), published, "--", color=f"C{place}", label=label)
    axes.set_xticks(list(SECONDS), [str(categories) for categories in SECONDS])
    axes.minorticks_off()
    axes.grid(alpha=0.3)
    axes.set(xlabel="categories", ylabel="seconds")
    axes.legend()


def _swarm(prior: Array, seed: int, *, quick: bool) -> float:
    settings = mopso.Settings(generations=generations(quick=quick))
    started = process_time()
    Swarm(prior, float(np.exp(2)), settings, np.random.default_rng(seed)).run()
    return process_time() - started


def _evolution(prior: Array, seed: int, *, quick: bool) -> float:
    settings = Settings(population=100, archive=200, generations=generations(quick=quick))
    Search(prior, 0.75, 10_000, Settings(generations=1), np.random.default_rng(seed)).run()  # compiles
    started = process_time()
    Search(prior, 0.75, 10_000, settings, np.random.default_rng(seed)).run()
    return process_time() - started
