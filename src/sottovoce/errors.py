"""Errors and warnings, the lowest room: every error names the parameter, the rule and the value it got.

>>> raise SottovoceError("keep", "must be between 0 and 1", 1.2)
Traceback (most recent call last):
...
sottovoce.errors.SottovoceError: keep must be between 0 and 1. Got 1.2 instead.
"""

import re
import reprlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

MOST_BITS = 4096
"""Longest whole number that is written out."""

_REPR = reprlib.Repr()
_REPR.maxstring = _REPR.maxother = _REPR.maxlong = 120
_REPR.maxlist = _REPR.maxtuple = _REPR.maxdict = 8


class SottovoceError(ValueError):
    """An argument, file or document that Sottovoce cannot or must not work with.

    The message reads "`parameter` `rule`. Got `value` instead."
    """

    def __init__(self, parameter: str, rule: str, value: Any) -> None:
        """Store the parameter, the rule it broke and the value it had."""
        self.parameter = parameter
        self.rule = rule
        self.value = value
        super().__init__(f"{parameter} {rule}. Got {value_text(value)} instead.")


class SottovoceWarning(UserWarning):
    """Input that Sottovoce accepts although it is probably a mistake, or a result to be read with care.

    Silence it with `warnings.simplefilter("ignore", SottovoceWarning)`, or turn it into an error with "error".
    """


class SingularChannelError(SottovoceError):
    """The reports do not depend on some difference between truths, so that it cannot be estimated."""


class EmptyTableError(SottovoceError):
    """A table has no rows, or there are no transactions."""


class MissingExtraError(SottovoceError):
    """A library that an optional feature needs is not installed."""

    def __init__(self, purpose: str, library: str, extra: str) -> None:
        """Name the purpose, the library it needs and the extra that installs it."""
        self.extra = extra
        rule = f"needs {library}; install it with: pip install 'sottovoce[{extra}]'"
        super().__init__(purpose, rule, "an installation without it")

    def __str__(self) -> str:
        """Leave out the value: nothing was passed."""
        return f"{self.parameter} {self.rule}"


_LIBRARIES = {"sklearn": "scikit-learn", "sqlalchemy": "SQLAlchemy", "starlette": "Starlette", "yaml": "PyYAML"}
"""Names of libraries that differ from those of their modules."""


def check_installed(purpose: str, extra: str, *modules: str) -> None:
    """Raise `MissingExtraError` for the first of some modules that is not installed; import none of them.

    >>> check_installed("a picture", "plot", "no_such_library")
    Traceback (most recent call last):
    ...
    sottovoce.errors.MissingExtraError: a picture needs no_such_library; install it with: pip install 'sottovoce[plot]'
    """
    for module in modules:
        try:
            missing = find_spec(module) is None
        except ModuleNotFoundError:  # the package that the module is in
            missing = True
        if missing:
            library = module.partition(".")[0]
            raise MissingExtraError(purpose, _LIBRARIES.get(library, library), extra)


class Words(str):
    """A value described in words, which an error shows without quotes.

    >>> print(SottovoceError("table", "must have rows", Words("an empty one")))
    table must have rows. Got an empty one instead.
    """


@contextmanager
def file_errors(path: str | Path) -> Iterator[None]:
    """Add the file's name to an `OSError` that has none, as errors while reading and writing have.

    >>> with file_errors("reports.csv"):
    ...     raise OSError(28, "No space left on device")
    Traceback (most recent call last):
    ...
    OSError: [Errno 28] No space left on device: 'reports.csv'
    """
    try:
        yield
    except OSError as reason:
        # Arrow raises OSErrors without a number for malformed contents: these name the file themselves.
        if reason.filename is None and reason.errno is not None:
            reason.filename = str(path)
        raise


@contextmanager
def renamed_parameters(names: Mapping[str, str]) -> Iterator[None]:
    """Change the parameter of errors in a block, also of several ("epsilon or odds") or of a part ("prior of tax").

    >>> with renamed_parameters({"kind": "--interval"}):
    ...     raise SottovoceError("kind", "must be one of wald, score", "bayes")
    Traceback (most recent call last):
    ...
    sottovoce.errors.SottovoceError: --interval must be one of wald, score. Got 'bayes' instead.
    """
    try:
        yield
    except SottovoceError as error:
        head, of, rest = error.parameter.partition(" of ")
        parts = re.split(r"(, | and | or )", head)
        if all(part in names for part in parts[::2]):
            message = str(error).removeprefix(error.parameter)
            error.parameter = "".join(names.get(part, part) for part in parts) + of + rest
            error.args = (error.parameter + message,)
        raise


def value_text(value: Any) -> str:
    """Return the value's repr as errors show it, shortened, with numpy's numbers written as plain ones."""
    if isinstance(value, Words):
        return str(value)
    plain = value.item() if getattr(value, "ndim", None) == 0 else value
    if isinstance(plain, int) and plain.bit_length() > MOST_BITS:
        return f"a whole number of {plain.bit_length()} bits"  # Python does not write out so many digits
    text = _REPR.repr(plain)
    return text if "\n" not in text else f"{text.splitlines()[0]} ..."
