"""EMASK, Table 3.1: coins by goal attainment, and all coins that attain as much."""

from math import isclose
from typing import Any

from papers.comparison import Printed, Row, claim, compare
from papers.rerun import Progress, Rerun
from sottovoce.designs.goals import Coins, Curve, Goals, attain_goals, equal_optima

TITLE = "EMASK's coins for a breach of 6 %, an error of 3 % and a slowdown of 5"
SOURCE = "S. Agrawal (2004), thesis, Indian Institute of Science, Table 3.1"

GOALS = Goals(breach=0.06, error=0.03, slowdown=5)
TABLE = {
    "Synthetic": (0.01, 1_000_000, ("0.0750", "0.0375", "3.5192"), ("0.5051", "0.9696"), "0.2507"),
    "BMS-WebView1": (0.005, 600_000, ("0.1075", "0.0537", "3.0212"), ("0.5673", "0.9877"), "0.791"),
    "BMS-WebView2": (0.0015, 3_875_600, ("0.0861", "0.0431", "3.3354"), ("0.5350", "0.9958"), "0.4355"),
}
"""Average support, transactions, attained goals and coins as printed, and the attainment of a reference of our own."""


def rerun(*, quick: bool, seed: int, progress: Progress) -> Rerun:
    """Three optimisations; quick is no different."""
    rows: list[Row] = []
    curves: dict[str, Curve] = {}
    for done, (name, (support, transactions, attained, coins, reference)) in enumerate(TABLE.items(), start=1):
        curves[name] = curve = equal_optima(support, transactions, GOALS)
        best = attain_goals(support, transactions, GOALS)
        theirs = curve.at(support * float(attained[2]))
        better = isclose(best.attainment, theirs.attainment) and best.odds < theirs.odds
        rows += [
            compare(f"attainment g, {name}", Printed(reference), best.attainment).as_reference(),
            compare(f"breach, {name}", Printed(attained[0]), best.breach),
            compare(f"error, {name}", Printed(attained[1]), best.error),
            compare(f"p at the published slowdown, {name}", Printed(coins[0]), theirs.p),
            compare(f"q at the published slowdown, {name}", Printed(coins[1]), theirs.q),
            claim(
                f"best, {name}",
                "the method shall obtain the best point {p, q}",
                f"published: {_costs(theirs)}; least odds: {_costs(best)}",
                not better,
                "read as: no other point attains as much at smaller odds",
            ),
        ]
        progress(done, len(TABLE))
    notes = [
        "Eq. 3.7 is printed with N s under the root where its derivation gives N s^2; only that gives the table.",
        "Breach and error depend on the squared correlation of a true and a reported bit alone, so that the best "
        "attainment is reached on a curve of pairs (p, q). Along it the density, the odds, what a reported 1 proves "
        "and the error of pairs differ; pairs are stated for two items half of whose holders hold both.",
    ]
    about = {"goals": GOALS.targets, "weights": "the goals", "seed": seed, "quick": quick}
    return Rerun(about, rows, notes, lambda figure: _draw(figure, curves))


def _costs(coins: Coins) -> str:
    return (
        f"({coins.p:.4f}, {coins.q:.4f}) with odds {coins.odds:.3g}, a 1 proves {coins.worst_posterior:.1%}, "
        f"error of a pair {coins.pair_error:.4f}, slowdown {coins.slowdown:.2f}"
    )


def _draw(figure: Any, curves: dict[str, Curve]) -> None:
    """What equal attainment costs along each curve."""
    labels = {
        "odds": "odds of a report",
        "worst_posterior": "what a 1 proves",
        "pair_error": "error of a pair",
        "p": "p",
    }
    for place, (measure, label) in enumerate(labels.items(), start=1):
        axes = figure.add_subplot(2, 2, place)
        for name, curve in curves.items():
            points = curve.points()[1:]  # the first has infinite odds
            axes.plot([coins.slowdown for coins in points], [getattr(coins, measure) for coins in points], label=name)
        axes.set(xlabel="slowdown", ylabel=label, yscale="linear" if measure == "p" else "log")
        axes.grid(visible=True, alpha=0.3)
    axes.legend()
