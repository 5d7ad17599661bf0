"""Schemes of the literature, one file each: from the parameters of the publication to a mechanism.

To add a scheme, add one file here: its formula and citation, a frozen dataclass that checks its parameters,
`mechanism`, and `cases` and `refused` for the tests, which find it by themselves (docs/contributing.md). This room
imports mechanisms, channels, schemas, exact, checks and errors.

>>> from sottovoce.schemes import Warner
>>> Warner(p=3 / 4)
Warner(p=Fraction(3, 4))
"""

from importlib import import_module
from typing import Any

from sottovoce.schemes.scheme import all_schemes


def _homes() -> dict[str, tuple[str, ...]]:
    """Every scheme's module and class, as the files say: a new file needs no registration."""
    found = {scheme.__module__.removeprefix("sottovoce."): (scheme.__name__,) for scheme in all_schemes().values()}
    return {"schemes.scheme": ("Scheme",), **dict(sorted(found.items()))}


def __getattr__(name: str) -> Any:
    """Find a scheme's class by its name, in whichever file it is."""
    homes = _homes()
    if name == "HOMES":
        return homes
    if name == "__all__":
        return sorted(name for names in homes.values() for name in names)
    for module, names in homes.items():
        if name in names:
            return getattr(import_module(f"sottovoce.{module}"), name)
    raise AttributeError(f"module 'sottovoce.schemes' has no attribute {name!r}")


def __dir__() -> list[str]:
    """Names of all schemes."""
    return [name for names in _homes().values() for name in names]
