"""Loops over neighbours of neighbours, compiled by `tables.parallel`; slow as plain Python."""

from typing import Any


def codegree_sums(indptr: Any, indices: Any, first: int, counts: Any, touched: Any, sums: Any) -> None:
    """Fill sums of c over the neighbours j, and of c^2 and of c deg(j) over all other j, for rows from `first`.

    c is the number of neighbours that a node shares with j. `counts`, all zeros, and `touched` are work arrays with an
    entry for each node; `sums` has a row of three for each node in question.
    """
    for row in range(len(sums)):
        node = first + row
        reached = 0
        for tie in range(indptr[node], indptr[node + 1]):
            between = indices[tie]
            for step in range(indptr[between], indptr[between + 1]):
                other = indices[step]
                if counts[other] == 0:
                    touched[reached] = other
                    reached += 1
                counts[other] += 1
        for tie in range(indptr[node], indptr[node + 1]):
            sums[row, 0] += counts[indices[tie]]
        for index in range(reached):
            other = touched[index]
            shared = counts[other]
            counts[other] = 0
            if other != node:
                sums[row, 1] += shared * shared
                sums[row, 2] += shared * (indptr[other + 1] - indptr[other])


def closing_sums(dyads: Any, table: Any, degrees: Any, first: int, room: Any, sums: Any) -> None:
    """Fill sums for directed graphs, where c is the weight of the pairs of ties that close a tie to j, by `table`.

    For rows from `first`: sums of c, of c times both `degrees` of j, of c over the ties that leave the node and that
    come to it, and of c^2. The `table` has the weights by the states of two pairs; `room` are work arrays as above.
    """
    indptr, indices, states = dyads
    counts, touched = room
    for row in range(len(sums)):
        node = first + row
        reached = 0
        for tie in range(indptr[node], indptr[node + 1]):
            between = indices[tie]
            for step in range(indptr[between], indptr[between + 1]):
                other = indices[step]
                weight = table[states[tie], states[step]]
                if weight > 0 and counts[other] == 0:
                    touched[reached] = other
                    reached += 1
                counts[other] += weight
        counts[node] = 0
        for tie in range(indptr[node], indptr[node + 1]):
            sums[row, 3] += counts[indices[tie]] * (states[tie] & 1)
            sums[row, 4] += counts[indices[tie]] * (states[tie] >> 1)
        for index in range(reached):
            other = touched[index]
            weight = counts[other]
            counts[other] = 0
            sums[row, 0] += weight
            sums[row, 1] += weight * degrees[other, 0]
            sums[row, 2] += weight * degrees[other, 1]
            sums[row, 5] += weight * weight
