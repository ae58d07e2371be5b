"""What an intruder could use and no measure covers: it keeps a release from being called safe."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from crypsis.assessment._people import repeats
from crypsis.assessment._questions._histories import HISTORIES, IN_ROWS, UNICITY, linking_units
from crypsis.assessment._request import Request
from crypsis.columns.records import DECIDE_RECORD, UNDECIDED_RECORD, RecordEvidence, record_evidence
from crypsis.columns.roles import guess, linking_columns, linking_values
from crypsis.counting.grouping import group
from crypsis.dataset import Dataset
from crypsis.errors import InputError, TooLargeError
from crypsis.options import Role
from crypsis.policies.findings import Reason
from crypsis.report.wording import listed, named, plural
from crypsis.results import Result, percent_text
from crypsis.singling_out import HistoryClasses, Unicity

_MEASURES_RECORDS = "what is measured counts records, and all records of a class may be of one person"


def unmeasured(request: Request, results: Mapping[str, Result], complete: bool) -> tuple[Reason, ...]:
    """What a record is, records that a released column links beyond what was measured (`results` of
    singling out), and columns compared with nothing.

    Of an assessment that is not `complete`, nothing more is read.
    """
    return (
        *_people_not_counted(request, complete),
        *_what_a_record_is(request, complete),
        *_linked_records(request, results),
        *columns_not_compared(request),
    )


def _people_not_counted(request: Request, complete: bool) -> tuple[Reason, ...]:
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
    if original is not None and not repeats(original, person):
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
    with_columns = original.with_roles({**released, **dict.fromkeys(names, Role.EXCLUDED)})
    linking = linking_columns(with_columns, guess(with_columns, columns=names, seed=request.seed))
    linking = linking or (linking_values(with_columns, seed=request.seed) if complete else ())
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
    person = None if request.original is None else request.original.person
    return person or request.data.absent.get("person")


def _what_a_record_is(request: Request, complete: bool) -> tuple[Reason, ...]:
    """The question what a record is, where it is open; else what contradicts the answer."""
    data, original = request.data, request.original
    files = [data] if original is None else [data, original]
    if not any(file.person_decided for file in files):
        evidence = _evidence(request) if complete else ()
        text = " ".join([UNDECIDED_RECORD, *(reason.text for reason in evidence[:1])])
        return (Reason("person-undecided", text, DECIDE_RECORD),)
    answered = any(file.each_record for file in files)
    if not answered or not complete or any(file.person_reason for file in files):
        return ()
    return tuple(Reason(reason.code, reason.text, reason.hint) for reason in _evidence(request))


def _evidence(request: Request) -> tuple[RecordEvidence, ...]:
    return record_evidence(
        request.of_people.data,
        request.original,
        identifiers=[column.column for column in request.columns if column.links],
        seed=request.seed,
    )


def _linked_records(request: Request, results: Mapping[str, Result]) -> tuple[Reason, ...]:
    """Records that are linked: the share of histories of their own, or that nothing was measured."""
    reasons = []
    thresholds = [threshold for threshold in request.policy.thresholds if threshold.measure == UNICITY]
    for unit, column in linking_units(request.data).items():
        of_them = "" if unit == "person" else f" of {unit}s"
        whole, in_rows = results.get(f"{HISTORIES}{of_them}"), results.get(f"{IN_ROWS}{of_them}")
        if not thresholds or not isinstance(whole, HistoryClasses):
            reasons.append(_not_measured(request, unit, column))
            continue
        limit = min(threshold.limit for threshold in thresholds)
        events = max(threshold.events or 1 for threshold in thresholds)
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
            hint = "Set {excluded} for this column, or write why nobody knows more: {note=sign_off}."
            reasons.append(Reason("linked-records", text, hint))
    return tuple(reasons)


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
