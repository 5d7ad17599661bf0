"""QR codes of links, as SVG; those of many invitations to one survey are computed together."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import segno
from numpy.typing import NDArray

from sottovoce.surveys.links import TOKEN_LENGTH

BORDER = 4
"""Width of the white frame that readers need, in modules."""

BASE = "A"
"""Letter in all places of the invitation from which others are computed."""

Modules = NDArray[np.uint8]
"""A code by rows and columns: 1 where it is dark."""


def qr_code(link: str) -> Modules:
    """Return the code of a link; a quarter of it, about, can be dirty and is still read.

    >>> qr_code("https://example.org").shape
    (25, 25)
    """
    return _modules(segno.make_qr(link, error="m"))


def qr_codes(links: Sequence[str]) -> NDArray[np.uint8]:
    """Return the codes of links that differ in their invitations only: by link, row and column.

    With version, mask and length fixed, every module of a code is an affine function of the bits of its text over the
    field of two elements: error correction is linear, and the mask is added. So each code is that of one text plus the
    changes for the bits in which its text differs, which is a product of matrices.
    """
    start = links[0][:-TOKEN_LENGTH]
    base, changes = _changes(start)
    tokens = "".join(link.removeprefix(start) for link in links).encode("ascii")
    letters = np.frombuffer(tokens, np.uint8).reshape(len(links), TOKEN_LENGTH)
    bits = np.unpackbits(letters ^ np.uint8(ord(BASE)), axis=1)
    flipped = np.rint(bits.astype(np.float32) @ changes).astype(np.uint16) & 1
    codes: NDArray[np.uint8] = base ^ flipped.astype(np.uint8).reshape(-1, *base.shape)
    return codes


@lru_cache(4)
def _changes(start: str) -> tuple[Modules, NDArray[np.float32]]:
    """Return the code of a link with an invitation that is none, and the change for each bit of an invitation."""
    text = start + BASE * TOKEN_LENGTH
    first = segno.make_qr(text, error="m", mode="byte", boost_error=False)
    base = _modules(first)
    changes = np.zeros((TOKEN_LENGTH * 8, base.size), np.float32)
    for place in range(TOKEN_LENGTH):
        for bit in range(1, 8):  # letters have seven bits
            letter, at = chr(ord(BASE) ^ (128 >> bit)), len(start) + place
            other = segno.make_qr(
                text[:at] + letter + text[at + 1 :],
                error="m",
                mode="byte",
                version=first.version,
                mask=first.mask,
                boost_error=False,
            )
            changes[8 * place + bit] = (base ^ _modules(other)).ravel()
    return base, changes


def _modules(code: Any) -> Modules:
    return np.array(code.matrix, np.uint8)


def svg_path(code: Modules) -> str:
    """Return the dark modules of a code as the data of a path: a stroke of width 1 for each run in a row.

    >>> svg_path(np.array([[1, 1, 0], [0, 0, 1]], np.uint8))
    'M4 4.5h2M6 5.5h1'
    """
    edges = np.diff(np.pad(code, ((0, 0), (1, 1))).astype(np.int8), axis=1)
    rows, starts = np.nonzero(edges == 1)
    ends = np.nonzero(edges == -1)[1]
    runs = zip((rows + BORDER).tolist(), (starts + BORDER).tolist(), (ends - starts).tolist(), strict=True)
    return "".join(f"M{x} {y}.5h{length}" for y, x, length in runs)


def svg_size(code: Modules) -> int:
    """Return the width of a code with its frame, in modules."""
    return len(code) + 2 * BORDER


def svg_file(code: Modules) -> bytes:
    """Return a code as an SVG file, black on white whatever is around it."""
    size = svg_size(code)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size} {size}" width="{4 * size}" height="{4 * size}">'
        f'<path fill="#fff" d="M0 0h{size}v{size}h-{size}z"/>'
        f'<path stroke="#000" shape-rendering="crispEdges" d="{svg_path(code)}"/></svg>\n'
    ).encode()
