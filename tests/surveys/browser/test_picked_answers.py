"""A survey in which the device picks some of the answers, from the first screen to the last."""

import pytest

pytestmark = pytest.mark.slow  # the core of the page's tests is test_walk and test_admission

THREE = """
title: Honesty
asker: Institute of Examples
purpose: To learn how common it is.
until: 2100-12-31
odds: 3:1
invitation: open
send_interval: 0
questions:
  - {id: smokes, kind: yes_no, text: "Do you smoke?"}
  - {id: much, kind: single, text: "How much?", answers: [little, lots], when: {smokes: yes}}
  - {id: drinks, kind: yes_no, text: "Do you drink?"}
"""
NOTHING = "nothing was sent about this question"


def test_what_is_picked_and_what_is_not_is_said(tmp_path, phone, serving, walk):
    with serving(tmp_path, THREE) as site:
        assert site.survey.plan.answers_per_report == (1, 1)
        phone.goto(site.link())
        phone.wait_for_selector(".promise")
        assert "Your device picks one of your 3 answers at random" in phone.inner_text(".promise")
        phone.wait_for_selector("#pretend")  # the coins can be tried: those of a question that is picked
        walk(phone, 0, 1, send=False)
        phone.wait_for_selector(".answers")
        assert "picks at random which answers it uses" in phone.inner_text("main")
        phone.click("button.primary")
        phone.wait_for_selector(".coins")
        assert phone.locator(".coins .left-out").all_inner_texts() == 2 * ["nothing is sent about this question"]
        phone.locator("main button").nth(0).click()
        assert [note for note in phone.locator(".coins .did").all_inner_texts() if note][1:] == []
        phone.click("button.primary")
        phone.wait_for_selector(".receipt")
        (report,) = site.reports()
        said = phone.evaluate("[...document.querySelectorAll('.sent dd')].map((line) => line.firstChild.textContent)")
        assert [text == NOTHING for text in said] == [
            code == size for code, size in zip(report, (2, 3, 2), strict=True)
        ]
