"""Accounts of researchers, their sessions, and the one-time links that create accounts and set passwords.

Passwords are stored as Argon2id hashes. Ids of sessions and tokens of links are 32 random bytes, of which the database
stores SHA-256 only: who reads it can use none of them.
"""

import os
import re
import secrets
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from hashlib import sha256
from hmac import compare_digest

from cryptography.exceptions import InvalidKey
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id
from sqlalchemy import Connection, Engine, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from sottovoce.errors import SottovoceError, Words
from sottovoce.surveys.collect.database import account_links, accounts, reading, sessions, writing
from sottovoce.surveys.collect.store import Store

MEMORY_KIB, ITERATIONS = 64 * 1024, 3
"""Cost of Argon2id, the second choice of RFC 9106 with one lane: 64 MiB and a third of a second for each attempt."""

SESSION_SECONDS = 12 * 3600
LINK_SECONDS = 3 * 24 * 3600
MOST_FAILURES = 10
"""Failed attempts after which an account is locked until its password is reset on the command line."""

LEAST_CHARACTERS = 12
MOST_CHARACTERS = 1024
NAME = re.compile(r"[a-z0-9][a-z0-9._@+-]{1,63}")


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
    id: str

    @property
    def csrf(self) -> str:
        """Token that every change must come with: other sites cannot know it."""
        return sha256(f"csrf {self.id}".encode()).hexdigest()

    @property
    def mark(self) -> str:
        """First digits of the stored hash, which tell sessions apart."""
        return _hash(self.id).hex()[:16]


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
        """Use a database."""
        self._engine, self._now = engine, now

    def new_link(self, role: Role, account: str | None = None) -> str:
        """Return the token of a new one-time link: for a new account with a role, or for a password of `account`."""
        token = secrets.token_urlsafe(32)
        row = {"hash": _hash(token), "role": role.label, "account": account, "ends": self._ends(LINK_SECONDS)}
        with writing(self._engine) as connection:
            connection.execute(delete(account_links).where(account_links.c.ends < self._now()))
            if account is not None:  # the newest link is the only one
                connection.execute(delete(account_links).where(account_links.c.account == account))
            connection.execute(insert(account_links), row)
        return token

    def first_link(self) -> str | None:
        """Return the token of a link that creates the first account, or None if there is an account already.

        Earlier links of this kind end: only the one that was printed last can be used.
        """
        with writing(self._engine) as connection:
            if connection.scalar(select(func.count()).select_from(accounts)):
                return None
            connection.execute(delete(account_links))
        return self.new_link(Role.OWNER)

    def link(self, token: str) -> tuple[Role, str | None] | None:
        """Return the role and the account of a one-time link that can be used, or None."""
        with reading(self._engine) as connection:
            return self._link(connection, token)

    def _link(self, connection: Connection, token: str) -> tuple[Role, str | None] | None:
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
        try:
            with writing(self._engine) as connection:
                if not connection.execute(delete(account_links).where(account_links.c.hash == _hash(token))).rowcount:
                    return None  # somebody else was faster
                if account is None:
                    row = {"name": name, "password": hashed, "role": role.label, "failures": 0}
                    connection.execute(insert(accounts), row)
                else:
                    mine = accounts.c.name == account
                    connection.execute(update(accounts).where(mine).values(password=hashed, failures=0))
                    connection.execute(delete(sessions).where(sessions.c.account == account))
                return self._begin(connection, name, role)
        except IntegrityError:
            raise SottovoceError("name", "must be one that no other account has", name) from None

    def log_in(self, name: str, password: str) -> Session:
        """Begin a session; wrong passwords are counted, and lock the account after some."""
        with writing(self._engine) as connection:  # counted before the password is looked at: attempts may race
            mine = accounts.c.name == name
            row = connection.execute(select(accounts).where(mine)).one_or_none()
            if row is not None and row.failures < MOST_FAILURES:
                connection.execute(update(accounts).where(mine).values(failures=accounts.c.failures + 1))
        fits = _fits(password, _NOBODY if row is None else row.password)  # takes as long for unknown names
        if row is None or row.failures >= MOST_FAILURES or not fits:
            raise LoginError
        with writing(self._engine) as connection:
            connection.execute(update(accounts).where(accounts.c.name == name).values(failures=0))
            return self._begin(connection, name, role_of(row.role))

    def _begin(self, connection: Connection, name: str, role: Role) -> Session:
        session = Session(name, role, secrets.token_urlsafe(32))
        connection.execute(delete(sessions).where(sessions.c.ends < self._now()))
        row = {"hash": _hash(session.id), "account": name, "ends": self._ends(SESSION_SECONDS)}
        connection.execute(insert(sessions), row)
        return session

    def session(self, secret: str) -> Session | None:
        """Return the session with an id, or None if it has ended."""
        query = select(sessions.c.account, sessions.c.ends, accounts.c.role).join_from(sessions, accounts)
        with reading(self._engine) as connection:
            row = connection.execute(query.where(sessions.c.hash == _hash(secret))).one_or_none()
        return None if row is None or row.ends < self._now() else Session(row.account, role_of(row.role), secret)

    def sessions(self, account: str) -> list[str]:
        """Return the marks of an account's sessions that have not ended."""
        mine = select(sessions.c.hash).where(sessions.c.account == account, sessions.c.ends >= self._now())
        with reading(self._engine) as connection:
            return sorted(bytes(stored).hex()[:16] for stored in connection.scalars(mine))

    def end_session(self, account: str, mark: str | None = None) -> None:
        """End a session of an account by its mark, or all of them."""
        mine = select(sessions.c.hash).where(sessions.c.account == account)
        with writing(self._engine) as connection:
            ended = [stored for stored in connection.scalars(mine) if mark in (None, bytes(stored).hex()[:16])]
            connection.execute(delete(sessions).where(sessions.c.hash.in_(ended)))

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
        raise SottovoceError("name", "must be the name of an account", name)

    def set_role(self, name: str, role: Role) -> None:
        """Change what an account may do; the last owner must stay one."""
        with writing(self._engine) as connection:
            self._check_owner_left(connection, name if role < Role.OWNER else None)
            connection.execute(update(accounts).where(accounts.c.name == name).values(role=role.label))

    def remove(self, name: str) -> None:
        """Delete an account with its sessions and links; the last owner must stay."""
        with writing(self._engine) as connection:
            self._check_owner_left(connection, name)
            connection.execute(delete(sessions).where(sessions.c.account == name))
            connection.execute(delete(account_links).where(account_links.c.account == name))
            connection.execute(delete(accounts).where(accounts.c.name == name))

    def _check_owner_left(self, connection: Connection, without: str | None) -> None:
        owners = list(connection.scalars(select(accounts.c.name).where(accounts.c.role == Role.OWNER.label)))
        if owners == [without]:
            raise SottovoceError("name", "must not be that of the last owner", without)

    def _ends(self, seconds: int) -> int:
        return int(self._now()) + seconds


def first_account_link(store: Store, address: str) -> str | None:
    """Return the one-time link that creates the first account of a server, or None if there is an account."""
    token = Accounts(store.engine).first_link()
    return None if token is None else f"{address}/research/link/{token}"


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
    sottovoce.errors.SottovoceError: password must have at least 6 different characters. Got 4 instead.
    """
    if not LEAST_CHARACTERS <= len(password) <= MOST_CHARACTERS:
        rule = (
            f"must have {LEAST_CHARACTERS} to {MOST_CHARACTERS} characters: four words that have no connection will do"
        )
        raise SottovoceError("password", rule, Words(f"{len(password)}"))
    if (different := len(set(password.lower()))) < 6:
        raise SottovoceError("password", "must have at least 6 different characters", Words(f"{different}"))
    if name in password.lower() or password.lower() in name:
        raise SottovoceError("password", "must not contain the name of the account", Words("one that does"))
    plain = re.sub(r"[^a-z]", "", password.lower())
    if len(plain) < 4 or any(plain in word * 8 for word in _COMMON):
        rule = "must not be a run of digits or a word that everybody tries; add words of your own"
        raise SottovoceError("password", rule, Words("such a password"))


_COMMON = (
    "password",
    "passwort",
    "qwertyuiop",
    "qwertz",
    "abcdefghijklmnopqrstuvwxyz",
    "letmein",
    "sottovoce",
    "welcome",
)


def _hash(secret: str) -> bytes:
    return sha256(secret.encode("utf-8", "surrogatepass")).digest()


def _hashed_password(password: str) -> str:
    kdf = Argon2id(salt=os.urandom(16), length=32, iterations=ITERATIONS, lanes=1, memory_cost=MEMORY_KIB)
    return kdf.derive_phc_encoded(password.encode("utf-8", "surrogatepass"))


def _fits(password: str, hashed: str) -> bool:
    try:
        Argon2id.verify_phc_encoded(password.encode("utf-8", "surrogatepass"), hashed)
    except InvalidKey:
        return False
    return True


def same_token(given: str, expected: str) -> bool:
    """Return whether two tokens are the same, in a time that does not tell where they differ."""
    return compare_digest(given.encode("utf-8", "surrogatepass"), expected.encode())


_NOBODY = "$argon2id$v=19$m=65536,t=3,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
"""Hash that no password has, for attempts with names that do not exist."""
