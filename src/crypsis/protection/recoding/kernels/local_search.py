# mypy: disable-error-code="no-any-return"
"""Local search over classes: cells leave a class for others wherever that lowers the loss.

There is one move: a class keeps some of its cells, and each of the others joins the class where it
costs the least. What is kept is nothing (the class is dissolved), the cells with the most common
label one level lower in a column, or all cells but one. A move is made if the loss of all rows
becomes less and every class that it changes meets the requirements; its cost is the change of loss.

A class has the lowest levels on which its cells have the same labels. The classes are one tuple,
`classes`: (owner, next, first, rows, levels, price, known, shown, loss), where `owner` is the class
of each cell and `next` the next cell of the same class; `first` is the first cell of a class, `price`
the loss of its label in each column, `known` the rows with a value there, `shown` a cell with one.
The cells are one tuple, `cells`: (codes, loss, lines, tops, counts), with a line of `codes` and `loss`
for each cell. What is asked of classes is one tuple, `asked`: (k, sensitive, present, work, shown), where
`sensitive` is described in `requirements`, `present` is room for the sensitive values of a class,
`work[0]` is how many costs of a cell in a class may still be computed, and no cell joins a class that
then has all the columns `shown` on their tops.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from crypsis.array_types import Ints
from crypsis.machine_code import kernel
from crypsis.protection.recoding.kernels.blocks import BLOCK, blocks_of, least_cost, widen
from crypsis.protection.recoding.kernels.inner import inner
from crypsis.protection.recoding.kernels.requirements import add, places, sensitive_sound

_TRIES = 4
"""How many classes are tried for a cell before the requirements keep it where it is."""
_MOST = 256
"""How many cells a class may give away at once."""


@inner
def _measure(members: Ints, count: int, g: int, classes: Any, cells: Any) -> None:
    """The rows, levels and loss of a class that consists of these cells."""
    codes, loss, lines, tops, counts = cells
    _, _, first, rows, levels, price, known, shown, lost = classes
    own, total = members[0], 0.0
    first[g], rows[g] = own, 0
    for m in range(count):
        rows[g] += counts[members[m]]
    for c in range(lines.size):
        level, line = 0, lines[c]
        known[g, c], shown[g, c] = 0, -1
        for m in range(count):
            cell = members[m]
            while codes[own, line + level] != codes[cell, line + level]:
                level += 1
            if loss[cell, line + tops[c]] > 0:
                known[g, c] += counts[cell]
                shown[g, c] = cell
        levels[g, c] = level
        price[g, c] = loss[shown[g, c], line + level] if shown[g, c] >= 0 else 0.0
        total += price[g, c] * known[g, c]
    lost[g] = total


@inner
def _price_with(cell: int, g: int, c: int, classes: Any, cells: Any) -> tuple[int, float, int]:
    """The level, the loss of the label and the rows with a value, in a column, with one cell more."""
    codes, loss, lines, tops, counts = cells
    _, _, first, _, levels, price, known, shown, _ = classes
    line, level = lines[c], levels[g, c]
    there = counts[cell] if loss[cell, line + tops[c]] > 0 else 0
    own = first[g]
    while codes[own, line + level] != codes[cell, line + level]:
        level += 1
    if level == levels[g, c] and shown[g, c] >= 0:
        return level, price[g, c], known[g, c] + there
    example = shown[g, c] if shown[g, c] >= 0 else cell
    return level, loss[example, line + level], known[g, c] + there


@inner
def _cost(cell: int, g: int, most: float, classes: Any, cells: Any) -> float:
    """What it costs that a cell joins a class; at least `most` if it is not less."""
    price, known, lost = classes[5], classes[6], classes[8]
    total, rest = 0.0, lost[g]
    for c in range(cells[2].size):
        rest -= price[g, c] * known[g, c]
        _, label, rows = _price_with(cell, g, c, classes, cells)
        total += label * rows
        if total + rest - lost[g] >= most:
            return most
    return total - lost[g]


@inner
def _shows_nothing_with(cell: int, g: int, classes: Any, cells: Any, shown: Ints) -> bool:
    """Whether a class has each of some columns on its top with one cell more; not if there are none."""
    for c in shown:
        if _price_with(cell, g, c, classes, cells)[0] < cells[3][c]:
            return False
    return shown.size > 0


@inner
def _sound_with(cell: int, g: int, classes: Any, cells: Any, asked: Any) -> bool:
    """Whether a class meets the requirements with one cell more; it is large enough without."""
    _, sensitive, present, work, shown = asked
    if _shows_nothing_with(cell, g, classes, cells, shown):
        return False
    if present.size == 0:
        return True
    present[:] = 0.0
    add(present, cell, 1.0, sensitive)
    rows, member = cells[4][cell] + classes[3][g], classes[2][g]
    while member >= 0:
        add(present, member, 1.0, sensitive)
        member = classes[1][member]
        work[0] -= 1
    work[0] -= present.size
    return sensitive_sound(present, float(rows), sensitive)


@inner
def _cost_unless(refused: Ints, cell: int, g: int, most: float, classes: Any, cells: Any) -> float:
    """What it costs that a cell joins a class; `most` if it is as much or the class was refused."""
    rows, lost = classes[3][g], classes[8][g]
    if rows == 0 or lost * cells[4][cell] >= most * rows:  # it loses as much as the others
        return most
    for other in refused:
        if other == g:
            return most
    return _cost(cell, g, most, classes, cells)


@inner
def _cheapest(
    cell: int, most: float, start: int, joined: Ints, blocks: Any, classes: Any, cells: Any, asked: Any
) -> tuple[int, float]:
    """The class where a cell costs the least, less than `most`, and that cost; -1 if there is none.

    The classes that were `joined` by others are looked at first, as their blocks may have become wider
    by that; then the blocks, from `start` on.
    """
    near, count = blocks[0], blocks[3].size
    refused = np.full(_TRIES, -1, np.int64)
    for trial in range(_TRIES):
        best: Any = np.int64(-1)  # a plain -1 would have its own version of `_sound_with` compiled
        least = most
        for g in joined:
            cost = _cost_unless(refused, cell, g, least, classes, cells)
            if cost < least:
                best, least = g, cost
        asked[3][0] -= count + joined.size
        for turn in range(count):
            b = (start + turn) % count
            if least_cost(cell, b, least, blocks, cells) >= least:
                continue
            asked[3][0] -= BLOCK
            for place in range(b * BLOCK, min((b + 1) * BLOCK, near.size)):
                cost = _cost_unless(refused, cell, near[place], least, classes, cells)
                if cost < least:
                    best, least = near[place], cost
        if best < 0 or _sound_with(cell, best, classes, cells, asked):
            return best, least
        refused[trial] = best
    return -1, most


@inner
def _join(cell: int, g: int, classes: Any, cells: Any) -> None:
    """Put a cell into a class, at the second place."""
    owner, after, first, rows, levels, price, known, shown, lost = classes
    total = 0.0
    for c in range(cells[2].size):
        level, label, there = _price_with(cell, g, c, classes, cells)
        if there > known[g, c]:
            shown[g, c] = cell
        levels[g, c], price[g, c], known[g, c] = level, label, there
        total += label * there
    lost[g] = total
    rows[g] += cells[4][cell]
    after[cell], after[first[g]] = after[first[g]], cell
    owner[cell] = g


@inner
def _copy(g: int, classes: Any, place: int, others: Any) -> None:
    """Copy what is known of a class; its cells excepted."""
    for c in range(classes[4].shape[1]):
        others[4][place, c] = classes[4][g, c]
        others[5][place, c] = classes[5][g, c]
        others[6][place, c] = classes[6][g, c]
        others[7][place, c] = classes[7][g, c]
    others[3][place], others[8][place] = classes[3][g], classes[8][g]


@inner
def _empty(groups: int, columns: int, owner: Ints, after: Ints) -> Any:
    """Room for classes."""
    return (
        owner,
        after,
        np.full(groups, -1, np.int64),
        np.zeros(groups, np.int64),
        np.zeros((groups, columns), np.int64),
        np.zeros((groups, columns)),
        np.zeros((groups, columns), np.int64),
        np.zeros((groups, columns), np.int64),
        np.zeros(groups),
    )


@inner
def _give(
    g: int,
    kept: Ints,
    keep: int,
    given: Ints,
    give: int,
    blocks: Any,
    classes: Any,
    cells: Any,
    asked: Any,
    before: Any,
    joined: Ints,
) -> None:
    """A class keeps some cells and gives the others away, if that saves anything."""
    owner, after, first, rows, lost = classes[0], classes[1], classes[2], classes[3], classes[8]
    counts = cells[4]
    k, sensitive, present, work, _ = asked
    work[0] -= keep + give
    remain = 0
    for m in range(keep):
        remain += counts[kept[m]]
    if give == 0 or give > _MOST or (keep > 0 and remain < k):
        return
    if keep > 0 and present.size:
        present[:] = 0.0
        for m in range(keep):
            add(present, kept[m], 1.0, sensitive)
        if not sensitive_sound(present, float(remain), sensitive):
            return
    old_first, spare = first[g], lost[g]
    _copy(g, classes, give, before)
    if keep > 0:
        _measure(kept, keep, g, classes, cells)
        spare -= lost[g]
    kept_rows = rows[g]
    rows[g] = 0  # so that no cell joins it
    done, start = 0, blocks[1][g] if g < blocks[1].size else 0
    for m in range(give):
        other, cost = _cheapest(given[m], spare - 1e-9, start, joined[:m], blocks, classes, cells, asked)
        if other < 0:
            break
        _copy(other, classes, m, before)
        joined[m] = other
        _join(given[m], other, classes, cells)
        spare -= cost
        done += 1
    if done == give:
        rows[g] = kept_rows if keep > 0 else 0
        lost[g] = lost[g] if keep > 0 else 0.0
        for m in range(keep):
            after[kept[m]] = kept[m + 1] if m + 1 < keep else -1
        if keep > 0:
            widen(g, blocks, classes, cells)
        for other in joined[:give]:
            widen(other, blocks, classes, cells)
        return
    for m in range(done - 1, -1, -1):
        other, cell = joined[m], given[m]
        after[first[other]] = after[cell]
        owner[cell] = g
        _copy(m, before, other, classes)
    _copy(give, before, g, classes)
    first[g] = old_first
    # The cells of the class are chained again: those given away lost their places.
    previous = old_first
    for m in range(keep + give):
        cell = kept[m] if m < keep else given[m - keep]
        if cell != old_first:
            after[previous] = cell
            previous = cell
    after[previous] = -1


@inner
def _members(g: int, classes: Any, members: Ints) -> int:
    """The cells of a class."""
    count, cell = 0, classes[2][g]
    while cell >= 0:
        members[count] = cell
        count += 1
        cell = classes[1][cell]
    return count


@inner
def _main_part(
    members: Ints, count: int, line: int, codes: Any, counts: Ints, rows_of: Ints, kept: Ints, given: Ints
) -> tuple[int, int]:
    """The cells with the most common label of a line, and the others."""
    best = codes[members[0], line]
    for m in range(count):
        label = codes[members[m], line]
        rows_of[label] += counts[members[m]]
        if rows_of[label] > rows_of[best]:
            best = label
    keep, give = 0, 0
    for m in range(count):
        label = codes[members[m], line]
        rows_of[label] = 0
        if label == best:
            kept[keep] = members[m]
            keep += 1
        else:
            given[give] = members[m]
            give += 1
    return keep, give


@inner
def _others(members: Ints, count: int, cell: int, kept: Ints) -> int:
    """The cells of a class but one."""
    keep = 0
    for m in range(count):
        if members[m] != cell:
            kept[keep] = members[m]
            keep += 1
    return keep


@kernel
def improve(
    owner: Ints, order: Ints, near: Ints, k: int, cells: Any, sensitive: Any, shown: Ints, work: Ints
) -> Ints:
    """One round of moves: the classes in their order, dissolved or by column, then the cells.

    In the order `near` similar classes are near each other.

    `owner` is changed; the levels of the classes are returned. A suppressed cell (-1) joins a
    class where that loses less than its suppression; others in no class (-2) are not moved.
    """
    codes, loss, lines, tops, counts = cells
    size, columns, groups = owner.size, lines.size, order.size
    # The last class is that of a cell which is suppressed.
    classes = _empty(groups + 1, columns, owner, np.full(size, -1, np.int64))
    after, first, rows, levels, lost = classes[1], classes[2], classes[3], classes[4], classes[8]
    for cell in range(size):
        if owner[cell] >= 0:
            after[cell] = first[owner[cell]]
            first[owner[cell]] = cell
    members, kept = np.empty(size, np.int64), np.empty(size, np.int64)
    given = np.empty(size, np.int64)
    for g in range(groups):
        _measure(members, _members(g, classes, members), g, classes, cells)
    blocks = blocks_of(near, classes, cells)
    asked = (k, sensitive, np.zeros(places(sensitive)), work, shown)
    before, joined = _empty(_MOST + 1, columns, owner, owner), np.empty(_MOST, np.int64)
    widest = 0
    for cell in range(size):
        for line in range(codes.shape[1]):
            widest = max(widest, codes[cell, line])
    rows_of = np.zeros(widest + 1, np.int64)
    ways = columns + 1
    for turn in range(groups * ways + size):
        if work[0] <= 0:
            break
        cell = turn - groups * ways
        way = turn % ways
        g = order[turn // ways] if cell < 0 else owner[cell]
        keep, give = 0, 1
        if g < -1:
            continue
        if g < 0:
            g = groups
            given[0] = cell
            lost[g] = 0.0
            for c in range(columns):
                lost[g] += loss[cell, lines[c] + tops[c]] * counts[cell]
        elif rows[g] == 0 or lost[g] <= 0:
            continue
        elif cell >= 0:
            if rows[g] - counts[cell] < k:
                continue
            given[0] = cell
            keep = _others(members, _members(g, classes, members), cell, kept)
            give = 1 if keep else 0
        elif way == columns:
            give = _members(g, classes, given)
        elif levels[g, way] > 0:
            line = lines[way] + levels[g, way] - 1
            count = _members(g, classes, members)
            keep, give = _main_part(members, count, line, codes, counts, rows_of, kept, given)
        else:
            continue
        _give(g, kept, keep, given, give, blocks, classes, cells, asked, before, joined)
    return levels
