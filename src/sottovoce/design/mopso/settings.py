"""What a swarm is told: how many fly, how long, and how they are pulled."""

from dataclasses import dataclass
from typing import Literal

from sottovoce.errors import SottovoceError

Start = Literal["random", "frapp"]


@dataclass(frozen=True)
class Settings:
    """Table 2 of the paper: particles, repository, mutation archive, generations, and the coefficients.

    `patience` is the number of generations without a newcomer in the repository that ends the search before its time.
    """

    particles: int = 100
    repository: int = 200
    archive: int = 200
    generations: int = 200
    mutation_share: float = 1 / 3
    inertia: float = 0.4
    pull: float = 2.0
    grids: int = 20
    start: Start = "random"
    patience: int | None = None

    def __post_init__(self) -> None:
        """Refuse swarms of nobody."""
        for name in ("particles", "repository", "archive", "generations", "grids", "patience"):
            value = getattr(self, name)
            whole = isinstance(value, int) and not isinstance(value, bool) and value >= 1
            if not whole and not (name == "patience" and value is None):
                raise SottovoceError(name, "must be a whole number of at least 1", value)
        if not 0 <= self.mutation_share <= 1:
            raise SottovoceError("mutation_share", "must be between 0 and 1", self.mutation_share)
        if self.start not in ("random", "frapp"):
            raise SottovoceError("start", "must be random or frapp", self.start)
