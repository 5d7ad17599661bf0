"""Names of a namespace, loaded from their homes on first use (PEP 562)."""

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

Homes = Mapping[str, Sequence[str]]
"""Module below `sottovoce`, and the names of it that a namespace offers. Type stubs are made from it, too."""


def lazy(
    namespace: str, homes: Homes, packages: Sequence[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the `__getattr__` and `__dir__` of a namespace.

    `packages` are namespaces below this one. A name is looked up once and then stays in the module.

    >>> load, names = lazy("sottovoce", {"errors": ["SottovoceError"]}, ["schemes"])
    >>> load("SottovoceError").__name__, names()
    ('SottovoceError', ['SottovoceError', 'schemes'])
    """
    home = {name: module for module, names in homes.items() for name in names}
    public = sorted([*home, *packages])

    def load(name: str) -> Any:
        if name == "__all__":
            return public
        if name in home:
            value = getattr(import_module(f"sottovoce.{home[name]}"), name)
        elif name in packages:
            value = import_module(f"{namespace}.{name}")
        else:
            raise AttributeError(f"module {namespace!r} has no attribute {name!r}")
        setattr(sys.modules[namespace], name, value)
        return value

    return load, lambda: public
