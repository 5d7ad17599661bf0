"""Decision trees from disguised records, for any plan."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from math import prod
from statistics import NormalDist
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from sottovoce.checks import Array, number, one_of, whole_number
from sottovoce.counts.patterns import PatternCounter
from sottovoce.display import html_text
from sottovoce.errors import SottovoceError
from sottovoce.estimates.independence import chi_square_tail
from sottovoce.estimates.likelihood import nearest_distribution
from sottovoce.measures.association import MutualInformation
from sottovoce.measures.functionals import Entropy
from sottovoce.mining.classify.coding import report_counter
from sottovoce.mining.classify.joint_table import JointTable, class_tables, unbiased_scores
from sottovoce.mining.classify.learner import DisguisedClassifier, Question
from sottovoce.plans.plan import Plan
from sottovoce.schemas.attribute import Columns, Label
from sottovoce.schemas.schema import Schema

MOST_CELLS = 2**62
"""Joint reports that can be numbered in 64 bits."""

TINY = 1e-300
"""Stands for zero in denominators."""

BELOW_TIE = 0.999
"""Part of the way from its parent to a tie of two classes that a child in doubt is moved to."""

SMALLEST_EIGENVALUE = 1e-9
"""Eigenvalues of a covariance below this share of the largest are rounding errors."""

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
    def of(cls, plan: Plan, schema: Schema, counter: PatternCounter) -> "CountedReports":
        """Count equal reports."""
        found = counter.patterns(schema)
        return cls(plan, schema, found.columns, found.times.astype(float))

    @property
    def respondents(self) -> float:
        """Number of reports."""
        return float(self.weights.sum())

    def table(self, path: Path, names: Sequence[str]) -> "NodeTable":
        """Return the table of `names` within a node, estimated without bias, in shares of ALL records."""
        joint = JointTable.of(self.plan, [*path, *names], self.schema)
        frequencies = joint.weigh(self.columns, self.weights) / self.respondents
        shape = joint.shape[: len(joint.names)]
        inside = np.arange(prod(shape)).reshape(shape)[tuple(path.values())].ravel()
        functions = np.zeros((prod(shape), len(inside)))
        functions[inside, np.arange(len(inside))] = 1
        scores = unbiased_scores(joint.channel, joint.expand(functions))
        return NodeTable(joint, frequencies, inside, scores, shape[len(path) :], self.respondents)


@dataclass(frozen=True)
class NodeTable:
    """Unbiased shares of the cells within a node: the means of `scores` over the reports."""

    joint: JointTable
    frequencies: Array
    inside: NDArray[np.intp]
    scores: Array
    shape: tuple[int, ...]
    respondents: float

    @property
    def value(self) -> Array:
        """Shares of the cells among all records; they may be negative."""
        return np.asarray((self.frequencies @ self.scores).reshape(self.shape))

    @cached_property
    def truths(self) -> Array:
        """Nearest distribution to the unbiased estimate of all cells of the channel."""
        return nearest_distribution(self.joint.channel.solve(self.frequencies))

    def p_value(self) -> float:
        """Return the p-value of independence of the two attributes within the node, by a score test.

        `d = p(a, c) - r(a) p(c) - p(a) s(c) + p r(a) s(c)` for all values but the last, with the unbiased shares p and
        the proportions r and s of the values and of the classes in the node, has mean zero under independence. Its
        covariance V, of coins and sampling, is that under independence, with all else as estimated: a few reports
        cannot make it small by chance, as they can the covariance of a Wald test. `d^T V^+ d` is chi-square with as
        many degrees of freedom as V has dimensions. For undisguised records it is Pearson's statistic.
        """
        if self._cells()[self.inside].sum() <= 0:
            return 1.0
        rows, columns = (nearest_distribution(self.value.sum(axis=axis) / self.value.sum()) for axis in (1, 0))
        expected = self.joint.channel.matvec(self._independent(rows, columns))
        slopes = np.kron(*(np.eye(len(shares))[:-1] - shares[:-1, None] for shares in (rows, columns)))
        moved = self.scores @ slopes.T
        values, vectors = np.linalg.eigh(moved.T @ (expected[:, None] * moved) / self.respondents)
        kept = values > SMALLEST_EIGENVALUE * max(float(values[-1]), TINY)
        if not kept.any():
            return 1.0
        residual = vectors[:, kept].T @ (slopes @ self.value.ravel())
        return chi_square_tail(float((residual**2 / values[kept]).sum()), int(kept.sum()))

    def children(self, table: Array, parent: Array, margin: float) -> list[Array]:
        """Return the distribution of the classes for each value of the attribute, from their table.

        A class that is not the parent's most frequent one takes its place only if its share is larger by `margin`
        standard errors of the coins; otherwise the child is moved towards its parent until it is not. An empty child
        is its parent. For undisguised records, which have no coins, these are the rows of the table.
        """
        expected, inside = self.joint.channel.matvec(self.truths), self._cells()[self.inside].sum(axis=1)
        scores, shares = self.scores.reshape(-1, *self.shape), inside.reshape(self.shape)
        top = int(parent.argmax())
        children = []
        for value, row in enumerate(table):
            if row.sum() <= 0:
                children.append(parent)
                continue
            child = row / row.sum()
            ahead = np.flatnonzero(child > child[top])
            differences = scores[:, value, ahead] - scores[:, value, [top]]
            coins = expected @ differences**2 - shares[value, ahead] - shares[value, top]
            errors = np.sqrt(np.maximum(coins, 0) / self.respondents)
            doubtful = ahead[self.value[value, ahead] - self.value[value, top] < margin * errors]
            gaps = parent[top] - parent[doubtful]
            part = np.min(BELOW_TIE * gaps / (gaps + child[doubtful] - child[top]), initial=1.0)
            children.append(parent + part * (child - parent))
        return children

    def _cells(self) -> Array:
        """Estimated truths with a row for each cell of the names, and a column for each of attributes summed over."""
        joint = self.joint
        return np.asarray(self.truths[joint.order].reshape(prod(joint.shape[: len(joint.names)]), -1))

    def _independent(self, rows: Array, columns: Array) -> Array:
        """Return truths for which the attributes are independent within the node, with these distributions."""
        cells = self._cells()
        cells[self.inside] = np.outer(rows, columns).reshape(-1, 1) * cells[self.inside].sum(axis=0)
        truths = np.empty_like(self.truths)
        truths[self.joint.order] = cells.ravel()
        return truths


@dataclass(frozen=True)
class Split:
    """Information gain of an attribute about the class within a node, in bits, and the p-value of independence."""

    attribute: str
    gain: float
    gain_ratio: float
    p_value: float
    table: Array
    node: NodeTable = field(repr=False)


def split_of(reports: CountedReports, path: Path, attribute: str, label: str) -> Split | None:
    """Return the gain of a split (Quinlan 1986; Du & Zhan 2003) and its p-value; None for empty nodes.

    A node is empty if its estimated share is not positive.
    """
    found = reports.table(path, [attribute, label])
    value, shape = found.value, found.shape
    share = float(value.sum())
    if share <= 0:
        return None
    joint = nearest_distribution(value.ravel() / share)
    gain = float(MutualInformation((shape[0], shape[1])).values(joint[:, None])[0])
    entropy = Entropy().value(joint.reshape(shape).sum(axis=1))
    ratio = gain / entropy if entropy > 0 else 0.0
    return Split(attribute, gain, ratio, found.p_value(), joint.reshape(shape) * share, found)


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

    def paths(self, path: Path | None = None) -> Iterator[tuple[Path, "Node"]]:
        """Yield each leaf with the path to it."""
        here = {} if path is None else path
        if self.split is None:
            yield here, self
            return
        for code, child in enumerate(self.children):
            yield from child.paths({**here, self.split.attribute: code})

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
        shares = nearest_distribution(self.reports.table({}, [self.label]).value)
        return self._nodes([Candidate({}, shares, 1.0)], names)[0]

    def _nodes(self, family: Sequence["Candidate"], names: Sequence[str]) -> list[Node]:
        """Return the nodes of siblings, each with the split of largest gain among its significant ones.

        The smallest p-value of a node is multiplied by its number of attributes (Bonferroni), and the siblings are
        tested together at the level `significance` by the procedure of Benjamini & Hochberg (1995): among nodes that
        are tested only because their parent was split, this controls the false discovery rate (Yekutieli 2008, JASA
        103, 309-316).
        """
        splits = [self._splits(candidate, names) for candidate in family]
        level = _rejected_up_to([_adjusted(tried) for tried in splits], self.significance)
        return [self._node(candidate, tried, level, names) for candidate, tried in zip(family, splits, strict=True)]

    def _node(self, candidate: "Candidate", splits: Sequence[Split], level: float, names: Sequence[str]) -> Node:
        path, distribution, share = candidate.path, candidate.distribution, candidate.share
        significant = [split for split in splits if split.p_value * len(splits) <= level]
        if not significant:
            return Node(distribution, share)
        best = max(significant, key=lambda split: float(getattr(split, self.criterion)))
        margin = NormalDist().inv_cdf(1 - self.significance)
        children = best.node.children(best.table, distribution, margin)
        family = [
            Candidate({**path, best.attribute: code}, child, float(row.sum()))
            for code, (child, row) in enumerate(zip(children, best.table, strict=True))
        ]
        return Node(distribution, share, best, tuple(self._nodes(family, names)))

    def _splits(self, candidate: "Candidate", names: Sequence[str]) -> list[Split]:
        """Return the possible splits of a node: none if it is empty, or as deep as allowed."""
        if candidate.share <= 0 or len(candidate.path) >= self.max_depth:
            return []
        splits = []
        for name in names:
            if name not in candidate.path:
                try:
                    split = split_of(self.reports, candidate.path, name, self.label)
                except SottovoceError:  # too many joint reports to count, or never asked together: this path ends
                    continue
                splits += [] if split is None else [split]
        return splits


@dataclass(frozen=True)
class Candidate:
    """A node before it is split: the path to it, the distribution of its classes, and its share of all records."""

    path: Path
    distribution: Array
    share: float


def _predict_leaves(names: Sequence[str], leaves: Sequence[tuple[Path, int]], columns: Columns) -> NDArray[np.intp]:
    """Return the class of the records in some leaves; -1 for the others."""
    predicted = np.full(len(columns[0]) if names else 1, -1, np.intp)
    for path, best in leaves:
        here = [codes == path[name] for name, codes in zip(names, columns, strict=True)]
        predicted[np.logical_and.reduce(here) if here else slice(None)] = best
    return predicted


def _adjusted(splits: Sequence[Split]) -> float:
    """Return the smallest p-value of a node's splits, times their number; one if there is none."""
    return min((split.p_value for split in splits), default=1.0) * max(len(splits), 1)


def _rejected_up_to(p_values: Sequence[float], level: float) -> float:
    """Return the largest p-value that is significant by the procedure of Benjamini & Hochberg, or -1.

    >>> _rejected_up_to([0.001, 0.03, 0.9, 0.04], 0.05)
    0.001
    """
    ordered = sorted(p_values)
    count = len(ordered)
    return max((p for rank, p in enumerate(ordered, start=1) if p <= level * rank / count), default=-1.0)


class DecisionTree(DisguisedClassifier):
    """ID3 (`gain`) or C4.5's `gain_ratio` from reconstruct tables (Quinlan 1986, 1993; Du & Zhan 2003).

    `label` is the attribute to predict. At each node the table of each attribute with the label is reconstructed from
    the reports, and the node is split only if independence is rejected, given the noise of coins and sampling: at the
    level `significance`, adjusted for the number of attributes and for the nodes that are tested together
    (`Grower`), so that a tree of a label that depends on nothing is a single leaf with probability `1 - significance`.
    Every split multiplies the joint reports and their noise, so that trees are small where odds are. A branch predicts
    another class than its parent only where that is significantly more frequent, given the coins. Without a plan it
    learns from undisguised records, coded by integers from zero up.

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

    def _learn(self, plan: Plan, table: Any, beside: dict[str, Any]) -> Array:
        label, names = self._label(), self._features()
        class_tables(plan, names, label)  # raises for what the reports do not identify, before anything is counted
        reports = CountedReports.of(plan, self._reports(), report_counter(table, self._reports(), beside))
        self.tree_: Node = Grower(reports, label, self.criterion, self.significance, self.max_depth).grow(names)
        return reports.table({}, [label]).value

    def _questions(self) -> list[Question]:
        """Return a question for each set of attributes that the path to a leaf asks."""
        features = self._features()
        leaves: dict[tuple[str, ...], list[tuple[Path, int]]] = {}
        for path, leaf in self.tree_.paths():
            names = tuple(sorted(path, key=features.index))
            leaves.setdefault(names, []).append((path, int(leaf.distribution.argmax())))
        return [Question(names, partial(_predict_leaves, names, found)) for names, found in leaves.items()]

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
