"""Data files come from the user's folder or their source, and only with the bytes they must have."""

import gzip
import hashlib
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from sottovoce.datasets.files import FILES, DataFile
from sottovoce.errors import MissingExtraError, SottovoceError

PLAIN = b"1 2 3\n2 3\n"
SHA256 = hashlib.sha256(PLAIN).hexdigest()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("SOTTOVOCE_DATA", str(tmp_path))
    return tmp_path


def test_plain_and_compressed_files_are_read(folder):
    (folder / "plain.txt").write_bytes(PLAIN)
    (folder / "packed.txt.gz").write_bytes(gzip.compress(PLAIN))
    assert DataFile("plain.txt", SHA256).text() == DataFile("packed.txt.gz", SHA256).text() == PLAIN.decode()


def test_other_bytes_are_refused(folder):
    (folder / "plain.txt").write_bytes(PLAIN + b"4\n")
    with pytest.raises(SottovoceError, match=r"SOTTOVOCE_DATA must hold the plain\.txt that results are stated for"):
        DataFile("plain.txt", SHA256).text()


def test_a_file_without_a_source_must_be_in_the_folder(folder, monkeypatch):
    with pytest.raises(SottovoceError, match=r"must name a folder that holds plain\.txt. Got a folder without it"):
        DataFile("plain.txt", SHA256).text()
    monkeypatch.delenv("SOTTOVOCE_DATA")
    with pytest.raises(SottovoceError, match=r"must name a folder that holds plain\.txt. Got no folder"):
        DataFile("plain.txt", SHA256).text()


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def test_a_file_with_a_source_is_downloaded_once_and_checked(tmp_path, monkeypatch):
    """From a server on this machine; pooch's cache is a folder of the test's own."""
    monkeypatch.delenv("SOTTOVOCE_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "plain.txt").write_bytes(PLAIN)
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(tmp_path))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        source = f"http://127.0.0.1:{server.server_port}/plain.txt"
        assert DataFile("some/plain.txt.gz", SHA256, source).text() == PLAIN.decode()
        with pytest.raises(
            SottovoceError, match=r"SOTTOVOCE_DATA must name a folder that holds other/plain.txt .*bytes"
        ):
            DataFile("other/plain.txt", "0" * 64, source).text()
        server.shutdown()
    with pytest.raises(SottovoceError, match=r"SOTTOVOCE_DATA must name a folder .* Got nothing from http"):
        DataFile("other/plain.txt", SHA256, source).text()
    assert DataFile("some/plain.txt.gz", SHA256, source + "?gone").text() == PLAIN.decode()


def test_without_pooch_the_error_names_the_folder_and_the_extra(monkeypatch):
    monkeypatch.delenv("SOTTOVOCE_DATA", raising=False)
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(MissingExtraError, match=r"set SOTTOVOCE_DATA.*sottovoce\[data\]"):
        DataFile("never.txt", SHA256, "http://127.0.0.1:9/never.txt").text()


@pytest.mark.usefixtures("data_sets")
@pytest.mark.parametrize("name", FILES)
def test_every_file_of_the_data_folder_has_its_bytes(name):
    assert FILES[name].text()
