"""`sottovoce disguise`: reports from a file of truths."""

from typing import Annotated

import typer

from sottovoce.cli.output import ForceOption, JsonOption, emit, names, progress_bar, say


def disguise(
    source: Annotated[str, typer.Argument(metavar="IN", help="CSV or Parquet file of truths, or -.")],
    output: Annotated[str, typer.Argument(metavar="OUT", help="CSV or Parquet file of reports, or -.")],
    plan: Annotated[str, typer.Option(help="Plan to disguise under.")],
    drop: Annotated[str | None, typer.Option(help="Columns to leave out: a,b,c.")] = None,
    drop_others: Annotated[bool, typer.Option("--drop-others", help="Leave out all columns not in the plan.")] = False,
    seed: Annotated[int | None, typer.Option(min=0, help="Repeatable coins, for experiments only.")] = None,
    force: ForceOption = False,
    json: JsonOption = None,
) -> None:
    """Disguise a table under a plan; the reports carry the plan with them."""
    from sottovoce.disguises.tables import disguise_file
    from sottovoce.plans.document import plan_hash
    from sottovoce.tables.plan_file import read_plan
    from sottovoce.tables.source import Drop

    agreed = read_plan(plan)
    left_out: Drop = "others" if drop_others else names(drop)
    with progress_bar("disguising") as progress:
        rows = disguise_file(source, output, agreed, rng=seed, drop=left_out, overwrite=force, progress=progress)
    emit({"rows": rows, "output": output, "sha256": plan_hash(agreed), "seeded": seed is not None}, json)
    taken = "-" if "-" in (output, json) else None
    say(f"{rows} records disguised into {output}; whole record {agreed.guarantee}.", taken)
    if seed is not None:
        say("Seeded coins protect nobody: whoever knows the seed knows the answers.", "-")
