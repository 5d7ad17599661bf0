"""HTTP by httptools with a limit on all that is not a body.

Uvicorn's protocol on top of h11 limits the size of a request's head, the one on top of httptools does not: its parser
collects a header's value for as long as bytes arrive. But it is written in C, and h11 in Python takes longer for a
report than all the rest of the server does.
"""

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MOST_BESIDES_BODY = 2**16
"""Most bytes of a request besides its body: request line, headers, sizes of chunks, trailers."""


class LimitedProtocol(HttpToolsProtocol):
    """A connection, which ends with status 400 when the head or the trailers of a request become too long.

    Bodies are limited by who reads them, and a connection's buffer by pauses of reading.
    """

    _besides_body = 0

    def data_received(self, data: bytes) -> None:
        """Parse what has arrived."""
        self._besides_body += len(data)
        super().data_received(data)
        if self._besides_body > MOST_BESIDES_BODY and not self.transport.is_closing():
            self.send_400_response("The head of this request is too long.")

    def on_body(self, body: bytes) -> None:
        """Take a part of a body."""
        self._besides_body -= len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Expect the next request."""
        self._besides_body = 0
        super().on_message_complete()
