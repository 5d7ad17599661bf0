"""EMASK, Figure 3.2: basic privacy over all coins, at an average support of 1 %."""

from typing import Any

import numpy as np

from papers import _thesis
from papers.rerun import Progress, Rerun, claimed
from sottovoce.measure.items import reconstruction_of_ones

TITLE = "basic privacy over p and q at a support of 1 %"
SOURCE = _thesis.SOURCE.format("Figure 3.2")

SUPPORT, HIGH = 0.01, 80.0
CHOSEN = (0.5051, 0.9696)
"""Coins of the thesis for data of this support."""


def rerun(*, quick: bool, seed: int, progress: Progress) -> Rerun:
    """A formula on a grid; quick is no different."""
    p, q = np.meshgrid(np.linspace(0, 1, 101), np.linspace(0, 1, 101))
    privacy = 100 * (1 - reconstruction_of_ones(p, q, SUPPORT))
    # The edges themselves are left out: there the printed squares take the value of their lower left corner.
    inner = (q >= 0.1) & (q <= 0.9)
    above, below = q > 0.9, q < 0.1
    least = float(privacy[inner].min())
    where = [privacy >= HIGH, privacy < HIGH]
    most_p = float(p[above & (q < 0.995) & where[0]].max())
    least_p = float(p[below & (q > 0.005) & where[0]].min())
    low_p = {place: float(p[np.isclose(q, place) & where[0]].max()) for place in (0.92, 0.95, 0.98)}
    high_p = {place: float(p[np.isclose(q, place) & where[0]].min()) for place in (0.02, 0.05, 0.08)}
    falling, rising = list(low_p.values()), list(high_p.values())
    rows = [
        claimed("q from .1 to .9", "above 80 % for all p", f"at least {least:.1f} %", holds=least > HIGH),
        claimed(
            "q above .9",
            "above 80 % for low p only",
            "; ".join(f"q = {place}: p up to {most:.2f}" for place, most in low_p.items()),
            holds=falling == sorted(falling, reverse=True) and falling[-1] < 1,
        ),
        claimed(
            "q below .1",
            "above 80 % for high p only",
            "; ".join(f"q = {place}: p from {first:.2f}" for place, first in high_p.items()),
            holds=rising == sorted(rising, reverse=True) and rising[0] > 0,
        ),
    ]
    progress(1, 1)
    settings = {"support": SUPPORT, "grid": "101 x 101", "largest p above": most_p, "least p below": least_p}
    return Rerun({**settings, "seed": seed, "quick": quick}, rows, [], _draw)


def _draw(figure: Any) -> None:
    """All coins, and those near q = 1, where the thesis chooses its own."""
    whole, near = figure.subplots(1, 2)
    for axes, least in ((whole, 0.0), (near, 0.9)):
        p, q = np.meshgrid(np.linspace(0, 1, 201), np.linspace(least, 1, 201))
        privacy = 100 * (1 - reconstruction_of_ones(p, q, SUPPORT))
        drawn = axes.contourf(p, q, privacy, levels=[0, 20, 40, 60, 80, 90, 95, 100], cmap="viridis")
        axes.set(xlabel="p", ylabel="q")
    near.plot(*CHOSEN, "o", color="white", markeredgecolor="black", label="chosen in Table 3.1")
    near.legend(loc="lower left")
    figure.colorbar(drawn, label="basic privacy (%)")
