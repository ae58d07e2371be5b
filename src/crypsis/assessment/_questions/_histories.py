"""What several records of one person, or of one household, disclose together."""

from __future__ import annotations

from dataclasses import replace

from crypsis import inference, singling_out
from crypsis.assessment._questions._outcome import QuestionOutcome
from crypsis.assessment._request import Request
from crypsis.dataset import Dataset
from crypsis.errors import ColumnError, InputError, TooLargeError
from crypsis.policies import Measurement, Threshold
from crypsis.results import percent_text
from crypsis.singling_out import Knowledge, Unicity
from crypsis.tables import Kind

UNICITY = "singling_out.unicity"
INFERRED = "inference.history_disclosure"
HISTORIES = "histories"
"""The results of whole histories begin with this word."""
IN_ROWS = "unicity in the order of the rows"
_SHOWN_EVENTS = 6
"""Curves go up to so many known records, or further if a threshold does."""


def linking_units(data: Dataset) -> dict[str, str]:
    """The released columns that link several records: of a person, or of a household."""
    column_of_unit = {}
    for unit, column in (("person", data.person), ("household", data.household)):
        if column is not None and column in data.released:
            counted = data.rows.tally([column])
            if counted.estimated or counted.values < counted.rows - counted.missing:
                column_of_unit[unit] = column
    return column_of_unit


def add_histories(request: Request, outcome: QuestionOutcome) -> None:
    """Add how many people are singled out by records that a released column links."""
    thresholds = [threshold for threshold in request.policy.thresholds if threshold.measure == UNICITY]
    if thresholds:
        outcome.measured = [measurement for measurement in outcome.measured if measurement.measure != UNICITY]
        units = linking_units(request.data)
        if not units:
            why = "No released column is known to link the records of one person."
            outcome.measured.append(Measurement(UNICITY, None, why, applies=False))
        for unit, column in units.items():
            _add_unit(request, outcome, unit, column, thresholds)


def _add_unit(
    request: Request, outcome: QuestionOutcome, unit: str, column: str, thresholds: list[Threshold]
) -> None:
    """The curve of the people, or households, that one column links the records of."""
    data = replace(request.data, person=column)
    most = max(threshold.events or 1 for threshold in thresholds)
    time = _time(data)
    try:
        curves = _curves(request, data, max(most, _SHOWN_EVENTS))
        in_rows = _curve_in_rows(request, data, most) if time is None else None
        whole = singling_out.history_classes(data, ordered=time is not None, order=time)
        if in_rows is not None:
            ordered = singling_out.history_classes(data, ordered=True)
            whole = max(whole, ordered, key=lambda classes: classes.unique)
    except ColumnError as error:
        outcome.measured.append(Measurement(UNICITY, None, error.message, applies=False))
        return
    except (InputError, TooLargeError) as error:
        outcome.measured.append(
            Measurement(UNICITY, None, error.message, (column,), requested=True, hint=error.hint)
        )
        return
    of_them = "" if unit == "person" else f" of {unit}s"
    outcome.results[f"unicity{of_them}"] = max(curves, key=lambda curve: float(curve.at(most)))
    outcome.results[f"{HISTORIES}{of_them}"] = whole
    if in_rows is not None:
        outcome.results[f"{IN_ROWS}{of_them}"] = in_rows
    for threshold in thresholds:
        events = threshold.events or 1
        worst = max(curves, key=lambda curve: float(curve.at(events)))
        share = worst.at(events)
        more = "" if worst is curves[0] else f" {worst.text_besides(events)}"
        text = (
            f"{curves[0].text_at(events, unit=unit)}{more} Column {column!r} links them; "
            f"{percent_text(whole.unique_share)} have a history that nobody else has."
        )
        affected = round(float(share) * worst.people)
        known_columns = (column, *worst.columns)
        outcome.measured.append(
            Measurement(UNICITY, share, text, known_columns, affected, events=threshold.events)
        )


def add_history_disclosure(request: Request, outcome: QuestionOutcome) -> None:
    """Add how often a sensitive value is inferred from records that a released column links."""
    thresholds = [threshold for threshold in request.policy.thresholds if threshold.measure == INFERRED]
    if not thresholds:
        return
    outcome.measured = [measurement for measurement in outcome.measured if measurement.measure != INFERRED]
    units = linking_units(request.data)
    if not units or not request.data.sensitive:
        why = "No column is a sensitive attribute."
        if not units:
            why = "No released column is known to link the records of one person."
        outcome.measured.append(Measurement(INFERRED, None, why, applies=False))
        return
    for unit, column in units.items():
        for target in request.data.sensitive:
            _add_inferred(request, outcome, unit, column, target, thresholds)


def _add_inferred(
    request: Request,
    outcome: QuestionOutcome,
    unit: str,
    column: str,
    target: str,
    thresholds: list[Threshold],
) -> None:
    """What the linked records of one person, or household, disclose of one sensitive attribute."""
    data = replace(request.data, person=column)
    most = max(threshold.events or 1 for threshold in thresholds)
    kinds = (Knowledge.SET, Knowledge.NUMBER)
    try:
        disclosures = [
            inference.history_disclosure(
                data,
                target,
                events=most,
                knowledge=kind,
                exact=True if request.exact else None,
                seed=request.seed,
            )
            for kind in kinds
        ]
    except ColumnError as error:
        applies = error.code != "no-columns"
        outcome.measured.append(
            Measurement(INFERRED, None, error.message, (target,), applies=applies, requested=applies)
        )
        return
    except (InputError, TooLargeError) as error:
        outcome.measured.append(
            Measurement(INFERRED, None, error.message, (target,), requested=True, hint=error.hint)
        )
        return
    of_them = "" if unit == "person" else f" of {unit}s"
    outcome.results[f"history disclosure of {target}{of_them}"] = disclosures[0]
    for threshold in thresholds:
        events = threshold.events or 1
        worst = max(disclosures, key=lambda each: float(each.at(events)))
        text = disclosures[0].text_at(events, unit=unit)
        if worst is not disclosures[0]:
            text += (
                f" Who knows how many records the {unit} has, too, infers it in "
                f"{percent_text(worst.at(events))} of cases."
            )
        outcome.measured.append(
            Measurement(
                INFERRED,
                worst.at(events),
                text,
                (target, column, *worst.columns),
                round(float(worst.at(events)) * worst.holders),
                events=threshold.events,
            )
        )


def _curves(request: Request, data: Dataset, shown: int) -> list[Unicity]:
    """The curve of known records, and those of intruders who know their number or order, too."""
    exact = True if request.exact else None
    time = _time(data)
    kinds = [Knowledge.NUMBER]
    kinds += [] if time is None else [Knowledge.ORDER, Knowledge.ENDS]
    return [
        singling_out.unicity(data, events=shown, exact=exact, seed=request.seed),
        *(
            singling_out.unicity(
                data,
                events=shown,
                knowledge=kind,
                order=time if kind.ordered else None,
                exact=exact,
                seed=request.seed,
            )
            for kind in kinds
        ),
    ]


def _curve_in_rows(request: Request, data: Dataset, most: int) -> Unicity | None:
    """The same by the order of the rows, which may be that of the records; None if it is not.

    Rows have no order on a cluster, and the owner may write that nobody knows it: sign_off.
    """
    if not data.rows.local or data.person in data.signed_off:
        return None
    exact = True if request.exact else None
    curves = [
        singling_out.unicity(data, events=most, knowledge=kind, exact=exact, seed=request.seed)
        for kind in (Knowledge.ORDER, Knowledge.ENDS)
    ]
    return max(curves, key=lambda curve: float(curve.at(most)))


def _time(data: Dataset) -> str | None:
    """The first released column with a date or a time."""
    return next(
        (
            column.name
            for column in data.rows.columns
            if column.kind in (Kind.DATE, Kind.TIME) and column.name in data.knowable
        ),
        None,
    )
