"""Links between the records of a person: new pseudonyms, each for a few of them.

A release of histories keeps its people hidden only if few known records single them out. The links
are cut into pieces of at most n consecutive records of a person, each with a pseudonym of its own;
the longest pieces are taken on which the attack on histories meets the requirement.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.random import Generator
from numpy.typing import NDArray

from crypsis import progress
from crypsis.dataset import ColumnNote, Dataset
from crypsis.errors import ColumnError, RequirementsNotMetError, RoleError, TooLargeError
from crypsis.options import Role
from crypsis.results import Estimate
from crypsis.singling_out import Knowledge, unicity
from crypsis.tables import Kind, open_frame

Ints = NDArray[np.int64]
_LENGTHS = (50, 30, 20, 15, 12, 10, 8, 7, 6, 5, 4, 3, 2, 1)
_DIGITS = 12


@dataclass(frozen=True, eq=False)
class LinkedRecords:
    """A release whose records have new pseudonyms, what it measures, and what is left of links."""

    data: Dataset
    length: int | None
    """The most records that share a pseudonym; None if all records of a person do."""
    unicity: float
    """The share of pseudonyms that the known records single out, by the upper end of its interval."""
    links_kept: float
    """The share of the links from a record of a person to their next one that are left."""
    records_per_pseudonym: float


def linked(
    release: Dataset,
    original: Dataset,
    rows: Sequence[int] | None,
    *,
    limit: float,
    events: int,
    order: str | None,
    random: Generator,
) -> LinkedRecords:
    """The release with the longest pieces of histories that meet the limit on unicity.

    `rows` has the original row of each record, `order` is the column of the original with the time
    of a record; without it records are linked in the order of the original.
    """
    person = _checked(release, original, rows)
    table = release.to_arrow()
    taken = np.arange(original.count) if rows is None else np.asarray(rows, np.int64)
    owner, place = _owners(original, person, order, taken)
    most = int(np.bincount(owner).max(initial=1))
    lengths = [most, *(length for length in _LENGTHS if length < most)]
    best: LinkedRecords | None = None
    first, last = 0, len(lengths)  # pieces are tried by bisection: shorter ones single out fewer
    with progress.step("linking records") as step:
        while first < last:
            middle = (first + last) // 2 if best is not None or first else last - 1
            piece = _pieces(owner, place, lengths[middle])
            made = _with_pieces(release, table, person, piece, random)
            found = _worst(made, events, limit)
            step.advance()
            if found > limit:
                first = middle + 1
                continue
            last = middle
            length = None if middle == 0 else lengths[middle]
            best = LinkedRecords(made, length, found, *_kept(owner, piece))
    if best is not None:
        return best
    raise RequirementsNotMetError(
        f"Even records without a link to others single out {100 * found:.1f} % of them, "
        f"required are at most {100 * limit:g} %, so the release is not returned.",
        code="unicity-not-met",
        hint="Set {quasi_identifiers} for the columns that an intruder may know, or a larger {k}.",
        requirements=("unicity",),
    )


def _checked(release: Dataset, original: Dataset, rows: Sequence[int] | None) -> str:
    """The column of the person; an error if records cannot be linked here."""
    if original.person is None:
        raise RoleError(
            "Unicity is required of the records of one person, and whose they are is not known.",
            code="no-person",
            hint="Set {person}.",
        )
    if original.person in release.names:
        raise RoleError(
            f"Column {original.person!r} would be released beside new pseudonyms of its people.",
            code="person-released",
            columns=(original.person,),
            hint="Set {identifiers} for it.",
        )
    if not original.rows.local or (rows is not None and not len(rows) and release.count):
        raise TooLargeError(
            "New pseudonyms of linked records are given in memory only, and there are too many.",
            code="too-many-rows",
        )
    return original.person


def _owners(original: Dataset, person: str, order: str | None, taken: Ints) -> tuple[Ints, Ints]:
    """The person of each record, and its place in time; records without one are alone."""
    names = [person] if order is None or order == person else [person, order]
    table = original.to_arrow(names).take(pa.array(taken))
    coded = table[person].combine_chunks().dictionary_encode()
    size = len(coded.dictionary)
    owner = np.array(coded.indices.fill_null(-1), np.int64)
    nobody = np.flatnonzero(owner < 0)
    owner[nobody] = size + np.arange(nobody.size)
    if order is None:
        return owner, taken
    ranks = table[order].combine_chunks()
    places = np.empty(len(ranks), np.int64)
    places[np.asarray(pa.compute.sort_indices(ranks))] = np.arange(len(ranks))
    return owner, places


def _pieces(owner: Ints, place: Ints, length: int) -> Ints:
    """The piece of each record: so many consecutive records of a person."""
    by_time = np.lexsort((place, owner))
    person = owner[by_time]
    first = np.concatenate([[True], person[1:] != person[:-1]])
    start = np.flatnonzero(first)
    at = np.arange(person.size) - np.repeat(start, np.diff(np.append(start, person.size)))
    piece = np.empty(person.size, np.int64)
    piece[by_time] = np.cumsum(first | (at % length == 0)) - 1
    return piece


def _with_pieces(
    release: Dataset, table: pa.Table, person: str, piece: Ints, random: Generator
) -> Dataset:
    """The release with a column of random pseudonyms, one for each piece."""
    drawn = random.choice(10**_DIGITS, int(piece.max(initial=-1)) + 1, replace=False, shuffle=True)
    names = pa.array([f"{number:0{_DIGITS}d}" for number in drawn.tolist()])
    rows = open_frame(table.append_column(person, names.take(pa.array(piece))))
    note = ColumnNote(override="Pseudonyms that this release was given; the key is kept apart.")
    return replace(
        release, rows=rows, roles={**release.roles, person: Role.INSENSITIVE},
        notes={**release.notes, person: note}, person=person, given=None, _cells={},
    )  # fmt: skip


def _worst(release: Dataset, events: int, limit: float) -> float:
    """The unicity against the intruder who finds most: by the records, their number, their dates.

    The upper end of its interval; where one of them exceeds the limit, the others are not asked.
    """
    time = next(
        (one.name for one in release.rows.columns
         if one.kind in (Kind.DATE, Kind.TIME) and one.name in release.knowable), None,
    )  # fmt: skip
    kinds = [Knowledge.SET, Knowledge.NUMBER]
    kinds += [Knowledge.ORDER, Knowledge.ENDS] if time is not None else []
    worst = 0.0
    for kind in kinds:
        try:
            found = unicity(
                release, events=(events,), knowledge=kind, order=time if kind.ordered else None
            ).at(events)
        except ColumnError:  # no column is released that an intruder may know
            return 0.0
        worst = max(worst, found.high if isinstance(found, Estimate) else float(found))
        if worst > limit:
            break
    return worst


def _kept(owner: Ints, piece: Ints) -> tuple[float, float]:
    """The share of links that are left, and the records that share a pseudonym on average."""
    people, pieces = np.unique(owner).size, np.unique(piece).size
    links = owner.size - people
    kept = 1.0 if links == 0 else (owner.size - pieces) / links
    return float(kept), owner.size / max(1, pieces)
