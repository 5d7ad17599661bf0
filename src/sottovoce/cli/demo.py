"""`sottovoce demo`: the whole story in the terminal, on a made-up table."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sottovoce.cli.output import JsonOption, emit, progress_bar, say, table

if TYPE_CHECKING:
    from sottovoce.estimates.estimate import Estimate
    from sottovoce.schemas.schema import Schema

TRUTH = {
    "evaded tax": {"no": 0.83, "yes": 0.17},
    "drug use": {"never": 0.71, "tried once": 0.16, "monthly": 0.09, "weekly": 0.04},
    "trust in employer": {"none": 0.12, "little": 0.33, "some": 0.38, "full": 0.17},
}
"""Proportions of the made-up population."""


def demo(
    respondents: Annotated[int, typer.Option(min=100, help="People in the made-up table.")] = 50_000,
    odds: Annotated[str, typer.Option(help="Budget of the whole record, a:b.")] = "27:1",
    seed: Annotated[int, typer.Option(min=0, help="Seed of the made-up people; the coins are always secure.")] = 1,
    json: JsonOption = None,
) -> None:
    """Show the journey from sensitive answers to honest estimates, end to end."""
    from sottovoce.disguises.tables import disguise_file
    from sottovoce.estimates.proportions import estimate_proportions
    from sottovoce.plans.budget import new_plan
    from sottovoce.tables.plan_file import read_plan

    schema = _schema()
    plan = new_plan(schema, odds=odds)
    with TemporaryDirectory() as folder:
        truths, reports = Path(folder, "truths.csv"), Path(folder, "reports.csv")
        counts = _write_people(schema, truths, respondents, seed)
        with progress_bar("disguising") as progress:
            disguise_file(truths, reports, plan, progress=progress)
        first = [path.read_text(encoding="utf-8").splitlines()[1:4] for path in (truths, reports)]
        found = [estimate_proportions(reports, read_plan(reports), name) for name in schema.names]
    say(f"1. {respondents} people answered {len(schema.names)} sensitive questions (all of them made up).\n", json)
    say(f"2. The plan's promise for the whole record: {plan.guarantee}\n{plan.guarantee.in_words()}\n", json)
    say("3. Every answer meets its coin. Of the first three records, only the right-hand side is ever stored:", json)
    table(("the truth, known to its owner only", "the report"), zip(*first, strict=True), json)
    say("\n4. The group can still be read, and the error bars say how well:", json)
    table(
        ("question", "answer", "reports", "estimate", "95 % interval", "truth"),
        [row for estimate in found for row in _rows(estimate, counts, respondents)],
        json,
    )
    say("\nNext: sottovoce plan new YOUR.csv --epsilon 2 -o plan.json", json)
    emit({"respondents": respondents, "odds": plan.guarantee.exact, "estimates": _json(found)}, json)


def _schema() -> "Schema":
    from sottovoce.schemas.attribute import Attribute
    from sottovoce.schemas.schema import Schema

    return Schema(Attribute(name, answers) for name, answers in TRUTH.items())


def _write_people(schema: "Schema", path: Path, respondents: int, seed: int) -> dict[str, Any]:
    """Draw the made-up people, write them as a CSV file, and count what is true of them."""
    import csv

    import numpy as np

    rng = np.random.default_rng(seed)
    codes = [rng.choice(len(law), respondents, p=list(law.values())) for law in TRUTH.values()]
    labels = schema.decode(codes)
    with open(path, "w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(schema.names)
        writer.writerows(zip(*labels.values(), strict=True))
    return {name: np.bincount(column) for name, column in zip(schema.names, codes, strict=True)}


def _rows(estimate: "Estimate", counts: dict[str, Any], respondents: int) -> list[tuple[str, ...]]:
    """Percentages of one question, with the raw share of reports, which is not the answer."""
    rows: list[tuple[str, ...]] = []
    for code, row in enumerate(estimate.to_rows()):
        (name,) = estimate.attributes
        truth = counts[name][code] / respondents
        rows.append(
            (
                name if code == 0 else "",
                str(row["values"][name]),
                f"{estimate.seen[code]:.1%}",
                f"{row['estimate']:.1%}",
                f"{row['low']:.1%} to {row['high']:.1%}",
                f"{truth:.1%}",
            )
        )
    return rows


def _json(found: "list[Estimate]") -> list[dict[str, Any]]:
    return [estimate.to_json() for estimate in found]
