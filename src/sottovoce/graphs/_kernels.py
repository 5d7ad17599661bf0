"""Loops over neighbours of neighbours, for `tables.parallel` to compile; as plain Python they say the same, slowly."""

from typing import Any


def codegree_sums(indptr: Any, indices: Any, first: int, counts: Any, touched: Any, sums: Any) -> None:
    """For rows from `first` on: sums of c over the neighbours j, and of c^2 and of c deg(j) over all j but the node.

    c is the number of neighbours that a node shares with j. `counts`, all zeros, and `touched` have room for all nodes;
    `sums` has a row of three for each node that is asked for.
    """
    for row in range(len(sums)):
        node = first + row
        reached = 0
        for place in range(indptr[node], indptr[node + 1]):
            between = indices[place]
            for step in range(indptr[between], indptr[between + 1]):
                other = indices[step]
                if counts[other] == 0:
                    touched[reached] = other
                    reached += 1
                counts[other] += 1
        for place in range(indptr[node], indptr[node + 1]):
            sums[row, 0] += counts[indices[place]]
        for place in range(reached):
            other = touched[place]
            shared = counts[other]
            counts[other] = 0
            if other != node:
                sums[row, 1] += shared * shared
                sums[row, 2] += shared * (indptr[other + 1] - indptr[other])


def closing_sums(dyads: Any, table: Any, degrees: Any, first: int, room: Any, sums: Any) -> None:
    """The same with direction: c is the weight of what closes a tie to j, from a `table` of the states of two pairs.

    For rows from `first` on: sums of c, of c times both `degrees` of j, of c over the ties that leave the node and that
    come to it, and of c^2. `room` is for all nodes, as above.
    """
    indptr, indices, states = dyads
    counts, touched = room
    for row in range(len(sums)):
        node = first + row
        reached = 0
        for place in range(indptr[node], indptr[node + 1]):
            between = indices[place]
            for step in range(indptr[between], indptr[between + 1]):
                other = indices[step]
                weight = table[states[place], states[step]]
                if weight > 0 and counts[other] == 0:
                    touched[reached] = other
                    reached += 1
                counts[other] += weight
        counts[node] = 0
        for place in range(indptr[node], indptr[node + 1]):
            sums[row, 3] += counts[indices[place]] * (states[place] & 1)
            sums[row, 4] += counts[indices[place]] * (states[place] >> 1)
        for place in range(reached):
            other = touched[place]
            weight = counts[other]
            counts[other] = 0
            sums[row, 0] += weight
            sums[row, 1] += weight * degrees[other, 0]
            sums[row, 2] += weight * degrees[other, 1]
            sums[row, 5] += weight * weight
