"""Applications with a bug each, of which the drill must convict them. They run in the drill's own server process."""

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import count

from sqlalchemy import literal, select, text

from sottovoce.surveys.collect import entries as entries_module
from sottovoce.surveys.collect.admissions import Admission
from sottovoce.surveys.collect.app_state import AppState
from sottovoce.surveys.collect.database import layout, writing
from sottovoce.surveys.collect.entries import Outcome
from sottovoce.surveys.collect.prompt_server import PromptServer
from sottovoce.surveys.collect.server import make_app
from sottovoce.surveys.collect.writer import Writer


def acknowledged_before_commit(store, **settings):
    """Reports are acknowledged when they have arrived, and stored by and by."""
    later = ThreadPoolExecutor(1)

    def commit(entries):
        later.submit(store.commit, entries)
        return [Outcome.STORED] * len(entries)

    return make_app(store, commit=commit, **settings)


def token_reusable(store, **settings):
    """An invitation that is spent admits again."""
    admit = store.admit

    def admit_again(name, token, blinded):
        state = admit(name, token, blinded)
        return Admission.ADMITTED if state is Admission.SPENT else state

    store.admit = admit_again
    return make_app(store, **settings)


def queue_dropped_on_stop(store, **settings):
    """Who waits when the server is asked to stop is cut off, and what is queued is thrown away."""

    async def hurry(self):
        for connection in set(self.server_state.connections):
            connection.transport.abort()

    def close(self):
        self._waiting.clear()

    PromptServer._connections_end = hurry
    Writer.close = close
    return make_app(store, **settings)


def stored_twice(store, **settings):
    """A report that comes again is stored again, under a key of its own."""
    commit = store.commit

    def commit_all(entries):
        outcomes = commit(entries)
        again = [entry for entry, outcome in zip(entries, outcomes, strict=True) if outcome is Outcome.REPEATED]
        commit([replace(entry, key=os.urandom(16)) for entry in again])
        return outcomes

    return make_app(store, commit=commit_all, **settings)


def order_kept(store, **settings):
    """A table has a row for each report, in the order in which they came."""
    with writing(store.engine) as connection:
        kind = "BYTEA" if connection.dialect.name == "postgresql" else "BLOB"
        connection.execute(text(f"CREATE TABLE IF NOT EXISTS seen (report {kind})"))
    commit = store.commit

    def commit_and_note(entries):
        outcomes = commit(entries)
        with writing(store.engine) as connection:
            for entry in entries:
                connection.execute(text("INSERT INTO seen VALUES (:report)"), {"report": entry.key})
        return outcomes

    return make_app(store, commit=commit_and_note, **settings)


def invitation_linked(store, **settings):
    """A table notes who was admitted, and which report came next."""
    with writing(store.engine) as connection:
        kind = "BYTEA" if connection.dialect.name == "postgresql" else "BLOB"
        connection.execute(text(f"CREATE TABLE IF NOT EXISTS visits (token {kind}, report {kind})"))
    admit, commit, last = store.admit, store.commit, []

    def admit_and_note(name, token, blinded):
        last.append(token)
        return admit(name, token, blinded)

    def commit_and_note(entries):
        outcomes = commit(entries)
        with writing(store.engine) as connection:
            row = {"token": last[-1] if last else b"", "report": entries[0].key}
            connection.execute(text("INSERT INTO visits VALUES (:token, :report)"), row)
        return outcomes

    store.admit = admit_and_note
    return make_app(store, commit=commit_and_note, **settings)


def token_logged(store, **settings):
    """The address of whoever asks, and what they ask for, is written to standard output."""
    app = make_app(store, **settings)

    async def logged(scope, receive, send):
        async def receive_and_log():
            message = await receive()
            print(scope.get("client"), message.get("body"), flush=True)
            return message

        await app(scope, receive_and_log if scope["type"] == "http" else receive, send)

    return logged


def clock_trusted(store, **settings):
    """Whether a survey is over is decided by its last day alone."""
    entries_module._STATE = select(layout.c.levels, literal(False))
    return make_app(store, **settings)


def fails(store, **settings):
    """Some requests fail, and the failure is written down with all its values."""
    asked = AppState.asked
    calls = count()

    async def failing(self, question, *arguments):
        if next(calls) % 7 == 3:
            raise RuntimeError("Traceback of something")
        return await asked(self, question, *arguments)

    AppState.asked = failing
    return make_app(store, **settings)


def ends(_store, **_settings):
    """The server does not start."""
    raise SystemExit("no application today")
