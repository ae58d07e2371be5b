# mypy: disable-error-code="no-any-return"
"""Gradient boosting of trees on binned columns (Friedman 2001; Ke et al. 2017).

A row stands for `sizes[i]` records that are alike in the bins of all columns; `totals[i, k]` of them
are in state k, or `totals[i, 0]` is the sum of their numbers. Column c has the bins 0 to
`widths[c] - 1`, and bin `widths[c]` for missing values; in a category the bins have no order.

Trees are arrays of nodes, the root first: the `column` that divides the node (-1 of a leaf), `right`
for each bin 1 where its rows go right, the children `left` and `left + 1`, and the `value` of a leaf.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from crypsis.machine_code import kernel

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Trees = tuple[Any, Any, Any, Any]

TWO_STATES, STATES, NUMBERS = 0, 1, 2
_SUPPORT = 10.0
"""A category of fewer records than this is not sorted among the others."""
_HESSIAN = 1e-3


@kernel(inline="always")
def _gain(left: float, left_h: float, right: float, right_h: float, penalty: float) -> float:
    """By how much two leaves lower the loss, in second order."""
    return left * left / (left_h + penalty + 1e-15) + right * right / (right_h + penalty + 1e-15)


@kernel
def _by_order(
    hist: Any,
    width: int,
    gaps: bool,
    node: Any,
    least: float,
    penalty: float,
    right: Any,
    over: float,
) -> Any:
    """The best place to divide ordered bins: its gain, if larger, and the left sums."""
    total, total_h, records = node[0], node[1], node[2]
    best, place, missing = over, -1, False
    best_g = best_h = best_n = 0.0
    g = h = n = 0.0
    for b in range(width - 1 + (1 if gaps else 0)):
        if hist[b, 2] == 0.0:
            continue  # divided as at the bin before
        g += hist[b, 0]
        h += hist[b, 1]
        n += hist[b, 2]
        if n < least or h < _HESSIAN:
            continue
        if records - n < least or total_h - h < _HESSIAN:
            break
        gain = _gain(g, h, total - g, total_h - h, penalty)
        if gain > best:
            best, place, best_g, best_h, best_n = gain, b, g, h, n
    if gaps:
        g = h = n = 0.0
        for b in range(width - 2, -1, -1):
            if hist[b + 1, 2] == 0.0:
                continue
            g += hist[b + 1, 0]
            h += hist[b + 1, 1]
            n += hist[b + 1, 2]
            if n < least or h < _HESSIAN:
                continue
            if records - n < least or total_h - h < _HESSIAN:
                break
            gain = _gain(total - g, total_h - h, g, h, penalty)
            if gain > best:
                best, place, missing = gain, b, True
                best_g, best_h, best_n = total - g, total_h - h, records - n
    if place >= 0:
        if not gaps:  # what is missing later goes where most records go
            missing = best_n > records - best_n
        for b in range(width):
            right[b] = b > place
        right[width] = not missing
    return best, best_g, best_h, best_n


@kernel
def _sort(order: Any, size: int, keys: Any) -> None:
    """Sort places by their keys (Shell 1959); NumPy's sort takes seconds to compile."""
    gap = size // 2
    while gap > 0:
        for i in range(gap, size):
            one, j = order[i], i
            while j >= gap and keys[order[j - gap]] > keys[one]:
                order[j] = order[j - gap]
                j -= gap
            order[j] = one
        gap //= 2


@kernel
def _by_category(
    hist: Any, width: int, gaps: bool, node: Any, least: float, penalty: float, right: Any, over: float,
    room: Any,
) -> Any:  # fmt: skip
    """The same of categories, sorted by their mean (Fisher 1958)."""
    total, total_h, records = node[0], node[1], node[2]
    factor = records / total_h
    keys, order = room
    used = 0
    for b in range(width + (1 if gaps else 0)):
        if hist[b, 1] * factor >= _SUPPORT:
            keys[b] = hist[b, 0] / (hist[b, 1] + _SUPPORT)
            order[used] = b
            used += 1
    best, place, forward = over, -1, True
    best_g = best_h = best_n = 0.0
    _sort(order, used, keys)
    half = (used + 1) // 2 if used > 1 else 0
    for turn in range(2):
        g = h = n = 0.0
        for i in range(half - turn):
            b = order[i if turn == 0 else used - 1 - i]
            g += hist[b, 0]
            h += hist[b, 1]
            n += hist[b, 2]
            if n < least or h < _HESSIAN:
                continue
            if records - n < least or total_h - h < _HESSIAN:
                break
            gain = _gain(g, h, total - g, total_h - h, penalty)
            if gain > best:
                best, place, forward = gain, i, turn == 0
                best_g, best_h, best_n = g, h, n
    if place >= 0:
        for b in range(width + 1):
            right[b] = 1
        for i in range(place + 1):
            right[order[i if forward else used - 1 - i]] = 0
        if not gaps:
            right[width] = best_n <= records - best_n
    return best, best_g, best_h, best_n


@kernel
def _fill(
    hist: Any, places: Any, bins: Any, rows: Any, start: int, stop: int, slopes: Any, k: int,
    sizes: Any,
) -> None:  # fmt: skip
    """The sums of gradients, of second derivatives and of records in each bin."""
    hist[:] = 0.0
    for place in range(start, stop):
        i = rows[place]
        g, h, n = slopes[0, i, k], slopes[1, i, k], sizes[i]
        for c in range(bins.shape[1]):
            b = places[c] + bins[i, c]
            hist[b, 0] += g
            hist[b, 1] += h
            hist[b, 2] += n


@kernel
def _best_split(
    hist: Any, columns: Any, node: Any, least: float, penalty: float, right: Any, room: Any
) -> Any:
    """The best division of a node in any column: column, gain and the left sums; -1 if none."""
    widths, gaps, categories, places = columns
    column, found = -1, (0.0, 0.0, 0.0, 0.0)
    for c in range(widths.size):
        own = hist[places[c] : places[c + 1]]
        if categories[c]:
            one = _by_category(own, widths[c], gaps[c], node, least, penalty, right, found[0], room)
        else:
            one = _by_order(own, widths[c], gaps[c], node, least, penalty, right, found[0])
        if one[0] > found[0]:
            column, found = c, one
    return column, found[0] + node[0] * node[3], found[1], found[2], found[3]


@kernel
def _divide(bins: Any, c: int, right: Any, rows: Any, other: Any, start: int, stop: int) -> int:
    """Put the rows of a node that go left first; the place of the first that goes right."""
    first: Any = start
    last: Any = 0
    for at in range(start, stop):  # without a branch, which would be guessed wrongly half the time
        i = rows[at]
        goes = np.int64(right[bins[i, c]])
        rows[first], other[last] = i, i
        first += 1 - goes
        last += goes
    for at in range(last):
        rows[first + at] = other[at]
    return first


@kernel
def _grow(
    bins: Any, sizes: Any, slopes: Any, k: int, columns: Any, shape: Any, tree: Any, work: Any,
    scores: Any,
) -> None:  # fmt: skip
    """One tree, the leaf with the largest gain divided first; its values are added to the scores."""
    leaves, least, rate, penalty = shape
    column, left, value, right = tree
    pool, rows, other, spans, nodes, gains, splits, slot, keys, order = work
    for i in range(rows.size):
        rows[i] = i
    places = columns[3]
    _fill(pool[0], places, bins, rows, 0, rows.size, slopes, k, sizes)
    for s in range(4):
        nodes[0, s] = 0.0
        for b in range(places[1] if s < 3 else 0):
            nodes[0, s] += pool[0, b, s]
    spans[0, 0], spans[0, 1], slot[0] = 0, rows.size, 0
    open_nodes, used, fresh = 1, 1, 0
    while open_nodes < leaves:
        for one in range(fresh, used):
            gains[one] = 0.0
            if nodes[one, 2] >= 2 * least and nodes[one, 1] >= _HESSIAN:
                found = _best_split(
                    pool[slot[one]], columns, nodes[one], least, penalty, right[one], (keys, order)
                )
                if found[0] >= 0:
                    column[one], gains[one] = found[0], found[1]
                    splits[one, 0], splits[one, 1], splits[one, 2] = found[2], found[3], found[4]
        node = 0
        for one in range(used):
            if gains[one] > gains[node]:
                node = one
        if gains[node] <= 0.0:
            break
        gains[node] = 0.0
        start, stop = spans[node, 0], spans[node, 1]
        middle = _divide(bins, column[node], right[node], rows, other, start, stop)
        for s in range(3):
            nodes[used, s] = splits[node, s]
            nodes[used + 1, s] = nodes[node, s] - splits[node, s]
        for one in range(used, used + 2):
            nodes[one, 3] = -nodes[one, 0] / (nodes[one, 1] + penalty + 1e-15)
        spans[used, 0], spans[used, 1] = start, middle
        spans[used + 1, 0], spans[used + 1, 1] = middle, stop
        small = used if middle - start < stop - middle else used + 1
        slot[small], slot[2 * used + 1 - small] = open_nodes, slot[node]
        if open_nodes + 1 < leaves:  # the larger child has what the smaller one leaves
            few, many = pool[open_nodes], pool[slot[node]]
            _fill(few, places, bins, rows, spans[small, 0], spans[small, 1], slopes, k, sizes)
            for b in range(few.shape[0]):
                for s in range(3):
                    many[b, s] -= few[b, s]
        left[node], spans[node, 1] = used, start
        fresh = used
        open_nodes += 1
        used += 2
    for one in range(used):
        if spans[one, 1] > spans[one, 0]:
            column[one] = -1
            value[one] = rate * nodes[one, 3]
            for at in range(spans[one, 0], spans[one, 1]):
                scores[rows[at], k] += value[one]


@kernel
def _slopes(kind: int, scores: Any, sizes: Any, totals: Any, slopes: Any) -> None:
    """Gradients and second derivatives of the loss at the scores."""
    for i in range(sizes.size):
        if kind == NUMBERS:
            slopes[0, i, 0], slopes[1, i, 0] = sizes[i] * scores[i, 0] - totals[i, 0], sizes[i]
        elif kind == TWO_STATES:
            chance = 1.0 / (1.0 + np.exp(-scores[i, 0]))
            slopes[0, i, 0] = sizes[i] * chance - totals[i, 1]
            slopes[1, i, 0] = sizes[i] * chance * (1.0 - chance)
        else:
            top, whole = scores[i, 0], 0.0
            for k in range(1, scores.shape[1]):
                top = max(top, scores[i, k])
            for k in range(scores.shape[1]):
                slopes[0, i, k] = np.exp(scores[i, k] - top)
                whole += slopes[0, i, k]
            for k in range(scores.shape[1]):
                chance = slopes[0, i, k] / whole
                slopes[0, i, k] = sizes[i] * chance - totals[i, k]
                slopes[1, i, k] = sizes[i] * chance * (1.0 - chance)


@kernel
def _steps(
    bins: Any, sizes: Any, totals: Any, kind: int, columns: Any, shape: Any, trees: Any, work: Any,
    scores: Any, slopes: Any,
) -> None:  # fmt: skip
    column, left, value, right = trees
    outputs = scores.shape[1]
    for t in range(column.shape[0]):
        if t % outputs == 0:
            _slopes(kind, scores, sizes, totals, slopes)
        tree = (column[t], left[t], value[t], right[t])
        _grow(bins, sizes, slopes, t % outputs, columns, shape, tree, work, scores)


def fit(
    bins: NDArray[np.uint8], sizes: Floats, totals: Floats, base: Floats, kind: int, steps: int,
    columns: Any, shape: Any,
) -> Trees:  # fmt: skip
    """The trees of all steps, one for each score in a step.

    `columns` are the widths, whether values are missing, and whether it is a category, of each;
    `shape` the most leaves, the fewest records of a leaf, the rate and the penalty.
    """
    rows, width, count = sizes.size, int(columns[0].max()) + 1, steps * base.size
    places = np.concatenate(([0], np.cumsum(columns[0] + 1)))  # of the first bin of each column
    most = 2 * shape[0] - 1
    trees = (
        np.full((count, most), -1, np.int16), np.zeros((count, most), np.int16),
        np.zeros((count, most)), np.zeros((count, most, width), np.uint8),
    )  # fmt: skip
    work = (
        np.zeros((shape[0], int(places[-1]), 3)), np.zeros(rows, np.int64),
        np.zeros(rows, np.int64), np.zeros((most, 2), np.int64), np.zeros((most, 4)),
        np.zeros(most), np.zeros((most, 3)), np.zeros(most, np.int64),
        np.zeros(width), np.zeros(width, np.int64),
    )  # fmt: skip
    scores, slopes = np.tile(base, (rows, 1)), np.zeros((2, rows, base.size))
    _steps(bins, sizes, totals, kind, (*columns, places), shape, trees, work, scores, slopes)
    return trees
