"""What an intruder could use and no measure covers: it keeps a release from being called safe."""

from __future__ import annotations

from collections.abc import Mapping

from crypsis.assessment._people import people_not_counted
from crypsis.assessment._questions._histories import HISTORIES, IN_ROWS, UNICITY, linking_units
from crypsis.assessment._request import Request
from crypsis.columns.records import DECIDE_RECORD, UNDECIDED_RECORD, RecordEvidence, record_evidence
from crypsis.policies.findings import Reason
from crypsis.report.wording import named, plural
from crypsis.results import Result, percent_text
from crypsis.singling_out import HistoryClasses, Unicity


def unmeasured(request: Request, results: Mapping[str, Result], complete: bool) -> tuple[Reason, ...]:
    """What a record is, records that a released column links beyond what was measured (`results` of
    singling out), and columns compared with nothing.

    Of an assessment that is not `complete`, nothing more is read.
    """
    return (
        *people_not_counted(request, complete),
        *_what_a_record_is(request, complete),
        *_linked_records(request, results),
        *columns_not_compared(request),
    )


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
