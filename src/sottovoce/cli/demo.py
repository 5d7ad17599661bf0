"""`sottovoce demo`: plan, disguise and estimate a simulated table, in the terminal."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sottovoce.cli.options import EpsilonOption, JsonOption, OddsOption, option_errors
from sottovoce.cli.output import interval_header, print_table, progress_bar, say, write_json

if TYPE_CHECKING:
    from sottovoce.estimates.estimate import Estimate
    from sottovoce.schemas.schema import Schema

SHARES = {
    "evaded tax": {"no": 0.83, "yes": 0.17},
    "drug use": {"never": 0.71, "tried once": 0.16, "monthly": 0.09, "weekly": 0.04},
    "trust in employer": {"none": 0.12, "little": 0.33, "some": 0.38, "full": 0.17},
}
"""Proportions of the answers in the simulated population."""

DEFAULT_ODDS = "27:1"


@option_errors()
def demo(
    respondents: Annotated[int, typer.Option(min=100, help="Number of simulated respondents.")] = 50_000,
    epsilon: EpsilonOption = None,
    odds: OddsOption = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the answers; the disguise is always secure.")] = 1,
    json: JsonOption = None,
) -> None:
    """Show the way from sensitive answers to estimates, with simulated respondents. The default odds are 27:1."""
    from sottovoce.disguises.tables import disguise_file
    from sottovoce.estimates.proportions import estimate_proportions
    from sottovoce.plans.budget import new_plan
    from sottovoce.tables.plan_file import read_plan

    schema = _schema()
    plan = new_plan(schema, odds=DEFAULT_ODDS if epsilon is None and odds is None else odds, epsilon=epsilon)
    with TemporaryDirectory() as folder:
        truths, reports = Path(folder, "truths.csv"), Path(folder, "reports.csv")
        counts = _write_truths(schema, truths, respondents, seed)
        with progress_bar("disguising") as progress:
            disguise_file(truths, reports, plan, progress=progress)
        first = [path.read_text(encoding="utf-8").splitlines()[1:4] for path in (truths, reports)]
        estimates = [estimate_proportions(reports, read_plan(reports), name) for name in schema.names]
    say(f"1. {respondents} simulated respondents answer {len(schema.names)} sensitive questions.\n", json)
    say(f"2. The plan's promise for the whole record: {plan.guarantee}\n{plan.guarantee.in_words()}\n", json)
    say("3. Every answer is disguised by tossing coins. Of the first three records, only the reports are stored:", json)
    print_table(("true answers, never stored", "report"), zip(*first, strict=True), json)
    say("\n4. The proportions can still be estimated, and the intervals show how well:", json)
    print_table(
        ("question", "answer", "reported", "estimate", interval_header(0.95), "truth"),
        [row for estimate in estimates for row in _rows(estimate, counts, respondents)],
        json,
    )
    say("\nNext: sottovoce plan new YOUR.csv --epsilon 2 -o plan.json", json)
    document = [estimate.to_json() for estimate in estimates]
    write_json({"respondents": respondents, "odds": plan.guarantee.exact, "estimates": document}, json)


def _schema() -> "Schema":
    from sottovoce.schemas.attribute import Attribute
    from sottovoce.schemas.schema import Schema

    return Schema(Attribute(name, answers) for name, answers in SHARES.items())


def _write_truths(schema: "Schema", path: Path, respondents: int, seed: int) -> dict[str, Any]:
    """Draw true answers, write them as a CSV file, and return their counts by question."""
    import csv

    import numpy as np

    rng = np.random.default_rng(seed)
    codes = [rng.choice(len(shares), respondents, p=list(shares.values())) for shares in SHARES.values()]
    labels = schema.decode(codes)
    with open(path, "w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(schema.names)
        writer.writerows(zip(*labels.values(), strict=True))
    return {name: np.bincount(column) for name, column in zip(schema.names, codes, strict=True)}


def _rows(estimate: "Estimate", counts: dict[str, Any], respondents: int) -> list[tuple[str, ...]]:
    """Return the rows of one question, with the proportion of reports, which is no estimate."""
    rows: list[tuple[str, ...]] = []
    for code, row in enumerate(estimate.to_rows()):
        (name,) = estimate.attributes
        truth = counts[name][code] / respondents
        rows.append(
            (
                name if code == 0 else "",
                str(row["values"][name]),
                f"{estimate.reported[code]:.1%}",
                f"{row['estimate']:.1%}",
                f"{row['low']:.1%} to {row['high']:.1%}",
                f"{truth:.1%}",
            )
        )
    return rows
