"""`sottovoce survey backup` and `restore`: a copy of everything, checked before it is called one."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from sottovoce.cli.options import ForceOption, JsonOption, option_errors
from sottovoce.cli.output import progress_bar, say, write_json
from sottovoce.cli.survey.options import DATABASE, DatabaseOption, database_name, open_store

if TYPE_CHECKING:
    from sottovoce.surveys.collect.backup import Backup


@option_errors(output="file", backup="file")
def backup(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Backup to write.")],
    db: DatabaseOption = DATABASE,
    force: ForceOption = False,
    json: JsonOption = None,
) -> None:
    """Copy all surveys, invitations, reports, accounts and drafts to one file, also while the server runs.

    The file appears when it has been restored once and everything in it was found again. It holds secret keys.
    """
    with open_store(db) as store:
        from sottovoce.surveys.collect.backup import back_up

        with progress_bar("backing up") as progress:
            made = back_up(store, file, overwrite=force, progress=progress)
    write_json({"output": file, **asdict(made)}, json)
    say(f"Backup of {_contents(made)} written to {file}, and restored once to check it.", json)
    for remark in made.remarks:
        typer.echo(f"Warning: {remark}", err=True)  # where cron looks
    say("It holds secret keys: keep it as safe as the database.", json)
    say("Two backups show which reports came between them: destroy the older ones.", json)


@option_errors(backup="file")
def restore(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Backup to restore.")],
    db: DatabaseOption = DATABASE,
    json: JsonOption = None,
) -> None:
    """Restore a backup into a new SQLite file, or into an empty PostgreSQL database. Stop the server first.

    Everything is then as it was at the time of the backup; what came later is lost.
    """
    from sottovoce.surveys.collect.backup import restore as restore_backup

    with progress_bar("restoring") as progress:
        restored = restore_backup(file, database_name(db), progress=progress)
    write_json({"backup": file, **asdict(restored)}, json)
    say(f"Restored {_contents(restored)}.", json)
    say("Reports that came after the backup are lost.", json)
    say("Invitations that were used or withdrawn after it can be used again: some people may answer twice.", json)
    say("Surveys that were closed or deleted after it are back, and so are accounts that were removed.", json)


def _contents(backup: "Backup") -> str:
    """Return the numbers of a backup in words."""
    return (
        f"{_number(backup.surveys, 'survey')} with {_number(backup.reports, 'report')} and "
        f"{_number(backup.invitations, 'invitation')}, {_number(backup.accounts, 'account')} and "
        f"{_number(backup.drafts, 'draft')}"
    )


def _number(count: int, noun: str) -> str:
    """Return a number with its noun.

    >>> _number(1, "survey"), _number(2, "survey")
    ('1 survey', '2 surveys')
    """
    return f"{count} {noun}{'s' * (count != 1)}"
