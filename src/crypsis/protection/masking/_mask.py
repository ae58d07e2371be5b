"""Masks applied to the rows of a dataset: in memory, or part by part into a private file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa
from numpy.random import SeedSequence

from crypsis.dataset import Dataset
from crypsis.errors import ColumnError, RequirementsNotMetError, unknown_columns
from crypsis.options import MissingValues
from crypsis.protection.masking._fit import Make, Parts, fitted
from crypsis.protection.masking._masks import (
    LocalSuppression,
    Mask,
    Mdav,
    Microaggregate,
    ShiftDates,
    Shuffle,
    SuppressRare,
)
from crypsis.protection.recoding._columns import fits_in_memory
from crypsis.protection.recoding._rows import parts_of
from crypsis.tables import Rows
from crypsis.tables.sources import open_spilled

Masks = Mapping[tuple[str, ...], Mask]
"""The mask of each set of columns, in the order in which they are applied."""


def masked_rows(
    data: Dataset, masks: Masks, streams: Sequence[SeedSequence], keys: dict[str, str]
) -> Rows | pa.Table:
    """The rows after the masks, as a table if they are masked in memory.

    `streams` has the randomness of each mask; new pseudonym keys are added to `keys`.
    """
    masks = {names: as_compared(mask, data.missing) for names, mask in masks.items()}
    for names, mask in masks.items():
        used = columns_used(names, mask)
        if any(name not in data.names for name in used):
            raise unknown_columns(used, data.names)
        if len(set(used)) < len(used):
            raise ColumnError("A mask names a column twice.", code="column-twice", columns=used)
    if data.rows.local and not fits_in_memory(data.rows):
        return _masked_parts(data.rows, masks, streams, keys)
    return _masked_table(data.to_arrow(), masks, streams, keys)


def check_rare_values(rows: Rows, masks: Masks) -> None:
    """Raise if a value that was to be suppressed remains: counted in the masked rows."""
    last = {name: mask for names, mask in masks.items() for name in names}
    for name, mask in last.items():
        if isinstance(mask, SuppressRare):
            tally = rows.tally([name], drop_missing=True)
            if tally.distinct and tally.smallest < mask.k:
                raise RequirementsNotMetError(
                    f"Column {name!r} has a value with fewer than {mask.k} records after "
                    "suppression, so the release is not returned.",
                    columns=(name,),
                )


def as_compared(mask: Mask, missing: MissingValues) -> Mask:
    """The mask with missing values compared as the data says, unless it says so itself."""
    if not isinstance(mask, LocalSuppression) or mask.missing is not None:
        return mask
    way = "wildcard" if missing is MissingValues.WILDCARD else "value"
    return mask.model_copy(update={"missing": way})


def changed_columns(names: tuple[str, ...], mask: Mask) -> tuple[str, ...]:
    """The columns that a mask of these columns changes: its ghost variables too."""
    ghosts = mask.ghosts if isinstance(mask, LocalSuppression) else {}
    return tuple(dict.fromkeys((*names, *(ghost for more in ghosts.values() for ghost in more))))


def columns_used(names: tuple[str, ...], mask: Mask) -> tuple[str, ...]:
    """The columns that a mask of these columns reads."""
    if isinstance(mask, ShiftDates):
        return (*names, mask.person)
    if isinstance(mask, Shuffle):
        return (*names, *mask.given)
    if isinstance(mask, LocalSuppression):
        return (*names, *(ghost for more in mask.ghosts.values() for ghost in more))
    return (*names, *mask.within) if isinstance(mask, Mdav | Microaggregate) else names


def _masked_table(
    table: pa.Table, masks: Masks, streams: Sequence[SeedSequence], keys: dict[str, str]
) -> pa.Table:
    """One mask after the other, all rows as one part."""
    for (names, mask), stream in zip(masks.items(), streams, strict=True):
        now = table

        def parts(selected: Sequence[str], now: pa.Table = now) -> Iterator[pa.Table]:
            yield now.select(list(selected))

        table = fitted(mask, names, parts, stream, keys)()(table)
    return table


def _masked_parts(rows: Rows, masks: Masks, streams: Sequence[SeedSequence], keys: dict[str, str]) -> Rows:
    """Each mask fitted in a pass over the columns it needs, then all applied in one pass."""
    makers: list[Make] = []
    touched: set[str] = set()
    for (names, mask), stream in zip(masks.items(), streams, strict=True):
        before = list(makers) if touched.intersection(columns_used(names, mask)) else []
        makers.append(fitted(mask, names, _passes(rows, before), stream, keys))
        touched.update(changed_columns(names, mask))
    return open_spilled(rows.names, _passes(rows, makers)(rows.names))


def _passes(rows: Rows, makers: Sequence[Make]) -> Parts:
    def parts(selected: Sequence[str]) -> Iterator[pa.Table]:
        applied = [make() for make in makers]
        for part in parts_of(rows if makers else rows.select(selected), "masking rows"):
            for apply in applied:
                part = apply(part)
            yield part.select(list(selected))

    return parts
