"""The kit of `deploy/`, run: nginx and Caddy of Debian in front of two real servers over PostgreSQL, with TLS."""

import json
import os
import shutil
import socket
import ssl
import time
from contextlib import contextmanager, suppress
from hashlib import sha256
from http.client import HTTPConnection
from pathlib import Path

import pytest
import yaml

from sottovoce.surveys.blind_rsa import SecretKey
from sottovoce.surveys.collect.server import HEADERS
from sottovoce.surveys.collect.store import Store
from sottovoce.surveys.definition.definition import survey_from_text
from sottovoce.surveys.links import Link
from tests.surveys.browser.conftest import DEFINITION, FLAGS, KEY, PHONE
from tests.surveys.proxies import (
    BODY_SECONDS,
    CLIENT,
    DEPLOY,
    HOST,
    Authority,
    free_port,
    proxy,
    servers,
    status_of,
)

pytestmark = pytest.mark.slow

AGENT = "Netscape-4711"
JSON = {"Content-Type": "application/json", "User-Agent": AGENT}
PER_WINDOW = 25


@pytest.fixture
def quiet_postgres(postgres):
    """PostgreSQL with the settings of the compose file, which also logs what it logs by default."""
    command = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]["database"]["command"]
    settings = dict(option.removeprefix("--").split("=") for option in command[1:])
    postgres.stop()
    postgres.start(log_min_messages="info", **settings)
    yield postgres
    postgres.stop()
    postgres.start()


@contextmanager
def running_site(kind, cluster, folder):
    """A survey with invitations behind a proxy: both servers, the proxy, the survey, and the store."""
    for each in (folder, *folder.parents[:2]):
        each.chmod(0o755)  # nginx's workers are another user
    database, port = cluster.database(), free_port()
    store = Store(database)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SecretKey, "generate", lambda: KEY)
        survey = store.freeze(survey_from_text(DEFINITION.replace("invitation: open", "invitation: single")))
    authority = Authority(folder)
    options = ["--metrics", "--per-window", str(PER_WINDOW)]
    with (
        servers(2, database, folder, f"https://{HOST}:{port}", *options) as behind,
        proxy(kind, folder, authority, port, behind.ports) as front,
    ):
        yield Site(kind, front, behind, survey, store, cluster)
    store.close()


@pytest.mark.parametrize("kind", ["nginx", "caddy"])
def test_the_kit(kind, quiet_postgres, tmp_path, chromium, walk):
    """One step after the other: what is killed at the end is needed before, and logs are read last."""
    with running_site(kind, quiet_postgres, tmp_path) as site:
        a_phone_answers_over_https(site, chromium, walk)
        nothing_is_changed_on_its_way(site)
        plain_http_leads_to_https_and_other_names_nowhere(site)
        old_tls_is_refused(site)
        slow_headers_are_refused(site)
        slow_bodies_are_refused(site)
        large_bodies_are_refused(site)
        a_client_cannot_make_up_its_address(site)
        one_server_may_be_killed(site)
        without_any_server_the_page_is_asked_to_come_back(site)
        no_log_names_an_address_a_token_a_report_or_a_browser(site)


class Site:
    def __init__(self, kind, front, behind, survey, store, cluster):
        self.kind, self.front, self.behind, self.survey, self.store = kind, front, behind, survey, store
        self.cluster = cluster
        self.secrets = {CLIENT, AGENT}

    def invite(self) -> str:
        (token,) = self.store.invite(self.survey, 1)
        self.secrets.add(token)
        return token

    def check(self, token: str, source: str = CLIENT, **headers: str) -> int:
        body = json.dumps({"token": token})
        path = f"/s/{self.survey.id}/check"
        return self.front.ask("POST", path, body, JSON | headers, source).status

    def logged(self) -> dict[Path, str]:
        """Everything that proxy, servers and database have written into a file that is no database."""
        own = (path for path in self.front.logs.rglob("*") if "profile" not in path.parts)  # the browser's own files
        files = [path for path in own if path.is_file() and path.suffix != ".pem"]
        files += [path for path in Path("/var/lib/nginx").rglob("*") if path.is_file()]
        files += [path for path in Path("/var/log").rglob("*nginx*/*") if path.is_file()]
        return {path: path.read_text(errors="replace") for path in [*files, self.cluster._log]}


def a_phone_answers_over_https(site, chromium, walk):
    """The browser takes no certificate but the one with this key; the report is stored once, and its receipt found."""
    token = site.invite()
    args = [*FLAGS.split(), f"--host-resolver-rules=MAP {HOST} 127.0.0.1"]
    args.append(f"--ignore-certificate-errors-spki-list={site.front.authority.pin}")
    context = chromium.browser_type.launch_persistent_context(
        str(site.front.logs / "profile"), executable_path=shutil.which("chromium"), args=args, **PHONE
    )
    try:
        page = context.new_page()
        bodies: list[str] = []
        page.on("request", lambda request: request.post_data and bodies.append(request.post_data))
        protocols = []
        page.on("response", lambda response: protocols.append(response.header_value("strict-transport-security")))
        page.goto(str(Link(site.front.address, site.survey.hash, token)))
        walk(page, 1, 1, 0)
        page.wait_for_selector(".receipt")
        assert page.evaluate("isSecureContext")
        receipt = page.inner_text(".receipt")
        page.get_by_role("button", name="Check that it is stored").click()
        page.wait_for_function("text => document.body.innerText.includes(text)", arg="receipt is in the list")
        site.secrets.update({page.evaluate("navigator.userAgent"), receipt})
    finally:
        context.close()
    sent = json.loads(bodies[-1])
    site.secrets.update({sent["credential"], sent["signature"]})
    assert [report.hex() for report in site.store.reports(site.survey.id)] == [sent["report"]]
    assert set(protocols) == {"max-age=31536000"}


def nothing_is_changed_on_its_way(site):
    """Bytes, headers and status are those of the server; what watches the servers is not for everybody."""
    document = site.front.ask("GET", f"/s/{site.survey.id}/survey.json")
    assert sha256(document.body).hexdigest() == site.survey.hash
    packed = site.front.ask("GET", f"/s/{site.survey.id}", headers={"Accept-Encoding": "br, gzip"})
    assert packed.headers["content-encoding"] == "br"
    for answer in (document, packed, site.front.ask("GET", "/nothing")):
        assert all(answer.headers[name] == value for name, value in HEADERS.items() if name in answer.headers)
        assert set(HEADERS) - {"content-security-policy"} <= set(answer.headers)
        assert answer.headers["strict-transport-security"] == "max-age=31536000"
        assert "set-cookie" not in answer.headers
    assert site.front.ask("GET", "/health").status == 200
    assert site.front.ask("GET", "/metrics").status == 404
    assert [status_of(port, "/metrics") for port in site.behind.ports] == [200, 200]
    assert site.front.ask("GET", "/research/login").status == 200


def plain_http_leads_to_https_and_other_names_nowhere(site):
    connection = HTTPConnection("127.0.0.1", site.front.plain_port, timeout=60)
    connection.request("GET", "/s/x", headers={"Host": HOST, "User-Agent": AGENT})
    response = connection.getresponse()
    assert response.status in (301, 308)
    assert response.headers["location"].startswith(f"https://{HOST}")
    connection.close()
    plain = socket.create_connection(("127.0.0.1", site.front.port), timeout=60, source_address=(CLIENT, 0))
    with pytest.raises(ssl.SSLError), plain:
        site.front.authority.context().wrap_socket(plain, server_hostname="other.test")


def old_tls_is_refused(site):
    context = site.front.authority.context()
    with pytest.warns(DeprecationWarning, match="TLSv1"):
        context.minimum_version, context.maximum_version = ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1
    context.set_ciphers("ALL:@SECLEVEL=0")
    plain = socket.create_connection(("127.0.0.1", site.front.port), timeout=60, source_address=(CLIENT, 0))
    with pytest.raises(ssl.SSLError), plain:
        context.wrap_socket(plain, server_hostname=HOST)


def seconds_until_refused(connection: socket.socket, first: bytes, drip: bytes) -> tuple[float, bytes]:
    """Send a beginning, then a little every moment, until the other side answers or hangs up."""
    began, answer = time.monotonic(), b""
    connection.settimeout(0.2)
    with suppress(OSError):  # it has hung up
        connection.sendall(first)
        while time.monotonic() - began < 30:
            with suppress(TimeoutError):
                answer = connection.recv(4096)
                break
            if drip:
                connection.sendall(drip)
    connection.close()
    return time.monotonic() - began, answer


def slow_headers_are_refused(site):
    """Shipped are 10 seconds, of which these tests make one."""
    silent = socket.create_connection(("127.0.0.1", site.front.port), timeout=60, source_address=(CLIENT, 0))
    assert seconds_until_refused(silent, b"", b"")[0] < 6
    for first in (b"", f"GET / HTTP/1.1\r\nHost: {HOST}\r\nUser-Agent: {AGENT}\r\n".encode()):
        took, answer = seconds_until_refused(site.front.connect(), first, b"X: a\r\n" if first else b"")
        assert took < 6, (took, answer)
        assert answer == b"" or answer.startswith(b"HTTP/1.1 408")


def slow_bodies_are_refused(site):
    """Shipped are 30 seconds (Caddy) or the server's own 20 (nginx), of which these tests make two."""
    before = len(site.store.reports(site.survey.id))
    head = f"POST /s/{site.survey.id}/reports HTTP/1.1\r\nHost: {HOST}:{site.front.port}\r\n"
    head += f"User-Agent: {AGENT}\r\nContent-Type: application/json\r\nContent-Length: 900\r\n\r\n{{"
    took, answer = seconds_until_refused(site.front.connect(), head.encode(), b" ")
    assert took < BODY_SECONDS + 6, (took, answer)
    head, _, content = answer.partition(b"\r\n\r\n")
    assert head.split(b" ")[1] == b"408" if site.kind == "nginx" else not content, answer  # the page tries again
    assert len(site.store.reports(site.survey.id)) == before
    assert site.check(site.invite()) == 200


def large_bodies_are_refused(site):
    answer = site.front.ask("POST", f"/s/{site.survey.id}/reports", b" " * 200_000, JSON)
    assert answer.status == 413


def a_client_cannot_make_up_its_address(site):
    """Both servers count the address that the proxy saw, whatever the client says it was."""
    token = site.invite()
    forged = [{"X-Forwarded-For": f"198.51.100.{n}", "Forwarded": f"for=198.51.100.{n}"} for n in range(80)]
    statuses = [site.check(token, "127.0.0.8", **headers) for headers in forged]
    assert set(statuses) == {200, 429}
    assert statuses.count(200) <= 4 * PER_WINDOW  # two servers, and at most two windows
    assert site.check(token, "127.0.0.7") == 200


def one_server_may_be_killed(site):
    """The other one answers all requests; Caddy loses some with a body, until it has asked for the server's health."""
    token, document = site.invite(), f"/s/{site.survey.id}/survey.json"
    site.behind.processes[0].kill()
    site.behind.processes[0].wait()
    assert [site.front.ask("GET", document).status for _ in range(6)] == [200] * 6
    until = time.monotonic() + (0 if site.kind == "nginx" else 3)
    while (status := site.check(token, "127.0.0.6")) != 200:
        assert (status, time.monotonic() < until) == (502, True)
        time.sleep(0.3)
    time.sleep(1.5)
    assert [site.check(token, "127.0.0.6") for _ in range(12)] == [200] * 12


def without_any_server_the_page_is_asked_to_come_back(site):
    """And even then no log names anybody."""
    for process in site.behind.processes:
        process.kill()
        process.wait()
    token = site.invite()
    assert site.check(token) >= 500
    junk = socket.create_connection(("127.0.0.1", site.front.port), timeout=60, source_address=(CLIENT, 0))
    with suppress(OSError), junk:
        junk.sendall(f"GET /{token} HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode())  # no TLS
        junk.recv(100)


def no_log_names_an_address_a_token_a_report_or_a_browser(site):
    """After everything above has happened; the browser's own address is that of this machine."""
    reports = [report.hex() for report in site.store.reports(site.survey.id)]
    assert reports
    logged = site.logged()
    assert any(path.name == "server0.log" and "Serving 1 survey" in text for path, text in logged.items())
    for path, text in logged.items():
        for secret in [*site.secrets, *reports, "198.51.100.", "127.0.0.8", "127.0.0.7", "127.0.0.6"]:
            assert secret not in text, (path, secret)
    assert not os.path.exists(site.front.logs / "access.log")  # noqa: PTH110
