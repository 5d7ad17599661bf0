"""Proxies in front of the server: which are trusted, and the client's address and scheme that they state.

Each proxy of a chain appends the address that it was asked from to the header X-Forwarded-For, or replaces the header.
So the last entries come from trusted proxies, and the client is the last entry that is not one of theirs. Everything
before it was sent by the client, which may have made it up.

Uvicorn has a middleware for this, which keeps the last 4,096 addresses for good. Nothing is kept here.
"""

import re
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from sottovoce.errors import SottovoceError
from sottovoce.surveys.collect.log import LOG, App, Message, Receive, Send

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

THIS_MACHINE = ("127.0.0.0/8", "::1")
"""Proxies on the server's own machine."""

SHORTEST_PREFIX = {4: 8, 6: 16}
"""Networks with a shorter prefix hold clients, not proxies."""

MOST_HOPS = 16
"""Most entries of a header that are read."""

UNFORWARDED = ("/health", "/metrics")
"""Paths that are asked for by those who watch the server, without a proxy."""

_WITH_PORT = re.compile(r"\[(?P<six>[^\]]+)\](:\d+)?|(?P<four>\d+\.\d+\.\d+\.\d+):\d+")


class TrustedProxies:
    """Addresses and networks of proxies whose headers are believed.

    >>> proxies = TrustedProxies(["10.0.0.2", "192.0.2.0/24"])
    >>> proxies.client("198.51.100.7, 203.0.113.9, 192.0.2.1")  # the first entry may be made up
    '203.0.113.9'
    """

    def __init__(self, names: Iterable[str]) -> None:
        """Read addresses and networks."""
        self.networks = [_network(name) for name in names]

    def __bool__(self) -> bool:
        """Whether there are any."""
        return bool(self.networks)

    def trusts(self, address: Address) -> bool:
        """Return whether an address is that of a trusted proxy."""
        return any(address in network for network in self.networks)

    def client(self, forwarded: str) -> str | None:
        """Return the client's address from the entries of X-Forwarded-For; None if there is none.

        If all entries are those of trusted proxies, the client is the first of them.
        """
        found = None
        for entry in reversed(forwarded.split(",")[-MOST_HOPS:]):
            address = read_address(entry.strip())
            if address is None:
                break
            found = str(address)
            if not self.trusts(address):
                break
        return found


def _network(name: str) -> Network:
    """Return a network, or an address as a network of one."""
    try:
        network = ip_network(name)
    except ValueError as reason:
        rule = f"must be an IP address, or a network such as 192.0.2.0/24 ({reason})"
        raise SottovoceError("proxy", rule, name) from None
    shortest = SHORTEST_PREFIX[network.version]
    if network.prefixlen < shortest:
        rule = f"must have a prefix of at least {shortest} bits: anyone in it can make up addresses"
        raise SottovoceError("proxy", rule, name)
    return network


def read_address(text: str) -> Address | None:
    """Return an address, which may have a port; an IPv4 address that is written as an IPv6 address becomes one.

    >>> read_address("203.0.113.9:4711"), read_address("::ffff:203.0.113.9"), read_address("unknown")
    (IPv4Address('203.0.113.9'), IPv4Address('203.0.113.9'), None)
    """
    with_port = _WITH_PORT.fullmatch(text)
    if with_port:
        text = with_port["six"] or with_port["four"]
    try:
        address = ip_address(text)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


class Forwarded:
    """Gives requests that come through trusted proxies the client's address and scheme.

    Requests from elsewhere stay as they are, whatever their headers say.
    """

    def __init__(self, app: App, proxies: TrustedProxies) -> None:
        """Wrap an application."""
        self._app, self.proxies = app, proxies
        self._warned = False

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Call the application."""
        peer = read_address((scope.get("client") or ("",))[0])
        if scope["type"] == "http" and peer is not None and self.proxies.trusts(peer):
            scope = {**scope, **self._stated(scope)}
        await self._app(scope, receive, send)

    def _stated(self, scope: Message) -> Message:
        """Return what the proxy's headers say."""
        entries = _values(scope, b"x-forwarded-for")
        schemes = _values(scope, b"x-forwarded-proto")
        client = self.proxies.client(",".join(entries))
        if scope["path"] not in UNFORWARDED and (client is None or not schemes):
            self._warn()
        stated: Message = {}
        if client is not None:
            stated["client"] = (client, 0)
        if schemes and set(schemes) <= {"http", "https"}:
            stated["scheme"] = "https" if set(schemes) == {"https"} else "http"
        return stated

    def _warn(self) -> None:
        """Say once that a proxy leaves out a header, without which all clients are one to the limits of requests."""
        if not self._warned:
            LOG.warning(
                "The proxy sends no X-Forwarded-For and X-Forwarded-Proto: the limits count all its clients as one, "
                "and browsers are not told to stay with HTTPS."
            )
        self._warned = True


def _values(scope: Message, name: bytes) -> list[str]:
    return [value.decode("latin-1").strip() for header, value in scope["headers"] if header == name]
