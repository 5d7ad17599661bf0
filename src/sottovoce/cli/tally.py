"""`sottovoce tally`: count disguised files into tallies and merge tallies; and tallies as input of other commands."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from sottovoce.cli.options import ForceOption, JsonOption, PlanOption, option_errors, split_names
from sottovoce.cli.output import print_table, progress_bars, say, write_json
from sottovoce.errors import SottovoceError

if TYPE_CHECKING:
    from sottovoce.counts.tally import Tally
    from sottovoce.plans.plan import Plan

MOST_ROWS = 40
"""Most rows of the printed table."""


class ReportsRead(NamedTuple):
    """A table of reports, the plan they were disguised under, and the column of their frequencies if they have any."""

    table: Any
    plan: "Plan"
    frequencies: str | None


def reports_in(path: str, plan: str | None, source: Callable[[str], Any] = str) -> ReportsRead:
    """Return the reports of a disguised file, read through `source`, or of a saved tally, and their plan."""
    from sottovoce.counts.tally_document import is_tally
    from sottovoce.tables.plan_file import plan_of_reports

    if not is_tally(path):
        return ReportsRead(source(path), plan_of_reports(path, plan), None)
    tally = _loaded(path, plan)
    return ReportsRead(tally.to_table(), tally.plan, tally.frequencies)


@option_errors(
    path="output", names="attributes", name="attributes", itemsets="itemset", reports="files", others="files"
)
def tally(
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="Disguised files, or tallies (.json, .arrow).")],
    output: Annotated[str, typer.Option("-o", "--output", metavar="FILE", help="Tally to write: .json or .arrow.")],
    attributes: Annotated[
        str | None, typer.Option(metavar="A,B,...", help="Attributes and public columns to count; all if not given.")
    ] = None,
    itemset: Annotated[
        list[str] | None, typer.Option(metavar="ITEM,ITEM,...", help="Set of items to count; may be repeated.")
    ] = None,
    plan: PlanOption = None,
    force: ForceOption = False,
    json: JsonOption = None,
) -> None:
    """Count disguised files, merge tallies of the same plan, and write the whole as one tally."""
    from sottovoce.counts.tally import Tally
    from sottovoce.counts.tally_document import is_arrow, is_tally
    from sottovoce.tables.sink import check_new
    from sottovoce.tables.source import ProgressSource

    is_arrow(output)
    check_new(output, overwrite=force)
    _check_different(files)
    tables, tallies = [path for path in files if not is_tally(path)], [path for path in files if is_tally(path)]
    if tallies and (attributes or itemset):
        rule = "must be left out where tallies are merged, which say it already"
        raise SottovoceError("attributes" if attributes else "itemset", rule, attributes or itemset)
    if tallies:
        first, *others = (_loaded(path, plan) for path in tallies)
        whole = first.merge(*others)
    else:
        sets = [split_names(items) for items in itemset] if itemset else None
        whole = Tally(reports_in(tables[0], plan).plan, split_names(attributes) or None, itemsets=sets)
    with progress_bars() as move:
        for path in tables:
            whole.update(ProgressSource(path, partial(move, path)))
    whole.save(output, overwrite=force)
    write_json(whole.to_json(), json)
    if json != "-":
        _show(whole, output)


def _check_different(files: list[str]) -> None:
    """Refuse a file that is named twice: its reports would be counted twice."""
    known: set[Path] = set()
    for path in files:
        if Path(path).resolve() in known:
            raise SottovoceError("files", "must be different files, lest reports are counted twice", path)
        known.add(Path(path).resolve())


def _loaded(path: str, plan: str | None) -> "Tally":
    """Return a saved tally, whose plan must be the one given."""
    from sottovoce.counts.tally import Tally
    from sottovoce.tables.plan_file import read_plan

    found = Tally.load(path)
    if plan is not None and read_plan(plan).hash != found.plan.hash:
        raise SottovoceError("plan", f"must be that of the tally, {found.plan.hash[:12]}", plan)
    return found


def _show(whole: "Tally", path: str) -> None:
    """Print how many reports there are, and the most frequent combinations."""
    say(f"{len(whole)} reports in {path}, disguised at {whole.plan.guarantee}")
    if whole.schema is None:
        return
    rows = sorted(zip(*whole.to_table().values(), strict=True), key=lambda row: -int(row[-1]))
    print_table((*whole.names, "reports"), [tuple(map(str, row)) for row in rows[:MOST_ROWS]])
    if len(rows) > MOST_ROWS:
        say(f"{len(rows) - MOST_ROWS} more combinations are in the file.")
