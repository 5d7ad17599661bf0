"""Reports as bytes, on the wire and in the database, and the check that a plan can produce them."""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, lru_cache, partial
from hashlib import sha256
from operator import lt

import numpy as np
from numpy.typing import NDArray

from sottovoce.channels.channel import Channel
from sottovoce.channels.random_set import RandomSet
from sottovoce.errors import SottovoceError, Words
from sottovoce.plans.plan import Group, Plan
from sottovoce.plans.public import PublicNumber
from sottovoce.schemas.attribute import Columns, narrow

FULL_SUPPORT = frozenset({"diagonal", "private_diagonal", "replacement", "turning", "flips", "one_hot", "cut_paste"})
"""Kinds of mechanisms that can report every cell, provided that their odds are bounded."""

REPORT_ANY_TRUTH = frozenset({"diagonal", "private_diagonal", "replacement", "turning"})
"""Kinds that can report every cell also if their odds are unbounded: if it is the truth, or if it is not."""

CACHED_REPORTS = 4096
"""Reports of a group whose possibility is cached."""

ONE_BYTE = 256
"""Codes that fit into one byte."""


class PossibleReports:
    """Check that codes have positive probability under some truth. Under bounded odds it has under all or under none.

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
            if group.mechanism.kind not in (FULL_SUPPORT if group.guarantee.deniable else REPORT_ANY_TRUTH)
        ]

    def __call__(self, codes: Sequence[int]) -> bool:
        """Return whether every group can produce its part of a report."""
        return all(possible(_cell(codes, columns, sizes)) for columns, sizes, possible in self._groups)


def _possible_cells(group: Group) -> Callable[[int], bool]:
    channel = group.mechanism.channel
    if group.guarantee.deniable:
        return lru_cache(CACHED_REPORTS)(lambda cell: channel.entry(cell, 0) > 0)
    return lru_cache(CACHED_REPORTS)(partial(_possible_under_any, channel))


def _possible_under_any(channel: Channel, cell: int) -> bool:
    """Return whether some truth has this report: for every factor, and for a part that the report can be of."""
    if isinstance(channel, RandomSet):  # sums of lengths tell it, and the sets of hundreds of truths take long
        members = [j for j in range(channel.n_in) if cell >> (channel.n_in - 1 - j) & 1]
        return any(sum(slab.lengths[j] for j in members) == slab.size for slab in channel.components)
    if channel.samples:
        codes = _codes(cell, channel.shape_out)
        asked = tuple(axis for axis, code in enumerate(codes) if code < channel.shape_in[axis])
        parts = [part.channel for part in channel.parts if part.axes == asked and part.channel is not None]
        return any(_possible_under_any(part, _cell(codes, asked, part.shape_out)) for part in parts)
    for factor in reversed(channel.factors):
        cell, report = divmod(cell, factor.n_out)
        if not any(factor.entry(report, truth) > 0 for truth in range(factor.n_in)):
            return False
    return True


def _codes(cell: int, sizes: Sequence[int]) -> list[int]:
    """Return the codes of a joint cell, the inverse of `_cell`."""
    codes = []
    for size in reversed(sizes):
        cell, code = divmod(cell, size)
        codes.append(code)
    return codes[::-1]


def _cell(codes: Sequence[int], columns: Sequence[int], sizes: Sequence[int]) -> int:
    """Return the index of a joint cell as a Python int of any size; the last column varies fastest."""
    cell = 0
    for column, size in zip(columns, sizes, strict=True):
        cell = cell * size + codes[column]
    return cell


class ReportFormat:
    """Layout of a plan's reports: every code big-endian, disguised columns in their order, then public ones.

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
        public = [len(column.categories) for column in plan.public if not isinstance(column, PublicNumber)]
        self.sizes = (*plan.report_schema.sizes, *public)
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
