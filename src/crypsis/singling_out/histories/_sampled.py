"""Unicity of more events than can be fetched: some people, and who else has what is known of them.

People are drawn by a hash, and some events of each. Of everybody else only these events are fetched,
by a join in the engine: whether another history has all known events depends on no others.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from crypsis.counting.cells import Cells
from crypsis.counting.grouping import group_keys
from crypsis.dataset import Dataset
from crypsis.errors import TooLargeError
from crypsis.singling_out.histories.kernels import alone as kernel
from crypsis.tables import Rows
from crypsis.tables.class_samples import sample_values
from crypsis.tables.joins import rows_in_cells

Ints = NDArray[np.int64]
_PAIRS = 20_000_000
"""The most pairs of a person and a known event that are fetched."""
_FEWEST = 200
_EVENT = "crypsis event"


def drawn_shares(
    data: Dataset, columns: Sequence[str], events: Sequence[int], draws: int, seed: int
) -> tuple[list[int], int, int]:
    """For each number of events how many of the people drawn are singled out; how many were drawn,
    and how many people there are.

    Fewer people than `draws` are drawn if too many others have their events.
    """
    person = data.person or ""
    rows = data.rows.select([person, *columns])
    while True:
        people, count = sample_values(rows, person, draws, seed=seed)
        try:
            found = _Drawn(rows, person, columns, people, max(events), seed)
            return [found.alone(many) for many in events], len(people), count
        except TooLargeError:
            draws = min(draws, count) // 4
            if draws < _FEWEST:
                raise


class _Drawn:
    """The people drawn, the events known of each, and everybody who has one of these events."""

    def __init__(
        self,
        rows: Rows,
        person: str,
        columns: Sequence[str],
        people: pa.Array,
        most: int,
        seed: int,
    ) -> None:
        own = rows_in_cells(rows, [person], [people], {_EVENT: pa.array(np.zeros(len(people)))})
        names = [person, *columns]
        cells = Cells.from_table(own.cells(names), names)
        keys, _ = group_keys(cells.codes[1:], cells.domains[1:])
        _, first, event = np.unique(keys, return_index=True, return_inverse=True)
        chosen = _choices(
            cells.codes[0].astype(np.int64), event.ravel().astype(np.int64), most, seed
        )
        asked = np.unique(chosen[chosen >= 0])
        place = np.full(first.size, -1, np.int64)
        place[asked] = np.arange(asked.size)
        values = [
            cells.values[c].take(pa.array(cells.codes[c][first[asked]]))
            for c in range(1, len(names))
        ]
        number = pa.array(np.arange(asked.size, dtype=np.float64))
        others = rows_in_cells(rows, columns, values, {_EVENT: number})
        pairs = Cells.from_table(others.cells([_EVENT, person], at_most=_PAIRS), [_EVENT, person])
        self._index(pairs, cells.values[0], np.where(chosen >= 0, place[chosen], -1))

    def _index(self, pairs: Cells, people: pa.Array, chosen: Ints) -> None:
        """The histories of all who have a known event, as the kernels take them."""
        event = np.asarray(pairs.values[0].to_numpy(zero_copy_only=False))[pairs.codes[0]]
        key = event.astype(np.int64)
        owner = pairs.codes[1].astype(np.int64)
        known = owner != pairs.missing_codes[1]
        key, owner = key[known], owner[known]
        order = np.lexsort((key, owner))
        key, owner = key[order], owner[order]
        size = int(key.max(initial=-1)) + 1
        starts = np.searchsorted(owner, np.arange(int(owner.max(initial=-1)) + 2))
        by_key = np.argsort(key, kind="stable")
        first = np.searchsorted(key[by_key], np.arange(size + 1))
        nothing = np.zeros((key.size, 0))
        self.histories = (
            starts.astype(np.int64), key, nothing, nothing, nothing, owner, by_key,
            first.astype(np.int64), np.diff(starts).astype(np.int64),
        )  # fmt: skip
        there = pc.index_in(people.drop_null(), value_set=pairs.values[1])
        self.people = np.asarray(there, np.int64)[: len(chosen)]
        places = np.searchsorted(owner * size + key, self.people[:, None] * size + chosen)
        self.known = np.where(chosen >= 0, places, -1)

    def alone(self, events: int) -> int:
        """How many of the people drawn are singled out by so many of their known events."""
        return int(kernel.known_alone(self.people, self.known, events, self.histories).sum())


def _choices(person: Ints, event: Ints, most: int, seed: int) -> Ints:
    """Some events of each person in random order, a line for each; filled up with -1."""
    random = np.random.default_rng(seed)
    order = np.lexsort((random.random(person.size), person))
    person, event = person[order], event[order]
    first = np.concatenate([[True], person[1:] != person[:-1]])
    start = np.flatnonzero(first)
    place = np.arange(person.size) - np.repeat(start, np.diff(np.append(start, person.size)))
    chosen = np.full((start.size, most), -1, np.int64)
    some = place < most
    chosen[(np.cumsum(first) - 1)[some], place[some]] = event[some]
    return chosen
