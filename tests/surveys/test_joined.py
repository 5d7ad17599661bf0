"""Modules become one script: in order, without what nothing needs, and only where names cannot be mistaken."""

import pytest

from sottovoce.errors import SottovoceError
from sottovoce.surveys.page.joined import joined, statements

MODULES = {
    "main.js": (
        'import { made, TABLE } from "./table.js";\n'
        'import { word } from "./word.js";\n'
        "const [first, second = null] = made(word);\n"
        "console.log(first, second, TABLE);\n"
        "export { made };\n"
    ),
    "table.js": (
        'import { word } from "./word.js";\n'
        "// Everything that can be made.\n"
        "export const TABLE = {};\n"
        "TABLE.one = one;\n"
        "TABLE.two = two;\n"
        "function one() { return word; }\n"
        "async function two() { return only(); }\n"
        "function* only() { yield 2; }\n"
        "export function made(name) { return [TABLE[name]?.(), name.unused]; }\n"
        "export const unused = 3;\n"
    ),
    "word.js": 'export const word = "one";\nexport let other = unknown;\n',
}
ONE = (
    'const word="one";\n'
    "const TABLE={};\n"
    "TABLE.one=one;\n"
    "function one(){return word;}\n"
    "function made(name){return[TABLE[name]?.(),name.unused];}\n"
    "const[first,second=null]=made(word);\n"
    "console.log(first,second,TABLE);\n"
    "export{made};\n"
)


def test_what_is_needed_and_nothing_else():
    assert joined(MODULES, "main.js", ["one"]) == ONE


def test_entries_bring_what_they_need():
    both = joined(MODULES, "main.js", ["one", "two"])
    assert "TABLE.two=two;\n" in both
    assert "async function two(){return only();}\n" in both
    assert "function*only(){yield 2;}\n" in both
    assert "TABLE." not in joined(MODULES, "main.js", [])


def test_the_joined_script_does_the_same(node, tmp_path):
    for name, text in MODULES.items():
        (tmp_path / name).write_text(text.replace("unknown", "4"))
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / "joined.js").write_text(joined(MODULES, "main.js", ["one"]))
    said = node(tmp_path / "joined.js")
    assert said.startswith("one null {")
    assert said.split("{")[0] == node(tmp_path / "main.js").split("{")[0]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"word.js": "const word = 1; const made = 2;"}, "must not declare a name that word.js has. Got 'made'"),
        ({"word.js": "const word = 1; start();"}, "must only declare names and enter them into tables"),
        ({"word.js": "const [word] = [1];"}, "must only declare names and enter them into tables"),
        ({"main.js": 'import { word as w } from "./word.js"; w();'}, "must import names as they are"),
        ({"main.js": 'import word from "./word.js"; word();'}, "must import names as they are"),
    ],
)
def test_refused(changes, message):
    with pytest.raises(SottovoceError, match=message):
        joined(MODULES | changes, "main.js", [])


def test_statements_end_with_semicolons_or_are_functions_and_classes():
    source = 'export const a = { b: `${";"}` };\nexport async function c() { d(); }\nclass E { f = 1; }\ng();\n'
    found = ["".join(piece.text for piece in own) for own in statements(source)]
    assert found == ['exportconsta={b:`${";"}`};', "exportasyncfunctionc(){d();}", "classE{f=1;}", "g();"]
    with pytest.raises(SottovoceError, match="must end every statement"):
        list(statements("a();\nb()\n"))
