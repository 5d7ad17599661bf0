"""What is left private before and after mining, and what groups of attributes cost."""

import numpy as np
import pytest

from sottovoce.disguises.tables import disguise_frame
from sottovoce.errors import SottovoceError
from sottovoce.measures.entries import entry_privacy, privacy_after_mining, recoverability_unknown
from sottovoce.mining.classify import mined_privacy as module
from sottovoce.mining.classify import whole_record
from sottovoce.mining.classify.decision_tree import DecisionTree
from sottovoce.mining.classify.grouping import compare_groupings, grouped_plan
from sottovoce.mining.classify.mined_privacy import mined_privacy
from sottovoce.mining.classify.naive_bayes import NaiveBayes
from sottovoce.schemas.attribute import boolean
from sottovoce.schemas.schema import Schema


def fitted(plan, people) -> NaiveBayes:
    return NaiveBayes(plan, "ill").fit(disguise_frame(people(20_000), plan, rng=5))


def brute_force(model: NaiveBayes, entry: int) -> float:
    """The whole report against the classifier's law of records, by the channel written out."""
    laws = [module._distribution(table, counts) for table, counts in zip(model.tables_, model.counts_, strict=True)]
    law = np.einsum("ac,bc,c->abc", laws[1] / laws[1].sum(axis=0), laws[2] / laws[2].sum(axis=0), laws[0]).ravel()
    names = ["smokes", "drinks", "ill"]
    matrix = model.plan.channel(names).dense()[:, model.plan.cell_order(names)]
    return float(privacy_after_mining(matrix, law / law.sum(), (2, 3, 2), entry))


@pytest.mark.parametrize("name", ["unrelated", "unrelated, turned order", "unrelated, joint law", "gamma", "groups"])
def test_after_mining_the_whole_report_counts(people, plans, name):
    model = fitted(plans[name], people)
    found = mined_privacy(model)
    for place, entry in enumerate(found.entries):
        assert entry.after == pytest.approx(brute_force(model, place), abs=1e-9)
        assert entry.after <= entry.before + 1e-9
        assert entry.literal_known == pytest.approx(entry.before - 1)  # an exhaustive set of rules recovers "1"
        assert entry.evidence == "whole report"
    assert (found.before, found.after) == (
        min(entry.before for entry in found.entries),
        min(entry.after for entry in found.entries),
    )
    assert found.to_json()["whole_record"]["odds"] == str(plans[name].guarantee.odds)


def test_the_papers_second_scenario(people, plans):
    """From its definition, for the class: confidences among reports, and how often a report of the class is true."""
    plan = plans["unrelated"]
    model = fitted(plan, people)
    found = mined_privacy(model).entries[2]
    law = module._distribution(model.tables_[0], model.counts_[0])
    together = plan.channel(["ill"]).dense() * law
    correct = np.diag(together) / together.sum(axis=1)
    recovered = []
    for joint, counts in zip(model.tables_[1:], model.counts_[1:], strict=True):
        table = joint.table(counts[:, None].astype(float))[..., 0]
        recovered.append(recoverability_unknown(table / table.sum(axis=1, keepdims=True), correct))
    assert found.before == pytest.approx(float(entry_privacy(plan.channel(["ill"]).dense(), law)))
    assert found.literal_unknown == pytest.approx(found.before - max(recovered))


def test_reports_of_another_shape_have_no_second_scenario(people, plans):
    found = mined_privacy(fitted(plans["subset"], people))
    assert [entry.literal_unknown is None for entry in found.entries] == [False, True, False]


def test_too_many_records_leave_pairs(people, plans, monkeypatch):
    whole = mined_privacy(fitted(plans["groups"], people))
    monkeypatch.setattr(module, "MOST_CELLS", 11)
    pairs = mined_privacy(fitted(plans["groups"], people))
    for more, less in zip(whole.entries, pairs.entries, strict=True):
        assert less.evidence == "reports of the entry and one other"
        assert more.after <= less.after + 1e-9 <= less.before + 2e-9
    monkeypatch.setattr(whole_record, "MOST_CELLS", 11)
    assert mined_privacy(fitted(plans["unrelated"], people)).entries[0].evidence == "reports of the entry and one other"


def test_what_has_no_privacy_of_single_entries(yes_no_people, plans, indivisible):
    with pytest.raises(SottovoceError, match=r"classifier must be a NaiveBayes. Got DecisionTree instead"):
        mined_privacy(DecisionTree(plans["clear"], "ill"))
    model = fitted(indivisible, yes_no_people)
    with pytest.raises(SottovoceError, match=r"plan must give every attribute a report of its own, .* Got subset_sel"):
        mined_privacy(model)


def test_the_odds_are_stated(yes_no_people, related):
    model = NaiveBayes(related(0.8), "ill").fit(disguise_frame(yes_no_people(5000), related(0.8), rng=5))
    found = mined_privacy(model)
    assert "odds of the whole record: not deniable (odds unbounded)" in str(found)
    assert found.to_json()["whole_record"]["odds"] is None
    assert found.after < found.before


def test_groups_trade_privacy_for_accuracy():
    schema = Schema([boolean(name) for name in "abcdef"] + [boolean("ill")])
    same = compare_groupings(schema, "ill", theta=0.5)
    assert [len(found.groups) for found in same] == list(range(1, 8))
    assert all(found.privacy == pytest.approx(0.375) for found in same)  # 2 / 4 (1 - .5^2), whatever the groups
    odds = [found.plan.guarantee.odds for found in same]
    assert odds[0] == 129  # 1 + theta 2^M / (1 - theta)
    assert odds[-1] == 3**7
    # A table over two groups needs both coins: each of four cells has variance (5/4)^2 - (1/4)^2, in clear 3/16.
    assert same[-1].worth == pytest.approx(1 / 8)
    by_hand = compare_groupings(schema, "ill", odds=100, candidates=[[["a", "b", "ill"], ["c", "d", "e", "f"]]])
    assert by_hand[0].groups == (("a", "b", "ill"), ("c", "d", "e", "f"))
    assert by_hand[0].plan.guarantee.odds <= 100


def test_groups_refused():
    schema = Schema([boolean("a"), boolean("ill")])
    with pytest.raises(SottovoceError, match="theta or odds must be given, exactly one of them"):
        grouped_plan(schema, [["a", "ill"]])
    with pytest.raises(SottovoceError, match="name must be one of a, ill"):
        compare_groupings(schema, "age", theta=0.5)
    with pytest.raises(SottovoceError, match="groups must cover every attribute"):
        grouped_plan(schema, [["a"]], odds=3)


def test_summaries(people, plans):
    found = mined_privacy(fitted(plans["unrelated"], people))
    assert repr(found) == f"<MinedPrivacy: {str(found).splitlines()[0]}; odds {found.guarantee}>"
    page = found._repr_html_()
    assert page.startswith("<div><b>Privacy of entries</b>")
    assert "odds of the whole record: " in page
