"""What the server logs: failures, each by its type and its place in the program.

The message of an exception may repeat what somebody has sent, so no message of an exception that a request has raised
is logged, and neither are addresses, headers or paths of requests.
"""

import logging
from asyncio import AbstractEventLoop
from collections.abc import Awaitable, Callable, MutableMapping
from pathlib import Path
from traceback import extract_tb
from typing import Any

LOG = logging.getLogger("sottovoce.survey")

Message = MutableMapping[str, Any]
Send = Callable[[Message], Awaitable[None]]
Receive = Callable[[], Awaitable[Message]]
App = Callable[[Message, Receive, Send], Awaitable[None]]


def place_of(error: BaseException) -> str:
    """Return the type of an exception, and the files and lines through which it was raised, without its message."""
    places = [f"{Path(place.filename).name}:{place.lineno}" for place in extract_tb(error.__traceback__)]
    return f"{type(error).__name__} at {' > '.join(places)}"


class FailureLog:
    """Logs the failures of an application's requests; uvicorn would log their messages, too."""

    def __init__(self, app: App) -> None:
        """Wrap an application that has answered a request when it raises."""
        self._app = app

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Call the application."""
        try:
            await self._app(scope, receive, send)
        except Exception as error:
            if scope["type"] != "http":  # the server must know that it could not start
                raise
            LOG.error("A request failed: %s", place_of(error))


def log_loop_failure(_loop: AbstractEventLoop, context: dict[str, Any]) -> None:
    """Log a failure that nobody waits for, for asyncio, which would log what its objects contain."""
    error = context.get("exception")
    LOG.error("A task failed: %s", "without an exception" if error is None else place_of(error))
