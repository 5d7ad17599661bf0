"""A uvicorn server that begins and ends at once.

Uvicorn's own looks ten times a second whether it should end, and then whether its connections have ended: some three
tenths of a second for each end, which every test of a server, every demonstration and every restart would wait for.
"""

import asyncio
import socket
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

import uvicorn

LONGEST_PAUSE = 0.05
"""Seconds after which a server that ends looks at the latest whether its connections have."""


class PromptServer(uvicorn.Server):
    """Is told by an event to end; open requests are finished first, as uvicorn does it."""

    def __init__(self, config: uvicorn.Config) -> None:
        """Take settings; nothing runs yet."""
        super().__init__(config)
        self.begun = threading.Event()
        """Set when the server listens, and also when it has failed to."""
        self._wake: Callable[[], object] = lambda: None

    def run(self, sockets: list[socket.socket] | None = None) -> None:
        """Serve until told to end."""
        try:
            super().run(sockets=sockets)
        finally:
            self.begun.set()

    def end(self) -> None:
        """Tell the server to end, from any thread."""
        self.should_exit = True  # before `_wake` is looked up: `main_loop` does both the other way round
        self._wake()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End at a signal; at a second interrupt, without waiting for connections."""
        super().handle_exit(sig, frame)
        self._wake()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start the application, and listen."""
        await super().startup(sockets=sockets)
        self.begun.set()

    async def main_loop(self) -> None:
        """Wait until told to end."""
        loop, told = asyncio.get_running_loop(), asyncio.Event()
        self._wake = lambda: loop.call_soon_threadsafe(told.set)
        if not await self.on_tick(0):  # also sets the headers of all responses
            await told.wait()
        self._wake = lambda: None

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Take no more connections, finish requests for as long as the settings allow, then stop the application."""
        for server in self.servers:
            server.close()
        for listening in sockets or []:
            listening.close()
        try:
            async with asyncio.timeout(self.config.timeout_graceful_shutdown):
                await self._connections_end()
        except TimeoutError:
            for task in self.server_state.tasks:
                task.cancel()
        if not self.force_exit:
            await self.lifespan.shutdown()

    async def _connections_end(self) -> None:
        """Close connections without a request, and wait for the others; those just accepted are among them."""
        told: set[Any] = set()
        pause = 0.0
        while not self.force_exit:
            for connection in set(self.server_state.connections) - told:
                connection.shutdown()
                told.add(connection)
            pause = min(pause + 0.001, LONGEST_PAUSE)
            await asyncio.sleep(pause)
            if not self.server_state.connections and not self.server_state.tasks:
                break
        for server in self.servers:
            await server.wait_closed()
