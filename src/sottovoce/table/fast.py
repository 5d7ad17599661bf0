"""Blocks of rows worked on by compiled loops in several threads; without a compiler, by numpy to the same bytes."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, TypeVar, cast

from sottovoce.errors import SottovoceError
from sottovoce.mechanism.compiler import compiler

Function = TypeVar("Function", bound=Callable[..., Any])


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
