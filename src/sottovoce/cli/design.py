"""`sottovoce design`: the best channel for a required privacy, a front to choose from, or goals for EMASK."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from sottovoce.cli.options import (
    ForceOption,
    JsonOption,
    option_errors,
    parse_measure,
    split_names,
    split_numbers,
    written_name,
)
from sottovoce.cli.output import print_table, progress_bar, say, write_json
from sottovoce.errors import SottovoceError, Words, renamed_parameters

if TYPE_CHECKING:
    from sottovoce.designs.front import Front, Point
    from sottovoce.designs.goals import Coins

PriorOption = Annotated[
    str | None, typer.Option(metavar="P,P,...", help="Expected proportions of the categories: .5,.3,.2")
]
PriorNameOption = Annotated[str | None, typer.Option(help="normal, gamma, beta, uniform, t, chi2, binomial or zipf.")]
CategoriesOption = Annotated[int | None, typer.Option(min=2, help="Number of categories of --prior-name.")]
PriorSourceOption = Annotated[
    str | None,
    typer.Option(metavar="SOURCE:NOTE", help="Source of the prior, recorded in the plan: public:NOTE or pilot:NOTE."),
]

MOST_ROWS = 40
"""Most rows of the printed table; the JSON has all."""

GOAL_ROWS = 9
"""Rows of the table of coins that attain the same."""

app = typer.Typer(no_args_is_help=False)


@app.callback(invoke_without_command=True)
@option_errors(output="plan")
def design(
    context: typer.Context,
    respondents: Annotated[float | None, typer.Option(help="Number of respondents.")] = None,
    objective: Annotated[
        str, typer.Option(help="Minimise mse (error of estimates) or information (mutual information).")
    ] = "mse",
    prior: PriorOption = None,
    prior_name: PriorNameOption = None,
    categories: CategoriesOption = None,
    epsilon: Annotated[str | None, typer.Option(help="Upper bound on epsilon.")] = None,
    odds: Annotated[str | None, typer.Option(help="The same bound as odds: A:B.")] = None,
    delta: Annotated[float | None, typer.Option(help="Upper bound on every posterior probability.")] = None,
    accuracy: Annotated[
        str | None,
        typer.Option(metavar="A,A,...", help="Upper bounds on the adversary's accuracy, a point each."),
    ] = None,
    distortion: Annotated[
        str | None,
        typer.Option(metavar="D,D,...", help="Bounds on the proportion of wrong reports, a point each."),
    ] = None,
    method: Annotated[str, typer.Option(help="certified, warner, subset, unary, optrr or mopso.")] = "certified",
    generations: Annotated[int | None, typer.Option(min=1, help="Generations of optrr or mopso.")] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Makes optrr and mopso repeatable.")] = None,
    max_reports: Annotated[int | None, typer.Option(min=2, help="Most possible reports of a channel.")] = None,
    points: Annotated[
        int | None,
        typer.Option(min=1, help="Number of points of a front; with --epsilon or --odds alone, one if not given."),
    ] = None,
    plot: Annotated[str | None, typer.Option(metavar="FILE", help="Plot the front: .png, .svg or .pdf.")] = None,
    plan: Annotated[str | None, typer.Option(metavar="FILE", help="Write a point as a plan.")] = None,
    point: Annotated[int | None, typer.Option(min=1, help="Number of the point for --plan.")] = None,
    attribute: Annotated[str | None, typer.Option(help="Name of the attribute for --plan.")] = None,
    labels: Annotated[
        str | None, typer.Option(metavar="A,B,...", help="Categories of the attribute for --plan; 1,2,3 if not given.")
    ] = None,
    prior_source: PriorSourceOption = None,
    force: ForceOption = False,
    json: JsonOption = None,
) -> None:
    """Find the channel with the least error for a required privacy, with a proof, or a front of channels.

    Bounds on accuracy or distortion give one point each. With an epsilon or odds alone, one channel is best for mse.
    """
    if context.invoked_subcommand is not None:
        return
    bounds = {
        "delta": delta,
        "accuracies": split_numbers("accuracy", accuracy),
        "distortions": split_numbers("distortion", distortion),
    }
    limits = {"points": points, "max_reports": max_reports, "generations": generations, "seed": seed}
    distribution = parse_prior(prior, prior_name, categories)
    front = _find_front(method, distribution, respondents, objective, odds=odds, epsilon=epsilon, **bounds, **limits)
    if plan is not None:
        source = prior_source or (prior_name and f"public:{prior_name} prior of {categories} categories")
        _write_point(_select_point(front, point), plan, attribute, labels, source, overwrite=force)
    if plot is not None:
        front.plot(path=plot)
    write_json(front.to_json(), json)
    _present(front, json)


def _find_front(
    method: str, prior: Any, respondents: float | None, objective: str, *, odds: Any, epsilon: Any, **asked: Any
) -> "Front":
    """Run a method, with a progress bar."""
    from sottovoce.designs.certified import Request
    from sottovoce.designs.certified import solve_request as find
    from sottovoce.exact import odds_asked

    if respondents is None:
        raise SottovoceError("respondents", "must be given", Words("none"))
    bound = None if odds is None and epsilon is None else odds_asked(odds=odds, epsilon=epsilon)
    with progress_bar("designing") as progress:
        return find(method, Request(prior, respondents, objective, odds=bound, **asked), progress)


def parse_prior(proportions: str | None, name: str | None, categories: int | None) -> Any:
    """Return the prior with given proportions, or with a name."""
    from sottovoce.designs.requirement import checked_prior, named_prior

    if (proportions is None) == (name is None):
        raise SottovoceError("prior or prior_name", "must be given, exactly one of them", proportions and name)
    if name is None:
        return checked_prior(split_numbers("prior", proportions))
    if categories is None:
        raise SottovoceError("categories", "must be given with --prior-name", categories)
    return named_prior(name, categories)


def _select_point(front: "Front", number: int | None) -> "Point":
    """Return the point with a number, counted from 1; without a number, the only point."""
    if number is None and len(front) == 1:
        return front[0]
    if number is None or number > len(front):
        raise SottovoceError("point", f"must be a number from 1 to {len(front)} for --plan", number)
    return front[number - 1]


def _write_point(
    point: "Point", path: str, attribute: str | None, labels: str | None, source: str | None, *, overwrite: bool
) -> None:
    """Write a plan for one attribute with the point's scheme and the source of its prior."""
    from sottovoce.plans.plan import Plan, PriorSource
    from sottovoce.schemas.attribute import Attribute
    from sottovoce.schemas.schema import Schema
    from sottovoce.tables.plan_file import write_plan

    if attribute is None:
        raise SottovoceError("attribute", "must be given for --plan", Words("none"))
    if source is None:
        rule = "must be given for --plan, such as public:census 2021"
        raise SottovoceError("prior_source", rule, Words("none"))
    kind, _, note = source.partition(":")
    categories = split_names(labels) or [str(number) for number in range(1, point.channel.n_in + 1)]
    with renamed_parameters({"categories": "labels", "sizes": "labels", "source": "prior_source"}):
        schema = Schema([Attribute(attribute, categories)])
        plan = Plan.of(schema, {attribute: point.scheme}, prior=PriorSource(kind, note.strip()))
    write_plan(plan, path, overwrite=overwrite)


def _present(front: "Front", target: str | None) -> None:
    """Print a table of points, and remarks on how to read them."""
    if target == "-":
        return
    step = -(-len(front) // MOST_ROWS)
    shown = [(number, point) for number, point in enumerate(front, start=1) if (number - 1) % step == 0]
    measures = ("mse", "accuracy", "worst posterior", "epsilon", "information", "distortion")
    headers = ("point", "reports", *measures, "lower bound", "gap")
    print_table(headers, [(str(number), *_row(point)) for number, point in shown])
    if step > 1:
        say(f"Every {step}th of {len(front)} points; the JSON has all.")
    for remark in _remarks(front):
        say(remark)


def _row(point: "Point") -> tuple[str, ...]:
    channel = point.channel
    reports = str(channel.n_out) if channel.n_out <= 10**6 else f"2^{channel.n_in}"
    measures = ("adversary_accuracy", "worst_posterior", "epsilon", "mutual_information", "distortion")
    shown = [_number(point.measures.get(name)) for name in measures]
    bound = "" if point.lower_bound is None else f"{point.lower_bound:.5g}"
    gap = "" if point.gap is None else f"{max(point.gap, 0):.1e}"
    return (reports, f"{point['mse']:.5g}", *shown, bound, gap)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"


def _remarks(front: "Front") -> list[str]:
    remarks = []
    if not all(point.deniable for point in front):
        remarks.append("Not deniable where epsilon is inf: some reports rule out an answer. Surveys need --epsilon.")
    remarks.append("Accuracy, posterior and information (in bits) hold for this prior; epsilon holds for any prior.")
    if any(point.certificate is not None for point in front):
        remarks.append("Lower bounds are proven in floating point: no channel within the same bounds has less error.")
    return remarks


@app.command()
@option_errors()
def goals(
    density: Annotated[str, typer.Option(help="Proportion of ones in the table: the average support of an item.")],
    transactions: Annotated[float, typer.Option(help="Number of transactions.")],
    breach: Annotated[float, typer.Option(help="Goal for the privacy breach, which is one minus basic privacy.")],
    error: Annotated[float, typer.Option(help="Goal for the relative error of a support.")],
    slowdown: Annotated[float, typer.Option(help="Goal for the number of reported ones for each true one.")],
    weights: Annotated[
        str | None,
        typer.Option(
            metavar="W,W,W", help="Cost of missing each goal; 0 makes a goal hard. The goals themselves if not given."
        ),
    ] = None,
    tie: Annotated[
        str, typer.Option(help="Measure that decides between equals: odds, posterior, density or pair-error.")
    ] = "odds",
    json: JsonOption = None,
) -> None:
    """Find the probabilities of EMASK that come nearest to three goals, and others that attain as much."""
    from sottovoce.designs.goals import TIES, Goals, attain_goals, equal_optima

    decisive = parse_measure("tie", tie, TIES)
    given = split_numbers("weights", weights)
    wanted = Goals(breach, error, slowdown, None if given is None else tuple(given))
    best = attain_goals(density, transactions, wanted, decisive)
    equals = equal_optima(density, transactions, wanted).points(GOAL_ROWS)
    document = {"tie": decisive, **best.to_json(), "equal_optima": [coins.to_json() for coins in equals]}
    write_json(document, json)
    if json != "-":
        _present_goals(best, equals, decisive)
        if wanted.breach <= float(density):
            say(f"No probabilities have a breach below {density}, the average support: that goal cannot be attained.")


def _present_goals(best: "Coins", equals: "list[Coins]", tie: str) -> None:
    headers = ("p", "q", "breach", "error", "slowdown", "odds", "posterior", "pair error")
    print_table(headers, [_goal_row(best)], title=f"Best, with the smallest {written_name(tie)}")
    print_table(headers, [_goal_row(coins) for coins in equals], title="Others that attain as much")
    met = "all goals are met" if best.attainment <= 0 else "all goals are missed by the same multiple of their weights"
    say(f"Attainment {best.attainment:.4f}: {met}.")
    say("Breach and error are averages over reports. Posterior (of a reported 1) and odds are worst cases.")
    say("Pair error: of the support of two items, if half of those who have one have both.")


def _goal_row(coins: "Coins") -> tuple[str, ...]:
    averages = [f"{value:.4f}" for value in (coins.p, coins.q, coins.breach, coins.error, coins.slowdown)]
    return (*averages, f"{coins.odds:.4g}", f"{coins.worst_posterior:.1%}", f"{coins.pair_error:.4f}")
