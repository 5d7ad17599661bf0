"""What requests share: the store and its writer, the surveys read so far, the limit on reports, the day."""

import asyncio
from collections.abc import Callable
from datetime import UTC, date, datetime

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from sottovoce.survey.published import Published
from sottovoce.survey.rate import RateLimit
from sottovoce.survey.refusal import Refusal, RefusedError
from sottovoce.survey.store import Store
from sottovoce.survey.writer import Writer


def today() -> date:
    """Day in UTC: the only time the server looks at."""
    return datetime.now(UTC).date()


class Desk:
    """What the requests share: the store, its writer, the surveys read so far, and the limit on reports."""

    def __init__(self, store: Store, writer: Writer, limit: RateLimit, day: Callable[[], date]) -> None:
        """Start with no survey read."""
        self.store, self.writer, self.limit, self.day = store, writer, limit, day
        self._published: dict[str, Published] = {}
        self._reading = asyncio.Lock()

    async def published(self, request: Request) -> Published:
        """Survey that an address names; frozen surveys never change, so it is read once."""
        name = request.path_params["survey"]
        if name not in self._published:
            async with self._reading:  # a crowd that comes at once waits for the first of it
                await self._read(name)
        return self._published[name]

    async def _read(self, name: str) -> None:
        if name in self._published:
            return
        survey = await run_in_threadpool(self.store.survey, name)
        if survey is None:
            raise RefusedError(Refusal.unknown_survey)
        self._published[name] = Published(survey)
