"""What an intruder could use and no measure covers: it keeps a release from being called safe."""

from __future__ import annotations

from crypsis.assessment._request import Request
from crypsis.policies.findings import Reason
from crypsis.report.wording import listed, plural, some


def unmeasured(request: Request) -> tuple[Reason, ...]:
    """Records that a released column links to one person, and columns compared with nothing."""
    return (*_linked_records(request), *_columns_not_compared(request))


def _linked_records(request: Request) -> tuple[Reason, ...]:
    data = request.data
    person = data.person
    if person is None or person not in data.released:
        return ()
    counted = data.rows.tally([person])
    people = int(counted.distinct)
    if people >= data.count and not counted.estimated:
        return ()
    about = "about " if counted.estimated else ""
    text = (
        f"Column {person!r} is released and links the {plural(data.count, 'record')} of "
        f"{about}{people:,} people: what several records of one person disclose together is not "
        "measured."
    )
    return (Reason("linked-records", text, "Set {excluded} for this column."),)


def _columns_not_compared(request: Request) -> tuple[Reason, ...]:
    original, data = request.original, request.data
    if original is None:
        return ()
    alone = [name for name in data.released if name not in original.names]
    if not alone:
        return ()
    are = "is" if len(alone) == 1 else "are"
    text = (
        f"{listed(some(alone))} {are} not in the original under this name, so it was compared with "
        "nothing: links by it are not known."
        if len(alone) == 1
        else f"{listed(some(alone))} {are} not in the original under these names, so they were "
        "compared with nothing: links by them are not known."
    )
    return (Reason("columns-not-compared", text, "Give both files the same names of columns."),)
