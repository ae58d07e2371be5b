# mypy: disable-error-code="no-any-return"
"""Whether some known events of a person are in the history of nobody else.

The histories are one tuple, `histories`: (starts, key, values, low, high, owner, order, first,
records). Events `starts[p]` to `starts[p + 1]` are those of person p, in their order. An event has a
`key`, which must be equal, and `values`, one for each column with a tolerance: event f matches the
known event e if `low[e] <= values[f] <= high[e]` in all of them. `order` are all events by key and
first value, those of a key from `first[key]` on; `owner` is the person of an event and `records` the
number of records of each person.

`knows` is what the intruder knows besides the events: nothing (`SET`), their order (`ORDER`), the
number of records (`NUMBER`), or that they are the first and the last (`ENDS`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from crypsis.array_types import Flags, Floats, Ints
from crypsis.histories.kernels.knowledge import ENDS, NUMBER, ORDER
from crypsis.machine_code import kernel


@kernel
def _matches(e: int, f: int, histories: Any) -> bool:
    """Whether event f may be the known event e."""
    key, values, low, high = histories[1], histories[2], histories[3], histories[4]
    if key[e] != key[f]:
        return False
    for c in range(values.shape[1]):  # noqa: SIM110 - compiled
        if values[f, c] < low[e, c] or values[f, c] > high[e, c]:
            return False
    return True


@kernel
def candidates(e: int, histories: Any) -> tuple[int, int]:
    """The places in `order` of the events that match e in its key and its first value."""
    key, values, low, high, order, first = (
        histories[1],
        histories[2],
        histories[3],
        histories[4],
        histories[6],
        histories[7],
    )
    start, end = first[key[e]], first[key[e] + 1]
    if values.shape[1] == 0:
        return start, end
    least, most = start, end
    while least < most:
        middle = (least + most) // 2
        if values[order[middle], 0] < low[e, 0]:
            least = middle + 1
        else:
            most = middle
    begin, most = least, end
    while least < most:
        middle = (least + most) // 2
        if values[order[middle], 0] <= high[e, 0]:
            least = middle + 1
        else:
            most = middle
    return begin, least


@kernel
def _matched(known: Ints, begin: int, end: int, histories: Any) -> bool:
    """Whether each known event matches another one of these events.

    By Hall's theorem that is so if any of the known events have as many matches together.
    """
    every = 1 << known.size
    by_set = np.zeros(every, np.int64)
    several = False
    for f in range(begin, end):
        which = 0
        for i in range(known.size):
            if _matches(known[i], f, histories):
                several |= which > 0
                which |= 1 << i
        by_set[which] += 1
    for some in range(1, every):
        if not several and some & (some - 1):
            continue  # if no event matches two, each known one by itself is enough
        wanted, there = 0, 0
        for i in range(known.size):
            wanted += (some >> i) & 1
        for which in range(1, every):
            if which & some:
                there += by_set[which]
        if there < wanted:
            return False
    return True


@kernel
def has_all(q: int, known: Ints, histories: Any, knows: int, number: int) -> bool:
    """Whether the history of person q has all the known events, as the intruder knows them.

    `number` is the number of records of the person they are known of.
    """
    starts = histories[0]
    if knows == NUMBER and histories[8][q] != number:
        return False
    begin, end = starts[q], starts[q + 1]
    if end - begin < known.size:
        return False
    if knows == ORDER:
        place = begin
        for e in known:
            while place < end and not _matches(e, place, histories):
                place += 1
            if place == end:
                return False
            place += 1
        return True
    if knows == ENDS:
        if not _matches(known[0], begin, histories):
            return False
        if known.size > 1 and not _matches(known[1], end - 1, histories):
            return False
        return _matched(known[2:], begin + 1, end - 1, histories)
    return _matched(known, begin, end, histories)


@kernel
def alone(p: int, known: Ints, histories: Any, knows: int, seen: Ints, turn: int) -> bool:
    """Whether nobody but person p has the known events.

    `seen` has a place for each person; those that were compared in this turn have its number.
    """
    owner, order, records = histories[5], histories[6], histories[8]
    begin, end = candidates(known[0], histories)
    for i in range(1, known.size):
        one, other = candidates(known[i], histories)
        if other - one < end - begin:
            begin, end = one, other
    for i in range(begin, end):
        q = owner[order[i]]
        if q == p or seen[q] == turn:
            continue
        seen[q] = turn
        if has_all(q, known, histories, knows, records[p]):
            return False
    return True


@kernel
def next_choice(choice: Ints, of: int) -> bool:
    """The next choice of some of the numbers below `of`, in order; False after the last."""
    i = choice.size - 1
    while i >= 0 and choice[i] == of - choice.size + i:
        i -= 1
    if i < 0:
        return False
    choice[i] += 1
    for j in range(i + 1, choice.size):
        choice[j] = choice[j - 1] + 1
    return True


@kernel
def known_events(begin: int, size: int, choice: Ints, knows: int, known: Ints) -> None:
    """The events of a choice; the first and the last come before it where they are known."""
    fixed = known.size - choice.size
    if knows == ENDS:
        if fixed > 0:
            known[0] = begin
        if fixed > 1:
            known[1] = begin + size - 1
        for i in range(choice.size):
            known[fixed + i] = begin + 1 + choice[i]
        return
    for i in range(choice.size):
        known[i] = begin + choice[i]


@kernel
def shares_alone(people: Ints, events: int, histories: Any, knows: int) -> Floats:
    """For each of the people the share of all choices of so many events that nobody else has.

    Of a person with fewer events all are known.
    """
    starts = histories[0]
    seen = np.full(starts.size - 1, -1, np.int64)
    found = np.zeros(people.size)
    turn = 0
    for i in range(people.size):
        p = people[i]
        size = starts[p + 1] - starts[p]
        many = min(events, size)
        fixed = min(many, 2) if knows == ENDS else 0
        choice = np.arange(many - fixed)
        known = np.empty(many, np.int64)
        choices, right = 0, 0
        while True:
            known_events(starts[p], size, choice, knows, known)
            choices += 1
            right += alone(p, known, histories, knows, seen, turn)
            turn += 1
            if not next_choice(choice, size - fixed):
                break
        found[i] = right / choices
    return found


@kernel
def drawn_alone(people: Ints, choices: Ints, events: int, histories: Any, knows: int) -> Flags:
    """For each draw of a person and of events, whether nobody else has the first `events` of them.

    `choices` has a line for each draw with places of events in the history, in random order.
    """
    starts = histories[0]
    seen = np.full(starts.size - 1, -1, np.int64)
    found = np.zeros(people.size, np.bool_)
    for i in range(people.size):
        p = people[i]
        size = starts[p + 1] - starts[p]
        many = min(events, size)
        fixed = min(many, 2) if knows == ENDS else 0
        choice = np.sort(choices[i, : many - fixed])
        known = np.empty(many, np.int64)
        known_events(starts[p], size, choice, knows, known)
        found[i] = alone(p, known, histories, knows, seen, i)
    return found


@kernel
def known_alone(people: Ints, known: Ints, events: int, histories: Any, knows: int) -> Flags:
    """For each of the people whether nobody else has the first `events` of their known events.

    A line of `known` has the places of the events, filled up with -1; those of a person are in the
    order of time. Where the first and the last are known, they come first.
    """
    seen = np.full(histories[0].size - 1, -1, np.int64)
    found = np.zeros(people.size, np.bool_)
    for i in range(people.size):
        many = 0
        while many < events and known[i, many] >= 0:
            many += 1
        some = np.sort(known[i, :many]) if knows == ORDER else known[i, :many].copy()
        found[i] = alone(people[i], some, histories, knows, seen, i)
    return found


@kernel
def smallest_choices(people: Ints, events: int, histories: Any, knows: int, work: int) -> tuple[Ints, Flags]:
    """For each of the people the fewest events that nobody else has, 0 if so many are not enough.

    Second: whether all smaller choices were examined; at most `work` are, for each person.
    """
    starts = histories[0]
    seen = np.full(starts.size - 1, -1, np.int64)
    found = np.zeros(people.size, np.int64)
    proved = np.ones(people.size, np.bool_)
    turn = 0
    for i in range(people.size):
        p = people[i]
        size = starts[p + 1] - starts[p]
        left = work
        for many in range(1, min(events, size) + 1):
            fixed = min(many, 2) if knows == ENDS else 0
            choice = np.arange(many - fixed)
            known = np.empty(many, np.int64)
            while left > 0:
                known_events(starts[p], size, choice, knows, known)
                left -= 1
                turn += 1
                if alone(p, known, histories, knows, seen, turn):
                    found[i] = many
                    break
                if not next_choice(choice, size - fixed):
                    break
            else:
                proved[i] = False
            if found[i] > 0 or not proved[i]:
                break
    return found, proved
