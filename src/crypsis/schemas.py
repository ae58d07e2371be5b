"""JSON Schemas of the files that people write and of the results that programs read.

Each is made from the definitions that crypsis itself uses, so that it cannot differ from them. Editors
complete and check roles, policies and plans with them; `crypsis schema policy` prints one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from crypsis.errors import ParameterError
from crypsis.options import Role
from crypsis.results import Result, result_schema

_DRAFT = "https://json-schema.org/draft/2020-12/schema"


def schema(of: str) -> dict[str, Any]:
    """The JSON Schema of a kind of file or of the JSON that a command writes.

    Parameters
    ----------
    of : str
        One of `SCHEMAS`: "roles", "policy", "plan", or a command such as "assess".

    Returns
    -------
    dict

    Raises
    ------
    ParameterError
        If there is no such schema.

    Examples
    --------
    >>> schema("roles")["required"], schema("plan")["title"]
    (['roles'], 'Plan')
    """
    if of not in SCHEMAS:
        raise ParameterError(
            f"{of!r} has no schema. There are: {', '.join(SCHEMAS)}.", code="unknown-schema", parameter="of"
        )
    return SCHEMAS[of]()


def _roles() -> dict[str, Any]:
    """A roles file: the roles and the notes of columns, units, answers, contents of the file."""
    from crypsis.dataset import SAMPLE_KEYWORDS, ColumnNote

    notes = result_schema(ColumnNote)["$defs"]["ColumnNote"]["properties"]
    role = {"enum": [role_member.value for role_member in Role], "description": "The role of the column."}
    with_notes = {
        "type": "object",
        "properties": {"role": role, **notes},
        "required": ["role"],
        "additionalProperties": False,
    }
    texts = {"type": "object", "additionalProperties": {"type": "string"}}
    tables = {
        "roles": {
            "type": "object",
            "description": "Each column with its role, or with a table of its role and notes.",
            "additionalProperties": {"anyOf": [role, with_notes]},
        },
        "units": {
            "type": "object",
            "description": "The columns of persons, households and the sample.",
            "properties": {name: {"type": "string"} for name in SAMPLE_KEYWORDS},
            "additionalProperties": False,
        },
        "answers": {**texts, "description": "The owner's signed answers to a policy's checklist."},
        "container": {**texts, "description": "What the file contains besides the table, and why."},
    }
    return {
        "$schema": _DRAFT,
        "title": "Roles",
        "type": "object",
        "properties": tables,
        "required": ["roles"],
        "additionalProperties": False,
    }


def _policy() -> dict[str, Any]:
    from crypsis.policies import Policy

    return {"$schema": _DRAFT, **Policy.model_json_schema()}


def _plan() -> dict[str, Any]:
    from crypsis.protection import Plan

    return {"$schema": _DRAFT, **Plan.model_json_schema()}


def _scan() -> dict[str, Any]:
    """A scan has the quasi-identifiers too if they were searched for."""
    from crypsis.columns.profile import Profile
    from crypsis.singling_out import QuasiIdentifiers

    scan_schema = _written("scan", Profile)
    searched = result_schema(QuasiIdentifiers)
    scan_schema["$defs"] |= searched.pop("$defs")
    scan_schema["$defs"]["Profile"]["properties"]["quasi_identifiers"] = searched
    return scan_schema


def _histories() -> dict[str, Any]:
    """What is inferred, and the fewest events that single a person out, are there if asked for."""
    from crypsis.inference import HistoryDisclosure
    from crypsis.singling_out import SmallestEvents, Unicity

    histories_schema = _written("histories", Unicity)
    properties = histories_schema["$defs"]["Unicity"]["properties"]
    for name, kind in (("inferred", HistoryDisclosure), ("smallest_events", SmallestEvents)):
        part_schema = result_schema(kind)
        histories_schema["$defs"] |= part_schema.pop("$defs")
        properties[name] = {"type": "array", "items": part_schema}
    return histories_schema


def _of(verb: str, module: str, name: str) -> Callable[[], dict[str, Any]]:
    def made() -> dict[str, Any]:
        from importlib import import_module

        return _written(verb, getattr(import_module(module), name))

    return made


def _written(verb: str, kind: type[Result]) -> dict[str, Any]:
    from crypsis.report.json import schema as written

    return written(verb, kind)


SCHEMAS: dict[str, Callable[[], dict[str, Any]]] = {
    "roles": _roles,
    "policy": _policy,
    "plan": _plan,
    "scan": _scan,
    "assess": _of("assess", "crypsis.assessment", "Assessment"),
    "anonymize": _of("anonymize", "crypsis.protection", "Anonymized"),
    "rewrite": _of("rewrite", "crypsis.dataset", "CleanCopy"),
    "compare": _of("compare", "crypsis.linkage", "Comparison"),
    "verify": _of("verify", "crypsis.linkage", "RecordVerification"),
    "leak": _of("leak", "crypsis.inference", "Leakages"),
    "attack": _of("attack", "crypsis.pseudonyms", "AttackOutcome"),
    "explore": _of("explore", "crypsis.protection", "Exploration"),
    "histories": _histories,
    "indicators": _of("indicators", "crypsis.utility", "IndicatorCheck"),
    "posterior": _of("posterior", "crypsis.protection", "LinkPosterior"),
    "package": _of("package check", "crypsis.assessment", "PackageCheck"),
}
"""What has a schema: three kinds of files, and the commands that write JSON."""
WRITTEN_BY = {
    "attack": "attack frequencies",
    "explore": "anonymize --explore",
    "histories": "attack histories",
    "indicators": "compare --indicators",
    "posterior": "compare --method",
    "package": "package check",
}
"""The commands, or one of them, where they have another name than the schema."""
