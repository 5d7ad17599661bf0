"""Facts of questions: shares are those of the channel, entry by entry, and the page computes the same."""

import json
from fractions import Fraction
from itertools import product
from math import prod
from pathlib import Path
from time import process_time

import pytest

from sottovoce.channels.slabs import Slab
from sottovoce.errors import SottovoceError
from sottovoce.exact import ratio_text
from sottovoce.mechanisms.mechanism import mechanism_kinds
from sottovoce.mechanisms.random_set import SetByRank
from sottovoce.mechanisms.sampling import Sampling
from sottovoce.plans.guarantee import Guarantee
from sottovoce.plans.plan import Group, Plan
from sottovoce.schemas.attribute import Attribute
from sottovoce.schemas.item_set import ItemSet
from sottovoce.schemas.schema import Schema
from sottovoce.schemes import (
    AttributeSampling,
    CutAndPaste,
    RandomizedResponse,
    RandomSet,
    SubsetSelection,
    UnrelatedQuestion,
)
from sottovoce.schemes.scheme import all_schemes
from sottovoce.surveys.definition.facts import facts_of, per_hundred, plan_strength, strength_of
from sottovoce.surveys.definition.least_share import least_share
from sottovoce.surveys.page.files import FOLDER

MOST_ENTRIES = 6000
"""Entries of a channel up to which it is tried out in full."""

SCRIPT = Path(__file__).parent / "browser" / "facts.mjs"


def plan_of(mechanism, schema, scheme="any"):
    group = Group(schema.names, scheme, mechanism)
    return Plan(schema, (group,), group.guarantee)


def schemas(sizes):
    """Questions of these sizes; bits also as the items of a set."""
    yield Schema(Attribute(f"q{i}", [f"a{code}" for code in range(size)]) for i, size in enumerate(sizes))
    if set(sizes) == {2}:
        yield Schema([ItemSet("set", [f"i{i}" for i in range(len(sizes))])])


def every_plan():
    """A plan for every example of every scheme that fits a survey, small enough to be tried out in full."""
    for name, scheme in sorted(all_schemes().items()):
        for case, sizes in scheme.cases():
            for schema in schemas(sizes):
                try:
                    mechanism = case.mechanism(sizes)
                    plan = plan_of(mechanism, schema, name)
                except SottovoceError:
                    continue  # sets of the categories of items, bits of other sizes
                if mechanism.channel.n_in * mechanism.channel.n_out <= MOST_ENTRIES:
                    yield plan
    three = Schema(Attribute(name, ["no", "yes", "maybe"]) for name in "ab")
    yield Plan.of(three, {("a", "b"): SubsetSelection(odds=3, size=4)})
    yield Plan.of(three, {("a", "b"): RandomSet(odds=3, components=[[1, 2, [1, 2, 3, 1, 1, 1, 4, 1, 2]]])})
    yield Plan.of(three, {"a": RandomizedResponse(odds=3), "b": SubsetSelection(odds=3)})
    yield Plan.of(three, {("a", "b"): UnrelatedQuestion(theta="0.5", known=[["0.5", "0.2", "0.3"]] * 2)})
    bits = Schema(Attribute(name, ["no", "yes"]) for name in "abc")
    yield Plan.of(bits, {("a", "b", "c"): AttributeSampling(odds=4, subsets=[[0, 1], [1, 2], [1]])})


PLANS = list(every_plan())


def cells(sizes):
    return product(*(range(size) for size in sizes))


def names_label(reported, name, code, truths, mechanism, codes):
    """Whether a report names a code of an attribute, read from the schema of the reports alone."""
    report_of, start = {}, 0
    for variable in reported:
        report_of[variable.name] = variable, codes[start : start + len(variable.sizes)]
        start += len(variable.sizes)
    if name in report_of:
        variable, columns = report_of[name]
        return bool(columns[code]) if isinstance(variable, ItemSet) else columns[0] == code
    (columns,) = (columns for _, columns in report_of.values())  # a set of joint cells
    axis = truths.names.index(name)
    return any(bit and cell[axis] == code for bit, cell in zip(columns, cells(truths.sizes), strict=True))


def tried_out(plan, name):
    """Least shares of a question by trying out every truth and every report of its group."""
    group = plan.group_of(name)
    mechanism, truths = group.mechanism, plan.schema.project(group.attributes)
    channel, reported = mechanism.channel, mechanism.report_schema(truths)
    columns = range(len(truths.sizes))[truths.columns_of(name)]
    reports = list(enumerate(cells(channel.shape_out)))
    form = facts_of(plan, name).form

    def share(code, column, wanted, named):
        """Least share over the truths that do not have `wanted` in a column, given that the question was asked."""
        found = []
        for x, truth in enumerate(cells(truths.sizes)):
            if truth[column] == wanted:
                continue
            asked = {}
            for y, codes in reports:
                part = tuple(c < s for c, s in zip(codes, truths.sizes, strict=False)) if channel.samples else ()
                if not channel.samples or part[column]:
                    entry = channel.entry(y, x)
                    total, naming = asked.get(part, (0, 0))
                    asked[part] = total + entry, naming + entry * named(codes, code)
            found += [naming / total for total, naming in asked.values() if total]
        return min(found)

    if form == "symbols":
        return [min(channel.entry(y, x) for x in range(channel.n_in)) for y in range(channel.n_out)], None
    if form == "items":
        bit = [[share(value, c, value, lambda codes, v, c=c: codes[c] == v) for c in columns] for value in (1, 0)]
        return bit[0], bit[1]
    named = lambda codes, code: names_label(reported, name, code, truths, mechanism, codes)  # noqa: E731
    return [share(code, columns[0], code, named) for code in range(truths.sizes[columns[0]])], None


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: f"{plan.groups[0].scheme}{plan.schema.sizes}")
def test_shares_are_those_of_the_channel_entry_by_entry(plan):
    for name in plan.schema.names:
        facts = facts_of(plan, name)
        shares, omitted = tried_out(plan, name)
        assert list(facts.shares.values()) == shares
        assert facts.omitted is None if omitted is None else list(facts.omitted.values()) == omitted
        assert facts.odds == plan.guarantee_of(name).odds


def test_every_form_and_every_kind_of_mechanism_is_tried_out():
    forms = {facts_of(plan, name).form for plan in PLANS for name in plan.schema.names}
    assert forms == {"yes_no", "answers", "set", "items", "symbols"}
    assert {group.mechanism.kind for plan in PLANS for group in plan.groups} == set(mechanism_kinds())
    with pytest.raises(NotImplementedError):
        least_share.dispatch(object)(PLANS[0].groups[0].mechanism, 0, 0)


def large_plans():
    """Hundreds of answers, dozens of items: more sets than can be tried out."""
    many = Schema([Attribute("q", [f"a{code}" for code in range(256)])])
    yield Plan.of(many, {"q": RandomizedResponse(odds=3)})
    yield Plan.of(many, {"q": SubsetSelection(odds=3)})
    yield plan_of(SetByRank((256,), [Slab(1, 64, [1] * 128 + [2] * 128)], Fraction(3)), many)
    twelve = Schema([Attribute("q", [f"a{code}" for code in range(12)])])
    weights, tilt = [1, 2, 3, 4] * 3, [2, 1, 1, 5] * 3
    yield plan_of(
        SetByRank((12,), [Slab(3, 4, weights), Slab(1, 7, [1] * 12, [2, 1, 3] * 4)], Fraction(5, 2), tilt), twelve
    )
    yield plan_of(SetByRank((12,), [Slab(3, 4, weights)], None), twelve)
    yield plan_of(
        SetByRank((4, 3), [Slab(3, 4, weights), Slab(1, 1, [1] * 12)], Fraction(5, 2)),
        Schema([Attribute("q", list("abcd")), Attribute("r", list("efg"))]),
    )
    items = Schema([ItemSet("set", [f"i{i}" for i in range(40)])])
    yield Plan.of(items, {"set": all_schemes()["mask"](p="0.75")})
    yield Plan.of(items, {"set": CutAndPaste(cutoff=3, rho="0.4")})
    yield Plan.of(Schema([ItemSet("set", list("abcdefgh"))]), {"set": RandomizedResponse(odds=9)})


LARGE = list(large_plans())


def test_large_questions_take_no_time():
    for plan in LARGE:
        start = process_time()
        for name in plan.schema.names:
            facts_of(plan, name)
        assert process_time() - start < 2


@pytest.mark.parametrize("index", [3, 4, 5])
def test_random_sets_beyond_trying_out_are_bounded_from_below(index):
    """Twelve cells can still be listed here: the share is exact but for one part in 2^64."""
    plan = LARGE[index]
    for name in plan.schema.names:
        for code, share in enumerate(facts_of(plan, name).shares.values()):
            tried = share_by_ways(plan, name, code)
            assert tried * (1 - Fraction(2, 2**64)) <= share <= tried


def share_by_ways(plan, name, code):
    rank, sizes = plan.groups[0].mechanism.channel.rank, plan.schema.sizes
    axis, listed = plan.schema.names.index(name), list(cells(sizes))
    naming = [set(members) for members in _sets(rank) if any(listed[cell][axis] == code for cell in members)]
    truths = [x for x, cell in enumerate(listed) if cell[axis] != code]
    return min(Fraction(sum(rank.ways(s, x) for s in naming), 2 ** (64 * rank.coins)) for x in truths)


def _sets(rank):
    cells_of = range(len(rank.norms))
    for bits in product((0, 1), repeat=len(cells_of)):
        members = [cell for cell in cells_of if bits[cell]]
        if any(sum(c.lengths[i] for i in members) == c.size for c in rank.components):
            yield members


def expected(plan):
    questions = []
    for name in plan.schema.names:
        facts = facts_of(plan, name)
        sampled = facts.sampled and {
            "picked": facts.sampled.picked,
            "least": facts.sampled.least,
            "of": facts.sampled.of,
        }
        shares = facts.to_json()
        for listed in (shares["shares"], shares["omitted"] or []):
            for entry in listed:
                entry.update({"one_in": str(entry["one_in"])} if "one_in" in entry else {})
        questions.append(
            {
                "form": facts.form,
                "odds": None if facts.odds is None else ratio_text(facts.odds),
                "shares": shares["shares"],
                "omitted": shares["omitted"],
                "grouped": facts.grouped,
                "sampled": sampled,
                "unrelated": False,
            }
        )
    return {"strength": plan_strength(plan), "questions": questions}


def test_the_page_computes_the_same(node, tmp_path):
    plans = [*PLANS, *LARGE]
    (tmp_path / "plans.json").write_text(json.dumps([plan.to_json() for plan in plans]))
    found = json.loads(node(SCRIPT, FOLDER, tmp_path / "plans.json"))
    times = [entry.pop("milliseconds") for entry in found]
    for plan, entry in zip(plans, found, strict=True):
        assert entry == expected(plan), str(plan)
    assert max(times) < 2000


def test_a_question_that_no_part_asks_is_never_named():
    schema = Schema(Attribute(name, ["no", "yes"]) for name in "ab")
    one = AttributeSampling(odds=3, subsets=[[0]]).mechanism(schema.sizes)
    assert isinstance(one, Sampling)
    assert facts_of(plan_of(one, schema), "b").shares == {"no": 0, "yes": 0}


def test_shares_are_rounded_against_us():
    assert per_hundred(Fraction(1)) == {"count": 100}
    assert per_hundred(Fraction(24999, 100000)) == {"count": 24}
    assert per_hundred(Fraction(1, 100)) == {"count": 1}
    assert per_hundred(Fraction(99, 10000)) == {"one_in": 102}
    assert per_hundred(Fraction(1, 10**9 + 1)) == {"one_in": 10**9 + 1}
    assert per_hundred(Fraction(0)) == {"never": True}


@pytest.mark.parametrize(
    ("odds", "question", "together"),
    [
        (Fraction(1), "deniable", "deniable"),
        (Fraction(10), "deniable", "deniable"),
        (Fraction(10) + Fraction(1, 10**30), "weak", "deniable"),
        (Fraction(100), "weak", "deniable"),
        (Fraction(100) + Fraction(1, 10**30), "weak", "weak"),
        (Fraction(1000), "weak", "weak"),
        (Fraction(1000) + Fraction(1, 10**30), "very weak", "very weak"),
        (Fraction(10**9), "very weak", "very weak"),
        (None, "very weak", "very weak"),
    ],
)
def test_words_follow_the_odds(odds, question, together):
    assert strength_of(odds) == question
    assert strength_of(odds, all_together=True) == together


def test_the_promise_counts_for_all_together():
    schema = Schema([Attribute("a", ["no", "yes"])])
    schemes = {"a": RandomizedResponse(odds=3)}
    assert plan_strength(Plan.of(schema, schemes)) == "deniable"
    assert plan_strength(Plan.of(schema, schemes, odds=101)) == "weak"
    assert plan_strength(Plan(schema, Plan.of(schema, schemes).groups, Guarantee(None))) == "very weak"
    assert prod(schema.sizes) == 2
