# mypy: disable-error-code="no-any-return"
"""Few cells divided into classes again, by prices of their records.

The classes that can be formed are given (see `closed`). Each record has a price, at first what it loses
now. A class is worth the prices of its members less what they lose there: its members are those whose
price is above that, and the dearest others until there are k records. The class with the largest worth
is formed, then the one with the largest worth of the cells that are left, and so on; cells that are
left at last join a class that has their labels, and single cells and whole classes move to cheaper ones.
Then prices rise for records that no class of positive worth takes and fall for those that several take:
the subgradient steps of the Lagrangian dual (Held, Wolfe and Crowder 1974), each of which gives
another division, as in the heuristic of Caprara, Fischetti and Toth (1999) for set covering. The best
division is kept.

The classes are one tuple, `sets`: (members, starts, levels); `cost` has the loss of a record of each
member in its set.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from crypsis.array_types import Floats, Ints
from crypsis.protection.recoding.kernels.inner import inner

_IDLE, _SHRINK = 5, 0.6
"""How many bounds may be no higher before the steps of the prices shrink."""
_NEVER = 1e18


@inner
def _by_cell(size: int, count: int, members: Any, starts: Ints) -> tuple[Ints, Ints, Ints]:
    """The places where each cell is a member, and the set of each place."""
    total = starts[count]
    edges, which = np.zeros(size + 1, np.int64), np.empty(total, np.int64)
    for e in range(total):
        edges[members[e] + 1] += 1
    for j in range(size):
        edges[j + 1] += edges[j]
    places, at = np.empty(total, np.int64), np.empty(size, np.int64)
    for j in range(size):
        at[j] = edges[j]
    for s in range(count):
        for e in range(starts[s], starts[s + 1]):
            j = members[e]
            places[at[j]] = e
            at[j] += 1
            which[e] = s
    return edges, places, which


@inner
def _worth(
    s: int,
    k: int,
    ordered: Ints,
    starts: Ints,
    members: Any,
    cost: Floats,
    rows: Ints,
    price: Floats,
    owner: Ints,
) -> float:
    """What the best members of a set that are in no class yet cost beyond their prices."""
    total, count = 0.0, 0
    for place in range(starts[s], starts[s + 1]):
        e = ordered[place]
        j = members[e]
        if owner[j] >= 0:
            continue
        if price[j] <= cost[e] and count >= k:
            break
        count += rows[j]
        total += (cost[e] - price[j]) * rows[j]
    return total if count >= k else _NEVER


@inner
def _worths(
    count: int,
    k: int,
    ordered: Ints,
    starts: Ints,
    members: Any,
    cost: Floats,
    rows: Ints,
    price: Floats,
    worth: Floats,
    slope: Floats,
) -> float:
    """The worth of every set while no cell is in a class, and the sum of the negative ones.

    Those lower `slope` at their members.
    """
    below = 0.0
    for s in range(count):
        total, there, last = 0.0, 0, starts[s + 1]
        for place in range(starts[s], starts[s + 1]):
            e = ordered[place]
            j = members[e]
            if price[j] <= cost[e] and there >= k:
                last = place
                break
            there += rows[j]
            total += (cost[e] - price[j]) * rows[j]
        worth[s] = total if there >= k else _NEVER
        if worth[s] < 0.0:
            below += worth[s]
            for place in range(starts[s], last):
                slope[members[ordered[place]]] -= 1.0
    return below


@inner
def _form(
    s: int,
    name: int,
    k: int,
    ordered: Ints,
    starts: Ints,
    members: Any,
    cost: Floats,
    rows: Ints,
    price: Floats,
    owner: Ints,
) -> int:
    """Make a class of those members; its records."""
    count = 0
    for place in range(starts[s], starts[s + 1]):
        e = ordered[place]
        j = members[e]
        if owner[j] >= 0:
            continue
        if price[j] <= cost[e] and count >= k:
            break
        owner[j] = name
        count += rows[j]
    return count


@inner
def _greedy(
    size: int,
    count: int,
    k: int,
    worth: Floats,
    ordered: Ints,
    starts: Ints,
    members: Any,
    cost: Floats,
    rows: Ints,
    price: Floats,
    owner: Ints,
    chosen: Ints,
    total: Ints,
) -> int:
    """Form classes while there are any, the best first; how many there are."""
    order, formed, left = np.argsort(worth), 0, 0
    for j in range(size):
        left += rows[j]
    at = 0
    while at < count and left >= k:
        s = order[at]
        now = _worth(s, k, ordered, starts, members, cost, rows, price, owner)
        if now >= _NEVER:
            at += 1
            continue
        if now > worth[s] + 1e-9:  # some members are gone: it waits for its turn
            worth[s] = now
            place = at
            while place + 1 < count and worth[order[place + 1]] < now:
                order[place] = order[place + 1]
                place += 1
            order[place] = s
            continue
        total[formed] = _form(s, formed, k, ordered, starts, members, cost, rows, price, owner)
        chosen[formed] = s
        left -= total[formed]
        formed += 1
        at += 1
    return formed


@inner
def _cheapest(j: int, own: int, most: float, formed: int, lost: Floats, total: Ints) -> int:
    """The class where a cell loses least, less than `most`; -1 if there is none."""
    best = -1
    for q in range(formed):
        if q != own and total[q] > 0 and lost[q, j] < most:
            best, most = q, lost[q, j]
    return best


@inner
def _settle(size: int, formed: int, k: int, rows: Ints, lost: Floats, owner: Ints, total: Ints) -> bool:
    """Put cells in no class into one, then move cells and dissolve classes; False if it fails."""
    for j in range(size):
        if owner[j] < 0:
            owner[j] = _cheapest(j, -1, _NEVER, formed, lost, total)
            if owner[j] < 0:
                return False
            total[owner[j]] += rows[j]
    moved = True
    while moved:
        moved = False
        for j in range(size):
            own = owner[j]
            if total[own] - rows[j] < k:
                continue
            other = _cheapest(j, own, lost[own, j] - 1e-9, formed, lost, total)
            if other >= 0:
                total[own] -= rows[j]
                total[other] += rows[j]
                owner[j] = other
                moved = True
        for own in range(formed):
            if total[own] == 0:
                continue
            change = 0.0
            for j in range(size):
                if owner[j] == own:
                    other = _cheapest(j, own, _NEVER, formed, lost, total)
                    change += _NEVER if other < 0 else (lost[other, j] - lost[own, j]) * rows[j]
            if change < -1e-9:
                for j in range(size):
                    if owner[j] == own:
                        owner[j] = _cheapest(j, own, _NEVER, formed, lost, total)
                        total[owner[j]] += rows[j]
                total[own] = 0
                moved = True
    return True


@inner
def divide(
    size: int,
    count: int,
    k: int,
    sets: Any,
    cost: Floats,
    rows: Ints,
    price: Floats,
    now: float,
    rounds: int,
    found: Ints,
) -> float:
    """Divide the cells in so many ways; the loss of the best division, and in `found` the set of each cell.

    `price` has what a record of each cell loses now and is changed, `now` is the sum over all; if
    nothing better is found, `now` is returned.
    """
    members, starts = sets[0], sets[1]
    edges, places, which = _by_cell(size, count, members, starts)
    ordered, at = np.empty(starts[count], np.int64), np.empty(count, np.int64)
    owner, slope = np.empty(size, np.int64), np.empty(size)
    chosen, total = np.empty(size, np.int64), np.empty(size, np.int64)
    worth, safe = np.empty(count), np.empty(size)
    best, highest, step, idle = now, -_NEVER, 1.0, 0
    for _ in range(rounds):
        order = np.argsort(-price)
        for s in range(count):
            at[s] = starts[s]
        for j in order:
            for place in range(edges[j], edges[j + 1]):
                s = which[places[place]]
                ordered[at[s]] = places[place]
                at[s] += 1
        bound = 0.0
        for j in range(size):
            owner[j], slope[j] = -1, 1.0
            bound += price[j] * rows[j]
        bound += _worths(count, k, ordered, starts, members, cost, rows, price, worth, slope)
        if bound > highest:
            highest, idle = bound, 0
            for j in range(size):
                safe[j] = price[j]
        else:
            idle += 1
        formed = _greedy(
            size, count, k, worth, ordered, starts, members, cost, rows, price, owner, chosen, total
        )
        lost = np.full((formed, size), _NEVER)
        for q in range(formed):
            for e in range(starts[chosen[q]], starts[chosen[q] + 1]):
                lost[q, members[e]] = cost[e]
        if _settle(size, formed, k, rows, lost, owner, total):
            value = 0.0
            for j in range(size):
                value += lost[owner[j], j] * rows[j]
            if value < best - 1e-7:
                best = value
                for j in range(size):
                    found[j] = chosen[owner[j]]
        if idle == _IDLE:
            step, idle = step * _SHRINK, 0
            for j in range(size):
                price[j] = safe[j]
            continue
        length = 0.0
        for j in range(size):
            length += rows[j] * slope[j] * slope[j]
        if length == 0.0 or bound >= best:
            break
        for j in range(size):
            price[j] = max(price[j] + step * (best - bound) / length * slope[j], 0.0)
    return best
