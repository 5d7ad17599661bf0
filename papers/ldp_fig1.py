"""Figure 1: proportions of six LDL levels at epsilon 5, by randomized response and by Laplace noise."""

from functools import partial
from math import sqrt
from typing import Any

import numpy as np

from papers._ldp_table import COLOURS, MECHANISMS, SOURCE, STAND_IN, TARGETS, channel_of, counts, exact, simulated
from papers.rerun import Progress, Rerun, Row, claimed
from sottovoce.measure.utility import mean_squared_errors

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
            claimed(
                f"standard deviations, {target}", "smaller at each level", f"{shown} (RR/LM)", holds=bool(less.all())
            )
        )
        errors = {
            name: np.abs(simulated(channel_of(name, EPSILON, (6,)), table, target, draws, rng) - truth)
            for name in deviations
        }
        closer = (errors["randomized_response"] < errors["laplace"]).mean(axis=0)
        said = "closer in " + " ".join(f"{share:.0%}" for share in closer) + " of the draws"
        rows.append(
            claimed(f"estimates, {target}", "more accurate at each level", said, holds=bool((closer > 0.5).all()))
        )
        progress(step + 1, len(TARGETS))
    settings = {"epsilon": EPSILON, "respondents": int(table.sum()), "draws": draws, "seed": seed}
    notes = (STAND_IN, "In a single draw, as printed, the better mechanism may be further off at some level.")
    return Rerun(settings, rows, notes, _picture(table, seed))


def _deviations(table: Any, target: str) -> dict[str, Any]:
    """Standard deviations of the six proportions, by mechanism."""
    measures = {f"level {level + 1}": partial(_deviation, target, table.sum(), level) for level in range(len(table))}
    found = exact(table, measures, [EPSILON])
    return {name: np.array([found[name, measure][0] for measure in measures]) for name in MECHANISMS}


def _deviation(target: str, respondents: float, level: int, channel: Any, law: Any) -> float:
    return sqrt(mean_squared_errors(channel, law, respondents, target)[level])


def _picture(table: Any, seed: int) -> Any:
    truth, rng = table / table.sum(), np.random.default_rng(seed)
    deviations = _deviations(table, "table")
    once = {name: simulated(channel_of(name, EPSILON, (6,)), table, "table", 1, rng)[0] for name in deviations}

    def draw(figure: Any) -> None:
        axes, levels = figure.subplots(), np.arange(1, 7)
        axes.bar(levels - 0.25, truth, 0.25, color="tab:green", label="truth")
        for place, (name, value) in enumerate(once.items()):
            label = name.replace("_", " ")
            axes.bar(
                levels + 0.25 * place, value, 0.25, yerr=deviations[name], color=COLOURS[name], capsize=3, label=label
            )
        axes.set(xlabel="LDL level", ylabel="proportion")
        axes.legend()

    return draw
