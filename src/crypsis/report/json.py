"""Results as JSON: the same for the same input, keys in the order of the fields."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from crypsis import __version__
from crypsis.policies.findings import Severity, Status, Verdict
from crypsis.results import Result, without_control

if TYPE_CHECKING:
    from crypsis.assessment.result import Assessment


def to_json(
    verb: str,
    result: Result,
    *,
    reveal: bool = False,
    more: Mapping[str, Sequence[Result]] | None = None,
) -> str:
    """A result with the verb that made it and the version that knows its fields.

    `more` are further results, which are lists of their own in it.
    """
    fields = result.to_dict(reveal=reveal)
    for name, others in (more or {}).items():
        fields[name] = [one.to_dict(reveal=reveal) for one in others]
    content = {"crypsis": __version__, "verb": verb, "result": fields}
    return without_control(json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False))


FORMAT = 3
"""The version of the JSON of an assessment; it is raised if a field changes its meaning."""
_EXIT_STATUSES = {Verdict.SAFE: 0, Verdict.NOT_SAFE: 1, Verdict.CANNOT_TELL: 4}


def assessment_json(assessment: Assessment) -> str:
    """An assessment as JSON without data values; two equal runs differ in `made` alone."""
    head = {"crypsis": __version__, "verb": "assess", "format": FORMAT}
    status = {"exit_status": exit_status(assessment)}
    content = {**head, **status, "result": assessment.to_dict()}
    return without_control(json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False))


def exit_status(assessment: Assessment) -> int:
    """The exit status of the command line: 0 safe, 1 not safe, 4 cannot tell, 130 interrupted."""
    return _EXIT_STATUSES[assessment.verdict] if assessment.complete else 130


def schema() -> dict[str, Any]:
    """The JSON Schema of `assessment_json`."""
    estimate = _object(
        value=_NUMBER, low=_NUMBER, high=_NUMBER, confidence=_NUMBER, method=_TEXT, assumes=_TEXT
    )
    number = {"anyOf": [{"type": ["number", "null"]}, estimate]}
    reason = _object(code=_TEXT, text=_TEXT, hint=_TEXT)
    about_remedy = {
        "action": _TEXT, "description": _TEXT, "parameters": {"type": "object"}, "tried": _BOOLEAN,
        "value_after": number, "outcome": _TEXT, "loss": _TEXT,
    }  # fmt: skip
    other = _object(**about_remedy, alternatives={"type": "array", "maxItems": 0})
    remedy = _object(**about_remedy, alternatives={"type": "array", "items": other})
    finding = _object(
        question=_TEXT, measure=_TEXT, status=_enum(Status), severity=_enum(Severity),
        statement=_TEXT, value=number, comparison={"enum": ["at most", "at least"]},
        threshold=_NUMBER, unit=_TEXT, k=_MAYBE_COUNT, why=_TEXT, source=_TEXT, columns=_TEXTS,
        affected=_MAYBE_COUNT, hint=_TEXT, remedy={"anyOf": [{"type": "null"}, remedy]},
    )  # fmt: skip
    column = _object(
        column=_TEXT, kind=_TEXT, role=_TEXT, guessed=_BOOLEAN, confidence=_NUMBER, reason=_TEXT,
        distinct={"anyOf": [_COUNT, estimate]}, missing=_COUNT, hipaa=_MAYBE_TEXT,
        free_text=_BOOLEAN, evidence=_TEXT, stricter_role=_MAYBE_TEXT, stricter_reason=_TEXT,
        override=_TEXT, links=_BOOLEAN,
    )  # fmt: skip
    answer = _object(
        question=_TEXT, title=_TEXT, status=_enum(Status), headline=_TEXT,
        results={"type": "object", "additionalProperties": {"type": "object"}}, notes=_TEXTS,
        hint=_TEXT,
    )  # fmt: skip
    change = _object(measure=_TEXT, before=_NUMBER, after=_NUMBER, unit=_TEXT)
    result = _object(
        verdict=_enum(Verdict), statement=_TEXT, complete=_BOOLEAN, reasons=_list(reason), name=_TEXT, rows=_COUNT,
        people=_MAYBE_COUNT,
        policy={"type": "object"}, columns=_list(column), findings=_list(finding),
        answers=_list(answer), changes=_list(change),
        not_asked={"type": "object", "additionalProperties": _TEXT},
        checklist=_list(_object(item=_TEXT, why=_TEXT, source=_TEXT, answer=_TEXT)), parameters={"type": "object"},
        versions={"type": "object", "additionalProperties": _TEXT},
        made={"type": "string", "format": "date-time"},
    )  # fmt: skip
    document = _object(
        crypsis=_TEXT, verb={"const": "assess"}, format={"const": FORMAT},
        exit_status={"enum": [*_EXIT_STATUSES.values(), 130]}, result=result,
    )  # fmt: skip
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Assessment"}
    return {**head, **document}


_TEXT: dict[str, Any] = {"type": "string"}
_MAYBE_TEXT: dict[str, Any] = {"type": ["string", "null"]}
_TEXTS: dict[str, Any] = {"type": "array", "items": _TEXT}
_NUMBER: dict[str, Any] = {"type": "number"}
_COUNT: dict[str, Any] = {"type": "integer", "minimum": 0}
_MAYBE_COUNT: dict[str, Any] = {"type": ["integer", "null"], "minimum": 0}
_BOOLEAN: dict[str, Any] = {"type": "boolean"}


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
