"""What the client knows of every mechanism, whatever its kind."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction

from conformance.client.rules import Json
from conformance.client.schema import as_report

Report = list[list[int]]
"""Codes for the place of each column of the group; or a single list, for a report that stands in one place."""


class Mechanism(ABC):
    """Coins of a group, the odds of its report, and the report; made of the numbers of codes and the integers.

    `codes_of_truth` says whether the report is in the codes of the group's own columns.
    """

    coins: list[int]
    odds: Fraction | None
    codes_of_truth = True

    @abstractmethod
    def __init__(self, sizes: Sequence[int], json: Json) -> None:
        """Read the integers, and refuse what must not be."""

    @abstractmethod
    def respond(self, truth: Sequence[int], shown: Sequence[int]) -> Report:
        """Report from the codes of the truth and what the coins show."""

    def columns(self, attributes: Sequence[Json]) -> list[Json]:
        """Attributes of the report: one for each of the group's, or a single one."""
        return [as_report(attribute) for attribute in attributes]


def each_in_its_place(codes: Sequence[int]) -> Report:
    """Report that has a code for each column of the truth."""
    return [[code] for code in codes]
