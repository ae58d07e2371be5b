"""Links between the records of a person: new pseudonyms, each for a few of them.

A release of histories keeps its people hidden only if few known records single them out. The links
are cut into pieces of at most n consecutive records of a person, or into windows of time, each with a
pseudonym of its own; the longest ones are taken on which the attack on histories meets the
requirement.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.random import Generator

from crypsis import progress
from crypsis.array_types import Ints
from crypsis.dataset import ColumnNote, Dataset
from crypsis.errors import ColumnError, RequirementsNotMetError, RoleError, TooLargeError
from crypsis.inference import history_disclosure
from crypsis.options import Role
from crypsis.protection._windows import LINKS_BY_NUMBER, ONE_LINK, WINDOWS, dated, window_codes
from crypsis.results import Estimate, Number
from crypsis.singling_out import Knowledge, unicity
from crypsis.tables import Kind, open_frame

_PIECE_LENGTHS = (50, 30, 20, 15, 12, 10, 8, 7, 6, 5, 4, 3, 2, 1)
"""Into pieces of so many records histories are cut, the longest first."""
_PSEUDONYM_DIGITS = 12
"""The digits of the random pseudonym of a piece."""


@dataclass(frozen=True)
class LinkRequirements:
    """What is required of the linked records, and how they may be linked."""

    unicity: float
    events: int = 3
    inferred: float | None = None
    """The share of sensitive values that the known records may make almost certain."""
    order: str | None = None
    """The column with the time of a record."""
    links: str | None = None
    """One pseudonym for a "person", for "pieces", or for a window of time; None: what keeps most."""


@dataclass(frozen=True)
class Cut:
    """Which records of a person share a pseudonym."""

    length: int | None = None
    """The most consecutive records; None if any number."""
    window: str | None = None
    """The window of time they are in; None if any."""

    def describe(self) -> str:
        """The same in words."""
        whose = "each person" if self.window is None else f"each person and {self.window}"
        if self.length is None:
            return f"a new pseudonym for {whose}"
        return f"a new pseudonym for at most {self.length} consecutive records of {whose}"

    @property
    def parameters(self) -> dict[str, int | str]:
        """What is published of it."""
        options: dict[str, int | str] = {} if self.length is None else {"records": self.length}
        return options if self.window is None else {**options, "window": self.window}


@dataclass(frozen=True, eq=False)
class LinkedRecords:
    """A release whose records have new pseudonyms, what it measures, and what is left of links."""

    data: Dataset
    cut: Cut
    unicity: float
    """The share of pseudonyms that the known records single out, by the upper end of its interval."""
    inferred: float | None
    """The share of sensitive values that they make almost certain, likewise; None if not required."""
    links_kept: float
    """The share of the links from a record of a person to their next one that are left."""
    records_per_pseudonym: float
    records_per_person: float


def linked(
    release: Dataset,
    original: Dataset,
    rows: Sequence[int] | None,
    link_requirements: LinkRequirements,
    random: Generator,
) -> LinkedRecords:
    """The release with the longest pieces of histories that meet the limits.

    `rows` has the original row of each record. Without a column of their time records are linked in
    the order of the original.
    """
    person = _checked(release, original, rows)
    taken = np.arange(original.count) if rows is None else np.asarray(rows, np.int64)
    search = _Search(
        release, person, *_owners(original, person, link_requirements, taken), link_requirements, random
    )
    best: LinkedRecords | None = None
    with progress.step("linking records") as step:
        for cuts in search.chains():
            if best is None or best.links_kept < 1:
                candidate = search.longest(cuts, step)
                if candidate is not None and (best is None or candidate.links_kept > best.links_kept):
                    best = candidate
    if best is not None:
        return best
    raise RequirementsNotMetError(
        search.failure,
        code="unicity-not-met",
        hint="Set {quasi_identifiers} for the columns that an intruder may know, or raise {k}.",
        requirements=("unicity",),
    )


class _Search:
    """The records of a release with their people, cut into pieces in one way after the other."""

    def __init__(
        self,
        release: Dataset,
        person: str,
        owner: Ints,
        positions: Ints,
        times: pa.Array | None,
        link_requirements: LinkRequirements,
        random: Generator,
    ) -> None:
        self.release, self.person, self.asked, self.random = (release, person, link_requirements, random)
        self.owner, self.positions, self.times = owner, positions, times
        self.table = release.to_arrow()
        self.failure = ""

    def chains(self) -> list[list[Cut]]:
        """The ways to cut that may be tried, each from the longest pieces to the shortest."""
        links = self.asked.links
        most = int(np.bincount(self.owner).max(initial=1))
        lengths = [Cut(length) for length in _PIECE_LENGTHS if length < most]
        if links == ONE_LINK:
            return [[Cut()]]
        if links is not None and links != LINKS_BY_NUMBER:
            return [[Cut(window=links), *(Cut(length.length, links) for length in lengths)]]
        chains = [[Cut(), *lengths]]
        if links is None and self.times is not None:
            chains.append([Cut(window=window) for window in WINDOWS])
        return chains

    def longest(self, cuts: Sequence[Cut], step: progress.Step) -> LinkedRecords | None:
        """The longest pieces that meet the limits, by bisection: shorter ones single out fewer."""
        best: LinkedRecords | None = None
        first, last = 0, len(cuts)
        while first < last:
            middle = (first + last) // 2 if best is not None or first else last - 1
            piece = self._pieces(cuts[middle])
            release = self._with_pieces(piece)
            singled, inferred = _worst(release, self.asked)
            step.advance()
            if singled > self.asked.unicity or _above(inferred, self.asked.inferred):
                self._note(singled, inferred)
                first = middle + 1
                continue
            last = middle
            best = LinkedRecords(release, cuts[middle], singled, inferred, *_kept(self.owner, piece))
        return best

    def _note(self, singled: float, inferred: float | None) -> None:
        """Why even the shortest pieces do not meet the limits."""
        limit = self.asked.unicity
        text = (
            f"Even records without a link to others single out {100 * singled:.1f} % of them, "
            f"required are at most {100 * limit:g} %, so the release is not returned."
        )
        if self.asked.links == ONE_LINK:
            text = (
                f"With one pseudonym for each person, known records single out {100 * singled:.1f} "
                f"% of the people, required are at most {100 * limit:g} %, so the release is not "
                "returned."
            )
        if singled <= limit and inferred is not None:
            text = (
                f"Known records make {100 * inferred:.1f} % of the sensitive values almost certain, required "
                f"are at most {100 * (self.asked.inferred or 0):g} %, so the release is not "
                "returned."
            )
        self.failure = text

    def _pieces(self, cut: Cut) -> Ints:
        """The piece of each record: consecutive records of a person, in one window of time."""
        window = np.zeros(self.owner.size, np.int64)
        if cut.window is not None and self.times is not None:
            window = window_codes(self.times, cut.window)
        by_time = np.lexsort((self.positions, window, self.owner))
        person, window = self.owner[by_time], window[by_time]
        same = (person[1:] == person[:-1]) & (window[1:] == window[:-1])
        first = np.concatenate([[True], ~same])
        start = np.flatnonzero(first)
        at = np.arange(person.size) - np.repeat(start, np.diff(np.append(start, person.size)))
        piece = np.empty(person.size, np.int64)
        cuts = first if cut.length is None else first | (at % cut.length == 0)
        piece[by_time] = np.cumsum(cuts) - 1
        return piece

    def _with_pieces(self, piece: Ints) -> Dataset:
        """The release with a column of random pseudonyms, one for each piece."""
        size = int(piece.max(initial=-1)) + 1
        drawn = self.random.choice(10**_PSEUDONYM_DIGITS, size, replace=False, shuffle=True)
        names = pa.array([f"{number:0{_PSEUDONYM_DIGITS}d}" for number in drawn.tolist()])
        rows = open_frame(self.table.append_column(self.person, names.take(pa.array(piece))))
        note = ColumnNote(override="Pseudonyms that this release was given; the key is kept apart.")
        return replace(
            self.release,
            rows=rows,
            roles={**self.release.roles, self.person: Role.INSENSITIVE},
            notes={**self.release.notes, self.person: note},
            person=self.person,
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


def _owners(
    original: Dataset, person: str, link_requirements: LinkRequirements, taken: Ints
) -> tuple[Ints, Ints, pa.Array | None]:
    """The person of each record, its place in time, and its time if that is a date.

    Records without a person are alone.
    """
    order = link_requirements.order
    names = [person] if order is None or order == person else [person, order]
    table = original.to_arrow(names).take(pa.array(taken))
    coded = table[person].combine_chunks().dictionary_encode()
    size = len(coded.dictionary)
    owner = np.array(coded.indices.fill_null(-1), np.int64)
    nobody = np.flatnonzero(owner < 0)
    owner[nobody] = size + np.arange(nobody.size)
    times = dated(original, order, link_requirements.links, table)
    if order is None:
        return owner, taken, times
    ranks = table[order].combine_chunks()
    places = np.empty(len(ranks), np.int64)
    places[np.asarray(pa.compute.sort_indices(ranks))] = np.arange(len(ranks))
    return owner, places, times


def _worst(release: Dataset, link_requirements: LinkRequirements) -> tuple[float, float | None]:
    """Unicity against the intruder who finds most, by the records, their number, their dates; and
    the sensitive values that the records make almost certain.

    The upper ends of intervals; where one of them exceeds its limit, the others are not asked.
    """
    events = link_requirements.events
    time = next(
        (
            column.name
            for column in release.rows.columns
            if column.kind in (Kind.DATE, Kind.TIME) and column.name in release.knowable
        ),
        None,
    )
    kinds = [Knowledge.SET, Knowledge.NUMBER]
    kinds += [Knowledge.ORDER, Knowledge.ENDS] if time is not None else []
    worst = 0.0
    for kind in kinds:
        try:
            measured = unicity(
                release, events=(events,), knowledge=kind, order=time if kind.ordered else None
            )
        except ColumnError:  # no column is released that an intruder may know
            return 0.0, None
        worst = max(worst, _upper(measured.at(events)))
        if worst > link_requirements.unicity:
            return worst, None
    return worst, None if link_requirements.inferred is None else inferred_share(release, events)


def inferred_share(release: Dataset, events: int) -> float | None:
    """The largest share of sensitive values that known records make almost certain; None without any."""
    try:
        return max(
            (
                _upper(history_disclosure(release, attribute, events=(events,), knowledge=kind).at(events))
                for attribute in release.sensitive
                for kind in (Knowledge.SET, Knowledge.NUMBER)
                if release.rows.column(attribute).kind is not Kind.NESTED
            ),
            default=None,
        )
    except ColumnError:  # no column is released that an intruder may know
        return None


def _upper(share: Number) -> float:
    return share.high if isinstance(share, Estimate) else float(share)


def _above(measured: float | None, limit: float | None) -> bool:
    return measured is not None and limit is not None and measured > limit


def _kept(owner: Ints, piece: Ints) -> tuple[float, float, float]:
    """The share of links that are left; the records of a pseudonym, and of a person, on average."""
    people, pieces = np.unique(owner).size, np.unique(piece).size
    links = owner.size - people
    kept = 1.0 if links == 0 else (owner.size - pieces) / links
    return float(kept), owner.size / max(1, pieces), owner.size / max(1, people)
