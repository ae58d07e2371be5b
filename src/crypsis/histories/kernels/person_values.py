# mypy: disable-error-code="no-any-return"
"""How many of the histories that have the known events of a person have a sensitive value, too.

`histories` and `knows` are those of `alone`. Pairs of a person and a value that they have are in
the order of the values; the people with value v are `holders[first[v]:first[v + 1]]`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from crypsis.array_types import Floats, Ints
from crypsis.histories.kernels.alone import candidates, has_all, known_events, next_choice
from crypsis.histories.kernels.knowledge import ENDS
from crypsis.machine_code import kernel


@kernel
def _share(
    p: int, known: Ints, histories: Any, knows: int, seen: Ints, turn: int, marks: Ints, value: int
) -> float:
    """The share of the matching histories that have the value; that of person p is one of them."""
    owner, order, records, people = histories[5], histories[6], histories[8], marks.size
    matches, right = 1, 1
    if known.size == 0:
        for q in range(people):
            if q != p:
                matches += 1
                right += marks[q] == value
        return right / matches
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
            matches += 1
            right += marks[q] == value
    return right / matches


@kernel
def _known(p: int, choice: Ints, allowed: Ints, histories: Any, knows: int, known: Ints) -> None:
    """The events of a choice among the allowed ones of a person."""
    starts = histories[0]
    if knows == ENDS:
        known_events(starts[p], starts[p + 1] - starts[p], choice, knows, known)
        return
    for i in range(choice.size):
        known[i] = allowed[choice[i]]


@kernel
def _allowed(p: int, value: int, histories: Any, values: Ints) -> Ints:
    """The events of a person that do not have the sensitive value themselves."""
    starts = histories[0]
    found = np.empty(starts[p + 1] - starts[p], np.int64)
    size = 0
    for e in range(starts[p], starts[p + 1]):
        if values.size == 0 or values[e] != value:
            found[size] = e
            size += 1
    return found[:size]


@kernel
def counted_values(
    person: Ints,
    value: Ints,
    holders: Ints,
    first: Ints,
    values: Ints,
    events: int,
    histories: Any,
    knows: int,
    certain: float,
) -> tuple[Floats, Floats]:
    """For each pair, over all choices of so many events: how often it is nearly certain, and the
    mean of the shares.
    """
    people = histories[0].size - 1
    seen, marks = np.full(people, -1, np.int64), np.full(people, -1, np.int64)
    often, mean = np.zeros(person.size), np.zeros(person.size)
    turn, last = 0, -1
    for i in range(person.size):
        if value[i] != last:
            last = value[i]
            for j in range(first[last], first[last + 1]):
                marks[holders[j]] = last
        p = person[i]
        allowed = _allowed(p, last, histories, values)
        many = min(events, allowed.size)
        fixed = min(many, 2) if knows == ENDS else 0
        choice = np.arange(many - fixed)
        known = np.empty(many, np.int64)
        choices = 0
        while True:
            _known(p, choice, allowed, histories, knows, known)
            share = _share(p, known, histories, knows, seen, turn, marks, last)
            choices += 1
            turn += 1
            often[i] += share >= certain
            mean[i] += share
            if not next_choice(choice, allowed.size - fixed):
                break
        often[i] /= choices
        mean[i] /= choices
    return often, mean


@kernel
def drawn_values(
    person: Ints,
    value: Ints,
    holders: Ints,
    first: Ints,
    values: Ints,
    events: int,
    histories: Any,
    knows: int,
    ranks: Floats,
) -> Floats:
    """For each pair that was drawn the share of the matching histories that have it.

    `ranks` has a line of random numbers for each draw, which choose the events.
    """
    people = histories[0].size - 1
    seen, marks = np.full(people, -1, np.int64), np.full(people, -1, np.int64)
    found = np.zeros(person.size)
    last = -1
    for i in range(person.size):
        if value[i] != last:
            last = value[i]
            for j in range(first[last], first[last + 1]):
                marks[holders[j]] = last
        p = person[i]
        allowed = _allowed(p, last, histories, values)
        many = min(events, allowed.size)
        fixed = min(many, 2) if knows == ENDS else 0
        places = np.arange(allowed.size - fixed)
        for j in range(many - fixed):  # the beginning of a random permutation
            other = j + int(ranks[i, j] * (places.size - j))
            places[j], places[other] = places[other], places[j]
        known = np.empty(many, np.int64)
        _known(p, np.sort(places[: many - fixed]), allowed, histories, knows, known)
        found[i] = _share(p, known, histories, knows, seen, i, marks, last)
    return found
