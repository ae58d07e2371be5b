"""The original that was given: whether it can be the original, and whether its order was kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from crypsis.array_types import Flags, Ints
from crypsis.assessment._request import Request
from crypsis.dataset import Dataset
from crypsis.hierarchies.cover import covered
from crypsis.policies.findings import Reason
from crypsis.report.wording import named, plural
from crypsis.results import percent_text
from crypsis.tables import Kind

_COMPARED_ROWS = 20_000
"""The order is compared for so many rows, the first and the last."""
_MAX_ORIGINAL_ROWS = 2_000_000
"""An original with more rows is not compared."""
_MAX_LABELS = 400
"""A column with more released labels is not compared with the original."""
_MAX_VALUES = 5_000
"""Nor one with more original values."""
_MAX_MISFIT_SHARE = 0.1
"""Beyond this share of records that do not fit the original, it may not be the original."""
_FEW_LABELS = 50
"""Only measurements have more labels, and masked ones cover nothing of the original."""
_MAX_RUNS_PER_VALUE = 3
"""A column with so few runs of equal values, for each value, is one that the rows are sorted by."""
_MIN_ALIGNED_SHARE = 0.9
"""From this share of rows on that follow the order of the original, they are in its order."""
_MAX_CHANCE_SHARE = 0.8
"""Rows in random order may follow it less often than this part, for the order to show anything."""
_MIN_RECORDS = 50
"""The order of fewer records shows nothing."""
_SKIPPED_RECORDS = 5
"""So many more original records are skipped in sequence than were removed, to find the next released one."""
_MAX_RECORDS_AHEAD = 2_000
"""The next released record is sought among so many original ones at most."""


def about_original(request: Request) -> tuple[Reason, ...]:
    """What keeps a release from being called safe because of the original that was given."""
    original, data = request.original, request.data
    if original is None or not data.count:
        return ()
    if original.count < data.count:
        text = (
            f"The original has {plural(original.count, 'record')}, the release "
            f"{data.count:,}: it cannot be the original, so the links are not known."
        )
        return (Reason("not-the-original", text, "Set {original} to the file it was made from."),)
    if not (original.rows.local and data.rows.local) or original.count > _MAX_ORIGINAL_ROWS:
        return ()
    columns = _comparable(original, data)
    return (*_misfit(request, columns), *_kept_order(request, columns))


@dataclass(frozen=True, eq=False)
class _Column:
    """A column of both files in its rows, and which original values each released label covers."""

    name: str
    labels: Ints
    values: Ints
    covers: Flags

    @property
    def many(self) -> bool:
        """Whether there are as many labels as only measurements have: masked ones cover nothing."""
        return bool(self.covers.shape[0] > _FEW_LABELS)

    @property
    def uncovered(self) -> float:
        """The share of released values that are none of the original, nor cover one."""
        empty = np.asarray(~self.covers[:, :-1].any(axis=1))
        return float(empty[self.labels].mean())

    @property
    def sorted_by(self) -> bool:
        """Whether equal values are next to each other in the release."""
        runs = 1 + int((np.diff(self.labels) != 0).sum())
        return runs <= _MAX_RUNS_PER_VALUE * np.unique(self.labels).size


def _comparable(original: Dataset, data: Dataset) -> list[_Column]:
    """The released columns with labels that cover values of the original."""
    names = [
        name
        for name in data.released
        if name in original.names
        and data.rows.column(name).kind is not Kind.NESTED
        and original.rows.column(name).kind is not Kind.NESTED
    ]
    if not names:
        return []
    before, after = original.to_arrow(names), data.to_arrow(names)
    comparable = []
    for name in names:
        labels, values = (table[name].combine_chunks().dictionary_encode() for table in (after, before))
        few = len(labels.dictionary) <= _MAX_LABELS and len(values.dictionary) <= _MAX_VALUES
        if not few or not len(values.dictionary):
            continue
        covers = covered(labels.dictionary.to_pylist(), values.dictionary.to_pylist(), any_other=True)
        covers = np.vstack([covers, np.ones(covers.shape[1], bool)])  # a missing label covers all
        covers = np.hstack([covers, np.ones((covers.shape[0], 1), bool)])
        column = _Column(name, _codes(labels), _codes(values), covers)
        if covers[:-1, :-1].any() and not (column.many and column.uncovered > _MAX_MISFIT_SHARE):
            comparable.append(column)
    return comparable


def _codes(column: pa.DictionaryArray) -> Ints:
    return np.asarray(column.indices.fill_null(len(column.dictionary)), np.int64)


def _misfit(request: Request, columns: Sequence[_Column]) -> tuple[Reason, ...]:
    """Columns with more records of a label than the original has values that it covers.

    A column that was masked before it was recoded has, too; the key shows that it belongs together.
    """
    wrong = []
    for column in columns:
        released = np.bincount(column.labels, minlength=column.covers.shape[0])[:-1]
        value_counts = np.bincount(column.values, minlength=column.covers.shape[1])
        most = column.covers[:-1] @ value_counts
        records = released.sum()
        excess = np.maximum(released - most, 0).sum()
        misfit = records and excess > _MAX_MISFIT_SHARE * records
        if misfit and not column.many and not _corresponds(request, column):
            wrong.append(column.name)
    if not wrong:
        return ()
    text = (
        f"{named(wrong)} of the release {'has' if len(wrong) == 1 else 'have'} values, or "
        "more records of a value, that the original does not have: it may not be the original, so "
        "the links are not known."
    )
    return (Reason("not-the-original", text, "Set {original} to the file it was made from."),)


def _corresponds(request: Request, column: _Column) -> bool:
    """Whether records cover the values of their own original records, by the key, beyond chance."""
    if request.row_map is None:
        return False
    rows = np.asarray(request.row_map, np.int64)
    if rows.size != column.labels.size or rows.max(initial=-1) >= column.values.size:
        return False
    has_original = rows >= 0
    labels, values = column.labels[has_original], column.values[rows[has_original]]
    mixed = np.random.default_rng(0).permutation(values)
    share, chance = (
        float(column.covers[labels, original_values].mean()) for original_values in (values, mixed)
    )
    return share > chance + _MAX_MISFIT_SHARE


def _kept_order(request: Request, columns: Sequence[_Column]) -> tuple[Reason, ...]:
    """Rows in the order of the original: whoever knows that order knows who each of them is."""
    if request.row_map is not None:
        rows = np.asarray(request.row_map, np.int64)
        rows = rows[rows >= 0]
        up = float((np.diff(rows) > 0).mean()) if rows.size >= _MIN_RECORDS else 0.5
        share = max(up, 1 - up)
        return (_order(share),) if share >= _MIN_ALIGNED_SHARE else ()
    if not columns or columns[0].labels.size < _MIN_RECORDS:
        return ()
    free = [column for column in columns if not column.sorted_by]
    if not free:
        return ()
    keys = [column.labels for column in columns if column.sorted_by]
    records = columns[0].labels.size
    shuffled = _shuffled(keys, records)
    for order in (np.arange(records), np.arange(records)[::-1]):
        first = order[:_COMPARED_ROWS]
        kept, chance = _in_sequence(columns, first), _in_sequence(columns, shuffled[first])
        if kept >= _MIN_ALIGNED_SHARE and chance < _MAX_CHANCE_SHARE * kept:
            return (_order(kept),)
    return ()


def _order(share: float) -> Reason:
    text = (
        f"The rows are in the order of the original ({percent_text(share)} of them follow it): "
        "whoever knows that order, such as an order by name or by date, links them by position."
    )
    return Reason("kept-order", text, "Release the rows in random order; anonymizing does.")


def _shuffled(keys: Sequence[Ints], size: int) -> Ints:
    """The rows in random order within those that the release is sorted by."""
    draw = np.random.default_rng(0).permutation(size)
    if not keys:
        return draw
    table = np.stack(keys)
    starts = np.append(True, (np.diff(table, axis=1) != 0).any(axis=0))
    return draw[np.argsort(np.cumsum(starts)[draw], kind="stable")]


def _in_sequence(columns: Sequence[_Column], rows: Ints) -> float:
    """The share of the released rows that find an original, one after the other in its order."""
    labels_size = columns[0].labels.size
    labels = [column.labels[rows] for column in columns]
    values, covers = [column.values for column in columns], [column.covers for column in columns]
    ahead = min(values[0].size - labels_size + _SKIPPED_RECORDS, _MAX_RECORDS_AHEAD)
    at = matched = 0
    for j in range(rows.size):
        last = min(at + ahead, values[0].size)
        fits = np.ones(max(0, last - at), bool)
        for label, value, cover in zip(labels, values, covers, strict=True):
            fits &= cover[label[j], value[at:last]]
        if fits.any():
            at += int(np.argmax(fits)) + 1
            matched += 1
    return matched / rows.size
