"""A TCP proxy of the drill's own, which delays, stalls, cuts and refuses connections.

One stands between respondents and the server, another between the server and PostgreSQL: the operator's database server
is never stopped, only out of reach of the private copy.
"""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from random import Random

Target = Callable[[], tuple[str, int]]
"""Host and port to connect to, asked for at every connection; a host that begins with / is a folder of sockets."""

STALL_SECONDS = 0.02
"""Time between two looks at whether a stall has ended."""


@dataclass(frozen=True)
class Weather:
    """What happens to connections: seconds and bytes of each part, the chance that it is the last, and outages."""

    delay: float = 0.0
    part: int = 65536
    cut: float = 0.0
    stalls: bool = False
    refuses: bool = False


FAIR = Weather()


class Proxy:
    """Forwards connections to a free local port, in a thread of its own, while the block runs."""

    def __init__(self, target: Target, rng: Random) -> None:
        """Prepare a proxy; the generator decides which connections are cut."""
        self._target, self._rng = target, rng
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="drill proxy", daemon=True)
        self._open: set[asyncio.StreamWriter] = set()
        self.weather = FAIR
        self.port = 0

    def __enter__(self) -> "Proxy":
        """Listen."""
        self._thread.start()
        self._server = asyncio.run_coroutine_threadsafe(
            asyncio.start_server(self._connect, "127.0.0.1", 0), self._loop
        ).result()
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    def __exit__(self, *_: object) -> None:
        """Cut all connections and stop."""
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def cut_all(self) -> None:
        """Cut all open connections."""
        self._loop.call_soon_threadsafe(self._cut)

    def _cut(self) -> None:
        for writer in self._open:
            writer.transport.abort()

    async def _end(self) -> None:
        self._server.close()
        self.weather = Weather(refuses=True)
        self._cut()
        await asyncio.gather(*(asyncio.all_tasks() - {asyncio.current_task()}), return_exceptions=True)

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        try:
            with suppress(OSError):
                if not self.weather.refuses:
                    await self._forward(reader, writer)
        finally:
            self._open.discard(writer)
            writer.transport.abort()

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Forward both directions until one of them ends; then both are cut."""
        host, port = self._target()
        if host.startswith("/"):
            source, sink = await asyncio.open_unix_connection(f"{host}/.s.PGSQL.{port}")
        else:
            source, sink = await asyncio.open_connection(host, port)
        self._open.add(sink)
        pumps = [asyncio.create_task(self._pump(reader, sink)), asyncio.create_task(self._pump(source, writer))]
        try:
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for pump in pumps:
                pump.cancel()
            await asyncio.gather(*pumps, return_exceptions=True)
            self._open.discard(sink)
            sink.transport.abort()

    async def _pump(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        while part := await source.read(self.weather.part):
            if self.weather.delay:
                await asyncio.sleep(self.weather.delay)
            while self.weather.stalls:
                await asyncio.sleep(STALL_SECONDS)
            if self._rng.random() < self.weather.cut:
                sink.write(part[: self._rng.randrange(len(part))])
                await sink.drain()
                return
            sink.write(part)
            await sink.drain()
