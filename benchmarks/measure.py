"""How benchmarks measure: the best of several runs, ours and the peer's taking turns."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from time import perf_counter
from typing import Any


@dataclass(frozen=True)
class Row:
    """One comparison: `ratio` is peer over ours, so more is better for us."""

    name: str
    peer_name: str | None
    ours: float
    peer: float | None
    unit: str

    def to_json(self) -> dict[str, Any]:
        """All fields and the ratio; none where there is no peer, or nothing to divide by."""
        return asdict(self) | {"ratio": self.ratio}

    @property
    def ratio(self) -> float | None:
        """Peer over ours."""
        return None if self.peer is None or not self.ours else self.peer / self.ours

    def line(self) -> str:
        """One line for people."""
        against = "" if self.ratio is None else f"{self.ratio:8.2f} x  {self.peer_name or ''}"
        return f"{self.name:62} {self.ours:10.4g} {self.unit:13} {against}"


def best_seconds(
    *calls: Callable[[], Any], rounds: int = 7, clock: Callable[[], float] = perf_counter
) -> tuple[float, ...]:
    """Shortest time of each call; they take turns, so that a busy moment hits all alike."""
    times: list[list[float]] = [[] for _ in calls]
    for _ in range(rounds):
        for call, taken in zip(calls, times, strict=True):
            start = clock()
            call()
            taken.append(clock() - start)
    return tuple(min(taken) for taken in times)
