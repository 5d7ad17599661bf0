"""HTML of results: escaped, short, and with the notes that belong to them."""

from sottovoce.display import html_table, html_text, progress_line


def test_whatever_a_label_holds_is_escaped():
    shown = html_table("<b>", ["<i>"], [("<script>",)], notes=["a & b"])
    assert "<script>" not in shown
    assert "&lt;script&gt;" in shown
    assert "a &amp; b" in shown
    assert html_text("<x>") == "<pre>&lt;x&gt;</pre>"


def test_numbers_are_set_to_the_right_and_none_is_empty():
    shown = html_table("t", ["a", "b", "c", "d"], [(1, 0.5, None, True)])
    assert '<td style="text-align: right">1</td><td style="text-align: right">0.5000</td>' in shown
    assert "<td></td><td>True</td>" in shown


def test_long_tables_are_cut_and_say_so():
    shown = html_table("t", ["a"], [(i,) for i in range(100)], most=10)
    assert shown.count("<tr>") == 11
    assert "90 more rows" in shown


def test_progress_is_one_line_that_is_written_over(capsys):
    with progress_line(True, "disguising") as advance:
        for done in (10, 20, 40):
            advance(done, 40)
    shown = capsys.readouterr().err
    assert shown.startswith("\rdisguising: 10 of 40 (25 %)")
    assert shown.endswith("\rdisguising: 40 of 40 (100 %)\n")
    assert "20" not in shown  # too soon after the first


def test_progress_without_a_known_end(capsys):
    with progress_line(True, "reading") as advance:
        advance(1200, None)
    assert "reading: 1,200\n" in capsys.readouterr().err


def test_callers_have_their_own_progress_or_none(capsys):
    seen = []
    for given in (seen.append, None):
        with progress_line(given, "reading") as advance:
            assert advance is given
    with progress_line(False, "reading") as advance:
        assert advance is None
    with progress_line(True, "reading"):
        pass
    assert capsys.readouterr().err == ""
