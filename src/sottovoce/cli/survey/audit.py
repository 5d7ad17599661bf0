"""`sottovoce survey audit`: a stranger drives the served page, and judges what leaves the browser."""

from typing import Annotated

import typer

from sottovoce.cli.options import ForceOption, JsonOption, option_errors
from sottovoce.cli.output import progress_bar, say, write_json


@option_errors(link="url", sources="from_")
def audit(
    url: Annotated[str, typer.Argument(metavar="URL", help="Link to the survey, https://HOST/s/ID#HASH.")],
    invitation: Annotated[
        str | None,
        typer.Option(metavar="LINK", help="Link with an invitation, which is spent; open surveys need none."),
    ] = None,
    walks: Annotated[int, typer.Option(min=2, help="Walks through the page.")] = 600,
    minutes: Annotated[float, typer.Option(help="No walk begins later than this.")] = 8.0,
    seed: Annotated[int | None, typer.Option(min=0, help="Repeats the choice of answers, not the coins.")] = None,
    from_: Annotated[
        list[str] | None,
        typer.Option("--from", metavar="ADDRESS", help="Address of this machine to look from. Repeatable."),
    ] = None,
    browser: Annotated[str | None, typer.Option(metavar="PATH", help="Chromium, if it is not found.")] = None,
    any_release: Annotated[
        bool,
        typer.Option("--any-release", help="Judge scripts of another release than the installed one by what they do."),
    ] = False,
    output: Annotated[
        str | None, typer.Option("-o", "--output", metavar="FILE", help="HTML file for a report to publish.")
    ] = None,
    force: ForceOption = False,
    json: JsonOption = None,
) -> None:
    """Audit a survey from outside: drive its page in a browser, and look at everything that leaves it.

    No report enters the survey: all are held back. The invitation is spent, though. The exit status is 1 if the
    survey does something that it must not do. Needs Chromium and the extra `audit`.
    """
    from sottovoce.errors import check_installed

    check_installed("an audit from outside", "audit", "playwright")
    from sottovoce.surveys.audit.run import Effort, outside_audit
    from sottovoce.tables.sink import check_new, new_file

    if output is not None:
        check_new(output, overwrite=force)
    with progress_bar("walking") as progress:
        result = outside_audit(
            url,
            invitation=invitation,
            effort=Effort(walks, minutes, seed),
            sources=from_ or (),
            browser=browser,
            any_release=any_release,
            progress=progress,
        )
    write_json(result.to_json(), json)
    if output is not None:
        with new_file(output) as hidden:
            hidden.write_text(result.to_html(), encoding="utf-8")
    say(str(result), json)
    if not result.passed:
        raise typer.Exit(1)
