"""When and from where a sealed report is sent: at its moment, after a reload, from another device, and not twice."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from scipy.stats import kstest

from sottovoce.surveys.page.files import address

pytestmark = pytest.mark.slow  # the core of the page's tests is test_walk and test_admission

NOON = datetime(2030, 1, 1, 12, 1, 40, tzinfo=UTC)
INTERVAL = 300


def seconds(moment: datetime) -> float:
    return moment.timestamp()


@pytest.fixture
def sealed(timed, phone, walk, kept):
    """A report that was sealed a hundred seconds after noon and waits for its moment: the link, and the state."""
    phone.clock.install(time=NOON)
    (link,) = timed.invite()
    phone.goto(link)
    walk(phone, 1, 1, 0)
    phone.wait_for_selector("[role=timer]")
    (state,) = kept(phone).values()
    return link, state


def now(page) -> float:
    return page.evaluate("Date.now()")


def until(page, moment: float) -> None:
    """Let the time pass up to a moment, in milliseconds since the epoch."""
    page.clock.fast_forward(max(0, round(moment - now(page))))


def test_a_report_is_sent_at_its_moment_and_not_before(timed, phone, sealed):
    _, state = sealed
    sent: list[float] = []
    phone.on("request", lambda request: request.url.endswith("/reports") and sent.append(now(phone)))
    begins = 1000 * (seconds(NOON) // INTERVAL + 1) * INTERVAL
    assert begins <= state["moment"] < begins + 1000 * INTERVAL
    until(phone, state["moment"] - 5000)
    phone.get_by_role("timer").filter(has_text="in 1 minute").wait_for()
    assert timed.reports() == []
    until(phone, state["moment"])
    phone.wait_for_selector(".receipt")
    assert [report.hex() for report in timed.reports()] == [json.loads(state["body"])["report"]]
    assert len(sent) == 1
    assert sent[0] >= state["moment"]


def test_moments_are_uniform_in_the_next_interval_of_the_clock(timed, phone, seed_coins):
    """Whenever in an interval the report is sealed: the moment does not depend on it."""
    seed_coins(phone, 1)
    phone.goto(timed.link())
    draws = """async ([module, interval, at, times]) => {
        const { sendMoment } = await import(module);
        Date.now = () => at;
        return Array.from({ length: times }, () => sendMoment(interval));
    }"""
    begins = 1000 * (seconds(NOON) // INTERVAL + 1) * INTERVAL
    for at in (begins - 1000 * INTERVAL, begins - 1):
        found = phone.evaluate(draws, [address("submission.js"), INTERVAL, at, 4000])
        assert min(found) >= begins
        assert max(found) < begins + 1000 * INTERVAL
        assert kstest([(moment - begins) / (1000 * INTERVAL) for moment in found], "uniform").pvalue > 1e-4
        assert len(set(found)) > 3900
    assert phone.evaluate(draws, [address("submission.js"), 0, begins, 1]) == [0]
    shortest = phone.evaluate(draws, [address("submission.js"), 10, begins + 9999, 1000])
    assert all(begins + 10_000 <= moment < begins + 20_000 for moment in shortest)


def test_the_page_counts_in_minutes_and_screen_readers_are_left_in_peace(phone, sealed):
    """The timer is no live region, and changes once a minute at most."""
    _, state = sealed
    phone.clock.pause_at(datetime.fromtimestamp(seconds(NOON) + 60, UTC))
    minutes = -(-(state["moment"] - now(phone)) // 60_000)
    phone.get_by_role("timer").filter(has_text=f"in {minutes} minute").wait_for()
    phone.evaluate(
        """() => {
            const main = document.querySelector("main");
            window.changes = [];
            new MutationObserver(() => changes.push(main.innerText)).observe(main, { subtree: true, childList: true });
        }"""
    )
    assert phone.get_attribute("[role=timer]", "aria-live") is None  # off, as timers are
    assert phone.locator("[role=status], [role=alert], [aria-live]").filter(visible=True).count() == 0
    for left in (minutes, minutes - 1):
        phone.get_by_role("timer").filter(has_text=f"in {left} minute").wait_for()
        phone.clock.run_for(60_000)
    phone.get_by_role("timer").filter(has_text=f"in {minutes - 2} minute").wait_for()
    assert len(phone.evaluate("changes")) == 2
    assert "leave this page open" in phone.inner_text("main")


def test_a_reload_waits_on_for_the_same_moment(timed, phone, sealed, kept):
    _, state = sealed
    before = phone.inner_text("[role=timer]").partition(",")[0]
    phone.reload()
    phone.wait_for_selector("[role=timer]")
    assert list(kept(phone).values()) == [state]
    assert phone.inner_text("[role=timer]").partition(",")[0] == before
    until(phone, state["moment"])
    phone.wait_for_selector(".receipt")
    assert len(timed.reports()) == 1


def test_a_later_visit_sends_at_once_without_asking_who_it_is(timed, phone, sealed):
    """The moment has passed; the invitation is not shown again."""
    link, state = sealed
    phone.goto("about:blank")
    phone.clock.fast_forward(86_400_000)
    sent: list[str] = []
    phone.on("request", lambda request: request.post_data and sent.append(request.post_data))
    phone.goto(link)
    phone.wait_for_selector(".receipt")
    assert sent == [state["body"]]


def test_a_clock_that_was_wrong_does_not_keep_a_report_forever(timed, phone, sealed, kept):
    link, state = sealed
    phone.goto("about:blank")
    phone.clock.set_system_time(datetime(2029, 1, 1, tzinfo=UTC))
    phone.goto(link)
    phone.wait_for_selector("[role=timer]")
    (found,) = kept(phone).values()
    assert found["body"] == state["body"]
    assert 0 < found["moment"] - now(phone) < 2000 * INTERVAL


def test_without_a_connection_at_its_moment_a_report_is_sent_later(timed, phone, sealed):
    _, state = sealed
    phone.route("**/reports", lambda route: route.abort())
    until(phone, state["moment"])
    phone.get_by_role("status").filter(has_text="No connection yet").wait_for()
    assert "come back later with this link" in phone.inner_text("[role=status]")
    phone.unroute("**/reports")
    phone.clock.run_for(70_000)
    phone.wait_for_selector(".receipt")
    assert [report.hex() for report in timed.reports()] == [json.loads(state["body"])["report"]]


def test_a_link_sends_that_very_report_from_another_device(timed, phone, device, sealed, kept):
    """Not before its moment. The link is never part of a request, and the other device has not answered."""
    link, state = sealed
    phone.click("summary")
    carried = phone.input_value("#carried")
    assert carried.startswith(f"{timed.address}/s/{timed.survey.id}#{timed.survey.hash}.sealed.")
    assert link.rpartition(".")[2] not in carried
    phone.goto("about:blank")
    other = device()
    other.clock.install(time=NOON)
    requests: list[tuple[str, str | None]] = []
    other.on("request", lambda request: requests.append((request.url, request.post_data)))
    other.goto(carried)
    other.wait_for_selector("[role=timer]")
    assert other.locator("summary").count() == 0
    assert timed.reports() == []
    until(other, state["moment"])
    other.wait_for_selector(".receipt")
    assert [body for _, body in requests if body] == [state["body"]]
    assert not [url for url, _ in requests if "sealed." in url]
    assert kept(other) == {}
    assert other.url == timed.link()
    assert "remembers" not in other.inner_text("main")


def test_a_report_that_is_sent_from_two_devices_counts_once(timed, phone, device, sealed):
    _, state = sealed
    phone.click("summary")
    other = device()
    other.clock.install(time=datetime(2030, 1, 2, tzinfo=UTC))
    other.goto(phone.input_value("#carried"))
    other.wait_for_selector(".receipt")
    until(phone, state["moment"])
    phone.wait_for_selector(".receipt")
    assert phone.inner_text(".receipt") == other.inner_text(".receipt")
    assert len(timed.reports()) == 1


def test_a_report_can_be_held_back_here_and_sent_from_a_file(timed, phone, device, sealed, tmp_path, kept, heading_is):
    """From another network, say: then it must not be sent from here as well."""
    _, state = sealed
    phone.click("summary")
    with phone.expect_download() as download:
        phone.get_by_role("link", name="Save as a file").click()
    saved = tmp_path / download.value.suggested_filename
    download.value.save_as(saved)
    phone.get_by_role("button", name="Do not send it from here").click()
    heading_is(phone, "Not sent from here")
    assert list(kept(phone).values()) == [state | {"held": True}]
    phone.clock.fast_forward(86_400_000)
    phone.reload()
    heading_is(phone, "Not sent from here")
    assert timed.reports() == []
    other = device()
    other.goto(Path(saved).as_uri())
    assert other.title() == "Honesty at work"
    other.clock.install(time=datetime(2030, 1, 2, tzinfo=UTC))
    other.get_by_role("link", name="Send the sealed report").click()
    other.wait_for_selector(".receipt")
    assert [report.hex() for report in timed.reports()] == [json.loads(state["body"])["report"]]
    phone.get_by_role("button", name="Send it from here").click()
    phone.wait_for_selector(".receipt")
    assert len(timed.reports()) == 1


def test_holding_back_can_be_undone_before_the_moment(timed, phone, sealed, kept):
    _, state = sealed
    phone.click("summary")
    phone.get_by_role("button", name="Do not send it from here").click()
    phone.get_by_role("button", name="Send it from here").click()
    phone.wait_for_selector("[role=timer]")
    assert list(kept(phone).values()) == [state]
    until(phone, state["moment"])
    phone.wait_for_selector(".receipt")
    assert len(timed.reports()) == 1


def test_the_link_is_copied(phone, sealed):
    phone.context.grant_permissions(["clipboard-read", "clipboard-write"])
    phone.click("summary")
    phone.get_by_role("button", name="Copy the link").click()
    phone.get_by_role("status").filter(has_text="Copied.").wait_for()
    assert phone.evaluate("navigator.clipboard.readText()") == phone.input_value("#carried")


def test_links_with_half_a_report_are_told_and_not_sent(timed, phone, device, sealed, heading_is):
    phone.click("summary")
    carried = phone.input_value("#carried")
    begin, moment, report, credential, signature = carried.rsplit(".", 4)
    broken = [
        carried[:-1],
        f"{carried}0",
        f"{carried}.00",
        begin,
        f"{begin}.{moment}.{report}.{credential}",
        f"{begin}.{moment}.{report[:-2]}.{credential}.{signature}",
        f"{begin}.{moment}.ff{report[2:]}.{credential}.{signature}",
        f"{begin}.soon.{report}.{credential}.{signature}",
        f"{begin}.{moment}.{report}.{credential.upper()}.{signature.replace('a', 'A')}",
    ]
    other = device()
    bodies: list[str] = []
    other.on("request", lambda request: request.post_data and bodies.append(request.post_data))
    for link in broken:
        other.goto("about:blank")
        other.goto(link)
        heading_is(other, "The link is not complete")
        assert "Whom to ask: Institute of Examples" in other.inner_text("main")
    assert bodies == []


def test_a_forged_signature_in_a_link_is_refused_with_words(timed, phone, device, sealed):
    phone.click("summary")
    carried = phone.input_value("#carried").rpartition(".")[0] + "." + "0" * 512
    other = device()
    other.clock.install(time=datetime(2030, 1, 2, tzinfo=UTC))
    other.goto(carried)
    other.wait_for_selector("[role=alert]")
    assert other.inner_text("[role=alert]") == "The signature is not by the key of this survey."
    assert timed.reports() == []


def test_another_report_under_the_same_credential_is_refused_with_words(timed, phone, device, sealed):
    _, state = sealed
    phone.click("summary")
    begin, moment, report, *proof = phone.input_value("#carried").rsplit(".", 4)
    changed = f"{1 - int(report[:2]):02x}{report[2:]}"
    other = device()
    other.clock.install(time=datetime(2030, 1, 2, tzinfo=UTC))
    other.goto(".".join([begin, moment, changed, *proof]))
    other.wait_for_selector(".receipt")
    until(phone, state["moment"])
    phone.wait_for_selector("[role=alert]")
    assert phone.inner_text("[role=alert]") == "Another report was sent with the same credential."
    assert [found.hex() for found in timed.reports()] == [changed]


def test_open_surveys_wait_too_and_can_be_carried(tmp_path, phone, device, serving, definition, walk, kept):
    """They begin with the state sealed, under the survey's own name."""
    with serving(tmp_path, definition.replace("interval: 0", "interval: 300")) as site:
        phone.clock.install(time=NOON)
        phone.goto(site.link())
        walk(phone, 0, 1)
        phone.wait_for_selector("[role=timer]")
        ((name, state),) = kept(phone).items()
        assert (name, state["state"]) == (site.survey.hash, "sealed")
        phone.click("summary")
        other = device()
        other.clock.install(time=datetime(2030, 1, 2, tzinfo=UTC))
        other.goto(phone.input_value("#carried"))
        other.wait_for_selector(".receipt")
        until(phone, state["moment"])
        phone.wait_for_selector(".receipt")
        assert kept(phone) == {name: {"state": "answered"}}
        assert [report.hex() for report in site.reports()] == [json.loads(state["body"])["report"]]


def test_a_browser_that_stores_nothing_waits_in_the_page(timed, phone, walk):
    phone.clock.install(time=NOON)
    phone.add_init_script("IDBObjectStore.prototype.put = () => { throw new Error('full'); }")
    phone.goto(timed.invite()[0])
    walk(phone, 0, 1)
    phone.wait_for_selector("[role=timer]")
    assert "open your link again" not in phone.inner_text("main")
    phone.clock.fast_forward(600_000)
    phone.wait_for_selector(".receipt")
    assert len(timed.reports()) == 1


def test_the_welcome_page_says_what_the_time_of_sending_tells(timed, phone):
    phone.goto(timed.invite()[0])
    phone.wait_for_selector("button.primary")
    assert "sent by itself at a random moment within 10 minutes" in phone.inner_text("main")


@pytest.mark.parametrize("kind", ["invited", "site"])
def test_without_an_interval_it_is_sent_at_once_and_the_welcome_page_says_what_that_tells(request, phone, walk, kind):
    site = request.getfixturevalue(kind)
    phone.goto(site.invite()[0] if kind == "invited" else site.link())
    phone.wait_for_selector("button.primary")
    assert "as soon as you finish, so the times may tell which one is yours" in phone.inner_text("main")
    walk(phone, 0, 1)
    phone.wait_for_selector(".receipt")
    assert len(site.reports()) == 1


def test_nothing_is_sealed_after_the_last_day(timed, phone, walk, kept, heading_is):
    """It would wait for a moment at which the server takes nothing any more."""
    phone.clock.install(time=datetime(2100, 12, 31, 23, 58, tzinfo=UTC))
    phone.goto(timed.invite()[0])
    walk(phone, 0, 1, send=False)
    phone.clock.fast_forward(180_000)
    phone.click("button.primary")
    heading_is(phone, "This survey has ended")
    assert [state["state"] for state in kept(phone).values()] == ["admitted"]


def test_every_byte_that_was_sent_is_shown(invited, phone, walk):
    """But for the blinded message, which the device has erased."""
    bodies: list[str] = []
    phone.on("request", lambda request: request.post_data and bodies.append(request.post_data))
    phone.goto(invited.invite()[0])
    walk(phone, 0, 1)
    phone.wait_for_selector(".receipt")
    assert not phone.locator(".sent pre").first.is_visible()
    phone.click(".sent summary")
    shown = [json.loads(text) for text in phone.locator(".sent pre").all_inner_texts()]
    check, admission, report = map(json.loads, bodies)
    assert shown == [check, admission | {"blinded": "512 digits, erased"}, report]
    assert len(admission["blinded"]) == 512
