"""How likely a record of a release is the person of a class of another release."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crypsis.array_types import Floats, Ints
from crypsis.errors import TooLargeError
from crypsis.releases._links import Links, ReleasePair
from crypsis.releases._tables import group_of

_MAX_ENTRIES = 5_000_000
"""Pairs of a row and a class, or of two classes, that are weighed; more are refused."""
_MAX_CLASS_PAIRS = 500_000_000
"""Pairs of classes that are tested for an overlap; more are refused."""
_FITTING_ROUNDS = 60
"""Times that the weights are fitted to the sizes of the classes of both releases."""
_CLASSES_AT_ONCE = 512
"""Classes that are compared with all of the other release at a time."""


@dataclass(frozen=True, eq=False)
class Weights:
    """Sparse: for a row, a class of the other release, the probability that its person is there."""

    rows: Ints
    classes: Ints
    weights: Floats
    sure: Floats
    """The least probability that the counts of both releases allow, if they have the same people."""
    most: Floats
    """The largest."""


def weights_of(pair: ReleasePair, links: Links, absent: int) -> Weights:
    """From every row to the classes of the other release in which its person may be.

    Where a column or the order connects records, it is the class of the record connected. Else the
    number of people who are in both of two classes and have the same unchanged values is fitted to
    the counts of both releases by iterative proportional fitting, which assumes nothing else.
    `absent` people of the release are not in the other one, which lowers what is sure.

    References
    ----------
    Deming and Stephan (1940), On a Least Squares Adjustment of a Sampled Frequency Table. Fréchet
    (1940), for the bounds. Ganta, Kasiviswanathan and Smith (2008), Composition Attacks and
    Auxiliary Information in Data Privacy.
    """
    return _exact(pair, links) if links.exact else _fitted(pair, links, absent)


def _exact(pair: ReleasePair, links: Links) -> Weights:
    order = np.argsort(links.other_numbers, kind="stable")
    keys = links.other_numbers[order]
    low, high = (np.searchsorted(keys, links.numbers, side) for side in ("left", "right"))
    counts = high - low
    if counts.sum() > _MAX_ENTRIES:
        raise _too_many()
    rows = np.repeat(np.arange(links.numbers.size), counts)
    places = np.arange(rows.size) - np.repeat(np.cumsum(counts) - counts, counts)
    classes = pair.other_table.class_of[order[low[rows] + places]]
    pairs = np.unique(np.stack([rows, classes]), axis=1)
    share = np.bincount(pairs[0], minlength=links.numbers.size)[pairs[0]]
    inverse = 1.0 / share
    return Weights(pairs[0], pairs[1], inverse, inverse, inverse)


def _fitted(pair: ReleasePair, links: Links, absent: int) -> Weights:
    table, other_table = pair.table, pair.other_table
    cells, cell_of = _cells(table.class_of, links.numbers)
    theirs, _ = _cells(other_table.class_of, links.other_numbers)
    here, other_classes = _overlapping_classes(pair)
    left, right = _entries(cells, theirs, here, other_classes)
    first, second = cells[2].astype(float), theirs[2].astype(float)
    fitted = np.ones(left.size)
    for _ in range(_FITTING_ROUNDS):
        fitted *= (second / _sums(right, fitted, second.size))[right]
        fitted *= (first / _sums(left, fitted, first.size))[left]
    most = np.minimum(first[left], second[right])
    elsewhere = _sums(left, most, first.size)[left] - most
    sure = np.maximum(0.0, first[left] - elsewhere - absent)
    per_row = 1 / first[left]
    rows, entries = _by_row(cell_of, left, first.size)
    return Weights(
        rows,
        theirs[0][right][entries],
        (fitted * per_row)[entries],
        (sure * per_row)[entries],
        (most * per_row)[entries],
    )


def _cells(classes: Ints, values: Ints) -> tuple[tuple[Ints, Ints, Ints], Ints]:
    """The class, the value and the rows of each combination; the combination of each row."""
    cell_of = group_of([classes, values])
    _, first, counts = np.unique(cell_of, return_index=True, return_counts=True)
    return (classes[first], values[first], counts), cell_of


def _sums(places: Ints, values: Floats, size: int) -> Floats:
    sums = np.bincount(places, weights=values, minlength=size)
    return np.where(sums > 0, sums, 1.0)


def _overlapping_classes(pair: ReleasePair) -> tuple[Ints, Ints]:
    """All pairs of classes whose labels overlap in every common quasi-identifier."""
    table, other_table = pair.table, pair.other_table
    if table.classes * other_table.classes > _MAX_CLASS_PAIRS:
        raise _too_many()
    blocks: list[tuple[Ints, Ints]] = []
    total = 0
    for start in range(0, table.classes, _CLASSES_AT_ONCE):
        block = np.arange(start, min(start + _CLASSES_AT_ONCE, table.classes))
        fit = np.ones((block.size, other_table.classes), bool)
        for name in pair.shared:
            fit &= pair.possible[name][table.label_of[name][block]][:, other_table.label_of[name]]
        rows, columns = np.nonzero(fit)
        total += rows.size
        if total > _MAX_ENTRIES:
            raise _too_many()
        blocks.append((block[rows], columns))
    return np.concatenate([rows for rows, _ in blocks]), np.concatenate([columns for _, columns in blocks])


def _entries(
    cells: tuple[Ints, Ints, Ints], theirs: tuple[Ints, Ints, Ints], here: Ints, other_classes: Ints
) -> tuple[Ints, Ints]:
    """Pairs of cells with overlapping classes and equal values."""
    order = np.argsort(cells[0], kind="stable")
    starts = np.searchsorted(cells[0][order], here, "left")
    counts = np.searchsorted(cells[0][order], here, "right") - starts
    if counts.sum() > 4 * _MAX_ENTRIES:
        raise _too_many()
    pairs = np.repeat(np.arange(here.size), counts)
    places = np.arange(pairs.size) - np.repeat(np.cumsum(counts) - counts, counts)
    left = order[starts[pairs] + places]
    size = int(max(cells[1].max(initial=0), theirs[1].max(initial=0))) + 1
    keys = theirs[0] * size + theirs[1]
    sorted_keys = np.argsort(keys, kind="stable")
    wanted = other_classes[pairs] * size + cells[1][left]
    at = np.minimum(np.searchsorted(keys[sorted_keys], wanted), keys.size - 1)
    fit = keys[sorted_keys][at] == wanted
    return left[fit], sorted_keys[at][fit]


def _by_row(cell_of: Ints, left: Ints, cells: int) -> tuple[Ints, Ints]:
    """The entries of the cell of each row."""
    order = np.argsort(left, kind="stable")
    counts = np.bincount(left, minlength=cells)
    starts = np.cumsum(counts) - counts
    per_row = counts[cell_of]
    if per_row.sum() > 4 * _MAX_ENTRIES:
        raise _too_many()
    rows = np.repeat(np.arange(cell_of.size), per_row)
    places = np.arange(rows.size) - np.repeat(np.cumsum(per_row) - per_row, per_row)
    return rows, order[starts[cell_of[rows]] + places]


def _too_many() -> TooLargeError:
    return TooLargeError(
        "The releases have too many classes that overlap to count what they disclose together.",
        hint="Set {on} to a column that connects their records, where there is one.",
    )
