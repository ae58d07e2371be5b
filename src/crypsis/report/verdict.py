"""An assessment as text on one screen, in the terminal and in Python."""

from __future__ import annotations

from io import StringIO
from typing import TYPE_CHECKING

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from crypsis.policies.findings import Finding, Status, Verdict
from crypsis.report import wording
from crypsis.report.terminal import shown
from crypsis.report.wording import Phrasing

if TYPE_CHECKING:
    from crypsis.assessment.result import Assessment

_COLORS = {Verdict.SAFE: "green", Verdict.NOT_SAFE: "red", Verdict.CANNOT_TELL: "yellow"}
_STATUS_COLORS = {Status.EXCEEDED: "red", Status.NOT_EVALUATED: "yellow", Status.MET: "green"}
_MARKS = {Status.EXCEEDED: "✗", Status.NOT_EVALUATED: "?", Status.MET: "✓", Status.NOT_ASKED: "·"}
_FINDINGS = 4
_ABOUT_ROLES = (
    "undecided-columns", "person-undecided", "role-against-evidence", "excluded-columns",
)  # fmt: skip
_TEXT = 400
_OUTCOME = 240
_EXPLANATION = 700


def assessment_view(found: Assessment, phrasing: Phrasing) -> RenderableType:
    """The verdict, the four questions, the worst findings and the remedies.

    Parameters
    ----------
    found : Assessment
        The assessment.
    phrasing : Phrasing
        How the command line words remedies and options.
    """
    guessed = wording.guesses(found)
    parts: list[RenderableType] = [Text(guessed, "yellow")] if guessed else []
    verdict = (wording.head(found), f"bold {_COLORS[found.verdict]}")
    records, columns = wording.records(found), wording.plural(len(found.columns), "column")
    policy = f"policy {found.policy['title']} ({found.policy['date']}): {wording.outcome(found)}"
    parts += [
        Text.assemble(shown(found.name), ": ", verdict),
        Text(f"{records}, {columns}, {policy}", "dim"),
        shown(found.explanation, _EXPLANATION),
        *(shown(text, _EXPLANATION) for text in found.causes),
        "",
        _questions(found, phrasing),
    ]
    # If no role is decided, the first line has that, and the remedies begin with a roles file.
    every_guess = len(found.guessed) == len(found.columns) and wording.remedies(found, phrasing)
    missing = [one for one in found.findings if one.status is Status.NOT_EVALUATED]
    if found.exceeded or missing:
        parts += ["", _findings([*found.exceeded, *missing])]
    about_roles = [
        one
        for one in found.reasons
        if one.code in _ABOUT_ROLES and not (one.code == "undecided-columns" and every_guess)
    ]
    if about_roles and found.verdict is Verdict.NOT_SAFE:
        parts += ["", *(shown(phrasing.reason(one), _TEXT) for one in about_roles[:3])]
    reasons = wording.overrides(found)
    if reasons:
        parts += ["", Text("Roles against the evidence", "bold")]
        parts += [shown(reason, _TEXT) for reason in reasons]
    if found.changes:
        parts += ["", _changes(found)]
    parts += ["", *_remedies(found, phrasing)]
    return Group(*parts)


def assessment_text(found: Assessment) -> str:
    """The same as plain text, with remedies as Python calls."""
    text = StringIO()
    screen = Console(file=text, width=100, color_system=None, highlight=False)
    screen.print(assessment_view(found, Phrasing()), crop=False)
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines()).rstrip()


def _questions(found: Assessment, phrasing: Phrasing) -> Table:
    table = Table.grid(padding=(0, 1, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(ratio=1)
    for one in found.answers:
        color = _STATUS_COLORS.get(one.status, "dim")
        title, status = Text(one.title, "bold"), Text(wording.STATUSES[one.status], color)
        answered = one.status is not Status.NOT_ASKED or bool(one.results)
        line = title if answered else Text.assemble(title, " ", status)
        table.add_row(Text(_MARKS[one.status], color), line)
        if answered:
            table.add_row("", Text.assemble((f"{wording.TERMS[one.question]}: ", "dim"), status))
            table.add_row("", shown(phrasing.sentence(one.headline, one.hint), _TEXT))
        for note in one.notes:
            table.add_row("", Text.assemble("- ", shown(note, _TEXT)))
    return table


def _findings(findings: list[Finding]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    table.add_column("finding", overflow="fold")
    for head in ("value", "threshold", "records"):
        table.add_column(head, justify="right", no_wrap=True)
    for one in findings[:_FINDINGS]:
        name = Text(
            wording.measure_title(one.measure, one.k),
            "red" if one.status is Status.EXCEEDED else "yellow",
        )
        columns = one.columns[:1] if one.question == "inference" else one.columns
        if columns and one.question in ("inference", "columns"):
            names = [shown(column, 24) for column in wording.some(columns, 3)]
            name.append(": ").append(Text(", ").join(names))
        value = None if one.value is None else float(one.value)  # intervals are in the report
        table.add_row(
            name, wording.number(value, one.unit), wording.limit(one), wording.affected(one)
        )
    if len(findings) > _FINDINGS:
        table.add_row(Text(f"and {len(findings) - _FINDINGS} more", "dim"), "", "", "")
    return table


def _changes(found: Assessment) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    table.add_column("")
    for name in ("original", "release"):
        table.add_column(name, justify="right", no_wrap=True)
    for one in found.changes:
        values = (wording.number(value, one.unit) for value in (one.before, one.after))
        table.add_row(one.measure, *values)
    return table


def _alternatives(found: Assessment, phrasing: Phrasing) -> list[RenderableType]:
    """Other remedies that were tried, each with the last line of its command."""
    parts: list[RenderableType] = []
    for text, command in wording.alternatives(found, phrasing):
        parts.append(shown(wording.clauses(text, _OUTCOME), _TEXT))
        if command is not None:
            line = command.split("\n")[-1]
            parts.append(Text(f"  {shown(line, 2_000)}", no_wrap=True, overflow="ignore"))
    return [Text("Alternatives:", "bold"), *parts] if parts else []


def _remedies(found: Assessment, phrasing: Phrasing) -> list[RenderableType]:
    parts: list[RenderableType] = [
        shown(wording.clauses(outcome, _OUTCOME), _TEXT)
        for outcome in wording.outcomes(found, _FINDINGS)
    ]
    commands = wording.remedies(found, phrasing)
    if commands:
        parts.append(Text("Remedy:" if len(commands) == 1 else "Remedies:", "bold"))
        # Not wrapped, so that a command can be copied as one line.
        parts += [
            Text(f"  {shown(line, 2_000)}", no_wrap=True, overflow="ignore")
            for command in commands
            for line in command.split("\n")
        ]
        parts += _alternatives(found, phrasing)
    elif found.verdict is Verdict.CANNOT_TELL:
        parts += [
            Text.assemble("- ", shown(text, _TEXT)) for text in wording.missing(found, phrasing)[:3]
        ]
    return parts
