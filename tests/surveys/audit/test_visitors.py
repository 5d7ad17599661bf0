"""What visitors are given: who asks, and servers that cannot be asked."""

import pytest

from sottovoce.errors import SottovoceError
from sottovoce.surveys.audit.visitors import (
    Fetched,
    check_release,
    check_source,
    differences_between_visitors,
    fetch_all,
    release_of,
    visitors,
)
from sottovoce.surveys.definition.definition import survey_from_text
from sottovoce.surveys.links import Link
from sottovoce.surveys.page.files import release
from tests.surveys.audit.dishonest import ONE


def test_visitors_come_from_every_address():
    names = [visitor.name for visitor in visitors(["127.0.0.1", "::1"])]
    assert len(set(names)) == 12
    assert "a program at ::1" in names


def test_addresses_are_of_this_machine():
    assert check_source("127.0.0.2") == "127.0.0.2"
    for wrong in ("192.0.2.1", "2001:db8::1", "nowhere.invalid"):
        with pytest.raises(SottovoceError, match="sources must be an address of this machine"):
            check_source(wrong)


def test_servers_that_do_not_answer():
    with pytest.raises(SottovoceError, match="link must lead to a server that answers"):
        fetch_all(Link("http://127.0.0.1:9", "0" * 64), survey_from_text(ONE), visitors([None]))


def test_pages_without_scripts_or_with_those_of_two_releases():
    assert release_of(b"<html>") == "none"
    assert release_of(f"/assets/{release()}/a.js /assets/{'0' * 16}/a.js".encode()) == "none"
    assert "unknown (none" in check_release(b"<html>", any_release=True)


def test_tags_that_tell_visitors_apart():
    got = {name: Fetched(200, {"etag": name}, b"same") for name in ("a", "b")}
    (finding,) = differences_between_visitors({"/assets/x.js": got})
    assert "etag a" in finding.observed
