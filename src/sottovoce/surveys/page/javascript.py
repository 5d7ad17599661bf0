"""Our own scripts in pieces: as much of JavaScript as the page's modules are written in.

What they do not use is refused rather than guessed at: block comments, tabs, a slash of which only a whole parser
could say whether it divides. Texts, templates and patterns stay letter by letter.
"""

import re
from typing import NamedTuple

from sottovoce.errors import SottovoceError

_PIECE = re.compile(
    r"""(?P<comment> //[^\n]* )
      | (?P<space> [ \r\n]+ )
      | (?P<text> "(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*' )
      | (?P<number> \d\w*(?:\.\d+)? )
      | (?P<word> \#?[A-Za-z_$][\w$]* )
      | (?P<mark> => | [=!]== | \*\* | \.\.\. | \?\? | \?\. | && | \|\| | >>> | << | >> | <= | >= | \+\+ | -- | [-+/]=
                | [][{}();,<>+\-*/%&|^!~?:=.] )""",
    re.VERBOSE,
)
_PATTERN = re.compile(r"/(?:[^/\\[\n ]|\\.|\[(?:[^]\\\n]|\\.)*\])(?:[^/\\[\n]|\\.|\[(?:[^]\\\n]|\\.)*\])*/[a-z]*")
_TEMPLATE = re.compile(r"[`}](?:[^`\\$]|\\.|\$(?!\{))*(?:`|\$\{)", re.DOTALL)
_WORD_LIKE = re.compile(r"[\w$#]")


class Piece(NamedTuple):
    """A word, number, text, pattern, mark or part of a template, and the white space that stood before it."""

    kind: str
    text: str
    gap: str


def pieces(source: str) -> list[Piece]:
    """Everything but comments and white space, in order.

    >>> [piece.text for piece in pieces("const x = a / 2; // half")]
    ['const', 'x', '=', 'a', '/', '2', ';']
    """
    found: list[Piece] = []
    at, gap = 0, ""
    levels: list[int] = []  # braces that are open within each template
    while at < len(source):
        kind, text = _next(source, at, found, levels)
        at += len(text)
        if kind in ("comment", "space"):
            gap += text if kind == "space" else ""
            continue
        found.append(Piece(kind, text, gap))
        gap = ""
    if levels:
        raise SottovoceError("script", "must end its templates", source[-20:])
    return found


def _next(source: str, at: int, found: list[Piece], levels: list[int]) -> tuple[str, str]:
    """Kind and text of what begins at a place."""
    if source[at] == "`" or (source[at] == "}" and levels and levels[-1] == 0):
        return "template", _template(source, at, levels)
    if source[at] == "/" and not source.startswith("//", at) and _expects_value(found):
        kind, match = "pattern", _PATTERN.match(source, at)
    else:
        match = _PIECE.match(source, at)
        kind = str(match and match.lastgroup)
    if match is None or (match[0] == "/" and (found[-1].text == "}" or source[at + 1 : at + 2] not in (" ", "\n"))):
        raise SottovoceError("script", "must be written as the page's modules are", source[at : at + 20])
    if levels and kind == "mark":
        levels[-1] += {"{": 1, "}": -1}.get(match[0], 0)
    return kind, match[0]


def _template(source: str, at: int, levels: list[int]) -> str:
    """Part of a template: from its start, or the end of an expression in it, to its end or the next expression."""
    match = _TEMPLATE.match(source, at)
    if match is None:
        raise SottovoceError("script", "must end its templates", source[at : at + 20])
    if source[at] == "}":
        levels.pop()
    if match[0].endswith("{"):
        levels.append(0)
    return match[0]


def _expects_value(found: list[Piece]) -> bool:
    """Whether a value comes next and not an operator, so that a slash begins a pattern."""
    if not found:
        return True
    last = found[-1]
    return last.text == "return" or (last.kind == "mark" and last.text not in (")", "]", "}"))


def bare(found: list[Piece]) -> str:
    r"""Pieces in as few characters as separate them; a new line stays where a statement could end without a semicolon.

    >>> bare(pieces("return  a +\n  +b;"))
    'return a+ +b;'
    """
    return "".join(_separator(before, piece) + piece.text for before, piece in zip([None, *found], found, strict=False))


def _separator(before: Piece | None, piece: Piece) -> str:
    if before is None or not piece.gap:
        return ""
    if "\n" in piece.gap and _may_end(before) and _may_begin(piece):
        return "\n"
    last, first = before.text[-1], piece.text[0]
    words = _WORD_LIKE.match(last) and _WORD_LIKE.match(first)
    return " " if words or last == "/" or (last == first and first in "+-") else ""


def _may_end(piece: Piece) -> bool:
    return piece.kind != "mark" or piece.text in (")", "]", "}", "++", "--")


def _may_begin(piece: Piece) -> bool:
    return piece.kind != "mark" or piece.text in ("(", "[", "{", "+", "-", "++", "--", "!", "~")
