"""`sottovoce plan audit`: draw reports of a plan and hold them against what it states."""

from typing import TYPE_CHECKING, Annotated

import typer

from sottovoce.cli.output import JsonOption, emit, progress_bar, say, table

if TYPE_CHECKING:
    from sottovoce.disguise.audit.result import GroupAudit


def audit(
    path: Annotated[str, typer.Argument(metavar="PLAN", help="Plan, or a disguised file that carries one.")],
    samples: Annotated[
        int | None, typer.Option(min=1, help="Reports drawn of each truth; as needed if not given.")
    ] = None,
    confidence: Annotated[float, typer.Option(help="Probability that all bounds hold at once.")] = 0.99,
    seed: Annotated[int | None, typer.Option(min=0, help="Repeatable coins.")] = None,
    json: JsonOption = None,
) -> None:
    """Prove from samples that a plan keeps its odds; exit with 1 if it was seen to exceed them."""
    from sottovoce.disguise.audit.run import audit_plan
    from sottovoce.table.plan_file import read_plan

    plan = read_plan(path)
    with progress_bar("drawing reports") as progress:
        found = audit_plan(plan, samples=samples, confidence=confidence, rng=seed, progress=progress)
    emit(found.to_json(), json)
    table(("group", "stated epsilon", "lower bound", "share", "verdict"), map(_row, found.groups), json)
    for group in found.groups:
        for violation in group.violations:
            say(f"{group.name}: {violation}.", json)
    say(str(found).splitlines()[0], json)
    if not found.passed:
        raise typer.Exit(1)


def _row(group: "GroupAudit") -> tuple[str, ...]:
    share = "" if group.share is None else f"{group.share:.1%}"
    return group.name, f"{group.epsilon:.6g}", f"{group.lower_bound:.6g}", share, group.verdict
