"""A rehearsal says on every screen that it is one."""

import pytest

from sottovoce.surveys.definition.definition import survey_from_text
from tests.surveys.browser.test_access import check

pytestmark = pytest.mark.slow  # the core of the page's tests is test_walk and test_admission

WORDS = {"en-US": "This is a rehearsal", "ar": "هذه تجربة"}


@pytest.mark.parametrize("locale", ["en-US", pytest.param("ar")])
def test_every_screen_has_the_banner(tmp_path, device, serving, definition, walk, locale):
    page = device(locale=locale, bypass_csp=True)
    with serving(tmp_path, survey_from_text(definition).as_rehearsal()) as site:
        page.goto(site.link())
        seen = []
        for wait_for in ("button.primary", "fieldset"):
            page.wait_for_selector(wait_for)
            seen.append(page.inner_text(".rehearsal"))
            check(page)
            page.click("button.primary >> visible=true")
        page.reload()
        walk(page, 0, 1)
        page.wait_for_selector(".receipt")
        seen.append(page.inner_text(".rehearsal"))
        check(page)
        assert len(site.reports()) == 1
    assert all(text.startswith(WORDS[locale]) for text in seen)


def test_other_surveys_have_none(site, phone):
    phone.goto(site.link())
    phone.wait_for_selector("button.primary")
    assert phone.locator(".rehearsal").count() == 0
