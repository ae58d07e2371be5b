"""A recoding aimed at a use: what must stay is information, not detail.

The use is a column that is to be predicted, the association of two columns, or the distribution of
one. The loss of a label is then the information about it, in bits, that the values below the label
have and the label has not: H(T | label) - H(T | value), averaged over its values. Summed over all
records on one level of a column it is what is lost of their mutual information (Cover and Thomas
2006, the chain rule), so a search for the least loss keeps the most of it.

A small part of the loss stays that of the detail itself, so that nothing is generalized without
need. Entropies are corrected for few records (Miller 1955).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from crypsis.array_types import Floats, Ints, Levels
from crypsis.counting.cells import Cells
from crypsis.protection.recoding._levels import CellLevels, ColumnLevels
from crypsis.tables import Rows

Purpose = tuple[str, ...]
"""One column (to be predicted, or its distribution), or two (their association)."""

_DETAIL_SHARE = 0.1
"""The part of the loss that is of the detail of all columns."""
_MAX_TARGET_STATES = 50
"""A target with more values is coarsened: a number to tenths, others to their most frequent values."""
_NUMBER_STATES = 10
"""The parts of about equal size into which the values of a number are put."""


@dataclass(frozen=True, eq=False)
class Purposes:
    """For each purpose and column the bits that each label of each level loses."""

    lost: Mapping[Purpose, Mapping[int, Floats]]

    def aimed(self, cells: CellLevels) -> CellLevels:
        """The cells with these losses in place of those of detail."""
        if not self.lost:
            return cells
        losses = [_DETAIL_SHARE * column.loss for column in cells.columns]
        for by_column in self.lost.values():
            whole = sum(_of_top(cells, c, bits) for c, bits in by_column.items())
            if whole <= 0:
                continue
            share = (1 - _DETAIL_SHARE) * len(losses) / len(self.lost) * cells.counts.sum() / whole
            for c, bits in by_column.items():
                losses[c] = losses[c] + share * bits
        columns = [replace(column, loss=loss) for column, loss in zip(cells.columns, losses, strict=True)]
        return CellLevels(tuple(columns), cells.places, cells.counts)

    def preserved(self, cells: CellLevels, levels: Levels) -> dict[str, float]:
        """The share of the information for each purpose that is left on these levels."""
        shares = {}
        out = levels[:, 0] < 0
        for purpose, by_column in self.lost.items():
            lost, whole = 0.0, 0.0
            for c, bits in by_column.items():
                level = np.where(out, cells.tops[c], np.maximum(levels[:, c], 0))
                lost += float((bits[level, cells.places[c]] * cells.counts).sum())
                whole += _of_top(cells, c, bits)
            shares[" and ".join(purpose)] = 1.0 - lost / whole if whole > 0 else 1.0
        return shares


def _of_top(cells: CellLevels, c: int, bits: Floats) -> float:
    """The bits of all records that are lost if a column is suppressed."""
    return float((bits[-1, cells.places[c]] * cells.counts).sum())


def purposes_of(rows: Rows, cells: CellLevels, wanted: Sequence[Purpose]) -> Purposes:
    """The information that each label loses for each purpose, counted in these rows."""
    names = [column.name for column in cells.columns]
    losses: dict[Purpose, dict[int, Floats]] = {}
    for purpose in wanted:
        pairs: list[tuple[int, str]] = []
        if len(purpose) == 2:
            pairs = [(names.index(a), b) for a, b in (purpose, purpose[::-1]) if a in names]
        elif purpose[0] in names:
            pairs = [(names.index(purpose[0]), purpose[0])]
        else:
            pairs = [(c, purpose[0]) for c in range(len(names))]
        losses[purpose] = {c: _bits(rows, cells, c, target) for c, target in pairs}
    return Purposes(losses)


def _bits(rows: Rows, cells: CellLevels, c: int, target: str) -> Floats:
    """The bits about a column that the labels of another one lose, level by level."""
    column = cells.columns[c]
    present = np.asarray(column.loss[-1] > 0)
    if target == column.name:
        totals = np.bincount(cells.places[c], cells.counts, column.codes.shape[1])
        counts = np.diag(totals.astype(np.float64))
        corrected = False
    else:
        counts = _joint(rows, column, target)
        corrected = True
    counts = counts * present[:, None]
    lost = np.zeros(column.loss.shape)
    before = _entropy_sum(counts, corrected)
    for level in range(1, column.top + 1):
        codes = column.codes[level]
        size = int(codes.max()) + 1
        grouped = np.zeros((size, counts.shape[1]))
        np.add.at(grouped, codes, counts)
        records = grouped.sum(axis=1)
        inside = np.bincount(codes, before, size)
        bits = (_entropy_sum(grouped, corrected) - inside) / np.maximum(records, 1.0)
        # A label loses no less than those below it, so that a level is never free.
        least = np.zeros(size)
        np.maximum.at(least, codes, lost[level - 1])
        lost[level] = np.maximum(np.maximum(bits, 0.0), least)[codes]
    return np.asarray(lost * present)


def _entropy_sum(counts: Floats, corrected: bool) -> Floats:
    """The entropy of each line in bits, times its records."""
    records = counts.sum(axis=1, keepdims=True)
    shares = counts / np.maximum(records, 1.0)
    logs = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
    bits = -(counts * logs).sum(axis=1)
    if corrected:
        bits = bits + np.maximum((counts > 0).sum(axis=1) - 1, 0) / (2 * np.log(2))
    return np.asarray(bits)


def _joint(rows: Rows, column: ColumnLevels, target: str) -> Floats:
    """How many records have each value of a column and each state of the target."""
    names = [column.name, target]
    table = Cells.from_table(rows.cells(names), names)
    state = _states(table.values[1], np.bincount(table.codes[1], table.counts))
    positions = {column.labels[0][code]: position for position, code in enumerate(column.codes[0])}
    codes = np.array([positions[value] for value in table.values[0].to_pylist()], np.int64)
    counts = np.zeros((column.codes.shape[1], int(state.max(initial=0)) + 1))
    np.add.at(counts, (codes[table.codes[0]], state[table.codes[1]]), table.counts)
    return counts


def _states(values: pa.Array, counts: Ints) -> Ints:
    """The state of each value of a target: tenths of a number, the most frequent of others."""
    if len(values) <= _MAX_TARGET_STATES:
        return np.arange(len(values))
    kind = values.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_temporal(kind):
        order = np.asarray(pc.array_sort_indices(values, null_placement="at_end"))
        upto = np.cumsum(counts[order]) - counts[order]
        state = np.empty(len(values), np.int64)
        state[order] = np.minimum(_NUMBER_STATES * upto // max(1, int(counts.sum())), _NUMBER_STATES - 1)
        if values.null_count:
            state[np.asarray(values.is_null())] = _NUMBER_STATES
        return state
    rank = np.empty(len(values), np.int64)
    rank[np.argsort(-counts, kind="stable")] = np.arange(len(values))
    return np.minimum(rank, _MAX_TARGET_STATES - 1)
