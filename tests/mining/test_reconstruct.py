"""Sums of all-ones counts, one length from the other: the estimates and variances that 2^n subsets give."""

from fractions import Fraction

import numpy as np
import pytest

from sottovoce.counts.counter import as_counter
from sottovoce.disguises.transactions import disguise_transactions
from sottovoce.errors import SingularChannelError, SottovoceError
from sottovoce.estimates.itemsets import estimate_supports, estimate_supports_by_size
from sottovoce.mechanisms.flips import BitCoin, Flips
from sottovoce.mining.itemsets.frequent import sources_of
from sottovoce.mining.itemsets.reconstruct import shared_coin
from sottovoce.mining.itemsets.selection import Candidates
from sottovoce.plans.plan import Group, Plan
from sottovoce.schemas.item_set import ItemSet
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.cut_and_paste import CutAndPaste
from sottovoce.schemes.emask import Emask
from sottovoce.schemes.gamma_diagonal import GammaDiagonal
from sottovoce.schemes.mask import Mask
from sottovoce.schemes.matrix import Matrix
from sottovoce.schemes.randomized_gamma_diagonal import RandomizedGammaDiagonal
from sottovoce.schemes.related_question import RelatedQuestion
from sottovoce.tables.bitsets import Bitsets

ITEMS = ("ale", "bread", "cheese", "dates", "eggs")
BASKET = ItemSet("basket", ITEMS)
REPORTS = np.random.default_rng(1).random((300, 5)) < [0.5, 0.4, 0.6, 0.3, 0.5]
SCHEMES = {
    "mask": Mask(p=0.9),
    "emask": Emask(p=0.5051, q=0.9696),
    "certain": Emask(p=1, q=1),
    "a coin for each item": Emask(p=[0.9, 0.5, 0.7, 0.3, 0.6], q=[0.9, 0.95, 0.8, 0.4, 0.7]),
    "gamma-diagonal": GammaDiagonal(gamma=19),
    "private matrices": RandomizedGammaDiagonal(gamma=19),
}


def plan_of(scheme) -> Plan:
    return Plan.of(Schema([BASKET]), {"basket": scheme})


def all_levels(reports, plan):
    """Items, sum of f and of its square for every set, as the miner computes them."""
    sources, how = sources_of(reports, plan, BASKET)
    counts = np.stack([source.singles() for source in sources])
    rows = np.array([source.rows() for source in sources])
    family, sums = Candidates.single_items(5), how.single_item_sums(counts, rows)
    found = []
    while len(family) and family.length <= how.longest:
        found += zip(family.items.tolist(), *(m / rows.sum() for m in how.moments(sums)), strict=True)
        longer = Candidates.concatenate(list(family.extend()), family.length + 1)
        narrowed = [source.narrowed(np.arange(5)) for source in sources]
        if len(longer):
            sums = how.extend_sums(sums, longer, np.stack([each.all_ones(longer.items) for each in narrowed]))
        family = longer
    return found


@pytest.mark.parametrize("name", SCHEMES)
def test_every_set_of_five_items(name):
    """Against `estimate_supports`, which multiplies out all subsets and is tested on the whole product itself."""
    plan = plan_of(SCHEMES[name])
    found = all_levels(REPORTS, plan)
    assert len(found) == 2**5 - 1
    labels = [[ITEMS[item] for item in items] for items, _, _ in found]
    first, second = np.array([moments for _, *moments in found]).T
    for target, own in (("table", first), ("population", first**2)):
        expected = estimate_supports(Bitsets.from_matrix(REPORTS), plan, labels, target=target)
        np.testing.assert_allclose(first, expected.value, atol=1e-9)
        np.testing.assert_allclose((second - own) / 300, expected.covariances.variances, rtol=1e-6, atol=1e-9)


def test_cut_and_paste_by_size():
    """Two sizes, lengths up to the cutoff; the reports of a size are counted apart."""
    plan = plan_of(CutAndPaste(2, 0.3))
    parts = {2: REPORTS[:120], 4: REPORTS[120:]}
    found = all_levels(parts, plan)
    assert max(len(items) for items, _, _ in found) == 2
    bits = {size: Bitsets.from_matrix(part) for size, part in parts.items()}
    labels = [[ITEMS[item] for item in items] for items, _, _ in found]
    expected = estimate_supports_by_size(bits, plan, labels)
    first, second = np.array([moments for _, *moments in found]).T
    np.testing.assert_allclose(first, expected.value, atol=1e-9)
    np.testing.assert_allclose((second - first**2) / 300, expected.covariances.variances, atol=1e-9)


def test_sums_are_whole_numbers():
    """S_j of a set is the sum of the counts of its subsets of j items, to the last one."""
    how = shared_coin(0.5, 0.9, longest=5)
    sums = how.single_item_sums(REPORTS.sum(axis=0)[None], np.array([300]))
    pairs = Candidates.concatenate(list(Candidates.single_items(5).extend()), 2)
    both = np.array([[REPORTS[:, items].all(axis=1).sum() for items in pairs.items]])
    grown = how.extend_sums(sums, pairs, both)
    assert grown.dtype.kind == "i"
    assert grown[0, 0].tolist() == [300, REPORTS[:, 0].sum() + REPORTS[:, 1].sum(), both[0, 0]]


def test_weights_of_the_thesis():
    """`(-(1-q))^(n-j) / (p+q-1)^n` (Agrawal 2004, 3.3.4), in fractions."""
    p, q, n = Fraction(1, 2), Fraction(97, 100), 4
    expected = [float((-(1 - q)) ** (n - j) / (p + q - 1) ** n) for j in range(n + 1)]
    np.testing.assert_allclose(shared_coin(0.5, 0.97, 9).weights(n)[0, 0], expected)


def test_coins_that_say_nothing():
    """Schemes refuse them, but a plan from elsewhere may have them."""
    fair = Group(("basket",), "mask", Flips((2,) * 5, [BitCoin(one=1, zero=1, sides=2)]))
    with pytest.raises(SingularChannelError, match=r"basket \(ale, bread.*p \+ q = 1.*choose p \+ q above 1"):
        sources_of(REPORTS, Plan(Schema([BASKET]), (fair,), fair.guarantee), BASKET)
    with pytest.raises(SingularChannelError, match=r"^basket cannot be mined"):
        sources_of(REPORTS, plan_of(GammaDiagonal(gamma=1)), BASKET)


def test_channels_that_are_not_item_by_item():
    with pytest.raises(SottovoceError, match=r"basket must be disguised item by item.*Got related_question"):
        sources_of(REPORTS, plan_of(RelatedQuestion(theta=0.7)), BASKET)


def test_one_item_alone():
    single = ItemSet("basket", ["ale"])
    plan = Plan.of(Schema([single]), {"basket": Matrix([[0.9, 0.2], [0.1, 0.8]])})
    (source,), how = sources_of(REPORTS[:, :1], plan, single)
    sums = how.single_item_sums(source.singles()[None], np.array([300]))
    expected = estimate_supports(Bitsets.from_matrix(REPORTS[:, :1]), plan, [["ale"]])
    assert how.moments(sums)[0][0] / 300 == pytest.approx(expected.value[0])


@pytest.mark.parametrize("reports", [REPORTS, {"basket": [["ale"]]}])
def test_sizes_are_needed_for_cut_and_paste(reports):
    with pytest.raises(SottovoceError, match=r"^reports must be a mapping from sizes"):
        sources_of(reports, plan_of(CutAndPaste(2, 0.3)), BASKET)


def test_bitsets_of_other_items():
    with pytest.raises(SottovoceError, match=r"^reports must have 5 items, as the plan has\. Got 2"):
        sources_of(Bitsets.from_matrix(REPORTS[:, :2]), plan_of(Mask(p=0.9)), BASKET)


def test_reports_of_every_kind_are_counted_alike():
    plan = plan_of(Mask(p=0.9))
    lists = [[ITEMS[i] for i in np.flatnonzero(row)] for row in REPORTS]
    csr = disguise_transactions(REPORTS, plan_of(Emask(p=1, q=1)), kind="csr")
    bits = Bitsets.from_matrix(REPORTS)
    for reports in (lists, csr, bits, {"basket": lists}, as_counter(bits)):
        (source,), _ = sources_of(reports, plan, BASKET)
        assert source.singles().tolist() == REPORTS.sum(axis=0).tolist()
        assert source.rows() == 300
