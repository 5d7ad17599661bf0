"""An SQLite file as whoever finds it can read it: every page, every cell at its place, and what deleted rows left.

The format is https://www.sqlite.org/fileformat2.html. SQLite itself is not asked: it shows rows and hides traces.
"""

from collections.abc import Iterator
from dataclasses import dataclass

LEAF, INTERIOR = (10, 13), (2, 5)
INDEX = (2, 10)
"""Pages of indices, and of tables without row numbers."""


@dataclass(frozen=True)
class Cell:
    """A cell of a b-tree: where its bytes begin on the page, where they end, and the payload that lies on this page."""

    start: int
    end: int
    payload: bytes


@dataclass(frozen=True)
class Frame:
    """An image of a page in the write-ahead log; `commit` counts the transactions before it."""

    page: int
    commit: int
    image: bytes


def page_size(file: bytes) -> int:
    """Return the size of a database's pages."""
    size = int.from_bytes(file[16:18])
    return 65536 if size == 1 else size


def pages(file: bytes) -> list[bytes]:
    """Return the pages of a database file."""
    size = page_size(file)
    return [file[start : start + size] for start in range(0, len(file), size)]


def varint(data: bytes, at: int) -> tuple[int, int]:
    """Return a number of one to nine bytes, and where it ends."""
    value = 0
    for place in range(8):
        byte = data[at + place]
        value = value << 7 | byte & 127
        if byte < 128:
            return value, at + place + 1
    return value << 8 | data[at + 8], at + 9


def cells(page: bytes, *, first: bool = False) -> list[Cell]:
    """Return the live cells of a b-tree's page, in the order of their keys; of another page, none.

    A new cell is put before those that are there, or into a gap: so the order of their places is the order of arrival.
    """
    start = 100 if first else 0
    kind = page[start]
    if kind not in LEAF + INTERIOR:
        return []
    pointers = start + (8 if kind in LEAF else 12)
    count = int.from_bytes(page[start + 3 : start + 5])
    places = [int.from_bytes(page[at : at + 2]) for at in range(pointers, pointers + 2 * count, 2)]
    return [_cell(page, kind, place) for place in places if place < len(page)]


def _cell(page: bytes, kind: int, start: int) -> Cell:
    at = start + (4 if kind in INTERIOR else 0)
    if kind == 5:
        return Cell(start, varint(page, at)[1], b"")
    size, at = varint(page, at)
    if kind == 13:
        _, at = varint(page, at)
    usable = len(page)
    most = usable - 35 if kind == 13 else (usable - 12) * 64 // 255 - 23
    local = size
    if size > most:  # the rest lies on other pages
        least = (usable - 12) * 32 // 255 - 23
        kept = least + (size - least) % (usable - 4)
        local = kept if kept <= most else least
    return Cell(start, at + local + (4 if local < size else 0), page[at : at + local])


def roots(file: bytes) -> dict[str, int]:
    """Return the first page of every table and index, by name."""
    found = {}
    for page in _tree(pages(file), 1):
        for cell in cells(pages(file)[page - 1], first=page == 1):
            if cell.payload:
                _, name, _, root, _ = _record(cell.payload)
                found[bytes(name).decode()] = int.from_bytes(root)
    return {name: root for name, root in found.items() if root}


def _record(payload: bytes) -> list[bytes]:
    """Return the columns of a record as bytes."""
    end, at = varint(payload, 0)
    kinds = []
    while at < end:
        kind, at = varint(payload, at)
        kinds.append(kind)
    columns = []
    for kind in kinds:
        size = (0, 1, 2, 3, 4, 6, 8, 8, 0, 0)[kind] if kind < 10 else (kind - 12) // 2
        columns.append(payload[at : at + size])
        at += size
    return columns


def _tree(of: list[bytes], root: int) -> Iterator[int]:
    """Yield the numbers of a tree's pages."""
    page, start = of[root - 1], 100 if root == 1 else 0
    yield root
    if page[start] in INTERIOR:
        count = int.from_bytes(page[start + 3 : start + 5])
        pointers = [int.from_bytes(page[at : at + 2]) for at in range(start + 12, start + 12 + 2 * count, 2)]
        for at in [*pointers, start + 8]:
            yield from _tree(of, int.from_bytes(page[at : at + 4]))


def tables(file: bytes) -> dict[str, list[int]]:
    """Return the pages of every table and index, by name; what is nobody's is on the list of free pages, or lost."""
    of = pages(file)
    return {name: list(_tree(of, root)) for name, root in {"schema": 1, **roots(file)}.items()}


def free_pages(file: bytes) -> list[int]:
    """Return the numbers of the pages that await another use."""
    of, found = pages(file), []
    trunk = int.from_bytes(file[32:36])
    while trunk:
        count = int.from_bytes(of[trunk - 1][4:8])
        found += [trunk, *(int.from_bytes(of[trunk - 1][at : at + 4]) for at in range(8, 8 + 4 * count, 4))]
        trunk = int.from_bytes(of[trunk - 1][:4])
    return found


def remains(page: bytes, *, first: bool = False) -> Iterator[tuple[int, bytes]]:
    """Yield what lies on a page outside its live cells, with its place."""
    at = 0
    for cell in sorted(cells(page, first=first), key=lambda cell: cell.start):
        yield at, page[at : cell.start]
        at = max(at, cell.end)
    yield at, page[at:]


def frames(log: bytes) -> list[Frame]:
    """Return the images in a write-ahead log, oldest first, also those that a later use of the log has not reached."""
    if len(log) < 32:
        return []
    size = int.from_bytes(log[8:12])
    salt = log[16:24]
    now, before = [], []
    for at in range(32, len(log) - size - 23, 24 + size):
        head, image = log[at : at + 24], log[at + 24 : at + 24 + size]
        (now if head[8:16] == salt else before).append((head, image))
    found, commit = [], 0
    for head, image in before + now:
        found.append(Frame(int.from_bytes(head[:4]), commit, image))
        commit += any(head[4:8])
    return found


def newest(file: bytes, log: bytes) -> bytes:
    """Return the database file as it will be when the log is written into it."""
    of = dict(enumerate(pages(file), 1))
    of.update({frame.page: frame.image for frame in frames(log)})
    return b"".join(of[page] for page in sorted(of))
