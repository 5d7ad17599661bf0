"""The audit: honest mechanisms reach nearly all of their epsilon and no more, faulty ones are caught."""

import json
from dataclasses import dataclass, replace
from math import inf, isinf, log

import numpy as np
import pytest
from scipy.stats import beta

from sottovoce.channels.dense import Dense
from sottovoce.channels.keep_or_uniform import KeepOrUniform
from sottovoce.channels.kronecker import Kronecker
from sottovoce.disguises.audit import evidence
from sottovoce.disguises.audit.evidence import lower_bound, upper_bound
from sottovoce.disguises.audit.run import audit, audit_mechanism
from sottovoce.errors import SottovoceError
from sottovoce.mechanisms.coins import Coin
from sottovoce.mechanisms.diagonal import Diagonal
from sottovoce.mechanisms.matrix import Listed
from sottovoce.schemes.scheme import all_schemes

SURE = 1 - 1e-6
"""Confidence at which a sound scheme fails once in a million cases, whatever the seed."""

MECHANISMS = [
    pytest.param(scheme.mechanism(sizes), id=f"{name}-{number}")
    for name, found in all_schemes().items()
    for number, (scheme, sizes) in enumerate(found.cases())
]
LONG = ("random_set-2", "random_set-7", "attribute_sampling-4")
"""Cases of schemes that have shorter ones, too."""

USUAL = [
    pytest.param(*case.values, id=case.id, marks=[pytest.mark.slow] if case.id in LONG else [])
    for case in MECHANISMS
    if 0.5 <= case.values[0].channel.epsilon <= 3
]
UNBOUNDED = [case for case in MECHANISMS if isinf(case.values[0].channel.epsilon)]

BIT = Dense([[3, 1], [1, 3]], 4)


@dataclass(frozen=True)
class Bits:
    """Basic RAPPOR's permanent response with f = 1/2: of four sides one sets a bit, one clears it, two keep it.

    The claim is 3 : 1 a bit. With `clears` false it is pure-ldp's fault: a set bit stays set.
    """

    count: int
    clears: bool = True

    @property
    def sizes(self):
        return (2,) * self.count

    @property
    def coins(self):
        return (Coin(4),) * self.count

    @property
    def channel(self):
        return Kronecker([BIT] * self.count)

    def respond(self, truth, flips):
        kept = [np.where(side == 1, 0, bit) if self.clears else bit for bit, side in zip(truth, flips, strict=True)]
        return tuple(np.where(side == 0, 1, bit) for bit, side in zip(kept, flips, strict=True))


@dataclass(frozen=True)
class Claim:
    """A mechanism that claims another channel than its own."""

    real: Diagonal | Listed
    channel: KeepOrUniform | Dense

    @property
    def sizes(self):
        return self.real.sizes

    @property
    def coins(self):
        return self.real.coins

    def respond(self, truth, flips):
        return self.real.respond(truth, flips)


@pytest.mark.parametrize("trials", [1, 2, 10, 1000, 100_000, 2**24])
@pytest.mark.parametrize("risk", [0.05, 0.0025, 1e-9])
def test_confidence_bounds_are_quantiles_of_beta(trials, risk):
    for successes in {int(trials * share) for share in (0, 1e-6, 0.01, 0.3, 0.5, 0.999, 1)}:
        low = beta.ppf(risk, successes, trials - successes + 1) if successes else 0
        high = beta.isf(risk, successes + 1, trials - successes) if successes < trials else 1
        assert lower_bound(successes, trials, risk) == pytest.approx(low, rel=1e-6)
        assert upper_bound(successes, trials, risk) == pytest.approx(high, rel=1e-6)


@pytest.mark.parametrize("mechanism", USUAL)
def test_every_scheme_reaches_nine_tenths_of_its_epsilon_and_no_more(mechanism):
    found = audit_mechanism(mechanism, level=SURE, rng=3)
    assert found.passed, str(found)
    assert found.enough
    assert 0.9 * found.epsilon <= found.lower_bound <= found.epsilon == mechanism.channel.epsilon
    assert found.verdict == "confirmed"


@pytest.mark.parametrize("mechanism", UNBOUNDED)
def test_every_scheme_with_a_zero_is_shown_to_have_it(mechanism):
    found = audit_mechanism(mechanism, level=SURE, rng=3)
    assert (found.verdict, found.epsilon, found.share) == ("zero shown", inf, None)
    assert found.seen_most > 0 == found.seen_least
    assert mechanism.channel.entry(found.report, found.most) > 0 == mechanism.channel.entry(found.report, found.least)


@pytest.mark.parametrize(("bits", "claimed"), [(1, 1.0986), (4, 4.3944)])
def test_a_bit_that_is_never_cleared_is_caught(bits, claimed):
    """Two filters of two hash functions differ in up to four bits: 4 ln 3 = 4.39, as pure-ldp claims."""
    found = audit_mechanism(Bits(bits, clears=False), level=SURE, rng=1)
    assert found.epsilon == pytest.approx(claimed, abs=1e-4)
    assert found.verdict == "VIOLATED"
    assert found.lower_bound > found.epsilon
    assert "times as likely under truth" in found.violations[0]
    assert audit_mechanism(Bits(bits), level=SURE, rng=1).verdict == "confirmed"


def test_odds_slightly_above_the_claim_are_caught():
    warner = Claim(Diagonal((2,), truth=4, other=1), BIT)
    found = audit_mechanism(warner, level=SURE, rng=1)
    assert not found.passed
    assert log(3) < found.lower_bound < log(4)
    assert str(found).endswith("not at most 3 times as stated")


def test_a_fault_away_from_the_worst_pair_is_caught():
    """Truth 2 is kept too often: report 0 is 6 : 1 between truths 0 and 2, and 3 : 1 between 0 and 1 as claimed."""
    crooked = Listed((3,), [[6, 2, 1], [2, 6, 1], [2, 2, 8]])
    claim = Claim(crooked, KeepOrUniform((3,), "2/5"))
    assert (claim.channel.odds, claim.channel.worst_case()) == (3, (0, 0, 1))
    found = audit_mechanism(claim, level=SURE, samples=100_000, rng=1)
    assert log(3) < found.lower_bound < log(6)
    assert not found.passed
    assert found.seen_most < 3 * found.seen_least * 1.05  # the worst pair alone looks sound


def test_reports_that_the_claim_rules_out_are_caught():
    claim = Claim(Diagonal((2,), truth=3, other=1), Dense([[3, 0], [1, 4]], 4))
    found = audit_mechanism(claim, rng=1)
    assert found.violations == ("report 0 came from truth 1, which rules it out",) * 2  # of the pair, of the table
    assert found.seen_least > 0


def test_several_reports_as_bad_share_the_blame():
    """Reports 0 and 1 are stated 3 : 1 between truths 0 and 1, and really come from truth 0 alone."""
    stated = Dense([[3, 1], [3, 1], [3, 7]], 9)
    found = audit_mechanism(Claim(Listed((2,), [[1, 0], [1, 0], [0, 2]]), stated), rng=1)
    assert (found.seen_most, found.seen_least) == (found.samples, 0)
    assert found.violations[0].startswith("report 0 (or one of 1 as bad) is at least")


def test_rows_that_are_no_reports_are_caught():
    claim = Claim(Listed((2,), [[2, 1], [1, 2], [1, 1]], ["a", "b", "neither"]), BIT)
    found = audit_mechanism(claim, samples=4000, rng=1)
    assert any("rows are not among the 2 reports" in violation for violation in found.violations)


@pytest.mark.slow
def test_false_alarms_are_as_rare_as_stated():
    """At level .8 at most 60 of 300 sound audits may complain; the bounds are cautious, so fewer do."""
    honest = Diagonal((3,), truth=3, other=1)
    alarms = sum(not audit_mechanism(honest, samples=400, level=0.8, rng=seed).passed for seed in range(300))
    assert alarms <= 60


def test_what_is_too_rare_is_said():
    """A hundred bits report the truth with probability (3/4)^100, about 1e-13."""
    found = audit_mechanism(Bits(100), samples=1000, rng=1)
    assert (found.passed, found.enough, found.seen_most, found.cells, found.parts) == (True, False, 0, 0, 100)
    assert found.verdict == "not contradicted: too rare to confirm"
    assert (found.report, found.most, found.least) == (0, 0, 2**100 - 1)


def test_products_are_confirmed_part_by_part():
    """No one sees the joint worst report of a hundred bits, but every bit shows 90 % of its ln 3."""
    found = audit_mechanism(Bits(100), samples=100_000, rng=1)
    assert found.verdict == "confirmed in all 100 parts"
    assert 0.9 < found.share_of_parts < 1
    assert 0.9 * log(3) < found.lower_bound < log(3)


def test_one_faulty_bit_among_a_hundred_is_caught():
    @dataclass(frozen=True)
    class Stuck(Bits):
        def respond(self, truth, flips):
            fair, stuck = Bits(100).respond(truth, flips), Bits(100, clears=False).respond(truth, flips)
            return (*fair[:37], stuck[37], *fair[38:])

    found = audit_mechanism(Stuck(100), samples=20_000, level=SURE, rng=1)
    assert found.verdict == "VIOLATED"
    assert [violation for violation in found.violations if "of part 37 is at least" not in violation] == []


def test_the_number_of_samples_is_limited(monkeypatch):
    monkeypatch.setattr("sottovoce.disguises.audit.run.MOST_COINS", 2**20)
    found = audit_mechanism(Bits(600), rng=1)  # (1/4)^600 is zero in floating point: no number would do
    assert (found.enough, found.samples) == (False, 10_000)
    assert found.report == 0


def test_a_zero_too_rare_to_be_seen_is_said():
    @dataclass(frozen=True)
    class OneSided(Bits):
        @property
        def channel(self):
            return Kronecker([Dense([[4, 2], [0, 2]], 4)] * self.count)

        def respond(self, truth, flips):
            return tuple(bit * (side < 2) for bit, side in zip(truth, flips, strict=True))

    found = audit_mechanism(OneSided(100), samples=1000, rng=1)
    assert (found.passed, found.verdict) == (True, "zero not seen: too rare")


@pytest.mark.parametrize(
    ("other", "verdict"),
    [(1, "confirmed"), (10, "not contradicted")],  # odds 1 : 1, and 11 : 10, an epsilon of .095
)
def test_odds_near_one_need_no_confirmation(other, verdict):
    assert audit_mechanism(Diagonal((2,), truth=other + (other > 1), other=other), rng=1).verdict == verdict


def test_memory_is_bounded_and_progress_told(monkeypatch):
    sizes, told = [], []

    @dataclass(frozen=True)
    class Watched(Bits):
        def respond(self, truth, flips):
            sizes.append(len(truth[0]))
            return super().respond(truth, flips)

    def watch(done, total):
        told.append((done, total))

    whole = audit_mechanism(Bits(1), samples=1000, rng=1)
    monkeypatch.setattr(evidence, "COINS_AT_ONCE", 32 * 300)
    assert (
        audit_mechanism(Watched(1), samples=1000, rng=1, progress=watch) == whole
    )  # a coin of 4 sides rejects nothing
    assert sizes == [300, 300, 300, 100] * 4  # the pair's two truths, then the table's
    assert told[0] == (300, 4000)
    assert told[-1] == (4000, 4000)


def test_secure_coins_by_default():
    assert audit_mechanism(Diagonal((2,), truth=3, other=1), level=1 - 1e-9).passed


def test_a_plan_is_audited_group_by_group(plan):
    found = audit(plan, level=SURE, rng=5)
    assert found.passed
    assert [group.name for group in found.groups] == ["drug, children", "tax", "age"]
    assert found.lower_bound == pytest.approx(sum(group.lower_bound for group in found.groups))
    assert found.epsilon == plan.guarantee.epsilon
    assert 0.9 * found.epsilon <= found.lower_bound <= found.epsilon
    assert str(found).startswith("Passed at level 1: whole record epsilon 4.09434, at least ")  # 4 x 3 x 5
    assert found == audit(plan, level=SURE, rng=5)


def test_all_groups_share_the_risk(plan):
    """Three groups at 97 % have a bound each that one group has at 99 %."""
    tax = plan.groups[1].mechanism
    assert tax.channel.odds == 3
    alone = audit_mechanism(tax, level=0.99)
    assert audit(plan, level=0.97).groups[1].samples == pytest.approx(alone.samples, abs=1)


def test_findings_survive_json(plan):
    found = audit(plan, samples=2000, rng=5)
    told = json.loads(json.dumps(found.to_json()))
    assert (told["passed"], told["level"], told["lower_bound"]) == (True, 0.99, found.lower_bound)
    assert [group["verdict"] for group in told["groups"]] == [group.verdict for group in found.groups]
    shown = audit_mechanism(Diagonal((2,), truth=1, other=0), rng=1).to_json()
    assert (shown["epsilon"], shown["report"], shown["violations"]) == (None, "0", [])


@pytest.mark.parametrize("samples", [0, -1, 1.5, True, "many"])
def test_bad_numbers_of_samples_are_refused(samples):
    with pytest.raises(SottovoceError, match=r"^samples must be a positive whole number\. Got"):
        audit_mechanism(Diagonal((2,), truth=3, other=1), samples=samples)


@pytest.mark.parametrize("level", [0, 1, -0.5, 99, "sure", float("nan")])
def test_bad_levels_are_refused(plan, level):
    with pytest.raises(SottovoceError, match=r"^level must be .*\. Got"):
        audit(plan, level=level)


def test_notebooks_and_terminals_show_a_summary(plan):
    found = audit(plan, samples=2000, rng=5)
    assert repr(found) == str(found)
    assert repr(found.groups[1]).startswith("tax: epsilon 1.09861, at least ")
    shown = found._repr_html_()
    assert shown.startswith("<div><b>Passed at level 0.99: whole record epsilon 4.09434")
    assert "<td>drug, children</td>" in shown
    violated = replace(found.groups[0], violations=("report 0 came from truth 1",))
    assert (
        "<small>drug, children: report 0 came from truth 1</small>" in replace(found, groups=(violated,))._repr_html_()
    )
