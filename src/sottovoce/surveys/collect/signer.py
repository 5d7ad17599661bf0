"""The signer: powers of blinded messages with a survey's secret exponent, computed in a process of its own.

A power takes some milliseconds, during which requests for pages and reports must not wait. The process reads one
request a line (message, modulus and exponent in hexadecimal) and writes a signature a line; it ends when its input
ends, so it does not outlive a server that is killed.
"""

import asyncio
import os
import signal
import sys

from sottovoce.errors import SottovoceError
from sottovoce.surveys.blind_rsa import SecretKey, blind_sign

TRIES = 2
"""How often a power is tried, with a new process after the first failure."""


class SignerError(Exception):
    """Raised if no signature could be made; the request may be sent again."""


class Signer:
    """Starts the process at the first signature, and again if it has ended."""

    def __init__(self) -> None:
        """Start nothing yet."""
        self._process: asyncio.subprocess.Process | None = None
        self._turn = asyncio.Lock()

    async def sign(self, blinded: bytes, secret: SecretKey) -> bytes:
        """Return the blind signature of a message that lies between 0 and the modulus."""
        line = f"{blinded.hex()} {secret.public.modulus:x} {secret.exponent:x}\n".encode("ascii")
        async with self._turn:
            for _ in range(TRIES):
                try:
                    answer = await self._ask(line)
                except OSError:
                    answer = b""
                except asyncio.CancelledError:
                    await self._stop()  # a late answer must not be taken for that to the next request
                    raise
                if answer:
                    return bytes.fromhex(answer.decode("ascii"))
                await self._stop()
        raise SignerError

    async def close(self) -> None:
        """End the process."""
        async with self._turn:
            await self._stop()

    async def _ask(self, line: bytes) -> bytes:
        if self._process is None:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", __name__, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
            )
        pipe, answers = self._process.stdin, self._process.stdout
        if pipe is None or answers is None:  # pragma: no cover  # both were asked for
            raise SignerError
        pipe.write(line)
        await pipe.drain()
        return (await answers.readline()).strip()

    async def _stop(self) -> None:
        if self._process is not None:
            process, self._process = self._process, None
            if process.returncode is None:
                process.kill()
            await process.wait()


def sign_lines() -> None:
    """Sign what comes, line by line, until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends this process
    for line in sys.stdin:
        blinded, modulus, exponent = line.split()
        try:
            signature = blind_sign(bytes.fromhex(blinded), int(modulus, 16), int(exponent, 16)).hex()
        except SottovoceError:
            signature = ""
        try:
            print(signature, flush=True)
        except BrokenPipeError:  # the server was killed; to end in good order would be to try again, and complain
            os._exit(1)


if __name__ == "__main__":  # pragma: no cover  # in the other process
    sign_lines()
