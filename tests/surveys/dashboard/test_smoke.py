"""Every page of the dashboard needs a session."""

from sottovoce.surveys.dashboard.accounts import Role


def test_pages_need_a_session(office):
    stranger, owner = type(office.researcher())(office.address), office.researcher()
    answer = stranger.get("/research")
    assert (answer.status, answer.headers["location"]) == (303, "/research/login?next=/research")
    assert "Surveys" in owner.get("/research").text
    assert office.researcher(Role.READER).get("/research").status == 200
