"""Accounts of researchers, their sessions, and the one-time links that create accounts and set passwords.

Passwords are stored as Argon2id hashes. Ids of sessions and tokens of links are 32 random bytes, of which the database
stores SHA-256 only: who reads it can use none of them. Changes of accounts wait for each other, also those of other
servers, so that a link works once, every failed attempt counts, and an owner remains.
"""

import os
import re
import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import IntEnum
from hashlib import sha256
from hmac import compare_digest
from typing import Any
from unicodedata import normalize

from cryptography.exceptions import InvalidKey
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id
from sqlalchemy import Connection, Engine, delete, func, insert, select, text, update

from sottovoce.errors import SottovoceError, Words
from sottovoce.surveys.collect.database import account_links, accounts, is_postgres, reading, sessions, writing
from sottovoce.surveys.collect.store import Store

MEMORY_KIB, ITERATIONS = 64 * 1024, 3
"""Cost of Argon2id, the second choice of RFC 9106 with one lane: 64 MiB and a third of a second for each attempt."""

SESSION_SECONDS = 12 * 3600
LINK_SECONDS = 3 * 24 * 3600
MOST_FAILURES = 10
"""Failed attempts after which an account is locked until its password is set anew."""

LEAST_CHARACTERS = 12
MOST_CHARACTERS = 1024
LEAST_DIFFERENT = 6
MANY_SIGNS = 4
"""Different signs, such as % and $, with which a password need have no words."""

NAME = re.compile(r"[a-z0-9][a-z0-9._@+-]{1,63}")
LOCK = int.from_bytes(b"account")
"""Number of PostgreSQL's advisory lock for changes of accounts; SQLite has one writer at a time."""


class Role(IntEnum):
    """What an account may do; every role may also do what those before it may."""

    READER = 1
    EDITOR = 2
    OWNER = 3

    @property
    def label(self) -> str:
        """Name of the role, as it is stored and shown."""
        return self.name.lower()


def role_of(label: str) -> Role:
    """Return the role with a name."""
    if label not in (known := [role.label for role in Role]):
        raise SottovoceError("role", f"must be one of {', '.join(known)}", label)
    return Role[label.upper()]


@dataclass(frozen=True)
class Session:
    """A session: who it belongs to, what they may do, and its secret id, which only the browser keeps."""

    account: str
    role: Role
    id: str = field(repr=False)

    @property
    def csrf(self) -> str:
        """Token that every change must come with: other sites cannot know it."""
        return sha256(f"csrf {self.id}".encode()).hexdigest()

    @property
    def mark(self) -> str:
        """First digits of the stored hash, which tell sessions apart."""
        return _mark(_hash(self.id))


@dataclass(frozen=True)
class OpenSession:
    """A session as its owner sees it: the first digits of its hash, and when it ends at the latest."""

    mark: str
    ends: datetime


@dataclass(frozen=True)
class Account:
    """An account as others see it."""

    name: str
    role: Role
    locked: bool
    sessions: int


class LoginError(Exception):
    """Raised when a name and a password do not fit, or an account is locked; says nothing else to strangers."""


class Accounts:
    """Accounts, sessions and one-time links of a database."""

    def __init__(self, engine: Engine, now: Callable[[], float] = time.time) -> None:
        """Use a database, and a clock."""
        self._engine, self._now = engine, now

    @contextmanager
    def _changing(self) -> Iterator[Connection]:
        """Transaction that changes accounts, while no other one does."""
        with writing(self._engine) as connection:
            if is_postgres(connection):
                connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": LOCK})
            yield connection

    def new_link(self, role: Role, account: str | None = None) -> str:
        """Return the token of a new one-time link: for a new account with a role, or for a password of `account`.

        Of the links for a password of an account, only the newest can be used.
        """
        with self._changing() as connection:
            if account is not None:
                role = role_of(_known(connection, account).role)
                connection.execute(delete(account_links).where(account_links.c.account == account))
            return self._new_link(connection, role, account)

    def first_link(self) -> str | None:
        """Return the token of a link that creates the first account, or None if there is an account already.

        Earlier links for owners end: of several servers that start, only the last one's link can be used.
        """
        for_owners = account_links.c.role == Role.OWNER.label
        with self._changing() as connection:
            if connection.scalar(select(func.count()).select_from(accounts)):
                return None
            connection.execute(delete(account_links).where(for_owners))
            return self._new_link(connection, Role.OWNER, None)

    def _new_link(self, connection: Connection, role: Role, account: str | None) -> str:
        token = secrets.token_urlsafe(32)
        row = {"hash": _hash(token), "role": role.label, "account": account, "ends": self._ends(LINK_SECONDS)}
        connection.execute(delete(account_links).where(account_links.c.ends < self._now()))
        connection.execute(insert(account_links), row)
        return token

    def link(self, token: str) -> tuple[Role, str | None] | None:
        """Return the role and the account of a one-time link that can be used, or None."""
        with reading(self._engine) as connection:
            row = connection.execute(select(account_links).where(account_links.c.hash == _hash(token))).one_or_none()
        return None if row is None or row.ends < self._now() else (role_of(row.role), row.account)

    def use_link(self, token: str, name: str, password: str) -> Session | None:
        """Create the account of a one-time link or set its password; None if the link cannot be used any more.

        A new password ends all sessions of the account, and unlocks it.
        """
        found = self.link(token)
        if found is None:
            return None
        role, account = found
        name = account or check_name(name)
        check_password(password, name)
        hashed = _hashed_password(password)
        with self._changing() as connection:
            if account is None and _row(connection, name) is not None:
                raise SottovoceError("name", "must be one that no other account has", name)
            if not connection.execute(delete(account_links).where(account_links.c.hash == _hash(token))).rowcount:
                return None  # somebody else was faster
            if account is None:
                row = {"name": name, "password": hashed, "role": role.label, "failures": 0}
                connection.execute(insert(accounts), row)
            else:
                role = role_of(_known(connection, name).role)
                connection.execute(update(accounts).where(_is(name)).values(password=hashed, failures=0))
                connection.execute(delete(sessions).where(sessions.c.account == name))
            return self._begin(connection, name, role)

    def log_in(self, name: str, password: str) -> Session:
        """Begin a session; wrong passwords are counted, and lock the account after some.

        Names that do not exist, and accounts that are locked, take as long as any other.
        """
        with self._changing() as connection:  # counted before the password is looked at: attempts may race
            row = _row(connection, name if NAME.fullmatch(name) else "")
            if row is None:  # write as much as for a name that exists
                somebody = select(func.min(accounts.c.name)).scalar_subquery()
                counted = update(accounts).where(accounts.c.name == somebody).values(failures=accounts.c.failures)
            else:
                counted = update(accounts).where(_is(name)).values(failures=min(row.failures + 1, MOST_FAILURES))
            connection.execute(counted)
        fits = _fits(password, _nobody() if row is None else row.password)
        if row is None or row.failures >= MOST_FAILURES or not fits:
            raise LoginError
        with self._changing() as connection:
            now = _row(connection, name)
            if now is None or now.password != row.password:
                raise LoginError  # it was removed meanwhile, or has another password
            connection.execute(update(accounts).where(_is(name)).values(failures=0))
            return self._begin(connection, name, role_of(now.role))

    def _begin(self, connection: Connection, name: str, role: Role) -> Session:
        session = Session(name, role, secrets.token_urlsafe(32))
        connection.execute(delete(sessions).where(sessions.c.ends < self._now()))
        row = {"hash": _hash(session.id), "account": name, "ends": self._ends(SESSION_SECONDS)}
        connection.execute(insert(sessions), row)
        return session

    def session(self, secret: str) -> Session | None:
        """Return the session with an id, with what its account may do now, or None if it has ended."""
        query = select(sessions.c.account, sessions.c.ends, accounts.c.role).join_from(sessions, accounts)
        with reading(self._engine) as connection:
            row = connection.execute(query.where(sessions.c.hash == _hash(secret))).one_or_none()
        return None if row is None or row.ends < self._now() else Session(row.account, role_of(row.role), secret)

    def sessions(self, account: str) -> list[OpenSession]:
        """Return the sessions of an account that have not ended, the newest first."""
        mine = select(sessions).where(sessions.c.account == account, sessions.c.ends >= self._now())
        with reading(self._engine) as connection:
            rows = connection.execute(mine.order_by(sessions.c.ends.desc(), sessions.c.hash)).all()
        return [OpenSession(_mark(row.hash), datetime.fromtimestamp(row.ends, UTC)) for row in rows]

    def end_session(self, account: str, mark: str | None = None) -> int:
        """End a session of an account by its mark, or all of them; return how many."""
        mine = select(sessions.c.hash).where(sessions.c.account == account)
        with self._changing() as connection:
            ended = [stored for stored in connection.scalars(mine) if mark in (None, _mark(stored))]
            connection.execute(delete(sessions).where(sessions.c.hash.in_(ended)))
        return len(ended)

    def all(self) -> list[Account]:
        """Return all accounts."""
        running = select(sessions.c.account).where(sessions.c.ends >= self._now())
        with reading(self._engine) as connection:
            counted = Counter(connection.scalars(running))
            rows = connection.execute(select(accounts).order_by(accounts.c.name)).all()
        return [Account(r.name, role_of(r.role), r.failures >= MOST_FAILURES, counted[r.name]) for r in rows]

    def account(self, name: str) -> Account:
        """Return the account with a name."""
        for account in self.all():
            if account.name == name:
                return account
        raise _no_account(name)

    def set_role(self, name: str, role: Role) -> None:
        """Change what an account may do, at once; the last owner must stay one."""
        with self._changing() as connection:
            if role < Role.OWNER:
                self._take_ownership(connection, name)
            connection.execute(update(accounts).where(_is(name)).values(role=role.label))

    def remove(self, name: str) -> None:
        """Delete an account with its sessions and links; the last owner must stay."""
        with self._changing() as connection:
            self._take_ownership(connection, name)
            connection.execute(delete(sessions).where(sessions.c.account == name))
            connection.execute(delete(account_links).where(account_links.c.account == name))
            connection.execute(delete(accounts).where(_is(name)))

    def _take_ownership(self, connection: Connection, name: str) -> None:
        """Refuse if an account is the last owner; of another owner, all unused links end: they may have kept some."""
        if role_of(_known(connection, name).role) < Role.OWNER:
            return
        others = accounts.c.role == Role.OWNER.label, accounts.c.name != name
        if not connection.scalar(select(func.count()).select_from(accounts).where(*others)):
            raise SottovoceError("name", "must not be that of the last owner; make somebody else an owner first", name)
        connection.execute(delete(account_links))

    def _ends(self, seconds: int) -> int:
        return int(self._now()) + seconds


def _is(name: str) -> Any:
    return accounts.c.name == name


def _row(connection: Connection, name: str) -> Any:
    return connection.execute(select(accounts).where(_is(name))).one_or_none()


def _known(connection: Connection, name: str) -> Any:
    """Return the row of an account that must exist."""
    row = _row(connection, name) if NAME.fullmatch(name) else None  # PostgreSQL refuses texts with a zero byte
    if row is None:
        raise _no_account(name)
    return row


def _no_account(name: str) -> SottovoceError:
    return SottovoceError("name", "must be the name of an account", name)


def link_address(server: str, token: str) -> str:
    """Return the address of a one-time link."""
    return f"{server}/research/link/{token}"


def first_account_link(store: Store, address: str) -> str | None:
    """Return the one-time link that creates the first account of a server, or None if there is an account."""
    token = Accounts(store.engine).first_link()
    return None if token is None else link_address(address, token)


def check_name(name: str) -> str:
    """Return a name in lower case; refuse one that cannot be an account's."""
    name = name.strip().lower()
    if not NAME.fullmatch(name):
        rule = "must have 2 to 64 letters a to z, digits or . _ @ + -, and begin with a letter or digit"
        raise SottovoceError("name", rule, name)
    return name


def check_password(password: str, name: str) -> None:
    """Refuse a password that is easy to guess, and say what is missing.

    >>> check_password("anna-anna-anna", "anna")
    Traceback (most recent call last):
    sottovoce.errors.SottovoceError: password must have at least 6 different characters. Got 3 instead.
    """
    plain = password.lower()
    if not LEAST_CHARACTERS <= len(password) <= MOST_CHARACTERS:
        limits = f"{LEAST_CHARACTERS} to {MOST_CHARACTERS} characters"
        rule = f"must have {limits}: four words that have no connection will do"
        raise SottovoceError("password", rule, Words(f"{len(password)}"))
    if (different := len(set(plain))) < LEAST_DIFFERENT:
        rule = f"must have at least {LEAST_DIFFERENT} different characters"
        raise SottovoceError("password", rule, Words(f"{different}"))
    if name in plain and (others := len(plain.replace(name, ""))) < LEAST_CHARACTERS:
        rule = f"must have at least {LEAST_CHARACTERS} characters beside the name of the account"
        raise SottovoceError("password", rule, Words(f"{others}"))
    if len({each for each in plain if not each.isalnum()}) >= MANY_SIGNS:
        return
    letters = "".join(filter(str.isalpha, plain))
    if not letters:
        raise SottovoceError("password", "must not be a number or a date; add words", Words("digits"))
    if any(letters in word * 16 for word in _COMMON):
        rule = "must not be a word that everybody tries, or a row of keys; add words of your own"
        raise SottovoceError("password", rule, Words("such a password"))


_COMMON = (
    "password",
    "passwort",
    "qwertyuiop",
    "qwertzuiop",
    "azertyuiop",
    "asdfghjkl",
    "abcdefghijklmnopqrstuvwxyz",
    "administrator",
    "iloveyou",
    "letmein",
    "research",
    "sottovoce",
    "survey",
    "welcome",
)


def _hash(secret: str) -> bytes:
    return sha256(_encoded(secret)).digest()


def _mark(stored: bytes) -> str:
    return bytes(stored).hex()[:16]


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _password_bytes(password: str) -> bytes:
    """Return what is hashed: devices encode accents as one character or as two."""
    return _encoded(normalize("NFC", password))


def _hashed_password(password: str) -> str:
    kdf = Argon2id(salt=os.urandom(16), length=32, iterations=ITERATIONS, lanes=1, memory_cost=MEMORY_KIB)
    return kdf.derive_phc_encoded(_password_bytes(password))


def _fits(password: str, hashed: str) -> bool:
    try:
        Argon2id.verify_phc_encoded(_password_bytes(password), hashed)
    except InvalidKey:
        return False
    return True


def _nobody() -> str:
    """Return a hash that no password has, for attempts with names that do not exist."""
    return f"$argon2id$v=19$m={MEMORY_KIB},t={ITERATIONS},p=1${'A' * 22}${'A' * 43}"


def same_token(given: str, expected: str) -> bool:
    """Return whether two tokens are the same, in a time that does not tell where they differ."""
    return compare_digest(_encoded(given), expected.encode())
