"""Write the type stubs of the namespaces from their tables of homes: `python tools/stubs.py [--check]`.

Names are loaded on first use, which type checkers and editors cannot follow. Each namespace's `__init__.pyi` says
where its names are at home; it is made from the very table that the loader reads, and the tests see that it is current.
"""

import argparse
import sys
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).parent.parent / "src" / "sottovoce"
NAMESPACES = ("", "schemes", "measures", "estimates", "designs", "mining", "graphs", "surveys", "datasets")
HEAD = '"""Made by tools/stubs.py from the table of homes in `__init__.py`."""\n\n'


def stub(namespace: str) -> str:
    """Return the stub of a namespace: every name with its home."""
    module = import_module(f"sottovoce.{namespace}" if namespace else "sottovoce")
    lines = [f"from sottovoce import {name} as {name}" for name in getattr(module, "PACKAGES", ())]
    for home, names in module.HOMES.items():
        lines += [f"from sottovoce.{home} import {name} as {name}" for name in names]
    version = "\n__version__: str\n" if not namespace else ""
    return HEAD + "\n".join(sorted(lines)) + "\n" + version


def main() -> int:
    """Write all stubs, or say which are out of date."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a stub is out of date")
    checking = parser.parse_args().check
    stale = []
    for namespace in NAMESPACES:
        path = ROOT / namespace / "__init__.pyi"
        if not path.exists() or path.read_text() != stub(namespace):
            stale.append(str(path.relative_to(ROOT)))
            if not checking:
                path.write_text(stub(namespace))
    print("\n".join(f"{'out of date' if checking else 'written'}: {path}" for path in stale) or "all stubs are current")
    return 1 if checking and stale else 0


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT.parent))
    sys.exit(main())
