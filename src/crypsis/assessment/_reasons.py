"""What keeps a release from being called safe, apart from what was measured."""

from __future__ import annotations

from collections.abc import Sequence

from crypsis.assessment._columns import DECIDE, against_evidence, undecided
from crypsis.options import Role
from crypsis.policies.assessed import ColumnRole
from crypsis.policies.findings import EXCEEDED, Finding, Reason, Status
from crypsis.report.wording import named, plural, sentence_title, too_wide, undecided_text

_WITH_REASONS = ("columns.undecided", "columns.container_contents")
_OTHER_ROLE = "Set {identifiers} or {excluded}, or write the reason: {note=override}."
_NOT_RELEASED = "Remove it before the release, or write the reason: {note=override}."
_OPTIONS = {Role.SENSITIVE.value: "sensitive", Role.QUASI_IDENTIFIER.value: "quasi_identifiers"}


def reasons_against(
    columns: Sequence[ColumnRole], findings: Sequence[Finding], accepted: bool, complete: bool
) -> tuple[Reason, ...]:
    """What keeps the release from being called safe."""
    reasons = []
    if not complete:
        text = "The assessment was interrupted; what is not listed was not measured."
        reasons.append(Reason("interrupted", text))
    exceeded = sum(finding.status is Status.EXCEEDED for finding in findings)
    if exceeded:
        text = f"{plural(exceeded, 'threshold')} {'is' if exceeded == 1 else 'are'} exceeded."
        reasons.append(Reason(EXCEEDED, text))
    left = undecided(columns, accepted=accepted)
    if left:
        reasons.append(Reason("undecided-columns", undecided_text(left), DECIDE))
    reasons += [
        Reason(
            "role-against-evidence",
            f"Column {column.column!r} has the role {column.role!r} against the evidence: {column.evidence}",
            _NOT_RELEASED if column.role == Role.EXCLUDED.value else _OTHER_ROLE,
        )
        for column in against_evidence(columns)
    ]
    present = [column.column for column in columns if column.role == Role.EXCLUDED.value]
    if present:
        verb = "is" if len(present) == 1 else "are"
        counted = plural(len(present), "excluded column")
        text = f"{counted} {verb} in the data: {named(present)}."
        hint = f"Remove {'it' if len(present) == 1 else 'them'} before the release; anonymizing does."
        reasons.append(Reason("excluded-columns", text, hint))
    free = [column.column for column in columns if column.free_text]
    if free:
        reasons.append(Reason("free-text", f"Free text is never called safe: {named(free)}."))
    reasons += [
        Reason(
            "not-evaluated",
            f"{sentence_title(finding.measure, finding.k)}: not evaluated. "
            f"{finding.statement}{too_wide(finding)}",
            finding.hint,
        )
        for finding in findings
        if finding.status is Status.NOT_EVALUATED and finding.measure not in _WITH_REASONS
    ]
    return tuple(dict.fromkeys(reasons))


def milder_role_reasons(columns: Sequence[ColumnRole]) -> tuple[Reason, ...]:
    """Roles that are milder than strong evidence: what they hide was not asked."""
    not_asked = {
        Role.SENSITIVE.value: "That is a sensitive attribute; whether it can be inferred was not asked.",
        Role.QUASI_IDENTIFIER.value: "That is a quasi-identifier, known of everybody, and in no "
        "equivalence class.",
    }
    return tuple(
        Reason(
            "role-against-evidence",
            f"Column {column.column!r} has the role {column.role!r} against the evidence: "
            f"{column.stricter_reason} {not_asked[column.stricter_role or '']}",
            f"Set {{{_OPTIONS[column.stricter_role or '']}}}, or write the reason: {{note=override}}.",
        )
        for column in columns
    )
