"""Definitions as trees that forms edit, and the text of an edited tree: what was not edited keeps its words.

In a tree, a mapping is `{"pairs": [[key, value], ...]}` (objects of scripts do not keep the order of all keys), a list
is a list, and a scalar is text or None.
"""

from dataclasses import dataclass
from typing import Any

import yaml
from yaml.emitter import Emitter
from yaml.representer import SafeRepresenter
from yaml.resolver import BaseResolver
from yaml.serializer import Serializer

from sottovoce.errors import SottovoceError, Words
from sottovoce.surveys.definition.yaml_reader import MOST_NESTED, YamlValue, read_yaml

EMPTY = ("", "~", "null")
"""Texts that stand for nothing unless they are quoted."""

WIDTH = 110
INDENT = 2
Tree = Any


class _Dumper(Emitter, Serializer, SafeRepresenter, BaseResolver):
    """Writes texts as they are: `no` is a word and `3:1` are odds, so neither needs quotation marks."""

    def __init__(self, stream: Any, **options: Any) -> None:
        Emitter.__init__(self, stream, width=WIDTH, indent=INDENT, allow_unicode=True)
        Serializer.__init__(self)
        SafeRepresenter.__init__(self, default_flow_style=options["default_flow_style"], sort_keys=False)
        BaseResolver.__init__(self)

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: FBT001, FBT002
        super().increase_indent(flow, False)  # noqa: FBT003  # lists are indented below their keys

    def text(self, data: str) -> yaml.Node:
        style = "'" if data in EMPTY else "|" if "\n" in data else None
        return self.represent_scalar("tag:yaml.org,2002:str", data, style=style)

    def list_(self, data: list[Any]) -> yaml.Node:
        """Write a short list of texts on one line."""
        short = all(part is None or isinstance(part, str) for part in data) and len(str(data)) < WIDTH
        return self.represent_sequence("tag:yaml.org,2002:seq", data, flow_style=short or None)

    def nothing(self, _data: None) -> yaml.Node:
        return self.represent_scalar("tag:yaml.org,2002:str", "null")


_Dumper.add_representer(str, _Dumper.text)
_Dumper.add_representer(list, _Dumper.list_)
_Dumper.add_representer(type(None), _Dumper.nothing)


def tree_of(value: YamlValue) -> Tree:
    """Return a value as a tree.

    >>> tree_of(read_yaml("{odds: 3:1, questions: [a, b]}"))
    {'pairs': [['odds', '3:1'], ['questions', ['a', 'b']]]}
    """
    if isinstance(value.value, dict):
        return {"pairs": [[key, tree_of(part)] for key, part in value.value.items()]}
    return [tree_of(part) for part in value.value] if isinstance(value.value, list) else value.value


def _plain(tree: Tree, depth: int = 0) -> Any:
    """Return a tree as Python has it; refuse what is no tree."""
    if depth > MOST_NESTED:
        raise SottovoceError("tree", f"must not be nested deeper than {MOST_NESTED}", depth)
    if tree is None or isinstance(tree, str):
        return tree
    if isinstance(tree, list):
        return [_plain(part, depth + 1) for part in tree]
    try:
        pairs = [(key, part) for key, part in tree["pairs"]]
    except (TypeError, ValueError, KeyError):
        raise _no_tree(tree) from None
    if not all(isinstance(key, str) for key, _ in pairs) or len(dict(pairs)) < len(pairs):
        raise _no_tree(tree)
    return {key: _plain(part, depth + 1) for key, part in pairs}


def _no_tree(tree: Any) -> SottovoceError:
    rule = "must be made of texts, lists and mappings with different keys"
    return SottovoceError("tree", rule, Words(type(tree).__name__))


def _dump(value: Any, *, flow: bool = False) -> str:
    return str(yaml.dump(value, Dumper=_Dumper, default_flow_style=flow))


def edited_text(text: str, tree: Tree) -> str:
    r"""Return a definition's text after its tree was edited in a form.

    Only what was edited is written anew: comments and the author's way of writing stay everywhere else. A text that
    cannot be read, or not be edited in this way, is written anew as a whole.

    >>> print(edited_text("title: Tax   # short\nodds: 3:1", {"pairs": [["title", "Taxes"], ["odds", "3:1"]]}))
    title: Taxes   # short
    odds: 3:1
    """
    wanted = _plain(tree)
    if not isinstance(wanted, dict):
        raise SottovoceError("tree", "must be a mapping", type(wanted).__name__)
    try:
        if tree_of(read_yaml(text)) == tree:
            return text
        node: Any = yaml.compose(text, Loader=yaml.BaseLoader)
        found = text[: node.start_mark.index] + _Writer(text).mapping(node, wanted, len(text))
        if not node.flow_style and tree_of(read_yaml(found)) == tree:
            return found
    except SottovoceError:
        pass
    return _dump(wanted)


@dataclass(frozen=True)
class _Writer:
    """Writes parts of a text anew. Every part ends with the end of a line; comments belong to what is before them."""

    text: str

    def mapping(self, node: Any, wanted: dict[str, Any], end: int) -> str:
        """Return a mapping in which every key begins a line, from its first key on."""
        column = int(node.start_mark.column)
        starts = [key.start_mark.index for key, _ in node.value]
        places = dict(zip(_value(node), zip(node.value, starts, [*starts[1:], end], strict=True), strict=True))
        last, tail = _without_tail(self._lines(starts[-1], end), column)
        pieces = []
        for key, value in wanted.items():
            if key not in places:
                pieces.append(_indented(_dump({key: value}), column))
                continue
            (_, part), start, stop = places[key]
            lines = last if stop == end else self._lines(start, stop)
            pieces.append(lines if _value(part) == value else self._pair(key, part, value, start, lines, column))
        return (" " * column).join(pieces) + tail

    def _pair(self, key: str, node: Any, value: Any, start: int, lines: str, column: int) -> str:
        """Return a key with another value, and the comments behind it."""
        before, after = self.text[start : node.start_mark.index], lines[node.end_mark.index - start :]
        is_block = not isinstance(node, yaml.ScalarNode) and not node.flow_style
        if is_block and value and isinstance(value, dict) and isinstance(node, yaml.MappingNode):
            return before + self.mapping(node, value, start + len(lines))
        if is_block and value and isinstance(value, list) and isinstance(node, yaml.SequenceNode):
            return before + self._list(node, value, start + len(lines))
        line = _dump(value, flow=True).removesuffix("\n").removesuffix("\n...")
        on_a_line = not is_block and before.strip() == f"{key}:" and "\n" not in before and "\n" not in line
        kept = (
            isinstance(node, yaml.ScalarNode) == isinstance(value, str) and node.end_mark.line == node.start_mark.line
        )
        if on_a_line and kept and column + len(line) < WIDTH:
            return before + line + after
        comments = after.partition("\n")[2] if node.end_mark.column else after
        return _indented(_dump({key: value}), column) + comments

    def _list(self, node: Any, wanted: list[Any], end: int) -> str:
        """Return a list whose entries begin lines: entries that stay keep their lines, wherever they are moved."""
        column = int(node.start_mark.column)
        starts = [self.text.rindex("-", 0, part.start_mark.index) for part in node.value]
        places = list(zip(node.value, starts, [*starts[1:], end], strict=True))
        _, tail = _without_tail(self._lines(starts[-1], end), column)
        pieces = []
        for value in wanted:
            place = next((each for each in places if _value(each[0]) == value), None)
            place = place or next((each for each in places if _same_id(each[0], value)), None)
            if place is None:
                pieces.append(_indented(_dump([value]), column))
                continue
            places.remove(place)
            part, start, stop = place
            lines = self._lines(start, stop)
            lines = lines.removesuffix(tail) if stop == end and tail else lines
            if _value(part) != value:
                lines = self.text[start : part.start_mark.index] + self.mapping(part, value, start + len(lines))
            pieces.append(lines)
        return (" " * column).join(pieces) + tail

    def _lines(self, start: int, end: int) -> str:
        lines = self.text[start:end].rstrip(" ")
        return lines if lines.endswith("\n") else f"{lines}\n"


def _same_id(node: Any, value: Any) -> bool:
    """Whether an entry that begins lines is the same question, edited."""
    known = isinstance(node, yaml.MappingNode) and not node.flow_style and isinstance(value, dict)
    return known and "id" in value and _value(node).get("id") == value["id"]


def _without_tail(lines: str, column: int) -> tuple[str, str]:
    """Split off the blank lines and comments at the end that are not indented as far as a column."""
    listed = lines.splitlines(keepends=True)
    count = len(listed)
    while count > 1 and (not (line := listed[count - 1].strip()) or line.startswith("#")):
        if line and len(listed[count - 1]) - len(listed[count - 1].lstrip(" ")) >= column:
            break
        count -= 1
    return "".join(listed[:count]), "".join(listed[count:])


def _indented(lines: str, column: int) -> str:
    """Indent all lines but the first, which stands behind what is before it."""
    first, *others = lines.splitlines(keepends=True)
    return first + "".join(" " * column + line if line.strip() else line for line in others)


def _value(node: Any) -> Any:
    if isinstance(node, yaml.SequenceNode):
        return [_value(part) for part in node.value]
    if isinstance(node, yaml.MappingNode):
        return {key.value: _value(part) for key, part in node.value}
    return None if node.style is None and node.value in EMPTY else node.value
