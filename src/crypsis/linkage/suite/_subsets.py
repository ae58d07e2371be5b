"""Links on the columns that the masking changed least (domingo2016, Note 1)."""

from __future__ import annotations

import numpy as np

from crypsis.linkage._ranks import Floats, Ints
from crypsis.linkage.suite._candidates import alike, nearest
from crypsis.linkage.suite._fields import Field
from crypsis.linkage.suite._files import Files

_NEAREST_PLACES = 8
"""Places near each target among which the best is sought."""
_MAX_LEARNED_TARGETS = 1_500
"""Known matches of a half that the columns are chosen by."""
_MAX_CHOSEN_COLUMNS = 12
"""Columns that are linked on at most."""


def surviving(field: Field, rows: Ints, places: Ints) -> float:
    """How much a column still says of whose a record is, in nats, from true pairs.

    The mean logarithm of how much more often true pairs agree as they do than random ones.
    """
    level = field.level(rows, places)
    random = field.random_levels[places]
    counted = np.bincount(level, minlength=field.levels) + 0.5
    share = counted / counted.sum()
    return float((np.log(share[level]) - np.log(random[np.arange(len(level)), level])).mean())


def subset_links(files: Files) -> tuple[Ints, tuple[str, ...]] | None:
    """The place of each target on the columns that the other half shows to be best.

    Columns are added in the order of what survived in them; the number of columns with the most
    correct links on one half is used on the other.
    """
    if files.own is None or len(files.fields) < 2:
        return None
    partner = np.full(len(files.targets), -1, np.int64)
    used: list[str] = []
    for half in (0, 1):
        learn = files.known[files.fold[files.known] != half][:_MAX_LEARNED_TARGETS]
        test = np.flatnonzero(files.fold == half)
        if len(learn) < 20:
            return None
        rows, masked_rows = files.targets[learn], files.own[learn]
        order = np.argsort([-surviving(field, rows, masked_rows) for field in files.fields]).tolist()
        sizes = range(1, min(len(order) - 1, _MAX_CHOSEN_COLUMNS) + 1)
        right = [_correct(files, learn, order[:size]) for size in sizes]
        chosen = order[: int(np.argmax(right)) + 1]
        partner[test] = _linked(files, test, chosen)
        used += [files.fields[j].name for j in sorted(chosen)]
    return partner, tuple(dict.fromkeys(used))


def _correct(files: Files, target_subset: Ints, columns: list[int]) -> float:
    partner = _linked(files, target_subset, columns)
    assert files.own is not None  # noqa: S101 - asked by the caller
    return float(((partner == files.own[target_subset]) / files.sizes[partner]).sum())


def _linked(files: Files, target_subset: Ints, columns: list[int]) -> Ints:
    """The nearest place of some targets, one of the equally near at random."""
    x, y = alike(files, columns)
    row, released_place = nearest(x[target_subset], y, _NEAREST_PLACES, 1.0)
    rows = files.targets[target_subset][row]
    gap: Floats = np.zeros(len(row))
    for j in columns:
        gap += files.fields[j].apart(rows, released_place)
    rng = np.random.default_rng((files.seed, 23))
    order = np.lexsort((rng.random(len(row)), gap, row))
    first = order[np.searchsorted(row[order], np.arange(len(target_subset)))]
    return np.asarray(released_place[first])
