"""How many threads linear algebra may use."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module


@contextmanager
def on_one_thread() -> Iterator[None]:
    """Keep matrix products on one thread while this lasts, where threadpoolctl is there to see to it.

    An optimiser multiplies thousands of small matrices one after the other. Threads that wait for each other at every
    one of them gain nothing on an idle machine, and on a busy one cost twenty times the work.
    """
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:
        yield
        return
    # SciPy brings a library of its own, and only libraries that are there already are limited.
    with suppress(ImportError):
        import_module("scipy.linalg")
    with threadpool_limits(limits=1, user_api="blas"):
        yield
