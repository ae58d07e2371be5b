"""What would make it safe, the conditions of use, the limits, and the decision."""

from __future__ import annotations

from collections.abc import Iterator

from crypsis.policies.findings import Verdict
from crypsis.report import wording
from crypsis.report.dossier.blocks import Block, Bullets, Facts, Grid, Heading, Section, Signatures, Text
from crypsis.report.dossier.content import DossierContent

_MAX_LOSS_CHARACTERS = 600
"""How many characters of what a release loses are shown, to the end of a clause."""


def remedies(dossier: DossierContent) -> Section | None:
    """What would make the release safe, or decide whether it is: each remedy and command once."""
    assessment, phrasing = dossier.assessment, dossier.phrasing
    if assessment.verdict is Verdict.SAFE:
        return None
    effects: dict[str, list[str]] = {}
    texts = dict.fromkeys(
        wording.remedy_text(finding.remedy) for finding in assessment.exceeded if finding.remedy is not None
    )
    for finding in assessment.exceeded:
        if finding.remedy is not None:
            own_text = wording.remedy_text(finding.remedy)
            # What says the same and more stands for both.
            said = [text for text in texts if text.startswith(own_text)]
            after = effects.setdefault(max(said, key=len), [])
            if finding.remedy.value_after is not None and own_text == finding.remedy.description:
                value = wording.number(finding.remedy.value_after, finding.unit)
                after.append(f"{wording.measure_title(finding.measure, finding.k)}, {value}")
    described = [
        f"{text} After it was tried: {'; '.join(dict.fromkeys(after))}." if after else text
        for text, after in effects.items()
    ]
    tried = [finding.remedy for finding in assessment.exceeded if finding.remedy is not None]
    losses = dict.fromkeys(
        wording.clauses(f"The release that was tried: {remedy.loss}", _MAX_LOSS_CHARACTERS)
        for remedy in tried
        if remedy.loss
    )
    open_ = assessment.verdict is Verdict.CANNOT_TELL
    reasons = (
        wording.missing(assessment, phrasing)
        if open_
        else [
            phrasing.reason(reason)
            for reason in assessment.reasons
            if reason.code not in ("threshold-exceeded", "not-evaluated")
        ]
    )
    items = [*described, *losses, *reasons]
    blocks: list[Block] = [Bullets(tuple(wording.visible(item, 1_500) for item in items))] if items else []
    commands = wording.remedies(assessment, phrasing)
    if commands:
        blocks.append(
            Text(
                "\n".join(wording.visible(line, 2_000) for text in commands for line in text.split("\n")),
                "code",
            )
        )
    title = "What is missing for a verdict" if open_ else "What would make it safe"
    return Section("remedies", title, tuple(blocks)) if blocks else None


def conditions(dossier: DossierContent) -> Section:
    """The conditions that the recipient accepts, and what this assessment does not cover."""
    assessment = dossier.assessment
    context = assessment.policy.get("context")
    blocks: list[Block] = []
    condition_texts = [wording.visible(condition, 1_000) for condition in dossier.conditions]
    if context:
        condition_texts.append(f"Controls that the policy assumes: {context['controls']}")
    if condition_texts:
        blocks += [Bullets(tuple(condition_texts))]
    blocks += [Heading("Limits"), Bullets(tuple(_limits(dossier)))]
    overrides = wording.overrides(assessment)
    if overrides:
        blocks += [
            Heading("Roles against the evidence"),
            Bullets(tuple(wording.visible(override, 1_000) for override in overrides)),
        ]
    if assessment.checklist:
        rows = tuple(
            (
                answer.item,
                wording.visible(answer.answer, 200) or "not answered",
                f"{answer.why} ({answer.source})",
            )
            for answer in assessment.checklist
        )
        blocks += [
            Heading("Checklist, answered by the owner of the data"),
            Grid(("Item", "Answer", "Why"), rows),
        ]
    return Section("conditions", "Conditions of use and limits", tuple(blocks))


def _limits(dossier: DossierContent) -> Iterator[str]:
    assessment = dossier.assessment
    if dossier.sha256 is not None:
        yield (
            "The verdict is about the file with the digest below. A changed or updated file needs "
            "an assessment of its own."
        )
    else:
        yield "A changed or updated file needs an assessment of its own."
    yield (
        "An intruder is assumed to know the quasi-identifiers of annex C. Who knows more, such as a "
        "column that is called insensitive, can do more."
    )
    if not assessment.parameters.get("earlier_releases"):
        yield "Other releases of the same people were not compared with this one."
    yield (
        "No measure proves the absence of risk; the thresholds are those of the policy, with their "
        "sources in annex B."
    )
    if not assessment.complete:
        yield "The assessment was interrupted; what is not listed was not measured."


def decision(dossier: DossierContent) -> Section:
    """The digest of the file, the choices, and lines for those who sign."""
    assessment = dossier.assessment
    facts = [
        ("File", dossier.file or wording.visible(assessment.name)),
        ("SHA-256", dossier.sha256 or ""),
        ("Records", wording.records(assessment)),
        ("Verdict", wording.head(assessment)),
        (
            "Policy",
            f"{assessment.policy['title']}, {assessment.policy['date']}: {wording.outcome(assessment)}",
        ),
    ]
    choices = ("Release approved", "Approved with the conditions above", "Refused")
    people = ("Responsible for the data", "Data protection officer or ethics board")
    return Section("decision", "Decision", (Facts(tuple(facts)), Signatures(choices, people)))
