"""Measurements of the disclosure of values: what each class discloses, value by value."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from crypsis.assessment._request import Request
from crypsis.dataset import Dataset
from crypsis.inference import AttributeValues, ValueDisclosure, ValueMeasure, WorstClass, value_disclosure
from crypsis.policies import Measurement
from crypsis.report.wording import plural
from crypsis.results import percent_text

PRESENCE = "inference.presence_disclosure"
MEASURES = (
    "inference.value_gain",
    "inference.value_ratio",
    "inference.baseline_excess",
    "inference.baseline_ratio",
    "inference.near_certain_values",
    "inference.interval_disclosure",
    PRESENCE,
)
"""The measures of this module."""
_KNOWN = {
    "value": "a value",
    "group": "a group of similar values",
    "interval": "a narrow interval",
    "words": "values that differ in their numbers alone",
    "codes": "codes that begin alike",
    "part": "a part of a value that is a list",
    "kind": "a value of one kind (a number, a bound or a word)",
    "known": "that a value is known",
    "not zero": "a value other than zero",
    "below zero": "a value below zero",
    "low": "a value of the lowest tenth",
    "high": "a value of the highest tenth",
    "not the most frequent": "a value other than the most frequent one",
    "not harmless": "a value that is not harmless",
}


def value_measurements(value_disclosure: ValueDisclosure, limits: Mapping[str, float]) -> list[Measurement]:
    """All measurements of all sensitive attributes."""
    measured = []
    for attribute in value_disclosure.attributes:
        columns = (attribute.attribute, *value_disclosure.quasi_identifiers)
        measured += [
            _measured("inference.value_gain", attribute, attribute.gain, columns, limits, 0.2),
            _measured("inference.value_ratio", attribute, attribute.ratio, columns, limits, 10),
            _measured("inference.baseline_excess", attribute, attribute.excess, columns, limits, 0.2),
            _measured("inference.baseline_ratio", attribute, attribute.excess_ratio, columns, limits, 30),
            _near_certain(attribute, columns),
            _presence(attribute),
        ]
        if attribute.interval is not None:
            name = "inference.interval_disclosure"
            measured.append(_measured(name, attribute, attribute.interval, columns, limits, 0.2))
    if all(attribute.interval is None for attribute in value_disclosure.attributes):
        why = "No sensitive attribute is a number or a date."
        measured.append(Measurement("inference.interval_disclosure", None, why, applies=False))
    return measured


def presence_notes(value_disclosure: ValueDisclosure, limit: float) -> list[str]:
    """Where nearly everybody has a number other than zero, and zero stands out."""
    return [
        f"{percent_text(attribute.not_zero)} of all records have a value of {attribute.attribute!r} "
        "other than zero. This counts as disclosed by presence only if zero is declared harmless or a prior "
        "is given."
        for attribute in value_disclosure.attributes
        if attribute.not_zero > limit and not attribute.presence_stated_public
    ]


def presence_in_other_files(request: Request) -> list[Measurement]:
    """What presence discloses of sensitive attributes that only further files of the release have."""
    measured = []
    if not any(threshold.measure == PRESENCE for threshold in request.policy.thresholds):
        return []
    for file in request.together:
        for name in file.data.sensitive:
            if name in request.data.names:
                continue
            table = file.data.to_arrow([name])
            everyone = f"all but {name}"
            table = table.append_column(everyone, pa.array(np.zeros(table.num_rows, np.int8)))
            notes = {name: file.data.notes[name]} if name in file.data.notes else {}
            data = Dataset.from_frame(table, quasi_identifiers=everyone, sensitive=name)
            data = data.with_roles(data.roles, notes)
            measured += [_presence(attribute) for attribute in value_disclosure(data).attributes]
    return measured


def not_counted(columns: tuple[str, ...], why: str) -> list[Measurement]:
    """The measurements where the classes could not be counted."""
    return [Measurement(name, None, why, columns) for name in MEASURES]


def prior_text(attribute_values: AttributeValues) -> str:
    """Where the prior is from."""
    return (
        f"in {attribute_values.prior_source}"
        if attribute_values.prior_source != "the rates given"
        else "by the rate given"
    )


def _measured(
    name: str,
    attribute_values: AttributeValues,
    measure: ValueMeasure,
    columns: tuple[str, ...],
    limits: Mapping[str, float],
    default: float,
) -> Measurement:
    limit = limits.get(name, default)
    affected = measure.records_above(limit)
    if measure.worst is None:
        text = f"No equivalence class discloses a value of {attribute_values.attribute!r}."
    else:
        are = "is" if affected == 1 else "are"
        text = (
            f"{_worst(attribute_values, measure.worst, name)} {plural(affected, 'record')} {are} in classes "
            "above the threshold."
        )
    return Measurement(name, measure.value, text, columns, affected)


def _worst(attribute_values: AttributeValues, worst: WorstClass, name: str) -> str:
    against = f"{percent_text(worst.prior)} {prior_text(attribute_values)}"
    if worst.level == "interval":
        against = f"{percent_text(worst.prior)} in this table"
    if worst.baseline is not None and name not in ("inference.value_gain", "inference.value_ratio"):
        against += f"; a model without the class predicts {percent_text(worst.baseline)}"
    return (
        f"In the worst equivalence class ({plural(worst.group.size, attribute_values.unit)}) "
        f"{percent_text(worst.share)} share {_KNOWN[worst.level]} of {attribute_values.attribute!r} "
        f"({against})."
    )


def _near_certain(attribute_values: AttributeValues, columns: tuple[str, ...]) -> Measurement:
    name, worst = "inference.near_certain_values", attribute_values.near_certain_class
    if worst is None:
        text = f"No rare or declared value of {attribute_values.attribute!r} is near-certain in a class."
        return Measurement(name, 0, text, columns)
    noun = "class" if attribute_values.near_certain_classes == 1 else "classes"
    source = "in this table" if worst.level == "interval" else prior_text(attribute_values)
    people = attribute_values.near_certain_people
    whose = "" if people is None else f" of {plural(people, 'person')}"
    text = (
        f"{plural(attribute_values.near_certain, 'record')}{whose} in "
        f"{attribute_values.near_certain_classes:,} equivalence {noun} "
        f"{'discloses' if attribute_values.near_certain == 1 else 'disclose'} "
        f"{attribute_values.attribute!r} with near-certainty; in the largest class "
        f"({plural(worst.group.size, attribute_values.unit)}) "
        f"{percent_text(worst.share)} share {_KNOWN[worst.level]} ({percent_text(worst.prior)} "
        f"{source})."
    )
    return Measurement(name, attribute_values.near_certain, text, columns, attribute_values.near_certain)


def _presence(attribute_values: AttributeValues) -> Measurement:
    name, share = PRESENCE, attribute_values.presence
    if attribute_values.presence_stated_public:
        text = f"The owner states that presence is public ({attribute_values.attribute!r})."
        return Measurement(name, None, text, (attribute_values.attribute,), applies=False)
    if share == 0:
        text = f"Presence in the release discloses no value of {attribute_values.attribute!r}."
        return Measurement(name, 0.0, text, (attribute_values.attribute,))
    text = f"{percent_text(share)} of all records share a value or group of {attribute_values.attribute!r}"
    if attribute_values.presence_prior is not None:
        text += f" ({percent_text(attribute_values.presence_prior)} {prior_text(attribute_values)})"
    affected = round(share * attribute_values.records)
    return Measurement(name, share, f"{text}.", (attribute_values.attribute,), affected)
