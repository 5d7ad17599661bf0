"""How good a classifier is, from a test set that is itself disguised."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.channel.complement import Complement
from sottovoce.errors import SottovoceError, Words
from sottovoce.estimate.enough import check_number
from sottovoce.estimate.marginals import needed_attributes
from sottovoce.estimate.spread import Target
from sottovoce.measure.covariance import checked_target
from sottovoce.mine.classify.checks import check_carried_plan
from sottovoce.mine.classify.coding import coded_batches
from sottovoce.mine.classify.learner import DisguisedClassifier
from sottovoce.mine.classify.question import columns_of
from sottovoce.mine.classify.scores import Scores
from sottovoce.mine.classify.unbiased import report_functions
from sottovoce.mine.classify.whole_record import MOST_CELLS, Outcomes, WholeRecord
from sottovoce.plan.document import plan_hash
from sottovoce.plan.plan import Plan
from sottovoce.schema.cells import Columns, ravel, unravel

ROWS_AT_ONCE = 2**15

Meaning = Callable[[Columns], Array]
"""What each coded report counts for, for each outcome: its mean is the outcome's share among the truths."""


def score_disguised(
    classifier: DisguisedClassifier,
    reports: Any,
    plan: Plan | None = None,
    *,
    target: Target = "population",
    widest: float = 0.5,
    rng: np.random.Generator | int | None = None,
) -> Scores:
    """Accuracy, confusion matrix, precision and recall on truths that only their disguised reports are known of.

    Where whole records are kept or replaced, `P(cc) = (P*(cc) - (1 - theta) P_Y(cc)) / theta` (Zhan & Matwin 2006, 3.4)
    for every cell of the confusion matrix, with P_Y from the known law; for other plans the mean of what each report
    counts for through the channel. Numbers whose interval is wider than `widest` are declined. `plan` is that of the
    test set, which must be the classifier's; `target` the population the test set is a sample of, or its table.
    Where there are more than 2^20 joint records, P_Y is found by as many draws, with their error; `rng` repeats them.

    >>> from sottovoce.disguise.frames import disguise_frame
    >>> from sottovoce.mine.classify.naive_bayes import NaiveBayes
    >>> from sottovoce.schema.attribute import boolean
    >>> from sottovoce.schema.schema import Schema
    >>> from sottovoce.scheme.unrelated_question import UnrelatedQuestion
    >>> schema = Schema([boolean("smokes"), boolean("ill")])
    >>> plan = Plan.of(schema, {schema.names: UnrelatedQuestion(theta=0.5)})
    >>> people = {"smokes": [True] * 500 + [False] * 500, "ill": [True] * 400 + [False] * 550 + [True] * 50}
    >>> model = NaiveBayes(plan, "ill").fit(disguise_frame(people, plan, rng=1))
    >>> print(score_disguised(model, disguise_frame(people, plan, rng=3)).accuracy)
    accuracy: 0.8920 +- 0.0291  [0.8350, 0.9490]
    """
    if not isinstance(classifier, DisguisedClassifier):
        raise SottovoceError("classifier", "must be a NaiveBayes or a DecisionTree", Words(type(classifier).__name__))
    checked_target(target)
    agreed = classifier._agreed_plan()
    if plan is not None and plan_hash(plan) != plan_hash(agreed):
        raise SottovoceError("plan", "must be the one that the classifier learns under", Words("another"))
    check_carried_plan(reports, agreed)
    names = [*classifier._features(), classifier._target()]
    meaning, extra, method = _meaning(classifier, agreed, names, np.random.default_rng(rng))
    sums, products, rows = _moments(meaning, coded_batches(reports, classifier._reports()))
    check_number(rows)
    value = sums / rows
    taken = np.outer(value, value) if target == "population" else np.diag(value)
    covariance = (products / rows - taken) / rows + extra
    return Scores(tuple(classifier.classes_.tolist()), value, covariance, rows, target, method, widest)


def _meaning(
    classifier: DisguisedClassifier, plan: Plan, names: Sequence[str], rng: np.random.Generator
) -> tuple[Meaning, Array, str]:
    """What reports count for; the covariance that draws add; and how it was found."""
    needed = needed_attributes(plan, names)
    channel = plan.channel(needed)
    inner = plan.in_group_order(needed)
    classes = len(classifier.classes_)
    sizes = [plan.schema.project([name]).cells for name in inner]
    places = [inner.index(name) for name in names]

    def outcomes(columns: Columns) -> Any:
        """Truth and prediction as one number, from columns in the channel's order."""
        *features, truth = (columns[place] for place in places)
        return truth.astype(np.intp) * classes + classifier._predict_codes(tuple(features))

    wanted = columns_of(plan, needed, classifier._reports())
    whole = WholeRecord.of(channel)
    nothing = np.zeros((classes**2, classes**2))
    if whole is not None:
        drawn, draws = whole.outcomes(outcomes, classes**2, rng)
        weight = (1 - whole.keep) / whole.keep
        extra = nothing if draws is None else weight**2 * (np.diag(drawn) - np.outer(drawn, drawn)) / draws
        count = _picked(_one_hot(outcomes, classes**2), wanted)
        return lambda columns: count(columns) / whole.keep - weight * drawn, extra, "whole records"
    if isinstance(channel, Complement):
        return _picked(_turned(_one_hot(outcomes, classes**2), float(channel.keep)), wanted), nothing, "whole records"
    if max(channel.n_in, channel.n_out) > MOST_CELLS:
        rule = f"must have at most {MOST_CELLS} joint records to be tested through the channel"
        raise SottovoceError("plan", rule, Words(f"{channel.n_in}"))
    every = _one_hot(outcomes, classes**2)(unravel(np.arange(channel.n_in), sizes))
    functions = report_functions(channel, every)
    shape = channel.shape_out
    return _picked(lambda columns: functions[ravel(columns, shape)], wanted), nothing, "through the channel"


def _one_hot(outcomes: Outcomes, count: int) -> Meaning:
    return lambda columns: np.eye(count)[outcomes(columns)]


def _turned(count: Meaning, keep: float) -> Meaning:
    """Inverse of the complement: `(keep f(y) - (1 - keep) f(opposite of y)) / (2 keep - 1)`."""

    def meaning(columns: Columns) -> Array:
        opposite = count(tuple(1 - codes.astype(np.int64) for codes in columns))
        return (keep * count(columns) - (1 - keep) * opposite) / (2 * keep - 1)

    return meaning


def _picked(meaning: Meaning, wanted: Sequence[int]) -> Meaning:
    """The same for all columns of a report, of which those wanted count."""
    return lambda columns: meaning(tuple(columns[place] for place in wanted))


def _moments(meaning: Meaning, batches: Iterable[Columns]) -> tuple[Array, Array, int]:
    """Sums, sums of products, and number of reports."""
    parts = [(part.sum(axis=0), part.T @ part, len(part)) for part in map(meaning, _pieces(batches))]
    sums, products, rows = zip(*parts, strict=True)
    return np.sum(sums, axis=0), np.sum(products, axis=0), sum(rows)


def _pieces(batches: Iterable[Columns]) -> Iterator[Columns]:
    for columns in batches:
        for start in range(0, len(columns[0]), ROWS_AT_ONCE):
            yield tuple(codes[start : start + ROWS_AT_ONCE] for codes in columns)
