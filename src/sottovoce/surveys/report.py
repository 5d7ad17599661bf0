"""A report on the wire and in the store, and which reports a plan can produce at all."""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, lru_cache
from hashlib import sha256
from operator import lt

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import SottovoceError, Words
from sottovoce.plans.plan import Group, Plan
from sottovoce.schemas.attribute import Columns, narrow

FULL = frozenset({"diagonal", "private_diagonal", "replacement", "turning", "flips", "one_hot", "cut_paste"})
"""Mechanisms that may report anything of the right shape, where their odds are bounded."""

REMEMBERED = 4096
"""Reports of a group that are looked up instead of computed."""
BYTE = 256


class PossibleReports:
    """Checks codes against the channel's entries. Under bounded odds a report is possible for all truths or for none.

    >>> from sottovoce.schemas.attribute import Attribute
    >>> from sottovoce.schemas.schema import Schema
    >>> from sottovoce.schemes.subset_selection import SubsetSelection
    >>> plan = Plan.of(Schema([Attribute("a", range(4))]), {"a": SubsetSelection(odds=3, size=2)})
    >>> [PossibleReports(plan)(codes) for codes in ([1, 0, 1, 0], [1, 1, 1, 1])]
    [True, False]
    """

    def __init__(self, plan: Plan) -> None:
        """Pick the groups that need a look."""
        self._groups = [
            (plan.report_columns(group), group.mechanism.channel.shape_out, _lookup(group))
            for group in plan.groups
            if group.mechanism.kind not in FULL
        ]

    def __call__(self, codes: Sequence[int]) -> bool:
        """Whether each group's part of a report can come about."""
        return all(possible(_joined(codes, columns, sizes)) for columns, sizes, possible in self._groups)


def _lookup(group: Group) -> Callable[[int], bool]:
    entry = group.mechanism.channel.entry
    return lru_cache(REMEMBERED)(lambda report: entry(report, 0) > 0)


def _joined(codes: Sequence[int], columns: Sequence[int], sizes: Sequence[int]) -> int:
    """Number of a joint cell, of any length: the last column varies fastest."""
    joint = 0
    for column, size in zip(columns, sizes, strict=True):
        joint = joint * size + codes[column]
    return joint


class ReportFormat:
    """Fixed length and shape of a plan's reports: every code big-endian, in the order of the report's columns.

    >>> from sottovoce.plans.budget import new_plan
    >>> from sottovoce.schemas.attribute import Attribute
    >>> from sottovoce.schemas.schema import Schema
    >>> form = ReportFormat(new_plan(Schema([Attribute("a", range(3)), Attribute("b", range(300))]), odds=9))
    >>> form.length, form.fits(bytes([2, 1, 43])), form.fits(bytes([3, 0, 0]))
    (3, True, False)
    """

    def __init__(self, plan: Plan) -> None:
        """Lay out the columns."""
        self.sizes = plan.report_schema.sizes
        self._possible = PossibleReports(plan)

    @cached_property
    def widths(self) -> tuple[int, ...]:
        """Bytes of each column."""
        return tuple(1 if size <= BYTE else 2 for size in self.sizes)

    @cached_property
    def length(self) -> int:
        """Bytes of a report."""
        return sum(self.widths)

    def fits(self, report: bytes) -> bool:
        """Whether these bytes are a report of the plan: the right length, codes below their sizes, and possible."""
        if len(report) != self.length:
            return False
        codes = report if self.length == len(self.sizes) else [int(column[0]) for column in self._split(report)]
        return all(map(lt, codes, self.sizes)) and self._possible(codes)

    def to_bytes(self, columns: Columns) -> list[bytes]:
        """Reports of coded columns, one a row."""
        parts = [
            np.asarray(codes).astype(">u2" if width == 2 else "u1").view("u1").reshape(-1, width)
            for codes, width in zip(columns, self.widths, strict=True)
        ]
        return [row.tobytes() for row in np.concatenate(parts, axis=1)]

    def to_columns(self, reports: Iterable[bytes]) -> Columns:
        """Coded columns of many reports; bytes that are no report of the plan are refused."""
        joined = b"".join(reports)
        if len(joined) % self.length:
            raise SottovoceError("reports", f"must have {self.length} bytes each", Words("others"))
        columns = tuple(self._split(joined))
        if any(len(codes) and int(codes.max()) >= size for codes, size in zip(columns, self.sizes, strict=True)):
            raise SottovoceError("reports", "must have codes below the sizes of their columns", Words("others"))
        return tuple(narrow(codes, size) for codes, size in zip(columns, self.sizes, strict=True))

    def _split(self, joined: bytes) -> Iterable[NDArray[np.unsignedinteger]]:
        rows = np.frombuffer(joined, np.uint8).reshape(-1, self.length)
        place = 0
        for width in self.widths:
            own = np.ascontiguousarray(rows[:, place : place + width])
            yield own[:, 0] if width == 1 else own.view(">u2")[:, 0]
            place += width


def receipt_of(survey_hash: str, report: str, key: str) -> str:
    """What the server answers and the page computes for itself: both speak of the same bytes.

    >>> receipt_of("00" * 32, "01", "ff" * 16)
    '1227b8cb85b2d99a'
    """
    return sha256(f"{survey_hash}{report}{key}".encode("ascii")).hexdigest()[:16]
