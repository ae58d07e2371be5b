"""The records at risk, and the risk of every record."""

from __future__ import annotations

from typing import Unpack

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from crypsis.array_types import Floats, Ints
from crypsis.counting.cells import Cells
from crypsis.counting.grouping import group
from crypsis.dataset import SAMPLE, Data, Dataset, as_seen, takes_roles
from crypsis.errors import TooLargeError
from crypsis.options import Columns, Roles
from crypsis.results import Result, raw
from crypsis.singling_out._class_sizes import quasi_identifiers
from crypsis.singling_out._risk import check_threshold, units_alike
from crypsis.tables.joins import rows_in_cells
from crypsis.tables.values import places_among

_MAX_RECORDS = 10_000_000
"""Records above the threshold that are fetched; more are refused."""
_ADDED = ("row", "class_size", "risk")


class RecordsAtRisk(Result, eq=False):
    """The records whose prosecutor risk is above a threshold."""

    columns: tuple[str, ...]
    threshold: float
    count: int
    fraction: float
    records: pa.Table = raw()
    """Their place in the data (`row`, from 0), `class_size`, `risk`, and all columns."""


@takes_roles(without=SAMPLE)
def records_at_risk(
    data: Data, columns: Columns | None = None, *, threshold: float = 0.2, **roles: Unpack[Roles]
) -> RecordsAtRisk:
    """List the records whose prosecutor risk is above a threshold, the highest risk first.

    Parameters
    ----------
    data : Dataset, frame or path
        The data.
    columns : str or sequence of str, optional
        The columns; by default the quasi-identifiers.
    threshold : float
        The risk above which a record is listed.
    **roles
        See `crypsis.read`.

    Returns
    -------
    RecordsAtRisk
        The number of records, their share, and the records themselves (data values).

    Notes
    -----
    On one machine the rows are read into memory, and `row` is their place in the file or frame. On
    a cluster only the records at risk are fetched; rows have no place there, so `row` is missing.

    Examples
    --------
    >>> import pyarrow as pa
    >>> found = records_at_risk(pa.table({"age": [30, 41, 30]}), ["age"], threshold=0.5)
    >>> found.count, found.records["row"].to_pylist()
    (1, [1])
    """
    dataset = as_seen(data, columns, **roles)
    check_threshold(threshold)
    cells = dataset.cells(quasi_identifiers(dataset, columns))
    _, sizes, _ = units_alike(dataset, cells)
    risk = np.where(sizes > 0, 1 / np.maximum(sizes, 1), 0.0)
    fetch = _fetch_rows if dataset.rows.local else _join_rows
    records = fetch(dataset, cells, sizes, risk, threshold)
    counted = int(cells.counts[sizes > 0].sum())
    share = records.num_rows / counted if counted else 0.0
    return RecordsAtRisk(cells.columns, threshold, records.num_rows, share, records)


def _fetch_rows(dataset: Dataset, cells: Cells, sizes: Ints, risk: Floats, threshold: float) -> pa.Table:
    """The records at risk of a table on this machine, with their places in it."""
    table = dataset.to_arrow()
    cell = row_cells(table, cells)
    chosen = np.flatnonzero(risk[cell] > threshold)
    chosen = chosen[np.argsort(-risk[cell[chosen]], kind="stable")]
    rows = table.take(pa.array(chosen))
    added = chosen, sizes[cell[chosen]], risk[cell[chosen]]
    names = [*_ADDED, *rows.column_names]
    return pa.table([*map(pa.array, added), *rows.columns], names=names)


def row_cells(table: pa.Table, cells: Cells) -> Ints:
    """The cell of each row of a table."""
    codes = [
        np.concatenate([code, places_among(table[name], values)])
        for name, values, code in zip(cells.columns, cells.values, cells.codes, strict=True)
    ]
    first, member = group(tuple(codes), cells.domains)
    return np.asarray(first[member[len(cells) :]], np.int64)


def _join_rows(dataset: Dataset, cells: Cells, sizes: Ints, risk: Floats, threshold: float) -> pa.Table:
    """The records at risk of a cluster, by a join with the cells at risk; without places."""
    risky = np.flatnonzero(risk > threshold)
    keys = [v.take(pa.array(c[risky])) for v, c in zip(cells.values, cells.codes, strict=True)]
    added = {"class_size": pa.array(sizes[risky]), "class_risk": pa.array(risk[risky])}
    refusal = TooLargeError(
        f"More than {_MAX_RECORDS:,} records are above the threshold.",
        hint="Raise {threshold}, or generalize the columns first.",
    )
    joined = rows_in_cells(dataset.rows, cells.columns, keys, added)
    table = joined.fetch_bounded("records at risk", _MAX_RECORDS, refusal)
    order = pc.array_sort_indices(table.column(1).combine_chunks(), order="descending")
    names = [*_ADDED, *dataset.names]
    places = pa.nulls(table.num_rows, pa.int64())
    return pa.table([places, *table.take(order).columns], names=names)
