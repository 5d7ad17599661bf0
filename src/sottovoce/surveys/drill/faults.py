"""The scenarios: what goes wrong with the private copy, drawn from a seed, while respondents answer.

A scenario is a name, a sentence and a function. What it draws are moments, counted in respondents who are done, and
lengths: the same seed gives the same faults.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from random import Random
from urllib.parse import urlsplit

from sottovoce.surveys.client.client import RETRIED_STATUSES
from sottovoce.surveys.collect.app_state import today
from sottovoce.surveys.drill.proxy import FAIR, Proxy, Weather
from sottovoce.surveys.drill.respondents import Connection, Reply, Respondent
from sottovoce.surveys.drill.state import Drill, in_turn

MOST_FAULTS = 4
PEOPLE_PER_FAULT = 50
"""Respondents of a scenario for each of its faults, of which there is at least one."""

RIVALS = 24
"""Clients that send at the same moment."""

SILENCE = 20.0
"""Longest outage, in seconds, in which the database does not even refuse."""

DAY = 86_400
YEAR = 365 * DAY

LOOK_SECONDS = 8.0
"""Time within which the survey must be shown while the database is out of reach."""


@dataclass(frozen=True)
class Scenario:
    """Something that goes wrong: a name, a sentence, and what the drill does."""

    name: str
    sentence: str
    run: Callable[[Drill, Random], Awaitable[None]]


async def crash(drill: Drill, rng: Random) -> None:
    """Kill the server while nobody can write, then at random moments, and start it again each time."""
    people = drill.new_respondents()
    first = people[: max(1, len(people) // 4)]
    async with drill.answering(first, rng, admissions_only=True):
        pass
    async with drill.answering(people, rng) as crowd:
        held = await asyncio.to_thread(drill.scratch.held)
        await asyncio.sleep(rng.uniform(0.3, 0.6))  # those acknowledged now are so before anything is on disk
        await _kill(drill, "while nobody could write")
        await asyncio.to_thread(held.close)
        await drill.start()
        for moment in _moments(rng, len(people)):
            await crowd.reached(moment)
            await asyncio.sleep(rng.uniform(0, 0.02))
            await _kill(drill, f"after {moment} of {len(people)} respondents")
            await drill.start()


async def _kill(drill: Drill, when: str) -> None:
    drill.fault(f"server killed {when}")
    await drill.kill(drill.server)


async def stop(drill: Drill, rng: Random) -> None:
    """Ask the server to stop while reports are queued, and under load; what has arrived is stored and answered."""
    people = drill.new_respondents()
    queued, others = people[: len(people) // 2], people[len(people) // 2 :]
    async with drill.answering(queued, rng, admissions_only=True):
        pass
    server = drill.server
    held = await asyncio.to_thread(drill.scratch.held)
    async with drill.answering(queued, rng, connections=len(queued), patience=0, strict=False):
        await asyncio.sleep(rng.uniform(0.5, 0.8))  # all requests have arrived, and wait for the disk
        drill.fault(f"server asked to stop while {len(queued)} reports were queued")
        server.ask_to_stop()
        await asyncio.sleep(rng.uniform(0.1, 0.3))
        await asyncio.to_thread(held.close)
    await drill.stop(server)
    for respondent in queued:
        if not respondent.acknowledged:
            what = "had been sent before the server was asked to stop, and was not acknowledged"
            drill.note("broken", f"the report of respondent {respondent.number} {what}")
    await drill.start()
    async with drill.answering(people, rng) as crowd:
        for moment in _moments(rng, len(others)):
            await crowd.reached(len(queued) + moment)
            drill.fault(f"server asked to stop after {moment} of {len(others)} respondents")
            await drill.stop(drill.server)
            await drill.start()


async def replays(drill: Drill, rng: Random) -> None:
    """Send every admission and every report again, and changed ones, and those of another survey."""
    people = drill.new_respondents()
    async with drill.answering(people, rng):
        pass
    with drill.store() as store:
        before = store.counts(drill.survey.id)
    drill.fault("every request sent again, and changed")
    done = [respondent for respondent in people if respondent.acknowledged]
    await in_turn([partial(_replay, drill, rng, each, people) for each in done])
    await _strangers(drill, rng)
    with drill.store() as store:
        after = store.counts(drill.survey.id)
    if after["reports"] != before["reports"] or after["admitted"] != before["admitted"]:
        drill.note("broken", f"requests that were sent again changed what is stored: {before} became {after}")


async def _replay(drill: Drill, rng: Random, respondent: Respondent, people: Sequence[Respondent]) -> None:
    who = f"respondent {respondent.number}"
    if respondent.token is not None:
        again = await drill.ask(respondent, "admission", respondent.admission())
        if (again.status, again.content.get("signature")) != (200, respondent.signature):
            drill.note("broken", f"{who} did not get the same signature again for the same message")
        other = await drill.ask(respondent, "admission", respondent.admission(respondent.blind().message))
        drill.expect(other, {409: "spent"}, f"the invitation of {who} was used again, with another message")
    again = await drill.ask(respondent, "reports", respondent.seal().body)
    if (again.status, again.content.get("receipt")) != (200, respondent.receipt):
        drill.note("broken", f"the report of {who} was sent again, and was not recognised")
    others = [each.report for each in people if each.report != respondent.report]
    for report in rng.sample(others, min(1, len(others))):
        changed = await drill.ask(respondent, "reports", respondent.seal_other(report))
        drill.expect(changed, {409: "other_report"}, f"a changed report of {who} was not refused")


async def _strangers(drill: Drill, rng: Random) -> None:
    """Send a report that is admitted to another survey."""
    (stranger,) = drill.new_respondents(1, drill.new_survey())
    async with drill.answering([stranger], rng):
        pass
    at_home, stranger.survey = stranger.survey, drill.survey
    reply = await drill.ask(stranger, "reports", stranger.seal().body)
    drill.expect(reply, {409: "other_survey"}, "a report to another survey was not refused")
    if stranger.token is not None:
        as_ours = stranger.seal().body.replace(at_home.hash.encode(), drill.survey.hash.encode())
        reply = await drill.ask(stranger, "reports", as_ours)
        drill.expect(reply, {403: "signature"}, "a credential that another survey has signed was not refused")
    stranger.survey = at_home


async def races(drill: Drill, rng: Random) -> None:
    """Use one invitation, and one credential, many times at the same moment, on two servers over one database."""
    await drill.start()
    people = drill.new_respondents()
    count = _faults(len(people))
    contested, others = people[:count], people[count:]
    async with drill.answering(others, rng):
        for respondent in contested:
            drill.fault(f"{RIVALS} requests with the invitation or the credential of respondent {respondent.number}")
            if respondent.token is not None:
                await _race_for_admission(drill, respondent)
        for respondent in [each for each in contested if each.admitted]:
            await _race_with_reports(drill, respondent, people)
    async with drill.answering(contested, rng):
        pass


async def _at_once(drill: Drill, respondent: Respondent, route: str, bodies: Sequence[bytes]) -> list[Reply]:
    """Send bodies at the same moment, to the servers in turn; who is asked to come again does so."""
    addresses = drill.addresses()
    places = [addresses[place % len(addresses)] for place in range(len(bodies))]
    connections = [Connection(address, respondent.headers) for address in places]
    home = f"/s/{respondent.survey.id}"
    try:
        await asyncio.gather(*(each.get(f"{home}/survey.json") for each in connections))  # everybody is connected
        sent = (each.post(f"{home}/{route}", body) for each, body in zip(connections, bodies, strict=True))
        replies = await asyncio.gather(*sent)
    finally:
        for each in connections:
            await each.close()
    again = [place for place, reply in enumerate(replies) if reply.status in RETRIED_STATUSES]
    for place in again:
        replies[place] = await drill.ask(respondent, route, bodies[place], places[place])
    return replies


async def _race_for_admission(drill: Drill, respondent: Respondent) -> None:
    who = f"respondent {respondent.number}"
    blinded = [respondent.blind() for _ in range(RIVALS)]
    bodies = [respondent.admission(each.message) for each in blinded]
    replies = await _at_once(drill, respondent, "admission", bodies)
    won = [place for place, reply in enumerate(replies) if reply.status == 200]
    if len(won) != 1:
        drill.note("broken", f"the invitation of {who} admitted {len(won)} of {RIVALS} messages at the same moment")
    for place in won[:1]:
        respondent.blinded, respondent.signature = blinded[place], replies[place].content["signature"]
        again = await _at_once(drill, respondent, "admission", [bodies[place]] * RIVALS)
        if {reply.content.get("signature") for reply in again} != {respondent.signature}:
            drill.note("broken", f"the same message of {who} got different answers at the same moment")


async def _race_with_reports(drill: Drill, respondent: Respondent, people: Sequence[Respondent]) -> None:
    who = f"respondent {respondent.number}"
    sealed = respondent.seal()
    rival = next((each.report for each in people if each.report != respondent.report), respondent.report)
    other = respondent.seal_other(rival)
    replies = await _at_once(drill, respondent, "reports", [sealed.body, other] * (RIVALS // 2))
    stored = {place % 2 for place, reply in enumerate(replies) if reply.status in (200, 201)}
    if len(stored) != 1 and rival != respondent.report:
        drill.note("broken", f"{len(stored)} reports of {who} were accepted under one credential at the same moment")
    if sum(reply.status == 201 for reply in replies) > 1:
        drill.note("broken", f"the report of {who} was stored more than once at the same moment")
    if stored == {1}:
        respondent.change_report(rival)


async def freeze(drill: Drill, rng: Random) -> None:
    """Freeze one of two servers, perhaps within a commit; its clients give up, and send the same bytes to either."""
    frozen = await drill.start()
    people = drill.new_respondents()
    async with drill.answering(people, rng, reply_seconds=2.0) as crowd:
        for moment in _moments(rng, len(people)):
            await crowd.reached(moment)
            seconds = rng.uniform(0.5, 3)
            drill.fault(f"one of two servers frozen for {seconds:.1f} s")
            frozen.freeze()
            await asyncio.sleep(seconds)
            frozen.thaw()


async def clock(drill: Drill, rng: Random) -> None:
    """Let the clock jump beyond the last day and a year back, also for a survey that was closed."""
    people, ended = drill.new_respondents(), drill.new_survey()
    third = max(1, len(people) // 3)
    stored, admitted, late = people[:third], people[third : 2 * third], people[2 * third :]
    closed_people = drill.new_respondents(4, ended)
    closed_stored, closed_admitted, closed_late = closed_people[:2], closed_people[2:3], closed_people[3:]
    async with drill.answering([*stored, *closed_stored], rng):
        pass
    async with drill.answering([*admitted, *closed_admitted], rng, admissions_only=True, strict=False):
        pass
    ahead = (drill.survey.until - today()).days * DAY + rng.randrange(2 * DAY, YEAR)
    _set_clock(drill, ahead)
    await _must_be_over(drill, stored, admitted, late, "after its last day")
    with drill.store() as store:
        store.close_survey(ended.id)
    for seconds in (-rng.randrange(DAY, YEAR), 0):
        _set_clock(drill, seconds)
        await _must_be_over(drill, closed_stored, closed_admitted, closed_late, "after it was closed")
    _set_clock(drill, -rng.randrange(DAY, YEAR))
    async with drill.answering([*admitted, *late], rng) as crowd:
        await crowd.reached(len(late) // 2)
        _set_clock(drill, rng.randrange(DAY))
    _set_clock(drill, 0)


def _set_clock(drill: Drill, seconds: int) -> None:
    drill.fault(f"clock {seconds / DAY:+.1f} days off")
    drill.server.tell(f"clock {seconds}")


async def _must_be_over(
    drill: Drill, stored: Sequence[Respondent], admitted: Sequence[Respondent], late: Sequence[Respondent], when: str
) -> None:
    """A survey that is over admits nobody and takes no report, but still acknowledges those that it has."""
    for respondent in [each for each in stored if each.acknowledged][:3]:
        reply = await drill.ask(respondent, "reports", respondent.seal().body)
        drill.expect(reply, {200: None}, f"a stored report was not acknowledged again {when}")
    for respondent in [each for each in admitted if each.admitted][:3]:
        reply = await drill.ask(respondent, "reports", respondent.seal().body)
        drill.expect(reply, {410: "closed"}, f"the survey took a report {when}")
    for respondent in [each for each in late if each.token is not None][:3]:
        reply = await drill.ask(respondent, "admission", respondent.admission())
        drill.expect(reply, {410: "closed"}, f"the survey admitted somebody {when}")


async def full_disk(drill: Drill, rng: Random) -> None:
    """Fill the disk again and again."""
    await _under_load(drill, rng, "disk full", lambda: drill.scratch.full(drill.server, rng))


async def read_only_disk(drill: Drill, rng: Random) -> None:
    """Let the disk become read-only again and again."""
    await _under_load(drill, rng, "disk read-only", lambda: drill.scratch.read_only(drill.server))


async def _under_load(drill: Drill, rng: Random, what: str, begin: Callable[[], ExitStack]) -> None:
    people = drill.new_respondents()
    async with drill.answering(people, rng) as crowd:
        for moment in _moments(rng, len(people)):
            await crowd.reached(moment)
            seconds = rng.uniform(0.2, 1.5)
            drill.fault(f"{what} for {seconds:.1f} s after {moment} of {len(people)} respondents")
            ends = await asyncio.to_thread(begin)
            await asyncio.sleep(seconds)
            await asyncio.to_thread(ends.close)


async def connections(drill: Drill, rng: Random) -> None:
    """Cut connections in the middle of requests and replies, and slow them down, also those to PostgreSQL."""
    people = drill.new_respondents()
    parts = urlsplit(drill.server.address)
    with Proxy(lambda: (str(parts.hostname), parts.port or 0), Random(rng.getrandbits(64))) as proxy:  # noqa: S311  # of faults
        address = f"http://127.0.0.1:{proxy.port}"
        async with drill.answering(people, rng, through=lambda: [address], reply_seconds=10.0) as crowd:
            for moment in _moments(rng, len(people)):
                cut, delay = rng.uniform(0.05, 0.2), rng.uniform(0, 0.01)
                drill.fault(f"{cut:.0%} of all parts cut, {1000 * delay:.0f} ms late")
                proxy.weather = Weather(delay=delay, part=rng.randrange(100, 1000), cut=cut)
                with drill.scratch.unsteady(Weather(delay=delay / 10, cut=cut / 10)):
                    await crowd.reached(moment)
            proxy.weather = FAIR


async def outage(drill: Drill, rng: Random) -> None:
    """Put the database out of reach, first silently and then for the whole outage; the survey is shown meanwhile."""
    people = drill.new_respondents()
    *first, last = drill.scratch.outages
    stages = [*((way, min(SILENCE, drill.outage)) for way in first), (last, drill.outage)]
    async with drill.answering(people, rng, connections=min(64, len(people))) as crowd:
        for moment, (way, seconds) in zip(_moments(rng, len(people), len(stages)), stages, strict=True):
            await crowd.reached(moment)
            drill.fault(f"database {way} for {seconds:g} s")
            ends = await asyncio.to_thread(drill.scratch.outage, way)
            looks = asyncio.create_task(_look(drill, time.monotonic() + seconds))
            await asyncio.sleep(seconds)
            await asyncio.to_thread(ends.close)
            await looks


async def _look(drill: Drill, until: float) -> None:
    """Open the survey again and again, as people do who come while the database is out of reach."""
    while time.monotonic() < until:
        connection = Connection(drill.server.address)
        try:
            async with asyncio.timeout(LOOK_SECONDS):
                reply = await connection.get(f"/s/{drill.survey.id}/survey.json")
            drill.expect(reply, {200: None}, "the survey was not shown during an outage of the database")
        except (OSError, EOFError):
            drill.note("broken", f"the survey was not shown within {LOOK_SECONDS:g} s of an outage of the database")
        finally:
            await connection.close()
        await asyncio.sleep(1)


def _faults(people: int) -> int:
    return max(1, min(MOST_FAULTS, people // PEOPLE_PER_FAULT))


def _moments(rng: Random, people: int, count: int | None = None) -> list[int]:
    """Draw moments, in respondents who are done, in their order, of which the last leaves some to come."""
    return sorted(rng.randrange(max(1, people * 9 // 10)) for _ in range(count or _faults(people)))


SCENARIOS = (
    Scenario("crash", "The server is killed while reports wait for the disk, and under load.", crash),
    Scenario("stop", "The server is asked to stop with a full queue, and under load.", stop),
    Scenario("replays", "Every request is sent again, unchanged, changed, and to another survey.", replays),
    Scenario("races", "One invitation and one credential are used by many at once, on two servers.", races),
    Scenario("freeze", "One of two servers is frozen; its clients send the same bytes to the other.", freeze),
    Scenario("clock", "The clock jumps beyond the last day and back, also after a survey was closed.", clock),
    Scenario("full-disk", "The disk is full for moments.", full_disk),
    Scenario("read-only", "The disk is read-only for moments.", read_only_disk),
    Scenario("connections", "Connections are slow, and cut within requests and replies.", connections),
    Scenario("outage", "The database is out of reach.", outage),
)
"""All scenarios, in the order in which a drill runs them."""
