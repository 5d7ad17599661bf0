"""Run the server: in the foreground until it is told to stop, or beside other work."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn

from sottovoce.errors import SottovoceError

LOCAL = ("127.0.0.1", "::1", "localhost")


def configuration(app: Any, *, behind_proxy: bool = False) -> uvicorn.Config:
    """Settings under which nothing is logged about who asks: no access log, no addresses."""
    return uvicorn.Config(
        app,
        access_log=False,
        log_level="error",  # below that, uvicorn tells of requests that it could not read
        server_header=False,
        date_header=False,
        lifespan="on",
        ws="none",
        proxy_headers=behind_proxy,
        timeout_graceful_shutdown=30,
    )


def listen(host: str, port: int) -> socket.socket:
    """A socket to serve on; port 0 takes any that is free."""
    # The protocol is named because asyncio turns Nagle's delay off only where it is: 40 ms an answer.
    kind = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(kind, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        listening.listen(2048)
    except OSError as reason:
        listening.close()
        rule = f"must be free to listen on ({reason.strerror or reason})"
        raise SottovoceError("host and port", rule, f"{host}:{port}") from None
    return listening


def address_of(listening: socket.socket) -> str:
    """Address of a listening socket, as it stands in links."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def serve(app: Any, listening: socket.socket, *, behind_proxy: bool = False) -> None:
    """Serve until an interrupt or a termination signal; requests and reports under way are finished."""
    uvicorn.Server(configuration(app, behind_proxy=behind_proxy)).run(sockets=[listening])


@contextmanager
def running(app: Any, listening: socket.socket) -> Iterator[str]:
    """Serve in a thread for as long as the block lasts; yields the server's address."""
    server = uvicorn.Server(configuration(app))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, name="survey server")
    thread.start()
    try:
        while not server.started and thread.is_alive():
            time.sleep(0.01)
        yield address_of(listening)
    finally:
        server.should_exit = True
        thread.join()
        listening.close()
