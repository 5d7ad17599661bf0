"""`sottovoce survey invite`, `status`, `revoke`, `receipt`, `close` and `delete`: a survey that is open."""

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sottovoce.cli.options import JsonOption, option_errors
from sottovoce.cli.output import print_table, say, write_json
from sottovoce.cli.survey.options import (
    DATABASE,
    URL,
    DatabaseOption,
    SurveyArgument,
    UrlOption,
    check_open,
    open_store,
)
from sottovoce.errors import SottovoceError, file_errors

if TYPE_CHECKING:
    from sottovoce.surveys.definition.survey import Survey


@option_errors()
def invite(
    survey: SurveyArgument = None,
    count: Annotated[int, typer.Option(min=1, max=10**6, help="Number of links.")] = 1,
    output: Annotated[
        str, typer.Option("-o", "--output", metavar="FILE|-", help="File for the links, one a line; - prints them.")
    ] = "-",
    replacing: Annotated[
        bool, typer.Option("--replacing", help="Count them as replacements of lost links, each maybe a second vote.")
    ] = False,
    db: DatabaseOption = DATABASE,
    url: UrlOption = URL,
    json: JsonOption = None,
) -> None:
    """Make links for one respondent each. They are shown once: the database stores only their hashes."""
    from sottovoce.tables.sink import check_new, new_file

    if output != "-":
        check_new(output, overwrite=False)
    with open_store(db) as store:
        from sottovoce.surveys.links import Link, server_address

        server, frozen = server_address(url), store.select(survey)
        check_open(frozen)
        links = [str(Link(server, frozen.hash, token)) for token in store.invite(frozen, count, replacing=replacing)]
    write_json({"survey": frozen.id, "links": links}, json, private=True)
    if output == "-":
        say("\n".join(links), json)
        return
    with new_file(output, private=True) as hidden:
        hidden.write_text("\n".join(links) + "\n", encoding="utf-8")
    warning = "Anyone who has a link can answer in its owner's place: send the links, then delete the file."
    say(f"{count} links written to {output}. {warning}", json)


@option_errors()
def status(db: DatabaseOption = DATABASE, json: JsonOption = None) -> None:
    """Show the numbers of invitations and reports of every survey."""
    with open_store(db) as store:
        surveys = [store.select(name) for name in store.surveys()]
        counts = {survey.id: store.counts(survey.id) for survey in surveys}
        closed = {survey.id: store.is_closed(survey.id) for survey in surveys}
    write_json(
        {
            "surveys": [
                {
                    "id": s.id,
                    "title": s.default_title,
                    "until": s.until.isoformat(),
                    "closed": closed[s.id],
                    "rehearsal": s.rehearsal,
                    **counts[s.id],
                }
                for s in surveys
            ]
        },
        json,
    )
    numbers = ("issued", "replaced", "admitted", "reports")
    rows = [
        (
            s.id,
            f"{'rehearsal of ' * s.rehearsal}{s.default_title}",
            "closed" if closed[s.id] else s.until.isoformat(),
            s.invitation,
            *(str(counts[s.id][number]) for number in numbers),
        )
        for s in surveys
    ]
    print_table(("survey", "title", "until", "invitations", *numbers), rows, json)


@option_errors()
def close(
    survey: SurveyArgument = None,
    db: DatabaseOption = DATABASE,
    json: JsonOption = None,
) -> None:
    """End a survey: no more reports are taken, its invitations are forgotten, and its reports are shuffled."""
    with open_store(db) as store:
        frozen = store.select(survey)
        store.close_survey(frozen.id)
        counts = store.counts(frozen.id)
    write_json({"survey": frozen.id, "closed": True, **counts}, json)
    say(f"Closed with {counts['reports']} reports. Results and exports stay available.", json)


@option_errors(link="links")
def revoke(
    survey: SurveyArgument = None,
    links: Annotated[
        str | None, typer.Option(metavar="FILE", help="File of the links to withdraw, one a line; all if not given.")
    ] = None,
    db: DatabaseOption = DATABASE,
    json: JsonOption = None,
) -> None:
    """Withdraw invitations that are not used yet. Those that were used cannot be reached: nobody knows their report."""
    with open_store(db) as store:
        frozen = store.select(survey)
        tokens = None if links is None else _tokens(Path(links), frozen)
        withdrawn, admitted = store.revoke(frozen, tokens)
    write_json({"survey": frozen.id, "withdrawn": withdrawn, "admitted": admitted}, json)
    say(f"{withdrawn} invitations withdrawn.", json)
    if admitted:
        say(f"{admitted} were used already: their credentials cannot be told from others, and stay valid.", json)


def _tokens(path: Path, survey: "Survey") -> list[str]:
    """Return the invitations of the links in a file, which must all be to one survey."""
    from sottovoce.surveys.links import read_link

    with file_errors(path):
        links = [read_link(text) for text in path.read_text(encoding="utf-8").split()]
    if not links or any(link.hash != survey.hash or link.token is None for link in links):
        raise SottovoceError("links", f"must be a file of links with invitations to survey {survey.id}", str(path))
    return [str(link.token) for link in links]


@option_errors()
def receipt(
    link: Annotated[str, typer.Argument(metavar="LINK", help="Link to the survey; its invitation is not used.")],
    receipt: Annotated[str, typer.Argument(metavar="RECEIPT", help="The 16 digits that the page showed.")],
    json: JsonOption = None,
) -> None:
    """Check that the report with a receipt is stored, without telling the server which receipt it is."""
    from sottovoce.surveys.client.client import Client
    from sottovoce.surveys.links import read_link

    named = read_link(link)
    with closing(Client(named.server)) as client:
        stored = client.receipt_stored(named, receipt)
    write_json({"receipt": receipt, "stored": stored}, json)
    say("Stored: the receipt is in the server's list." if stored else "The receipt is not in the server's list.", json)
    if not stored:
        raise typer.Exit(1)


@option_errors()
def delete(
    survey: Annotated[str, typer.Argument(metavar="ID", help="Id of the survey, or its beginning.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask whether this is meant.")] = False,
    db: DatabaseOption = DATABASE,
    json: JsonOption = None,
) -> None:
    """Delete a survey with its secret key, its invitations and its reports, for good; a rehearsal without asking."""
    with open_store(db) as store:
        frozen = store.select(survey)
        count = store.counts(frozen.id)["reports"]
        if not yes and not frozen.rehearsal:  # nothing in a rehearsal counts
            typer.confirm(f"Delete {frozen.default_title!r} and its {count} reports?", abort=True, err=True)
        store.delete_survey(frozen.id)
    write_json({"survey": frozen.id, "deleted": True, "reports": count}, json)
    say(f"Deleted {frozen.default_title} and its {count} reports.", json)
