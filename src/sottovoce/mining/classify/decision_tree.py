"""Decision trees from disguised records, for any plan."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from sottovoce.channels.channel import Array
from sottovoce.errors import SottovoceError
from sottovoce.estimates.counted import categories_of
from sottovoce.estimates.independence import chi_square_tail
from sottovoce.estimates.likelihood import nearest_distribution
from sottovoce.measures.association import MutualInformation
from sottovoce.measures.functionals import Entropy
from sottovoce.mining.classify.coding import check_classes, checked_count, coded
from sottovoce.mining.classify.learner import DisguisedClassifier
from sottovoce.mining.classify.question import Question, pair_questions, report_functions
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Codes, Columns, Label, ravel, unravel
from sottovoce.schemas.schema import Schema

MOST_CELLS = 2**62
"""Joint reports that can be numbered."""

Path = Mapping[str, int]
"""Values on the way from the root to a node."""
Criterion = Literal["gain", "gain_ratio"]


@dataclass(frozen=True)
class Reports:
    """Different reports, and how many of each there are."""

    plan: Plan
    schema: Schema
    columns: Columns
    weights: Array

    @classmethod
    def of(cls, plan: Plan, schema: Schema, columns: Sequence[Codes]) -> "Reports":
        """Put equal reports together where their joint cells can be numbered; leave them as they are otherwise."""
        sizes = schema.sizes
        if prod(sizes) > MOST_CELLS:
            return cls(plan, schema, tuple(columns), np.ones(len(columns[0])))
        joint, counts = np.unique(ravel(columns, sizes), return_counts=True)
        return cls(plan, schema, unravel(joint, sizes), counts.astype(float))

    @property
    def respondents(self) -> float:
        """Number of reports."""
        return float(self.weights.sum())

    def table(self, path: Path, names: Sequence[str]) -> tuple[Array, Array]:
        """Unbiased shares of the cells of `names` among ALL records, within the path, and their covariance."""
        question = Question.of(self.plan, [*path, *names], self.schema)
        seen = question.weigh(self.columns, self.weights) / self.respondents
        own = question.shape[: len(question.names)]
        inside = np.arange(prod(own)).reshape(own)[tuple(path.values())].ravel()
        functions = np.zeros((prod(own), len(inside)))
        functions[inside, np.arange(len(inside))] = 1
        meaning = report_functions(question.channel, question.spread_out(functions))
        value = seen @ meaning
        second = meaning.T @ (seen[:, None] * meaning)
        return value, (second - np.outer(value, value)) / self.respondents


@dataclass(frozen=True)
class Split:
    """How much an attribute says of the class within a node, in bits, and whether that could be noise."""

    attribute: str
    gain: float
    gain_ratio: float
    p_value: float
    table: Array


def split_of(reports: Reports, path: Path, attribute: str, target: str) -> Split | None:
    """Gain of a split (Quinlan 1986; Du & Zhan 2003), and a test of independence; None where nobody seems to be.

    `W = d^T V^-1 d` with `d = p(a, c) - p(a) p(c) / p(node)` for all values but the last, and V its covariance through
    that of the estimates: coins and sampling. Without dependence W is chi-square with (k - 1)(m - 1) degrees.
    """
    value, covariance = reports.table(path, [attribute, target])
    shape = tuple(reports.plan.schema.project([name]).cells for name in (attribute, target))
    share = float(value.sum())
    if share <= 0:
        return None
    law = nearest_distribution(value / share)
    gain = float(MutualInformation((shape[0], shape[1])).values(law[:, None])[0])
    within = Entropy().value(law.reshape(shape).sum(axis=1))
    ratio = gain / within if within > 0 else 0.0
    return Split(attribute, gain, ratio, _p_value(value.reshape(shape), covariance), law.reshape(shape) * share)


def _p_value(table: Array, covariance: Array) -> float:
    share, rows, columns = table.sum(), table.sum(axis=1), table.sum(axis=0)
    expected = np.outer(rows, columns) / share
    ones_r, ones_c = np.eye(len(rows)), np.eye(len(columns))
    gradient = np.einsum("ia,jb->ijab", ones_r, ones_c)
    gradient -= np.einsum("ia,j->ija", ones_r, columns / share)[..., None]
    gradient -= np.einsum("jb,i->ijb", ones_c, rows / share)[:, :, None, :]
    gradient += (expected / share)[..., None, None]
    free: tuple[NDArray[np.intp], ...] = np.ix_(np.arange(len(rows) - 1), np.arange(len(columns) - 1))
    slopes = gradient[free].reshape(-1, table.size)
    residual = (table - expected)[free].ravel()
    inner = slopes @ covariance @ slopes.T
    statistic = float(residual @ np.linalg.pinv(inner, hermitian=True) @ residual)
    return chi_square_tail(statistic, len(residual))


@dataclass(frozen=True)
class Node:
    """Law of the classes among the records that come here, and the split that sends them on, if there is one."""

    law: Array
    share: float
    split: Split | None = None
    children: tuple["Node", ...] = ()

    def laws(self, columns: Columns, names: Sequence[str]) -> Array:
        """Law of the leaf that each record comes to."""
        found = np.tile(self.law, (len(columns[0]), 1))
        if self.split is not None:
            codes = columns[names.index(self.split.attribute)]
            for code, child in enumerate(self.children):
                rows = np.flatnonzero(codes == code)
                found[rows] = child.laws(tuple(column[rows] for column in columns), names)
        return found

    @property
    def leaves(self) -> int:
        """Number of leaves."""
        return sum(child.leaves for child in self.children) or 1

    def lines(
        self, categories: dict[str, tuple[Label, ...]], classes: Sequence[Label], depth: int = 0
    ) -> Iterator[str]:
        """Readable tree, a line for each branch."""
        if self.split is None:
            yield f"{'  ' * depth}-> {classes[int(self.law.argmax())]} ({self.law.max():.2f} of {self.share:.3f})"
            return
        for label, child in zip(categories[self.split.attribute], self.children, strict=True):
            yield f"{'  ' * depth}{self.split.attribute} = {label}"
            yield from child.lines(categories, classes, depth + 1)

    def to_json(self, categories: dict[str, tuple[Label, ...]], classes: Sequence[Label]) -> dict[str, Any]:
        """Law of the classes, share of all records, and the branches with what they gain in bits, for programs."""
        here: dict[str, Any] = {
            "class": classes[int(self.law.argmax())],
            "law": self.law.tolist(),
            "share": self.share,
        }
        if self.split is None:
            return here
        branches = [
            {"value": label, **child.to_json(categories, classes)}
            for label, child in zip(categories[self.split.attribute], self.children, strict=True)
        ]
        found = {name: getattr(self.split, name) for name in ("attribute", "gain", "gain_ratio", "p_value")}
        return here | found | {"branches": branches}


@dataclass(frozen=True)
class Grower:
    """Settings of a tree, and the reports that it grows from."""

    reports: Reports
    target: str
    criterion: Criterion
    level: float
    most_depth: int

    def grow(self, names: Sequence[str]) -> Node:
        """Tree over these attributes."""
        value, _ = self.reports.table({}, [self.target])
        law = np.maximum(value, 0)
        return self._node(law / law.sum(), 1.0, {}, names)

    def _node(self, law: Array, share: float, path: Path, names: Sequence[str]) -> Node:
        best = self._best(path, [name for name in names if name not in path])
        if best is None:
            return Node(law, share)
        children = []
        for code, row in enumerate(best.table):
            mass = float(row.sum())
            inside = row / mass if mass > 0 else law
            grown = self._node(inside, mass, {**path, best.attribute: code}, names) if mass > 0 else Node(law, 0.0)
            children.append(grown)
        return Node(law, share, best, tuple(children))

    def _best(self, path: Path, names: Sequence[str]) -> Split | None:
        """Attribute with the largest gain among those whose gain is no noise; Bonferroni shares the level."""
        if len(path) >= self.most_depth:
            return None
        splits = []
        for name in names:
            try:
                split = split_of(self.reports, path, name, self.target)
            except SottovoceError:  # too many joint reports to be told apart: this path ends
                continue
            if split is not None and split.p_value <= self.level / len(names):
                splits.append(split)
        return max(splits, key=lambda split: getattr(split, self.criterion), default=None)


class DecisionTree(DisguisedClassifier):
    """ID3 (`gain`) or C4.5's `gain_ratio` from reconstructed tables (Quinlan 1986, 1993; Du & Zhan 2003).

    At each node all tables of an attribute with the class are reconstructed from the reports, and the tree goes on
    only where independence is refused at `level`, shared among the attributes: a gain that the disguise's noise
    would bring about is none. Every step down multiplies the joint reports and their noise, so trees stay small
    where odds do. Without a plan it learns from records in clear, coded by numbers from zero up.

    >>> from sottovoce.disguises.tables import disguise_frame
    >>> from sottovoce.schemas.attribute import boolean
    >>> from sottovoce.schemas.schema import Schema
    >>> from sottovoce.schemes.unrelated_question import UnrelatedQuestion
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
