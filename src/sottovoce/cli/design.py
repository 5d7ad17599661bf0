"""`sottovoce design`: the best channel for a required privacy, or a front of channels to choose from."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sottovoce.cli import goals
from sottovoce.cli.output import ForceOption, JsonOption, emit, names, numbers, progress_bar, say, table
from sottovoce.errors import SottovoceError, Words

if TYPE_CHECKING:
    from sottovoce.design.front import Front
    from sottovoce.design.point import Point
    from sottovoce.plan.plan import Plan

app = typer.Typer(help="Find the best channel for a required privacy, with a proof.", no_args_is_help=False)
app.command("goals")(goals.goals)

MOST_ROWS = 40
"""Rows of the table for people; the JSON has all."""


@app.callback(invoke_without_command=True)
def design(
    context: typer.Context,
    respondents: Annotated[float | None, typer.Option(help="Number of respondents.")] = None,
    objective: Annotated[str, typer.Option(help="mse (error of the estimate) or information (bits told).")] = "mse",
    prior: Annotated[str | None, typer.Option(help="Expected shares of the categories: .5,.3,.2")] = None,
    prior_name: Annotated[
        str | None, typer.Option(help="normal, gamma, beta, uniform, t, chi2, binomial or zipf.")
    ] = None,
    categories: Annotated[int | None, typer.Option(min=2, help="Categories of a named prior.")] = None,
    epsilon: Annotated[str | None, typer.Option(help="Bound on what a report can do to anyone's odds.")] = None,
    odds: Annotated[str | None, typer.Option(help="The same bound as odds, a:b.")] = None,
    delta: Annotated[float | None, typer.Option(help="Bound on how sure a report can make the adversary.")] = None,
    accuracy: Annotated[str | None, typer.Option(help="Bounds on the adversary's right guesses: A,A,...")] = None,
    distortion: Annotated[str | None, typer.Option(help="Bounds on the share of wrong reports: D,D,...")] = None,
    method: Annotated[str, typer.Option(help="certified, warner, subset, unary, optrr or mopso.")] = "certified",
    generations: Annotated[int | None, typer.Option(min=1, help="Generations of optrr or mopso.")] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Makes optrr and mopso repeatable.")] = None,
    max_reports: Annotated[int | None, typer.Option(min=2, help="Most reports a design may have.")] = None,
    points: Annotated[
        int | None, typer.Option(min=1, help="Points of a front; with --epsilon or --odds alone, asks for one.")
    ] = None,
    plot: Annotated[str | None, typer.Option(metavar="FILE", help="Draw the front: .png, .svg or .pdf.")] = None,
    plan: Annotated[str | None, typer.Option(metavar="FILE", help="Write a point as a plan.")] = None,
    point: Annotated[int | None, typer.Option(min=1, help="Number of the point to plan with.")] = None,
    attribute: Annotated[str | None, typer.Option(help="Name of the plan's attribute.")] = None,
    labels: Annotated[str | None, typer.Option(help="Names of its categories: a,b,c; 1,2,3 if not given.")] = None,
    prior_source: Annotated[
        str | None, typer.Option(help="Where the prior is from: public:NOTE, pilot:NOTE; recorded in the plan.")
    ] = None,
    force: ForceOption = False,
    json: JsonOption = None,
) -> None:
    """Find the best channel for a required privacy, with a proof; without a level, a front to choose from.

    Levels are accuracies and distortions. For the error an epsilon or odds alone are one, too: one channel is best.
    """
    if context.invoked_subcommand is not None:
        return
    from sottovoce.design.methods import design as find
    from sottovoce.design.request import Request
    from sottovoce.scheme.scheme import odds_asked

    if respondents is None:
        raise SottovoceError("respondents", "must be given", Words("none"))
    request = Request(
        prior_asked(prior, prior_name, categories),
        respondents,
        objective,
        accuracies=numbers("accuracy", accuracy),
        distortions=numbers("distortion", distortion),
        delta=delta,
        odds=None if odds is None and epsilon is None else odds_asked(odds=odds, epsilon=epsilon),
        points=points,
        max_reports=max_reports,
        generations=generations,
        seed=seed,
    )
    with progress_bar("designing") as progress:
        front = find(method, request, progress)
    if plan is not None:
        source = prior_source or (prior_name and f"public:{prior_name} prior of {categories} categories")
        _write_plan(_plan(_chosen(front, point), attribute, labels, source), plan, overwrite=force)
    if plot is not None:
        front.plot(path=plot)
    emit(front.to_json(), json)
    _present(front, json)


def prior_asked(given: str | None, name: str | None, categories: int | None) -> Any:
    """Prior in numbers, or by its name."""
    from sottovoce.design.prior import checked_prior, named_prior

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


def _chosen(front: "Front", number: int | None) -> "Point":
    if number is None and len(front) == 1:
        return front[0]
    if number is None or number > len(front):
        raise SottovoceError("point", f"must be a number from 1 to {len(front)} for a plan", number)
    return front[number - 1]


def _plan(point: "Point", attribute: str | None, labels: str | None, source: str | None) -> "Plan":
    from sottovoce.plan.plan import Plan
    from sottovoce.plan.prior import PriorSource
    from sottovoce.schema.attribute import Attribute
    from sottovoce.schema.schema import Schema

    if attribute is None:
        raise SottovoceError("attribute", "must name what the plan asks for", Words("none"))
    if source is None:
        raise SottovoceError("prior_source", "must say where the prior is from, like public:census 2021", Words("none"))
    kind, _, note = source.partition(":")
    answers = names(labels) or [str(number) for number in range(1, point.channel.n_in + 1)]
    schema = Schema([Attribute(attribute, answers)])
    return Plan.of(schema, {attribute: point.scheme}, prior=PriorSource(kind, note.strip()))


def _write_plan(plan: "Plan", path: str, *, overwrite: bool) -> None:
    from sottovoce.table.plan_file import write_plan

    write_plan(plan, Path(path), overwrite=overwrite)
