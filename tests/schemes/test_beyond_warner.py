"""Published facts about joint, private, sampled and set-valued designs, each with its source."""

from fractions import Fraction
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.channels.channel import Part
from sottovoce.channels.sampled import Sampled
from sottovoce.channels.set_valued import SetValued
from sottovoce.channels.subset_selection import SubsetSelection as SubsetChannel
from sottovoce.channels.unary import Unary
from sottovoce.disguises.tables import disguise_frame
from sottovoce.errors import SingularChannelError, SottovoceError
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Attribute, boolean
from sottovoce.schemas.item_set import ItemSet
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.attribute_sampling import AttributeSampling
from sottovoce.schemes.gamma_diagonal import GammaDiagonal
from sottovoce.schemes.randomized_gamma_diagonal import RandomizedGammaDiagonal
from sottovoce.schemes.randomized_response import RandomizedResponse
from sottovoce.schemes.related_question import RelatedQuestion
from sottovoce.schemes.subset_selection import SubsetSelection, best_size


def chain(gamma: Fraction, sizes: tuple[int, ...], truth: tuple[int, ...]) -> dict[tuple[int, ...], Fraction]:
    """Agrawal (2004), eq. 4.26: attribute by attribute, given whether all before it were kept."""
    cells = prod(sizes)
    x = 1 / (gamma + cells - 1)
    distribution = {(): Fraction(1)}
    kept = Fraction(1)
    for column, size in enumerate(sizes):
        left = prod(sizes[column + 1 :])
        keep = (gamma - 1 + left) * x / kept
        grown = {}
        for prefix, mass in distribution.items():
            matches = prefix == truth[:column]
            for code in range(size):
                same, other = (keep, (1 - keep) / (size - 1)) if matches else (Fraction(1, size),) * 2
                grown[*prefix, code] = mass * (same if code == truth[column] else other)
        distribution, kept = grown, kept * keep
    return distribution


@pytest.mark.parametrize(("sizes", "truth"), [((2, 3), (1, 2)), ((3, 2, 2), (0, 1, 1)), ((4,), (2,))])
def test_joint_records_have_the_distribution_of_the_thesis(sizes, truth):
    """One coin modulo the cells is O(attributes), and has the same distribution as eq. 4.26."""
    channel = GammaDiagonal(gamma=19).mechanism(sizes).channel
    number = int(np.ravel_multi_index(truth, sizes))
    for report, mass in chain(Fraction(19), sizes, truth).items():
        assert channel.entry(int(np.ravel_multi_index(report, sizes)), number) == mass


def test_private_parameters_average_out():
    """Enumerate both coins of a small RAN-GD mechanism: the distribution is exactly DET-GD's."""
    from sottovoce.mechanisms.private_diagonal import PrivateDiagonal

    mechanism = PrivateDiagonal((3,), truth=8, other=3, spread=2)
    sides = [coin.sides for coin in mechanism.coins]
    flips = tuple(np.array(c, np.uint64) for c in np.indices(sides).reshape(2, -1))
    for truth in range(3):
        (reports,) = mechanism.respond((np.full(len(flips[0]), truth),), flips)
        counts = np.bincount(reports, minlength=3)
        assert [Fraction(int(c), prod(sides)) for c in counts] == [mechanism.channel.entry(y, truth) for y in range(3)]


def test_posterior_range_of_ran_gd():
    """Agrawal (2004), 4.5: at P(Q) = 5 %, gamma = 19, alpha = gamma x / 2 beliefs range from 33 % to 60 %."""
    mechanism = RandomizedGammaDiagonal(gamma=19).mechanism((2000,))
    prior, others = Fraction(1, 20), 1999
    beliefs = []
    for r in (-mechanism.spread, mechanism.spread):
        truth, other = mechanism.truth + others * r, mechanism.other - r
        beliefs.append(float(prior * truth / (prior * truth + (1 - prior) * other)))
    assert beliefs == pytest.approx([0.33, 0.60], abs=0.005)
    assert float(mechanism.leaked_odds) == pytest.approx(28.6, abs=0.05)
    assert RandomizedGammaDiagonal(gamma=2, alpha=1).mechanism((3,)).leaked_odds is None


def test_related_questions_over_two_attributes_are_not_deniable():
    assert RelatedQuestion(theta=0.51).mechanism((2, 2)).channel.odds is None
    with pytest.raises(SottovoceError, match=r"^shape_in must be that of yes/no attributes"):
        RelatedQuestion(theta=0.6).mechanism((3,))


def test_sets_of_one_are_randomized_response():
    """At w = 1 subset selection is k-ary randomized response, with single categories as sets."""
    subset = SubsetSelection(odds=3, size=1).mechanism((4,)).channel
    plain = RandomizedResponse(odds=3).mechanism((4,)).channel
    for truth in range(4):
        singles = [subset.entry(1 << (3 - report), truth) for report in range(4)]
        assert singles == [plain.entry(report, truth) for report in range(4)]


@given(st.integers(2, 40), st.fractions(Fraction(11, 10), 20, max_denominator=50))
def test_the_best_size_is_the_best_of_all(cells, odds):
    def information(w: int) -> Fraction:
        channel = SubsetChannel((cells,), w, w * odds / (w * odds + cells - w))
        return (channel.inside - channel.outside) ** 2 / (w * (cells - w))

    assert information(best_size(cells, odds)) == max(information(w) for w in range(1, cells))


@pytest.mark.parametrize(
    "channel",
    [Unary(3, Fraction(1, 2), Fraction(1, 4)), SubsetChannel((5,), 2, Fraction(3, 5))],
    ids=["unary", "subset"],
)
def test_shares_of_categories_are_enough(channel: SetValued):
    """`outside + (inside - outside) p_j` of the reports contain category j: no list of sets is needed."""
    truths = np.arange(1, channel.n_in + 1) / sum(range(channel.n_in + 1))
    shares = float(channel.outside) + float(channel.inside - channel.outside) * truths
    np.testing.assert_allclose(channel.solve_inclusions(shares), truths)
    np.testing.assert_allclose(channel.solve_inclusions(500 * shares, 500), 500 * truths)


def test_uninformative_sets_cannot_be_estimated_from():
    with pytest.raises(SingularChannelError, match=r"^the truth's share must differ"):
        Unary(3, Fraction(1, 3), Fraction(1, 3)).solve_inclusions([0.3, 0.3, 0.4])


def test_too_many_categories_to_list_all_sets():
    channel = SubsetChannel((100,), 25, Fraction(1, 2))
    with pytest.raises(SottovoceError, match=r"^channel must have few enough categories to list all sets"):
        channel.matvec(np.full(100, 0.01))
    assert channel.odds == 3


def test_sets_of_joint_cells():
    schema = Schema([boolean("a"), Attribute("b", ["x", "y", "z"])])
    plan = Plan.of(schema, {("a", "b"): SubsetSelection(odds=3, size=2)})
    assert plan.report_schema["a+b"].items[:2] == ("False & x", "False & y")
    reports = disguise_frame({"a": [True, False], "b": ["x", "z"]}, plan)
    assert [len(report) for report in reports["a+b"]] == [2, 2]
    with pytest.raises(SottovoceError, match=r"^axes must keep all attributes"):
        plan.channel(["a"])


def test_reports_of_sampled_attributes_show_which_were_asked():
    schema = Schema([boolean("a"), Attribute("b", ["x", "not asked"]), Attribute("c", [1, 2])])
    plan = Plan.of(schema, {schema.names: AttributeSampling(odds=3, size=1)})
    assert plan.report_schema["b"].categories == ("x", "not asked", "not asked*")
    reports = disguise_frame({"a": [True] * 50, "b": ["x"] * 50, "c": [2] * 50}, plan, rng=1)
    blank = {"a": "not asked", "b": "not asked*", "c": "not asked"}
    asked = [[reports[name][row] != blank[name] for name in schema.names] for row in range(50)]
    assert all(sum(row) == 1 for row in asked)
    assert plan.guarantee.odds == 3


def test_sampled_attributes_are_estimated_from_those_who_were_asked():
    """Two thirds of the reports of one attribute are "not asked", and one third are answers at odds 3."""
    channel = AttributeSampling(odds=3, size=1).mechanism((2, 2, 2)).channel.marginal([1])
    truths = np.array([0.3, 0.7])
    reports = channel.matvec(truths)
    np.testing.assert_allclose(reports, [(0.25 + 0.5 * 0.3) / 3, (0.25 + 0.5 * 0.7) / 3, 2 / 3])
    np.testing.assert_allclose(channel.solve(reports), truths)


def test_an_attribute_that_is_never_asked_has_no_worst_case():
    channel = AttributeSampling(odds=3, subsets=[[0]]).mechanism((2, 3)).channel.marginal([1])
    assert (channel.odds, channel.worst_case()) == (1, (3, 0, 0))


def test_attributes_never_asked_together_cannot_be_estimated_jointly():
    channel = AttributeSampling(odds=3, size=1).mechanism((2, 2)).channel
    with pytest.raises(SingularChannelError, match=r"^channel must tell every truth from every other"):
        channel.solve(np.ones(9))


@pytest.mark.parametrize("subsets", [[["age", "sex"]], ["age", "sex"], [0, 1], 2])
def test_subsets_given_by_name_say_what_is_wanted(subsets):
    rule = (
        r"^subsets must be lists of positions of attributes in the group, counted from 0, such as \[\[0, 2\], \[1\]\]\."
    )
    with pytest.raises(SottovoceError, match=rule):
        AttributeSampling(odds=3, subsets=subsets)
    assert AttributeSampling(odds=3, subsets=np.array([[1, 0]])).subsets == ((0, 1),)


@pytest.mark.parametrize(
    ("build", "parameter"),
    [
        (lambda: AttributeSampling(odds=3, size=3).mechanism((2, 2)), "size"),
        (lambda: AttributeSampling(odds=3, subsets=[[5]]).mechanism((2, 2)), "subsets"),
        (lambda: Sampled((2, 2), []), "parts"),
        (lambda: Sampled((2, 2), [Part((0,), GammaDiagonal(3).mechanism((3,)).channel)]), "parts"),
        (lambda: SubsetSelection(odds=3).mechanism((1,)), "sizes"),
        (lambda: SubsetSelection(odds=3, size=5).mechanism((5,)), "size"),
        (lambda: Unary(1, 0.5, 0.25), "categories"),
        (lambda: _schema_of(AttributeSampling(odds=3), ItemSet("s", ["x", "y"])), "s"),
    ],
)
def test_designs_that_do_not_fit(build, parameter):
    with pytest.raises(SottovoceError, match=rf"^{parameter} must .*\. Got .* instead\.$"):
        build()


def _schema_of(scheme, variable):
    return Plan.of(Schema([variable]), {variable.name: scheme}).report_schema
