"""Whose records are released, where only the original knows it: people are counted, not records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from crypsis.columns.roles import guess, linking_columns, linking_values
from crypsis.counting.grouping import group
from crypsis.dataset import UNIT_KEYWORDS, Dataset
from crypsis.errors import InputError, TooLargeError
from crypsis.options import Role
from crypsis.policies.findings import Reason
from crypsis.report.wording import listed, plural
from crypsis.tables import open_frame

if TYPE_CHECKING:
    from crypsis.assessment._request import Request

_MEASURES_RECORDS = "what is measured counts records, and all records of a class may be of one person"


def with_units(original: Dataset, absent: Mapping[str, str]) -> Dataset:
    """The original with the people and the households that its release was made without."""
    missing: dict[str, Any] = {
        unit: column
        for unit, column in absent.items()
        if getattr(original, unit) is None and column in original.names
    }
    return replace(original, **missing) if missing else original


def with_people(request: Request) -> Dataset:
    """The release with the people, and the households, that its original has: excluded columns.

    As it is where each of them has one record, or where it is not known whose records these are.
    """
    data, original = request.data, request.original
    units = _units_of_original(request)
    if original is None or not units:
        return data
    try:
        rows = original_rows(request)
        if rows is None:
            return data
        table = data.to_arrow()
    except (InputError, TooLargeError):
        return data
    attached: dict[str, str] = {}
    for unit, column in units.items():
        values = original.to_arrow([column])[column].take(pa.array(rows))
        unit_column = getattr(data, unit)
        if unit_column is not None and _distinct(table[unit_column]) <= _distinct(values):
            continue  # the release has them itself
        attached[unit] = _free(column, table.column_names)
        table = table.append_column(attached[unit], values)
    if not attached:
        return data
    roles = {**data.roles, **dict.fromkeys(attached.values(), Role.EXCLUDED)}
    fields: dict[str, Any] = attached
    return replace(data, rows=open_frame(table), roles=roles, **fields)


def earlier_with_people(request: Request) -> tuple[Dataset, ...]:
    """The earlier releases with the people of the original, as far as their keys show them."""
    maps: Sequence[Sequence[int] | None]
    maps = request.earlier_row_maps or [None] * len(request.earlier)
    return tuple(
        with_people(
            replace(
                request, data=release, row_map=rows, on=request.on if request.on in release.names else None
            )
        )
        for release, rows in zip(request.earlier, maps, strict=True)
    )


def original_rows(request: Request) -> NDArray[np.int64] | None:
    """The original row of each released record; None where it is not known.

    That files of one length have the same order is assumed elsewhere, but people are not counted by
    it: in a release in another order, records of one person would seem to be of several.
    """
    data, original = request.data, request.original
    if original is None or (request.row_map is None and request.on is None):
        return None
    if not (data.rows.local and original.rows.local):
        return None
    from crypsis.linkage import true_matches  # loading it takes a second

    names = [] if request.on is None else [request.on]
    before, after = (_numbered(dataset, names) for dataset in (original, data))
    masked_rows = true_matches(before, after, on=request.on, row_map=request.row_map)
    if masked_rows is None:
        return None
    rows_of_release = np.full(data.count, -1, np.int64)
    rows_of_release[masked_rows[masked_rows >= 0]] = np.flatnonzero(masked_rows >= 0)
    return None if (rows_of_release < 0).any() else rows_of_release


def people_not_counted(request: Request, complete: bool) -> tuple[Reason, ...]:
    """Why records are counted, although people may have several of them.

    Of an assessment that is not `complete`, nothing more is read.
    """
    original, people = request.original, request.of_people.data
    if people.person is not None:
        return _of_nobody(people, people.person) if complete else ()
    person = _person(request)
    if person is None:
        answered = people.each_record or (original is not None and original.each_record)
        return _of_original(request, complete) if answered else ()
    if original is not None and not _repeats(original, person):
        return ()
    text = f"The people are in column {person!r}, which the release does not have: {_MEASURES_RECORDS}."
    hint = "Set {key}, or {on} to a column of record numbers in both files."
    if original is None:
        hint = "Set {original} to the file that it was made from, and {key}."
    elif request.row_map is not None or request.on is not None:
        hint = "Set {key} to that of this release: what was given does not belong to both files."
    return (Reason("people-not-counted", text, hint),)


def _of_nobody(data: Dataset, person: str) -> tuple[Reason, ...]:
    """Equivalence classes whose records all lack a person: no count of people has them."""
    names = data.quasi_identifiers
    if not names or person in names or not data.rows.tally([person]).missing:
        return ()
    try:
        cells = data.cells((*names, person))
    except (InputError, TooLargeError):
        return ()  # the classes are not counted either
    _, classes = group(cells.codes[:-1], cells.domains[:-1])
    has_person = np.bincount(classes, cells.codes[-1] != cells.missing_codes[-1])[classes] > 0
    records = int(cells.counts[~has_person].sum())
    if not records:
        return ()
    text = (
        f"{plural(records, 'record')} without a value in {person!r} {'is' if records == 1 else 'are'} in "
        "equivalence classes where no record has one: nobody is counted there."
    )
    hint = "Give them their person, or leave these records out."
    return (Reason("person-missing", text, hint),)


def _of_original(request: Request, complete: bool) -> tuple[Reason, ...]:
    """Columns that only the original has, and that identify people who have several records."""
    data, original = request.data, request.original
    if original is None or data.person_reason or original.person_reason:
        return ()
    names = [name for name in original.names if name not in data.names]
    if not names:
        return ()
    released = {name: role for name, role in data.roles.items() if name in original.names}
    without_columns = original.with_roles({**released, **dict.fromkeys(names, Role.EXCLUDED)})
    linking = linking_columns(without_columns, guess(without_columns, columns=names, seed=request.seed))
    linking = linking or (linking_values(without_columns, seed=request.seed) if complete else ())
    if not {*linking} & {*names}:
        return ()
    several = len(linking) > 1
    text = (
        f"{listed(linking)} of the original {'link' if several else 'links'} several records each, and "
        f"the release does not have {'them' if several else 'it'}: if these are people, "
        f"{_MEASURES_RECORDS}."
    )
    hint = (
        "Set {person} to that column of the original, and {key}; or write whose records these are: "
        "{note=several_people}."
    )
    return (Reason("people-not-counted", text, hint),)


def _person(request: Request) -> str | None:
    """The column of the people, where the release does not have it."""
    person_column = None if request.original is None else request.original.person
    return person_column or request.data.absent.get("person")


def _units_of_original(request: Request) -> Mapping[str, str]:
    """The people and the households of the original that have several records, by their column."""
    original = request.original
    if original is None or request.synthetic:
        return {}
    named = {unit: getattr(original, unit) for unit in UNIT_KEYWORDS}
    return {
        unit: column for unit, column in named.items() if column is not None and _repeats(original, column)
    }


def _repeats(data: Dataset, column: str) -> bool:
    """Whether a value is in several records, or that is not known."""
    if column not in data.names:
        return True
    counted = data.rows.tally([column])
    return counted.estimated or bool(counted.values < counted.rows - counted.missing)


def _numbered(data: Dataset, names: list[str]) -> pa.Table:
    """The record numbers, or as many rows of nothing."""
    if names:
        return data.to_arrow(names)
    return pa.table({"row": np.zeros(data.count, np.int8)})


def _distinct(values: pa.ChunkedArray) -> int:
    return len(values.drop_null().unique())


def _free(name: str, taken: list[str]) -> str:
    while name in taken:
        name += " of the original"
    return name
