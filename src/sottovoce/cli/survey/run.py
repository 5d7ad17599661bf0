"""`sottovoce survey invite`, `serve` and `status`: a survey while it is open."""

import os
from contextlib import closing
from typing import Annotated

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


@option_errors()
def invite(
    survey: SurveyArgument = None,
    count: Annotated[int, typer.Option(min=1, max=10**6, help="Number of links.")] = 1,
    output: Annotated[
        str, typer.Option("-o", "--output", metavar="FILE|-", help="File for the links, one a line; - prints them.")
    ] = "-",
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
        links = [str(Link(server, frozen.hash, token)) for token in store.invite(frozen, count)]
    write_json({"survey": frozen.id, "links": links}, json)
    if output == "-":
        say("\n".join(links), json)
        return
    with new_file(output) as hidden:
        os.close(os.open(hidden, os.O_CREAT | os.O_WRONLY, 0o600))
        hidden.write_text("\n".join(links) + "\n", encoding="utf-8")
    warning = "Anyone who has a link can answer in its owner's place: send the links, then delete the file."
    say(f"{count} links written to {output}. {warning}", json)


@option_errors()
def serve(
    db: DatabaseOption = DATABASE,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes a free one.")] = 8000,
    behind_proxy: Annotated[
        bool, typer.Option("--behind-proxy", help="Trust the client addresses that a proxy on this machine forwards.")
    ] = False,
    per_window: Annotated[
        int | None,
        typer.Option(min=1, help="Most reports from one address within ten seconds; 300 if not given."),
    ] = None,
    json: JsonOption = None,
) -> None:
    """Serve all frozen surveys until interrupted; reports that have arrived are stored first."""
    from sottovoce.surveys.collect.server import LOCAL, REPORTS_PER_WINDOW, address_of, listen, make_app
    from sottovoce.surveys.collect.server import serve as serve_app

    with closing(listen(host, port)) as listening, open_store(db, create=True) as store:
        address, count = address_of(listening), len(store.surveys())
        write_json({"address": address, "surveys": count}, json)
        say(f"Serving {count} survey{'s' * (count != 1)} at {address}. No addresses and no times are stored.", json)
        if not count:
            say(f"There is no survey in {db} yet: sottovoce survey freeze DRAFT --db {db}", json)
        if host not in LOCAL:
            say("For other machines, browsers need HTTPS: put a proxy with a certificate before the server.", json)
        app = make_app(store, per_window=per_window or REPORTS_PER_WINDOW)
        serve_app(app, listening, behind_proxy=behind_proxy)


@option_errors()
def status(db: DatabaseOption = DATABASE, json: JsonOption = None) -> None:
    """Show the numbers of invitations and reports of every survey."""
    with open_store(db) as store:
        surveys = [store.select(name) for name in store.surveys()]
        counts = {survey.id: store.counts(survey.id) for survey in surveys}
    write_json(
        {
            "surveys": [
                {"id": s.id, "title": s.default_title, "until": s.until.isoformat(), **counts[s.id]} for s in surveys
            ]
        },
        json,
    )
    rows = [
        (
            s.id,
            s.default_title,
            s.until.isoformat(),
            s.invitation,
            str(counts[s.id]["issued"]),
            str(counts[s.id]["reports"]),
        )
        for s in surveys
    ]
    print_table(("survey", "title", "until", "invitations", "issued", "reports"), rows, json)
