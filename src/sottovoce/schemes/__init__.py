"""The scheme room: the literature, one file each, from parameters people know to a mechanism.

Adding a scheme is adding one file here: its formula and citation, a frozen dataclass with range
checks, `mechanism`, and `cases` and `refused` for the law tests, which find it by themselves.
May touch: mechanism, channel, schema, exact, errors.

>>> from sottovoce.schemes import Warner
>>> Warner(p=3 / 4)
Warner(p=Fraction(3, 4))
"""

from typing import Any


def __getattr__(name: str) -> Any:
    """Find a scheme's class by its name, in whichever file it stands."""
    from sottovoce.schemes.scheme import schemes

    for found in schemes().values():
        if found.__name__ == name:
            return found
    raise AttributeError(f"module 'sottovoce.schemes' has no attribute {name!r}")
