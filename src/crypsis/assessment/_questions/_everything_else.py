"""The intruder who knows all released columns except one sensitive attribute."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from crypsis import inference, singling_out
from crypsis.assessment._questions._outcome import QuestionOutcome
from crypsis.assessment._questions._values import value_measurements
from crypsis.assessment._request import Request
from crypsis.dataset import Dataset
from crypsis.errors import InputError, TooLargeError
from crypsis.options import Role
from crypsis.policies import Measurement
from crypsis.report.wording import named, plural
from crypsis.results import Estimate, number_text, percent_text
from crypsis.tables import Kind

UNIQUE = "singling_out.unique_on_released_columns"
SMALL = "singling_out.small_classes_on_released_columns"
PREDICTED = "inference.prediction_gain"
NEAR_CERTAIN = "inference.near_certain_values"
_ROUND = (
    "Round it so that each released value is shared, or write why nobody outside can know it: "
    "{note=sign_off}."
)
_TRAINING_VALUES = 500_000
"""About how many values a model learns from: of wide tables fewer records."""
_MAX_TRAINING_RECORDS = 10_000
"""A model learns from so many records at most, of narrow tables."""
_MIN_TRAINING_RECORDS = 2_000
"""A model learns from so many records, where there are, of the widest tables too."""


def limited(request: Request, measure: str) -> float | None:
    """The threshold of a measure in the policy; None if it has none."""
    return next(
        (threshold.limit for threshold in request.policy.thresholds if threshold.measure == measure), None
    )


def add_released_uniqueness(request: Request, outcome: QuestionOutcome) -> None:
    """Add the records that are unique on all released columns, as the policy limits them."""
    limit = limited(request, UNIQUE)
    if limit is None:
        return
    outcome.measured = [measurement for measurement in outcome.measured if measurement.measure != UNIQUE]
    try:
        uniqueness = singling_out.released_uniqueness(
            request.data, limit=limit, exact=request.exact or None, seed=request.seed
        )
    except (InputError, TooLargeError) as error:
        arises = error.code != "no-columns"
        outcome.measured.append(
            Measurement(UNIQUE, None, error.message, applies=arises, requested=arises, hint=error.hint)
        )
        return
    outcome.results["released_columns"] = uniqueness
    except_for = f" except {uniqueness.target!r}" if uniqueness.target in request.data.names else ""
    columns = len(uniqueness.columns)
    knowledge = "the one column" if columns == 1 else f"all {columns:,} columns"
    text = (
        f"{number_text(uniqueness.unique, ',')} of {uniqueness.units:,} {uniqueness.unit} "
        f"({percent_text(uniqueness.fraction)}) {'is' if uniqueness.unique == 1 else 'are'} unique on "
        f"{knowledge} that an intruder may know{except_for if uniqueness.target else ''}."
    )
    if uniqueness.enough:
        text += (
            f" {named(uniqueness.enough)} "
            f"{'is' if len(uniqueness.enough) == 1 else 'are'} enough for "
            f"{percent_text(uniqueness.enough_fraction)}."
        )
    if uniqueness.identifying:
        most = (
            f"Most values of {named(uniqueness.identifying)} occur once: whoever knows one finds the "
            "record by it, unless the owner signs off that nobody outside can know it."
        )
        text += f" {most}"
        outcome.notes.append(most)
    if uniqueness.target in request.data.names and float(uniqueness.left_out_fraction) > limit:
        text += f" {_left_out(uniqueness)}"
        outcome.notes.append(_left_out(uniqueness))
    if uniqueness.not_counted:
        text += f" {named(uniqueness.not_counted)} could not be compared."
    singling = uniqueness.enough or uniqueness.columns
    affected = None if isinstance(uniqueness.unique, Estimate) else round(uniqueness.unique)
    outcome.measured.append(
        Measurement(
            UNIQUE,
            uniqueness.fraction,
            text,
            tuple(n for n in singling if n in request.data.names),
            affected,
            lower_bound=bool(uniqueness.not_counted),
            hint=_ROUND if uniqueness.identifying else "",
        )
    )
    _note_signed_off(request, outcome)


def _left_out(released_uniqueness: singling_out.ReleasedUniqueness) -> str:
    """Which sensitive attribute is not counted, and what it would single out."""
    return (
        f"Not counted is {released_uniqueness.target!r}, which an intruder wants to learn: whoever knows its "
        f"value singles out {percent_text(released_uniqueness.left_out_fraction)} of the "
        f"{released_uniqueness.unit} by it."
    )


def add_released_classes(request: Request, outcome: QuestionOutcome) -> None:
    """Add the records in small classes of all released columns that are not sensitive.

    How many people the other columns single out is noted beside the verdict, whatever the policy.
    """
    data, policy = request.data, request.policy
    wanted = [threshold for threshold in policy.of("singling_out") if threshold.measure == SMALL]
    outcome.measured = [measurement for measurement in outcome.measured if measurement.measure != SMALL]
    insensitive = known_insensitive(data)
    if not wanted:
        return
    if not insensitive:
        why = "No released column besides the quasi-identifiers and sensitive attributes is known."
        outcome.measured += [
            Measurement(SMALL, None, why, k=threshold.k, applies=False) for threshold in wanted
        ]
        return
    columns = (*data.quasi_identifiers, *insensitive)
    strict = replace(data.strict(), population=None)  # which has no such columns
    try:
        class_sizes = singling_out.equivalence_classes(
            strict, columns, exact=request.exact or None, seed=request.seed
        )
    except (InputError, TooLargeError) as error:
        outcome.measured += [
            Measurement(SMALL, None, error.message, k=threshold.k, requested=True, hint=error.hint)
            for threshold in wanted
        ]
        return
    with_others = (
        f"With {named(insensitive)}, which an intruder may know too: "
        f"{class_sizes.text_below(max(threshold.k or 2 for threshold in wanted))}"
    )
    outcome.measured += [
        Measurement(
            SMALL,
            class_sizes.share_below(threshold.k or 2),
            with_others,
            insensitive,
            round(float(class_sizes.records_below(threshold.k or 2))),
            threshold.k,
        )
        for threshold in wanted
    ]
    single = class_sizes.records_below(2)
    alone = "is" if single == 1 else "are"
    outcome.notes.append(
        f"{with_others} {number_text(single, ',')} of them {alone} singled out."
        if float(single)
        else with_others
    )


def add_released_values(request: Request, outcome: QuestionOutcome) -> None:
    """Add what is near-certain in the classes of all released columns that are not sensitive.

    An insensitive column divides the equivalence classes as a quasi-identifier does. Where that
    leaves too many small classes, they are a finding of their own.
    """
    data, policy = request.data, request.policy
    insensitive = known_insensitive(data)
    if limited(request, NEAR_CERTAIN) is None or not (insensitive and data.sensitive):
        return
    small = [threshold for threshold in policy.of("singling_out") if threshold.measure == SMALL]
    try:
        sizes = singling_out.equivalence_classes(as_known(data, insensitive), seed=request.seed)
        if any(float(sizes.share_below(threshold.k or 2)) > threshold.limit for threshold in small):
            return
        disclosure = inference.value_disclosure(as_known(data, insensitive), baseline=False)
    except (InputError, TooLargeError) as error:
        why = f"The classes of all released columns: {error.message}"
        outcome.measured.append(Measurement(NEAR_CERTAIN, None, why, insensitive, requested=True))
        return
    prefix = f"With {named(insensitive)}, which an intruder may know too: "
    certain = [
        replace(
            value_measurement,
            statement=prefix + value_measurement.statement,
            columns=(value_measurement.columns[0], *insensitive),
        )
        for value_measurement in value_measurements(disclosure, {})
        if value_measurement.measure == NEAR_CERTAIN and value_measurement.value
    ]
    outcome.measured += certain
    outcome.notes += [measurement.statement for measurement in certain]


def as_known(data: Dataset, added_columns: Sequence[str]) -> Dataset:
    """The same data with other columns among the quasi-identifiers; a population has no such."""
    strict = replace(data.strict(), population=None)
    return strict.with_roles({**data.roles, **dict.fromkeys(added_columns, Role.QUASI_IDENTIFIER)})


def known_insensitive(data: Dataset) -> tuple[str, ...]:
    """What an intruder may know besides quasi-identifiers and sensitive attributes."""
    judged = (*data.quasi_identifiers, *data.sensitive)
    return tuple(
        name
        for name in data.knowable
        if name not in judged and data.rows.column(name).kind is not Kind.NESTED
    )


def _note_signed_off(request: Request, outcome: QuestionOutcome) -> None:
    """The owner's reasons, as the report shows them."""
    data = request.data
    outcome.notes += [
        f"Signed off: an intruder cannot know {name!r}, as the owner wrote: {data.notes[name].sign_off}"
        for name in data.signed_off
    ]


def add_prediction_gain(request: Request, outcome: QuestionOutcome) -> None:
    """Add how well each sensitive attribute is predicted from all other released columns."""
    limit = limited(request, PREDICTED)
    data = request.data
    if limit is None or not data.sensitive:
        return
    outcome.measured = [measurement for measurement in outcome.measured if measurement.measure != PREDICTED]
    records = min(_MAX_TRAINING_RECORDS, _TRAINING_VALUES // max(1, len(data.knowable)))
    records = max(_MIN_TRAINING_RECORDS, records)
    nested = [name for name in data.sensitive if data.rows.column(name).kind is Kind.NESTED]
    together = [name for name in data.sensitive if name not in nested]
    for targets in [[name] for name in nested] + [together] * bool(together):
        try:
            gains = inference.prediction_gain(data, targets, size=records, seed=request.seed)
        except (InputError, TooLargeError) as error:
            outcome.measured += [
                Measurement(PREDICTED, None, error.message, (target,), requested=True, hint=error.hint)
                for target in targets
            ]
            continue
        for gain in gains:
            outcome.results[f"prediction of {gain.target}"] = gain
            affected = round(float(gain.accuracy) * data.count)
            text = _prediction_text(gain)
            outcome.measured.append(Measurement(PREDICTED, gain.gain, text, (gain.target,), affected))


def _prediction_text(prediction_gain: inference.PredictionGain) -> str:
    if not prediction_gain.known:
        return f"No other column is known from which {prediction_gain.target!r} could be predicted."
    how = f" within {100 * prediction_gain.tolerance:.3g} %" if prediction_gain.numeric else ""
    text = (
        f"{prediction_gain.target!r} is predicted correctly{how} for "
        f"{percent_text(prediction_gain.accuracy)} of held-out records from "
        f"{plural(len(prediction_gain.known), 'other released column')}, for "
        f"{percent_text(prediction_gain.prior)} without them"
    )
    worst = next(iter(prediction_gain.certain), None)
    if worst is not None and worst.gain > 0:
        text += (
            f"; one value, which {percent_text(worst.prior)} have, almost certainly for "
            f"{percent_text(worst.share)} of those who have it"
        )
    return f"{text}."
