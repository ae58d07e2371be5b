"""The first page: what it is about, the verdict, the risk before and after, what was not asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from crypsis.policies.assessed import AssessmentData
from crypsis.policies.findings import Status, Verdict
from crypsis.report import wording
from crypsis.report.dossier.blocks import (
    APART,
    NOT_RELEASED,
    SYNTHETIC,
    UNCHANGED,
    Block,
    Bullets,
    Facts,
    Section,
    Text,
    VerdictBox,
)
from crypsis.report.dossier.content import DossierContent
from crypsis.report.dossier.gauge import risk_gauge
from crypsis.report.explanation import causes, explanation, people_noun, without_sensitive
from crypsis.results import percent_text

TONES = {Verdict.SAFE: "good", Verdict.NOT_SAFE: "bad", Verdict.CANNOT_TELL: "unknown"}


def cover(dossier: DossierContent) -> Section:
    """The first page."""
    assessment = dossier.assessment
    policy = assessment.policy
    file = dossier.file or wording.visible(assessment.name)
    size = f"{wording.records(assessment)}, {wording.plural(len(assessment.columns), 'column')}"
    facts = [
        ("Purpose", dossier.purpose),
        ("Recipient", dossier.recipient),
        ("Author", dossier.author),
        ("Date", dossier.date or assessment.made[:10]),
        ("File", f"{file} ({size})"),
        ("Policy", f"{policy['title']} ({', '.join(_of_policy(policy))})"),
    ]
    blocks: list[Block] = [
        Facts(tuple(facts)),
        VerdictBox(wording.head(assessment), _why(assessment), TONES[assessment.verdict]),
    ]
    guessed = wording.guesses(assessment)
    if guessed:
        blocks.append(Text(guessed, "warn"))
    gauge = risk_gauge(assessment)
    if gauge is not None:
        blocks.append(gauge)
    blocks += [Text(sentence) for sentence in _sentences(dossier)]
    left = list(_not_asked(dossier))
    if left:
        blocks += [Text("What was not asked, and why:"), Bullets(tuple(left))]
    title = dossier.title or f"Release of {wording.visible(assessment.name)}"
    return Section("summary", title, tuple(blocks))


def _why(assessment: AssessmentData) -> str:
    """The explanation without the verdict, which is written above it."""
    text = explanation(assessment).partition(": ")[2]
    return text[:1].upper() + text[1:]


def _of_policy(policy: Mapping[str, Any]) -> Iterator[str]:
    if not str(policy["jurisdiction"]).startswith("none"):
        yield str(policy["jurisdiction"])
    yield str(policy["date"])


def _sentences(dossier: DossierContent) -> Iterator[str]:
    """What was done, what an intruder can do, and what is lost."""
    assessment = dossier.assessment
    if dossier.columns:
        yield _what_was_done(dossier)
        yield from _most_changed(dossier)
    answer = assessment.answer("singling_out")
    classes: Any = None if answer is None else answer.results.get("equivalence_classes")
    if classes is not None:
        risk = classes.risk.prosecutor
        k = int(float(classes.k))
        fitting_one, more = "1 record that fits", "records that fit"
        if classes.unit == "people":
            fitting_one, more = "1 person who fits", "people who fit"
        fitting = fitting_one if k == 1 else f"at least {k:,} {more}"
        most, average = percent_text(risk.maximum), percent_text(risk.average)
        right = f"{most} of the cases at most and in {average} on average"
        yield (
            f"Residual risk: someone who knows the quasi-identifiers of a person finds {fitting}, "
            f"so that a guess is right in {f'{most} of the cases' if most == average else right}."
        )
    yield from causes(assessment) if assessment.verdict is Verdict.NOT_SAFE else ()
    if dossier.losses:
        yield dossier.losses[0]


def _what_was_done(dossier: DossierContent) -> str:
    removed = [column for column in dossier.columns if column.change == NOT_RELEASED]
    same = [column for column in dossier.columns if column.change == UNCHANGED]
    separate = [column for column in dossier.columns if column.change.startswith(APART)]
    synthetic = [column for column in dossier.columns if column.change == SYNTHETIC]
    listed_columns = {column.column for column in (*removed, *same, *separate, *synthetic)}
    changed = [column for column in dossier.columns if column.column not in listed_columns]
    own_file = "a file of its own" if len(separate) == 1 else "files of their own"
    parts = [
        (removed, f"{_are(removed)} not released"),
        (changed, f"{_are(changed)} generalized or masked"),
        (synthetic, f"{'has' if len(synthetic) == 1 else 'have'} synthetic values"),
        (same, f"{_are(same)} released as {'it is' if len(same) == 1 else 'they are'}"),
        (separate, f"{_are(separate)} released apart, in {own_file}"),
    ]
    said = [(len(columns_of_part), text) for columns_of_part, text in parts if columns_of_part]
    columns = wording.plural(len(dossier.columns), "column")
    noun = people_noun(dossier.assessment)
    if len(said) == 1:
        return f"{'The' if len(dossier.columns) == 1 else 'All'} {columns} about {noun} {said[0][1]}."
    listed = [f"{count:,} {text}" for count, text in said]
    return f"Of the {columns} about {noun}, {', '.join(listed[:-1])} and {listed[-1]}."


def _most_changed(dossier: DossierContent) -> Iterator[str]:
    """The released column of which the least is left."""
    changed = [
        (column.kept, position)
        for position, column in enumerate(dossier.columns)
        if column.change not in (NOT_RELEASED, SYNTHETIC, UNCHANGED)
        and column.kept is not None
        and column.kept < 1
    ]
    if changed:
        least = dossier.columns[min(changed)[1]]
        left = wording.visible(least.change, 300)
        yield f"The least is left of {wording.visible(least.column, 40)}: {left}."


def _are(columns_of_part: list[Any]) -> str:
    return "is" if len(columns_of_part) == 1 else "are"


def _not_asked(dossier: DossierContent) -> Iterator[str]:
    assessment = dossier.assessment
    for answer in assessment.answers:
        nothing = answer.question == "inference" and without_sensitive(assessment)
        if (answer.status is Status.NOT_ASKED or nothing) and answer.question not in assessment.not_asked:
            yield f"{answer.title} {answer.headline}".strip()
    for question, why in assessment.not_asked.items():
        name = wording.SHORT_QUESTIONS[question].capitalize()
        yield f"{name}: not part of this policy. {why}"
    if "releases" not in assessment.not_asked and assessment.answer("releases") is None:
        yield "Can it be combined with earlier releases? No earlier release was given."
