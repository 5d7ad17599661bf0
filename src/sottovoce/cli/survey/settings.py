"""Settings of a command: each by an option, by an environment variable, or by a key of a TOML file.

An option goes before the environment, and the environment before the file. What can be set, of which type and within
which limits, follows from the command's own options: those that an environment variable can set.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, get_args, get_origin

import typer

from sottovoce.cli.options import written_name
from sottovoce.errors import SottovoceError, Words

FILE = "settings"
"""Parameter that names the file, which the file itself cannot set."""

PREFIX = "SOTTOVOCE_"
"""Beginning of the names of all environment variables."""

OTHERS = ("DATA", "GENERATIONS", "SCALE_", "SCREENSHOTS", "STREAM_", "SURVEY_")
"""What follows it, or begins what follows it, in variables of data sets, benchmarks and tests, which set no option."""

_RULES: dict[type, str] = {
    bool: "must be true or false",
    int: "must be a whole number",
    str: "must be a text",
    list: "must be a list of texts",
}
_KINDS = {bool: "a truth value", int: "a number", float: "a number", str: "a text", list: "a list", dict: "a table"}


@dataclass(frozen=True)
class Setting:
    """What a command takes as an option, from the environment and from a file."""

    name: str
    key: str
    environment: str
    kind: type
    default: Any
    help: str
    least: int | None
    most: int | None

    @property
    def rule(self) -> str:
        """What a value must be."""
        limits = {
            (False, False): "",
            (True, False): f" of at least {self.least}",
            (True, True): f" from {self.least} to {self.most}",
        }
        return _RULES[self.kind] + limits[self.least is not None, self.most is not None]

    def accepts(self, value: object) -> bool:
        """Return whether a value of a file is of the right type and within the limits."""
        if self.kind is list:
            return isinstance(value, list) and all(isinstance(entry, str) for entry in value)
        if not isinstance(value, self.kind) or isinstance(value, bool) is not (self.kind is bool):
            return False
        return not isinstance(value, int) or (
            (self.least is None or value >= self.least) and (self.most is None or value <= self.most)
        )


def settings_of(command: Callable[..., None]) -> dict[str, Setting]:
    """Return the settings of a command by their keys."""
    found = {}
    for parameter in signature(command).parameters.values():
        hint, info = get_args(parameter.annotation)
        if info.envvar is not None:
            (plain,) = {kind for kind in get_args(hint) or (hint,) if kind is not NoneType}
            kind = get_origin(plain) or plain
            key = written_name(parameter.name)
            limits = (info.min, info.max)
            found[key] = Setting(parameter.name, key, info.envvar, kind, parameter.default, info.help, *limits)
    return found


def _use_file(ctx: typer.Context, path: str | None) -> str | None:
    """Let a file set what neither the command line nor the environment sets."""
    command = ctx.command.callback
    if path is not None and command is not None:
        ctx.default_map = read_settings(Path(path), settings_of(command))
    return path


def read_settings(path: Path, known: Mapping[str, Setting]) -> dict[str, Any]:
    """Return the values of a TOML file by the names of a command's parameters; every error names file, line and key."""
    import tomllib

    try:
        text = path.read_text(encoding="utf-8")
        found = tomllib.loads(text)
    except (OSError, ValueError) as reason:  # no file, no UTF-8, or no TOML: that error has a line and a column
        words = getattr(reason, "strerror", None) or str(reason)
        raise SottovoceError(f"--{FILE}", f"must be a TOML file in UTF-8 ({words})", str(path)) from None
    for key, value in found.items():
        where = f"{path}{_line_of(key, text)}"
        if key == FILE or key not in known:
            names = ", ".join(name for name in known if name != FILE)
            raise SottovoceError(f"a key in {where}", f"must be one of {names}", key)
        if not known[key].accepts(value):
            shown = value if isinstance(value, int) else Words(_KINDS.get(type(value), "another type"))  # no passwords
            raise SottovoceError(f"{key} in {where}", known[key].rule, shown)
    return {known[key].name: value for key, value in found.items()}


def check_environment(environment: Mapping[str, str], known: Mapping[str, Setting]) -> None:
    """Refuse a variable with our prefix that sets nothing: it is misspelt, and what it should set would be ignored.

    >>> check_environment({"SOTTOVOCE_DATA": "data", "PORT": "1"}, {})
    """
    from difflib import get_close_matches

    names = [setting.environment for setting in known.values()]
    for name in sorted(environment):
        if name.startswith(PREFIX) and name not in names and not name.removeprefix(PREFIX).startswith(OTHERS):
            nearest = get_close_matches(name, names, n=1, cutoff=0)
            rule = f"must be one of {', '.join(names)}; the nearest is {nearest[0]}"
            raise SottovoceError("an environment variable", rule, Words(name))  # its value may be a password


def _line_of(key: str, text: str) -> str:
    """Return where a key of the outermost table stands, as an error names it; nothing if it is written unusually."""
    for number, line in enumerate(text.splitlines(), 1):
        name = line.partition("=")[0].strip(" \t[]").partition(".")[0]
        if name.strip("'\"") == key:
            return f", line {number}"
    return ""


SettingsOption = Annotated[
    str | None,
    typer.Option(
        f"--{FILE}",
        metavar="FILE",
        envvar="SOTTOVOCE_SETTINGS",
        is_eager=True,
        callback=_use_file,
        help="TOML file with any of the other settings, by the names of their options.",
    ),
]
