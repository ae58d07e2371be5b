"""How many items are hit: the whole distribution, by the frontier program with polynomials.

Each state carries a polynomial instead of a number; the coefficient of x^c is the weight of the
ways there with c hits. All coefficients are positive, so the far tails are as exact as the middle.

A hit is either a marked cell (`marked`: any set of cells) or an item matched to its own pseudonym
(`cracks`). In the second case items that look alike to the attacker are still counted together:
take g items and their g pseudonyms, all alike, and u of the items still free when their own
pseudonyms come up. By symmetry every choice of these u is equally likely, and the number of ways to
match a of them inside the group with c cracks follows from inclusion and exclusion (`_own_ways`).
"""

from __future__ import annotations

import math
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crypsis.array_types import Ints
from crypsis.machine_code import kernel
from crypsis.pseudonyms.kernels.order import column_order, merge_identical
from crypsis.pseudonyms.kernels.states import (
    ColumnStep,
    KeyLayout,
    column_step,
    hopeless,
    key_layout,
    match_column,
)

CELLS = 200_000_000  # numbers in one layer at most, by default
_LARGEST_GROUP = 24  # larger groups are cut up: the table of ways grows with the fourth power


class _Groups(NamedTuple):
    """Row and column groups, sizes, weights and marks; `own[l]` is the row group of l, or -1."""

    weights: NDArray[np.float64]
    marks: NDArray[np.int64]
    rows: Ints
    columns: Ints
    own: Ints


def cracks(
    matrix: NDArray[np.float64], truth: NDArray[np.int64], *, limit: int = CELLS
) -> NDArray[np.float64] | None:
    """The probability of 0, 1, ..., t cracks; None where the states are too many.

    >>> cracks(np.ones((3, 3)), np.arange(3)).round(4)
    array([0.3333, 0.5   , 0.    , 0.1667])
    """
    kinds = merge_identical(matrix)
    labels = np.stack([kinds.row_class, kinds.column_class[truth]], axis=1)
    _, row_group = np.unique(labels, axis=0, return_inverse=True)
    row_group = _cut_up(row_group.ravel())
    column_group = np.empty_like(row_group)
    column_group[truth] = row_group
    sizes = np.bincount(row_group)
    example = np.zeros(sizes.size, dtype=np.int64)
    example[row_group] = np.arange(truth.size)
    weights = matrix[np.ix_(example, truth[example])]
    marks = np.zeros(weights.shape, dtype=np.int64)
    return _hits(_Groups(weights, marks, sizes, sizes, np.arange(sizes.size)), limit)


def marked(
    matrix: NDArray[np.float64], marks: NDArray[np.bool_], *, limit: int = CELLS
) -> NDArray[np.float64] | None:
    """The probability of 0, 1, ..., t edges in marked cells; None where the states are too many.

    >>> marked(np.ones((2, 2)), np.array([[True, False], [False, False]]))
    array([0.5, 0.5, 0. ])
    """
    kinds = merge_identical(np.where(marks, -matrix, matrix))
    own_rows = np.full(kinds.columns.size, -1)
    weights = np.abs(kinds.weights)
    return _hits(
        _Groups(weights, (kinds.weights < 0).astype(np.int64), kinds.rows, kinds.columns, own_rows), limit
    )


def level(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows and columns divided by their largest cells; identical ones stay identical."""
    rows = matrix / matrix.max(axis=1, keepdims=True)
    return np.asarray(rows / rows.max(axis=0))


def _cut_up(groups: Ints) -> Ints:
    """Split groups into parts of at most _LARGEST_GROUP; always allowed, only slower."""
    position = np.zeros(groups.size, dtype=np.int64)
    for group in range(groups.max() + 1):
        members = np.flatnonzero(groups == group)
        position[members] = np.arange(members.size) // _LARGEST_GROUP
    _, cut = np.unique(np.stack([groups, position]), axis=1, return_inverse=True)
    return np.asarray(cut.ravel())


def _hits(groups: _Groups, limit: int) -> NDArray[np.float64] | None:
    support = groups.weights > 0
    way = column_order(support, groups.rows, groups.columns)
    plan = None if way is None else key_layout(support[:, way.columns], groups.rows)
    if way is None or plan is None:
        return None
    order = way.columns
    keys = np.zeros(1, dtype=np.int64)
    values = np.zeros((1, int(groups.columns.sum()) + 1))
    values[0, 0] = 1.0
    degree = 0
    for position, column in enumerate(order):
        now = column_step(position, support[:, order], groups.rows, groups.columns[order], plan)
        step = _column_group(keys + now.opening, values, degree, int(column), groups, plan, now, limit)
        if step is None:
            return None
        keys, values = step
        degree += int(groups.columns[column])
    return np.asarray(values[0] / values[0].sum())


def _column_group(
    keys: NDArray[np.int64],
    values: NDArray[np.float64],
    degree: int,
    column: int,
    groups: _Groups,
    plan: KeyLayout,
    now: ColumnStep,
    limit: int,
) -> tuple[NDArray[np.int64], NDArray[np.float64]] | None:
    """Match all columns of one group: first within their own row group, then with the others."""
    size, own_row = int(groups.columns[column]), int(groups.own[column])
    waiting = np.stack([plan.shift[now.waiting], plan.mask[now.waiting]], axis=1)
    most = limit // values.shape[1]
    remaining = np.full(keys.size, size, dtype=np.int32)
    if own_row >= 0:
        ways = _own_ways(size) * groups.weights[own_row, column] ** np.arange(size + 1)[:, None]
        keys, remaining, moves, free = _match_own(
            keys, size, plan.shift[own_row], plan.mask[own_row], waiting, now.room
        )
        values = _spread_own(values, moves, free, ways, degree, keys.size)
    other_rows = now.active[now.active != own_row]
    active = np.stack([plan.shift[other_rows], plan.mask[other_rows]], axis=1)
    for left in range(size, 0, -1):
        old = keys
        old_left = remaining
        keys, remaining, moves = match_column(
            old, old_left, left, active, waiting, now.room, size - left, most
        )
        if keys.size == 0:
            return None
        values = _spread(
            old,
            values,
            moves,
            active,
            groups.weights[other_rows, column],
            groups.marks[other_rows, column],
            degree + size,
            keys.size,
        )
        values /= values.max()
    return keys, values


@lru_cache(maxsize=64)
def _own_ways(size: int) -> NDArray[np.float64]:
    """Entry [u, a, c], over size!: ways to match a of u items inside a group, c with cracks."""
    ways = np.zeros((size + 1, size + 1, size + 1))
    scale = math.factorial(size)
    for free in range(size + 1):
        for inside in range(free + 1):
            for hits in range(inside + 1):
                rest = _avoiding(free - hits, size - hits, inside - hits)
                ways[free, inside, hits] = math.comb(free, hits) * rest / scale
    return ways


@cache
def _avoiding(items: int, places: int, pairs: int) -> int:
    """Ways to pair `pairs` of the items with distinct places, each item avoiding one of its own."""
    return sum(
        (-1) ** k * math.comb(items, k) * math.comb(items - k, pairs - k) * math.perm(places - k, pairs - k)
        for k in range(pairs + 1)
    )


@kernel
def _match_own(keys, size, shift, mask, waiting, room):  # type: ignore[no-untyped-def]
    """Take 0, 1, ... free items of the own group out of each state; no two results coincide."""
    moves = np.full((keys.size, size + 1), -1, dtype=np.int32)
    free = np.empty(keys.size, dtype=np.int64)
    index = {np.int64(0): 0}
    index.clear()
    keys_found = np.empty(keys.size * (size + 1), dtype=np.int64)
    remaining = np.empty(keys.size * (size + 1), dtype=np.int32)
    count = 0
    for state in range(keys.size):
        free[state] = (keys[state] >> shift) & mask
        for inside in range(min(free[state], size) + 1):
            key = keys[state] - (np.int64(inside) << shift)
            if hopeless(key, waiting, room, inside):
                continue
            if key not in index:
                index[key] = count
                keys_found[count] = key
                remaining[count] = size - inside
                count += 1
            moves[state, inside] = index[key]
    return keys_found[:count].copy(), remaining[:count].copy(), moves, free


@kernel
def _spread_own(values, moves, free, ways, degree, count):  # type: ignore[no-untyped-def]
    spread = np.zeros((count, values.shape[1]))
    for state in range(moves.shape[0]):
        for inside in range(moves.shape[1]):
            new = moves[state, inside]
            if new < 0:
                continue
            for hits in range(inside + 1):
                factor = ways[free[state], inside, hits]
                if factor > 0.0:
                    for c in range(degree + 1):
                        spread[new, c + hits] += factor * values[state, c]
    return spread


@kernel
def _spread(keys, values, moves, active, weights, marks, degree, count):  # type: ignore[no-untyped-def]
    spread = np.zeros((count, values.shape[1]))
    for state in range(moves.shape[0]):
        for a in range(moves.shape[1]):
            new = moves[state, a]
            if new < 0:
                continue
            factor = 1.0
            shift = 0
            if a < weights.size:
                factor = weights[a] * ((keys[state] >> active[a, 0]) & active[a, 1])
                shift = marks[a]
            for c in range(degree + 1 - shift):
                spread[new, c + shift] += factor * values[state, c]
    return spread
