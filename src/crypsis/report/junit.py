"""An assessment as JUnit XML: a test case for each threshold, for CI servers."""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement, indent, tostring

from crypsis.policies.assessed import AssessmentData
from crypsis.policies.findings import EXCEEDED, Finding, Status, Verdict
from crypsis.report import wording
from crypsis.report.wording import Phrasing


def assessment_junit(assessment: AssessmentData, phrasing: Phrasing | None = None) -> str:
    """A test case for the verdict, for each threshold and for each reason.

    An exceeded threshold is a failure; what was not evaluated or keeps the release from being
    called safe is an error; what does not apply is skipped. The verdict fails unless it is "safe".

    Parameters
    ----------
    assessment : AssessmentData
        The assessment.
    phrasing : Phrasing, optional
        How hints are worded; by default as Python calls.

    Returns
    -------
    str
    """
    words = phrasing or Phrasing()
    suite = Element("testsuite", name=_clean(f"crypsis: {assessment.name}"), timestamp=assessment.made)
    safe = assessment.verdict is Verdict.SAFE and assessment.complete
    outcome = {Verdict.NOT_SAFE: "failure"}.get(assessment.verdict, "error")
    _case(suite, "verdict", str(assessment.policy["name"]), None if safe else outcome, assessment.statement)
    for finding in assessment.findings:
        sentence = words.sentence(finding.statement, finding.hint)
        _case(suite, finding.question, _title(finding), _OUTCOMES[finding.status], sentence, finding.why)
    for reason in assessment.reasons:
        if reason.code != EXCEEDED:  # each of them is a failure already
            _case(suite, "reasons", reason.code, "error", words.reason(reason))
    cases = suite.findall("testcase")
    suite.set("tests", str(len(cases)))
    for outcome, name in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        suite.set(name, str(sum(case.find(outcome) is not None for case in cases)))
    root = Element("testsuites")
    root.append(suite)
    indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, encoding="unicode")}\n'


_OUTCOMES = {
    Status.EXCEEDED: "failure",
    Status.NOT_EVALUATED: "error",
    Status.NOT_ASKED: "skipped",
    Status.MET: None,
}


def _case(suite: Element, group: str, name: str, outcome: str | None, message: str, more: str = "") -> None:
    case = SubElement(suite, "testcase", classname=f"crypsis.{group}", name=_clean(name))
    if outcome is None:
        SubElement(case, "system-out").text = _clean(message)
    else:
        SubElement(case, outcome, message=_clean(message)).text = _clean(more)


def _title(finding: Finding) -> str:
    """The measure, its columns and the threshold: two test cases differ in one of them."""
    columns = f" of {', '.join(wording.some(finding.columns))}" if finding.columns else ""
    return f"{wording.measure_title(finding.measure, finding.k)}{columns} ({wording.limit(finding)})"


def _clean(text: str) -> str:
    """Text without control characters and half surrogates, which XML cannot hold."""
    seen = wording.visible(text, 2_000).encode("utf-8", "replace").decode("utf-8")
    return seen.replace("\ufffe", "").replace("\uffff", "")
