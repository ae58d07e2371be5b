"""Local suppression where a missing value _matches every value, as sdcMicro counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crypsis.array_types import Flags, Floats, Ints
from crypsis.errors import TooLargeError
from crypsis.machine_code import kernel

_MAX_COMPARED_VALUES = 100_000_000_000
"""Tables of which more values are compared, those of each record with all others, are refused."""


def suppressed_for_wildcards(codes: Ints, k: int, order: Sequence[int] | None = None) -> Flags:
    """Which values to remove, so that every record _matches k - 1 others.

    Parameters
    ----------
    codes : array of int, records by columns
        The value of each record in each column; -1 is missing, and _matches every value.
    k : int
        The fewest records that match each one, itself among them.
    order : sequence of int, optional
        The columns from the least important on; see `suppressed_values`.

    Returns
    -------
    array of bool, records by columns

    Notes
    -----
    One record after the other loses the fewest values with which k records match it; among these
    sets the one that helps most other records that match too few. In the end every value is given
    back that no record needs.
    """
    state = _State(codes.astype(np.int64) + 1, k)
    prices = _prices(codes, order)
    while (left := state.at_risk()).size:
        for row in left.tolist():
            if state.fewer[row]:
                state.suppress(row, prices)
    state.give_back(prices)
    return np.asarray((state.now == 0) & (codes >= 0))


def matching_records(table: Ints) -> Ints:
    """The number of records that match each, itself among them; 0 is missing."""
    lines, line, counts = np.unique(table, axis=0, return_inverse=True, return_counts=True)
    frequencies = _matches(lines.astype(np.int64), counts.astype(np.int64), np.arange(lines.shape[0]))
    return np.asarray(frequencies[line.ravel()])


def _prices(codes: Ints, order: Sequence[int] | None) -> Floats:
    """What it costs to suppress each set of columns, by its bits.

    By default the number of values, and a little less in columns with many of them; by importance
    each column more than all less important ones together.
    """
    columns = codes.shape[1]
    if order is None:
        many = np.argsort([-np.unique(column).size for column in codes.T], kind="stable")
        each = np.empty(columns)
        each[many] = 1 + 1e-6 * np.arange(columns)
    else:
        each = np.empty(columns)
        each[list(order)] = 2.0 ** np.arange(columns)
    sets = np.arange(2**columns)
    return np.asarray(sum(((sets >> c) & 1) * each[c] for c in range(columns)))


class _State:
    """The records as they are now: distinct ones with their counts, then those that were changed."""

    def __init__(self, table: Ints, k: int) -> None:
        self.now, self.k = table.copy(), k
        self.original = table
        lines, self.line, counts = np.unique(table, axis=0, return_inverse=True, return_counts=True)
        self.line = self.line.ravel().astype(np.int64)
        if 2 * lines.shape[0] * table.shape[0] * table.shape[1] > _MAX_COMPARED_VALUES:
            raise TooLargeError(
                "Local suppression with missing values that match every value compares each record "
                "with all others; these are too many.",
                hint="Set {missing=value}, or anonymize with local recoding.",
            )
        self.size = lines.shape[0]
        room = self.size + table.shape[0]
        self.lines = np.zeros((room, table.shape[1]), np.int64)
        self.lines[: self.size] = lines
        self.counts = np.zeros(room, np.int64)
        self.counts[: self.size] = counts
        self.frequency = np.zeros(room, np.int64)
        self.frequency[: self.size] = _matches(lines, counts.astype(np.int64), np.arange(self.size))

    @property
    def fewer(self) -> Flags:
        """Which records match fewer than k."""
        return np.asarray(self.frequency[self.line] < self.k)

    def at_risk(self) -> Ints:
        """The records that match fewer than k, those with the fewest first."""
        rows = np.flatnonzero(self.fewer)
        return rows[np.argsort(self.frequency[self.line[rows]], kind="stable")]

    def suppress(self, row: int, prices: Floats) -> None:
        """Remove the values of a record that cost least among those that suffice."""
        mine = self.lines[self.line[row]]
        bits, counts = self._apart(mine), self.counts[: self.size]
        records = np.bincount(bits, counts, minlength=prices.size)
        helped = np.bincount(bits, counts * (self.frequency[: self.size] < self.k), minlength=prices.size)
        reach, help_ = _below(records), _below(helped)
        enough = np.flatnonzero(reach >= self.k)
        best = enough[np.lexsort((-help_[enough], prices[enough].round(3)))[0]]
        self._change(row, np.where((best >> np.arange(mine.size)) & 1, 0, mine))

    def _change(self, row: int, new: Ints) -> None:
        """Give a record fewer values, on a line of its own, and count who _matches it now."""
        old = self.line[row]
        before, after = self._apart(self.lines[old]), self._apart(new)
        self.frequency[: self.size] += (after == 0).astype(np.int64) - (before == 0)
        self.frequency[self.size] = self.counts[: self.size][after == 0].sum()
        self.counts[old] -= 1
        self.lines[self.size], self.counts[self.size] = new, 1
        self.line[row], self.now[row] = self.size, new
        self.size += 1

    def _apart(self, row: Ints) -> Ints:
        differing = np.empty(self.size, np.int64)
        _apart(self.lines[: self.size], row, differing)
        return differing

    def give_back(self, prices: Floats) -> None:
        """Put back each removed value without which all records still match k."""
        dear = np.argsort([-prices[1 << c] for c in range(self.now.shape[1])], kind="stable")
        removed = (self.now == 0) & (self.original > 0)
        for column in dear.tolist():
            for row in np.flatnonzero(removed[:, column]).tolist():
                new = self.now[row].copy()
                new[column] = self.original[row, column]
                self._restore(row, new)

    def _restore(self, row: int, new: Ints) -> None:
        """Give a record its value back if it and all that match it by the gap still match k."""
        line = self.line[row]
        before, after = self._apart(self.lines[line]), self._apart(new)
        counts, frequency = self.counts[: self.size], self.frequency[: self.size]
        matching_count = int(counts[after == 0].sum())  # it _matches itself before and after
        lost = (before == 0) & (after != 0)
        if matching_count >= self.k and (frequency[lost & (counts > 0)] > self.k).all():
            frequency -= lost
            frequency[line] = matching_count
            self.lines[line] = self.now[row] = new


def _below(values: NDArray[Any]) -> NDArray[Any]:
    """For each set the sum over its subsets."""
    sums = values.copy()
    bit = 1
    while bit < sums.size:
        pairs = sums.reshape(-1, 2, bit)
        pairs[:, 1] += pairs[:, 0]
        bit *= 2
    return sums


@kernel
def _apart(table: Ints, row: Ints, out: Ints) -> None:
    """For each line of a table the columns in which it differs from a row, as bits; 0 is missing."""
    for i in range(table.shape[0]):
        bits = 0
        for c in range(row.size):
            if row[c] != 0 and table[i, c] != 0 and table[i, c] != row[c]:
                bits |= 1 << c
        out[i] = bits


@kernel
def _matches(table: Ints, counts: Ints, some: Ints) -> Ints:
    """The number of records that match each of some lines of a table."""
    found = np.zeros(some.size, np.int64)
    for s in range(some.size):
        total = 0
        for i in range(table.shape[0]):
            if counts[i] == 0:
                continue
            alike = True
            for c in range(table.shape[1]):
                mine, other = table[some[s], c], table[i, c]
                if mine != 0 and other != 0 and mine != other:
                    alike = False
                    break
            if alike:
                total += counts[i]
        found[s] = total
    return found
