"""Compare schemes over epsilon by any measure."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from inspect import Parameter, signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sottovoce.channels.channel import Channel
from sottovoce.channels.kronecker import Kronecker
from sottovoce.checks import Array, Progress
from sottovoce.designs.certified import design
from sottovoce.designs.compare_measures import Context, MeasureLike, checked_measures
from sottovoce.designs.requirement import checked_prior
from sottovoce.display import html_table
from sottovoce.errors import SottovoceError, Words
from sottovoce.estimates.presentation import Backend, new_frame
from sottovoce.exact import Number, odds_of_epsilon
from sottovoce.measures.matrices import as_prior, real_array
from sottovoce.measures.utility import checked_respondents
from sottovoce.schemes.scheme import Scheme, all_schemes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CERTIFIED = "certified"
"""Name of the certified optimum for each epsilon, which no scheme can beat."""

EPSILONS = tuple(Fraction(i, 4) for i in range(1, 17))
"""Default epsilons: quarters up to 4, odds from 1.3 : 1 to 55 : 1."""

MOST_ENTRIES = 2**22
"""Most entries of the matrix of two attributes."""

MEASURES = ("interval_width", "adversary_accuracy")

Maker = Callable[[Any], Scheme]
"""Returns a scheme for an epsilon."""


@dataclass(frozen=True)
class SchemeComparison:
    """A row for each scheme and epsilon: `scheme`, the epsilon `asked`, the exact `epsilon`, and every measure.

    A measure is None if it is infinite or undefined, such as the distortion of reports that are no categories.
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
        """Names of the schemes, in the order given."""
        return tuple(dict.fromkeys(row["scheme"] for row in self.rows))

    def of(self, scheme: str) -> list[dict[str, Any]]:
        """Return the rows of one scheme, sorted by epsilon."""
        return sorted((row for row in self.rows if row["scheme"] == scheme), key=lambda row: float(row["epsilon"]))

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a data frame with a row for each scheme and epsilon, in "pandas", "polars" or "pyarrow"."""
        columns = {name: [row[name] for row in self.rows] for name in self.rows[0]}
        return new_frame(columns, backend)

    def to_json(self) -> dict[str, Any]:
        """All rows and settings, as JSON."""
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
        from sottovoce.designs.pictures import draw_comparison

        return draw_comparison(self, path)

    def __repr__(self) -> str:
        """Return the number of rows, the schemes and the measures in one line."""
        return f"<SchemeComparison: {self._size}; {', '.join(self.schemes)}; {', '.join(self.measures)}>"

    def __str__(self) -> str:
        """Return the rows as a table in plain text."""
        columns = ("scheme", "epsilon", *self.measures)
        table = [columns, *([_shown(row[name]) for name in columns] for row in self.rows)]
        widths = [max(len(line[i]) for line in table) for i in range(len(columns))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in table]
        return "\n".join([self._size, *(line.rstrip() for line in lines)])

    def _repr_html_(self) -> str:
        columns = ("scheme", "epsilon", *self.measures)
        rows = [[_shown(row[name]) for name in columns] for row in self.rows]
        return html_table("Schemes compared", [name.replace("_", " ") for name in columns], rows, [self._size])

    @property
    def _size(self) -> str:
        cells = " x ".join(map(str, self.shape))
        return f"{len(self.rows)} rows, {cells} categories, {self.respondents:,.6g} respondents"


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
) -> SchemeComparison:
    """Measure schemes at each epsilon, for one attribute, or for two that are each disguised alone with that epsilon.

    Schemes are names (`comparable_schemes`, and "certified" for the certified optimum) or functions of an epsilon; a
    mapping gives them names of your own. Measures are names or functions of a channel and the prior of its cells;
    `respondents_needed` is for intervals of this `width` at this `level`. The prior of two attributes is a table;
    `entropy_error`, `chi_squared_error`, `mutual_information_error` and `correlation_error` are standard errors of
    these functionals of it. All errors are those for the population (see `derived_error` for the table).

    >>> comparison = compare(["randomized_response", "subset_selection"], [0.125] * 8, 1000, ["mse"], epsilons=[1])
    >>> [(row["scheme"], round(row["mse"], 5)) for row in comparison.rows]
    [('randomized_response', 0.0035), ('subset_selection', 0.00283)]
    """
    shares, size = _checked_cells(prior), checked_respondents(respondents)
    makers, asked = _makers(schemes, shares), checked_measures(measures)
    levels = list(epsilons)
    if not makers or not levels:
        raise SottovoceError("schemes and epsilons", "must be at least one of each", (list(makers), levels))
    context = Context(shares.ravel(), size, width, level)
    rows: list[dict[str, Any]] = []
    for name, make in makers.items():
        for epsilon in levels:
            channel = product_channel([make(epsilon).mechanism((categories,)).channel for categories in shares.shape])
            numbers = context.measure(channel, asked)
            rows.append({"scheme": name, "asked": float(epsilon), "epsilon": channel.epsilon, **numbers})
            if progress is not None:
                progress(len(rows), len(makers) * len(levels))
    return SchemeComparison(tuple(rows), tuple(shares.ravel().tolist()), size, tuple(asked), width, level, shares.shape)


def comparable_schemes() -> dict[str, Maker]:
    """Return the schemes of the literature that an epsilon or odds alone determine, by name.

    >>> "subset_selection" in comparable_schemes(), "kuk" in comparable_schemes()
    (True, False)
    """
    return {name: maker for name, found in all_schemes().items() if (maker := _maker_of(found)) is not None}


def product_channel(channels: Sequence[Channel]) -> Channel:
    """Return the channel of one attribute unchanged, or the product of two; raise if its matrix is too large."""
    if len(channels) == 1:
        return channels[0]
    product = Kronecker(channels)
    if product.n_in * product.n_out > MOST_ENTRIES:
        rule = f"must have matrices of at most {MOST_ENTRIES} entries for two attributes together"
        raise SottovoceError("schemes", rule, Words(f"{product.n_out} x {product.n_in}"))
    return product


def _checked_cells(prior: Any) -> Array:
    """Prior of one attribute, or of the joint cells of two; cells may be empty, categories may not."""
    given = real_array("prior", prior)
    if given.ndim != 2:
        return checked_prior(given)
    cells = as_prior(given.ravel(), given.size).reshape(given.shape)
    for axis in (0, 1):
        checked_prior(cells.sum(axis=axis))
    return cells


def _maker_of(scheme: Callable[..., Scheme]) -> Maker | None:
    parameters = dict(signature(scheme).parameters)
    epsilon, odds = parameters.pop("epsilon", None), parameters.pop("odds", None)
    if any(other.default is Parameter.empty for other in parameters.values()):
        return None
    if epsilon is not None:
        return lambda value: scheme(epsilon=value)
    return None if odds is None else lambda value: scheme(odds=odds_of_epsilon("epsilon", value))


def _makers(given: Mapping[str, Maker] | Iterable[str | Maker], prior: Array) -> dict[str, Maker]:
    pairs = given.items() if isinstance(given, Mapping) else ((_name(each), each) for each in given)
    known: dict[Any, Maker] = comparable_schemes()
    if prior.ndim == 1:
        known = {CERTIFIED: partial(_certified, prior), **known}
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


def _certified(prior: Array, epsilon: Any) -> Scheme:
    return design(prior, 1, epsilon=epsilon).scheme


def _shown(value: Any) -> str:
    return "" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)


def _name(each: Any) -> str:
    return str(each if isinstance(each, str) else getattr(each, "__name__", each))
