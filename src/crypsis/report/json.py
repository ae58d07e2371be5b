"""Results as JSON: the same for the same input, keys in the order of the fields."""

from __future__ import annotations

import json
from typing import Any

from crypsis import __version__
from crypsis.results import Assessment, Result, Severity, Status, Verdict


def to_json(verb: str, result: Result, *, reveal: bool = False) -> str:
    """A result with the verb that made it and the version that knows its fields."""
    content = {"crypsis": __version__, "verb": verb, "result": result.to_dict(reveal=reveal)}
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)


FORMAT = 1
"""The version of the JSON of an assessment; it grows when a field changes its meaning."""


def assessment_json(assessment: Assessment) -> str:
    """An assessment as JSON; the time it was made is the only part that two equal runs differ in.

    No value of the data is in it.
    """
    head = {"crypsis": __version__, "verb": "assess", "format": FORMAT}
    content = {**head, "result": assessment.to_dict()}
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)


def schema() -> dict[str, Any]:
    """The JSON Schema of `assessment_json`."""
    estimate = _object(
        value=_NUMBER, low=_NUMBER, high=_NUMBER, confidence=_NUMBER, method=_TEXT, assumes=_TEXT
    )
    number = {"anyOf": [{"type": ["number", "null"]}, estimate]}
    remedy = _object(
        text=_TEXT, command=_MAYBE_TEXT, tried=_TRUTH, value_after=number, outcome=_TEXT
    )
    finding = _object(
        question=_TEXT, measure=_TEXT, status=_enum(Status), severity=_enum(Severity),
        statement=_TEXT, value=number, comparison={"enum": ["at most", "at least"]},
        threshold=_NUMBER, unit=_TEXT, crowd=_MAYBE_COUNT, why=_TEXT, source=_TEXT, columns=_TEXTS,
        people=_MAYBE_COUNT, remedy={"anyOf": [{"type": "null"}, remedy]},
    )  # fmt: skip
    column = _object(
        column=_TEXT, kind=_TEXT, role=_TEXT, guessed=_TRUTH, confidence=_NUMBER, reason=_TEXT,
        distinct={"anyOf": [_COUNT, estimate]}, missing=_COUNT, hipaa=_MAYBE_TEXT, free_text=_TRUTH,
    )  # fmt: skip
    answer = _object(
        question=_TEXT, title=_TEXT, status=_enum(Status), headline=_TEXT,
        results={"type": "object", "additionalProperties": {"type": "object"}}, notes=_TEXTS,
    )  # fmt: skip
    change = _object(measure=_TEXT, before=_NUMBER, after=_NUMBER, unit=_TEXT)
    result = _object(
        verdict=_enum(Verdict), complete=_TRUTH, reasons=_TEXTS, name=_TEXT, rows=_COUNT,
        policy={"type": "object"}, columns=_list(column), findings=_list(finding),
        answers=_list(answer), changes=_list(change), parameters={"type": "object"},
        versions={"type": "object", "additionalProperties": _TEXT},
        made={"type": "string", "format": "date-time"},
    )  # fmt: skip
    whole = _object(
        crypsis=_TEXT, verb={"const": "assess"}, format={"const": FORMAT}, result=result
    )
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Assessment"}
    return {**head, **whole}


_TEXT: dict[str, Any] = {"type": "string"}
_MAYBE_TEXT: dict[str, Any] = {"type": ["string", "null"]}
_TEXTS: dict[str, Any] = {"type": "array", "items": _TEXT}
_NUMBER: dict[str, Any] = {"type": "number"}
_COUNT: dict[str, Any] = {"type": "integer", "minimum": 0}
_MAYBE_COUNT: dict[str, Any] = {"type": ["integer", "null"], "minimum": 0}
_TRUTH: dict[str, Any] = {"type": "boolean"}


def _enum(kind: Any) -> dict[str, Any]:
    return {"enum": [one.value for one in kind]}


def _list(item: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": item}


def _object(**fields: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }
