"""What a search of OptRR is told: how large, how long, how it breeds."""

from dataclasses import dataclass
from typing import Literal

from sottovoce.errors import SottovoceError

LEAST = {"population": 2, "archive": 1, "omega": 1, "generations": 1, "patience": 1}
"""Whole numbers, and the least that each may be."""


@dataclass(frozen=True)
class Settings:
    """Sizes of the three sets, generations, mutation rate, and `patience`: generations without change that end it.

    Two shares go beyond the paper, which is what 0 makes of them. Of all pairs of parents, `neighbours` come from
    Omega's front and lie near each other there: columns of matrices that are about as private fit together, and what
    the small archive has forgotten is bred again. Of all mutations, `levelling` keep zeros and ties: the best matrices
    have reports that some truths never give and that leave the adversary to choose among the others, and the paper's
    mutation fills the zeros and breaks the ties. The paper leaves the sizes of population and archive open.

    `estimator` is what the error is of: "inversion", in closed form, or "em", its mean over a few samples of reports,
    the noise of which is the same for all matrices; that takes some hundred times as long.
    """

    population: int = 100
    archive: int = 40
    omega: int = 1000
    generations: int = 20_000
    mutation_rate: float = 0.8
    patience: int | None = None
    estimator: Literal["inversion", "em"] = "inversion"
    neighbours: float = 0.5
    levelling: float = 0.75

    def __post_init__(self) -> None:
        """Refuse sets of nothing, and shares that are none."""
        for name, least in LEAST.items():
            value = getattr(self, name)
            whole = isinstance(value, int) and not isinstance(value, bool)
            if not (whole and value >= least) and not (name == "patience" and value is None):
                raise SottovoceError(name, f"must be a whole number of at least {least}", value)
        for name in ("mutation_rate", "neighbours", "levelling"):
            if not 0 <= getattr(self, name) <= 1:
                raise SottovoceError(name, "must be between 0 and 1", getattr(self, name))
        if self.estimator not in ("inversion", "em"):
            raise SottovoceError("estimator", "must be inversion or em", self.estimator)
