"""Work on blocks of rows in several threads, and pipelines whose stages overlap."""

import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from threading import Condition, Thread
from typing import Any, TypeVar, cast

from sottovoce.checks import whole_number
from sottovoce.mechanisms.bulk import compiler

Function = TypeVar("Function", bound=Callable[..., Any])
T = TypeVar("T")

DEPTH = 2
"""Items that may wait between two stages: enough to even out batches, few enough to bound memory."""

Ahead = Callable[[Iterator[T]], Iterator[T]]
"""Turns an iterator into a pipeline stage: the same items, computed while the caller works on earlier ones."""


def kernel(loop: Function, arrays: Function) -> Function:
    """Return the compiled loop, or without numba the function on whole arrays that does the same."""
    compile_loop = compiler()
    return arrays if compile_loop is None else cast(Function, _compiled(compile_loop, loop))


def in_threads(work: Callable[[int], None], tasks: int, threads: int | None) -> None:
    """Run `work` on every task number, in this many threads (None: one for each core); the first error is raised.

    >>> done = []
    >>> in_threads(done.append, 3, threads=1)
    >>> done
    [0, 1, 2]
    """
    wanted = (os.cpu_count() or 1) if threads is None else whole_number("threads", threads)
    workers = min(wanted, tasks)
    if workers == 1:
        for task in range(tasks):
            work(task)
        return
    turns = iter(range(tasks))

    def take_turns() -> None:
        for task in turns:
            work(task)

    # The calling thread works too, and tasks are not submitted one by one: handing over a small task costs too much.
    with ThreadPoolExecutor(workers - 1) as pool:
        others = [pool.submit(take_turns) for _ in range(workers - 1)]
        take_turns()
    for other in others:
        other.result()


def row_ranges(length: int) -> list[slice]:
    """Split rows into as many contiguous ranges as there are cores.

    >>> sum(rows.stop - rows.start for rows in row_ranges(1001))
    1001
    """
    parts = os.cpu_count() or 1
    return [slice(part * length // parts, (part + 1) * length // parts) for part in range(parts)]


@cache
def _compiled(compile_loop: Callable[..., Any], loop: Callable[..., Any]) -> Any:
    return compile_loop(loop)


@contextmanager
def pipeline(depth: int = DEPTH) -> Iterator[Ahead[Any]]:
    """Yield a function that moves an iterator into a thread; at most `depth` items wait between two stages.

    An error is raised in the place of the item that failed. Leaving the block, for whatever reason, ends every stage
    after its current item, and closes its iterator in its own thread.

    >>> with pipeline() as ahead:
    ...     letters = ahead(iter("abc"))
    ...     list(ahead(letter.upper() for letter in letters))
    ['A', 'B', 'C']
    """
    stages: list[tuple[_Queue, Thread]] = []

    def ahead(items: Iterator[Any]) -> Iterator[Any]:
        queue = _Queue(depth)
        thread = Thread(target=_work, args=(items, queue), name="sottovoce stage", daemon=True)
        stages.append((queue, thread))
        thread.start()
        return iter(queue.get, _END)

    try:
        yield ahead
    finally:
        # All are closed before any is waited for: a stage may itself be waiting for the one before it.
        for queue, _ in stages:
            queue.close()
        for _, thread in stages:
            thread.join()


_END: Any = object()


class _Failure:
    """An error of a stage, passed on to the next stage."""

    def __init__(self, reason: BaseException) -> None:
        self.reason = reason


class _Queue:
    """A bounded queue between two stages; closing it wakes both of them."""

    def __init__(self, depth: int) -> None:
        self._depth = depth
        self._items: deque[Any] = deque()
        self._closed = False
        self._changed = Condition()

    def put(self, item: Any) -> bool:
        """Wait for room and append an item; return False if the queue was closed."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or len(self._items) < self._depth)
            if not self._closed:
                self._items.append(item)
                self._changed.notify_all()
            return not self._closed

    def get(self) -> Any:
        """Wait for the next item; after the end or an error, always return the end."""
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
        """Discard waiting items and accept no more."""
        with self._changed:
            self._closed = True
            self._items.clear()
            self._changed.notify_all()


def _work(items: Iterator[Any], queue: _Queue) -> None:
    last = _END
    try:
        _put_each(items, queue)
    except BaseException as reason:  # even an exit: the next stage must not wait for ever
        last = _Failure(reason)
    queue.put(last)


def _put_each(items: Iterator[Any], queue: _Queue) -> None:
    try:
        for item in items:
            if not queue.put(item):
                break
    finally:
        if hasattr(items, "close"):
            items.close()
