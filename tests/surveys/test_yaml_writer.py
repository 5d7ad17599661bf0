"""Definitions that a form has edited: what was not edited keeps its words."""

from datetime import date
from difflib import ndiff

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.errors import SottovoceError
from sottovoce.surveys.definition.definition import sample_definition
from sottovoce.surveys.definition.yaml_reader import read_yaml
from sottovoce.surveys.definition.yaml_writer import edited_text, tree_of

TEXT = sample_definition("workplace", date(2030, 1, 1))


def tree(text: str):
    return tree_of(read_yaml(text))


def pair(mapping, key):
    return next(each for each in mapping["pairs"] if each[0] == key)


def question(found, index):
    return pair(found, "questions")[1][index]


def changes(edit) -> list[str]:
    """Edit the sample's tree; return the lines that changed, and check that the text says what the tree says."""
    wanted = tree(TEXT)
    edit(wanted)
    edited = edited_text(TEXT, wanted)
    assert tree(edited) == wanted
    return [line for line in ndiff(TEXT.splitlines(), edited.splitlines()) if line[0] in "+-"]


def test_only_the_edited_line_changes_and_its_comment_stays():
    (before, after) = changes(lambda found: pair(found, "odds").__setitem__(1, "50:1"))
    assert (before[:13], after[:12]) == ("- odds: 100:1", "+ odds: 50:1")
    assert before.partition("#")[2] == after.partition("#")[2]
    answers = changes(lambda found: pair(question(found, 2), "answers")[1].append("null"))
    assert answers[-1] == "+     answers: [never, once or twice, monthly, weekly, 'null']"
    when = changes(lambda found: pair(question(found, 1), "when").__setitem__(1, {"pairs": [["sick", ["no", "yes"]]]}))
    assert when[-1].startswith("+     when: {sick: [no, yes]}  # decided")


def test_questions_keep_their_lines_when_they_are_moved_removed_or_added():
    def move(found):
        pair(found, "questions")[1].insert(0, pair(found, "questions")[1].pop())

    moved = changes(move)
    assert sorted(line[2:] for line in moved if line[0] == "+") == sorted(line[2:] for line in moved if line[0] == "-")
    removed = changes(lambda found: pair(found, "questions")[1].pop(0))
    assert {line[0] for line in removed} == {"-"}
    assert len(removed) == 5
    new = {"pairs": [["id", "new"], ["kind", "yes_no"], ["text", "Öh 😀 مرحبا: <b> # 'x'"]]}
    added = changes(lambda found: pair(found, "questions")[1].append(new))
    assert added == ["+   - id: new", "+     kind: yes_no", "+     text: 'Öh 😀 مرحبا: <b> # ''x'''"]
    longer = changes(lambda found: pair(question(found, 3), "answers")[1]["pairs"].append(["more", "More"]))
    assert longer == ["+       more: More"]


def test_keys_are_added_and_removed():
    assert changes(lambda found: found["pairs"].remove(pair(found, "together"))) == [
        "- together: [[sick, drink], [days, drink]]"
    ]
    assert changes(lambda found: found["pairs"].insert(1, ["contact2", None])) == ["+ contact2: null"]
    lines = changes(lambda found: pair(found, "purpose").__setitem__(1, "One\n\nTwo"))
    assert lines[1:] == ["+ purpose: |-", "+   One", "+ ", "+   Two"]
    assert "+ questions: []" in changes(lambda found: pair(found, "questions").__setitem__(1, []))
    assert "+     answers: [a, b]" in changes(
        lambda found: pair(question(found, 3), "answers").__setitem__(1, ["a", "b"])
    )


def test_comments_behind_a_value_of_several_lines_stay():
    text = "title: |\n  Long\n  title\n# a comment\nodds: 3\n"
    wanted = {"pairs": [["title", {"pairs": [["en", "T"]]}], ["odds", "3"]]}
    assert edited_text(text, wanted) == "title:\n  en: T\n# a comment\nodds: 3\n"
    text = "questions:\n  - {id: a}\n  - b\n  # about b\n\n# end\n"
    wanted = {"pairs": [["questions", ["b", {"pairs": [["id", "c"]]}]]]}
    assert edited_text(text, wanted) == "questions:\n  - b\n  # about b\n  - id: c\n\n# end\n"


def test_other_texts_are_written_anew():
    assert edited_text("[", {"pairs": [["title", "T"]]}) == "title: T\n"
    assert edited_text("", {"pairs": [["title", ""]]}) == "title: ''\n"
    assert edited_text('{"title": "T"}', {"pairs": [["title", "U"], ["answers", ["a" * 60, "b" * 60]]]}) == (
        f"title: U\nanswers:\n  - {'a' * 60}\n  - {'b' * 60}\n"
    )
    assert edited_text("title: T", {"pairs": [["title", "T"]]}) == "title: T"
    assert edited_text("a: 1\nb: 2\n", {"pairs": [["b", "2"], ["a", "1"]]}) == "b: 2\na: 1\n"


@pytest.mark.parametrize(
    "given",
    ["T", [], {"pairs": [["a", "1"], ["a", "2"]]}, {"pairs": [[1, "2"]]}, {"a": "1"}, {"pairs": [["a"]]}, 3, None,
     {"pairs": [["a", 1]]}],
)  # fmt: skip
def test_what_is_no_tree_is_refused(given):
    with pytest.raises(SottovoceError, match="tree"):
        edited_text("title: T", given)


def test_deep_trees_are_refused():
    deep = "x"
    for _ in range(25):
        deep = [deep]
    with pytest.raises(SottovoceError, match="nested deeper"):
        edited_text("title: T", {"pairs": [["a", deep]]})


def _pairs(found: dict) -> dict:
    return {"pairs": [[key, value] for key, value in found.items()]}


words = st.text(st.characters(blacklist_categories=("Cs", "Cc"), whitelist_characters="\n"), max_size=30)
trees = st.recursive(
    words | st.none(),
    lambda part: st.lists(part, max_size=3) | st.dictionaries(words, part, max_size=3).map(_pairs),
    max_leaves=12,
)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(words, trees, min_size=1, max_size=5).map(_pairs), trees, st.integers(0, 99))
def test_any_tree_survives_any_edit(first, part, place):
    """Whatever is written is read back as the same tree, after the first writing and after an edit of it."""
    text = edited_text("", first)
    assert tree(text) == first
    changed = {"pairs": [list(each) for each in first["pairs"]]}
    changed["pairs"][place % len(changed["pairs"])][1] = part
    assert tree(edited_text(text, changed)) == changed
