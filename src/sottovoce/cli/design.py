"""`sottovoce design`: the best channel for a required privacy, or a front of channels to choose from."""

from typing import TYPE_CHECKING, Any

import typer

from sottovoce.cli import design_options as options
from sottovoce.cli import goals
from sottovoce.cli.design_plan import chosen, write_point
from sottovoce.cli.output import ForceOption, JsonOption, emit, numbers, progress_bar, say, table
from sottovoce.errors import SottovoceError, Words

if TYPE_CHECKING:
    from sottovoce.design.front import Front
    from sottovoce.design.point import Point

app = typer.Typer(no_args_is_help=False)
app.command("goals")(goals.goals)

MOST_ROWS = 40
"""Rows of the table for people; the JSON has all."""


@app.callback(invoke_without_command=True)
def design(
    context: typer.Context,
    respondents: options.RespondentsOption = None,
    objective: options.ObjectiveOption = "mse",
    prior: options.PriorOption = None,
    prior_name: options.PriorNameOption = None,
    categories: options.CategoriesOption = None,
    epsilon: options.EpsilonOption = None,
    odds: options.OddsOption = None,
    delta: options.DeltaOption = None,
    accuracy: options.AccuracyOption = None,
    distortion: options.DistortionOption = None,
    method: options.MethodOption = "certified",
    generations: options.GenerationsOption = None,
    seed: options.SeedOption = None,
    max_reports: options.MaxReportsOption = None,
    points: options.PointsOption = None,
    plot: options.PlotOption = None,
    plan: options.PlanOption = None,
    point: options.PointOption = None,
    attribute: options.AttributeOption = None,
    labels: options.LabelsOption = None,
    prior_source: options.PriorSourceOption = None,
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
    from sottovoce.design.methods import design as find
    from sottovoce.design.request import Request
    from sottovoce.scheme.scheme import odds_asked

    if respondents is None:
        raise SottovoceError("respondents", "must be given", Words("none"))
    bound = None if odds is None and epsilon is None else odds_asked(odds=odds, epsilon=epsilon)
    with progress_bar("designing") as progress:
        return find(method, Request(prior, respondents, objective, odds=bound, **asked), progress)


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
