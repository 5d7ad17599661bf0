"""Published formulas of the survey designs and of the Laplace mechanism, against our channels."""

from fractions import Fraction
from math import exp, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, laplace

from sottovoce.disguises.tables import disguise_frame
from sottovoce.errors import SingularChannelError, SottovoceError
from sottovoce.estimates.proportions import estimate_proportions
from sottovoce.exact import odds_of_epsilon
from sottovoce.mechanisms.rounding import LARGEST_LOSS, loss
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Attribute
from sottovoce.schemas.schema import Schema
from sottovoce.schemes.crosswise import Crosswise
from sottovoce.schemes.forced_response import ForcedResponse
from sottovoce.schemes.kuk import Kuk
from sottovoce.schemes.laplace import Laplace, laplace_rows
from sottovoce.schemes.mangat import Mangat
from sottovoce.schemes.randomized_response import RandomizedResponse
from sottovoce.schemes.triangular import Triangular
from sottovoce.schemes.warner import Warner

TRAIT = Schema([Attribute("trait", ["no", "yes"])])
SHARES = st.fractions(Fraction(1, 100), Fraction(99, 100), max_denominator=1000)


def estimate(scheme, counts: dict):
    """Estimate from so many reports of each kind."""
    reports = [label for label, count in counts.items() for _ in range(count)]
    return estimate_proportions({"trait": reports}, Plan.of(TRAIT, {"trait": scheme}), "trait")


def variance(scheme, bearers: float) -> float:
    """Variance of the estimated share of bearers, for one respondent, by inversion of the channel."""
    channel = scheme.mechanism((2,)).channel
    reports = channel.matvec([1 - bearers, bearers])
    return channel.solve(channel.solve(np.diag(reports) - np.outer(reports, reports)).T)[1, 1]


def test_forced_response_by_hand():
    """Fox & Tracy (1986): pi = (lam - yes) / truth, variance lam (1 - lam) / (n truth^2); two dice, pi = .2."""
    found = estimate(ForcedResponse(truth="3/4", yes="1/6"), {"no": 410, "yes": 190})  # 600 (.75 x .2 + 1/6) = 190
    np.testing.assert_allclose(found.value[1], 0.2)
    np.testing.assert_allclose(found.standard_error[1], sqrt(190 * 410 / 600**3) / 0.75)


@pytest.mark.parametrize(("pi", "q"), [(0.1, 0.25), (0.4, 0.7), (0.02, 0.158)])
def test_variance_of_the_crosswise_model(pi, q):
    """Yu, Tian & Tang (2008): pi (1 - pi) / n + q (1 - q) / (n (2 q - 1)^2), which is Warner's."""
    published = pi * (1 - pi) + q * (1 - q) / (2 * q - 1) ** 2
    np.testing.assert_allclose(variance(Crosswise(q=q), pi), published)
    np.testing.assert_allclose(variance(Warner(p=q), pi), published)


def test_crosswise_by_hand():
    """P(same) = .2 x .25 + .8 x .75 = .65."""
    found = estimate(Crosswise(q=0.25), {"same": 65, "different": 35})
    np.testing.assert_allclose(found.value, [0.8, 0.2])


@pytest.mark.parametrize(("pi", "q"), [(0.1, 0.25), (0.4, 0.7), (0.02, 0.158)])
def test_variance_of_the_triangular_model(pi, q):
    """Yu, Tian & Tang (2008): pi (1 - pi) / n + (1 - pi) q / (n (1 - q))."""
    np.testing.assert_allclose(variance(Triangular(q=q), pi), pi * (1 - pi) + (1 - pi) * q / (1 - q))


def test_triangular_by_hand():
    """P(both no) = .8 x .75 = .6."""
    found = estimate(Triangular(q=0.25), {"both no": 60, "otherwise": 40})
    np.testing.assert_allclose(found.value, [0.8, 0.2])


@pytest.mark.parametrize(("pi", "p"), [(0.1, 0.75), (0.4, 0.4), (0.02, 0.9)])
def test_variance_of_mangats_design(pi, p):
    """Mangat (1994): pi (1 - pi) / n + (1 - pi) (1 - p) / (n p), below Warner's for every p above 1/3."""
    published = pi * (1 - pi) + (1 - pi) * (1 - p) / p
    np.testing.assert_allclose(variance(Mangat(p=p), pi), published)
    assert published < variance(Warner(p=p), pi)


@pytest.mark.parametrize("cards", [1, 2, 5])
def test_kuks_cards_are_binomial(cards):
    channel = Kuk(yes=0.8, no=0.3, cards=cards).mechanism((2,)).channel
    for truth, share in enumerate((0.3, 0.8)):
        np.testing.assert_allclose(channel.column(truth), binom.pmf(range(cards + 1), cards, share), atol=1e-9)


@pytest.mark.parametrize("cards", [1, 2, 5])
def test_variance_of_kuks_estimator(cards):
    """Kuk (1990): from the mean share of red cards, lam (1 - lam) / (n k d^2) + (1 - 1/k) pi (1 - pi) / n."""
    pi, yes, no = 0.15, 0.8, 0.3
    reports = Kuk(yes=yes, no=no, cards=cards).mechanism((2,)).channel.matvec([1 - pi, pi])
    red = np.arange(cards + 1) / cards
    lam, gap = pi * yes + (1 - pi) * no, yes - no
    np.testing.assert_allclose(reports @ red, lam)
    published = lam * (1 - lam) / (cards * gap**2) + (1 - 1 / cards) * pi * (1 - pi)
    np.testing.assert_allclose((reports @ red**2 - lam**2) / gap**2, published)


def test_kuk_by_hand():
    """Two cards at shares .8 and .2, pi = .25: P(0) = .75 x .64 + .25 x .04 = .49, P(1) = .32, P(2) = .19."""
    found = estimate(Kuk(yes=0.8, no=0.2, cards=2), {0: 49, 1: 32, 2: 19})
    np.testing.assert_allclose(found.value, [0.75, 0.25])


@given(*[st.fractions(Fraction(1, 10), Fraction(9, 10), max_denominator=1000)] * 2, st.integers(1, 4))
def test_odds_of_kuks_cards(yes, no, cards):
    one = max(yes / no, no / yes, (1 - no) / (1 - yes), (1 - yes) / (1 - no))
    odds = Kuk(yes=yes, no=no, cards=cards).mechanism((2,)).channel.odds
    assert odds <= one**cards
    assert loss(one**cards, odds) < LARGEST_LOSS


@given(SHARES, SHARES)
def test_odds_of_forced_response(truth, part):
    """1 + truth / min(yes, no): exact, since the integers are small."""
    scheme = ForcedResponse(truth=truth, yes=part * (1 - truth))
    assert scheme.mechanism((2,)).channel.odds == 1 + truth / min(scheme.yes, scheme.no)


def test_designs_that_are_not_deniable_have_no_odds():
    for scheme in (Triangular(q=0.3), Mangat(p=0.7), ForcedResponse(truth=0.5, yes=0), Kuk(yes=1, no=0.5, cards=9)):
        assert Plan.of(TRAIT, {"trait": scheme}).guarantee.odds is None


def test_only_a_no_is_proven():
    """Mangat's yes multiplies the odds of a yes by 1 / (1 - p), and so does the triangular "otherwise"."""
    mangat, triangular = Mangat(p=0.75).mechanism((2,)).channel, Triangular(q=0.25).mechanism((2,)).channel
    assert mangat == triangular
    assert (mangat.entry(0, 1), mangat.entry(1, 1) / mangat.entry(1, 0)) == (0, 4)


@pytest.mark.parametrize(
    ("scheme", "labels"),
    [
        (ForcedResponse(truth=0.5, yes=0.25), ["no", "yes"]),
        (Crosswise(q=0.25), ["different", "same"]),
        (Triangular(q=0.25), ["both no", "otherwise"]),
        (Mangat(p=0.5), ["no", "yes"]),
        (Kuk(yes=0.75, no=0.25, cards=2), [0, 1, 2]),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_reports_have_the_names_of_the_design(scheme, labels):
    """The rarest report, Mangat's no, comes with probability 1/4: 200 people never give it once in 10^24."""
    reports = disguise_frame({"trait": ["no", "yes"] * 100}, Plan.of(TRAIT, {"trait": scheme}), rng=5)
    assert sorted(set(reports["trait"])) == labels


def test_a_fair_harmless_question_is_uninformative():
    with pytest.raises(SingularChannelError, match="must tell every truth from every other"):
        estimate(Crosswise(q=0.5), {"same": 1, "different": 1})


@pytest.mark.parametrize("sizes", [(3,), (2, 2), (1,)])
@pytest.mark.parametrize(
    "scheme",
    [ForcedResponse(0.5, 0.25), Crosswise(0.25), Triangular(0.25), Mangat(0.5), Kuk(0.8, 0.2)],
    ids=lambda scheme: scheme.name,
)
def test_yes_no_designs_refuse_other_sizes(scheme, sizes):
    with pytest.raises(SottovoceError, match=r"^sizes must be those of one yes/no attribute, \(2,\)\. Got"):
        scheme.mechanism(sizes)


def test_more_cards_than_integers_can_hold_are_refused():
    """.2^30 is 1e-21, less than one side of 2^64."""
    with pytest.raises(SottovoceError, match=r"^cards must be fewer.*Got 30 instead"):
        Kuk(yes=0.8, no=0.2, cards=30).mechanism((2,))


@pytest.mark.parametrize(("epsilon", "t"), [(0.01, 4), (0.5, 2), (1, 5), (3, 10), (5, 2), (7, 3), (15, 10), (30, 6)])
def test_laplace_against_scipy(epsilon, t):
    """Wang et al. (2016), eq. 11 (t = 2) and 21: noise of scale (t - 1) / epsilon, rounded, cut to 1 ... t."""
    truths = np.arange(1, t + 1)
    cuts = np.concatenate([[-np.inf], truths[:-1] + 0.5, [np.inf]])
    expected = np.diff(laplace.cdf(cuts[:, None], loc=truths, scale=(t - 1) / epsilon), axis=0)
    rows = np.array(laplace_rows(Fraction(str(epsilon)), t), dtype=float)
    np.testing.assert_allclose(rows, expected, rtol=0, atol=1e-9)
    channel = Laplace(epsilon=epsilon).mechanism((t,)).channel
    # Where 2^32 sides are enough, columns are drawn together by at most a millionth.
    np.testing.assert_allclose(channel.dense(), expected, rtol=0, atol=1e-6)


def test_laplace_spends_less_than_it_is_given():
    """At t = 2 and a nominal epsilon of 5 the odds are 2 e^2.5 - 1 = 23.36, epsilon 3.15."""
    scheme = Laplace(epsilon=5)
    assert scheme.nominal == 5
    channel = scheme.mechanism((2,)).channel
    assert round(channel.epsilon, 2) == 3.15
    assert float(channel.odds) == pytest.approx(2 * exp(2.5) - 1, rel=1e-6)


@given(st.floats(1e-6, 35), st.integers(2, 12))
def test_odds_of_laplace(epsilon, t):
    """e^eps (1 - (1 - 1/u)^2) with u = e^(eps / (2 (t - 1))), hence never above e^eps; a millionth of eps is lost."""
    channel = Laplace(epsilon=epsilon).mechanism((t,)).channel
    assert channel.odds <= odds_of_epsilon("epsilon", epsilon)
    u = exp(epsilon / (2 * (t - 1)))
    assert channel.epsilon == pytest.approx(epsilon + np.log1p(-((1 - 1 / u) ** 2)), rel=2e-6)


def test_laplace_can_beat_randomized_response():
    """A counterexample to Theorem 4 of Wang et al. (2016): .09750 over .09694 for category 1.

    The prior is known to four digits, which moves both figures by up to .00006.
    """
    prior = np.array([0.0955, 0.1908, 0.2783, 0.4355])

    def reconstructed(scheme) -> float:
        """Probability of correct reconstruction, `sum_u P(y = u | x = 1) P(x = 1 | y = u)`."""
        dense = scheme.mechanism((4,)).channel.dense()
        return (dense[:, 0] ** 2 * prior[0] / (dense @ prior)).sum()

    noise, coin = reconstructed(Laplace(epsilon=0.2214)), reconstructed(RandomizedResponse(epsilon=0.2214))
    assert noise == pytest.approx(0.09750, abs=6e-5)
    assert coin == pytest.approx(0.09694, abs=6e-5)
    assert noise - coin == pytest.approx(0.00056, abs=1e-5)


@pytest.mark.parametrize("sizes", [(1,), (2, 2), (301,), ()])
def test_laplace_is_for_one_attribute(sizes):
    with pytest.raises(SottovoceError, match=r"^sizes must be those of one attribute of 2 to 300 categories\. Got"):
        Laplace(epsilon=1).mechanism(sizes)


@pytest.mark.parametrize(("epsilon", "t"), [(60, 5), (1e-9, 30)])
def test_an_epsilon_no_integers_can_hold_is_refused(epsilon, t):
    """Reports rarer than 10^-19, and differences smaller than that."""
    with pytest.raises(SottovoceError, match=rf"^epsilon must be within reach of 64-bit integers over {t} categories"):
        Laplace(epsilon=epsilon).mechanism((t,))
