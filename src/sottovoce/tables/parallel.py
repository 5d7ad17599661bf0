"""Work on blocks of rows in several threads, and stages of a pipeline that overlap."""

import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from threading import Condition, Thread
from typing import Any, TypeVar, cast

from sottovoce.errors import SottovoceError
from sottovoce.mechanisms.bulk import compiler

Function = TypeVar("Function", bound=Callable[..., Any])
T = TypeVar("T")

DEPTH = 2
"""Items that may wait for the next stage: enough to smooth uneven batches, few enough to bound memory."""

Ahead = Callable[[Iterator[T]], Iterator[T]]
"""Makes a stage: the same items in the same order, computed while the caller works on earlier ones."""


def kernel(loop: Function, arrays: Function) -> Function:
    """The loop, compiled; or the function on whole arrays that does the same."""
    compile_loop = compiler()
    return arrays if compile_loop is None else cast(Function, _compiled(compile_loop, loop))


def in_threads(work: Callable[[int], None], tasks: int, threads: int | None) -> None:
    """Do every task, on as many threads as asked for (None: one a core); the first error is raised.

    >>> done = []
    >>> in_threads(done.append, 3, threads=1)
    >>> done
    [0, 1, 2]
    """
    if threads is not None and (isinstance(threads, bool) or not isinstance(threads, int) or threads < 1):
        raise SottovoceError("threads", "must be a positive number, or None for one a core", threads)
    workers = min(threads or os.cpu_count() or 1, tasks)
    if workers == 1:
        for task in range(tasks):
            work(task)
        return
    turns = iter(range(tasks))

    def take_turns() -> None:
        for task in turns:
            work(task)

    # The calling thread works as well, and nobody is handed single tasks: both would cost more than small tasks do.
    with ThreadPoolExecutor(workers - 1) as pool:
        others = [pool.submit(take_turns) for _ in range(workers - 1)]
        take_turns()
    for other in others:
        other.result()


def runs(length: int) -> list[slice]:
    """As many parts of neighbouring rows as there are cores.

    >>> sum(run.stop - run.start for run in runs(1001))
    1001
    """
    parts = os.cpu_count() or 1
    return [slice(part * length // parts, (part + 1) * length // parts) for part in range(parts)]


@cache
def _compiled(compile_loop: Callable[..., Any], loop: Callable[..., Any]) -> Any:
    return compile_loop(loop)


@contextmanager
def pipeline(depth: int = DEPTH) -> Iterator[Ahead[Any]]:
    """Function that moves an iterator into a thread; at most `depth` items wait between two stages.

    An error comes out where the item would have. Leaving the block, for whatever reason, ends every
    stage after the item in hand, and closes its iterator in its own thread.

    >>> with pipeline() as ahead:
    ...     letters = ahead(iter("abc"))
    ...     list(ahead(letter.upper() for letter in letters))
    ['A', 'B', 'C']
    """
    stages: list[tuple[_Waiting, Thread]] = []

    def ahead(items: Iterator[Any]) -> Iterator[Any]:
        waiting = _Waiting(depth)
        thread = Thread(target=_work, args=(items, waiting), name="sottovoce stage", daemon=True)
        stages.append((waiting, thread))
        thread.start()
        return iter(waiting.get, _END)

    try:
        yield ahead
    finally:
        # All are closed before any is waited for: a stage may itself be waiting for the one before it.
        for waiting, _ in stages:
            waiting.close()
        for _, thread in stages:
            thread.join()


_END: Any = object()


class _Failure:
    """What went wrong in a stage, on its way to whoever waits for the next item."""

    def __init__(self, reason: BaseException) -> None:
        self.reason = reason


class _Waiting:
    """Items between two stages: a bounded queue that can be closed, which wakes both of its ends."""

    def __init__(self, depth: int) -> None:
        self._depth = depth
        self._items: deque[Any] = deque()
        self._closed = False
        self._changed = Condition()

    def put(self, item: Any) -> bool:
        """Wait for room; whether the item is wanted."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or len(self._items) < self._depth)
            if not self._closed:
                self._items.append(item)
                self._changed.notify_all()
            return not self._closed

    def get(self) -> Any:
        """Wait for the next item; after the end, or an error, only the end comes."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._items)
            item = self._items.popleft() if self._items else _END
            self._changed.notify_all()
        if item is _END or isinstance(item, _Failure):
            self.close()
        if isinstance(item, _Failure):
            raise item.reason
        return item

    def close(self) -> None:
        """Throw away what waits, and want no more."""
        with self._changed:
            self._closed = True
            self._items.clear()
            self._changed.notify_all()


def _work(items: Iterator[Any], waiting: _Waiting) -> None:
    last = _END
    try:
        _put_each(items, waiting)
    except BaseException as reason:  # even an exit: the next stage must not wait for ever
        last = _Failure(reason)
    waiting.put(last)


def _put_each(items: Iterator[Any], waiting: _Waiting) -> None:
    try:
        for item in items:
            if not waiting.put(item):
                break
    finally:
        if hasattr(items, "close"):
            items.close()
