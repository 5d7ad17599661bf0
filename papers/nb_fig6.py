"""Privacy of a single entry before mining, against theta, for five shares of ones."""

from typing import Any

import numpy as np

from papers.comparison import claim
from papers.rerun import Progress, Rerun
from sottovoce.checks import Array
from sottovoce.measures.entries import entry_privacy
from sottovoce.plans.guarantee import Guarantee
from sottovoce.schemes.unrelated_question import UnrelatedQuestion

TITLE = "Privacy of a single entry before mining"
SOURCE = "Zhan & Matwin 2006, figure 6"

SHARES = (0.1, 0.2, 0.3, 0.4, 0.5)
THETAS = tuple(step / 10 for step in range(11))

NOTES = (
    "Computed from the definition; the printed components agree with it at W_y = .5, which the figure has, only.",
    "theta = 0 is the limit: the guess is drawn from the prior.",
)


def rerun(*, quick: bool, seed: int, progress: Progress) -> Rerun:  # nothing is random or long
    """Run it."""
    table = np.array([[_privacy(theta, share) for theta in THETAS] for share in SHARES])
    closed = np.array([[2 * w * (1 - w) * (1 - _squared_correlation(t, w)) for t in THETAS] for w in SHARES])
    odds = Guarantee(UnrelatedQuestion(theta=0.5).mechanism((2,) * 15).channel.odds)
    rows = [
        claim("theta = 1", "privacy is 0", f"{table[:, -1].max():.4g}", holds=bool((table[:, -1] < 1e-12).all())),
        claim(
            "theta = 0",
            "privacy is highest",
            ", ".join(f"{value:.3f}" for value in table[:, 0]),
            holds=bool((table[:, :1] >= table).all()),
        ),
        claim(
            "between",
            "privacy rises as theta goes from 1 to 0",
            f"largest step upwards with theta {np.diff(table, axis=1).max():.3g}",
            holds=bool((np.diff(table, axis=1) < 0).all()),
        ),
        claim(
            "shares",
            "privacy rises as W_a goes to .5",
            f"{table[0, 5]:.4f} at .1 to {table[-1, 5]:.4f} at .5, theta = .5",
            holds=bool((np.diff(table[:, :-1], axis=0) > 0).all()),
        ),
        claim(
            "closed form",
            "2 W_a (1 - W_a) (1 - corr^2)",
            f"largest difference {np.abs(table - closed).max():.2g}",
            holds=bool(np.allclose(table, closed)),
        ).as_reference(),
        claim(
            "whole record", "odds of 32,769 : 1 at theta = .5 and 15 bits", str(odds), odds.odds == 32769
        ).as_reference(),
    ]
    return Rerun({"W_a": SHARES, "thetas": THETAS, "W_y": 0.5}, rows, NOTES, lambda figure: _draw(table, figure))


def _privacy(theta: float, share: float) -> float:
    channel = np.array([[0.5 + theta / 2, 0.5 - theta / 2], [0.5 - theta / 2, 0.5 + theta / 2]])
    return float(entry_privacy(channel, [1 - share, share]))


def _squared_correlation(theta: float, share: float) -> float:
    reported = theta * share + (1 - theta) / 2
    return theta**2 * share * (1 - share) / (reported * (1 - reported))


def _draw(table: Array, figure: Any) -> None:
    axes = figure.add_subplot()
    for share, row in zip(SHARES, table, strict=True):
        axes.plot(THETAS, row, marker="o", markersize=4, label=f"W_a = {share:g}")
    axes.set_xlabel("theta")
    axes.set_ylabel("privacy of a single entry")
    axes.legend(frameon=False)
