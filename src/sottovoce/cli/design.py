"""`sottovoce design`: the best channel for a required privacy, a front to choose from, or goals for EMASK."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from sottovoce.cli.output import ForceOption, JsonOption, emit, names, numbers, progress_bar, say, table
from sottovoce.errors import SottovoceError, Words

if TYPE_CHECKING:
    from sottovoce.designs.front import Front, Point
    from sottovoce.designs.goals import Coins

RespondentsOption = Annotated[float | None, typer.Option(help="Number of respondents.")]
ObjectiveOption = Annotated[str, typer.Option(help="mse (error of the estimate) or information (bits told).")]
PriorOption = Annotated[str | None, typer.Option(help="Expected shares of the categories: .5,.3,.2")]
PriorNameOption = Annotated[str | None, typer.Option(help="normal, gamma, beta, uniform, t, chi2, binomial or zipf.")]
CategoriesOption = Annotated[int | None, typer.Option(min=2, help="Categories of a named prior.")]

EpsilonOption = Annotated[str | None, typer.Option(help="Bound on what a report can do to anyone's odds.")]
OddsOption = Annotated[str | None, typer.Option(help="The same bound as odds, a:b.")]
DeltaOption = Annotated[float | None, typer.Option(help="Bound on how sure a report can make the adversary.")]
AccuracyOption = Annotated[str | None, typer.Option(help="Bounds on the adversary's right guesses: A,A,...")]
DistortionOption = Annotated[str | None, typer.Option(help="Bounds on the share of wrong reports: D,D,...")]

MethodOption = Annotated[str, typer.Option(help="certified, warner, subset, unary, optrr or mopso.")]
GenerationsOption = Annotated[int | None, typer.Option(min=1, help="Generations of optrr or mopso.")]
SeedOption = Annotated[int | None, typer.Option(min=0, help="Makes optrr and mopso repeatable.")]
MaxReportsOption = Annotated[int | None, typer.Option(min=2, help="Most reports a design may have.")]
PointsOption = Annotated[
    int | None, typer.Option(min=1, help="Points of a front; with --epsilon or --odds alone, asks for one.")
]

PlotOption = Annotated[str | None, typer.Option(metavar="FILE", help="Draw the front: .png, .svg or .pdf.")]
PlanOption = Annotated[str | None, typer.Option(metavar="FILE", help="Write a point as a plan.")]
PointOption = Annotated[int | None, typer.Option(min=1, help="Number of the point to plan with.")]
AttributeOption = Annotated[str | None, typer.Option(help="Name of the plan's attribute.")]
LabelsOption = Annotated[str | None, typer.Option(help="Names of its categories: a,b,c; 1,2,3 if not given.")]
PriorSourceOption = Annotated[
    str | None, typer.Option(help="Where the prior is from: public:NOTE, pilot:NOTE; recorded in the plan.")
]
ROWS = 9
"""Points of the curve that are shown."""


def chosen(front: "Front", number: int | None) -> "Point":
    """Point of a number that counts from 1; of a single one, that one."""
    if number is None and len(front) == 1:
        return front[0]
    if number is None or number > len(front):
        raise SottovoceError("point", f"must be a number from 1 to {len(front)} for a plan", number)
    return front[number - 1]


def write_point(
    point: "Point", path: str, attribute: str | None, labels: str | None, source: str | None, *, overwrite: bool
) -> None:
    """Write a plan that asks for one attribute under the point's scheme, and says where its prior is from."""
    from sottovoce.plans.plan import Plan, PriorSource
    from sottovoce.schemas.attribute import Attribute
    from sottovoce.schemas.schema import Schema
    from sottovoce.tables.plan_file import write_plan

    if attribute is None:
        raise SottovoceError("attribute", "must name what the plan asks for", Words("none"))
    if source is None:
        raise SottovoceError("prior_source", "must say where the prior is from, like public:census 2021", Words("none"))
    kind, _, note = source.partition(":")
    answers = names(labels) or [str(number) for number in range(1, point.channel.n_in + 1)]
    schema = Schema([Attribute(attribute, answers)])
    plan = Plan.of(schema, {attribute: point.scheme}, prior=PriorSource(kind, note.strip()))
    write_plan(plan, path, overwrite=overwrite)


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
    from sottovoce.designs.goals import Goals, attain_goals, equal_optima

    given = numbers("weights", weights)
    wanted = Goals(breach, error, slowdown, None if given is None else tuple(given))
    chosen = attain_goals(density, transactions, wanted, tie)
    equals = equal_optima(density, transactions, wanted).points(ROWS)
    document = {"tie": tie, **chosen.to_json(), "equal_optima": [coins.to_json() for coins in equals]}
    emit(document, json)
    if json != "-":
        _present_goals(chosen, equals, tie)
        if wanted.breach <= float(density):
            say(f"No coins have a breach below {density}, the average support: that goal can only be come near.")


def _present_goals(chosen: "Coins", equals: "list[Coins]", tie: str) -> None:
    headers = ("p", "q", "breach", "error", "slower", "odds", "1 proves", "pairs")
    table(headers, [_goal_row(chosen)], title=f"Of the least {tie.replace('_', ' ')}")
    table(headers, [_goal_row(coins) for coins in equals], title="These attain as much")
    met = "met with room to spare" if chosen.attainment <= 0 else "missed by the same number of their weights"
    say(f"Attainment {chosen.attainment:.4f}: the goals are {met}.")
    say("Breach and error are averages over reports. What a reported 1 proves, and the odds, are not: weigh them.")
    say("Pairs: error of the support of two items, half of whose holders hold both.")


def _goal_row(coins: "Coins") -> tuple[str, ...]:
    averages = [f"{value:.4f}" for value in (coins.p, coins.q, coins.breach, coins.error, coins.slowdown)]
    return (*averages, f"{coins.odds:.4g}", f"{coins.worst_posterior:.1%}", f"{coins.pair_error:.4f}")


app = typer.Typer(no_args_is_help=False)
app.command("goals")(goals)

MOST_ROWS = 40
"""Rows of the table for people; the JSON has all."""


@app.callback(invoke_without_command=True)
def design(
    context: typer.Context,
    respondents: RespondentsOption = None,
    objective: ObjectiveOption = "mse",
    prior: PriorOption = None,
    prior_name: PriorNameOption = None,
    categories: CategoriesOption = None,
    epsilon: EpsilonOption = None,
    odds: OddsOption = None,
    delta: DeltaOption = None,
    accuracy: AccuracyOption = None,
    distortion: DistortionOption = None,
    method: MethodOption = "certified",
    generations: GenerationsOption = None,
    seed: SeedOption = None,
    max_reports: MaxReportsOption = None,
    points: PointsOption = None,
    plot: PlotOption = None,
    plan: PlanOption = None,
    point: PointOption = None,
    attribute: AttributeOption = None,
    labels: LabelsOption = None,
    prior_source: PriorSourceOption = None,
    force: ForceOption = False,
    json: JsonOption = None,
) -> None:
    """Find the best channel for a required privacy, with a proof; without a level, a front to choose from.

    Levels are accuracies and distortions. For the error an epsilon or odds alone are one, too: one channel is best.
    """
    if context.invoked_subcommand is not None:
        return
    law = prior_asked(prior, prior_name, categories)
    levels = {"accuracies": numbers("accuracy", accuracy), "distortions": numbers("distortion", distortion)}
    sizes = {"points": points, "max_reports": max_reports, "generations": generations, "seed": seed}
    front = _found(method, law, respondents, objective, odds=odds, epsilon=epsilon, delta=delta, **levels, **sizes)
    if plan is not None:
        source = prior_source or (prior_name and f"public:{prior_name} prior of {categories} categories")
        write_point(chosen(front, point), plan, attribute, labels, source, overwrite=force)
    if plot is not None:
        front.plot(path=plot)
    emit(front.to_json(), json)
    _present(front, json)


def _found(
    method: str, prior: Any, respondents: float | None, objective: str, *, odds: Any, epsilon: Any, **asked: Any
) -> "Front":
    """Front that a method finds for what was asked, under a bar."""
    from sottovoce.designs.methods import Request
    from sottovoce.designs.methods import design as find
    from sottovoce.schemes.scheme import odds_asked

    if respondents is None:
        raise SottovoceError("respondents", "must be given", Words("none"))
    bound = None if odds is None and epsilon is None else odds_asked(odds=odds, epsilon=epsilon)
    with progress_bar("designing") as progress:
        return find(method, Request(prior, respondents, objective, odds=bound, **asked), progress)


def prior_asked(given: str | None, name: str | None, categories: int | None) -> Any:
    """Prior in numbers, or by its name."""
    from sottovoce.designs.requirement import checked_prior, named_prior

    if (given is None) == (name is None):
        raise SottovoceError("prior or prior_name", "must be given, exactly one of them", given and name)
    if name is None:
        return checked_prior(numbers("prior", given))
    if categories is None:
        raise SottovoceError("categories", "must be given with the name of a prior", categories)
    return named_prior(name, categories)


def _present(front: "Front", target: str | None) -> None:
    """Table of some points, and what whoever uses one has to know."""
    if target == "-":
        return
    step = -(-len(front) // MOST_ROWS)
    shown = [(number, point) for number, point in enumerate(front, start=1) if (number - 1) % step == 0]
    headers = ("point", "reports", "error", "guessed", "worst", "epsilon", "bits", "wrong", "bound", "gap")
    table(headers, [(str(number), *_row(point)) for number, point in shown])
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
        remarks.append("Not deniable where epsilon is inf: some reports rule some answers out. Surveys need --epsilon.")
    remarks.append("Guesses, posteriors and bits hold for this prior; epsilon holds whatever anyone knows.")
    if any(point.certificate is not None for point in front):
        remarks.append("Bounds are proven in floating point: no channel that meets the same bounds can beat them.")
    return remarks
