"""What an intruder could use and no measure covers: it keeps a release from being called safe."""

from __future__ import annotations

from collections.abc import Mapping

from crypsis.assessment._people import people_not_counted
from crypsis.assessment._questions._histories import (
    HISTORIES,
    IN_ROWS,
    UNICITY,
    linking_units,
)
from crypsis.assessment._request import Request
from crypsis.columns.roles import copies, linking_values, panel
from crypsis.columns.row_order import neighbors_alike
from crypsis.policies.findings import Reason
from crypsis.report.wording import listed, named, plural
from crypsis.results import Result, number_text, percent_text
from crypsis.singling_out import HistoryClasses, Unicity
from crypsis.tables import Kind

_FIRST_ROWS = 20_000
"""Of so many rows the order is looked at."""


def unmeasured(
    request: Request, results: Mapping[str, Result], complete: bool
) -> tuple[Reason, ...]:
    """Records that a released column links beyond what was measured (`results` of singling out),
    columns that may do so, and columns compared with nothing.

    Of an assessment that is not `complete`, nothing more is read.
    """
    return (
        *people_not_counted(request, complete),
        *_undecided_persons(request.of_people, complete),
        *_linked_records(request, results),
        *columns_not_compared(request),
    )


def _undecided_persons(request: Request, complete: bool) -> tuple[Reason, ...]:
    """Identifiers that repeat while nobody decided whose records these are."""
    named = tuple(
        Reason(
            "person-undecided",
            f"Column {one.column!r} repeats: if it identifies people, there are "
            f"{number_text(one.distinct, ',')} people in {request.data.count:,} records, and what is "
            "measured counts records.",
            "Set {person} (or {household}) to it, or write whose it is: {note=several_people}.",
        )
        for one in request.columns
        if one.links
    )
    key = () if named or not complete else linking_values(request.data, seed=request.seed)
    if not key:
        return named or (
            (*_copied(request), *_waves(request), *_together(request)) if complete else ()
        )
    people = int(request.data.rows.tally(key).values)
    text = (
        f"{listed(key)} {'divides' if len(key) == 1 else 'together divide'} the records into "
        f"{people:,} groups, each with the same quasi-identifiers in all of its records: if these are "
        "people, they have several records, and what is measured counts records."
    )
    hint = (
        "Set {person} (or {household}) to the column, or to one made of both, or write whose records "
        "these are: {note=several_people}."
    )
    return (Reason("person-undecided", text, hint),)


def _waves(request: Request) -> tuple[Reason, ...]:
    """A column that links the records of a person in several waves, in which other values change."""
    found = panel(request.data, seed=request.seed)
    if found is None:
        return ()
    column, wave = found
    text = (
        f"Records with the same value of {column!r} hardly ever have the same value of {wave!r}, "
        "though by chance they would: if they are records of one person at several times, what these "
        "disclose together is not measured, and what is measured counts records."
    )
    hint = (
        "Set {person}, exclude the column, or write whose records these are: {note=several_people}."
    )
    return (Reason("person-undecided", text, hint),)


def _together(request: Request) -> tuple[Reason, ...]:
    """Rows that follow each other and are alike: those of one person, if the file has several."""
    data = request.data
    known = [
        name
        for name in data.quasi_identifiers
        if name in data.released and data.rows.column(name).kind is not Kind.NESTED
    ]
    if data.person is not None or not known or not data.rows.local:
        return ()
    found = neighbors_alike(data.rows.first(_FIRST_ROWS, known))
    if found is None:
        return ()
    columns, share, chance = found
    text = (
        f"{percent_text(share)} of the rows have the same {named(columns)} as the row before, by chance "
        f"{percent_text(chance)} would, and the file is not sorted by this: if rows of one person or "
        "household follow each other, their order links them, and what is measured counts records."
    )
    return (Reason("kept-order", text, "Release the rows in random order, or set {person}."),)


def _copied(request: Request) -> tuple[Reason, ...]:
    """Records that are all in the data several times, without anything that differs between them.

    Records of an original that are one record of the release, as after microaggregation, are no copies.
    """
    times = copies(request.data)
    if times < 2 or not _were_copies(request):
        return ()
    text = (
        f"Every record is in the data {times:,} times, or a multiple of that: if these are copies, as "
        f"after a join, classes have {times:,} times fewer people than records."
    )
    hint = "Remove the copies, set {person}, or compare it with its {original}."
    return (Reason("copied-records", text, hint),)


def _were_copies(request: Request) -> bool:
    """Whether the original does not show that the records differed before, in the released columns."""
    original = request.original
    if original is None or original.count < request.data.count:
        return True
    shared = [name for name in request.data.released if name in original.names]
    return copies(original, shared) > 1


def _linked_records(request: Request, results: Mapping[str, Result]) -> tuple[Reason, ...]:
    """Records that are linked: the share of histories of their own, or that nothing was measured."""
    found = []
    thresholds = [one for one in request.policy.thresholds if one.measure == UNICITY]
    for unit, column in linking_units(request.data).items():
        of_them = "" if unit == "person" else f" of {unit}s"
        whole, in_rows = results.get(f"{HISTORIES}{of_them}"), results.get(f"{IN_ROWS}{of_them}")
        if not thresholds or not isinstance(whole, HistoryClasses):
            found.append(_not_measured(request, unit, column))
            continue
        limit = min(one.limit for one in thresholds)
        events = max(one.events or 1 for one in thresholds)
        ordered = float(in_rows.at(events)) if isinstance(in_rows, Unicity) else 0.0
        if max(whole.unique_share, ordered) > limit and column not in request.data.signed_off:
            text = (
                f"Column {column!r} links the records of {whole.people:,} {_plural(unit)}, and "
                f"{percent_text(whole.unique_share)} of them have a history that nobody else has. "
                f"The policy assumes that an intruder knows {plural(events, 'record')} of them."
            )
            if ordered > limit:
                text += (
                    " Their order singles out "
                    f"{percent_text(ordered)}, if it is that of the rows in the file."
                )
            hint = (
                "Set {excluded} for this column, or write why nobody knows more: {note=sign_off}."
            )
            found.append(Reason("linked-records", text, hint))
    return tuple(found)


def _not_measured(request: Request, unit: str, column: str) -> Reason:
    counted = request.data.rows.tally([column])
    about = "about " if counted.estimated else ""
    text = (
        f"Column {column!r} is released and links the {plural(request.data.count, 'record')} of "
        f"{about}{int(counted.values):,} {_plural(unit)}: what several records of one {unit} "
        "disclose together is not measured."
    )
    return Reason("linked-records", text, "Set {excluded} for this column.")


def _plural(unit: str) -> str:
    return "people" if unit == "person" else f"{unit}s"


def columns_not_compared(request: Request) -> tuple[Reason, ...]:
    """Released columns that the original does not have."""
    original, data = request.original, request.data
    if original is None:
        return ()
    alone = [name for name in data.released if name not in original.names]
    if not alone:
        return ()
    are = "is" if len(alone) == 1 else "are"
    text = (
        f"{named(alone)} {are} not in the original under this name, so it was compared with "
        "nothing: links by it are not known."
        if len(alone) == 1
        else f"{named(alone)} {are} not in the original under these names, so they were "
        "compared with nothing: links by them are not known."
    )
    return (Reason("columns-not-compared", text, "Give both files the same names of columns."),)
