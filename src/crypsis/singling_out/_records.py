"""Risk of households, and the records at risk."""

from __future__ import annotations

from typing import Unpack

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from crypsis.counting.cells import Cells
from crypsis.counting.grouping import group
from crypsis.dataset import Data, Dataset, as_dataset, takes_roles
from crypsis.errors import ParameterError, RoleError, TooLargeError
from crypsis.options import Columns, Roles
from crypsis.results import Result, raw
from crypsis.singling_out._class_sizes import quasi_identifiers
from crypsis.singling_out._risk import (
    check_threshold,
    population_matches,
    units_alike,
    with_column,
)
from crypsis.tables.joins import rows_in_cells
from crypsis.tables.values import places_among

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
_MAX_RECORDS = 10_000_000
_ADDED = ("row", "class_size", "risk")


class HouseholdRisk(Result):
    """The probability that at least one member of a household is re-identified."""

    columns: tuple[str, ...]
    households: int
    threshold: float
    share_above: float
    """The share of households whose risk is above the threshold."""
    maximum: float
    average: float
    expected: float
    """The expected number of households with a re-identified member."""


@takes_roles
def household_risk(  # type: ignore[misc]
    data: Data,
    household: str | None = None,
    columns: Columns | None = None,
    *,
    threshold: float = 0.2,
    **roles: Unpack[Roles],
) -> HouseholdRisk:
    """Measure the risk of households: 1 - product over the members of (1 - risk).

    Parameters
    ----------
    data : Dataset, frame or path
        The data.
    household : str, optional
        The column that identifies the household of a record; by default that of the dataset.
    columns : str or sequence of str, optional
        The columns; by default the quasi-identifiers.
    threshold : float
        The risk above which a household counts as at risk.
    **roles
        See `crypsis.read`.

    Returns
    -------
    HouseholdRisk
        The maximum, the average, the share above the threshold and the expected number.

    Notes
    -----
    Members are assumed independent. The risk of a member is the journalist's where the population
    is known (its table, or weights), else the prosecutor's. Records without a household, or dropped
    for a missing value, are not counted.

    References
    ----------
    Templ, Kowarik & Meindl (2015), Statistical disclosure control for micro-data using the R
    package sdcMicro, section 2.5.

    Examples
    --------
    >>> import pyarrow as pa
    >>> people = pa.table({"home": [1, 1, 2], "age": [30, 41, 30]})
    >>> household_risk(people, "home", ["age"]).maximum
    1.0
    """
    dataset = as_dataset(data, **roles)
    check_threshold(threshold)
    household = household or dataset.household
    if household is None:
        raise RoleError(
            "The column of households is not set.", code="no-household", hint="Set {household}."
        )
    cells = dataset.cells(quasi_identifiers(dataset, columns))
    if household in cells.columns:
        raise RoleError(
            f"Column {household!r} identifies the household of a record; it cannot be a "
            "quasi-identifier as well.",
            code="household-is-quasi-identifier",
            columns=(household,),
        )
    matches = population_matches(dataset, cells)
    sizes = cells.class_sizes if matches is None else matches
    risk = np.where(cells.class_sizes > 0, 1 / np.maximum(sizes, 1), 0.0)
    member, homes, counts = with_column(dataset, cells, household)
    kept = (homes >= 0) & (cells.class_sizes[member] > 0)
    with np.errstate(divide="ignore"):
        safe = counts[kept] * np.log1p(-risk[member[kept]])
    names, place = np.unique(homes[kept], return_inverse=True)
    if not names.size:
        raise ParameterError(
            f"Column {household!r} has no values; there are no households.",
            code="no-households",
            columns=(household,),
        )
    total = -np.expm1(np.bincount(place, weights=safe, minlength=names.size))
    return HouseholdRisk(
        cells.columns, int(names.size), threshold, float((total > threshold).mean()),
        float(total.max()), float(total.mean()), float(total.sum()),
    )  # fmt: skip


class RecordsAtRisk(Result, eq=False):
    """The records whose prosecutor risk is above a threshold."""

    columns: tuple[str, ...]
    threshold: float
    count: int
    fraction: float
    records: pa.Table = raw()
    """Their place in the data (`row`, from 0), `class_size`, `risk`, and all columns."""


@takes_roles
def records_at_risk(
    data: Data,
    columns: Columns | None = None,
    *,
    threshold: float = 0.2,
    **roles: Unpack[Roles],
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
    dataset = as_dataset(data, **roles)
    check_threshold(threshold)
    cells = dataset.cells(quasi_identifiers(dataset, columns))
    _, sizes, _ = units_alike(dataset, cells)
    risk = np.where(sizes > 0, 1 / np.maximum(sizes, 1), 0.0)
    fetch = _fetch_rows if dataset.rows.local else _join_rows
    records = fetch(dataset, cells, sizes, risk, threshold)
    counted = int(cells.counts[sizes > 0].sum())
    share = records.num_rows / counted if counted else 0.0
    return RecordsAtRisk(cells.columns, threshold, records.num_rows, share, records)


def _fetch_rows(
    dataset: Dataset, cells: Cells, sizes: Ints, risk: Floats, threshold: float
) -> pa.Table:
    """The records at risk of a table on this machine, with their places in it."""
    table = dataset.to_arrow()
    codes = [
        np.concatenate([known, places_among(table[name], values)])
        for name, values, known in zip(cells.columns, cells.values, cells.codes, strict=True)
    ]
    first, member = group(tuple(codes), cells.domains)
    cell = first[member[len(cells) :]]
    chosen = np.flatnonzero(risk[cell] > threshold)
    chosen = chosen[np.argsort(-risk[cell[chosen]], kind="stable")]
    found = table.take(pa.array(chosen))
    added = chosen, sizes[cell[chosen]], risk[cell[chosen]]
    names = [*_ADDED, *found.column_names]
    return pa.table([*map(pa.array, added), *found.columns], names=names)


def _join_rows(
    dataset: Dataset, cells: Cells, sizes: Ints, risk: Floats, threshold: float
) -> pa.Table:
    """The records at risk of a cluster, by a join with the cells at risk; without places."""
    risky = np.flatnonzero(risk > threshold)
    keys = [v.take(pa.array(c[risky])) for v, c in zip(cells.values, cells.codes, strict=True)]
    added = {"class_size": pa.array(sizes[risky]), "class_risk": pa.array(risk[risky])}
    refusal = TooLargeError(
        f"More than {_MAX_RECORDS:,} records are above the threshold.",
        hint="Set a higher {threshold}, or generalize the columns first.",
    )
    found = rows_in_cells(dataset.rows, cells.columns, keys, added)
    table = found.fetch_bounded("records at risk", _MAX_RECORDS, refusal)
    order = pc.array_sort_indices(table.column(1).combine_chunks(), order="descending")
    names = [*_ADDED, *dataset.names]
    places = pa.nulls(table.num_rows, pa.int64())
    return pa.table([places, *table.take(order).columns], names=names)
