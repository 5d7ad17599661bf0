"""Our scripts taken apart and put together: nothing in texts, templates and patterns moves, and nothing is guessed."""

import pytest

from sottovoce.errors import SottovoceError
from sottovoce.surveys.page.javascript import bare, pieces
from sottovoce.surveys.page.script import page_files

MODULES = [name for name in page_files() if name.endswith(".js")]


def shortened(source: str) -> str:
    return bare(pieces(source))


@pytest.mark.parametrize("name", MODULES)
def test_what_is_left_of_a_module_has_the_same_pieces(name):
    source = page_files()[name].content.decode()
    again = pieces(shortened(source))
    assert [piece[:2] for piece in again] == [piece[:2] for piece in pieces(source)]
    assert bare(again) == shortened(source)
    assert len(shortened(source)) < len(source)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('const a = "x  // y";  // why', 'const a="x  // y";'),
        ("const a = '\"  ';", "const a='\"  ';"),
        (r'f("\\", "a  \" b");', r'f("\\","a  \" b");'),
        ("f(`a  ${ b + `c  ${ { d: 1 }.d }  e` } // ${f}`);", "f(`a  ${b+`c  ${{d:1}.d}  e`} // ${f}`);"),
        (r"x = `\`  \${ $ {`;", r"x=`\`  \${ $ {`;"),
        (r"a.test( /[/\]]+  \/ {2}/gu );", r"a.test(/[/\]]+  \/ {2}/gu);"),
        ("return /a b/;", "return/a b/;"),
        ("/a  b/.test(c)", "/a  b/.test(c)"),
        ("(a + b) / c / d[0] / 2", "(a+b)/ c/ d[0]/ 2"),
        ("a - -b + +c - --d", "a- -b+ +c- --d"),
        ("a;  // why\r\nb;\r\n", "a;b;"),
        ("a\n  .b(\n    c,\n  );\n", "a.b(c,);"),
        ("typeof a in #b", "typeof a in #b"),
        ("a\n(b)\n!c\n++d\ne", "a\n(b)\n!c\n++d\ne"),  # semicolons may be meant here
        ("return\na", "return\na"),
        ("", ""),
    ],
)
def test_only_comments_and_needless_space_go(source, expected):
    assert shortened(source) == expected


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("a /* b */", "as the page's modules are"),
        ("a\t= 1", "as the page's modules are"),
        ("} /a/.test(b)", "as the page's modules are"),
        ("if (a) /b/.test(c)", "as the page's modules are"),
        ("x = /ab", "as the page's modules are"),
        ("a /", "as the page's modules are"),
        ('"ab', "as the page's modules are"),
        ("a @ b", "as the page's modules are"),
        ("`ab", "must end its templates"),
        ("`a ${ b", "must end its templates"),
    ],
)
def test_refused(source, message):
    with pytest.raises(SottovoceError, match=message):
        pieces(source)
