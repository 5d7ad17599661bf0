"""Admissions over HTTP, each of which commits and signs, against bare powers in one process."""

import json
from collections.abc import Iterator, Sequence
from secrets import randbelow
from statistics import median
from time import perf_counter

from gmpy2 import powmod_sec

from benchmarks.measure import Row
from benchmarks.survey.load import SECONDS, TURNS, WARM_UP_SECONDS, Load, Servers, Site, middle, post, started
from sottovoce.surveys.blind_rsa import SecretKey
from sottovoce.surveys.definition.survey import Survey

CONNECTIONS = 16
MOST_PER_SECOND = 1_500
POWERS = 100


def rows(site: Site) -> Iterator[Row]:
    """All servers and the bare power in turn."""
    loads: dict[Servers, list[Load]] = {Servers(kind, processes): [] for kind in site.databases for processes in (1, 2)}
    powers = []
    for _ in range(TURNS):
        powers.append(_microseconds_of_a_power(site.secret))
        for servers, found in loads.items():
            found.append(_measured(site, servers))
    for servers, found in loads.items():
        turn = middle(found)
        yield Row(f"admissions, {servers}", "a bare power", turn.each, median(powers), "us")
        yield Row(f"99 % admitted within, {CONNECTIONS} connections, {servers}", None, turn.p99, None, "ms")


def _measured(site: Site, servers: Servers) -> Load:
    (survey,) = site.surveys(1)
    with site.database(servers.database, [survey]) as (place, store):
        tokens = store.invite(survey, int(MOST_PER_SECOND * (SECONDS + WARM_UP_SECONDS)))
        requests = admission_requests(survey, tokens)
        with started(servers, place) as running:
            load, sent = running.measured(requests, 200, CONNECTIONS)
        assert store.counts(survey.id)["admitted"] == sent
    return load


def admission_requests(survey: Survey, tokens: Sequence[str]) -> Iterator[bytes]:
    """Requests to sign blinded messages: to the server, these are random numbers."""
    assert survey.admission is not None
    for token in tokens:
        blinded = 1 + randbelow(survey.admission.modulus - 1)
        body = json.dumps({"token": token, "blinded": f"{blinded:0512x}"})
        yield post(f"/s/{survey.id}/admission", body.encode())


def _microseconds_of_a_power(secret: SecretKey) -> float:
    modulus = secret.public.modulus
    numbers = [randbelow(modulus) for _ in range(POWERS)]
    start = perf_counter()
    for number in numbers:
        powmod_sec(number, secret.exponent, modulus)
    return 1e6 * (perf_counter() - start) / POWERS
