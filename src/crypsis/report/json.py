"""Results as JSON: the same for the same input, keys in the order of the fields."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from crypsis import __version__
from crypsis.policies.assessed import AssessmentData
from crypsis.policies.findings import Verdict
from crypsis.results import Result, result_schema, without_control


def to_json(
    verb: str, result: Result, *, reveal: bool = False, more: Mapping[str, Sequence[Result]] | None = None
) -> str:
    """A result with the verb that made it and the version that knows its fields.

    `more` are further results, which are lists of their own in it.
    """
    fields = result.to_dict(reveal=reveal)
    for name, results_of_kind in (more or {}).items():
        fields[name] = [result.to_dict(reveal=reveal) for result in results_of_kind]
    content = {"crypsis": __version__, "verb": verb, "result": fields}
    return without_control(json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False))


FORMAT = 3
"""The version of the JSON of an assessment; it is raised if a field changes its meaning."""
_EXIT_STATUSES = {Verdict.SAFE: 0, Verdict.NOT_SAFE: 1, Verdict.CANNOT_TELL: 4}


def assessment_json(assessment: AssessmentData) -> str:
    """An assessment as JSON without data values; two equal runs differ in `made` alone."""
    head = {"crypsis": __version__, "verb": "assess", "format": FORMAT}
    status = {"exit_status": exit_status(assessment)}
    content = {**head, **status, "result": assessment.to_dict()}
    return without_control(json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False))


def exit_status(assessment: AssessmentData) -> int:
    """The exit status of the command line: 0 safe, 1 not safe, 4 cannot tell, 130 interrupted."""
    return _EXIT_STATUSES[assessment.verdict] if assessment.complete else 130


def schema(verb: str, kind: type[Result]) -> dict[str, Any]:
    """The JSON Schema of what a verb writes as JSON: the result, the verb and the version.

    Parameters
    ----------
    verb : str
        The command, such as "assess".
    kind : type of Result
        The class of its result.

    Returns
    -------
    dict
    """
    result_part = result_schema(kind)
    definitions = result_part.pop("$defs")
    properties: dict[str, Any] = {"crypsis": {"type": "string"}, "verb": {"const": verb}}
    if verb == "assess":
        statuses = [*_EXIT_STATUSES.values(), 130]
        properties |= {"format": {"const": FORMAT}, "exit_status": {"enum": statuses}}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"crypsis {verb}",
        "type": "object",
        "properties": {**properties, "result": result_part},
        "required": [*properties, "result"],
        "additionalProperties": False,
        "$defs": definitions,
    }
