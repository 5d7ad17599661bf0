"""Compare schemes over epsilon by any measure: a row for each scheme and epsilon."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from inspect import Parameter, signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sottovoce.channels.channel import Array, Channel
from sottovoce.channels.kronecker import Kronecker
from sottovoce.designs.certified import least_error_design
from sottovoce.designs.compare_measures import Context, MeasureLike, checked_measures
from sottovoce.designs.requirement import checked_prior
from sottovoce.errors import SottovoceError, Words
from sottovoce.estimates.likelihood import Progress
from sottovoce.estimates.presentation import Backend, new_frame
from sottovoce.exact import Number, odds_of_epsilon
from sottovoce.measures.matrices import as_prior, real_array
from sottovoce.measures.utility import checked_respondents
from sottovoce.schemes.scheme import Scheme, schemes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CERTIFIED = "certified"
"""Name of the least error there is for an epsilon, proven: the line that no scheme can cross."""

EPSILONS = tuple(Fraction(i, 4) for i in range(1, 17))
"""Quarters up to 4: odds from 1.3 : 1 to 55 : 1."""

MOST_ENTRIES = 2**22
"""Of the matrix of two attributes, which their measures are made of."""

MEASURES = ("interval_width", "adversary_accuracy")

Maker = Callable[[Any], Scheme]
"""A scheme for an epsilon."""


@dataclass(frozen=True)
class Compared:
    """Rows have `scheme`, the epsilon `asked` for, the `epsilon` that the coins really have, and every measure.

    A measure is None where it is infinite or has no meaning: distortion of reports that are no categories, say.
    """

    rows: tuple[dict[str, Any], ...]
    prior: tuple[float, ...]
    respondents: float
    measures: tuple[str, ...]
    width: float
    level: float
    shape: tuple[int, ...]

    @property
    def schemes(self) -> tuple[str, ...]:
        """Names, in the order they were given."""
        return tuple(dict.fromkeys(row["scheme"] for row in self.rows))

    def of(self, scheme: str) -> list[dict[str, Any]]:
        """Rows of one scheme, by the epsilon of its coins."""
        return sorted((row for row in self.rows if row["scheme"] == scheme), key=lambda row: float(row["epsilon"]))

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Data frame with a row for each scheme and epsilon, of the library named: "pandas", "polars" or "pyarrow"."""
        columns = {name: [row[name] for row in self.rows] for name in self.rows[0]}
        return new_frame(columns, backend)

    def to_json(self) -> dict[str, Any]:
        """Everything, for programs."""
        return {
            "prior": list(self.prior),
            "shape": list(self.shape),
            "respondents": self.respondents,
            "measures": list(self.measures),
            "width": self.width,
            "level": self.level,
            "rows": [dict(row) for row in self.rows],
        }

    def plot(self, path: str | Path | None = None) -> "list[Axes]":
        """Draw a line for each scheme over epsilon, in a panel for each measure; needs matplotlib (extra `plot`)."""
        from sottovoce.designs.compare_picture import draw

        return draw(self, path)


def compare(
    schemes: Mapping[str, Maker] | Iterable[str | Maker],
    prior: Any,
    respondents: float,
    measures: Mapping[str, MeasureLike] | Iterable[str | MeasureLike] = MEASURES,
    *,
    epsilons: Iterable[Number] = EPSILONS,
    width: float = 0.05,
    level: float = 0.95,
    progress: Progress | None = None,
) -> Compared:
    """Measure schemes for one attribute at each epsilon; or for two, each disguised alone with that epsilon.

    Schemes go by their names (`comparable_schemes`, and "certified" for the proven optimum) or are functions of an
    epsilon, with names of your own in a mapping. Measures likewise, of a channel and the prior of its cells;
    `respondents_needed` is for intervals of this `width`, at this `level`. The prior of two attributes is a table;
    `entropy_error`, `chi_squared_error`, `mutual_information_error` and `correlation_error` are standard errors of what
    follows from it. All errors are those for the population (see `derived_error` for this table's).

    >>> found = compare(["randomized_response", "subset_selection"], [0.125] * 8, 1000, ["mse"], epsilons=[1])
    >>> [(row["scheme"], round(row["mse"], 5)) for row in found.rows]
    [('randomized_response', 0.0035), ('subset_selection', 0.00283)]
    """
    law, size = _checked_law(prior), checked_respondents(respondents)
    makers, asked = _makers(schemes, law), checked_measures(measures)
    levels = list(epsilons)
    if not makers or not levels:
        raise SottovoceError("schemes and epsilons", "must be at least one of each", (list(makers), levels))
    context = Context(law.ravel(), size, width, level)
    rows: list[dict[str, Any]] = []
    for name, make in makers.items():
        for epsilon in levels:
            channel = side_by_side([make(epsilon).mechanism((categories,)).channel for categories in law.shape])
            numbers = context.measure(channel, asked)
            rows.append({"scheme": name, "asked": float(epsilon), "epsilon": channel.epsilon, **numbers})
            if progress is not None:
                progress(len(rows), len(makers) * len(levels))
    return Compared(tuple(rows), tuple(law.ravel().tolist()), size, tuple(asked), width, level, law.shape)


def comparable_schemes() -> dict[str, Maker]:
    """Every scheme of the literature that is given by an epsilon or by odds alone, found by its parameters.

    >>> "subset_selection" in comparable_schemes(), "kuk" in comparable_schemes()
    (True, False)
    """
    return {name: maker for name, found in schemes().items() if (maker := _maker_of(found)) is not None}


def side_by_side(channels: Sequence[Channel]) -> Channel:
    """Channel of one attribute as it is, or of two whose matrix can still be written down."""
    if len(channels) == 1:
        return channels[0]
    both = Kronecker(channels)
    if both.n_in * both.n_out > MOST_ENTRIES:
        rule = f"must have matrices of at most {MOST_ENTRIES} entries for two attributes together"
        raise SottovoceError("schemes", rule, Words(f"{both.n_out} x {both.n_in}"))
    return both


def _checked_law(prior: Any) -> Array:
    """Prior of one attribute, or of the cells of two, of which some may be empty but no category."""
    given = real_array("prior", prior)
    if given.ndim != 2:
        return checked_prior(given)
    law = as_prior(given.ravel(), given.size).reshape(given.shape)
    for axis in (0, 1):
        checked_prior(law.sum(axis=axis))
    return law


def _maker_of(scheme: Callable[..., Scheme]) -> Maker | None:
    parameters = dict(signature(scheme).parameters)
    epsilon, odds = parameters.pop("epsilon", None), parameters.pop("odds", None)
    if any(other.default is Parameter.empty for other in parameters.values()):
        return None
    if epsilon is not None:
        return lambda value: scheme(epsilon=value)
    return None if odds is None else lambda value: scheme(odds=odds_of_epsilon("epsilon", value))


def _makers(given: Mapping[str, Maker] | Iterable[str | Maker], law: Array) -> dict[str, Maker]:
    pairs = given.items() if isinstance(given, Mapping) else ((_name(each), each) for each in given)
    known: dict[Any, Maker] = comparable_schemes()
    if law.ndim == 1:
        known = {CERTIFIED: partial(_certified, law), **known}
    makers: dict[str, Maker] = {}
    each: Any
    for name, each in pairs:
        if not callable(each) and each not in known:
            rule = f"must be functions of an epsilon, or among {', '.join(known)}"
            raise SottovoceError("schemes", rule, each)
        if name in makers:
            raise SottovoceError("schemes", "must have different names", name)
        makers[name] = each if callable(each) else known[each]
    return makers


def _certified(law: Array, epsilon: Any) -> Scheme:
    return least_error_design(law, 1, epsilon=epsilon).scheme


def _name(each: Any) -> str:
    return str(each if isinstance(each, str) else getattr(each, "__name__", each))
