"""Remedies: for each finding what to do, by name and parameters, tried in memory or not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from crypsis.assessment._questions import UNIQUE, without_signed_off
from crypsis.assessment._remedies._anonymize import (
    Trial,
    alternatives,
    anonymization,
    anonymize_remedy,
    impossible,
    reaching,
)
from crypsis.assessment._remedies._rank_swap import rank_swap_remedy
from crypsis.assessment._remedies._released_columns import (
    about_released_columns,
    other_columns,
    released_columns_remedy,
)
from crypsis.assessment._remedies._releases import releases_remedy
from crypsis.assessment._remedies._shared_values import identifying_attributes, sharing_text
from crypsis.assessment._remedies._suppress_items import suppress_items_remedy
from crypsis.assessment._request import Request
from crypsis.policies.findings import Finding, Remedy, Status
from crypsis.report.wording import named
from crypsis.results import percent_text

__all__ = ["with_remedies"]

_TEXTS = {
    "columns.identifiers_by_evidence": "Do not release {columns}, or write with its role why "
    "that identifies nobody.",
    "columns.free_text": "Exclude {columns}, or have every text read and redacted.",
    "columns.geographic_subdivisions": "Recode postal codes to three digits (000 for small areas); "
    "exclude other places.",
    "columns.dates_finer_than_year": "Recode dates to the year; exclude what has no year.",
    "columns.ages_over_89": "Recode ages above 89 to 90 and older.",
}
_KNOWN = frozenset(
    {
        "singling_out.unique_on_released_columns",
        "singling_out.small_classes_on_released_columns",
        "inference.prediction_gain",
    }
)
_OF_COLUMNS = _KNOWN - {"inference.prediction_gain"}
_OTHERWISE = ("pseudonyms", "releases", "synthetic")
"""The questions whose findings no anonymization of this release alone remedies."""
_GENERATE = (
    "Make the synthetic file anew: train the generator for fewer rounds, on more records, or with "
    "differential privacy, and remove records that are copies before the training of another one."
)
_COLUMNS = "Exclude {columns}; anonymization removes direct identifiers."
_CLASSES = "Generalize the quasi-identifiers and suppress records until the threshold is met."
_AVERAGE = (
    "Generalize the quasi-identifiers further, so that the average re-identification risk is at most the "
    "threshold: of records that are alike one is linked correctly."
)
_HARMLESS = f"{_CLASSES} Values that may become known can be declared harmless."
_BY_VALUE = frozenset({"inference.baseline_excess", "inference.near_certain_values", "inference.value_gain"})
_SIGNED_OFF = (
    "Exclude {columns}, or generalize {them} as quasi-identifiers: whoever has the original knows "
    "{them}, though no other intruder does."
)
_PRESENCE = (
    "Exclude {columns}, or release records of people without the value too. If everybody knows who "
    "is in the table, or the value may become known, write that with its role, or the share of "
    "people in the population who have it."
)


def with_remedies(
    findings: Sequence[Finding], request: Request, *, tried: bool, thorough: bool = False
) -> tuple[Finding, ...]:
    """The findings; those that exceed a threshold with their remedies.

    One anonymization is proposed for all findings that it can remedy, so that one command leads to
    a release that meets the policy; it is tried once. If `thorough`, its alternatives are tried too.
    """
    stated_request, request = request, request.of_people
    exceeded = [finding for finding in findings if finding.status is Status.EXCEEDED]
    released = [
        finding
        for finding in exceeded
        if finding.measure in _KNOWN or about_released_columns(finding, request.data)
    ]
    parameters: dict[str, Any] = {}
    trial: Trial | str | None = None
    unique = any(finding.measure == UNIQUE for finding in exceeded)
    identifying = identifying_attributes(request) if unique else ()
    if identifying or any(
        finding.question not in _OTHERWISE and finding not in released for finding in exceeded
    ):
        parameters = anonymization(request, exceeded)
        trial = impossible(request, parameters)
        if trial is None and tried:
            parameters, trial = reaching(request, parameters)
    remedies: tuple[Remedy, ...] = ()
    if thorough and isinstance(trial, Trial) and not trial.failure and parameters["k"] > 1:
        remedies = alternatives(request, parameters)

    def remedy(finding: Finding) -> Remedy:
        if finding.question == "linkage":
            return _linkage_remedy(finding, request, parameters, trial, tried)
        if finding.question == "pseudonyms":
            return suppress_items_remedy(finding, request, tried=tried)
        if finding.question == "releases":
            return releases_remedy(finding)
        if finding.question == "synthetic":
            return Remedy("none", _GENERATE)
        if identifying and finding.measure == UNIQUE:
            rounded = [name for name in identifying if name in parameters.get("methods", ())]
            if rounded:
                return anonymize_remedy(finding, sharing_text(request, rounded), parameters, trial)
            if not {*identifying} & {*other_columns(request.data)}:
                text = sharing_text(request, identifying)
                return Remedy("exclude_columns", text, {"columns": identifying}, outcome=text)
        if finding in released:
            if isinstance(trial, Trial) and _remedied(finding, trial):
                return anonymize_remedy(finding, _CLASSES, parameters, trial)
            if parameters and set(other_columns(request.data)) <= {request.data.weight}:
                return anonymize_remedy(finding, _CLASSES, parameters, trial)
            return released_columns_remedy(finding, request, tried=tried)
        if finding.measure == "inference.presence_disclosure":
            text = _PRESENCE.format(columns=named(finding.columns))
            if isinstance(trial, Trial) and not trial.failure:
                return anonymize_remedy(finding, text, parameters, trial)
            return Remedy("exclude_columns", text, {"columns": finding.columns})
        of_columns = _TEXTS.get(finding.measure, _COLUMNS).format(columns=named(finding.columns))
        of_classes = _HARMLESS if finding.measure in _BY_VALUE else _CLASSES
        text = of_columns if finding.question == "columns" else of_classes
        return anonymize_remedy(finding, text, parameters, trial)

    def with_others(remedy: Remedy) -> Remedy:
        if remedy.action == "anonymize" and request is not stated_request:
            return _of_original(remedy, str(request.data.person))
        return replace(remedy, alternatives=remedies) if remedy.action == "anonymize" else remedy

    return tuple(
        replace(finding, remedy=with_others(remedy(finding))) if finding in exceeded else finding
        for finding in findings
    )


def _of_original(remedy: Remedy, person: str) -> Remedy:
    """The anonymization of the original: without its people no class of the release has a size."""
    text = (
        f"Make the release again from its original, where {person!r} says whose records these are: "
        f"whoever anonymizes this file alone counts records. {remedy.description}"
    )
    return replace(remedy, action="none", description=text, parameters={})


def _remedied(finding: Finding, trial: Trial) -> bool:
    """Whether a finding's measure meets its threshold everywhere in a trial.

    Nor does it arise if the columns that it is about were left out.
    """
    same = [repeated.status for repeated in trial.findings if repeated.measure == finding.measure]
    fine = {Status.MET, Status.NOT_ASKED} if finding.measure in _OF_COLUMNS else {Status.MET}
    return bool(same) and {*same} <= fine


def _linkage_remedy(
    finding: Finding, request: Request, parameters: dict[str, Any], trial: Any, tried: bool
) -> Remedy:
    """The anonymization if it prevents the links too; else without the columns that were signed off,
    if that does; else stronger masks of the original.
    """
    if isinstance(trial, Trial) and _remedied(finding, trial):
        return anonymize_remedy(finding, _CLASSES, parameters, trial)
    signed = without_signed_off(request)
    if signed is not None and signed[1] <= finding.threshold:
        columns, share = signed
        text = _SIGNED_OFF.format(columns=named(columns), them="it" if len(columns) == 1 else "them")
        outcome = f"{text} At most {percent_text(share)} of the records can be linked then."
        return Remedy("exclude_columns", text, {"columns": columns}, True, share, outcome)
    swap = rank_swap_remedy(finding, request, tried=tried)
    if trial is None and swap.action != "rank_swap" and request.data.quasi_identifiers:
        limited = {**parameters, "average_risk": finding.threshold}
        return anonymize_remedy(finding, _AVERAGE, limited, trial)
    return swap
