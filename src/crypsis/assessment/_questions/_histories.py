"""What several records of one person, or of one household, disclose together."""

from __future__ import annotations

from dataclasses import replace

from crypsis import singling_out
from crypsis.assessment._questions._everything_else import limited
from crypsis.assessment._questions._outcome import QuestionOutcome
from crypsis.assessment._request import Request
from crypsis.dataset import Dataset
from crypsis.errors import ColumnError, InputError, TooLargeError
from crypsis.policies import Measurement, Threshold
from crypsis.report.wording import plural
from crypsis.results import percent_text
from crypsis.singling_out import HistoryClasses, Knowledge, Unicity
from crypsis.tables import Kind

UNICITY = "singling_out.unicity"
HOUSEHOLDS = "singling_out.household_risk"
HISTORIES = "histories"
"""The results of whole histories begin with this word."""
_SHOWN_EVENTS = 6


def linking_units(data: Dataset) -> dict[str, str]:
    """The released columns that link several records: of a person, or of a household."""
    found = {}
    for unit, column in (("person", data.person), ("household", data.household)):
        if column is not None and column in data.released:
            counted = data.rows.tally([column])
            if counted.estimated or counted.values < counted.rows - counted.missing:
                found[unit] = column
    return found


def add_histories(request: Request, outcome: QuestionOutcome) -> None:
    """Add how many people are singled out by records that a released column links."""
    thresholds = [one for one in request.policy.thresholds if one.measure == UNICITY]
    if thresholds:
        outcome.measured = [one for one in outcome.measured if one.measure != UNICITY]
        units = linking_units(request.data)
        if not units:
            why = "No released column is known to link the records of one person."
            outcome.measured.append(Measurement(UNICITY, None, why, applies=False))
        for unit, column in units.items():
            _add_unit(request, outcome, unit, column, thresholds)
    _add_households(request, outcome)


def _add_unit(
    request: Request, outcome: QuestionOutcome, unit: str, column: str, thresholds: list[Threshold]
) -> None:
    """The curve of the people, or households, that one column links the records of."""
    data = replace(request.data, person=column)
    most = max(one.events or 1 for one in thresholds)
    try:
        curves = _curves(request, data, max(most, _SHOWN_EVENTS), most)
        wholes = [
            singling_out.history_classes(
                data, ordered=ordered, order=_time(data) if ordered else None
            )
            for ordered in ((False, True) if data.rows.local else (False,))
        ]
    except ColumnError as error:
        outcome.measured.append(Measurement(UNICITY, None, error.message, applies=False))
        return
    except (InputError, TooLargeError) as error:
        outcome.measured.append(
            Measurement(UNICITY, None, error.message, (column,), requested=True, hint=error.hint)
        )
        return
    name = "unicity" if unit == "person" else f"unicity of {unit}s"
    outcome.results[name] = curves[0]
    whole: HistoryClasses = max(wholes, key=lambda one: one.unique)
    outcome.results[HISTORIES if unit == "person" else f"{HISTORIES} of {unit}s"] = whole
    for one in thresholds:
        events = one.events or 1
        worst = max(curves, key=lambda found: float(found.at(events)))
        share = worst.at(events)
        text = (
            f"{worst.text_at(events, unit=unit)} Column {column!r} links them; "
            f"{percent_text(whole.unique_share)} have a history that nobody else has."
        )
        outcome.measured.append(
            Measurement(
                UNICITY,
                share,
                text,
                (column, *worst.columns),
                round(float(share) * worst.people),
                events=one.events,
            )
        )
    if any(found.knowledge == "order" for found in curves) and _time(data) is None:
        outcome.notes.append(
            f"No column has dates or times: the order of the rows is taken for that of the records "
            f"of a {unit}."
        )


def _curves(request: Request, data: Dataset, shown: int, most: int) -> list[Unicity]:
    """The curve of known records, and those of intruders who know their order and number, too."""
    exact = True if request.exact else None
    found = [singling_out.unicity(data, events=shown, exact=exact, seed=request.seed)]
    for knowledge in (Knowledge.NUMBER, Knowledge.ORDER, Knowledge.ENDS):
        if knowledge.ordered and not data.rows.local and _time(data) is None:
            continue  # rows have no order on a cluster
        order = _time(data) if knowledge.ordered else None
        found.append(
            singling_out.unicity(
                data, events=most, knowledge=knowledge, order=order, exact=exact, seed=request.seed
            )
        )
    return found


def _time(data: Dataset) -> str | None:
    """The first released column with a date or a time."""
    return next(
        (
            one.name
            for one in data.rows.columns
            if one.kind in (Kind.DATE, Kind.TIME) and one.name in data.knowable
        ),
        None,
    )


def _add_households(request: Request, outcome: QuestionOutcome) -> None:
    """The risk of households: one member found finds the others."""
    data, limit = request.data, limited(request, HOUSEHOLDS)
    outcome.measured = [one for one in outcome.measured if one.measure != HOUSEHOLDS]
    if data.household is None:
        if limit is not None:
            why = "Households are not known."
            outcome.measured.append(Measurement(HOUSEHOLDS, None, why, hint="Set {household}."))
        return
    if not data.quasi_identifiers:
        return
    try:
        found = singling_out.household_risk(data, data.household)
    except (InputError, TooLargeError) as error:
        outcome.measured.append(
            Measurement(HOUSEHOLDS, None, error.message, requested=True, hint=error.hint)
        )
        return
    outcome.results["household_risk"] = found
    text = (
        f"The highest risk that a member of a household is re-identified is "
        f"{percent_text(found.maximum)}, the average {percent_text(found.average)} "
        f"({plural(found.households, 'household')}): one member found finds the others."
    )
    outcome.notes.append(text)
    if limit is not None:
        outcome.measured.append(
            Measurement(HOUSEHOLDS, found.maximum, text, (data.household, *found.columns))
        )
