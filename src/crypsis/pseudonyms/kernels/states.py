"""The states of a frontier: how many rows of each kind are still free, packed into one integer.

Columns are matched one after the other. After some of them, all that matters for the rest is how
many rows of each class (identical rows) are still free, and only for classes that are open: seen by
a column already done and by one still to come. Each class has a few bits of a 64-bit key while it
is open; classes that are never open together share them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crypsis.array_types import Flags, Ints
from crypsis.machine_code import kernel

KEY_BITS = 63


class KeyLayout(NamedTuple):
    """Where the classes live in the key, for columns done in the order given.

    `first` and `last` are the places in the order of the first and last column class that a row
    class meets; `shift` and `mask` its bits.
    """

    first: Ints
    last: Ints
    shift: Ints
    mask: Ints
    bits: int


class ColumnStep(NamedTuple):
    """One column class: who is open during it, in order of deadline, and who may be matched."""

    opening: int
    active: Ints
    waiting: Ints
    room: Ints


def key_layout(support: Flags, rows: Ints) -> KeyLayout | None:
    """Give every row class its bits, or None where more than 63 are needed at a time."""
    first = support.argmax(axis=1)
    last = support.shape[1] - 1 - support[:, ::-1].argmax(axis=1)
    widths = np.array([int(count).bit_length() for count in rows], dtype=np.int64)
    shift = np.zeros(rows.size, dtype=np.int64)
    taken: list[tuple[int, int, int]] = []  # (start bit, end bit, last column class)
    most = 0
    for row in np.argsort(first, kind="stable"):
        taken = sorted(entry for entry in taken if entry[2] >= first[row])
        start = 0
        for begin, end, _ in taken:
            if begin - start >= widths[row]:
                break
            start = max(start, end)
        shift[row] = start
        most = max(most, start + int(widths[row]))
        taken.append((start, start + int(widths[row]), int(last[row])))
    if most > KEY_BITS:
        return None
    return KeyLayout(first, last, shift, (1 << widths) - 1, most)


def column_step(position: int, support: Flags, rows: Ints, columns: Ints, plan: KeyLayout) -> ColumnStep:
    """What happens at the column class at `position` of the order."""
    opens = np.flatnonzero(plan.first == position)
    opening = sum(int(rows[row]) << int(plan.shift[row]) for row in opens)
    here = np.flatnonzero((plan.first <= position) & (position <= plan.last))
    here = here[np.argsort(plan.last[here], kind="stable")]
    until = np.cumsum(columns)
    done = until[position] - columns[position]
    active = np.flatnonzero(support[:, position])
    return ColumnStep(opening, active, here, until[plan.last[here]] - done)


@kernel
def _find(table, keys, key):  # type: ignore[no-untyped-def]
    """The slot of a key in an open-addressing table of indices into `keys` (or where it goes)."""
    size = table.size
    slot = (np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(20)
    slot_index = np.int64(slot & np.uint64(size - 1))
    while table[slot_index] >= 0 and keys[table[slot_index]] != key:
        slot_index = (slot_index + 1) & (size - 1)
    return slot_index


@kernel
def _grown(table, keys, count):  # type: ignore[no-untyped-def]
    """Twice the room."""
    wider = np.full(2 * table.size, -1, dtype=np.int32)
    more = np.empty(2 * keys.size, dtype=np.int64)
    more[:count] = keys[:count]
    for index in range(count):
        wider[_find(wider, more, more[index])] = index
    return wider, more


@kernel
def hopeless(key, waiting, room, done):  # type: ignore[no-untyped-def]
    """Whether the free rows cannot all meet their deadlines (Hall's condition for intervals)."""
    free = 0
    for k in range(room.size):
        free += (key >> waiting[k, 0]) & waiting[k, 1]
        if free > room[k] - done:
            return True
    return False


@kernel
def match_column(keys, remaining, turn_of, active, waiting, room, done, limit):  # type: ignore[no-untyped-def]
    """Match one more column in every state that has `turn_of` columns to go.

    `active` and `waiting` are arrays of (shift, mask). Returns the new keys, their columns to go,
    and for each old state and active class the index of the new state (-1 where there is none); the
    last extra place is for a state that has no column to match now and stays. No keys at all come
    back where they would be more than `limit`.
    """
    table = np.full(1 << 10, -1, dtype=np.int32)
    new_keys = np.empty(1 << 9, dtype=np.int64)
    to_go = np.empty(1 << 9, dtype=np.int32)
    moves = np.full((keys.size, active.shape[0] + 1), -1, dtype=np.int32)
    count = 0
    for state in range(keys.size):
        key = keys[state]
        stays = remaining[state] < turn_of
        for a in range(active.shape[0] + 1):
            if (a == active.shape[0]) != stays:
                continue
            new = key
            left = remaining[state]
            if not stays:
                if not (key >> active[a, 0]) & active[a, 1]:
                    continue
                new = key - (1 << active[a, 0])
                left -= 1
                if hopeless(new, waiting, room, done + 1):
                    continue
            slot_index = _find(table, new_keys, new)
            if table[slot_index] < 0:
                if count == limit:
                    return np.empty(0, dtype=np.int64), to_go[:0], moves
                if count == new_keys.size:
                    table, new_keys = _grown(table, new_keys, count)
                    wider = np.empty(new_keys.size, dtype=np.int32)
                    wider[:count] = to_go[:count]
                    to_go = wider
                    slot_index = _find(table, new_keys, new)
                table[slot_index] = count
                new_keys[count] = new
                to_go[count] = left
                count += 1
            moves[state, a] = table[slot_index]
    return new_keys[:count].copy(), to_go[:count].copy(), moves
