"""Loop that fills baskets with patterns, compiled by `tables.parallel` or run, slowly, in plain Python."""

from typing import Any


def fill_baskets(starts: Any, patterns: Any, sizes: Any, moves: Any, seen: Any, indptr: Any, indices: Any) -> None:
    """Put patterns into baskets one after the other, from the first that is not full, until either are used up.

    `indptr[-1]` is the index of the first basket that is not full, and `indptr[-2]` the number of items written. A
    pattern that does not fit is put in anyway or, where `moves` says so, into the next basket. `seen[item]` is the
    last basket that the item was put into.
    """
    basket, written = indptr[-1], indptr[-2]
    for pattern in range(len(starts) - 1):
        first, last = starts[pattern], starts[pattern + 1]
        held = written - indptr[basket]
        if moves[basket] and held > 0 and held + last - first > sizes[basket]:
            basket += 1
            indptr[basket] = written
            if basket == len(sizes):
                break
        for position in range(first, last):
            item = patterns[position]
            if seen[item] != basket:
                seen[item] = basket
                indices[written] = item
                written += 1
        if written - indptr[basket] >= sizes[basket]:
            basket += 1
            indptr[basket] = written
            if basket == len(sizes):
                break
    indptr[-1], indptr[-2] = basket, written
