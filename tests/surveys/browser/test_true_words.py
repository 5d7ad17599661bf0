"""Words about coins where they are easily wrong: picked answers, matrices, and the check of understanding."""

import pytest

HEAD = """
title: Honesty
asker: Institute of Examples
purpose: To learn how common it is.
until: 2100-12-31
invitation: open
send_interval: 0
"""
AGE = '  - {id: age, kind: single, public: true, text: "How old are you?", answers: [young, old]}\n'
THREE = "".join(f'  - {{id: {name}, kind: yes_no, text: "{name}?"}}\n' for name in ("smokes", "drinks", "steals"))
MATRIX = """
odds: 27:1
split: true
questions:
  - {id: m, kind: matrix, text: How often, steps: 3, ends: [never, often], items: {a: Late, b: Sick, c: Drunk}}
groups: [{questions: [m_a, m_b], odds: 3:1}]
"""
NEVER_YES = "{name: matrix, matrix: [[1, 0.5], [0, 0.5]]}"
"""Under these coins nobody sends yes whose answer is no."""


def test_pictures_and_trials_of_picked_answers_say_so(tmp_path, phone, serving):
    with serving(tmp_path, f"{HEAD}odds: 3:1\nquestions:\n{THREE}") as site:
        phone.goto(site.link())
        phone.wait_for_selector("#pretend")
        picture = phone.locator(".promise .dots + .note").inner_text()
        told = (
            "Among people whose device picks this question: Of 100 people with another answer, so many send “Yes”: 25."
        )
        assert picture.strip() == told
        assert "If your device picks this question: Of 100 of you" in phone.inner_text(".demo")


def test_each_item_of_a_matrix_has_its_own_numbers(tmp_path, phone, serving):
    with serving(tmp_path, HEAD + MATRIX) as site:
        phone.goto(site.link())
        phone.click("button.primary")
        phone.wait_for_selector(".matrix")
        note = phone.locator("main > .note").last.inner_text()
        assert "Late, Sick: Every answer is also sent by at least 27 of 100" in note  # 3 of 11 joint answers
        assert "Drunk: Every answer is also sent by at least 9 of 100" in note


@pytest.mark.parametrize(
    ("questions", "title", "asked"),
    [
        (f"odds: 9:1\nquestions:\n{AGE}  - {{id: t, kind: several, text: Taken, answers: [Pens]}}\n", "Pens", "Taken"),
        (
            f"odds: 9:1\nweak: accepted\nquestions:\n  - {{id: s, kind: yes_no, text: Steals, scheme: {NEVER_YES}}}\n",
            "No",
            "Steals",
        ),
    ],
)
def test_the_check_of_understanding_is_about_what_chance_sends(tmp_path, phone, serving, questions, title, asked):
    """Not about a public question, and not about an answer that is sent by those only whose answer it is."""
    with serving(tmp_path, f"{HEAD}comprehension_check: true\n{questions}") as site:
        phone.goto(site.link())
        phone.click("button.primary")
        phone.wait_for_selector("input[name=understanding]")
        assert f"says “{title}”" in phone.inner_text("h1")
        assert phone.inner_text("p.question") == asked


def test_where_every_report_is_certain_there_is_nothing_to_check(tmp_path, phone, serving):
    signs = "{name: matrix, matrix: [[0.5, 0], [0.5, 0], [0, 1]], reports: [red, blue, green]}"
    questions = f"odds: 9:1\nweak: accepted\nquestions:\n  - {{id: s, kind: yes_no, text: Steals, scheme: {signs}}}\n"
    with serving(tmp_path, f"{HEAD}comprehension_check: true\n{questions}") as site:
        phone.goto(site.link())
        phone.click("button.primary")
        phone.wait_for_selector("progress")


def test_sets_and_signs_are_not_called_answers(tmp_path, phone, serving, walk):
    """A set has the answer in it or not; a sign is nobody's answer. What is public is called the exception."""
    signs = "{name: matrix, matrix: [[0.7, 0.2], [0.3, 0.8]], reports: [red, blue]}"
    questions = (
        f"odds: 30:1\nsplit: true\nquestions:\n{AGE}"
        "  - {id: job, kind: single, text: Job, odds: 3:1, answers: [a, b, c, d], scheme: subset_selection}\n"
        f"  - {{id: steals, kind: yes_no, text: Steals, scheme: {signs}}}\n"
    )
    with serving(tmp_path, HEAD + questions) as site:
        phone.goto(site.link())
        walk(phone, 0, 1, 1, send=False)
        phone.wait_for_selector(".answers")
        phone.click("button.primary")
        phone.wait_for_selector(".coins")
        phone.locator("main button").nth(0).click()
        by_name = {"How old are you?": "young", "Job": "b", "Steals": "Yes"}
        lines = {}
        for line in phone.locator(".coins li").all():
            name, *_ = (name for name in by_name if name in line.inner_text())
            lines[name] = (line.locator("b").inner_text(), line.locator(".did").inner_text())
        assert lines["How old are you?"][1].startswith("This answer is public")
        said, did = lines["Job"]
        has_it = "b" in said.partition(": ")[2].split(", ")
        assert did == ("Your answer is among these." if has_it else "Your answer is not among these. You answered: b.")
        assert lines["Steals"][0] in ("red", "blue")
        assert lines["Steals"][1] == ""
        phone.click("button.primary")
        phone.wait_for_selector(".receipt")
        assert "Answers to public questions are the exception" in phone.inner_text(".sent")
