"""Rows for the eyes of their owner: windows of the table, with its release beside it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from crypsis.array_types import Flags, Ints
from crypsis.counting.grouping import group
from crypsis.protection import Key
from crypsis.web.operations._notation import ValueNotation
from crypsis.web.operations._session import TableSession

_MAX_ROWS = 200_000
"""Records that the page shows: the first ones."""
_MAX_VALUES = 8_000_000
"""Values that the page shows: of a wide table fewer records."""
_MAX_TEXT_CHARACTERS = 80
"""What a longer text has beyond is not shown."""


@dataclass(eq=False)
class TableRecords:
    """The records of a table in their order, and the released record of each, if there is one."""

    before: pa.Table
    known: tuple[str, ...]
    """The quasi-identifiers."""
    notation: ValueNotation
    after: pa.Table | None = None
    place: Ints | None = None
    """For each record its row in the release; -1 where it is suppressed."""

    @cached_property
    def sizes(self) -> Ints:
        """The class size of each record."""
        return class_sizes(self.before, self.known)

    @cached_property
    def sizes_after(self) -> Ints:
        """The class size of each record in the release; 0 where it is suppressed."""
        if self.after is None or self.place is None:
            return self.sizes
        sizes = class_sizes(self.after, [n for n in self.known if n in self.after.column_names])
        return np.where(self.place < 0, 0, np.append(sizes, 0)[self.place])

    @cached_property
    def changed(self) -> dict[str, Flags]:
        """For each released column which records have another value in the release."""
        masks: dict[str, Flags] = {}
        if self.after is None or self.place is None:
            return masks
        lost = self.place < 0
        for name in self.after.column_names:
            if name in self.before.column_names:
                original_values = self._comparable(self.before, name)
                theirs = np.append(self._comparable(self.after, name), "")[self.place]
                masks[name] = ~lost & (original_values != theirs)
        return masks

    def _comparable(self, table: pa.Table, name: str) -> NDArray[Any]:
        coded = table[name].combine_chunks().dictionary_encode(null_encoding="encode")
        values = coded.dictionary.to_pylist()
        texts = ["" if value is None else self.notation.plain(name, str(value)) for value in values]
        all_texts: NDArray[Any] = np.asarray(texts, dtype=object)
        row_values: NDArray[Any] = all_texts[coded.indices.to_numpy(zero_copy_only=False)]
        return row_values

    def window(self, table: pa.Table, name: str, places: Ints) -> list[str | None]:
        """The values of some records, as the file writes them; long ones are cut."""
        values = table[name].take(pa.array(places)).to_pylist()
        texts = [None if value is None else self.notation.text(name, value) for value in values]
        return [
            text if text is None or len(text) <= _MAX_TEXT_CHARACTERS else f"{text[:_MAX_TEXT_CHARACTERS]}…"
            for text in texts
        ]

    def chosen(self, order: str, show: str, k: int) -> Ints:
        """The records that are shown, in their order."""
        sizes = self.sizes_after if order == "risk-after" else self.sizes
        keep = np.ones(self.before.num_rows, bool)
        if show == "small":
            keep = self.sizes < k
        elif show == "small-after":
            keep = (self.sizes_after < k) & (self.sizes_after > 0)
        elif show == "suppressed":
            keep = self.sizes_after == 0
        elif show == "changed":
            keep = np.zeros_like(keep)
            for changed_cells in self.changed.values():
                keep |= changed_cells
        rows = np.flatnonzero(keep)
        return rows if order == "file" else rows[np.argsort(sizes[rows], kind="stable")]


def class_sizes(table: pa.Table, names: Any) -> Ints:
    """How many records are alike in these columns, for each record; missing is a value."""
    if not names:
        return np.full(table.num_rows, table.num_rows, np.int64)
    codes, domains = [], []
    for name in names:
        coded = table[name].combine_chunks().dictionary_encode(null_encoding="encode")
        codes.append(coded.indices.to_numpy(zero_copy_only=False).astype(np.int32))
        domains.append(max(1, len(coded.dictionary)))
    _, cell = group(tuple(codes), tuple(domains))
    return np.bincount(cell)[cell].astype(np.int64)


def rows(
    session: TableSession,
    *,
    file: dict[str, Any],
    roles: dict[str, str],
    made: str | None = None,
    offset: int = 0,
    limit: int = 100,
    order: str = "file",
    show: str = "all",
    k: int = 5,
) -> dict[str, Any]:
    """A window of the records, each with its class size, and its release if one was made."""
    with session.engine:
        records = _records(session, file, roles, made)
    chosen = records.chosen(order, show, k)
    window = chosen[offset : offset + limit]
    names = records.before.column_names
    released_names = [] if records.after is None else [n for n in records.after.column_names if n in names]
    before = {name: records.window(records.before, name, window) for name in names}
    after: dict[str, list[str | None]] = {}
    if records.after is not None and records.place is not None and records.after.num_rows:
        position = np.maximum(records.place[window], 0)
        after = {name: records.window(records.after, name, position) for name in released_names}
    lost = None if records.place is None else records.place < 0
    return {
        "total": int(chosen.size),
        "records": records.before.num_rows,
        "columns": [
            {"name": n, "role": roles.get(n, "undecided"), "released": n in released_names} for n in names
        ],
        "compared": records.after is not None,
        "rows": [
            {
                "row": int(row) + 1,
                "size": int(records.sizes[row]),
                "size_after": int(records.sizes_after[row]) if lost is not None else None,
                "before": [before[name][i] for name in names],
                "after": None if lost is None or lost[row] else [after[n][i] for n in released_names],
                "changed": [
                    j
                    for j, n in enumerate(released_names)
                    if n in records.changed and records.changed[n][row]
                ],
            }
            for i, row in enumerate(window.tolist())
        ],
    }


def _records(
    session: TableSession, file: dict[str, Any], roles: dict[str, str], release_file: str | None
) -> TableRecords:
    """The records, read once for the same files and roles."""
    stamp = 0.0 if release_file is None else (session.folder / release_file).stat().st_mtime
    key = (file["path"], repr(file.get("reading")), repr(sorted(roles.items())), release_file, stamp)
    if session.records is None or session.records[0] != key:
        session.records = (key, _read(session, file, roles, release_file))
    table_records: TableRecords = session.records[1]
    return table_records


def _read(
    session: TableSession, file: dict[str, Any], roles: dict[str, str], release_file: str | None
) -> TableRecords:
    table = session.release(file, roles)
    most = min(_MAX_ROWS, _MAX_VALUES // max(1, len(table.names)))
    table_records = TableRecords(
        _plain(_first(table.rows, most)), table.quasi_identifiers, ValueNotation.of(table)
    )
    if release_file is None:
        return table_records
    form = Path(release_file).suffix[1:]
    path = str(session.folder / release_file)
    plain = session.release({"path": path, "title": release_file, "reading": {"format": form}})
    if form == "csv":  # as it is written
        types = dict.fromkeys(plain.names, "text")
        reading = {"format": form, "types": types, "missing_markers": [""]}
        plain = session.release({"path": path, "title": release_file, "reading": reading})
    after = _plain(_first(plain.rows, _MAX_ROWS))
    origin = Key.load(session.folder / "reidentification.key.json").row_map
    if origin is None:
        origin = tuple(range(after.num_rows))
    if len(origin) < after.num_rows:  # the key of a very large release has no map
        return table_records
    row_map = np.full(table_records.before.num_rows, -1, np.int64)
    source = np.asarray(origin[: after.num_rows], np.int64)
    seen = source < row_map.size
    row_map[source[seen]] = np.flatnonzero(seen)
    return replace(table_records, after=after, place=row_map)


def _first(rows: Any, most: int) -> pa.Table:
    """The first rows, in the order of the file; all where they are not too many."""
    if rows.count <= most:
        return rows.to_arrow()
    parts, size = [], 0
    for part in rows.parts("first rows"):
        parts.append(part.slice(0, most - size))
        size += parts[-1].num_rows
        if size >= most:
            break
    return pa.concat_tables(parts)


def _plain(table: pa.Table) -> pa.Table:
    """Lists and structures as texts: they have no equality."""
    for i, column in enumerate(table.schema):
        if pa.types.is_nested(column.type) or pa.types.is_binary(column.type):
            texts = [None if v is None else str(v) for v in table[i].to_pylist()]
            table = table.set_column(i, column.name, pa.chunked_array([pa.array(texts, pa.string())]))
        elif pa.types.is_floating(column.type):
            table = table.set_column(i, column.name, pc.if_else(pc.is_nan(table[i]), None, table[i]))
    return table
