"""Functions that need an event loop of their own, and may be called where one runs already."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import wraps
from typing import ParamSpec, TypeVar

Given = ParamSpec("Given")
Made = TypeVar("Made")


def outside_of_loops(work: Callable[Given, Made]) -> Callable[Given, Made]:
    """Let a function run in a thread of its own where an event loop runs, as in notebooks."""

    @wraps(work)
    def run(*arguments: Given.args, **options: Given.kwargs) -> Made:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return work(*arguments, **options)
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(work, *arguments, **options).result()

    return run
