"""Options of `sottovoce estimate`."""

from typing import Annotated

import typer

AttributesOption = Annotated[str, typer.Option(help="Attributes, jointly: a,b.")]
MethodOption = Annotated[str, typer.Option(help="inversion or blue (unbiased), em or simplex.")]
TargetOption = Annotated[str, typer.Option(help="population, or the table itself.")]
IntervalOption = Annotated[str, typer.Option(help="Intervals: wald, score or bootstrap.")]
SimultaneousOption = Annotated[bool, typer.Option("--simultaneous", help="Intervals that all hold at once.")]
SeedOption = Annotated[int | None, typer.Option(min=0, help="Repeatable bootstrap.")]
WeightsOption = Annotated[str | None, typer.Option(metavar="COLUMN", help="Survey weights, not disguised.")]
ByOption = Annotated[str | None, typer.Option(metavar="COLUMN", help="Apart for each value of it.")]
StrataOption = Annotated[str | None, typer.Option(metavar="COLUMN", help="Strata, not disguised.")]
SharesOption = Annotated[str | None, typer.Option(help="Shares of the strata: a=.4,b=.6; else the sample's.")]
AgainstOption = Annotated[str | None, typer.Option(metavar="FILE2", help="Compare with another wave.")]
DerivedOption = Annotated[
    str | None,
    typer.Option(
        "--derive",
        help="Also entropy or mean; of two attributes mutual-information, chi-squared, g-squared, correlation; "
        "of two yes/no ones odds-ratio, log-odds-ratio, risk-difference.",
    ),
]
IndependenceOption = Annotated[bool, typer.Option("--independence", help="Test that two attributes are independent.")]
PlotOption = Annotated[str | None, typer.Option(metavar="FILE", help="Draw the estimate: .png, .svg or .pdf.")]
