"""Can a masked record be linked to its original?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from crypsis.assessment._questions._outcome import QuestionOutcome, not_evaluated
from crypsis.assessment._request import Request
from crypsis.dataset import Dataset
from crypsis.errors import ColumnError
from crypsis.hierarchies.labels import as_text
from crypsis.options import Role
from crypsis.policies import Measurement
from crypsis.report.wording import listed, plural
from crypsis.results import Estimate, number_text, percent_text
from crypsis.tables import Kind

_LINKS = "linkage.correct_links_above_chance"
_COPIED_ROWS, _COPIED_COLUMNS = 2_000_000, 20


def ask_linkage(request: Request) -> QuestionOutcome:
    """How often an intruder links records correctly, by ranks or because records are copies."""
    outcome = _linked(request)
    copies = _copies(request)
    if copies is None:
        return outcome
    for place, one in enumerate(outcome.measured):
        if one.measure == _LINKS and (
            one.value is None or float(one.value) < float(copies.value or 0)
        ):
            outcome.measured[place] = copies
            outcome.headline = f"{outcome.headline} {copies.statement}"
    return outcome


def _copies(request: Request) -> Measurement | None:
    """Records that are one record of the original, wherever they are; None if they are few.

    Such a record is linked by whoever has the original, whatever the order of the rows. One of the
    columns may differ.
    """
    original, masked = request.original, request.data
    if original is None or not masked.rows.local or not original.rows.local:
        return None
    names = list(_known_columns(original, masked))
    if not names or max(original.count, masked.count) > _COPIED_ROWS or not masked.count:
        return None
    before, after = (
        pa.table({name: _texts(table[name]) for name in names})
        for table in (original.to_arrow(names), masked.to_arrow(names))
    )
    fewer = [[name for name in names if name != one] for one in names[:_COPIED_COLUMNS]]
    sets = [names, *(fewer if len(names) > 2 else ())]
    copied, names = max((_copied(before, after, some), some) for some in sets)
    limits = [one.limit for one in request.policy.of("linkage") if one.measure == _LINKS]
    if copied / masked.count <= min(limits, default=1.0):
        return None
    text = (
        f"{copied:,} of {masked.count:,} records are copies of one record of the original in "
        f"{plural(len(names), 'column')} that an intruder may know."
    )
    return Measurement(_LINKS, copied / masked.count, text, tuple(names), copied)


def _texts(column: pa.ChunkedArray) -> pa.Array:
    """The values as text, equal for 5 and 5.0; missing ones equal each other."""
    encoded = column.combine_chunks().dictionary_encode()
    values = [None if value is None else as_text(value) for value in encoded.dictionary.to_pylist()]
    return pc.fill_null(pa.array(values, pa.string()).take(encoded.indices), "\x00")


def _copied(before: pa.Table, after: pa.Table, names: list[str]) -> int:
    """The records that are equal to a record of the original that is unique in these columns."""
    counted = before.group_by(names).aggregate([([], "count_all")])
    unique = counted.filter(pc.equal(counted["count_all"], 1)).select(names)
    return int(after.select(names).join(unique, keys=names, join_type="left semi").num_rows)


def _linked(request: Request) -> QuestionOutcome:
    """How often an intruder links records correctly: a bound from classes, then by ranks.

    Records that are equal in all columns that the intruder knows cannot be distinguished, so the
    fraction of correct links is at most the number of such classes divided by the number of
    records, whatever the method of linking. Generalized values, which have no ranks, are judged by
    this bound; where it is above the threshold, records are linked by ranks (domingo2016).
    """
    original, masked = request.original, request.data
    if original is None:
        why = "The original was not given."
        return not_evaluated("linkage", request.policy, why, hint="Set {original}.")
    bound = _classes_bound(original, masked)
    limits = [one.limit for one in request.policy.of("linkage") if one.measure == _LINKS]
    if bound is not None and bound.value <= min(limits, default=0.0):
        perturbed = _perturbed(request, original, masked)
        return _by_ranks(request, original, masked, perturbed) if perturbed else _bounded(bound)
    try:
        return _by_ranks(request, original, masked)
    except ColumnError as error:
        if bound is None or error.code != "no-comparable-columns":
            raise
        return _undecided(bound)


@dataclass(frozen=True)
class _Bound:
    """The largest fraction of correct links above chance, of an intruder who knows `columns`."""

    value: float
    columns: tuple[str, ...]
    classes: int
    records: int

    @property
    def text(self) -> str:
        return (
            f"The {self.records:,} records form {plural(self.classes, 'class')} of equal values in "
            f"the {plural(len(self.columns), 'column')} that an intruder may know: at most "
            f"{percent_text(self.classes / self.records)} can be linked correctly, by any method."
        )


def _known_columns(original: Dataset, masked: Dataset) -> tuple[str, ...]:
    """The released columns that the original has too, except sensitive ones."""
    known = (Role.QUASI_IDENTIFIER, Role.INSENSITIVE)
    return tuple(
        column.name
        for column in masked.rows.columns
        if column.name in original.names and column.kind is not Kind.NESTED
        and masked.roles.get(column.name) in known
    )  # fmt: skip


def _classes_bound(original: Dataset, masked: Dataset) -> _Bound | None:
    """The bound over all released columns that the original has too, except sensitive ones."""
    names = _known_columns(original, masked)
    if not masked.quasi_identifiers or not names or not masked.count:
        return None
    counted = masked.rows.tally(names)
    if counted.estimated:
        return None
    classes, records = int(counted.distinct), masked.count
    return _Bound(max(0.0, (classes - 1) / records), names, classes, records)


_KNOWN = (
    "Sensitive attributes are not among the columns that the intruder knows here: what can be "
    "inferred of them, and what an intruder does who knows them, are questions of their own."
)


def _bounded(bound: _Bound) -> QuestionOutcome:
    measured = [
        Measurement(_LINKS, bound.value, bound.text, bound.columns, 0),
        Measurement("linkage.match_advantage", None, "The values have classes, not ranks: a true "
                    "match is at no other distance than the rest of its class.", applies=False),
    ]  # fmt: skip
    return QuestionOutcome(bound.text, measured, notes=[_KNOWN])


def _undecided(bound: _Bound) -> QuestionOutcome:
    """The bound is above the threshold, and there is no column to link by: it is not decided."""
    value = Estimate(bound.value, 0.0, bound.value, method="bound by equivalence classes")
    text = f"{bound.text} How many are linked is not known: no column has ranks."
    hint = "Set a larger {k}: with larger classes the bound meets the threshold."
    measured = [
        Measurement(_LINKS, value, text, bound.columns, requested=True, hint=hint),
        Measurement("linkage.match_advantage", None, "No column has ranks.", applies=False),
    ]
    return QuestionOutcome(text, measured, notes=[_KNOWN], hint=hint)


def _perturbed(request: Request, original: Dataset, masked: Dataset) -> list[str]:
    """The sensitive numbers that were masked: whether the mask protects them is decided by ranks.

    Sensitive attributes that are released as they are are not known to the intruder.
    """
    if request.on is not None or (request.row_map is None and original.count != masked.count):
        return []
    numeric = [
        name
        for name in masked.sensitive
        if name in original.names
        and masked.rows.column(name).kind.numeric and original.rows.column(name).kind.numeric
    ]  # fmt: skip
    if not numeric:
        return []
    before, after = original.to_arrow(numeric), masked.to_arrow(numeric)
    if request.row_map is not None:
        before = before.take(pa.array(request.row_map))
    return [name for name in numeric if not _equal(before[name], after[name])]


def _equal(one: pa.ChunkedArray, other: pa.ChunkedArray) -> bool:
    first, second = (column.cast(pa.float64(), safe=False) for column in (one, other))
    return bool(first.combine_chunks().equals(second.combine_chunks()))


def _by_ranks(
    request: Request, original: Dataset, masked: Dataset, columns: list[str] | None = None
) -> QuestionOutcome:
    """Every original record linked to the masked record of the nearest ranks."""
    from crypsis import linkage  # loading it takes a second

    on, row_map = request.on, request.row_map
    aligned = on is None and row_map is None and original.count == masked.count
    compared = linkage.comparable_columns(
        original, masked, columns=columns, on=on, allow_missing=aligned
    )
    names, omitted = list(compared.columns), [one.column for one in compared.excluded]
    outcome = QuestionOutcome()
    if omitted:
        outcome.notes.append(
            f"The links do not use {listed(omitted)} (no order, or missing values). An intruder "
            "who uses them may link more records, so the fraction of correct links is a lower "
            "bound. A comparison of the two files accepts an order for each column."
        )
    pair: tuple[Any, Any] = (original, masked)
    if aligned:
        pair, dropped = _without_missing(original, masked, names)
        if dropped:
            outcome.notes.append(
                f"{plural(dropped, 'record')} with missing values "
                f"{'is' if dropped == 1 else 'are'} not part of the links."
            )
    options: dict[str, Any] = {"columns": names, "on": on, "row_map": row_map, "seed": request.seed}
    check = linkage.verify_links(*pair, **options)
    outcome.results = {"verification": check, "link": linkage.link(*pair, **options)}
    outcome.measured = [_correct_links(check, omitted), _advantage(check, omitted)]
    if aligned and not linkage.rows_correspond(*pair, names):
        outcome.measured = [
            Measurement(one.measure, None, linkage.NOT_ALIGNED, requested=True,
                        hint="Set {key}, or {on} to a column of record numbers.")
            for one in outcome.measured
        ]  # fmt: skip
    outcome.headline = outcome.measured[0].statement
    return outcome


def _correct_links(check: Any, omitted: list[str]) -> Measurement:
    name = _LINKS
    if check.correct_share is None:
        return Measurement(
            name, None,
            "The true matches are not known: the two files have different rows.",
            requested=True, hint="Set {on} to a column of record numbers, or {key}.",
        )  # fmt: skip
    statement = (
        f"{percent_text(check.correct_share)} of {check.records:,} records are linked correctly; "
        f"by chance it is {100 * check.chance:.2g} %."
    )
    if omitted:
        statement += f" {plural(len(omitted), 'column')} could not be used."
    above = (check.correct_share - check.chance).map(lambda gain: max(0.0, gain))
    affected = round(check.correct_share * check.records)
    return Measurement(
        name, above, statement, check.columns, affected, lower_bound=bool(omitted)
    )  # fmt: skip


def _advantage(check: Any, omitted: list[str]) -> Measurement:
    name = "linkage.match_advantage"
    near = check.dependent
    if near is None:
        return Measurement(
            name, None, "The true matches are not known.", requested=True, hint="Set {on}."
        )
    statement = (
        f"The original records match nearer than random records by "
        f"{number_text(near.advantage, '.3f')}; {plural(near.discoveries, 'link')} "
        f"{'is' if near.discoveries == 1 else 'are'} nearer than chance explains."
    )
    return Measurement(name, near.advantage, statement, check.columns, near.discoveries,
                       lower_bound=bool(omitted))  # fmt: skip


def _without_missing(
    original: Dataset, masked: Dataset, names: list[str]
) -> tuple[tuple[pa.Table, pa.Table], int]:
    """The aligned rows without missing values on either side: a missing value has no rank."""
    tables = [one.to_arrow(names) for one in (original, masked)]
    complete = pa.chunked_array([pa.array([True] * tables[0].num_rows)])
    for table in tables:
        for column in table.columns:
            complete = pc.and_(complete, pc.is_valid(column))
    kept = [table.filter(complete) for table in tables]
    return (kept[0], kept[1]), tables[0].num_rows - kept[0].num_rows
