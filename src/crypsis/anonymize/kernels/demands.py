# mypy: disable-error-code="no-any-return"
"""Whether a group of rows meets what is asked of its size and of its sensitive values.

What is sensitive travels as one tuple, `secrets`: (starts, values, rows, edges, ordered, missing,
overall, asked). Entries `starts[cell]` to `starts[cell + 1]` say how many `rows` of a cell have
which of the `values`; the values of sensitive column s are numbered from `edges[s]` to
`edges[s + 1]`, in their order if `ordered[s]`, the last one being the missing value if
`missing[s]`; `overall` is the share of each in all rows. `asked` has a place for each demand
(`DISTINCT` and so on), below zero where there is none.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

DISTINCT, ENTROPY, RECURSIVE_L, RECURSIVE_C, CLOSENESS, BEST_GUESS = range(6)
SLACK = 1e-12


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def recursive(rows: Floats, least: float, factor: float) -> bool:
    """Whether r1 < c (r_l + r_l+1 + ...) for the counts in falling order."""
    falling = np.sort(rows)[::-1]
    place = int(least) - 1
    return place < falling.size and falling[0] < factor * falling[place:].sum()


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def distance(
    rows: Floats, total: float, overall: Floats, ordered: bool, missing: bool
) -> float:  # fmt: skip
    """The earth mover's distance of one group to the whole (Li et al. 2007).

    Half the sum of differences where all values are equally far apart; for ordered values the sum
    of cumulated differences over the number of steps. Among ordered values a missing one has no
    place: rows move between missing and known at the full distance.
    """
    if not ordered:
        spent = 0.0
        for v in range(rows.size):
            spent += 0.5 * abs(rows[v] / total - overall[v])
        return spent
    last = rows.size - 1 if missing else rows.size
    here, everywhere = rows[:last].sum(), overall[:last].sum()
    moved = abs(here / total - everywhere)
    if here <= 0.0 or everywhere <= 0.0:
        return moved
    spent, carried = 0.0, 0.0
    for v in range(last):
        carried += rows[v] / here - overall[v] / everywhere
        spent += abs(carried)
    return moved + min(here / total, everywhere) * spent / max(1, last - 1)


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def entropy(rows: Floats, total: float) -> float:
    """The entropy of a group in bits."""
    bits = 0.0
    for v in range(rows.size):
        if rows[v] > 0:
            bits -= rows[v] / total * np.log2(rows[v] / total)
    return bits


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def keeps(held: Floats, total: float, secrets: Any) -> bool:
    """Whether a group with `held[v]` rows of each sensitive value meets what is asked."""
    edges, asked = secrets[3], secrets[7]
    for s in range(edges.size - 1):
        rows = held[edges[s] : edges[s + 1]]
        if asked[DISTINCT] >= 0 and np.count_nonzero(rows) < asked[DISTINCT]:
            return False
        if asked[BEST_GUESS] >= 0 and rows.max() > (asked[BEST_GUESS] + SLACK) * total:
            return False
        if asked[ENTROPY] >= 0 and entropy(rows, total) < np.log2(asked[ENTROPY]) - SLACK:
            return False
        if asked[RECURSIVE_L] >= 0 and not recursive(rows, asked[RECURSIVE_L], asked[RECURSIVE_C]):
            return False
        if asked[CLOSENESS] >= 0:
            whole = secrets[6][edges[s] : edges[s + 1]]
            apart = distance(rows, total, whole, secrets[4][s], secrets[5][s])
            if apart > asked[CLOSENESS] + SLACK:
                return False
    return True


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def add(held: Floats, cell: int, sign: float, secrets: Any) -> None:
    """The sensitive values of a cell join a group, or leave it."""
    for e in range(secrets[0][cell], secrets[0][cell + 1]):
        held[secrets[1][e]] += sign * secrets[2][e]


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def sound(total: int, held: Floats, k: int, secrets: Any) -> bool:
    """Whether a group is large enough, and keeps its secrets where they are asked about."""
    return total >= k and (held.size == 0 or keeps(held, float(total), secrets))


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def by_part(part: Ints, parts: int) -> tuple[Ints, Ints]:
    """The places of each part, side by side: a counting sort."""
    starts = np.zeros(parts + 1, np.int64)
    for i in range(part.size):
        starts[part[i] + 1] += 1
    for p in range(parts):
        starts[p + 1] += starts[p]
    fill = starts[:-1].copy()
    order = np.empty(part.size, np.int64)
    for i in range(part.size):
        order[fill[part[i]]] = i
        fill[part[i]] += 1
    return order, starts


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def which_sound(cells: Ints, part: Ints, rows: Ints, k: int, secrets: Any) -> NDArray[np.bool_]:
    """Which parts of some cells meet the demands; `part` of each cell, `rows` of each part."""
    good = rows >= k
    values = secrets[3][-1]
    if values == 0 or not good.any():
        return good
    order, starts = by_part(part, rows.size)
    held = np.empty(values)
    for p in range(rows.size):
        if good[p]:
            held[:] = 0.0
            for j in range(starts[p], starts[p + 1]):
                add(held, cells[order[j]], 1.0, secrets)
            good[p] = keeps(held, float(rows[p]), secrets)
    return good
