"""Canonical JSON of documents, whose bytes are hashed, and the versions that documents have."""

import json
from typing import Any

from sottovoce.errors import SottovoceError


def canonical_bytes(document: Any) -> bytes:
    """Write a JSON value in its canonical form: sorted keys, no white space, UTF-8.

    >>> canonical_bytes({"b": 1, "a": ["é"]}).decode()
    '{"a":["é"],"b":1}'
    """
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def check_version(what: str, version: Any, newest: int) -> None:
    """Refuse versions of a document that this release does not read; a newer one is named as such.

    >>> check_version("plan", 3, newest=2)
    Traceback (most recent call last):
    ...
    sottovoce.errors.SottovoceError: version must be at most 2 for this release to read the plan, which was written
    by a newer version of Sottovoce (document version 3). Got 3 instead.
    """
    if isinstance(version, int) and version > newest:
        rule = f"must be at most {newest} for this release to read the {what}, which was written by a newer version"
        raise SottovoceError("version", f"{rule} of Sottovoce (document version {version})", version)
    if version not in range(1, newest + 1):
        raise SottovoceError("version", "must be 1" if newest == 1 else f"must be from 1 to {newest}", version)
