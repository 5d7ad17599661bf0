"""Frequent itemsets from disguised data alone, with their standard errors: inputs, warnings and the search."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from numbers import Real
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from sottovoce import checks
from sottovoce.channels.cut_and_paste import CutAndPaste
from sottovoce.channels.keep_or_uniform import KeepOrUniform
from sottovoce.checks import Array, Target
from sottovoce.counts.protocol import Counter
from sottovoce.counts.transactions import (
    AskedTransactions,
    HeldTransactions,
    SparseTransactions,
    StreamedTransactions,
    Transactions,
)
from sottovoce.errors import SingularChannelError, SottovoceError, Words
from sottovoce.estimates.itemsets import contributions_by_size
from sottovoce.mechanisms.coins import Randomness
from sottovoce.mechanisms.flips import Flips
from sottovoce.mining.itemsets.categories import CategoryItems, estimate_categories, mine_categories
from sottovoce.mining.itemsets.halves import HalvesOptions, random_halves
from sottovoce.mining.itemsets.reconstruct import (
    CoinCovariances,
    Covariances,
    Reconstruction,
    by_item_count,
    coin_per_item,
    item_coins,
    shared_coin,
)
from sottovoce.mining.itemsets.result import Itemsets
from sottovoce.mining.itemsets.search import estimate_levels, mine_levels
from sottovoce.mining.itemsets.selection import LengthProgress, Level, Search, Selection, checked_selection
from sottovoce.mining.itemsets.tuning import DEFAULT_TUNING, Tuning
from sottovoce.plans.plan import Plan
from sottovoce.schemas.item_set import ItemSet
from sottovoce.tables.bitsets import Bitsets
from sottovoce.tables.plan_file import read_plan
from sottovoce.tables.source import is_table, open_source
from sottovoce.tables.sparse_rows import transactions_to_csr

MOST_NAMED = 3
"""Sets of attributes that a warning names."""


class ResolutionWarning(UserWarning):
    """The reports do not resolve what was asked: supports too small, sets too long, attributes not asked together."""


def frequent_itemsets(
    reports: Any,
    plan: Plan | None = None,
    min_support: float = 0.01,
    *,
    attributes: str | Sequence[str] | None = None,
    selection: Selection = "smoothed",
    longest: int | None = None,
    target: Target = "population",
    progress: LengthProgress | None = None,
    **halves: Unpack[HalvesOptions],
) -> Itemsets:
    """Find the sets of items that at least a share `min_support` of the transactions hold.

    The search goes level by level on supports reconstructed from all-ones counts (see `reconstruct`). `reports` are
    transactions of any kind that `disguise_transactions` takes or returns, a table or its path, or a counter; under
    cut_and_paste a mapping from sizes of transactions to the reports of each. A file that carries its plan needs no
    other. If the plan has no item sets, the items are attribute = value, of all attributes or of those named.

    `selection` decides which sets are reported:

    - "smoothed": sets that are probably frequent, and others while false ones are expected to be at most 8 % of the
      frequent ones of their length. The probability of a set follows from its own support and, if all items have the
      same coin, from those of its subsets (`smoothing`).
    - "threshold": sets whose estimate is at least `min_support`.
    - `Recall(.9)`: sets whose estimate is above `min_support - z se`, z the normal quantile of the recall, so that a
      frequent set passes its own test with at least that probability.

    Supports are those of the population that the respondents are a sample of, or, with `target="table"`, of the
    respondents themselves, where the coins are the only noise. With p = q = 1 the latter is exact mining.

    Shown supports are shrunken (`shrinkage`), and intervals are adjusted for having been picked out of all candidates
    that were estimated (`picked`). With `halves=True` a random half of the reports (`rng`) picks the sets, and the
    other half estimates them: intervals need no adjustment, and all numbers are from half of the reports.

    >>> from sottovoce.schemas.item_set import ItemSet
    >>> from sottovoce.schemas.schema import Schema
    >>> from sottovoce.schemes.emask import Emask
    >>> basket = ItemSet("basket", ["ale", "bread", "cheese"])
    >>> plan = Plan.of(Schema([basket]), {"basket": Emask(p=0.95, q=0.95)})
    >>> reports = [["ale", "bread"]] * 390 + [["ale"]] * 70 + [["bread"]] * 300 + [["cheese"]] * 240
    >>> print(frequent_itemsets(reports, plan, min_support=0.3, target="table"))
    1000 reports, min_support 0.3, supports in the table: 2 of length 1, 1 of length 2
      bread       0.7111  [0.6952, 0.7270]
      ale         0.4556  [0.4396, 0.4715]
      ale, bread  0.4136  [0.3959, 0.4312]
      Supports are shrunken estimates; raw=True shows the unbiased ones, too.
      Each interval is at 96.25 %, so that 95 % of a list of 3 picked out of 4 hold (false coverage rate).
    """
    agreed = agreed_plan(reports, plan)
    most = checked_longest(longest, DEFAULT_TUNING.longest)
    search = Search(checked_support(min_support), checked_selection(selection), checks.target(target), most, progress)
    split, rng = split_wanted(**halves)
    if not split:
        return mine_itemsets(reports, agreed, search, attributes)
    variable = item_set_among(agreed, attribute_names(agreed, attributes))
    first, second = random_halves(reports, variable, search.target, rng)
    return estimate_picks(second, agreed, mine_itemsets(first, agreed, search, attributes), search, attributes)


def mine_itemsets(reports: Any, plan: Plan, search: Search, attributes: str | Sequence[str] | None = None) -> Itemsets:
    """Find frequent itemsets as `frequent_itemsets` does, with the settings of a search."""
    names = attribute_names(plan, attributes)
    variable = item_set_among(plan, names)
    if variable is None:
        cells = CategoryItems(reports, plan, names, search.target)
        levels, labels, rows = mine_categories(cells, search), cells.labels, cells.counter.rows()
        covariances: Covariances | None = cells
        warn_not_asked_together(cells.not_asked_together)
    else:
        sources, how = sources_of(reports, plan, variable, search.tuning.longest)
        levels, labels = mine_levels(sources, how, search), variable.items
        warn_too_long(levels, how.longest, search.longest)
        rows = sum(source.rows() for source in sources)
        covariances = None if how.square is None else CoinCovariances(how.square, rows, search.target)
    if rows < 2:
        raise SottovoceError("reports", "must be at least 2 for a standard error", rows)
    warn_unresolved(search.min_support, levels, rows, search.tuning)
    return Itemsets(
        labels,
        tuple(levels),
        rows,
        search.min_support,
        search.target,
        covariances,
        search.tuning,
        dict(search.searched),
    )


def estimate_picks(
    reports: Any, plan: Plan, picks: Itemsets, search: Search, attributes: str | Sequence[str] | None = None
) -> Itemsets:
    """Estimate the sets that other reports picked."""
    names = attribute_names(plan, attributes)
    variable = item_set_among(plan, names)
    if variable is None:
        cells = CategoryItems(reports, plan, names, search.target)
        return picks.estimated_on(estimate_categories(cells, picks.levels), cells.counter.rows(), cells)
    sources, how = sources_of(reports, plan, variable, search.tuning.longest)
    levels, rows = estimate_levels(sources, how, search, picks.levels), sum(source.rows() for source in sources)
    covariances = None if how.square is None else CoinCovariances(how.square, rows, search.target)
    return picks.estimated_on(levels, rows, covariances)


def checked_support(value: Any) -> float:
    """Return a threshold of supports.

    >>> checked_support(1)
    1.0
    """
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) <= 1:
        raise SottovoceError("min_support", "must be above 0 and at most 1", value)
    return float(value)


def checked_longest(value: Any, most: int) -> int:
    """Return the most items of a set, at most `most`.

    >>> checked_longest(None, 30), checked_longest(4, 30), checked_longest(40, 30)
    (30, 4, 30)
    """
    return most if value is None else min(checks.whole_number("longest", value), most)


def agreed_plan(reports: Any, plan: Plan | None) -> Plan:
    """Return the plan given, or the one that a file carries."""
    if isinstance(plan, Plan):
        return plan
    if plan is None and isinstance(reports, str | Path):
        return read_plan(reports)
    given = Words("none" if plan is None else type(plan).__name__)
    raise SottovoceError("plan", "must be the one that the reports were disguised under", given)


def attribute_names(plan: Plan, attributes: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return the names of the attributes to mine: one, several, or all of the plan for None."""
    if attributes is None:
        return plan.schema.names
    return (attributes,) if isinstance(attributes, str) else tuple(attributes)


def item_set_among(plan: Plan, names: Sequence[str]) -> ItemSet | None:
    """Return the attribute that holds sets of items, or None if all named ones have categories."""
    sets = [variable for variable in map(plan.schema.__getitem__, names) if isinstance(variable, ItemSet)]
    if not sets:
        return None
    if len(names) > 1:
        listed = ", ".join(variable.name for variable in sets)
        rule = f"must be one attribute that holds sets of items ({listed}), or only attributes with categories"
        raise SottovoceError("attributes", rule, list(names))
    return sets[0]


def sources_of(
    reports: Any, plan: Plan, variable: ItemSet, longest: int = DEFAULT_TUNING.longest
) -> tuple[list[Transactions], Reconstruction]:
    """Return the transactions, by size where the channel needs it, and how their counts become supports."""
    if isinstance(plan.group_of(variable.name).mechanism, Flips):
        return [transactions_of(reports, plan, variable)], _coin_reconstruction(plan, variable, longest)
    channel = plan.channel([variable.name])
    if isinstance(channel, CutAndPaste):
        if not isinstance(reports, Mapping) or not all(isinstance(size, int) for size in reports):
            rule = "must be a mapping from sizes of transactions to the reports of each, under cut_and_paste"
            raise SottovoceError("reports", rule, Words(type(reports).__name__))
        sizes = list(reports)
        how = by_item_count(partial(contributions_by_size, channel, sizes), channel.cutoff)
        return [transactions_of(reports[size], plan, variable) for size in sizes], how
    source = transactions_of(reports, plan, variable)
    if isinstance(channel, KeepOrUniform) and len(channel.shape_in) > 1:
        if channel.keep == 0:
            raise _uninformative(variable.name)
        return [source], by_item_count(partial(_keep_or_uniform_scores, float(channel.keep)), longest)
    return [source], _coin_reconstruction(plan, variable, longest)


def transactions_of(reports: Any, plan: Plan, variable: ItemSet) -> Transactions:
    """Return transactions of a counter, bitsets, sparse rows, lists, a column or matrix of them, a table or a path."""
    if isinstance(reports, Bitsets):
        if reports.items != len(variable.items):
            raise SottovoceError("reports", f"must have {len(variable.items)} items, as the plan has", reports.items)
        return HeldTransactions(reports)
    if isinstance(reports, Counter):
        return AskedTransactions(reports, plan.report_schema.project([variable.name]))
    listed = isinstance(reports, list | tuple)
    if listed or (not is_table(reports) and (isinstance(reports, Iterable) or hasattr(reports, "tocsr"))):
        return SparseTransactions(transactions_to_csr(reports, variable), len(variable.items))
    return StreamedTransactions(open_source(reports), variable)


def _coin_reconstruction(plan: Plan, variable: ItemSet, longest: int) -> Reconstruction:
    coins = item_coins(plan, variable, ", by cut_and_paste or gamma_diagonal")
    silent = [item for item, coin in zip(variable.items, coins.bits, strict=True) if coin.one == coin.zero]
    if silent:
        raise _uninformative(f"{variable.name} ({', '.join(map(str, silent[:8]))})")
    ones, zeros = coins.ones, coins.zeros
    if (ones == ones[0]).all() and (zeros == zeros[0]).all():
        return shared_coin(float(ones[0]), float(zeros[0]), longest)
    return coin_per_item(ones, zeros, longest)


def _keep_or_uniform_scores(keep: float, length: int) -> Sequence[Array]:
    """Scores of reports under the gamma-diagonal matrix over all sets, by the number of a set's items in a report."""
    noise = (1 - keep) / 2.0**length
    scores = np.full(length + 1, -noise / keep)
    scores[-1] += 1 / keep
    return [scores]


def _uninformative(name: str) -> SingularChannelError:
    rule = (
        "cannot be mined: with p + q = 1 a report does not depend on whether an item is present; "
        "choose p + q above 1, the higher the more informative, such as p = .5 and q = .97"
    )
    return SingularChannelError(name, rule, Words("p + q = 1"))


def smallest_support(level: Level, rows: int, deviations: float = DEFAULT_TUNING.resolved_deviations) -> float:
    """Return the smallest support that can be resolved at a length: two standard errors, or one report.

    The standard error is the median over the lower half of the supports, near the threshold.

    >>> level = Level(np.arange(4)[:, None], np.array([0.1, 0.1, 0.2, 0.3]), np.array([0.01, 0.03, 0.04, 0.05]))
    >>> smallest_support(level, rows=1000)
    0.04
    """
    lower = level.support <= np.median(level.support)
    return float(max(deviations * np.median(level.standard_error[lower]), 1 / rows))


def warn_unresolved(min_support: float, levels: Sequence[Level], rows: int, tuning: Tuning = DEFAULT_TUNING) -> None:
    """Warn about the first length at which the threshold is below the smallest support that can be resolved."""
    for length, level in enumerate(levels, start=1):
        least = smallest_support(level, rows, tuning.resolved_deviations)
        if min_support < least:
            message = (
                f"min_support {min_support:g} is below what {rows} reports can resolve at length {length}: "
                f"there, supports under {least:.2g} cannot be distinguished from zero"
            )
            warnings.warn(message, ResolutionWarning, stacklevel=4)
            return


def warn_too_long(levels: Sequence[Level], most: int, wanted: int) -> None:
    """Warn if longer sets were wanted, and may exist, than the scheme lets anyone estimate."""
    if len(levels) == most < wanted and len(levels[-1].items) > most:
        message = f"these reports say nothing about sets of more than {most} items: longer ones are not searched for"
        warnings.warn(message, ResolutionWarning, stacklevel=4)


def warn_not_asked_together(sets: Sequence[Sequence[str]]) -> None:
    """Warn about attributes that may form frequent sets but that no respondent was asked together."""
    if sets:
        more = ["..."] if len(sets) > MOST_NAMED else []
        listed = "; ".join([*(", ".join(names) for names in sets[:MOST_NAMED]), *more])
        message = (
            "no respondent was asked these attributes together, so that their combinations need a model "
            f"(modelled_itemsets, --model): {listed}"
        )
        warnings.warn(message, ResolutionWarning, stacklevel=4)


def split_wanted(*, halves: bool = False, rng: Randomness = None) -> tuple[bool, Randomness]:
    """Return the options of a split, with their defaults."""
    if not isinstance(halves, bool):
        raise SottovoceError("halves", "must be True or False", halves)
    return halves, rng
