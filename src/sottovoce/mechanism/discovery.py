"""Find the classes a package holds, so that a new file needs no registration anywhere."""

from importlib import import_module
from inspect import isabstract
from pkgutil import iter_modules
from types import ModuleType
from typing import TypeVar

Kind = TypeVar("Kind")


def discover(package: ModuleType, base: type[Kind]) -> list[type[Kind]]:
    """Concrete subclasses of a base defined in the public modules of a package, by module name.

    >>> import sottovoce.channel
    >>> from sottovoce.channel.channel import Channel
    >>> [found.__name__ for found in discover(sottovoce.channel, Channel)][:2]
    ['Complement', 'CutAndPaste']
    """
    found = []
    for module_info in iter_modules(package.__path__):
        if module_info.name.startswith("_"):
            continue
        module = import_module(f"{package.__name__}.{module_info.name}")
        found += [
            member
            for member in vars(module).values()
            if isinstance(member, type)
            and issubclass(member, base)
            and member.__module__ == module.__name__
            and not isabstract(member)
        ]
    return found
