"""`sottovoce design goals`: coins of EMASK for goals of privacy, error and run time."""

from typing import TYPE_CHECKING, Annotated

import typer

from sottovoce.cli.output import JsonOption, emit, numbers, say, table

if TYPE_CHECKING:
    from sottovoce.design.goals.curve import Coins

ROWS = 9
"""Points of the curve that are shown."""


def goals(
    density: Annotated[str, typer.Option(help="Average support of an item: the share of ones in the table.")],
    transactions: Annotated[float, typer.Option(help="Number of transactions.")],
    breach: Annotated[float, typer.Option(help="Goal for the privacy breach, one minus basic privacy.")],
    error: Annotated[float, typer.Option(help="Goal for the relative error of a support.")],
    slowdown: Annotated[float, typer.Option(help="Goal for the ones reported to each one that is true.")],
    weights: Annotated[
        str | None, typer.Option(help="What a miss of each goal costs, W,W,W; 0 makes it hard. The goals if not given.")
    ] = None,
    tie: Annotated[
        str, typer.Option(help="What decides among equals: odds, posterior, density or pair_error.")
    ] = "odds",
    json: JsonOption = None,
) -> None:
    """Find EMASK's coins that come nearest to three goals, and what else attains as much."""
    from sottovoce.design.goals.attain import attain_goals, equal_optima
    from sottovoce.design.goals.goals import Goals

    given = numbers("weights", weights)
    wanted = Goals(breach, error, slowdown, None if given is None else tuple(given))
    chosen = attain_goals(density, transactions, wanted, tie)
    equals = equal_optima(density, transactions, wanted).points(ROWS)
    document = {"tie": tie, **chosen.to_json(), "equal_optima": [coins.to_json() for coins in equals]}
    emit(document, json)
    if json != "-":
        _present(chosen, equals, tie)
        if wanted.breach <= float(density):
            say(f"No coins have a breach below {density}, the average support: that goal can only be come near.")


def _present(chosen: "Coins", equals: "list[Coins]", tie: str) -> None:
    headers = ("p", "q", "breach", "error", "slower", "odds", "1 proves", "pairs")
    table(headers, [_row(chosen)], title=f"Of the least {tie.replace('_', ' ')}")
    table(headers, [_row(coins) for coins in equals], title="These attain as much")
    met = "met with room to spare" if chosen.attainment <= 0 else "missed by the same number of their weights"
    say(f"Attainment {chosen.attainment:.4f}: the goals are {met}.")
    say("Breach and error are averages over reports. What a reported 1 proves, and the odds, are not: weigh them.")
    say("Pairs: error of the support of two items, half of whose holders hold both.")


def _row(coins: "Coins") -> tuple[str, ...]:
    averages = [f"{value:.4f}" for value in (coins.p, coins.q, coins.breach, coins.error, coins.slowdown)]
    return (*averages, f"{coins.odds:.4g}", f"{coins.worst_posterior:.1%}", f"{coins.pair_error:.4f}")
