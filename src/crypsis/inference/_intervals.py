"""Interval disclosure: classes in which a sensitive number is known approximately.

An intruder does not need the exact salary. Intervals are those that the p % rule of magnitude
tables protects (Cox 1981; Hundepool et al. 2012, section 4.2): all values from which one guess is
at most p % away; and, where a number varies little in proportion or is a date, those of a fixed
part of its spread.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from crypsis.array_types import Flags, Floats, Ints
from crypsis.inference.conditional import Joint

TOLERANCES = (0.1, 0.03)
"""How far a guess may be away from the value, as a fraction of the value."""
INTERVAL_WIDTH = 0.05
"""The width of an interval, as a fraction of the range of the middle nine tenths of the records."""
_QUANTILE_BINS = 5
"""Bins of about equal size, besides those of frequent numbers."""
_POINT_SHARE = 0.05
"""A number that so many records have is a bin of its own."""
_FAR_SHARE = 0.1
"""The part of the records that have the lowest numbers, and of those that have the highest."""


@dataclass(frozen=True, eq=False)
class Windows:
    """For each class the interval with the most records, of one width."""

    member: Ints
    """The class of each window."""
    counts: Ints
    """The records of the class in the window."""
    first: Ints
    last: Ints
    """The window is the distinct numbers from `first` up to `last`, exclusively."""
    prior: Floats
    """The share of all records with a number that are in the window."""

    def where(self, kept: Flags) -> Windows:
        """Some of the windows."""
        return Windows(
            self.member[kept], self.counts[kept], self.first[kept], self.last[kept], self.prior[kept]
        )


@dataclass(frozen=True, eq=False)
class Numbers:
    """A sensitive number in its classes: cells with a number, by class and number."""

    distinct: Floats
    totals: Ints | Floats
    """The records of each distinct number."""
    member: Ints
    place: Ints
    """The place of each cell's number in `distinct`."""
    counts: Ints
    relative: bool
    table: Joint
    entries: tuple[Ints, Ints] | None = None
    """Of people the place of each number of theirs, and their pair; by class and number."""
    """Whether a fraction of the value has a meaning: not for dates."""

    def widths(self) -> list[Ints]:
        """For each kind of window and each number, where the window that begins there ends."""
        low = self.distinct
        ends = []
        for p in TOLERANCES if self.relative else ():
            high = np.where(low >= 0, low * (1 + p) / (1 - p), low * (1 - p) / (1 + p))
            ends.append(np.searchsorted(low, high + 1e-12 * np.abs(high), side="right"))
        upto = np.cumsum(self.totals) / self.totals.sum()
        inner = low[np.searchsorted(upto, 0.95)] - low[np.searchsorted(upto, 0.05)]
        ends.append(np.searchsorted(low, low + INTERVAL_WIDTH * inner, side="right"))
        return ends

    def windows(self) -> list[Windows]:
        """The best window of each class, of each kind."""
        upto = np.concatenate([[0], np.cumsum(self.counts)])
        all_upto = np.concatenate([[0], np.cumsum(self.totals)])
        key = self.member * (self.distinct.size + 1) + self.place
        starts = np.flatnonzero(np.diff(self.member, prepend=-1))
        results = []
        for ends in self.widths():
            end = ends[self.place]
            cell = np.searchsorted(key, self.member * (self.distinct.size + 1) + end)
            counts = upto[cell] - upto[np.arange(self.member.size)]
            prior = (all_upto[end] - all_upto[self.place]) / all_upto[-1]
            if self.entries is not None:
                counts, prior = self._people_within(upto, cell, ends)
            # The most records; of equal windows the one that is rarest in all records.
            order = np.lexsort((prior, -counts, self.member))[starts]
            results.append(
                Windows(self.member[order], counts[order], self.place[order], end[order], prior[order])
            )
        return results

    def _people_within(self, upto: Ints, cell: Ints, ends: Ints) -> tuple[Ints, Floats]:
        """Who of a class has a number in the interval from each cell on, and the same of everybody."""
        from crypsis.inference.kernels.windows import weight_within  # most questions need no Numba

        assert self.entries is not None  # noqa: S101 - of people
        assert self.table.people is not None  # noqa: S101
        number_index, pair = self.entries
        part = self.table.people.part
        counts = weight_within(pair, np.ones(part.size), upto[:-1], upto[cell])
        order = np.argsort(number_index, kind="stable")
        starts = np.searchsorted(number_index[order], np.arange(self.distinct.size + 1))
        everybody = weight_within(pair[order], part, starts[:-1], starts[ends])
        known_people = part[np.unique(pair)].sum()
        return np.rint(counts).astype(np.int64), (everybody / known_people)[self.place]

    @cached_property
    def edges(self) -> Ints:
        """Where bins of about equal size begin; frequent numbers are bins of their own."""
        shares = self.totals / self.totals.sum()
        points = np.flatnonzero(shares >= _POINT_SHARE)
        zero = np.flatnonzero(self.distinct == 0)
        quantiles = np.searchsorted(np.cumsum(shares), np.arange(1, _QUANTILE_BINS) / _QUANTILE_BINS)
        edges = np.concatenate([[0], quantiles, points, points + 1, zero, zero + 1])
        return np.unique(edges[edges < self.distinct.size]).astype(np.int64)

    def bins_of(self, numbers: Floats) -> Ints:
        """The bin of each value; missing values are the last bin."""
        position = np.searchsorted(self.distinct, numbers)  # a missing value is after all others
        bin_index = np.searchsorted(self.edges, position, side="right") - 1
        return np.where(np.isnan(numbers), self.edges.size, bin_index).astype(np.int64)

    def predicted(self, windows: Windows, chances: Floats) -> Floats:
        """The probability of each window, from those of the bins in its class (a row each).

        Within a bin numbers are distributed as in all records.
        """
        upto = np.concatenate([[0], np.cumsum(self.totals)])
        ends = np.append(self.edges[1:], self.distinct.size)
        low = np.maximum(windows.first[:, None], self.edges)
        high = np.maximum(np.minimum(windows.last[:, None], ends), low)
        inside = (upto[high] - upto[low]) / (upto[ends] - upto[self.edges])
        return np.asarray((chances[:, : self.edges.size] * inside).sum(axis=1))

    def share(self, windows: Windows) -> Floats:
        """The share of all numbers that are in each window."""
        upto = np.concatenate([[0], np.cumsum(self.totals)])
        return np.asarray((upto[windows.last] - upto[windows.first]) / upto[-1])


def far_numbers(totals: Floats) -> tuple[int, int]:
    """How many of the numbers are the lowest, and from which one on they are the highest.

    `totals` are the records of each number, in ascending order; a tenth at most has either.
    """
    most = _FAR_SHARE * totals.sum()
    low, high = (np.searchsorted(np.cumsum(counts), most, "right") for counts in (totals, totals[::-1]))
    return int(low), totals.size - int(high)


def sensitive_numbers(table: Joint, numbers: Floats, relative: bool) -> Numbers:
    """The cells whose value is a number, in the order of class and number."""
    distinct, number_index = np.unique(numbers[~np.isnan(numbers)], return_inverse=True)
    of_value = np.full(numbers.size, distinct.size, np.int64)
    of_value[~np.isnan(numbers)] = number_index
    member, number_index, counts = table.having(of_value, distinct.size + 1)
    kept = number_index < distinct.size
    totals = np.bincount(of_value, table.totals, minlength=distinct.size + 1)[:-1]
    entries, people = None, table.people
    if people is None:
        totals = totals.astype(np.int64)
    else:
        number = of_value[table.codes[people.cell]]
        order = np.flatnonzero(number < distinct.size)
        keys = people.member[people.pair[order]] * distinct.size + number[order]
        order = order[np.lexsort((people.pair[order], keys))]
        both = np.stack([number[order], people.pair[order]])
        new = np.any(np.diff(both, axis=1, prepend=-1) != 0, axis=0)
        entries = (both[0, new], both[1, new])
    return Numbers(distinct, totals, member[kept], number_index[kept], counts[kept], relative, table, entries)
