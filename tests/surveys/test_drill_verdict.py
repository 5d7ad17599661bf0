"""The verdict of a drill: what is lost, doubled or strange in the database, and what leaks from it."""

import time
from types import SimpleNamespace

import msgspec
import pytest
from sqlalchemy import delete, insert, select, text, update

from sottovoce.errors import SottovoceError
from sottovoce.surveys.blind_rsa import blind_sign
from sottovoce.surveys.collect.app_state import blinded_hash
from sottovoce.surveys.collect.database import inbox, invitations, layout, writing
from sottovoce.surveys.collect.entries import Entry
from sottovoce.surveys.drill import verdict as verdict_module
from sottovoce.surveys.drill.drill import Course
from sottovoce.surveys.drill.leaks import LEAST, MOST_DEVIATION, Needles, check_leaks, rank_deviation
from sottovoce.surveys.drill.verdict import check_stored
from sottovoce.surveys.links import token_hash
from tests.surveys.conftest import found_in


@pytest.fixture
def answered(drill, secret_key):
    """Let new respondents be admitted and acknowledged, without a server."""

    def answer(count):
        people = drill.new_respondents(count)
        with drill.store() as store:
            for respondent in people:
                respondent.admission()
                message, token = respondent.blinded.message, token_hash(drill.survey.hash, respondent.token)
                store.admit(drill.survey.id, token, blinded_hash(message))
                respondent.signature = blind_sign(message, secret_key.public.modulus, secret_key.exponent).hex()
                respondent.seal()
                store.commit([entry_of(respondent)])
                respondent.acknowledged_at = time.monotonic()
            store.tidy()
        return people

    return answer


def entry_of(respondent, key=None):
    return Entry(
        respondent.survey.id, key or respondent.key, respondent.report, receipt=bytes.fromhex(respondent.receipt)
    )


def test_what_is_stored_as_it_should_be_is_no_finding(drill, answered):
    answered(8)
    check_stored(drill)
    check_leaks(drill, at_rest=True)
    assert found_in(drill) == []


def test_lost_reports_are_found(drill, answered):
    gone, changed, unlisted = answered(3)
    with drill.store() as store, writing(store.engine) as connection:
        connection.execute(delete(inbox).where(inbox.c.key == gone.key))
        connection.execute(update(inbox).where(inbox.c.key == changed.key).values(report=b"other"))
        connection.execute(update(inbox).where(inbox.c.key == unlisted.key).values(receipt=None))
    drill.new_respondents(1)
    check_stored(drill)
    kinds = {finding.kind for finding in drill.findings}
    ends = [what.rpartition(", ")[2] for what in found_in(drill)]
    assert kinds == {"lost"}
    assert ends == ["is not stored", "is stored with other bytes", "is not among the receipts that anybody can check"]


def test_doubled_reports_and_strange_ones_are_found(drill, answered):
    twice, again, third = answered(3)
    with drill.store() as store:
        store.commit([entry_of(again, b"k" * 16)])
        with writing(store.engine) as connection:
            table = store_table(connection)
            row = connection.execute(select(inbox).where(inbox.c.key == twice.key)).mappings().one()
            connection.execute(insert(table), dict(row))
            connection.execute(delete(invitations).where(invitations.c.token == third.invitation_hashes[0]))
    check_stored(drill)
    whats = " | ".join(found_in(drill))
    assert "the report of respondent 1 is stored 2 times" in whats
    assert f"under the key {(b'k' * 16).hex()}" in whats
    assert f"2 reports are stored with the receipt {again.receipt}" in whats
    assert "invitations are missing or too many" in whats
    assert "5 reports are stored, and 2 invitations spent" in whats


def store_table(connection):
    """The table of reports that were moved."""
    from sottovoce.surveys.collect.database import level

    assert connection.scalar(select(layout.c.levels)) == 1
    return level(0)


def test_invitations_that_nobody_has_used_are_found(drill, answered):
    (respondent,) = answered(1)
    respondent.blinded = None
    check_stored(drill)
    assert found_in(drill) == ["1 invitations are spent, and 0 respondents asked for that"]


def test_estimates_that_are_not_possible_are_found(drill, answered, monkeypatch):
    answered(2)
    monkeypatch.setattr(verdict_module, "LEAST_ESTIMATED", 0)
    monkeypatch.setattr(verdict_module, "survey_results", lambda *_: (_ for _ in ()).throw(SottovoceError("a", "b", 1)))
    object.__setattr__(drill.respondents[0].survey, "minimum", 1)
    check_stored(drill)
    assert found_in(drill) == ["nothing can be estimated from the stored reports: a b. Got 1 instead."]


def test_secrets_are_found_wherever_they_are(drill, answered):
    first, second, third = answered(3)
    logged = first.token.encode() + b"\nTraceback (most recent call last):\n  File x\nKeyError: 'x'\n"
    drill.all_servers = [SimpleNamespace(output=logged)]
    folder = drill.scratch.folder / "temporary"
    folder.mkdir()
    (folder / "spool").write_bytes(b"12345" + second.credential + b"12" + second.credential[:9])
    with drill.store() as store, writing(store.engine) as connection:
        connection.execute(text("CREATE TABLE log (line TEXT)"))
        connection.execute(text("INSERT INTO log VALUES (:line)"), {"line": f"from {third.address} at 12:00"})
    check_leaks(drill, at_rest=False)
    assert sorted(set(found_in(drill)) - {"the address of respondent 3 is in the file surveys.db-wal"}) == [
        "a server wrote a traceback, which may show anything: KeyError: 'x'",
        "the address of respondent 3 is in the file surveys.db",
        "the address of respondent 3 is in the table log",
        "the credential of respondent 2 is in the file spool",
        "the invitation of respondent 1 is in what a server wrote",
    ]
    assert {finding.kind for finding in drill.findings} == {"leaked"}


def test_needles_are_found_by_all_of_their_bytes():
    needles = Needles({b"12345678a": "first", b"12345678bcd": "second"})
    assert needles.within(b"..12345678a") == {"first"}
    assert needles.within(b"12345678") == set()
    assert needles.within(b"1234") == set()
    assert list(needles.places(b"12345678bcd12345678a")) == [(0, b"12345678bcd"), (11, b"12345678a")]


def test_orders_and_links_are_found(drill, answered):
    people = answered(60)
    with drill.store() as store, writing(store.engine) as connection:
        connection.execute(text("CREATE TABLE seen (number INTEGER PRIMARY KEY, report BLOB, token BLOB)"))
        for respondent in [*people, *reversed(people)]:  # everybody comes again, which hides nothing
            row = {"report": respondent.key, "token": respondent.invitation_hashes[0]}
            connection.execute(text("INSERT INTO seen (report, token) VALUES (:report, :token)"), row)
    check_leaks(drill, at_rest=True)
    whats = found_in(drill)
    assert "the table seen holds both invitations and reports" in whats
    told = [what.partition(" tells")[0] for what in whats if "order of arrival" in what]
    assert "the order of first rows of the table seen" in told
    assert "column number in last rows of the table seen" in told
    assert all("seen" in trace or "file" in trace for trace in told)


def test_orders_of_values_that_cannot_be_compared_tell_nothing():
    assert rank_deviation([None, *range(40)], range(41)) == 0
    assert rank_deviation(range(5), range(5)) == 0
    assert rank_deviation(range(LEAST), range(LEAST)) > MOST_DEVIATION  # the fewest that are examined are enough


@pytest.mark.parametrize(
    ("wrong", "name"),
    [
        ({"seed": -1}, "seed"),
        ({"respondents": 3}, "respondents"),
        ({"only": ["flood"]}, "only"),
        ({"minutes": -1}, "minutes"),
        ({"outage": 0}, "outage"),
    ],
)
def test_a_course_is_checked(wrong, name):
    with pytest.raises(SottovoceError, match=f"{name} must"):
        Course(**{"seed": 1} | wrong)


def test_bodies_of_other_reports_are_under_the_same_key(answered):
    (respondent,) = answered(1)
    before = msgspec.json.decode(respondent.seal().body)
    respondent.change_report(b"other")
    after = msgspec.json.decode(respondent.seal().body)
    assert after == before | {"report": b"other".hex()}
    assert respondent.report == b"other"
