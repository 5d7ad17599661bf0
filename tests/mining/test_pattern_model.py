"""Long sets by a model: exact where nothing is hidden, counts by brute force, and fewer lost where much is."""

from itertools import combinations

import numpy as np
import pytest

from sottovoce.datasets.published import repeat_baskets
from sottovoce.datasets.quest import quest_transactions
from sottovoce.disguises.transactions import disguise_transactions
from sottovoce.errors import SottovoceError
from sottovoce.mining.itemsets.evaluation import mining_errors
from sottovoce.mining.itemsets.frequent import frequent_itemsets
from sottovoce.mining.itemsets.pattern_model import modelled_itemsets
from sottovoce.mining.rules import association_rules
from sottovoce.plans.plan import Plan
from sottovoce.schemas.item_set import ItemSet
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.cut_and_paste import CutAndPaste
from sottovoce.schemes.emask import Emask

ITEMS = ItemSet("basket", list("abcdefgh"))
SCHEMA = Schema([ITEMS])


def plan_of(p, q, items=ITEMS):
    return Plan.of(Schema([items]), {items.name: Emask(p=p, q=q)})


def baskets(count=4000, seed=1):
    """A fifth of the transactions hold a to f, each with probability .9; the others any item with probability .1."""
    rng = np.random.default_rng(seed)
    whole = rng.random(count) < 0.2
    likely = np.where(whole[:, None] & (np.arange(8) < 6), 0.9, 0.1)
    return [[ITEMS.items[i] for i in np.flatnonzero(row)] for row in rng.random((count, 8)) < likely]


def as_dict(found):
    return dict(zip(found.itemsets, found.estimate.tolist(), strict=True))


def test_what_nothing_hides_is_mined_exactly():
    data, certain = baskets(), plan_of(1, 1)
    found, expected = modelled_itemsets(data, certain, 0.1), frequent_itemsets(data, certain, 0.1, target="table")
    assert max(expected.length) >= 5
    assert found.itemsets == expected.itemsets
    np.testing.assert_allclose(found.estimate, expected.estimate)
    long, sampling = found.length > 3, np.sqrt(expected.estimate * (1 - expected.estimate) / len(data))
    assert found.standard_error[long] == pytest.approx(sampling[long], rel=0.25)
    assert found.target == "population"


@pytest.mark.slow
@pytest.mark.parametrize("p", [0.7, [0.6, 0.7, 0.8, 0.9, 0.7, 0.7, 0.7, 0.7]], ids=["one coin", "coins of their own"])
def test_long_sets_are_found_and_their_intervals_cover(p):
    """Frequent sets of four and more items of one table of 40,000, eight disguises: all but a few are found, and 95 %
    intervals hold most. Errors of a disguise are nearly one error, so that single ones say little.
    """
    data = baskets(40_000)
    plan = plan_of(p, 0.9 if isinstance(p, float) else [0.9] * 8)
    truth = as_dict(frequent_itemsets(data, plan_of(1, 1), 0.1, target="table"))
    long = {items for items in truth if len(items) > 3}
    assert len(long) == 22  # of a to f: fifteen sets of four, six of five and, with a support of .2 * .9^6, that of six
    lost, held = 0, []
    for seed in range(3, 11):
        found = modelled_itemsets(disguise_transactions(data, plan, rng=seed), plan, 0.1)
        lost += len(long - set(found.itemsets))
        low, high = found.interval(kind="posterior")
        held += [low[i] <= truth[s] <= high[i] for i, s in enumerate(found.itemsets) if s in long]
        assert ((found.probability >= 0) & (found.probability <= 1)).all()
    assert lost <= 2
    assert np.mean(held) >= 0.9


def test_sets_are_reported_with_all_of_their_subsets():
    plan = plan_of(0.6, 0.95)
    found = modelled_itemsets(disguise_transactions(baskets(), plan, rng=4), plan, 0.1)
    there = set(found.itemsets)
    assert max(found.length) >= 4
    assert all(part in there for items in there if len(items) > 4 for part in combinations(items, len(items) - 1))


def test_the_same_reports_give_the_same_result():
    plan = plan_of(0.6, 0.95)
    reports = disguise_transactions(baskets(), plan, rng=5)
    first, second = (modelled_itemsets(reports, plan, 0.1).to_json() for _ in range(2))
    assert first == second


def test_longest_and_progress():
    told = []
    plan = plan_of(0.8, 0.95)
    reports = disguise_transactions(baskets(), plan, rng=6)
    found = modelled_itemsets(reports, plan, 0.1, longest=4, progress=lambda *move: told.append(move))
    assert max(found.length) == 4
    assert (0, 1, 1) in told
    short = modelled_itemsets(reports, plan, 0.1, longest=3)
    assert as_dict(short) == as_dict(frequent_itemsets(reports, plan, 0.1, longest=3, target="table"))


@pytest.mark.filterwarnings("error", "ignore::sottovoce.mining.itemsets.frequent.ResolutionWarning")
@pytest.mark.parametrize("coin", [(1, 1), (0.9, 0.95)])
@pytest.mark.parametrize("rows", [["abcdef"], ["abcde", "abcdf", ""], ["abcd", "abcd", *8 * [""]]])
def test_a_handful_of_transactions(coin, rows):
    plan = plan_of(*coin)
    for seed in range(6):
        found = modelled_itemsets(disguise_transactions([list(row) for row in rows], plan, rng=seed), plan, 0.05)
        assert np.isfinite(found.estimate).all()


def test_what_cannot_be_modelled():
    cut = Plan.of(SCHEMA, {"basket": CutAndPaste(cutoff=2, rho=0.3)})
    with pytest.raises(SottovoceError, match=r"basket must be disguised item by item, for a model\. Got cut_and_paste"):
        modelled_itemsets({2: [["a", "b"]]}, cut, 0.1)


def test_rules_where_nothing_is_hidden():
    """Those of `frequent_itemsets`, of sampling alone; errors of long sets are learnt from a few refits."""
    data, certain = baskets(), plan_of(1, 1)
    found = association_rules(modelled_itemsets(data, certain, 0.1), 0.6)
    expected = association_rules(frequent_itemsets(data, certain, 0.1, target="population"), 0.6)
    place = {rule: row for row, rule in enumerate(zip(expected.antecedents, expected.consequents, strict=True))}
    order = [place[rule] for rule in zip(found.antecedents, found.consequents, strict=True)]
    assert len(found) == len(expected) > 200
    assert (np.diff(found.value("confidence")) <= 0).all()
    for measure in ("confidence", "lift", "leverage", "conviction"):
        np.testing.assert_allclose(found.estimate(measure), expected.estimate(measure)[order])
        ratio = found.standard_error(measure) / expected.standard_error(measure)[order]
        assert np.median(ratio) == pytest.approx(1, rel=0.25)


@pytest.mark.slow
@pytest.mark.parametrize(
    "p",
    [0.7, [0.6, 0.7, 0.8, 0.9, 0.7, 0.7, 0.7, 0.7]],
    ids=["one coin", "coins of their own"],
)
def test_intervals_of_rules_cover_and_are_shorter_than_by_inversion(p):
    """Rules of sets of four and five items among a to f, 16 samples of the population, each disguised: 95 % intervals
    hold most of what is true there, and are shorter than without a model. Of the six items together, to which the
    model gives too much here, they hold less: see docs/mining.md.
    """
    plan = plan_of(p, 0.9 if isinstance(p, float) else [0.9] * 8)
    held, ratios = {measure: [] for measure in ("confidence", "lift", "leverage", "conviction")}, []
    for seed in range(16):
        reports = disguise_transactions(baskets(20_000, seed), plan, rng=seed)
        ours = association_rules(modelled_itemsets(reports, plan, 0.1), 0.6)
        others = association_rules(frequent_itemsets(reports, plan, 0.1, target="population"), 0.6)
        rows, inverted = rows_by_rule(ours), rows_by_rule(others)
        for measure in held:
            true = np.array([truth(measure, *map(len, rule)) for rule in rows])
            low, high = (ends[[*rows.values()]] for ends in ours.interval(measure, kind="wald"))
            held[measure] += ((low <= true) & (true <= high)).tolist()
        both = [(rows[rule], inverted[rule]) for rule in rows if rule in inverted]
        errors = [found.standard_error("confidence") for found in (ours, others)]
        ratios += [errors[0][mine] / errors[1][theirs] for mine, theirs in both]
    assert len(ratios) > 4000
    assert np.mean(ratios) < 0.9
    assert min(np.mean(own) for own in held.values()) >= 0.9


def rows_by_rule(found):
    """Rows of rules that consist of four or five of the items a to f."""
    rules = enumerate(zip(found.antecedents, found.consequents, strict=True))
    return {rule: row for row, rule in rules if len(sum(rule, ())) in {4, 5} and {*sum(rule, ())} <= {*"abcdef"}}


def truth(measure, first, then):
    """A measure of a rule between so many of the items a to f, in the population that `baskets` draws from."""
    s, a, c = (0.2 * 0.9**length + 0.8 * 0.1**length for length in (first + then, first, then))
    return {
        "confidence": s / a,
        "lift": s / (a * c),
        "leverage": s - a * c,
        "conviction": a * (1 - c) / (a - s),
    }[measure]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sottovoce.mining.itemsets.frequent.ResolutionWarning")
def test_fewer_long_sets_are_wrong_and_few_are_false():
    """100,000 baskets, four disguises: of 388 sets of 4 to 6 items, against the bare threshold and the default."""
    items, once = quest_transactions(10_000, items=200, patterns=120, seed=3)
    certain, plan = plan_of(1, 1, items), plan_of(0.55, 0.97, items)
    truth = frequent_itemsets(once, certain, 0.012, target="table")
    lost, false = np.zeros(3), np.zeros(3)
    for seed in range(4):
        reports = disguise_transactions(repeat_baskets(once, 10), plan, rng=seed, kind="bitsets")
        bare, ours = (
            frequent_itemsets(reports, plan, 0.012, selection=way, target="table") for way in ("threshold", "smoothed")
        )
        for way, found in enumerate((bare, ours, modelled_itemsets(reports, plan, 0.012))):
            for errors in mining_errors(found, truth)[3:6]:
                lost[way] += errors.false_negatives * errors.frequent / 100
                false[way] += errors.false_positives * errors.frequent / 100
    wrong = lost + false
    assert wrong[2] < 0.95 * wrong[1] < 0.9 * wrong[0]
    assert false[2] < 0.1 * 4 * sum(list(truth.by_length.values())[3:6])
