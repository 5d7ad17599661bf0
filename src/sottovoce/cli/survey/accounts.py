"""`sottovoce survey accounts`: the researchers' accounts, for those who run the server."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from sottovoce.cli.options import JsonOption, option_errors
from sottovoce.cli.output import print_table, say, write_json
from sottovoce.cli.survey.options import DATABASE, URL, DatabaseOption, UrlOption, open_store

if TYPE_CHECKING:
    from sottovoce.surveys.dashboard.accounts import Accounts

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="Name of the account.")]


@contextmanager
def _open_accounts(database: str, *, create: bool = False) -> Iterator["Accounts"]:
    with open_store(database, create=create) as store:
        from sottovoce.surveys.dashboard.accounts import Accounts

        yield Accounts(store.engine)


@option_errors()
def list_accounts(db: DatabaseOption = DATABASE, json: JsonOption = None) -> None:
    """List the accounts with what they may do."""
    with _open_accounts(db) as accounts:
        known = accounts.all()
    listed = [{"name": a.name, "role": a.role.label, "locked": a.locked, "sessions": a.sessions} for a in known]
    write_json({"accounts": listed}, json)
    rows = [(a.name, a.role.label, "yes" if a.locked else "no", str(a.sessions)) for a in known]
    print_table(("name", "role", "locked", "sessions"), rows, json)


@option_errors()
def add(
    role: Annotated[str, typer.Option(help="What the account may do: reader, editor or owner.")] = "editor",
    db: DatabaseOption = DATABASE,
    url: UrlOption = URL,
    json: JsonOption = None,
) -> None:
    """Print a one-time link that creates an account.

    A reader sees surveys and results, an editor also creates and runs surveys, an owner also manages accounts.
    """
    from sottovoce.surveys.dashboard.accounts import link_address, role_of
    from sottovoce.surveys.links import server_address

    server, granted = server_address(url), role_of(role)
    with _open_accounts(db, create=True) as accounts:
        link = link_address(server, accounts.new_link(granted))
    write_json({"role": granted.label, "link": link}, json)
    say(f"Link for a new account, works once within three days: {link}", json)


@option_errors()
def reset(name: NameArgument, db: DatabaseOption = DATABASE, url: UrlOption = URL, json: JsonOption = None) -> None:
    """Print a one-time link that sets a new password. Its use unlocks the account and ends its sessions."""
    from sottovoce.surveys.dashboard.accounts import link_address
    from sottovoce.surveys.links import server_address

    server = server_address(url)
    with _open_accounts(db) as accounts:
        link = link_address(server, accounts.new_link(accounts.account(name).role, name))
    write_json({"name": name, "link": link}, json)
    say(f"Link for a new password of {name}, works once within three days: {link}", json)


@option_errors()
def remove(
    name: NameArgument,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask whether this is meant.")] = False,
    db: DatabaseOption = DATABASE,
    json: JsonOption = None,
) -> None:
    """Remove an account with its sessions and links; surveys stay. The last owner cannot be removed."""
    with _open_accounts(db) as accounts:
        account = accounts.account(name)
        if not yes:
            typer.confirm(f"Remove the account {account.name}, {account.role.label}?", abort=True, err=True)
        accounts.remove(account.name)
    write_json({"name": account.name, "removed": True}, json)
    say(f"Removed {account.name}.", json)


@option_errors()
def end_sessions(name: NameArgument, db: DatabaseOption = DATABASE, json: JsonOption = None) -> None:
    """Log an account out of all browsers."""
    with _open_accounts(db) as accounts:
        ended = accounts.end_session(accounts.account(name).name)
    write_json({"name": name, "ended": ended}, json)
    say(f"Ended {ended} session{'s' * (ended != 1)} of {name}.", json)


app = typer.Typer(help="Researchers' accounts: list, add, reset, remove and log out.", no_args_is_help=True)
app.command("list")(list_accounts)
app.command()(add)
app.command()(reset)
app.command()(remove)
app.command()(end_sessions)
