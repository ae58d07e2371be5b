"""An assessment as Markdown: for a pull request, a ticket or a mail."""

from __future__ import annotations

import re

from crypsis.report import wording
from crypsis.results import Assessment, Finding, Status

# Marks of direction and of no width, and control characters: they hide or reorder text.
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")


def safe(text: str, most: int = 300) -> str:
    """Text from the data so that it means nothing in Markdown or HTML and stays in its cell."""
    clean = _UNSEEN.sub("", text)
    clean = clean if len(clean) <= most else clean[: most - 1] + "…"
    clean = clean.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_{}\[\]#|~!])", r"\\\1", clean)


def assessment_markdown(found: Assessment) -> str:
    """Verdict, reasons, findings, questions and columns."""
    policy = found.policy
    lines = [
        f"# {safe(found.name)}: {wording.head(found).lower()}",
        "",
        f"{found.rows:,} rows, {len(found.columns)} columns, held against the policy "
        f"{safe(policy['title'])} ({safe(policy['source'])}, {policy['date']}).",
        "",
    ]
    guessed = wording.guesses(found)
    if guessed:
        lines += [f"**{guessed}**", ""]
    lines += [f"- {safe(reason, 600)}" for reason in found.reasons]
    lines += ["", "## Findings", "", "| | finding | number | threshold | people | why |"]
    lines += ["| --- | --- | --- | --- | --- | --- |"]
    lines += [_row(one) for one in found.findings]
    commands = dict.fromkeys(
        one.remedy.command for one in found.exposed if one.remedy and one.remedy.command
    )
    if commands:
        lines += ["", "## What to do", ""]
        for command in commands:
            lines += ["```sh", *(_UNSEEN.sub("", line) for line in command.split("\n")), "```"]
    lines += _outcomes(found)
    lines += ["", "## The four questions", ""]
    for one in found.answers:
        state = wording.STATES[one.status]
        lines.append(f"- **{one.title}** ({state}) {safe(one.headline, 600)}")
        lines += [f"  - {safe(note, 600)}" for note in one.notes]
    if found.changes:
        lines += ["", "## Before and after", "", "| | before | after |", "| --- | --- | --- |"]
        lines += [
            f"| {one.measure} | {wording.number(one.before, one.unit)} | "
            f"{wording.number(one.after, one.unit)} |"
            for one in found.changes
        ]
    lines += ["", "## Columns", "", "| column | role | distinct | missing | why |"]
    lines += ["| --- | --- | --- | --- | --- |"]
    lines += [
        f"| {safe(one.column, 60)} | {one.role}{' (guessed)' if one.guessed else ''} | "
        f"{one.distinct:,} | {one.missing:,} | {safe(one.reason)} |"
        for one in found.columns
    ]
    versions = ", ".join(f"{name} {number}" for name, number in found.versions.items())
    lines += ["", f"Seed {found.parameters['seed']}. {versions}. {found.made}", ""]
    return "\n".join(lines)


def _row(one: Finding) -> str:
    mark = one.severity.value if one.status is Status.OUTSIDE else one.status.value
    cells = (
        mark, safe(one.statement, 600), wording.number(one.value, one.unit), wording.limit(one),
        wording.exposed(one), f"{safe(one.why)} ({safe(one.source)})",
    )  # fmt: skip
    return f"| {' | '.join(cells)} |"


def _outcomes(found: Assessment) -> list[str]:
    told = [
        f"{one.measure}: {one.remedy.outcome}"
        for one in found.exposed
        if one.remedy and one.remedy.outcome
    ]
    return ["", *(f"- {safe(text, 600)}" for text in told)] if told else []
