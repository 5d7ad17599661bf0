"""Options of `sottovoce design`: what is expected, what is promised, how it is searched for, what is written."""

from typing import Annotated

import typer

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
