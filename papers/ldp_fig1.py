"""Figure 1: proportions of six LDL levels at epsilon 5, by randomized response and by Laplace noise."""

from functools import partial
from math import sqrt
from typing import Any

import numpy as np

from papers._ldp_picture import COLOURS, LABELS, target_panels
from papers._ldp_table import MECHANISMS, SOURCE, STAND_IN, TARGETS, channel_of, counts, exact, simulated
from papers.comparison import Measured, Row, all_of, claim
from papers.rerun import Progress, Rerun
from sottovoce.measures.utility import mean_squared_errors
from sottovoce.tables.figures import INK

__all__ = ["SOURCE", "TITLE", "rerun"]

TITLE = "Proportions of six LDL levels at epsilon 5"
EPSILON = 5


def rerun(*, quick: bool, seed: int, progress: Progress) -> Rerun:
    """Exact standard deviations for both targets, and how often each mechanism is closer to the truth."""
    draws = 200 if quick else 5000
    table = counts().sum(axis=1)
    truth, rng, rows = table / table.sum(), np.random.default_rng(seed), list[Row]()
    for step, target in enumerate(TARGETS):
        deviations = _deviations(table, target)
        less = deviations["randomized_response"] < deviations["laplace"]
        shown = " ".join(f"{a:.4f}/{b:.4f}" for a, b in zip(*deviations.values(), strict=True))
        rows.append(
            claim(f"standard deviations, {target}", "smaller at each level", f"{shown} (RR/LM)", holds=bool(less.all()))
        )
        errors = {
            name: np.abs(simulated(channel_of(name, EPSILON, (6,)), table, target, draws, rng) - truth)
            for name in deviations
        }
        closer = [Measured.share_of(level) for level in (errors["randomized_response"] < errors["laplace"]).T]
        said = "closer in " + " ".join(f"{share.value:.0%}" for share in closer) + " of the draws"
        holds = all_of(share.reaches(0.5) for share in closer)
        read = "read as: closer in most draws"
        rows.append(claim(f"estimates, {target}", "more accurate at each level", said, holds, read))
        progress(step + 1, len(TARGETS))
    settings = {"epsilon": EPSILON, "respondents": int(table.sum()), "draws": draws, "seed": seed}
    notes = (STAND_IN, "In a single draw, as printed, the better mechanism may be further off at some level.")
    return Rerun(settings, rows, notes, _picture(table, seed))


def _deviations(table: Any, target: str) -> dict[str, Any]:
    """Standard deviations of the six proportions, by mechanism."""
    measures = {f"level {level + 1}": partial(_deviation, target, table.sum(), level) for level in range(len(table))}
    found = exact(table, measures, [EPSILON])
    return {name: np.array([found[name, measure][0] for measure in measures]) for name in MECHANISMS}


def _deviation(target: str, respondents: float, level: int, channel: Any, prior: Any) -> float:
    return sqrt(mean_squared_errors(channel, prior, respondents, target)[level])


def _picture(table: Any, seed: int) -> Any:
    """One draw, with the standard deviations that its numbers have for each target."""
    truth, rng, levels = table / table.sum(), np.random.default_rng(seed), np.arange(len(table))
    once = {name: simulated(channel_of(name, EPSILON, (6,)), table, "table", 1, rng)[0] for name in MECHANISMS}

    def draw(axes: Any, target: str) -> None:
        axes.bar(levels - 0.27, truth, 0.25, color="#9aa5ab", label="truth")
        for place, (name, deviations) in enumerate(_deviations(table, target).items()):
            style = {"color": COLOURS[name], "ecolor": INK, "capsize": 2.5, "error_kw": {"elinewidth": 1}}
            axes.bar(levels + 0.27 * place, once[name], 0.25, yerr=deviations, label=LABELS[name], **style)
        axes.axhline(0, color=INK, linewidth=0.8)
        axes.set_xticks(levels, ["< 70", "70-100", "100-130", "130-160", "160-190", "> 190"], fontsize="small")
        axes.set_xlabel("LDL (mg/dl)")

    return lambda figure: target_panels(figure, f"proportion, epsilon {EPSILON}", draw)
