"""Who was added, removed or changed from one release to the next: the difference is a release."""

from __future__ import annotations

import numpy as np

from crypsis.array_types import Flags, Ints
from crypsis.releases._links import Links, ReleasePair
from crypsis.releases._tables import ReleaseTable, group_of, shared_codes
from crypsis.results import Result
from crypsis.scientific import csgraph, sparse

_SAME_PEOPLE_RATIO = 0.5
"""Counts that differ by less than this share of what two samples would are of the same people."""


class Difference(Result):
    """The records in which two releases differ."""

    added: int
    removed: int
    changed: int
    small: int
    """How many of them are in classes of the difference of fewer than k people."""
    same_people: bool
    """Whether the releases are of the same people, as far as their records show."""
    exact: bool
    """Whether the records are known one by one; otherwise `small` may be higher."""

    @property
    def total(self) -> int:
        """The records added, removed and changed."""
        return self.added + self.removed + self.changed


def difference(pair: ReleasePair, links: Links, k: int) -> Difference:
    """The records of which a release and another differ, and those in small classes of them."""
    return _by_record(pair, links, k) if links.exact else _by_counts(pair, links, k)


def _by_record(pair: ReleasePair, links: Links, k: int) -> Difference:
    added, removed = (
        ~np.isin(links.numbers, links.other_numbers),
        ~np.isin(links.other_numbers, links.numbers),
    )
    _, rows, other_rows = np.intersect1d(links.numbers, links.other_numbers, return_indices=True)
    changed = rows[_changed(pair, rows, other_rows)]
    small = sum(
        _small(table.class_of[chosen], k, None if table.people is None else table.people[chosen])
        for table, chosen in ((pair.table, added), (pair.other_table, removed), (pair.table, changed))
    )
    return Difference(int(added.sum()), int(removed.sum()), int(changed.size), small, bool(rows.size), True)


def _changed(pair: ReleasePair, rows: Ints, other_rows: Ints) -> Flags:
    is_changed = ~pair.fits(rows, other_rows)
    for name in pair.table.sensitive:
        if name in pair.other_table.texts and name in pair.table.texts:
            first, second = shared_codes(pair.table.texts[name], pair.other_table.texts[name])
            is_changed |= first[rows] != second[other_rows]
    return is_changed


def _small(classes: Ints, k: int, people: Ints | None = None) -> int:
    """The rows in classes of fewer than k people, or rows."""
    _, class_of, sizes = np.unique(classes, return_inverse=True, return_counts=True)
    people_of_class = sizes
    if people is not None:
        each = np.unique(np.stack([class_of, people]), axis=1)
        people_of_class = np.bincount(each[0], minlength=sizes.size)
    return int(sizes[people_of_class < k].sum())


def _by_counts(pair: ReleasePair, links: Links, k: int) -> Difference:
    """The counts of both in the finest classes that both have, with the unchanged values."""
    coarse, one_to_one = _classes_of_both(pair)
    size = pair.table.rows
    cell_of = group_of([coarse, np.concatenate([links.numbers, links.other_numbers])])
    cells = int(cell_of.max(initial=0)) + 1
    here, other_counts = (np.bincount(part, minlength=cells) for part in (cell_of[:size], cell_of[size:]))
    class_of = np.zeros(cells, np.int64)
    class_of[cell_of] = coarse
    plus, minus = np.maximum(here - other_counts, 0), np.maximum(other_counts - here, 0)
    expected = float(np.sqrt(2 / np.pi * (here + other_counts)).sum())
    same = int(plus.sum() + minus.sum()) <= _SAME_PEOPLE_RATIO * expected
    small = sum(_small(np.repeat(class_of, part), k) for part in (plus, minus))
    nothing = not plus.any() and not minus.any() and not any(pair.incomparable)
    records = pair.table.people is None and pair.other_table.people is None  # whose they are is not known
    return Difference(
        int(plus.sum()), int(minus.sum()), 0, small, same, same and ((one_to_one and records) or nothing)
    )


def _classes_of_both(pair: ReleasePair) -> tuple[Ints, bool]:
    """The class of each row of both files in labels that both have, the finest that there are.

    Labels that overlap, and those that overlap with them, are one label. Also whether every label
    of one release is one of the other.
    """
    parts = [np.zeros(pair.table.rows + pair.other_table.rows, np.int64)]
    one_to_one = True
    for name in pair.shared:
        mask = pair.possible[name]
        rows, columns = np.nonzero(mask[_used(pair.table, name)][:, _used(pair.other_table, name)])
        rows, columns = _used(pair.table, name)[rows], _used(pair.other_table, name)[columns]
        nodes = sum(mask.shape)
        graph = sparse.coo_array((np.ones(rows.size), (rows, columns + mask.shape[0])), (nodes, nodes))
        _, part = csgraph.connected_components(graph, directed=False)
        one_to_one &= bool(np.unique(rows).size == rows.size and np.unique(columns).size == rows.size)
        here = part[: mask.shape[0]][pair.table.label_of[name]][pair.table.class_of]
        other_labels = part[mask.shape[0] :][pair.other_table.label_of[name]][pair.other_table.class_of]
        parts.append(np.concatenate([here, other_labels]).astype(np.int64))
    same_columns = pair.shared == pair.table.quasi_identifiers == pair.other_table.quasi_identifiers
    return group_of(parts), one_to_one and same_columns


def _used(table: ReleaseTable, name: str) -> Ints:
    return np.unique(table.label_of[name])
