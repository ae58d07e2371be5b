"""An assessment as SARIF 2.1.0: findings for code scanning and for editors."""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import sha256
from typing import Any
from urllib.parse import quote

from crypsis import __version__
from crypsis.policies.assessed import AssessmentData
from crypsis.policies.findings import EXCEEDED, Finding, Severity, Status, Verdict
from crypsis.report import wording
from crypsis.report.wording import Phrasing

_LEVELS = {
    Severity.CRITICAL: "error",
    Severity.HIGH: "error",
    Severity.MODERATE: "warning",
    Severity.NONE: "warning",
}


def assessment_sarif(
    assessment: AssessmentData, place: str | None = None, phrasing: Phrasing | None = None
) -> str:
    """A result for each threshold that is exceeded or was not evaluated, and for each reason.

    Parameters
    ----------
    assessment : AssessmentData
        The assessment.
    place : str, optional
        The file that the results are about, relative to the repository; by default the name of the
        release.
    phrasing : Phrasing, optional
        How hints are worded; by default as Python calls.

    Returns
    -------
    str
    """
    results = list(_results(assessment, phrasing or Phrasing()))
    if not results and not (assessment.verdict is Verdict.SAFE and assessment.complete):
        results = [_result("verdict", "warning", assessment.statement, "")]  # never empty unless safe
    uri = quote((place or assessment.name).replace("\\", "/"), safe="/:", errors="replace")
    location = {"physicalLocation": {"artifactLocation": {"uri": uri}, "region": {"startLine": 1}}}
    rules = {result["ruleId"]: result.pop("help") for result in results}
    driver = {
        "name": "crypsis",
        "version": __version__,
        "rules": [
            {"id": name, "shortDescription": {"text": _short(name)}, "help": {"text": text}}
            for name, text in rules.items()
        ],
    }
    run = {
        "tool": {"driver": driver},
        "invocations": [{"executionSuccessful": assessment.complete}],
        "results": [{**result, "locations": [location]} for result in results],
        "properties": {"verdict": assessment.verdict.value, "policy": assessment.policy["name"]},
    }
    head = {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0"}
    return json.dumps({**head, "runs": [run]}, indent=2, ensure_ascii=False)


def _results(assessment: AssessmentData, words: Phrasing) -> Iterator[dict[str, Any]]:
    for finding in assessment.findings:
        if finding.status in (Status.EXCEEDED, Status.NOT_EVALUATED):
            sentence = words.sentence(finding.statement, finding.hint)
            text = f"{sentence} The threshold is {wording.limit(finding)}."
            result = _result(finding.measure, _LEVELS[finding.severity], text, finding.why, *_key(finding))
            yield {**result, "properties": {"status": finding.status.value, "source": finding.source}}
    for reason in assessment.reasons:
        if reason.code != EXCEEDED:  # each of them is a result already
            yield _result(reason.code, "warning", words.reason(reason), reason.text, reason.text)


def _key(finding: Finding) -> tuple[str, ...]:
    return (*finding.columns, str(finding.k), finding.comparison)


def _result(rule: str, level: str, text: str, why: str, *key: str) -> dict[str, Any]:
    """A result; the fingerprint is that of the same finding in another run."""
    digest = sha256("\x1f".join((rule, *key)).encode("utf-8", "replace")).hexdigest()
    return {
        "ruleId": rule,
        "level": level,
        "message": {"text": wording.visible(text, 2_000)},
        "partialFingerprints": {"finding/v1": digest[:32]},
        "help": wording.visible(why, 2_000) or rule,
    }


def _short(rule: str) -> str:
    return wording.measure_title(rule) if "." in rule else rule.replace("-", " ")
