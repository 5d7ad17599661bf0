"""`sottovoce survey invite`, `serve` and `status`: a survey while it is asked."""

import os
from contextlib import closing
from typing import Annotated

import typer

from sottovoce.cli.output import JsonOption, emit, say, table
from sottovoce.cli.survey.options import (
    DATABASE,
    URL,
    DatabaseOption,
    SurveyArgument,
    UrlOption,
    check_open,
    chosen,
    open_store,
)


def invite(
    survey: SurveyArgument = None,
    count: Annotated[int, typer.Option(min=1, max=10**6, help="Links to make.")] = 1,
    output: Annotated[str, typer.Option("-o", "--output", help="File for the links, one a line; - prints them.")] = "-",
    db: DatabaseOption = DATABASE,
    url: UrlOption = URL,
    json: JsonOption = None,
) -> None:
    """Make links that take one report each. They are shown once: the database keeps their hashes only."""
    from sottovoce.tables.sink import check_new, new_file

    if output != "-":
        check_new(output, overwrite=False)
    with open_store(db) as store:
        from sottovoce.surveys.links import Link, server_address

        server, asked = server_address(url), chosen(store, survey)
        check_open(asked)
        links = [str(Link(server, asked.hash, token)) for token in store.invite(asked, count)]
    emit({"survey": asked.id, "links": links}, json)
    if output == "-":
        say("\n".join(links), json)
        return
    with new_file(output) as hidden:
        os.close(os.open(hidden, os.O_CREAT | os.O_WRONLY, 0o600))
        hidden.write_text("\n".join(links) + "\n", encoding="utf-8")
    warning = "Whoever has one can answer in its owner's place: send them, then delete the file."
    say(f"{count} links in {output}. {warning}", json)


def serve(
    db: DatabaseOption = DATABASE,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes a free one.")] = 8000,
    behind_proxy: Annotated[
        bool, typer.Option("--behind-proxy", help="Believe the addresses that a proxy on this machine forwards.")
    ] = False,
    per_window: Annotated[
        int | None, typer.Option(min=1, help="Reports from one address in ten seconds; 300 if not given.")
    ] = None,
    json: JsonOption = None,
) -> None:
    """Serve the frozen surveys until interrupted; whatever is queued then is finished first."""
    from sottovoce.surveys.installed import check_installed

    check_installed()
    from sottovoce.surveys.collect.server import LOCAL, REPORTS_PER_WINDOW, address_of, listen, make_app
    from sottovoce.surveys.collect.server import serve as serve_app

    with closing(listen(host, port)) as listening, open_store(db, new=True) as store:
        address, count = address_of(listening), len(store.surveys())
        emit({"address": address, "surveys": count}, json)
        say(f"Serving {count} survey{'s' * (count != 1)} at {address}. No address, no time and no agent is kept.", json)
        if not count:
            say(f"There is none yet in {db}: sottovoce survey freeze DRAFT --db {db}", json)
        if host not in LOCAL:
            say("Off this machine, browsers need HTTPS: put a proxy with a certificate in front of the server.", json)
        app = make_app(store, per_window=per_window or REPORTS_PER_WINDOW)
        serve_app(app, listening, behind_proxy=behind_proxy)


def status(db: DatabaseOption = DATABASE, json: JsonOption = None) -> None:
    """Count invitations and reports of every survey."""
    with open_store(db) as store:
        surveys = [chosen(store, name) for name in store.surveys()]
        counts = {survey.id: store.counts(survey.id) for survey in surveys}
    emit(
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
    table(("survey", "title", "until", "invitations", "issued", "reports"), rows, json)
