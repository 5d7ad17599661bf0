"""Reports as bytes, on the wire and in the database, and the check that a plan can produce them."""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, lru_cache
from hashlib import sha256
from operator import lt

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import SottovoceError, Words
from sottovoce.plans.plan import Group, Plan
from sottovoce.schemas.attribute import Columns, narrow

FULL_SUPPORT = frozenset({"diagonal", "private_diagonal", "replacement", "turning", "flips", "one_hot", "cut_paste"})
"""Kinds of mechanisms that can report every cell, provided that their odds are bounded."""

CACHED_REPORTS = 4096
"""Reports of a group whose possibility is cached."""

ONE_BYTE = 256
"""Codes that fit into one byte."""


class PossibleReports:
    """Check that codes have positive probability. Under bounded odds this holds for all truths or for none.

    >>> from sottovoce.schemas.attribute import Attribute
    >>> from sottovoce.schemas.schema import Schema
    >>> from sottovoce.schemes.subset_selection import SubsetSelection
    >>> plan = Plan.of(Schema([Attribute("a", range(4))]), {"a": SubsetSelection(odds=3, size=2)})
    >>> [PossibleReports(plan)(codes) for codes in ([1, 0, 1, 0], [1, 1, 1, 1])]
    [True, False]
    """

    def __init__(self, plan: Plan) -> None:
        """Select the groups that cannot report every cell."""
        self._groups = [
            (plan.report_columns(group), group.mechanism.channel.shape_out, _possible_cells(group))
            for group in plan.groups
            if group.mechanism.kind not in FULL_SUPPORT
        ]

    def __call__(self, codes: Sequence[int]) -> bool:
        """Return whether every group can produce its part of a report."""
        return all(possible(_cell(codes, columns, sizes)) for columns, sizes, possible in self._groups)


def _possible_cells(group: Group) -> Callable[[int], bool]:
    entry = group.mechanism.channel.entry
    return lru_cache(CACHED_REPORTS)(lambda cell: entry(cell, 0) > 0)


def _cell(codes: Sequence[int], columns: Sequence[int], sizes: Sequence[int]) -> int:
    """Return the index of a joint cell as a Python int of any size; the last column varies fastest."""
    cell = 0
    for column, size in zip(columns, sizes, strict=True):
        cell = cell * size + codes[column]
    return cell


class ReportFormat:
    """Layout of a plan's reports: every code big-endian, in the order of the report's columns.

    All reports of a plan have the same length.

    >>> from sottovoce.plans.budget import new_plan
    >>> from sottovoce.schemas.attribute import Attribute
    >>> from sottovoce.schemas.schema import Schema
    >>> layout = ReportFormat(new_plan(Schema([Attribute("a", range(3)), Attribute("b", range(300))]), odds=9))
    >>> layout.length, layout.fits(bytes([2, 1, 43])), layout.fits(bytes([3, 0, 0]))
    (3, True, False)
    """

    def __init__(self, plan: Plan) -> None:
        """Read the sizes of the columns from a plan."""
        self.sizes = plan.report_schema.sizes
        self._possible = PossibleReports(plan)

    @cached_property
    def widths(self) -> tuple[int, ...]:
        """Bytes of each column."""
        return tuple(1 if size <= ONE_BYTE else 2 for size in self.sizes)

    @cached_property
    def length(self) -> int:
        """Bytes of a report."""
        return sum(self.widths)

    def fits(self, report: bytes) -> bool:
        """Return whether bytes are a report of the plan: the right length, codes in range, and possible."""
        if len(report) != self.length:
            return False
        codes = report if self.length == len(self.sizes) else [int(column[0]) for column in self._split(report)]
        return all(map(lt, codes, self.sizes)) and self._possible(codes)

    def to_bytes(self, columns: Columns) -> list[bytes]:
        """Return the report of every row of coded columns."""
        parts = [
            np.asarray(codes).astype(">u2" if width == 2 else "u1").view("u1").reshape(-1, width)
            for codes, width in zip(columns, self.widths, strict=True)
        ]
        return [row.tobytes() for row in np.concatenate(parts, axis=1)]

    def to_columns(self, reports: Iterable[bytes]) -> Columns:
        """Return the coded columns of reports; refuse bytes that are no report of the plan."""
        joined = b"".join(reports)
        if len(joined) % self.length:
            raise SottovoceError("reports", f"must have {self.length} bytes each", Words("another length"))
        columns = tuple(self._split(joined))
        if any(len(codes) and int(codes.max()) >= size for codes, size in zip(columns, self.sizes, strict=True)):
            raise SottovoceError("reports", "must have codes below the sizes of their columns", Words("larger ones"))
        return tuple(narrow(codes, size) for codes, size in zip(columns, self.sizes, strict=True))

    def _split(self, joined: bytes) -> Iterable[NDArray[np.unsignedinteger]]:
        rows = np.frombuffer(joined, np.uint8).reshape(-1, self.length)
        start = 0
        for width in self.widths:
            column = np.ascontiguousarray(rows[:, start : start + width])
            yield column[:, 0] if width == 1 else column.view(">u2")[:, 0]
            start += width


def receipt_of(survey_hash: str, report: str, key: str) -> str:
    """Return the receipt of a report. Server and client compute it independently, so both know the same bytes.

    >>> receipt_of("00" * 32, "01", "ff" * 16)
    '1227b8cb85b2d99a'
    """
    return sha256(f"{survey_hash}{report}{key}".encode("ascii")).hexdigest()[:16]
