"""Errors: the lowest room. Every message names the parameter, the rule and the value.

>>> raise SottovoceError("keep", "must be between 0 and 1", 1.2)
Traceback (most recent call last):
...
sottovoce.errors.SottovoceError: keep must be between 0 and 1. Got 1.2 instead.
"""

import reprlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


class SottovoceError(ValueError):
    """What Sottovoce raises when it is asked for something it cannot or must not do."""

    def __init__(self, parameter: str, rule: str, value: Any) -> None:
        """Say which parameter broke which rule, and with what value."""
        self.parameter = parameter
        self.rule = rule
        self.value = value
        super().__init__(f"{parameter} {rule}. Got {_shown(value)} instead.")


class SingularChannelError(SottovoceError):
    """Reports say nothing about some difference between truths, so it cannot be estimated."""


class MissingExtraError(SottovoceError):
    """A library that an optional capability needs is not installed."""

    def __init__(self, purpose: str, library: str, extra: str) -> None:
        """Say what needs which library, and the command that installs it."""
        self.extra = extra
        rule = f"needs {library}; install it with: pip install 'sottovoce[{extra}]'"
        super().__init__(purpose, rule, "an installation without it")

    def __str__(self) -> str:
        """Leave out the value: nothing was passed."""
        return f"{self.parameter} {self.rule}"


def _shown(value: Any) -> str:
    """Shorten long values, and show numpy's numbers as the numbers they are."""
    if isinstance(value, Words):
        return str(value)
    plain = value.item() if getattr(value, "ndim", None) == 0 else value
    return _REPR.repr(plain)


class Words(str):
    """A value described in words: shown in an error without quotes.

    >>> print(SottovoceError("table", "must have rows", Words("an empty one")))
    table must have rows. Got an empty one instead.
    """


_REPR = reprlib.Repr()
_REPR.maxstring = _REPR.maxother = _REPR.maxlong = 120
_REPR.maxlist = _REPR.maxtuple = _REPR.maxdict = 8


@contextmanager
def named(path: str | Path) -> Iterator[None]:
    """Add a file's name to an error that has none, as those of reading and writing have.

    >>> with named("reports.csv"):
    ...     raise OSError(28, "No space left on device")
    Traceback (most recent call last):
    ...
    OSError: [Errno 28] No space left on device: 'reports.csv'
    """
    try:
        yield
    except OSError as reason:
        # Arrow's complaints about the contents of a file are of this class too, without a number.
        if reason.filename is None and reason.errno is not None:
            reason.filename = str(path)
        raise
