"""Accounts, sessions and one-time links, on SQLite and PostgreSQL: passwords, roles, locks, clocks and races."""

import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from statistics import median
from threading import Barrier

import pytest
from sqlalchemy import delete, event, select

from sottovoce.errors import SottovoceError
from sottovoce.surveys.collect.database import account_links, accounts, reading, sessions, writing
from sottovoce.surveys.collect.store import Store
from sottovoce.surveys.dashboard import accounts as accounts_module
from sottovoce.surveys.dashboard.accounts import (
    LINK_SECONDS,
    MOST_FAILURES,
    SESSION_SECONDS,
    Accounts,
    LoginError,
    Role,
    check_name,
    check_password,
    first_account_link,
)

PASSWORD = "correct horse battery"  # noqa: S105
OTHER = "seven purple umbrellas"
OLD = Path(__file__).parents[2] / "fixtures" / "0.1" / "surveys" / "surveys.db"


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


class Desk(Accounts):
    """Accounts that tests create in one line, in a database that several of them can share."""

    def __init__(self, database: str, clock: Clock) -> None:
        self.store, self.clock, self.database = Store(database), clock, database
        super().__init__(self.store.engine, clock)

    def create(self, name: str = "anna", role: Role = Role.OWNER) -> None:
        assert self.use_link(self.new_link(role), name, PASSWORD) is not None

    def another(self) -> "Desk":
        """The same database, as another server uses it."""
        return Desk(self.database, self.clock)

    def close(self) -> None:
        self.store.close()

    def stored(self) -> str:
        """Everything in the tables."""
        with reading(self.store.engine) as connection:
            tables = [connection.execute(select(table)).all() for table in (accounts, sessions, account_links)]
        rows = [row for table in tables for row in table]
        return repr([[bytes(v).hex() if isinstance(v, bytes | memoryview) else v for v in row] for row in rows])


@pytest.fixture(scope="module")
def shared_database(postgres):
    """One database for all tests: to make one takes longer than most of them."""
    return postgres.database()


@pytest.fixture(params=["sqlite", "postgres"])
def desk(request, database, cheap_passwords):
    where = database if request.param == "sqlite" else request.getfixturevalue("shared_database")
    with closing(Desk(where, Clock())) as found:
        yield found
        with writing(found.store.engine) as connection:
            for table in (sessions, account_links, accounts):
                connection.execute(delete(table))


def together(count, function):
    """Call a function with 0, 1, ... from as many threads, which start at the same moment; return what each gets."""
    start = Barrier(count)

    def one(number):
        start.wait()
        return function(number)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(one, range(count)))


def test_the_first_account_comes_by_a_link_that_works_once(desk):
    first = desk.first_link()
    assert desk.link(first) == (Role.OWNER, None)
    second = desk.first_link()
    assert desk.link(first) is None
    session = desk.use_link(second, " Anna ", PASSWORD)
    assert (session.account, session.role, desk.session(session.id)) == ("anna", Role.OWNER, session)
    assert desk.use_link(second, "ben", PASSWORD) is None
    assert desk.first_link() is None
    assert first_account_link(desk.store, "http://x") is None
    assert [account.name for account in desk.all()] == ["anna"]


def test_a_first_link_leaves_links_for_others(desk):
    reader = desk.new_link(Role.READER)
    assert first_account_link(desk.store, "http://x").startswith("http://x/research/link/")
    assert desk.link(reader) == (Role.READER, None)


def test_the_database_holds_no_secret(desk):
    token = desk.new_link(Role.OWNER)
    session = desk.use_link(token, "anna", PASSWORD)
    unused = desk.new_link(Role.READER)
    stored = desk.stored()
    assert not any(secret in stored for secret in (token, session.id, unused, PASSWORD, session.csrf))
    assert "$argon2id$v=19$" in stored
    assert session.id not in repr(session)


def test_passwords_cost_what_rfc_9106_asks_for(database):
    with closing(Desk(database, Clock())) as desk:
        desk.create()
        assert "$argon2id$v=19$m=65536,t=3,p=1$" in desk.stored()
        assert accounts_module._nobody().startswith("$argon2id$v=19$m=65536,t=3,p=1$")
        assert not accounts_module._fits(PASSWORD, accounts_module._nobody())


def test_links_end_and_the_newest_password_link_is_the_only_one(desk):
    link = desk.new_link(Role.EDITOR)
    desk.clock.now += LINK_SECONDS
    assert desk.link(link) == (Role.EDITOR, None)
    desk.clock.now += 1
    assert desk.link(link) is None
    assert desk.use_link(link, "anna", PASSWORD) is None
    desk.create()
    first, second = (desk.new_link(Role.READER, "anna") for _ in range(2))
    assert (desk.link(first), desk.link(second)) == (None, (Role.OWNER, "anna"))
    assert desk.stored().count("'anna'") == 3  # the account, its session, one link; older links are gone
    with pytest.raises(SottovoceError, match=r"^name must be the name of an account. Got 'ben'"):
        desk.new_link(Role.READER, "ben")


def test_a_new_password_unlocks_and_ends_sessions(desk):
    desk.create()
    session = desk.log_in("anna", PASSWORD)
    for _ in range(MOST_FAILURES):
        with pytest.raises(LoginError):
            desk.log_in("anna", "wrong")
    assert desk.account("anna").locked
    with pytest.raises(LoginError):
        desk.log_in("anna", PASSWORD)
    assert desk.session(session.id) == session  # whoever is logged in stays so
    fresh = desk.use_link(desk.new_link(Role.READER, "anna"), "somebody else", OTHER)
    assert (fresh.account, fresh.role) == ("anna", Role.OWNER)
    assert (desk.session(session.id), desk.account("anna").locked) == (None, False)
    assert desk.log_in("anna", OTHER).account == "anna"
    with pytest.raises(LoginError):
        desk.log_in("anna", PASSWORD)


def test_a_right_password_forgives_wrong_ones(desk):
    desk.create()
    for _ in range(3):
        for _ in range(MOST_FAILURES - 1):
            with pytest.raises(LoginError):
                desk.log_in("anna", "wrong")
        desk.log_in("anna", PASSWORD)
    assert not desk.account("anna").locked


@pytest.mark.parametrize("name", ["ben", "", "\0", "a" * 5000, "anna\0", "'; DROP TABLE accounts; --", "\ud800"])
def test_names_that_do_not_exist(desk, name):
    desk.create()
    with pytest.raises(LoginError):
        desk.log_in(name, PASSWORD)
    with pytest.raises(SottovoceError, match="must be the name of an account"):
        desk.remove(name)
    with pytest.raises(SottovoceError, match="must be the name of an account"):
        desk.set_role(name, Role.READER)


def test_accents_are_the_same_from_every_device(desk):
    desk.use_link(desk.new_link(Role.OWNER), "anna", "cre\u0300me bru\u0302le\u0301e")
    assert desk.log_in("anna", "cr\u00e8me br\u00fbl\u00e9e")


def test_every_login_has_an_id_of_its_own_and_sessions_end(desk):
    desk.create()
    first, second = desk.log_in("anna", PASSWORD), desk.log_in("anna", PASSWORD)
    assert first.id != second.id
    assert first.csrf != second.csrf
    assert {first.mark, second.mark} < {session.mark for session in desk.sessions("anna")}
    assert desk.end_session("ben", first.mark) == 0
    assert desk.session(first.id) == first
    assert desk.end_session("anna", first.mark) == 1
    assert (desk.session(first.id), desk.session(second.id)) == (None, second)
    assert desk.end_session("anna") == 2
    assert (desk.session(second.id), desk.sessions("anna"), desk.account("anna").sessions) == (None, [], 0)
    assert desk.session("") is None


def test_a_session_ends_while_it_is_used(desk):
    desk.create()
    session = desk.log_in("anna", PASSWORD)
    for _ in range(12):
        assert desk.session(session.id) == session
        desk.clock.now += SESSION_SECONDS / 12
    desk.clock.now += 1
    assert desk.session(session.id) is None
    assert desk.sessions("anna") == []
    desk.log_in("anna", PASSWORD)
    assert len(desk.sessions("anna")) == 1
    assert desk.stored().count("'anna'") == 2  # what has ended is not kept


def test_changed_roles_and_removed_accounts_lose_their_rights_at_once(desk):
    desk.create("anna")
    desk.create("ben", Role.OWNER)
    session = desk.log_in("ben", PASSWORD)
    link, reset = desk.new_link(Role.OWNER), desk.new_link(Role.READER, "anna")
    desk.set_role("ben", Role.READER)
    assert desk.session(session.id).role == Role.READER
    assert (desk.link(link), desk.link(reset)) == (None, None)  # an owner may have kept them
    desk.set_role("ben", Role.EDITOR)
    assert desk.session(session.id).role == Role.EDITOR
    link, reset = desk.new_link(Role.OWNER), desk.new_link(Role.EDITOR, "ben")
    desk.remove("ben")
    assert (desk.session(session.id), desk.link(reset)) == (None, None)
    assert desk.link(link) == (Role.OWNER, None)
    assert desk.use_link(reset, "", PASSWORD) is None
    with pytest.raises(LoginError):
        desk.log_in("ben", PASSWORD)


def test_the_last_owner_stays(desk):
    desk.create("anna")
    desk.create("ben", Role.EDITOR)
    for change in (lambda: desk.remove("anna"), lambda: desk.set_role("anna", Role.EDITOR)):
        with pytest.raises(
            SottovoceError, match=r"^name must not be that of the last owner; make somebody else an own"
        ):
            change()
    desk.set_role("anna", Role.OWNER)
    desk.set_role("ben", Role.OWNER)
    desk.remove("anna")
    assert [(account.name, account.role) for account in desk.all()] == [("ben", Role.OWNER)]


def test_a_name_is_taken_once(desk):
    desk.create()
    link = desk.new_link(Role.READER)
    with pytest.raises(SottovoceError, match=r"^name must be one that no other account has. Got 'anna'"):
        desk.use_link(link, "anna", PASSWORD)
    assert desk.use_link(link, "ben", PASSWORD).role == Role.READER


def test_an_account_that_changes_during_a_login(desk, monkeypatch):
    """The password fits, but by then it is another one, or the account is gone."""
    desk.create("anna")
    desk.create("ben")
    links = [desk.new_link(Role.OWNER, "ben")]
    fits = accounts_module._fits

    def slow(password, hashed):
        desk.use_link(links.pop(), "", OTHER) if links else desk.remove("ben")
        return fits(password, hashed)

    monkeypatch.setattr(accounts_module, "_fits", slow)
    for password in (PASSWORD, OTHER):
        with pytest.raises(LoginError):
            desk.log_in("ben", password)
    assert desk.sessions("ben") == []


def test_one_link_used_by_many_at_once(desk):
    links, desks = [desk.first_link()], [desk.another() for _ in range(6)]
    made = together(6, lambda number: desks[number].use_link(links[0], f"name{number}", PASSWORD))
    assert (len([session for session in made if session]), len(desk.all())) == (1, 1)
    reset = desk.new_link(Role.OWNER, desk.all()[0].name)
    made = together(6, lambda number: desks[number].use_link(reset, "", f"{OTHER} {number}"))
    assert len([session for session in made if session]) == 1
    assert len(desk.sessions(desk.all()[0].name)) == 1
    for each in desks:
        each.close()


def test_one_name_wanted_by_many_at_once(desk):
    links, desks = [desk.new_link(Role.EDITOR) for _ in range(6)], [desk.another() for _ in range(6)]

    def use(number):
        try:
            return desks[number].use_link(links[number], "anna", PASSWORD)
        except SottovoceError:
            return None

    assert len([session for session in together(6, use) if session]) == 1
    assert len([link for link in links if desk.link(link)]) == 5
    for each in desks:
        each.close()


def test_servers_that_start_at_once_have_one_valid_link(desk):
    desks = [desk.another() for _ in range(6)]
    links = together(6, lambda number: desks[number].first_link())
    assert len([link for link in links if desk.link(link)]) == 1
    for each in desks:
        each.close()


def test_parallel_attempts_are_all_counted(desk, monkeypatch):
    """However many guess at once, the tenth locks the account for all of them, and nobody learns that it did."""
    desk.create()
    desks, compared, fits = [desk.another() for _ in range(8)], [], accounts_module._fits
    monkeypatch.setattr(accounts_module, "_fits", lambda *given: compared.append(given) or fits(*given))

    def guess(number):
        for attempt in range(4):
            with pytest.raises(LoginError):
                desks[number].log_in("anna", f"{number} {attempt}")

    together(8, guess)
    assert (len(compared), desk.account("anna").locked) == (32, True)  # locked ones are compared in vain
    with pytest.raises(LoginError):
        desk.log_in("anna", PASSWORD)
    for each in desks:
        each.close()


def test_the_tenth_of_many_at_once_is_the_last(desk):
    """Of attempts that begin together when nine have failed, one is let through."""
    desk.create()
    for _ in range(MOST_FAILURES - 1):
        with pytest.raises(LoginError):
            desk.log_in("anna", "wrong")
    desks = [desk.another() for _ in range(6)]

    def enter(number):
        try:
            return desks[number].log_in("anna", PASSWORD if number == 0 else "wrong")
        except LoginError:
            return None

    entered = [session for session in together(6, enter) if session]
    assert desk.account("anna").locked == (not entered)
    for each in desks:
        each.close()


def test_two_owners_who_demote_each_other_leave_one(desk):
    desk.create("anna")
    desk.create("ben")
    desks = [desk.another(), desk.another()]

    def demote(number):
        with suppress(SottovoceError):
            desks[number].set_role(("anna", "ben")[number], Role.READER)

    together(2, demote)
    assert sorted(account.role for account in desk.all()) == [Role.READER, Role.OWNER]
    for each in desks:
        each.close()


def test_unknown_and_locked_accounts_cause_the_same_work(desk, monkeypatch):
    """The same statements, as many comparisons of a password, and as much written."""
    desk.create("anna")
    desk.create("ben")
    for _ in range(MOST_FAILURES):
        with pytest.raises(LoginError):
            desk.log_in("ben", "wrong")
    work, fits = [], accounts_module._fits
    monkeypatch.setattr(accounts_module, "_fits", lambda *given: work.append(given[1].split("$")[3]) or fits(*given))

    def note(_connection, _cursor, statement, _parameters, context, _many):
        work.append((statement.split()[0], context.cursor.rowcount if context.isupdate else None))

    event.listen(desk.store.engine, "after_cursor_execute", note)
    seen = []
    for name in ("anna", "ben", "nobody", "\0"):
        with pytest.raises(LoginError):
            desk.log_in(name, "wrong")
        seen.append(tuple(work))
        work.clear()
    assert len(set(seen)) == 1
    assert ("UPDATE", 1) in seen[0]
    assert not desk.account("anna").locked


@pytest.mark.slow
def test_unknown_names_take_as_long_as_known_ones(database):
    with closing(Desk(database, Clock())) as desk:
        desk.create()
        took = {"anna": [], "nobody": []}
        for number in range(2 * (MOST_FAILURES - 1)):
            name = list(took)[number % 2]
            began = time.perf_counter()
            with pytest.raises(LoginError):
                desk.log_in(name, "wrong")
            took[name].append(time.perf_counter() - began)
    known, unknown = (median(times) for times in took.values())
    assert known / 2 < unknown < 2 * known  # without a hash, it would be a hundredth


def test_databases_of_0_1_get_accounts(tmp_path, cheap_passwords):
    with closing(Desk(str(shutil.copy(OLD, tmp_path)), Clock())) as desk:
        assert desk.store.surveys()
        desk.use_link(desk.first_link(), "anna", PASSWORD)
        assert desk.log_in("anna", PASSWORD).role == Role.OWNER


@pytest.mark.parametrize(
    ("password", "missing"),
    [
        ("short", "must have 12 to 1024 characters: four words that have no connection will do. Got 5"),
        ("x" * 1025, "must have 12 to 1024 characters"),
        ("aaabbbcccddd", "must have at least 6 different characters. Got 4"),
        ("annalisa-1-Annalisa-2", "must have at least 12 characters beside the name of the account. Got 5"),
        ("1984-12-06-1999", "must not be a number or a date; add words. Got digits"),
        ("Password12345!", "must not be a word that everybody tries, or a row of keys; add words"),
        ("qwertyuiop123", "must not be a word that everybody tries"),
        ("sottovoceSOTTOVOCE", "must not be a word that everybody tries"),
    ],
)
def test_a_weak_password_says_what_is_missing(password, missing):
    with pytest.raises(SottovoceError) as refused:
        check_password(password, "annalisa")
    assert str(refused.value).startswith(f"password {missing}")
    assert password not in str(refused.value)


@pytest.mark.parametrize(
    "password",
    [
        PASSWORD,
        "x8#k2!9$4@7%1",
        "8#12!9$4@7%1",
        "пароль из трёх слов",
        "密码需要十二个不同的字符吧对",
        "annalisa likes blue trains",
    ],
)
def test_passwords_of_every_language_and_of_password_managers(password):
    check_password(password, "annalisa")


def test_names_are_plain():
    assert check_name(" Anna.B@example.org ") == "anna.b@example.org"
    for name in ("", "a", "-anna", "anna b", "\u0430nna", "a" * 65, "anna\n.", "anna\0"):
        with pytest.raises(SottovoceError, match=r"^name must have 2 to 64 letters a to z, digits"):
            check_name(name)


def test_roles_have_names():
    with pytest.raises(SottovoceError, match=r"^role must be one of reader, editor, owner. Got 'king'"):
        accounts_module.role_of("king")
