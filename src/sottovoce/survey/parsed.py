"""Definitions as text become values that know their lines; what cannot be read says where, and shows it."""

from typing import Any

import yaml

from sottovoce.errors import SottovoceError, Words
from sottovoce.survey.located import Located

MOST_CHARACTERS = 2**20
"""Length of a definition; a survey is a few kilobytes."""

DEEPEST = 20
"""Lists and mappings within each other."""

HINTS = {"mapping values are not allowed here": "a text that holds a colon needs quotation marks around it"}
"""What to do about the mistake that is made most often."""


def read_located(text: str, source: str = "survey") -> Located:
    """Parse YAML, or JSON, which is YAML but for its tabs; refuse aliases and repeated keys.

    >>> read_located("odds: 3:1").value["odds"].value
    '3:1'
    """
    if len(text) > MOST_CHARACTERS:
        raise SottovoceError(source, f"must have at most {MOST_CHARACTERS} characters", len(text))
    if text.lstrip("\ufeff \t\r\n").startswith("{"):
        text = text.replace("\t", " ")
    try:
        _check_events(text, source)
        node = yaml.compose(text, Loader=yaml.BaseLoader)
    except yaml.reader.ReaderError as reason:
        line = text.count("\n", 0, reason.position) + 1
        raise SottovoceError(source, f"must have no control characters (line {line})", text[reason.position]) from None
    except yaml.MarkedYAMLError as reason:
        raise _unreadable(source, text, reason) from None
    if node is None:
        raise SottovoceError(source, "must not be empty", Words("nothing"))
    return _located(node, source)


def _check_events(text: str, source: str) -> None:
    """Refuse what could grow without bounds: aliases, and mappings in mappings in mappings ..."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.BaseLoader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if isinstance(event, yaml.AliasEvent) or depth > DEEPEST:
            rule = f"must not use aliases, nor be nested deeper than {DEEPEST} (line {_line(event.start_mark)})"
            raise SottovoceError(source, rule, Words("such a text"))


def _line(mark: Any) -> int:
    return int(mark.line) + 1


def _unreadable(source: str, text: str, reason: yaml.MarkedYAMLError) -> SottovoceError:
    """What the parser says and where; also where it began, for a mistake is often noticed later than it is made."""
    noticed: Any = reason.problem_mark
    begun: Any = reason.context_mark or noticed
    rule = f"must be YAML or JSON: {reason.problem} (line {_line(noticed)}, column {noticed.column + 1})"
    if begun.line != noticed.line:
        rule += f", {reason.context} (line {_line(begun)})"
    if reason.problem in HINTS:
        rule += f"; {HINTS[reason.problem]}"
    lines = text.splitlines()
    place = begun.line if str(reason.context).startswith("while scanning") else noticed.line
    return SottovoceError(source, rule, lines[min(place, len(lines) - 1)].strip())  # the end is no line of its own


def _located(node: Any, name: str) -> Located:
    line = _line(node.start_mark)
    if isinstance(node, yaml.SequenceNode):
        return Located([_located(part, f"{name}[{place}]") for place, part in enumerate(node.value)], name, line)
    if isinstance(node, yaml.ScalarNode):
        empty = node.style is None and node.value in ("", "~", "null")
        return Located(None if empty else _joined(node.value, name, line), name, line)
    found: dict[str, Located] = {}
    for key, part in node.value:
        at = _line(key.start_mark)
        if not isinstance(key, yaml.ScalarNode) or key.value in found:
            given = key.value if isinstance(key, yaml.ScalarNode) else Words("a list or a mapping as a key")
            raise SottovoceError(name, f"must have keys that are texts and differ (line {at})", given)
        found[key.value] = _located(part, key.value if name == "survey" else f"{name}.{key.value}")
    return Located(found, name, line)


def _joined(text: str, name: str, line: int) -> str:
    """Put surrogate pairs together, as JSON writes characters beyond U+FFFF."""
    try:
        return text.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        raise SottovoceError(name, f"must be Unicode text (line {line})", text) from None
