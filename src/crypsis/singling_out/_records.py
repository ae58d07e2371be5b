"""Risk of households, and the records that stand in too small a crowd."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from crypsis.cells import Cells
from crypsis.engine.joins import rows_in_cells
from crypsis.errors import ParameterError, RoleError, TooLarge
from crypsis.grouping import group
from crypsis.release import Release, as_release
from crypsis.results import Result, raw
from crypsis.singling_out._crowds import check_threshold, in_population, units_alike, with_column

Ints = NDArray[np.int64]
_MOST_RECORDS = 10_000_000


@dataclass(frozen=True)
class HouseholdRisk(Result):
    """The probability that at least one member of a household is found."""

    columns: tuple[str, ...]
    households: int
    threshold: float
    above: float
    highest: float
    average: float
    expected: float
    """The number of households to expect found."""


def household_risk(
    release: Any,
    household: str,
    columns: Sequence[str] | None = None,
    *,
    threshold: float = 0.2,
    **roles: Any,
) -> HouseholdRisk:
    """Risk of households: 1 - product over the members of (1 - risk), members taken as independent.

    The risk of a member is the journalist's where the population is known (its table, or weights),
    else the prosecutor's (Templ, Kowarik & Meindl 2015, section 2.5). Rows without a household, or
    dropped for a missing value, are left out.

    >>> import pyarrow as pa
    >>> people = pa.table({"home": [1, 1, 2], "age": [30, 41, 30]})
    >>> household_risk(people, "home", ["age"]).highest
    1.0
    """
    given = as_release(release, **roles)
    check_threshold(threshold)
    cells = given.cells(columns)
    if household in cells.columns:
        raise RoleError(f"{household!r} is the household; it cannot be a column others know, too.")
    matches = in_population(given, cells)
    sizes = cells.class_sizes if matches is None else matches
    risk = np.where(cells.class_sizes > 0, 1 / np.maximum(sizes, 1), 0.0)
    member, homes, counts = with_column(given, cells, household)
    kept = (homes >= 0) & (cells.class_sizes[member] > 0)
    with np.errstate(divide="ignore"):
        safe = counts[kept] * np.log1p(-risk[member[kept]])
    names, place = np.unique(homes[kept], return_inverse=True)
    total = -np.expm1(np.bincount(place, weights=safe, minlength=names.size))
    if not names.size:
        raise ParameterError(f"No row has a value in {household!r}; there are no households.")
    return HouseholdRisk(
        cells.columns, int(names.size), threshold, float((total > threshold).mean()),
        float(total.max()), float(total.mean()), float(total.sum()),
    )  # fmt: skip


@dataclass(frozen=True)
class RecordsAtRisk(Result):
    """The records that stand in too small a crowd."""

    columns: tuple[str, ...]
    threshold: float
    count: int
    fraction: float
    records: pa.Table = raw()
    """Their place in the release (`row`, from 0), their `crowd`, their `risk`, and all columns."""


def records_at_risk(
    release: Any, columns: Sequence[str] | None = None, *, threshold: float = 0.2, **roles: Any
) -> RecordsAtRisk:
    """The records whose prosecutor risk is above the threshold, riskiest first, for the owner.

    On one machine the rows are read into memory, and their places refer to the order in which the
    engine hands them over, which for files and frames is the order they have there. On Spark only
    the records at risk leave the cluster; rows have no place there, so `row` is missing.

    >>> import pyarrow as pa
    >>> found = records_at_risk(pa.table({"age": [30, 41, 30]}), ["age"], threshold=0.5)
    >>> found.count, found.records["row"].to_pylist()
    (1, [1])
    """
    given = as_release(release, **roles)
    check_threshold(threshold)
    cells = given.cells(columns)
    _, sizes = units_alike(given, cells)
    if given.rows.backend.name == "spark":
        return _by_join(given, cells, sizes, threshold)
    table = given.to_arrow()
    member = _cell_of_rows(cells, table)
    crowd = sizes[member]
    risk = np.where(crowd > 0, 1 / np.maximum(crowd, 1), 0.0)
    chosen = np.flatnonzero(risk > threshold)
    chosen = chosen[np.argsort(-risk[chosen], kind="stable")]
    shown = {"row": chosen, "crowd": crowd[chosen], "risk": risk[chosen]}
    picked = table.take(pa.array(chosen))
    records = pa.table(
        [*(pa.array(values) for values in shown.values()), *picked.columns],
        names=[*shown, *picked.column_names],
    )
    counted = int((crowd > 0).sum())
    share = chosen.size / counted if counted else 0.0
    return RecordsAtRisk(cells.columns, threshold, int(chosen.size), share, records)


def _by_join(release: Release, cells: Cells, sizes: Ints, threshold: float) -> RecordsAtRisk:
    """The cells at risk are few; their rows are found where they are."""
    risky = np.flatnonzero((sizes > 0) & (1 / np.maximum(sizes, 1) > threshold))
    places = pa.array(risky)
    keys = [
        v.take(pa.array(c)).take(places) for v, c in zip(cells.values, cells.codes, strict=True)
    ]
    crowd = sizes[risky]
    added = {"crowd_size": pa.array(crowd), "crowd_risk": pa.array(1 / np.maximum(crowd, 1))}
    found = rows_in_cells(release.rows, cells.columns, keys, added)
    refusal = TooLarge(
        f"More than {_MOST_RECORDS:,} records are above the threshold; raise it, or coarsen the "
        "columns first."
    )
    batches = found.backend.bounded(found.frame, "records at risk", _MOST_RECORDS, refusal)
    table = pa.Table.from_batches(list(batches))
    table = table.take(pc.sort_indices(table, [("crowd_risk", "descending")]))
    names = ["row", "crowd", "risk", *release.names]
    records = pa.table([pa.nulls(table.num_rows, pa.int64()), *table.columns], names=names)
    counted = int(cells.counts[sizes > 0].sum())
    share = table.num_rows / counted if counted else 0.0
    return RecordsAtRisk(cells.columns, threshold, table.num_rows, share, records)


def _cell_of_rows(cells: Cells, table: pa.Table) -> Ints:
    """The cell of each row of the release."""
    codes = []
    for name, values, known in zip(cells.columns, cells.values, cells.codes, strict=True):
        column = table[name].cast(values.type)
        if pa.types.is_floating(column.type):  # NaN counts as missing
            column = pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
        place = np.from_dlpack(pc.index_in(column, value_set=values).combine_chunks())
        codes.append(np.concatenate([known, place]))
    first, member = group(tuple(codes), cells.domains)
    return np.asarray(first[member[len(cells) :]])
