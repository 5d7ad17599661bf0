"""One script for a survey: the page's modules, joined, with the kinds of coins that its plan has and no others.

Top-level statements that nothing needs are left out, and so are comments, indentation, and what ties modules together;
names and order stay. So names must differ across modules, and a module does nothing when it is loaded but declare
them and enter them into tables, as `TABLE.entry = name;`. The first module alone may do more.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from sottovoce.errors import SottovoceError
from sottovoce.surveys.page.javascript import Piece, bare, pieces

_OPENING = {"{": 1, "(": 1, "[": 1, "}": -1, ")": -1, "]": -1}
_DECLARING = ("const", "let", "class", "function", "async")


@dataclass(frozen=True, eq=False)
class Statement:
    """A top-level statement, without the word that exports it."""

    module: str
    pieces: list[Piece]

    @cached_property
    def name(self) -> str | None:
        """What it declares; None where it does something, or declares several names at once."""
        if self.pieces[0].text not in _DECLARING:
            return None
        first = next(piece for piece in self.pieces[1:] if piece.text not in ("function", "*"))
        return first.text if first.kind == "word" else None

    @cached_property
    def entry(self) -> str | None:
        """What it enters into a table."""
        texts = [piece.text for piece in self.pieces]
        return texts[2] if len(texts) == 6 and texts[1::2] == [".", "=", ";"] else None

    @cached_property
    def mentioned(self) -> set[str]:
        """Names that it may mean: all its words that are no properties."""
        pairs = zip([None, *self.pieces], self.pieces, strict=False)
        return {
            piece.text
            for before, piece in pairs
            if piece.kind == "word" and (not before or before.text not in (".", "?."))
        }


def joined(modules: Mapping[str, str], first: str, entries: Collection[str]) -> str:
    r"""The first module with all it needs, where tables have these entries only.

    >>> modules = {"main.js": 'import { A } from "./a.js";\nA.x();', "a.js": "export const A = {};\nA.y = A;\n"}
    >>> joined(modules, "main.js", [])
    'const A={};\nA.x();\n'
    """
    found = list(_in_order(modules, first, set()))
    declared = _declared(found)
    wanted = [own for own in found if own.module == first or own.entry in entries]
    kept: set[Statement] = set()
    while wanted:
        own = wanted.pop()
        if own not in kept:
            kept.add(own)
            wanted += [declared[name] for name in own.mentioned if name in declared]
    return "".join(f"{bare(own.pieces)}\n" for own in found if own in kept)


def statements(source: str) -> Iterator[list[Piece]]:
    """Top-level statements of a module."""
    own: list[Piece] = []
    depth = 0
    for piece in pieces(source):
        own.append(piece)
        if piece.kind == "template":
            depth += piece.text.endswith("{") - piece.text.startswith("}")
        if piece.kind != "mark":
            continue
        depth += _OPENING.get(piece.text, 0)
        if depth == 0 and (piece.text == ";" or (piece.text == "}" and _ends_with_brace(own))):
            yield own
            own = []
    if own:
        raise SottovoceError("script", "must end every statement", own[0].text)


def _ends_with_brace(own: list[Piece]) -> bool:
    first = own[1] if own[0].text == "export" else own[0]
    return first.text in ("function", "async", "class")


def _in_order(modules: Mapping[str, str], name: str, seen: set[str]) -> Iterator[Statement]:
    """Statements as a browser would run them: those of imported modules before the module's own."""
    seen.add(name)
    own = []
    for statement in statements(modules[name]):
        texts = [piece.text for piece in statement]
        if texts[0] == "import":
            if texts[1] != "{" or "as" in texts:
                raise SottovoceError("modules", "must import names as they are", name)
            imported = texts[-2].strip('"').removeprefix("./")
            if imported not in seen:
                yield from _in_order(modules, imported, seen)
        else:
            exported = texts[0] == "export" and texts[1] != "{"
            own.append(Statement(name, statement[1:] if exported else statement))
    yield from own


def _declared(found: list[Statement]) -> dict[str, Statement]:
    """Statement that declares each name."""
    declared: dict[str, Statement] = {}
    first = found[-1].module
    for own in found:
        if own.name in declared:
            raise SottovoceError("modules", f"must not declare a name that {declared[own.name].module} has", own.name)
        if own.name is not None:
            declared[own.name] = own
        elif own.entry is None and own.module != first:
            raise SottovoceError("modules", "must only declare names and enter them into tables", own.module)
    return declared
