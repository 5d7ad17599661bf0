"""The signer: signatures from another process, which may be killed, and requests that nobody waits for any more."""

import asyncio
import io
import subprocess
import sys

import pytest

from sottovoce.surveys.blind_rsa import CREDENTIAL_BYTES
from sottovoce.surveys.collect import signer as signer_module
from sottovoce.surveys.collect.signer import Signer, SignerError, sign_lines

CREDENTIAL = bytes(CREDENTIAL_BYTES)


def test_a_request_that_is_given_up_does_not_answer_the_next_one(finished, secret_key):
    first, second = (secret_key.public.blind(CREDENTIAL) for _ in range(2))

    async def drive():
        signer = Signer()
        await signer.sign(first.message, secret_key)  # the process runs
        gone = asyncio.create_task(signer.sign(first.message, secret_key))
        await asyncio.sleep(0)
        gone.cancel()
        with pytest.raises(asyncio.CancelledError):
            await gone
        signature = await signer.sign(second.message, secret_key)
        await signer.close()
        await signer.close()
        return signature

    assert secret_key.public.finalize(CREDENTIAL, finished(drive()), second.inverse)


@pytest.mark.parametrize("program", ["#!/bin/sh\nread line\necho\n", None])
def test_a_process_that_signs_nothing_or_does_not_start_is_an_error(
    finished, secret_key, tmp_path, monkeypatch, program
):
    path = tmp_path / "signer"
    if program:
        path.write_text(program)
        path.chmod(0o700)
    monkeypatch.setattr(signer_module.sys, "executable", str(path))
    with pytest.raises(SignerError):
        finished(Signer().sign(secret_key.public.blind(CREDENTIAL).message, secret_key))


def test_lines_are_signed_one_by_one(monkeypatch, capsys, secret_key):
    """Also after one that cannot be signed, which gets an empty line."""
    blinded, modulus, exponent = secret_key.public.blind(CREDENTIAL), secret_key.public.modulus, secret_key.exponent
    lines = [f"{digits} {modulus:x} {exponent:x}\n" for digits in ("00" * 256, blinded.message.hex())]
    monkeypatch.setattr(signer_module.sys, "stdin", io.StringIO("".join(lines)))
    monkeypatch.setattr(signer_module.signal, "signal", lambda *_: None)
    sign_lines()
    refused, signature, end = capsys.readouterr().out.split("\n")
    assert (refused, end) == ("", "")
    assert secret_key.public.finalize(CREDENTIAL, bytes.fromhex(signature), blinded.inverse)


def test_nothing_is_written_after_the_server_was_killed(secret_key):
    """A traceback in a server's log would alarm whoever reads it, and could show anything."""
    command = [sys.executable, "-m", signer_module.__name__]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    digits = secret_key.public.blind(CREDENTIAL).message.hex()
    line = f"{digits} {secret_key.public.modulus:x} {secret_key.exponent:x}\n"
    _, said = process.communicate(line.encode(), timeout=60)
    assert (process.returncode, said) == (1, b"")


def test_a_signature_that_nobody_reads_ends_the_process(monkeypatch, secret_key):
    ended = []
    line = (
        f"{secret_key.public.blind(CREDENTIAL).message.hex()} {secret_key.public.modulus:x} {secret_key.exponent:x}\n"
    )

    class Closed(io.StringIO):
        def write(self, _):
            raise BrokenPipeError

    monkeypatch.setattr(signer_module.sys, "stdin", io.StringIO(line))
    monkeypatch.setattr(signer_module.sys, "stdout", Closed())
    monkeypatch.setattr(signer_module.signal, "signal", lambda *_: None)
    monkeypatch.setattr(signer_module.os, "_exit", ended.append)
    sign_lines()
    assert ended == [1]
