"""`sottovoce survey simulate`: made-up respondents through the real HTTP interface."""

from pathlib import Path
from typing import Annotated

import typer

from sottovoce.cli.output import JsonOption, emit, progress_bar, say
from sottovoce.errors import SottovoceError, Words


def simulate(
    link: Annotated[str, typer.Argument(metavar="LINK|FILE", help="Open link, or a file of single-use links.")],
    respondents: Annotated[
        int, typer.Option(min=1, help="People to make up; at most one for each single link.")
    ] = 1000,
    connections: Annotated[int, typer.Option(min=1, max=256, help="Connections at once.")] = 8,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of the people; the coins are always secure.")] = None,
    json: JsonOption = None,
) -> None:
    """Send made-up respondents' reports to a running server."""
    from sottovoce.survey.installed import check_installed

    check_installed()
    import numpy as np

    from sottovoce.survey.client import Client
    from sottovoce.survey.links import read_link
    from sottovoce.survey.people import make_people
    from sottovoce.survey.simulate import send_reports

    texts = [link] if "#" in link else Path(link).read_text(encoding="utf-8", errors="replace").split()
    links = [read_link(text) for text in texts]
    if len({each.address for each in links}) != 1:
        raise SottovoceError("link", "must be of one survey", Words(f"{len(links)} links in {link}"))
    client = Client(links[0].server)
    survey = client.survey(links[0])
    client.close()
    if survey.invitation == "open":
        links = links[:1] * respondents
    people = make_people(survey, min(respondents, len(links)), np.random.default_rng(seed))
    with progress_bar("sending reports") as progress:
        done = send_reports(links, people.reports(), connections=connections, progress=progress)
    emit({"survey": survey.id, "acknowledged": done}, json)
    say(f"{done} reports of made-up people were acknowledged by {links[0].server}.", json)
