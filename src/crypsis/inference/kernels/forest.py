# mypy: disable-error-code="no-any-return"
"""One tree of a random forest (Breiman 2001), grown on columns that were sorted once.

Each column keeps its own order of the rows; a division keeps these orders within both parts, so that
no node is sorted again. The impurity is that of Gini: with the squares of the counts of the states
kept, a row that changes sides costs the same however many states there are.

A tree is arrays of nodes, the root first: the `column` that divides the node (-1 of a leaf), the
`bound` up to which its rows go left, and the `child` on the left, with the other after it; of a leaf
the part of `states` and `shares` from `child` to `last`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from crypsis.machine_code import kernel


@kernel
def _drawn(stream: Any, below: int) -> Any:
    """A number from 0 to `below` - 1 of a stream (Steele, Lea and Flood 2014, SplitMix64)."""
    stream[0] += np.uint64(0x9E3779B97F4A7C15)
    found = stream[0]
    found = (found ^ (found >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    found = (found ^ (found >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    found ^= found >> np.uint64(31)
    return np.int64(found >> np.uint64(33)) % below


@kernel
def _best_bound(
    values: Any, rows: Any, weights: Any, states: Any, counts: Any, left: Any, least: int, over: float
) -> Any:  # fmt: skip
    """The best division of a node by one column: its score, if higher, and how many rows go left."""
    place = -1
    total = squares = 0.0
    for row in rows:
        left[states[row]] = 0.0
        total += weights[row]
    for row in rows:
        state = states[row]
        squares += weights[row] * counts[state]
    left_total = left_squares = 0.0
    for at in range(rows.size - least):
        row = rows[at]
        state, weight = states[row], weights[row]
        have = left[state]
        left_squares += weight * (2.0 * have + weight)
        squares -= weight * (2.0 * (counts[state] - have) - weight)
        left[state] = have + weight
        left_total += weight
        if at + 1 >= least and values[rows[at + 1]] != values[row]:
            score = left_squares / left_total + squares / (total - left_total)
            if score > over:
                over, place = score, at + 1
    return over, place


@kernel
def _add_leaf(rows: Any, weights: Any, states: Any, counts: Any, leaf: Any, used: int) -> int:
    """Write the shares of the states of a leaf; where the next leaf begins."""
    total = 0.0
    for row in rows:
        total += weights[row]
    for row in rows:
        state = states[row]
        if counts[state] > 0.0:
            leaf[0][used], leaf[1][used] = state, counts[state] / total
            counts[state] = 0.0
            used += 1
    return used


@kernel
def _divide(orders: Any, start: int, stop: int, goes_left: Any, room: Any) -> None:
    """Put the rows that go left first, in the order of each column."""
    for c in range(orders.shape[0]):
        first: Any = start
        last: Any = 0
        for at in range(start, stop):
            row = orders[c, at]
            step = np.int64(goes_left[row])
            orders[c, first], room[last] = row, row
            first += step
            last += 1 - step
        for at in range(last):
            orders[c, first + at] = room[at]


@kernel
def grow(
    values: Any, orders: Any, weights: Any, states: Any, tries: int, least: int, stream: Any, tree: Any,
    work: Any,
) -> None:  # fmt: skip
    """Grow one tree until its leaves have one state, or fewer rows than two times `least`.

    Row i stands for `weights[i]` drawn records; `orders` has the drawn rows by the values of each
    column, and is sorted by the tree in the end. A node is divided by the best of `tries` columns,
    drawn for it.
    """
    column, bound, child, last, leaf = tree
    counts, left, goes_left, room, columns, spans = work
    used, written = 1, 0
    spans[0, 0], spans[0, 1] = 0, orders.shape[1]
    for node in range(column.size):
        if node == used:
            break
        start, stop = spans[node, 0], spans[node, 1]
        rows = orders[0, start:stop]
        for row in rows:
            counts[states[row]] = 0.0
        for row in rows:
            counts[states[row]] += weights[row]
        several = False
        for row in rows:
            several = several or states[row] != states[rows[0]]
        best, score, place = -1, -1.0, -1
        if several and rows.size >= 2 * least:
            varied = False
            for one in range(columns.size):
                if one >= tries and varied:
                    break
                other = one + _drawn(stream, columns.size - one)
                columns[one], columns[other] = columns[other], columns[one]
                c = columns[one]
                if values[c, orders[c, start]] == values[c, orders[c, stop - 1]]:
                    continue
                varied = True
                found, at = _best_bound(
                    values[c], orders[c, start:stop], weights, states, counts, left, least, score
                )
                if at >= 0:
                    best, score, place = c, found, at
        column[node] = best
        if best < 0:
            child[node] = written
            written = _add_leaf(rows, weights, states, counts, leaf, written)
            last[node] = written
            continue
        low = values[best, orders[best, start + place - 1]]
        high = values[best, orders[best, start + place]]
        middle = low / 2.0 + high / 2.0
        bound[node] = middle if middle < high else low
        for at in range(start, stop):
            goes_left[orders[best, at]] = at < start + place
        _divide(orders, start, stop, goes_left, room)
        child[node] = used
        spans[used, 0], spans[used, 1] = start, start + place
        spans[used + 1, 0], spans[used + 1, 1] = start + place, stop
        used += 2


@kernel
def add_shares(asked: Any, tree: Any, shares: Any) -> None:
    """Add the shares of the states in the leaf of each row asked."""
    column, bound, child, last, leaf = tree
    for i in range(asked.shape[1]):
        node = 0
        while column[node] >= 0:
            node = child[node] + (0 if asked[column[node], i] <= bound[node] else 1)
        for at in range(child[node], last[node]):
            shares[i, leaf[0][at]] += leaf[1][at]
