"""How vectors become files: one vector a line, so that a change shows where it is."""

import json
from importlib import import_module
from pkgutil import iter_modules

import conformance

TOOLS = {"__main__", "client", "draws", "edges", "files", "forged_mechanisms", "forgeries", "plans"}
VERSION = 1
"""Of the files' layout; a new number where a field changes its meaning."""


def names() -> list[str]:
    """Files there are: the modules of this folder that are not its tools."""
    return sorted(module.name for module in iter_modules(conformance.__path__) if module.name not in TOOLS)


def text(name: str) -> str:
    """Content of one file; pure ASCII, so that no editor or server changes it on the way."""
    vectors = [json.dumps(vector) for vector in import_module(f"conformance.{name}").vectors()]
    lines = ",\n".join(vectors)
    return f'{{"version": {VERSION}, "vectors": [\n{lines}\n]}}\n'
