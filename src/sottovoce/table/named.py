"""Errors of the operating system that say which file they are about."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


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
