"""`sottovoce survey serve`: the server, its settings, and which of them contradict each other."""

import os
from contextlib import closing
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import typer

from sottovoce.cli.options import JsonOption, option_errors
from sottovoce.cli.output import say, write_json
from sottovoce.cli.survey.options import DATABASE, DatabaseOption, database_option, open_store
from sottovoce.cli.survey.settings import SettingsOption, check_environment, settings_of
from sottovoce.errors import SottovoceError

if TYPE_CHECKING:
    from sottovoce.surveys.collect.forwarded import TrustedProxies


@option_errors()
def serve(
    db: DatabaseOption = DATABASE,
    host: Annotated[str, typer.Option(envvar="SOTTOVOCE_HOST", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int,
        typer.Option(
            min=0, max=65535, envvar="SOTTOVOCE_PORT", help="Port to listen on; 0 takes a free one, which is printed."
        ),
    ] = 8000,
    url: Annotated[
        str | None,
        typer.Option(
            envvar="SOTTOVOCE_URL",
            help="Address under which browsers reach the server, https://HOST, if a proxy gives it another.",
        ),
    ] = None,
    behind_proxy: Annotated[
        bool,
        typer.Option(
            "--behind-proxy/--no-behind-proxy",
            envvar="SOTTOVOCE_BEHIND_PROXY",
            help="Trust a proxy on this machine to state the addresses of its clients.",
        ),
    ] = False,
    proxy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ADDRESS",
            envvar="SOTTOVOCE_PROXY",
            help="Trust a proxy on another machine: its IP address, or a network of proxies. May be repeated; in the "
            "environment with spaces between them.",
        ),
    ] = None,
    per_window: Annotated[
        int | None,
        typer.Option(
            min=1,
            envvar="SOTTOVOCE_PER_WINDOW",
            help="Most checks, admissions, reports and lists of receipts, each, from one address within ten seconds; "
            "300 if not given.",
        ),
    ] = None,
    respondents_only: Annotated[
        bool,
        typer.Option(
            "--respondents-only/--no-respondents-only",
            envvar="SOTTOVOCE_RESPONDENTS_ONLY",
            help="Leave out the researchers' side: nobody can log in.",
        ),
    ] = False,
    first_account_link: Annotated[
        bool,
        typer.Option(
            "--first-account-link/--no-first-account-link",
            envvar="SOTTOVOCE_FIRST_ACCOUNT_LINK",
            help="Print a one-time link for the first account while there is none. Turn it off where what is printed "
            "is kept in a log.",
        ),
    ] = True,
    metrics: Annotated[
        bool,
        typer.Option(
            "--metrics/--no-metrics",
            envvar="SOTTOVOCE_METRICS",
            help="Show metrics for Prometheus at /metrics, to everybody who reaches the port.",
        ),
    ] = False,
    settings: SettingsOption = None,
    json: JsonOption = None,
) -> None:
    """Serve all frozen surveys until interrupted; reports that have arrived are stored first.

    The researchers' side is at /research. The first start prints a one-time link that creates the first account.
    """
    from sottovoce.surveys.collect.forwarded import THIS_MACHINE, Forwarded, TrustedProxies
    from sottovoce.surveys.collect.server import REPORTS_PER_WINDOW, address_of, listen, make_app
    from sottovoce.surveys.collect.server import serve as serve_app
    from sottovoce.surveys.links import server_address

    check_environment(os.environ, settings_of(serve))
    known_as = None if url is None else server_address(url)
    elsewhere = TrustedProxies(proxy or [])
    check_settings(host, known_as, elsewhere, behind_proxy=behind_proxy)
    proxies = TrustedProxies([*(proxy or []), *(THIS_MACHINE if behind_proxy else ())])
    with closing(listen(host, port)) as listening, open_store(db, create=True) as store:
        address, count = address_of(listening), len(store.surveys())
        remarks = [*store.check(), *settings_remarks(host, known_as, elsewhere, behind_proxy=behind_proxy)]
        first = None
        if first_account_link and not respondents_only:
            from sottovoce.surveys.dashboard.accounts import first_account_link as new_link

            first = new_link(store, known_as or address)
        write_json({"address": address, "surveys": count, "remarks": remarks, "first_account": first}, json)
        say(f"Serving {count} survey{'s' * (count != 1)} at {address}. No addresses and no times are stored.", json)
        if first:
            say(f"Create the first account with this link, which works once: {first}", json)
        elif not respondents_only:
            say(f"Researchers log in at {known_as or address}/research", json)
        for remark in remarks:
            say(f"Warning: {remark}", json)
        if not count and respondents_only:
            say(f"There is no survey yet: sottovoce survey freeze DRAFT{database_option(db)}", json)
        app = make_app(
            store,
            per_window=per_window or REPORTS_PER_WINDOW,
            respondents_only=respondents_only,
            metrics=metrics,
        )
        serve_app(Forwarded(app, proxies) if proxies else app, listening)


def check_settings(host: str, url: str | None, elsewhere: "TrustedProxies", *, behind_proxy: bool) -> None:
    """Refuse settings that contradict each other; `elsewhere` are proxies on other machines."""
    from sottovoce.surveys.links import is_local

    proxied = behind_proxy or bool(elsewhere)
    if url is not None and url.startswith("http:") and (proxied or not is_local(urlsplit(url).hostname or "")):
        reason = "with a proxy in front" if proxied else "for another machine"
        rule = f"must begin with https:// {reason}, because browsers do not answer over plain HTTP"
        raise SottovoceError("url", rule, url)
    remote = [str(network) for network in elsewhere.networks if not network.is_loopback]
    if remote and is_local(host):
        rule = f"must be an address that the proxy at {', '.join(remote)} (--proxy) can reach"
        raise SottovoceError("host", rule, host)


def settings_remarks(host: str, url: str | None, elsewhere: "TrustedProxies", *, behind_proxy: bool) -> list[str]:
    """Return what is probably a mistake."""
    from sottovoce.surveys.links import is_local

    proxied = behind_proxy or bool(elsewhere)
    remarks = []
    if not is_local(host) and not proxied:
        remarks.append("for other machines, browsers need HTTPS: put a proxy with a certificate before the server.")
    if not is_local(host) and behind_proxy and not elsewhere:
        remarks.append(
            "--behind-proxy means a proxy on this machine, but others reach the server without it; --host 127.0.0.1 "
            "would keep them out."
        )
    if url is not None and url.startswith("https:") and not proxied:
        remarks.append(
            "--url says that a proxy is in front, but none is trusted (--behind-proxy, --proxy): the limits of "
            "requests count all respondents as one."
        )
    return remarks
