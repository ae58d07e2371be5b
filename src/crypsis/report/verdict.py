"""An assessment in the terminal, in one screen."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from crypsis.report import wording
from crypsis.report.terminal import shown
from crypsis.results import Assessment, Finding, Status, Verdict

_COLOURS = {Verdict.SAFE: "green", Verdict.NOT_SAFE: "red", Verdict.CANNOT_TELL: "yellow"}
_STATE_COLOURS = {Status.OUTSIDE: "red", Status.UNKNOWN: "yellow", Status.WITHIN: "green"}
_MARKS = {Status.OUTSIDE: "✗", Status.UNKNOWN: "?", Status.WITHIN: "✓", Status.NOT_ASKED: "·"}
_FINDINGS = 4
_TEXT = 400


def assessment_view(found: Assessment) -> RenderableType:
    """The verdict, the four questions, the worst findings and what to do."""
    guessed = wording.guesses(found)
    parts: list[RenderableType] = []
    if guessed:
        parts.append(Text(guessed, "yellow"))
    parts += [
        Text.assemble(
            shown(found.name), ": ", (wording.head(found), f"bold {_COLOURS[found.verdict]}")
        ),
        Text(
            f"{found.rows:,} rows, {len(found.columns)} columns, policy "
            f"{found.policy['title']} of {found.policy['date']}",
            "dim",
        ),
        "",
        _questions(found),
    ]
    missing = [one for one in found.findings if one.status is Status.UNKNOWN]
    if found.exposed or missing:
        parts += ["", _findings([*found.exposed, *missing])]
    parts += ["", *_advice(found)]
    return Group(*parts)


def _questions(found: Assessment) -> Table:
    table = Table.grid(padding=(0, 1, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(ratio=1)
    for one in found.answers:
        colour = _STATE_COLOURS.get(one.status, "dim")
        head = Text(one.title, "bold")
        head.append(f" {wording.STATES[one.status]}", colour)
        table.add_row(Text(_MARKS[one.status], colour), head)
        if one.status is not Status.NOT_ASKED or one.results:
            table.add_row("", shown(one.headline, _TEXT))
    return table


def _findings(findings: list[Finding]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    table.add_column("finding", overflow="fold")
    for head in ("number", "threshold", "people"):
        table.add_column(head, justify="right", no_wrap=True)
    for one in findings[:_FINDINGS]:
        colour = "red" if one.status is Status.OUTSIDE else "yellow"
        name = Text(one.measure, colour)
        columns = one.columns[:1] if one.question == "inference" else one.columns
        if columns and one.question in ("inference", "columns"):
            name.append(": ").append(
                Text(", ").join(shown(c, 24) for c in wording.some(columns, 3))
            )
        value = None if one.value is None else float(one.value)  # intervals are in the report
        table.add_row(
            name, wording.number(value, one.unit), wording.limit(one), wording.exposed(one)
        )
    if len(findings) > _FINDINGS:
        table.add_row(Text(f"and {len(findings) - _FINDINGS} more", "dim"), "", "", "")
    return table


def _advice(found: Assessment) -> list[RenderableType]:
    remedies = [one.remedy for one in found.exposed if one.remedy is not None]
    outcomes = [
        f"{one.measure}: {one.remedy.outcome}"
        for one in found.exposed[:_FINDINGS]
        if one.remedy is not None and one.remedy.outcome
    ]
    commands = dict.fromkeys(one.command for one in remedies if one.command)
    parts: list[RenderableType] = [shown(outcome, _TEXT) for outcome in outcomes]
    if commands:
        lines = [line for command in commands for line in command.split("\n")]
        parts.append(Text("Do this:", "bold"))
        # Not wrapped: a line that is broken by the screen can still be pasted whole.
        parts += [
            Text(f"  {shown(line, 2_000)}", no_wrap=True, overflow="ignore") for line in lines
        ]
    elif found.verdict is Verdict.CANNOT_TELL:
        parts += [Text.assemble("- ", shown(reason, _TEXT)) for reason in found.reasons[:3]]
    return parts
