"""Can a sensitive attribute be inferred?"""

from __future__ import annotations

from contextlib import suppress

from crypsis import inference
from crypsis.assessment._questions._everything_else import add_prediction_gain, add_released_values
from crypsis.assessment._questions._histories import add_history_disclosure
from crypsis.assessment._questions._outcome import QuestionOutcome, not_evaluated
from crypsis.assessment._questions._values import MEASURES as VALUE_MEASURES
from crypsis.assessment._questions._values import (
    not_counted,
    presence_in_other_files,
    presence_notes,
    value_measurements,
)
from crypsis.assessment._request import Request
from crypsis.errors import TooLargeError
from crypsis.inference.conditional import several_records
from crypsis.policies import Measurement
from crypsis.report.wording import plural
from crypsis.results import Estimate, number_text, percent_text

_MIN_SURE_GUESS = 0.9
"""From so likely a guess on the headline says whether it is of a rare value."""
_MAX_GRADES = 20
"""An ordered attribute with so few values is inferred value by value: a grade, a yes or no."""

_CLOSENESS = ("inference.t_closeness", "inference.ordered_t_closeness")
"""The measures that count a class of near-certain values as far as it is rare."""
_NOT_APPLICABLE = {
    "inference.attribute_gain": "All sensitive attributes are numbers or dates; their t-closeness "
    "is measured instead.",
    "inference.ordered_t_closeness": "No sensitive attribute is a number or a date.",
}
"""Why a measure does not apply if no sensitive attribute is of its kind."""


def ask_inference(request: Request) -> QuestionOutcome:
    """How well the sensitive attributes can be inferred from what an intruder may know."""
    if not request.policy.of("inference"):
        return QuestionOutcome("Not measured: inference is not part of this policy.")
    people = request.of_people
    outcome = _ask_quasi_identifiers(people)
    add_released_values(people, outcome)
    add_prediction_gain(people, outcome)
    add_history_disclosure(request, outcome)
    outcome.measured += presence_in_other_files(people)
    return outcome


def _ask_quasi_identifiers(request: Request) -> QuestionOutcome:
    """How well the sensitive attributes can be inferred from the quasi-identifiers."""
    data, policy = request.data, request.policy
    if not data.sensitive:
        why = "No column is a sensitive attribute."
        return not_evaluated("inference", policy, why, applies=False)
    if not data.quasi_identifiers:
        why = "No column is a quasi-identifier."
        return not_evaluated("inference", policy, why, hint="Set {quasi_identifiers}.")
    leakages = inference.leakages(
        data, data.sensitive, data.quasi_identifiers, exact=request.exact, seed=request.seed
    )
    disclosure = None
    if leakages.complete:
        with suppress(TooLargeError):  # an attribute that leakage did not need to count
            disclosure = inference.attribute_disclosure(data)
    values = None
    if any(threshold.measure in (*VALUE_MEASURES, *_CLOSENESS) for threshold in policy.thresholds):
        with suppress(TooLargeError):
            values = inference.value_disclosure(data)
    return inference_outcome(request, leakages, disclosure, values)


def inference_outcome(
    request: Request,
    leakages: inference.Leakages,
    disclosure: inference.AttributeDisclosure | None,
    values: inference.ValueDisclosure | None = None,
) -> QuestionOutcome:
    """The measurements of what was found."""
    data = request.data
    limits = {threshold.measure: threshold.limit for threshold in request.policy.of("inference")}
    outcome = QuestionOutcome(results={f"leakage of {target.target}": target for target in leakages.targets})
    if disclosure is not None:
        outcome.results["attribute_disclosure"] = disclosure
    categorical, unit = [], "person" if several_records(data) else "record"
    for leakage in leakages.targets:
        attribute_disclosure = None if disclosure is None else disclosure[leakage.target]
        ordered = request.data.rows.column(leakage.target).kind.ordered and leakage.values > _MAX_GRADES
        if not ordered:
            categorical.append(leakage)
            limit = limits.get("inference.attribute_gain", 0.2)
            outcome.measured.append(_gain(leakage, limit, unit))
        certain = None
        if values is not None and request.data.rows.column(leakage.target).kind.ordered:
            certain = values[leakage.target].near_certain_class
        t = _closeness(leakage, attribute_disclosure, "t_closeness", certain)
        outcome.measured += [_itpr(leakage), t, _diversity(leakage, attribute_disclosure)]
        if ordered:
            outcome.measured.append(_closeness(leakage, attribute_disclosure, "ordered_t_closeness", certain))
    if values is None:
        why = "There are too many equivalence classes to count the values in each of them."
        outcome.measured += not_counted((*data.sensitive, *data.quasi_identifiers), why)
    else:
        outcome.results["value_disclosure"] = values
        outcome.measured += value_measurements(values, limits)
        outcome.notes += presence_notes(values, limits.get("inference.presence_disclosure", 1.0))
    present = {measurement.measure for measurement in outcome.measured}
    outcome.measured += [
        Measurement(name, None, why, applies=False)
        for name, why in _NOT_APPLICABLE.items()
        if name not in present
    ]
    outcome.headline = _headline(leakages, categorical, disclosure)
    sure = any(float(target.best_guess.worst) >= _MIN_SURE_GUESS for target in leakages.targets)
    if sure and values is not None and all(attribute.near_certain == 0 for attribute in values.attributes):
        outcome.headline += " No rare or declared value is near-certain in any class."
    first = leakages.targets[0]
    if not first.complete:
        outcome.notes.append(
            f"There are too many equivalence classes to fetch ({first.classes:,.0f}): "
            f"{first.classes_counted:,} of them were drawn by a hash of their values and counted "
            "completely. The worst case is known of these only."
        )
        outcome.hint = "Set {exact=True} to count all."
    return outcome


def _headline(
    leakages: inference.Leakages,
    categorical: list[inference.Leakage],
    disclosure: inference.AttributeDisclosure | None,
) -> str:
    targets = categorical or list(leakages.targets)
    if leakages.complete:
        worst = max(targets, key=lambda leakage: (leakage.best_guess.worst_gain, leakage.target))
        where, guess = "In the worst equivalence class", worst.best_guess.worst
    else:
        worst = max(leakages.targets, key=lambda leakage: (leakage.best_guess.average_gain, leakage.target))
        where, guess = "On average", worst.best_guess.average
    t = worst.t if disclosure is None else disclosure[worst.target].t_closeness.t
    models = f"l = {number_text(worst.distinct_l, ',')}"
    if t is not None:
        models += f", t = {number_text(t, '.3g')}"
    return (
        f"{where} {worst.target!r} is inferred correctly with probability {percent_text(guess)}; "
        f"in this table its most frequent value has {percent_text(worst.best_guess.prior)} "
        f"({models})."
    )


def _gain(leakage: inference.Leakage, limit: float, unit: str) -> Measurement:
    guess = leakage.best_guess
    above = leakage.share_above(guess.prior + limit)
    affected = round(float(above) * leakage.records)
    members = plural(affected, unit)
    if isinstance(above, Estimate):
        members = f"{percent_text(above)} of the records"
    gain = guess.worst_gain
    value = gain.map(lambda x: max(0.0, x)) if isinstance(gain, Estimate) else max(0.0, gain)
    return Measurement(
        "inference.attribute_gain",
        value,
        f"In the worst equivalence class {leakage.target!r} is inferred correctly with probability "
        f"{percent_text(guess.worst)}; in this table its most frequent value has "
        f"{percent_text(guess.prior)}; "
        f"{members} {'is' if affected == 1 else 'are'} in classes with a gain above "
        f"{percent_text(limit)}.",
        (leakage.target, *leakage.given),
        affected,
    )


def _itpr(leakage: inference.Leakage) -> Measurement:
    text = f"The inference risk (ITPR) of {leakage.target!r} is {number_text(leakage.itpr, '.3g')}"
    if leakage.itpr_shuffled is not None:
        text += f"; with shuffled values it is {float(leakage.itpr_shuffled):.3g}"
    size = leakage.worst_class.group.size if leakage.worst_class and leakage.complete else None
    return Measurement("inference.itpr", leakage.itpr, f"{text}.", (leakage.target,), size)


def _diversity(
    leakage: inference.Leakage, sensitive_attribute: inference.SensitiveAttribute | None
) -> Measurement:
    text = f"The distinct l-diversity of {leakage.target!r} is l = {number_text(leakage.distinct_l, ',')}."
    size = None if sensitive_attribute is None else sensitive_attribute.l_diversity.distinct_class.size
    columns = (leakage.target, *leakage.given)
    return Measurement("inference.l_diversity", leakage.distinct_l, text, columns, size)


def _closeness(
    leakage: inference.Leakage,
    sensitive_attribute: inference.SensitiveAttribute | None,
    measure: str,
    certain: inference.WorstClass | None,
) -> Measurement:
    """t; a near-certain number is as far from all records as it is rare, wherever it lies."""
    name, columns = f"inference.{measure}", (leakage.target, *leakage.given)
    t = leakage.t if sensitive_attribute is None else sensitive_attribute.t_closeness.t
    if t is None:
        why = "t-closeness needs the equivalence classes themselves, and these are too many."
        return Measurement(name, None, why, columns, hint="Without {exact=True} a sample is used.")
    size = None if sensitive_attribute is None else sensitive_attribute.t_closeness.worst_class.size
    text = f"The t-closeness of {leakage.target!r} is t = {number_text(t, '.3g')}."
    if certain is not None and float(t) < certain.share - certain.prior:
        t, size = certain.share - certain.prior, certain.group.size
        text += f" A class of near-certain values counts with {t:.3g}, as if all were equally far."
    return Measurement(name, t, text, columns, size)
