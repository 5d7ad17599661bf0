"""Trees that grow from disguised records until a split could be noise."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.errors import SottovoceError
from sottovoce.mine.classify.node import Path, Reports, Split, split_of
from sottovoce.schema.cells import Columns
from sottovoce.schema.variable import Label

Criterion = Literal["gain", "gain_ratio"]


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
