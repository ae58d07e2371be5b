# mypy: disable-error-code="no-any-return"
"""Whether a group of rows meets the requirements on its size and on its sensitive values.

The sensitive columns are one tuple, `sensitive`: (starts, values, rows, edges, kinds, missing,
overall, limits, rules, first, people, nodes). Entries `starts[cell]` to `starts[cell + 1]` are the
`rows` of a cell with each of the `values`; the values of sensitive column s are numbered from
`edges[s]` to `edges[s + 1]`, in their order if `kinds[s]` is `ORDERED`, the last one being the
missing value if `missing[s]`;
`overall` is the share of each in all rows. If `kinds[s]` is the height of a hierarchy, line l of
`nodes` has the node of each value on level l. `limits` has a place for each requirement (`DISTINCT`
and so on), below zero if there is none. Behind the values are the slots and the bins of the
disclosure of values, with the `rules` of `disclosure`; then, if people are required, those who are
counted in a cell: each in one of their cells, so that they add up to no more than there are; all
people of the cell, of whom the `rows` are then; and last, if something is required against a
population, its people in the cell. Who is in a cell are `people` from `first[cell]` to `first[cell + 1]`.

Where nothing but the size of a group is required, `sensitive` is None: the compiler then leaves out all
that is about sensitive values, which is most of what it would have to compile.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from crypsis.array_types import Flags, Floats, Ints
from crypsis.machine_code import kernel
from crypsis.protection.recoding.kernels.disclosure import undisclosed
from crypsis.protection.recoding.kernels.inner import inner

DISTINCT, ENTROPY, RECURSIVE_L, RECURSIVE_C, CLOSENESS, BEST_GUESS, PEOPLE = range(7)
LIKENESS, DISCLOSURE, MAP, PRESENCE = range(7, 11)
LIMITS = 11
ORDERED = 0
"""The kind of a column whose values have an order; else the height of their hierarchy, 1 if none."""
SLACK = 1e-12


@inner
def recursive(rows: Floats, places: float, factor: float) -> bool:
    """Whether r1 < c (r_l + r_l+1 + ...) for the counts in descending order."""
    ranked = np.sort(rows)[::-1]
    place = int(places) - 1
    return place < ranked.size and ranked[0] < factor * ranked[place:].sum()


@inner
def distance(rows: Floats, total: float, overall: Floats, kind: int, missing: bool, nodes: Ints) -> float:
    """The earth mover's distance of one group to all rows (Li et al. 2007).

    Half the sum of differences if all values are equally far apart; in a hierarchy that of the nodes
    of each level below the root, over its height; for ordered values the sum of cumulated
    differences over the number of steps. Among ordered values a missing one has no place: rows move
    between missing and known at the full distance.
    """
    if kind != ORDERED:
        spent = 0.0
        for v in range(rows.size):
            spent += 0.5 * abs(rows[v] / total - overall[v])
        for level in range(1, kind):
            surplus = np.zeros(rows.size)
            for v in range(rows.size):
                surplus[nodes[level, v]] += rows[v] / total - overall[v]
            spent += 0.5 * np.abs(surplus).sum()
        return spent / kind
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


@inner
def entropy(rows: Floats, total: float) -> float:
    """The entropy of a group in bits."""
    bits = 0.0
    for v in range(rows.size):
        if rows[v] > 0:
            bits -= rows[v] / total * np.log2(rows[v] / total)
    return bits


@inner
def alike(rows: Floats, total: float, overall: Floats, beta: float, delta: float) -> bool:
    """Whether the share of no value is too far from that in all rows; a limit below 0 is none.

    beta-likeness: no value gains more than beta times its share (Cao and Karras 2012).
    delta-disclosure privacy: no share changes by more than delta bits, and none becomes zero
    (Brickell and Shmatikov 2008).
    """
    for v in range(rows.size):
        if beta >= 0 and rows[v] > (1 + beta) * (1 + SLACK) * overall[v] * total:
            return False
        if delta < 0 or overall[v] <= 0:
            continue
        if rows[v] <= 0 or abs(np.log2(rows[v] / total / overall[v])) > delta + SLACK:
            return False
    return True


@inner
def people_at(sensitive: Any) -> int:
    """The place of the people of a group, if they are required."""
    rules = sensitive[8]
    return sensitive[3][-1] + rules[0][-1] + rules[1][-1]


@inner
def sensitive_sound(present: Floats, total: float, sensitive: Any) -> bool:
    """Whether a group with `present[v]` rows of each sensitive value meets the requirements."""
    if sensitive is None:
        return True
    edges, limits = sensitive[3], sensitive[7]
    if limits[PEOPLE] >= 0 and present[people_at(sensitive)] < limits[PEOPLE]:
        return False
    if limits[MAP] >= 0 and present[present.size - 1] < limits[MAP]:
        return False
    if limits[PRESENCE] >= 0 and total > (limits[PRESENCE] + SLACK) * present[present.size - 1]:
        return False
    if limits[PEOPLE] >= 0:
        total = present[people_at(sensitive) + 1]
    for s in range(edges.size - 1):
        rows = present[edges[s] : edges[s + 1]]
        known = rows[: rows.size - 1] if sensitive[5][s] else rows  # missing is no diversity
        if limits[DISTINCT] >= 0 and max(np.count_nonzero(known), 1) < limits[DISTINCT]:
            return False
        if limits[BEST_GUESS] >= 0 and rows.max() > (limits[BEST_GUESS] + SLACK) * total:
            return False
        if limits[ENTROPY] >= 0 and entropy(known, known.sum()) < np.log2(limits[ENTROPY]) - SLACK:
            return False
        if limits[RECURSIVE_L] >= 0 and not recursive(known, limits[RECURSIVE_L], limits[RECURSIVE_C]):
            return False
        overall = sensitive[6][edges[s] : edges[s + 1]]
        asked = limits[LIKENESS] >= 0 or limits[DISCLOSURE] >= 0
        if asked and not alike(rows, total, overall, limits[LIKENESS], limits[DISCLOSURE]):
            return False
        if limits[CLOSENESS] >= 0:
            nodes = sensitive[11][:, edges[s] : edges[s + 1]]
            apart = distance(rows, total, overall, sensitive[4][s], sensitive[5][s], nodes)
            if apart > limits[CLOSENESS] + SLACK:
                return False
    rules = sensitive[8]
    if rules[0][-1] == 0:
        return True
    behind = present[edges[-1] :]
    slots, bins = rules[0][-1], rules[1][-1]
    return undisclosed(behind[:slots], behind[slots : slots + bins], total, rules)


@inner
def places(sensitive: Any) -> int:
    """How many numbers describe the sensitive values and the people of a group."""
    if sensitive is None:
        return 0
    limits = sensitive[7]
    of_population = limits[MAP] >= 0 or limits[PRESENCE] >= 0
    return people_at(sensitive) + 2 * (limits[PEOPLE] >= 0) + of_population


@inner
def different_people(cells: Ints, most: int, sensitive: Any) -> int:
    """The number of different people in some cells, counted up to `most`."""
    first, people = sensitive[9], sensitive[10]
    seen, found = np.empty(most, np.int64), 0
    for cell in cells:
        for e in range(first[cell], first[cell + 1]):
            for s in range(found):
                if seen[s] == people[e]:
                    break
            else:
                seen[found] = people[e]
                found += 1
                if found == most:
                    return found
    return found


@inner
def group_sound(cells: Ints, total: int, present: Floats, k: int, sensitive: Any) -> bool:
    """Whether the cells of a group meet the requirements; `present` has their sensitive values."""
    if sensitive is None:
        return total >= k
    place = people_at(sensitive)
    if sensitive[7][PEOPLE] >= 0 and present[place] < k:
        present[place] = different_people(cells, k, sensitive)
    return sensitive_sound(present, float(total), sensitive)


@inner
def add(present: Floats, cell: int, sign: float, sensitive: Any) -> None:
    """Add the sensitive values of a cell to a group, or subtract them."""
    if sensitive is None:
        return
    for e in range(sensitive[0][cell], sensitive[0][cell + 1]):
        present[sensitive[1][e]] += sign * sensitive[2][e]


@inner
def sound(total: int, present: Floats, k: int, sensitive: Any) -> bool:
    """Whether a group is large enough and meets the requirements on its sensitive values."""
    if sensitive is None:
        return total >= k
    return total >= k and (present.size == 0 or sensitive_sound(present, float(total), sensitive))


@inner
def by_part(part: Ints, parts: int) -> tuple[Ints, Ints]:
    """The places of each part, one part after the other: a counting sort."""
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


@kernel
def sound_within(
    cells: Ints, part: Ints, rows: Ints, k: int, sensitive: Any, budget: int
) -> tuple[Flags, int]:
    """Which parts of some cells meet the requirements, and the rows of the others.

    As soon as these are more than the budget it ends: they are more still, and `good` is not final.
    """
    good = rows >= k
    lost = 0
    for p in range(rows.size):
        if not good[p]:
            lost += rows[p]
    if sensitive is None:
        return good, lost
    values = places(sensitive)
    if lost > budget or values == 0:
        return good, lost
    order, starts = by_part(part, rows.size)
    present = np.empty(values)
    for p in range(rows.size):
        if good[p]:
            present[:] = 0.0
            mine = cells[order[starts[p] : starts[p + 1]]]
            for cell in mine:
                add(present, cell, 1.0, sensitive)
            if not group_sound(mine, rows[p], present, k, sensitive):
                good[p] = False
                lost += rows[p]
                if lost > budget:
                    break
    return good, lost


@kernel
def which_sound(cells: Ints, part: Ints, rows: Ints, k: int, sensitive: Any) -> Flags:
    """Which parts of some cells meet the requirements; `part` of each cell, `rows` of each part."""
    return sound_within(cells, part, rows, k, sensitive, rows.sum())[0]
