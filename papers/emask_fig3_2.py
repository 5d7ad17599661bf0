"""EMASK, Figure 3.2: basic privacy over all coins, at an average support of 1 %."""

from typing import Any

import numpy as np

from papers import _thesis
from papers.comparison import claim
from papers.rerun import Progress, Rerun
from sottovoce.measures.item_privacy import reconstruction_of_ones

TITLE = "basic privacy over p and q at a support of 1 %"
SOURCE = _thesis.SOURCE.format("Figure 3.2")

SUPPORT, HIGH = 0.01, 80.0
CHOSEN = (0.5051, 0.9696)
"""Coins of the thesis for data of this support."""


def rerun(*, quick: bool, seed: int, progress: Progress) -> Rerun:
    """A formula on a grid; quick is no different."""
    p, q = np.meshgrid(np.linspace(0, 1, 101), np.linspace(0, 1, 1001))
    privacy = 100 * (1 - reconstruction_of_ones(p, q, SUPPORT))
    high = privacy > HIGH
    least = float(privacy[(q >= 0.1) & (q <= 0.9)].min())
    for_all = q[high.all(axis=1), 0]
    first, last = float(for_all.min()), float(for_all.max())
    most = {place: float(p[np.isclose(q, place) & high].max()) for place in (0.97, 0.98, 0.99)}
    fewest = {place: float(p[np.isclose(q, place) & high].min()) for place in (0.03, 0.02, 0.01)}
    upper = [f"q = {place}: p up to {own:.2f}" for place, own in most.items()]
    lower = [f"q = {place}: p from {own:.2f}" for place, own in fewest.items()]
    rows = [
        claim("q from .1 to .9", "above 80 % for all p", f"at least {least:.1f} %", holds=least > HIGH),
        claim(
            "q above .9",
            "above 80 % for low p only",
            "; ".join([f"for all p up to q = {last:.3f}", *upper]),
            holds=last <= 0.9,
        ),
        claim(
            "q below .1",
            "above 80 % for high p only",
            "; ".join([f"for all p down to q = {first:.3f}", *lower]),
            holds=first >= 0.1,
        ),
    ]
    progress(1, 1)
    note = (
        f"The band in which all p have more than 80 % is wider than the text says, from q = {first:.3f} to {last:.3f}: "
        "a one that is always kept is betrayed by `s / (s + (1-s) (1-q))`, which is a fifth at `1-q = 4 s / (1-s)`. "
        "Beyond it, it is as the text says."
    )
    return Rerun({"support": SUPPORT, "grid": "101 x 1001", "seed": seed, "quick": quick}, rows, [note], _draw)


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
