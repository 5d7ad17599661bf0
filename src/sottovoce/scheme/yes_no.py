"""What the survey designs for one yes/no question share: two laws of the report, one for each answer."""

from collections.abc import Iterable, Sequence
from fractions import Fraction

from sottovoce.errors import SottovoceError
from sottovoce.mechanism.listed import Listed
from sottovoce.schema.variable import Label
from sottovoce.scheme.scheme import Sizes


def yes_no(
    sizes: Sizes, no: Sequence[Fraction], yes: Sequence[Fraction], reports: Iterable[Label] | None = None
) -> Listed:
    """Mechanism from the law of the report of a no and that of a yes, for one attribute (no, yes).

    >>> yes_no((2,), no=[Fraction(3, 4), Fraction(1, 4)], yes=[Fraction(1, 4), Fraction(3, 4)]).channel.odds
    Fraction(3, 1)
    """
    if sizes != (2,):
        raise SottovoceError("sizes", "must be those of one yes/no attribute, (2,)", sizes)
    return Listed.near(sizes, list(zip(no, yes, strict=True)), reports)
