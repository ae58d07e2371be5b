"""An assessment as Markdown: for a pull request, a ticket or a mail."""

from __future__ import annotations

import re
from collections.abc import Sequence

from crypsis.policies.assessed import AssessmentData
from crypsis.policies.findings import Finding, Status
from crypsis.report import wording
from crypsis.report.explanation import causes, explanation
from crypsis.report.wording import Phrasing


def safe(text: str, most: int = 300) -> str:
    """Text from the data, escaped for Markdown and HTML."""
    clean = wording.visible(text, most)
    clean = clean.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_{}\[\]#|~!])", r"\\\1", clean)


def assessment_summary(assessment: AssessmentData, phrasing: Phrasing | None = None) -> str:
    """Verdict, reasons, thresholds that are not met, and remedies.

    Parameters
    ----------
    assessment : AssessmentData
        The assessment.
    phrasing : Phrasing, optional
        How remedies and options are worded; by default as Python calls.
    """
    shown = [finding for finding in assessment.findings if finding.status in _NOT_MET]
    return "\n".join([*_summary(assessment, phrasing or Phrasing(), shown), ""])


def assessment_markdown(assessment: AssessmentData, phrasing: Phrasing | None = None) -> str:
    """Verdict, reasons, findings, questions and columns.

    Parameters
    ----------
    assessment : AssessmentData
        The assessment.
    phrasing : Phrasing, optional
        How remedies and options are worded; by default as Python calls.
    """
    words = phrasing or Phrasing()
    lines = _summary(assessment, words, assessment.findings)
    if assessment.checklist:
        lines += ["", "## Checklist", "", "| item | answer | why |", "| --- | --- | --- |"]
        lines += [
            f"| {safe(answer.item)} | {safe(answer.answer) or 'not answered'} | "
            f"{safe(answer.why)} ({safe(answer.source)}) |"
            for answer in assessment.checklist
        ]
    lines += ["", "## The four questions", ""]
    for answer in assessment.answers:
        term, status = wording.TERMS[answer.question], wording.STATUSES[answer.status]
        headline = words.sentence(answer.headline, answer.hint)
        lines.append(f"- **{answer.title}** ({term}; {status}) {safe(headline, 600)}")
        lines += [f"  - {safe(note, 600)}" for note in answer.notes]
    if assessment.changes:
        lines += ["", "## Original and release", "", "| | original | release |"]
        lines += ["| --- | --- | --- |"]
        lines += [
            f"| {change.measure} | {wording.number(change.before, change.unit)} | "
            f"{wording.number(change.after, change.unit)} |"
            for change in assessment.changes
        ]
    lines += ["", "## Columns", "", "| column | role | distinct | missing | evidence |"]
    lines += ["| --- | --- | --- | --- | --- |"]
    lines += [
        f"| {safe(column.column, 60)} | {column.role}{' (guessed)' if column.guessed else ''} | "
        f"{column.distinct:,} | {column.missing:,} | {safe(wording.column_evidence(column), 1200)} |"
        for column in assessment.columns
    ]
    versions = ", ".join(f"{name} {number}" for name, number in assessment.versions.items())
    lines += ["", f"Seed {assessment.parameters['seed']}. {versions}. {assessment.made}", ""]
    return "\n".join(lines)


_NOT_MET = (Status.EXCEEDED, Status.NOT_EVALUATED)


def _summary(assessment: AssessmentData, words: Phrasing, findings: Sequence[Finding]) -> list[str]:
    policy = assessment.policy
    lines = [
        f"# {safe(assessment.name)}: {wording.head(assessment).lower()}",
        "",
        f"{wording.records(assessment)}, {wording.plural(len(assessment.columns), 'column')}. "
        f"Policy {safe(policy['title'])} ({safe(policy['source'])}, {policy['date']}): "
        f"{wording.outcome(assessment)}.",
        "",
    ]
    lines += [safe(" ".join((explanation(assessment), *causes(assessment))), 1200), ""]
    guessed = wording.guesses(assessment)
    if guessed:
        lines += [f"**{guessed}**", ""]
    lines += [f"- {safe(words.reason(reason), 600)}" for reason in assessment.reasons]
    lines += [f"- Role against the evidence: {safe(text, 1200)}" for text in wording.overrides(assessment)]
    if findings:
        lines += ["", "## Findings", "", "| | finding | value | threshold | records | why |"]
        lines += ["| --- | --- | --- | --- | --- | --- |"]
        lines += [_row(finding) for finding in findings]
    commands = wording.remedies(assessment, words)
    if commands:
        lines += ["", "## Remedies", ""]
        for command in commands:
            shown = (wording.UNSEEN.sub("", line) for line in command.split("\n"))
            lines += ["```sh" if command.startswith("crypsis ") else "```python", *shown, "```"]
    for text, call in wording.alternatives(assessment, words):
        lines += ["", f"Alternative: {safe(text, 600)}", ""]
        if call is not None:
            shown = (wording.UNSEEN.sub("", line) for line in call.split("\n"))
            lines += ["```sh" if call.startswith("crypsis ") else "```python", *shown, "```"]
    outcomes = wording.outcomes(assessment)
    lines += ["", *(f"- {safe(text, 600)}" for text in outcomes)] if outcomes else []
    return lines


def _row(finding: Finding) -> str:
    mark = finding.severity.value if finding.status is Status.EXCEEDED else finding.status.value
    cells = (
        mark,
        safe(finding.statement, 600),
        wording.number(finding.value, finding.unit),
        wording.limit(finding),
        wording.affected(finding),
        f"{safe(finding.why)} ({safe(finding.source)})",
    )
    return f"| {' | '.join(cells)} |"
