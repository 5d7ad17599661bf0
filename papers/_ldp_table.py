"""What figures 1 to 4 of Wang, Wu & Hu (2016) share: the table, both channels, and simulated estimates."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from papers.comparison import Known, Row, all_of, claim
from sottovoce.channels.channel import Channel
from sottovoce.counts.counter import count_cells
from sottovoce.datasets.published import cholesterol
from sottovoce.designs.compare import compare, product_channel
from sottovoce.schemes.laplace import Laplace
from sottovoce.schemes.randomized_response import RandomizedResponse
from sottovoce.tables.source import open_source

Array = NDArray[np.float64]
Exact = dict[tuple[str, str], list[float]]
"""A number for each epsilon, by mechanism and measure."""

SOURCE = "Wang, Wu & Hu (2016), Proc. EDBT/ICDT Workshops"
TARGETS = ("table", "population")
MECHANISMS = {"randomized_response": RandomizedResponse, "laplace": Laplace}
STAND_IN = (
    "The YesiWell patients are private: 248 patients of Efron's diabetes study stand in, "
    "LDL cut at 70, 100, 130, 160 and 190, total cholesterol at 200 and 240."
)


def epsilons(*, quick: bool) -> list[float]:
    """From .5 to 10, fewer if it has to be quick."""
    return [0.5, 1, 3, 5, 7, 10] if quick else [0.5, 1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9, 10]


def counts() -> NDArray[np.int64]:
    """Patients by LDL (six levels) and total cholesterol (three)."""
    schema, table = cholesterol()
    columns = list(next(iter(open_source(table).coded(schema))))
    return count_cells(columns, schema.sizes).reshape(schema.sizes)


def channel_of(mechanism: str, epsilon: float, shape: tuple[int, ...]) -> Channel:
    """Channel of all attributes, each disguised alone with this epsilon."""
    return product_channel([MECHANISMS[mechanism](epsilon=epsilon).mechanism((size,)).channel for size in shape])


def exact(
    table: Any, measures: Mapping[str, Any], grid: Sequence[float], also: Mapping[str, Any] | None = None
) -> Exact:
    """Measures of both mechanisms side by side, and of others that are functions of an epsilon."""
    makers: dict[str, Any] = {name: partial(_made, name) for name in MECHANISMS} | dict(also or {})
    found = compare(makers, table / table.sum(), float(table.sum()), measures, epsilons=grid)
    return {
        (scheme, measure): [row[measure] for row in found.rows if row["scheme"] == scheme]
        for scheme in makers
        for measure in measures
    }


def _made(mechanism: str, epsilon: Any) -> Any:
    return MECHANISMS[mechanism](epsilon=epsilon)


def simulated(channel: Channel, table: NDArray[np.int64], target: str, draws: int, rng: np.random.Generator) -> Array:
    """Estimated proportions, a row each, of this table, or of samples as large from a population like it."""
    shares, matrix, total = table.ravel() / table.sum(), channel.dense(), int(table.sum())
    found = []
    for _ in range(draws):
        truths = table.ravel() if target == "table" else rng.multinomial(total, shares)
        reports = sum(rng.multinomial(count, matrix[:, x]) for x, count in enumerate(truths))
        found.append(channel.solve(np.asarray(reports) / total))
    return np.array(found)


def everywhere(
    name: str, words: str, grid: Sequence[float], holds: Sequence[Known], numbers: str, reason: str = ""
) -> Row:
    """Row of a claim about every epsilon: where it fails, or cannot be told, if anywhere."""
    where = [
        f"{said} at epsilon {', '.join(f'{e:g}' for e in found)}"
        for said, kind in (("fails", False), ("cannot be told", None))
        if (found := [e for e, fine in zip(grid, holds, strict=True) if (None if fine is None else bool(fine)) is kind])
    ]
    return claim(name, words, f"{'; '.join(where) or 'at every epsilon'}; {numbers}", all_of(holds), reason)
