"""Decision trees from disguised records, for any plan."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from sottovoce.checks import Array, number, one_of, whole_number
from sottovoce.display import html_text
from sottovoce.errors import SottovoceError
from sottovoce.estimates.independence import chi_square_tail
from sottovoce.estimates.likelihood import nearest_distribution
from sottovoce.measures.association import MutualInformation
from sottovoce.measures.functionals import Entropy
from sottovoce.mining.classify.coding import check_classes, coded
from sottovoce.mining.classify.joint_table import JointTable, class_tables, unbiased_scores
from sottovoce.mining.classify.learner import DisguisedClassifier
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Codes, Columns, Label, ravel, unravel
from sottovoce.schemas.schema import Schema

MOST_CELLS = 2**62
"""Joint reports that can be numbered in 64 bits."""

Path = Mapping[str, int]
"""Codes of the attributes on the path from the root to a node."""

Criterion = Literal["gain", "gain_ratio"]


@dataclass(frozen=True)
class CountedReports:
    """Distinct reports and their counts."""

    plan: Plan
    schema: Schema
    columns: Columns
    weights: Array

    @classmethod
    def of(cls, plan: Plan, schema: Schema, columns: Sequence[Codes]) -> "CountedReports":
        """Count equal reports if their joint cells can be numbered, else give each a count of one."""
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
        """Return unbiased shares of the cells of `names` within the path, among ALL records, and their covariance."""
        joint = JointTable.of(self.plan, [*path, *names], self.schema)
        frequencies = joint.weigh(self.columns, self.weights) / self.respondents
        shape = joint.shape[: len(joint.names)]
        inside = np.arange(prod(shape)).reshape(shape)[tuple(path.values())].ravel()
        functions = np.zeros((prod(shape), len(inside)))
        functions[inside, np.arange(len(inside))] = 1
        scores = unbiased_scores(joint.channel, joint.expand(functions))
        value = frequencies @ scores
        second = scores.T @ (frequencies[:, None] * scores)
        return value, (second - np.outer(value, value)) / self.respondents


@dataclass(frozen=True)
class Split:
    """Information gain of an attribute about the class within a node, in bits, and the p-value of independence."""

    attribute: str
    gain: float
    gain_ratio: float
    p_value: float
    table: Array


def split_of(reports: CountedReports, path: Path, attribute: str, label: str) -> Split | None:
    """Return the gain of a split (Quinlan 1986; Du & Zhan 2003) and a Wald test of independence; None for empty nodes.

    `W = d^T V^-1 d` with `d = p(a, c) - p(a) p(c) / p(node)` for all values but the last, and V the covariance of d
    from that of the estimates (coins and sampling). Under independence W is chi-square with (k - 1)(m - 1) degrees of
    freedom. A node is empty if its estimated share is not positive.
    """
    value, covariance = reports.table(path, [attribute, label])
    shape = tuple(reports.plan.schema.project([name]).cells for name in (attribute, label))
    share = float(value.sum())
    if share <= 0:
        return None
    joint = nearest_distribution(value / share)
    gain = float(MutualInformation((shape[0], shape[1])).values(joint[:, None])[0])
    entropy = Entropy().value(joint.reshape(shape).sum(axis=1))
    ratio = gain / entropy if entropy > 0 else 0.0
    return Split(attribute, gain, ratio, _p_value(value.reshape(shape), covariance), joint.reshape(shape) * share)


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
    """Distribution of the classes among the records in a node, and the split into children, if there is one."""

    distribution: Array
    share: float
    split: Split | None = None
    children: tuple["Node", ...] = ()

    def predict(self, columns: Columns, names: Sequence[str]) -> Array:
        """Return the distribution of the classes at each record's leaf."""
        distributions = np.tile(self.distribution, (len(columns[0]), 1))
        if self.split is not None:
            codes = columns[names.index(self.split.attribute)]
            for code, child in enumerate(self.children):
                rows = np.flatnonzero(codes == code)
                distributions[rows] = child.predict(tuple(column[rows] for column in columns), names)
        return distributions

    @property
    def leaves(self) -> int:
        """Number of leaves."""
        return sum(child.leaves for child in self.children) or 1

    def lines(
        self, categories: dict[str, tuple[Label, ...]], classes: Sequence[Label], depth: int = 0
    ) -> Iterator[str]:
        """Yield a line for each branch."""
        if self.split is None:
            best = self.distribution.argmax()
            yield f"{'  ' * depth}-> {classes[int(best)]} ({self.distribution[best]:.2f} of {self.share:.3f})"
            return
        for label, child in zip(categories[self.split.attribute], self.children, strict=True):
            yield f"{'  ' * depth}{self.split.attribute} = {label}"
            yield from child.lines(categories, classes, depth + 1)

    def to_json(self, categories: dict[str, tuple[Label, ...]], classes: Sequence[Label]) -> dict[str, Any]:
        """Return the distribution of the classes, share of all records, and branches with their gain in bits."""
        here: dict[str, Any] = {
            "class": classes[int(self.distribution.argmax())],
            "distribution": self.distribution.tolist(),
            "share": self.share,
        }
        if self.split is None:
            return here
        branches = [
            {"value": label, **child.to_json(categories, classes)}
            for label, child in zip(categories[self.split.attribute], self.children, strict=True)
        ]
        split = {name: getattr(self.split, name) for name in ("attribute", "gain", "gain_ratio", "p_value")}
        return here | split | {"branches": branches}


@dataclass(frozen=True)
class Grower:
    """Settings of a tree, and the reports that it is grown from."""

    reports: CountedReports
    label: str
    criterion: Criterion
    significance: float
    max_depth: int

    def grow(self, names: Sequence[str]) -> Node:
        """Return a tree over these attributes."""
        value, _ = self.reports.table({}, [self.label])
        shares = np.maximum(value, 0)
        return self._node(shares / shares.sum(), 1.0, {}, names)

    def _node(self, distribution: Array, share: float, path: Path, names: Sequence[str]) -> Node:
        best = self._best(path, [name for name in names if name not in path])
        if best is None:
            return Node(distribution, share)
        children = []
        for code, row in enumerate(best.table):
            inside = float(row.sum())
            if inside > 0:
                children.append(self._node(row / inside, inside, {**path, best.attribute: code}, names))
            else:
                children.append(Node(distribution, 0.0))
        return Node(distribution, share, best, tuple(children))

    def _best(self, path: Path, names: Sequence[str]) -> Split | None:
        """Return the significant split (Bonferroni) with the largest gain, or None."""
        if len(path) >= self.max_depth:
            return None
        splits = []
        for name in names:
            try:
                split = split_of(self.reports, path, name, self.label)
            except SottovoceError:  # too many joint reports to count: this path ends
                continue
            if split is not None and split.p_value <= self.significance / len(names):
                splits.append(split)
        return max(splits, key=lambda split: getattr(split, self.criterion), default=None)


class DecisionTree(DisguisedClassifier):
    """ID3 (`gain`) or C4.5's `gain_ratio` from reconstruct tables (Quinlan 1986, 1993; Du & Zhan 2003).

    `label` is the attribute to predict. At each node the table of each attribute with the label is reconstructed from
    the reports, and the node is split only if independence is rejected at the level `significance`, divided among
    the attributes: a gain that the disguise's noise explains does not count. Every split multiplies the joint reports
    and their noise, so that trees are small where odds are. Without a plan it learns from undisguised records, coded by
    integers from zero up.

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
        label: str | None = None,
        *,
        attributes: Sequence[str] | None = None,
        criterion: Criterion = "gain",
        significance: float = 0.05,
        max_depth: int = 8,
    ) -> None:
        """Store the settings; `fit` checks them."""
        self.plan = plan
        self.label = label
        self.attributes = attributes
        self.criterion = criterion
        self.significance = significance
        self.max_depth = max_depth

    def fit(self, X: Any, y: Any = None) -> "DecisionTree":
        """Learn from disguised records: a table or file that holds the label too, or the label's reports as `y`."""
        self._check()
        plan, beside, table = self._prepare(X, y)
        label, names = self._label(), self._features()
        class_tables(plan, names, label)  # raises for what the reports do not identify, before anything is counted
        reports = CountedReports.of(plan, self._reports(), coded(table, self._reports(), beside))
        if self.plan is not None:
            check_classes(self.classes_.tolist(), reports.table({}, [label])[0])
        self.tree_: Node = Grower(reports, label, self.criterion, self.significance, self.max_depth).grow(names)
        return self

    def predict_proba(self, X: Any) -> Array:
        """Return the distribution of the classes at the leaf of each undisguised record."""
        columns = self._clear_codes(X)
        return self.tree_.predict(columns, self._features())

    def __str__(self) -> str:
        """Return the tree, a line for each branch; the settings before fitting."""
        if not hasattr(self, "tree_"):
            return repr(self)
        return "\n".join(self.tree_.lines(self._categories(), self.classes_.tolist()))

    def _repr_html_(self) -> str:
        return html_text(str(self))

    def to_json(self) -> dict[str, Any]:
        """Return the tree as nested branches with the gain and p-value of each split, for programs."""
        self._agreed_plan()
        return self.tree_.to_json(self._categories(), self.classes_.tolist())

    def _categories(self) -> dict[str, tuple[Label, ...]]:
        names = self._features()
        return dict(zip(names, self.plan_.categories_of(names), strict=True))

    def _predict_codes(self, columns: Columns) -> NDArray[np.intp]:
        return np.asarray(self.tree_.predict(columns, self._features()).argmax(axis=1))

    def _check(self) -> None:
        one_of("criterion", self.criterion, get_args(Criterion))
        number("significance", self.significance, 0, 1, open_ends=True)
        whole_number("max_depth", self.max_depth)
