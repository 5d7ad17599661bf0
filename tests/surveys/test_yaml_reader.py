"""YAML and JSON with lines: scalars stay text, and what cannot be read says where."""

import pytest

from sottovoce.errors import SottovoceError
from sottovoce.surveys.definition.yaml_reader import MOST_CHARACTERS, read_yaml


def test_scalars_are_text_and_nothing_else():
    found = read_yaml("a: no\nb: 3:1\nc: 2030-01-02\nd:\ne: '~'\nf: [1, null]").plain
    assert found["a"] == "no"
    assert found["b"] == "3:1"
    assert found["c"] == "2030-01-02"
    assert str(found["d"]) == str(found["f"][1]) == "nothing"
    assert found["e"] == "~"


def test_json_is_read_with_tabs_and_surrogate_pairs():
    found = read_yaml('{\n\t"a": "\\ud83d\\ude00",\n\t"b": [1, 2]}')
    assert found.plain == {"a": "😀", "b": ["1", "2"]}
    assert found.value["b"].line == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "must not be empty"),
        ("a: [1", "line 1"),
        ("a: [\n", r"expected the node content, .* \(line 2, column 1\)\. Got 'a: \[' instead"),
        ("a: [1\n", r"line 2, column 1\), while parsing a flow sequence \(line 1\)\. Got 'a: \[1' instead"),
        ("a: 1\n b: 2", r"line 2, column 3\).*Got 'b: 2' instead"),
        ("a: 1\ntext: Did you: really?", r"\(line 2, column 14\); a text that contains a colon needs quotation marks"),
        ('a: 1\ntext: "Did you\nb: 2\n', r"while scanning a quoted scalar \(line 2\)\. Got 'text: \"Did you' instead"),
        ("a: 1\nodds:3\nb: 2", r"while scanning a simple key \(line 2\)\. Got 'odds:3' instead"),
        ("a:\n  - b: 1\n   c: 2", r"\(line 3, column 4\), while parsing .* \(line 2\)\. Got 'c: 2' instead"),
        ("a: &x 1\nb: *x", r"must not use aliases.*\(line 2\)"),
        ("a: 1\nb: 2\na: 3", r"different texts as keys \(line 3\)"),
        ("? [a]\n: 1", r"different texts as keys \(line 1\). Got a list or a mapping as a key"),
        ('a: "\\ud83d"', r"a must be Unicode text \(line 1\)"),
        ("a: 1\nb: 2\x00", r"must have no control characters \(line 2\)"),
        ("[" * 5000, "nested deeper than 20"),
        ("a" * (MOST_CHARACTERS + 1), "must have at most"),
    ],
)
def test_refused_texts(text, message):
    with pytest.raises(SottovoceError, match=message):
        read_yaml(text)


@pytest.mark.parametrize(
    ("read", "message"),
    [
        (lambda found: found.value["list"].text(), r"list must be a text that is not empty \(line 2\)"),
        (lambda found: found.value["blank"].text(), "must be a text"),
        (lambda found: found.value["word"].choice(("a", "b")), r"must be one of a, b \(line 1\). Got 'w'"),
        (lambda found: found.value["word"].whole(1, 9), "whole number from 1 to 9"),
        (lambda found: found.value["many"].whole(1, 9), "whole number from 1 to 9"),
        (lambda found: found.value["long"].whole(1, 9), "whole number from 1 to 9"),
        (lambda found: found.value["word"].entries(), "must be a list"),
        (lambda found: found.value["word"].mapping(), "must be a mapping"),
        (lambda found: found.fields(("word",)), "list is not known here"),
        (lambda found: found.fields(("word", "other"), ("list", "blank", "many", "long")), "must have other"),
    ],
)
def test_values_that_are_not_what_is_wanted(read, message):
    with pytest.raises(SottovoceError, match=message):
        read(read_yaml(f"word: w\nlist: [1]\nblank: ' '\nmany: 12\nlong: {'9' * 5000}"))
