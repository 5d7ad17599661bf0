"""Decision trees from disguised records, for any plan."""

from collections.abc import Sequence
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from sottovoce.channel.channel import Array
from sottovoce.errors import SottovoceError
from sottovoce.estimate.counted import categories_of
from sottovoce.mine.classify.checks import check_classes, checked_count
from sottovoce.mine.classify.coding import coded
from sottovoce.mine.classify.learner import DisguisedClassifier
from sottovoce.mine.classify.node import Reports
from sottovoce.mine.classify.question import pair_questions
from sottovoce.mine.classify.tree import Criterion, Grower, Node
from sottovoce.plan.plan import Plan
from sottovoce.schema.cells import Columns
from sottovoce.schema.variable import Label


class DecisionTree(DisguisedClassifier):
    """ID3 (`gain`) or C4.5's `gain_ratio` from reconstructed tables (Quinlan 1986, 1993; Du & Zhan 2003).

    At each node all tables of an attribute with the class are reconstructed from the reports, and the tree goes on
    only where independence is refused at `level`, shared among the attributes: a gain that the disguise's noise
    would bring about is none. Every step down multiplies the joint reports and their noise, so trees stay small
    where odds do. Without a plan it learns from records in clear, coded by numbers from zero up.

    >>> from sottovoce.disguise.frames import disguise_frame
    >>> from sottovoce.schema.attribute import boolean
    >>> from sottovoce.schema.schema import Schema
    >>> from sottovoce.scheme.unrelated_question import UnrelatedQuestion
    >>> schema = Schema([boolean("smokes"), boolean("ill")])
    >>> plan = Plan.of(schema, {schema.names: UnrelatedQuestion(theta=0.5)})
    >>> people = {"smokes": [True] * 500 + [False] * 500, "ill": [True] * 400 + [False] * 550 + [True] * 50}
    >>> print(DecisionTree(plan, "ill").fit(disguise_frame(people, plan, rng=1)))
    smokes = False
      -> False (0.94 of 0.432)
    smokes = True
      -> True (0.78 of 0.568)
    """

    def __init__(
        self,
        plan: Plan | None = None,
        target: str | None = None,
        *,
        attributes: Sequence[str] | None = None,
        criterion: Criterion = "gain",
        level: float = 0.05,
        max_depth: int = 8,
    ) -> None:
        """Keep the settings; they are checked when it is fitted."""
        self.plan = plan
        self.target = target
        self.attributes = attributes
        self.criterion = criterion
        self.level = level
        self.max_depth = max_depth

    def fit(self, X: Any, y: Any = None) -> "DecisionTree":
        """Learn from disguised records: a table or file that holds the target too, or the target's reports as `y`."""
        self._check()
        plan, beside, table = self._prepare(X, y)
        target, names = self._target(), self._features()
        pair_questions(plan, names, target)  # refuses what cannot be told at all, before anything is counted
        reports = Reports.of(plan, self._reports(), coded(table, self._reports(), beside))
        if self.plan is not None:
            check_classes(self.classes_.tolist(), reports.table({}, [target])[0])
        self.tree_: Node = Grower(reports, target, self.criterion, self.level, self.max_depth).grow(names)
        return self

    def predict_proba(self, X: Any) -> Array:
        """Law of the classes at the leaf of each record in clear."""
        columns = self._clear_codes(X)
        return self.tree_.laws(columns, self._features())

    def __str__(self) -> str:
        """The tree, a line for each branch; the settings before it is fitted."""
        if not hasattr(self, "tree_"):
            return repr(self)
        return "\n".join(self.tree_.lines(self._categories(), self.classes_.tolist()))

    def to_json(self) -> dict[str, Any]:
        """The tree, for programs: nested branches, with what each split gains and whether it could be noise."""
        self._agreed_plan()
        return self.tree_.to_json(self._categories(), self.classes_.tolist())

    def _categories(self) -> dict[str, tuple[Label, ...]]:
        names = self._features()
        return dict(zip(names, categories_of(self.plan_, names), strict=True))

    def _predict_codes(self, columns: Columns) -> NDArray[np.intp]:
        return np.asarray(self.tree_.laws(columns, self._features()).argmax(axis=1))

    def _check(self) -> None:
        if self.criterion not in get_args(Criterion):
            raise SottovoceError("criterion", f"must be one of {', '.join(get_args(Criterion))}", self.criterion)
        if not 0 < self.level < 1:
            raise SottovoceError("level", "must be between 0 and 1", self.level)
        checked_count("max_depth", self.max_depth)
