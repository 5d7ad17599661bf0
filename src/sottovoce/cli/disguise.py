"""`sottovoce disguise`: disguise a file of true answers."""

from typing import Annotated

import typer

from sottovoce.cli.options import DisguiseSeedOption, ForceOption, JsonOption, option_errors, split_names
from sottovoce.cli.output import progress_bar, say, write_json


@option_errors(table="source")
def disguise(
    source: Annotated[str, typer.Argument(metavar="IN", help="CSV or Parquet file of true answers; - for CSV.")],
    output: Annotated[str, typer.Argument(metavar="OUT", help="CSV or Parquet file of reports; - for CSV.")],
    plan: Annotated[str, typer.Option(metavar="PLAN", help="Plan to disguise under.")],
    drop: Annotated[str | None, typer.Option(metavar="A,B,...", help="Columns to leave out.")] = None,
    drop_others: Annotated[
        bool, typer.Option("--drop-others", help="Leave out all columns that are not in the plan.")
    ] = False,
    again: Annotated[bool, typer.Option("--again", help="Disguise a file that carries a plan once more.")] = False,
    seed: DisguiseSeedOption = None,
    force: ForceOption = False,
    json: JsonOption = None,
) -> None:
    """Disguise a table under a plan; the disguised file carries the plan."""
    from sottovoce.disguises.tables import write_disguised
    from sottovoce.plans.document import plan_hash
    from sottovoce.tables.plan_file import read_plan
    from sottovoce.tables.source import Drop

    agreed = read_plan(plan)
    dropped: Drop = "others" if drop_others else split_names(drop)
    with progress_bar("disguising") as progress:
        written = write_disguised(
            source, output, agreed, rng=seed, drop=dropped, overwrite=force, again=again, progress=progress
        )
    document = {"rows": written.rows, "output": output, "sha256": plan_hash(agreed), "seeded": seed is not None}
    write_json(document | {"small_combinations": written.small_combinations}, json)
    taken = "-" if "-" in (output, json) else None
    say(f"{written.rows} records disguised into {output}; whole record {agreed.guarantee}.", taken)
    if agreed.public:
        say(f"Passed on as they are, not protected: {', '.join(agreed.public_names)}.", taken)
    if written.small_combinations:
        say(f"warning: {written.small_combinations_text}", "-")
    if seed is not None:
        say("A seeded disguise protects nobody: anyone who knows the seed knows the answers.", "-")
