"""Frequent itemsets from disguised data alone, with their uncertainty."""

from collections.abc import Sequence
from statistics import NormalDist
from typing import Any, get_args

from sottovoce.errors import SottovoceError
from sottovoce.estimate.enough import check_number
from sottovoce.estimate.spread import Target
from sottovoce.mine.categories import Cells, mine_cells
from sottovoce.mine.checked import checked_longest, checked_recall, checked_support
from sottovoce.mine.covariances import CoinCovariances, Covariances
from sottovoce.mine.itemsets import Itemsets
from sottovoce.mine.levels import mine_levels
from sottovoce.mine.resolution import warn_below, warn_of_length, warn_of_unasked
from sottovoce.mine.sources import LONGEST, agreed_plan, items_among, names_of, sources_of
from sottovoce.mine.survival import FALSE_POSITIVES, GROWING, Progress, Search
from sottovoce.plan.plan import Plan


def frequent_itemsets(
    reports: Any,
    plan: Plan | None = None,
    min_support: float = 0.01,
    *,
    attributes: str | Sequence[str] | None = None,
    recall: float | None = None,
    longest: int | None = None,
    target: Target = "table",
    progress: Progress | None = None,
) -> Itemsets:
    """Find the sets of items that at least `min_support` of the transactions hold, from reports under a plan.

    Level by level, on supports reconstructed from all-ones counts (see `mine.reconstruction`). `reports` are
    transactions of any kind that `disguise_transactions` takes or gives, a table or its path, or a counter; under
    cut_and_paste a mapping from sizes of transactions to the reports of each. A file that carries its plan needs no
    other. Of a plan without sets of items the items are attribute = value; name some `attributes` for less
    than all.

    By default sets survive that are likelier frequent than not, and the surest of the others while false ones are
    expected to be at most 8 % of the frequent ones of their length. How sure it is that a set is frequent is judged by
    its own support and, where all items have the same coin, by those of its subsets, too (`mine.smoothing`). This
    decides what is reported; supports and standard errors stay those of a set alone, unbiased. With a `recall` a
    set survives where its own estimate is above `min_support - z se` instead, z being the normal quantile of `recall`:
    a frequent set passes its own test with at least that probability, and .5 is the bare threshold. Supports are
    those of this table, which only coins hide, or of the population it is a sample of (`target`). With p = q = 1 this
    is exact mining.

    >>> from sottovoce.schema.item_set import ItemSet
    >>> from sottovoce.schema.schema import Schema
    >>> from sottovoce.scheme.emask import Emask
    >>> basket = ItemSet("basket", ["ale", "bread", "cheese"])
    >>> plan = Plan.of(Schema([basket]), {"basket": Emask(p=0.95, q=0.95)})
    >>> reports = [["ale", "bread"]] * 450 + [["bread"]] * 300 + [["cheese"]] * 250
    >>> print(frequent_itemsets(reports, plan, min_support=0.3))
    1000 reports, min_support 0.3, supports in the table: 2 of length 1, 1 of length 2
      ale           0.4444 +- 0.0077  [ 0.4291,  0.4592]
      bread         0.7778 +- 0.0077  [ 0.7626,  0.7926]
      ale, bread    0.4846 +- 0.0087  [ 0.4672,  0.5012]
      Picked supports are too high on the average; intervals are corrected, supports are not.
    """
    agreed = agreed_plan(reports, plan)
    deviations, mistaken = (GROWING, FALSE_POSITIVES) if recall is None else (_deviations(recall), None)
    most = checked_longest(longest, LONGEST)
    search = Search(checked_support(min_support), deviations, _checked(target), most, progress, mistaken)
    names = names_of(agreed, attributes)
    variable = items_among(agreed, names)
    if variable is None:
        cells = Cells(reports, agreed, names, search.target)
        levels, labels, rows = mine_cells(cells, search), cells.labels, cells.counter.rows()
        covariances: Covariances | None = cells
        warn_of_unasked(cells.unasked)
    else:
        sources, how = sources_of(reports, agreed, variable)
        levels, labels = mine_levels(sources, how, search), variable.items
        warn_of_length(levels, how.longest, search.longest)
        rows = sum(source.rows() for source in sources)
        covariances = None if how.square is None else CoinCovariances(how.square, rows, search.target)
    check_number(rows)
    warn_below(search.min_support, levels, rows)
    return Itemsets(labels, tuple(levels), rows, search.min_support, search.target, covariances)


def _deviations(recall: float) -> float:
    return NormalDist().inv_cdf(checked_recall(recall))


def _checked(target: Target) -> Target:
    if target not in get_args(Target):
        raise SottovoceError("target", f"must be one of {', '.join(get_args(Target))}", target)
    return target
