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

_ROWS, _MOST_ROWS = 20_000, 2_000_000
"""The order is compared for the first rows, and only of tables that are not larger."""
_LABELS, _VALUES = 400, 5_000
_MISFIT, _FEW = 0.1, 50
_GROUPED = 3
"""A column with so few runs of equal values, for each value, is one that the rows are sorted by."""
_ALIGNED, _BY_CHANCE, _FEWEST = 0.9, 0.8, 50
_AHEAD, _FARTHEST = 5, 2_000


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
    if not (original.rows.local and data.rows.local) or original.count > _MOST_ROWS:
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
        return bool(self.covers.shape[0] > _FEW)

    @property
    def uncovered(self) -> float:
        """The share of released values that are none of the original, nor cover one."""
        empty = np.asarray(~self.covers[:, :-1].any(axis=1))
        return float(empty[self.labels].mean())

    @property
    def sorted_by(self) -> bool:
        """Whether equal values are next to each other in the release."""
        runs = 1 + int((np.diff(self.labels) != 0).sum())
        return runs <= _GROUPED * np.unique(self.labels).size


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
        few = len(labels.dictionary) <= _LABELS and len(values.dictionary) <= _VALUES
        if not few or not len(values.dictionary):
            continue
        covers = covered(labels.dictionary.to_pylist(), values.dictionary.to_pylist(), any_other=True)
        covers = np.vstack([covers, np.ones(covers.shape[1], bool)])  # a missing label covers all
        covers = np.hstack([covers, np.ones((covers.shape[0], 1), bool)])
        column = _Column(name, _codes(labels), _codes(values), covers)
        if covers[:-1, :-1].any() and not (column.many and column.uncovered > _MISFIT):
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
        if records and excess > _MISFIT * records and not column.many and not _corresponds(request, column):
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
    return share > chance + _MISFIT


def _kept_order(request: Request, columns: Sequence[_Column]) -> tuple[Reason, ...]:
    """Rows in the order of the original: whoever knows that order knows who each of them is."""
    if request.row_map is not None:
        rows = np.asarray(request.row_map, np.int64)
        rows = rows[rows >= 0]
        up = float((np.diff(rows) > 0).mean()) if rows.size >= _FEWEST else 0.5
        share = max(up, 1 - up)
        return (_order(share),) if share >= _ALIGNED else ()
    if not columns or columns[0].labels.size < _FEWEST:
        return ()
    free = [column for column in columns if not column.sorted_by]
    if not free:
        return ()
    keys = [column.labels for column in columns if column.sorted_by]
    records = columns[0].labels.size
    shuffled = _shuffled(keys, records)
    for order in (np.arange(records), np.arange(records)[::-1]):
        first = order[:_ROWS]
        kept, chance = _in_sequence(columns, first), _in_sequence(columns, shuffled[first])
        if kept >= _ALIGNED and chance < _BY_CHANCE * kept:
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
    ahead = min(values[0].size - labels_size + _AHEAD, _FARTHEST)
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
