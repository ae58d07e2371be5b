"""An assessment as text on one screen, in the terminal and in Python."""

from __future__ import annotations

from io import StringIO

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from crypsis.policies.assessed import AssessmentData
from crypsis.policies.findings import Finding, Status, Verdict
from crypsis.report import wording
from crypsis.report.explanation import causes, explanation
from crypsis.report.terminal import shown
from crypsis.report.wording import Phrasing

_COLORS = {Verdict.SAFE: "green", Verdict.NOT_SAFE: "red", Verdict.CANNOT_TELL: "yellow"}
_STATUS_COLORS = {Status.EXCEEDED: "red", Status.NOT_EVALUATED: "yellow", Status.MET: "green"}
_MARKS = {Status.EXCEEDED: "✗", Status.NOT_EVALUATED: "?", Status.MET: "✓", Status.NOT_ASKED: "·"}
_SHOWN_FINDINGS = 4
"""So many findings of a question are shown; the others are counted."""
_ABOUT_ROLES = ("undecided-columns", "person-undecided", "role-against-evidence", "excluded-columns")
_MAX_TEXT_CHARACTERS = 400
"""Longer reasons, headlines and notes are cut."""
_MAX_OUTCOME_CHARACTERS = 240
"""Longer outcomes of remedies are cut at the end of a clause."""
_MAX_EXPLANATION_CHARACTERS = 700
"""Longer explanations are cut."""


def assessment_view(assessment: AssessmentData, phrasing: Phrasing) -> RenderableType:
    """The verdict, the four questions, the worst findings and the remedies.

    Parameters
    ----------
    assessment : AssessmentData
        The assessment.
    phrasing : Phrasing
        How the command line words remedies and options.
    """
    guessed = wording.guesses(assessment)
    parts: list[RenderableType] = [Text(guessed, "yellow")] if guessed else []
    verdict = (wording.head(assessment), f"bold {_COLORS[assessment.verdict]}")
    records, columns = (wording.records(assessment), wording.plural(len(assessment.columns), "column"))
    policy = (
        f"policy {assessment.policy['title']} ({assessment.policy['date']}): {wording.outcome(assessment)}"
    )
    parts += [
        Text.assemble(shown(assessment.name), ": ", verdict),
        Text(f"{records}, {columns}, {policy}", "dim"),
        shown(explanation(assessment), _MAX_EXPLANATION_CHARACTERS),
        *(shown(text, _MAX_EXPLANATION_CHARACTERS) for text in causes(assessment)),
        "",
        _questions(assessment, phrasing),
    ]
    # If no role is decided, the first line has that, and the remedies begin with a roles file.
    every_guess = len(assessment.guessed) == len(assessment.columns) and wording.remedies(
        assessment, phrasing
    )
    missing = [finding for finding in assessment.findings if finding.status is Status.NOT_EVALUATED]
    if assessment.exceeded or missing:
        parts += ["", _findings([*assessment.exceeded, *missing])]
    about_roles = [
        reason
        for reason in assessment.reasons
        if reason.code in _ABOUT_ROLES and not (reason.code == "undecided-columns" and every_guess)
    ]
    if about_roles and assessment.verdict is Verdict.NOT_SAFE:
        parts += [
            "",
            *(shown(phrasing.reason(about_role), _MAX_TEXT_CHARACTERS) for about_role in about_roles[:3]),
        ]
    reasons = wording.overrides(assessment)
    if reasons:
        parts += ["", Text("Roles against the evidence", "bold")]
        parts += [shown(reason, _MAX_TEXT_CHARACTERS) for reason in reasons]
    if assessment.changes:
        parts += ["", _changes(assessment)]
    parts += ["", *_remedies(assessment, phrasing)]
    return Group(*parts)


def assessment_text(assessment: AssessmentData) -> str:
    """The same as plain text, with remedies as Python calls."""
    text = StringIO()
    screen = Console(file=text, width=100, color_system=None, highlight=False)
    screen.print(assessment_view(assessment, Phrasing()), crop=False)
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines()).rstrip()


def _questions(assessment: AssessmentData, phrasing: Phrasing) -> Table:
    table = Table.grid(padding=(0, 1, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(ratio=1)
    for answer in assessment.answers:
        color = _STATUS_COLORS.get(answer.status, "dim")
        title, status = Text(answer.title, "bold"), Text(wording.STATUSES[answer.status], color)
        answered = answer.status is not Status.NOT_ASKED or bool(answer.results)
        line = title if answered else Text.assemble(title, " ", status)
        table.add_row(Text(_MARKS[answer.status], color), line)
        if answered:
            table.add_row("", Text.assemble((f"{wording.TERMS[answer.question]}: ", "dim"), status))
            table.add_row("", shown(phrasing.sentence(answer.headline, answer.hint), _MAX_TEXT_CHARACTERS))
        for note in answer.notes:
            table.add_row("", Text.assemble("- ", shown(note, _MAX_TEXT_CHARACTERS)))
    return table


def _findings(findings: list[Finding]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    table.add_column("finding", overflow="fold")
    for head in ("value", "threshold", "records"):
        table.add_column(head, justify="right", no_wrap=True)
    for finding in findings[:_SHOWN_FINDINGS]:
        name = Text(
            wording.measure_title(finding.measure, finding.k),
            "red" if finding.status is Status.EXCEEDED else "yellow",
        )
        columns = finding.columns[:1] if finding.question == "inference" else finding.columns
        if columns and finding.question in ("inference", "columns"):
            names = [shown(column, 24) for column in wording.some(columns, 3)]
            name.append(": ").append(Text(", ").join(names))
        value = None if finding.value is None else float(finding.value)  # intervals are in the report
        table.add_row(
            name, wording.number(value, finding.unit), wording.limit(finding), wording.affected(finding)
        )
    if len(findings) > _SHOWN_FINDINGS:
        table.add_row(Text(f"and {len(findings) - _SHOWN_FINDINGS} more", "dim"), "", "", "")
    return table


def _changes(assessment: AssessmentData) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    table.add_column("")
    for name in ("original", "release"):
        table.add_column(name, justify="right", no_wrap=True)
    for change in assessment.changes:
        values = (wording.number(value, change.unit) for value in (change.before, change.after))
        table.add_row(change.measure, *values)
    return table


def _alternatives(assessment: AssessmentData, phrasing: Phrasing) -> list[RenderableType]:
    """Other remedies that were tried, each with the last line of its command."""
    parts: list[RenderableType] = []
    for text, command in wording.alternatives(assessment, phrasing):
        parts.append(shown(wording.clauses(text, _MAX_OUTCOME_CHARACTERS), _MAX_TEXT_CHARACTERS))
        if command is not None:
            line = command.split("\n")[-1]
            parts.append(Text(f"  {shown(line, 2_000)}", no_wrap=True, overflow="ignore"))
    return [Text("Alternatives:", "bold"), *parts] if parts else []


def _remedies(assessment: AssessmentData, phrasing: Phrasing) -> list[RenderableType]:
    parts: list[RenderableType] = [
        shown(wording.clauses(outcome, _MAX_OUTCOME_CHARACTERS), _MAX_TEXT_CHARACTERS)
        for outcome in wording.outcomes(assessment, _SHOWN_FINDINGS)
    ]
    commands = wording.remedies(assessment, phrasing)
    if commands:
        parts.append(Text("Remedy:" if len(commands) == 1 else "Remedies:", "bold"))
        # Not wrapped, so that a command can be copied as one line.
        parts += [
            Text(f"  {shown(line, 2_000)}", no_wrap=True, overflow="ignore")
            for command in commands
            for line in command.split("\n")
        ]
        parts += _alternatives(assessment, phrasing)
    elif assessment.verdict is Verdict.CANNOT_TELL:
        parts += [
            Text.assemble("- ", shown(text, _MAX_TEXT_CHARACTERS))
            for text in wording.missing(assessment, phrasing)[:3]
        ]
    return parts
