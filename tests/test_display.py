"""HTML of results: escaped, short, and with the notes that belong to them."""

from sottovoce.display import html_table, html_text


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
