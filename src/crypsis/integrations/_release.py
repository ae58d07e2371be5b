"""One assessment for every tool: roles from a file or as keywords, and how its result is worded."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, TypedDict

from crypsis.assessment import Assessment, assess
from crypsis.columns import roles
from crypsis.dataset import as_dataset
from crypsis.errors import ParameterError
from crypsis.options import Columns
from crypsis.policies import Policy
from crypsis.policies.findings import Verdict
from crypsis.report.wording import Phrasing


class ReleaseOptions(TypedDict, total=False):
    """How a release is assessed: options of `crypsis.assess`, or a file with the roles."""

    roles_file: str | Path
    """A roles file, a data contract or Frictionless metadata, instead of the roles below."""
    identifiers: Columns
    quasi_identifiers: Columns
    sensitive: Columns
    insensitive: Columns
    excluded: Columns
    person: str
    person_reason: str
    household: str
    weight: str
    population: int
    missing: str
    policy: str | Path | Policy
    context: str
    original: Any
    accept_guesses: bool
    name: str
    seed: int


def assess_release(data: Any, **options: Any) -> Assessment:
    """Assess a release; `options` are `ReleaseOptions`."""
    file = options.pop("roles_file", None)
    if file is None:
        return assess(data, **options)
    if any(name in options for name in ("identifiers", "quasi_identifiers", "sensitive")):
        raise ParameterError(
            "Roles were given in a file and one by one.", hint="Set {roles_file} or the roles."
        )
    table = options.get("name")
    dataset = as_dataset(data)
    filed = roles.load(file, dataset.names, table)
    units: dict[str, Any] = {**filed.units}
    decided = replace(
        dataset.with_roles(filed.roles, filed.notes, filed.container), absent=filed.absent, **units
    )
    return assess(decided, answers=roles.load_answers(file, table), **options)


def is_safe(assessment: Assessment) -> bool:
    """Whether a complete assessment says "safe"."""
    return assessment.verdict is Verdict.SAFE and assessment.complete


def explanation(assessment: Assessment) -> str:
    """The verdict and why, in a few lines without data values."""
    words = Phrasing()
    lines = [f"{assessment.statement}."]
    lines += [f"- {finding.statement}" for finding in assessment.exceeded]
    lines += [f"- {words.reason(reason)}" for reason in assessment.reasons]
    return "\n".join(lines)
