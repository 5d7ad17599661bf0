"""The PostgreSQL of the tests is a real one: it syncs, it is nobody's superuser to a survey, and it survives a kill."""

import os

import psycopg
import pytest
from sqlalchemy.engine import make_url

from sottovoce.surveys.collect.store import Store
from tests.surveys.postgres import find_programs, new_cluster


def plain(url):
    return psycopg.connect(make_url(url).set(drivername="postgresql").render_as_string(hide_password=False))


def test_databases_are_fresh_and_their_owner_is_no_superuser(postgres):
    first, second = postgres.database(), postgres.database()
    with plain(first) as connection:
        connection.execute("CREATE TABLE mine (x int)")
    with plain(second) as connection:
        assert connection.execute("SELECT to_regclass('mine')").fetchone() == (None,)
        assert connection.execute("SHOW is_superuser").fetchone() == ("off",)
        assert connection.execute("SHOW fsync").fetchone() == ("on",)
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        plain(make_url(first).set(username="nobody").render_as_string(hide_password=False))
    with postgres.superuser(first) as connection:
        connection.execute("CREATE EXTENSION pageinspect")
        assert connection.execute("SHOW is_superuser").fetchone() == ("on",)
    assert "CREATE TABLE public.mine" in postgres.dump(first)


def test_settings_that_break_a_promise_are_pointed_out(postgres):
    url = postgres.database()
    store = Store(url)
    assert store.check() == []
    postgres.stop()
    postgres.start(archive_mode="on", archive_command="true")
    assert store.check() == ["PostgreSQL has archive_mode = on: the archive keeps the order in which reports arrive."]
    store.close()
    postgres.stop()
    postgres.start()


@pytest.mark.slow
@pytest.mark.parametrize("end", ["immediate", "kill"])
def test_what_was_committed_survives_the_end_of_the_server(postgres, end):
    url = postgres.database()
    with plain(url) as connection:
        connection.execute("CREATE TABLE kept (x int)")
        connection.execute("INSERT INTO kept VALUES (1)")
    postgres.stop(end)
    assert postgres.process is None
    postgres.start()
    with plain(url) as connection:
        assert connection.execute("SELECT x FROM kept").fetchall() == [(1,)]


@pytest.mark.usefixtures("postgres")
def test_nothing_stays_after_a_failure():
    seen = []

    def fail():
        with new_cluster(find_programs()) as cluster:
            seen.extend([cluster.process, cluster.data])
            os.kill(cluster.process, 0)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    process, data = seen
    assert not data.parent.exists()
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)
