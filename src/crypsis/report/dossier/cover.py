"""The first page: what it is about, the verdict, the risk before and after, what was not asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

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
from crypsis.report.dossier.gauge import risk_gauge
from crypsis.report.explanation import people_noun, without_sensitive
from crypsis.results import percent_text

if TYPE_CHECKING:
    from crypsis.assessment.result import Assessment
    from crypsis.report.dossier.content import Dossier

TONES = {Verdict.SAFE: "good", Verdict.NOT_SAFE: "bad", Verdict.CANNOT_TELL: "unknown"}


def cover(dossier: Dossier) -> Section:
    """The first page."""
    found = dossier.assessment
    policy = found.policy
    file = dossier.file or wording.visible(found.name)
    size = f"{wording.records(found)}, {wording.plural(len(found.columns), 'column')}"
    facts = [
        ("Purpose", dossier.purpose),
        ("Recipient", dossier.recipient),
        ("Author", dossier.author),
        ("Date", dossier.date or found.made[:10]),
        ("File", f"{file} ({size})"),
        ("Policy", f"{policy['title']} ({', '.join(_of_policy(policy))})"),
    ]
    blocks: list[Block] = [
        Facts(tuple(facts)),
        VerdictBox(wording.head(found), _why(found), TONES[found.verdict]),
    ]
    guessed = wording.guesses(found)
    if guessed:
        blocks.append(Text(guessed, "warn"))
    gauge = risk_gauge(found)
    if gauge is not None:
        blocks.append(gauge)
    blocks += [Text(sentence) for sentence in _sentences(dossier)]
    left = list(_not_asked(dossier))
    if left:
        blocks += [Text("What was not asked, and why:"), Bullets(tuple(left))]
    title = dossier.title or f"Release of {wording.visible(found.name)}"
    return Section("summary", title, tuple(blocks))


def _why(found: Assessment) -> str:
    """The explanation without the verdict, which is written above it."""
    text = found.explanation.partition(": ")[2]
    return text[:1].upper() + text[1:]


def _of_policy(policy: Mapping[str, Any]) -> Iterator[str]:
    if not str(policy["jurisdiction"]).startswith("none"):
        yield str(policy["jurisdiction"])
    yield str(policy["date"])


def _sentences(dossier: Dossier) -> Iterator[str]:
    """What was done, what an intruder can do, and what is lost."""
    found = dossier.assessment
    if dossier.columns:
        yield _what_was_done(dossier)
        yield from _most_changed(dossier)
    answer = found.answer("singling_out")
    classes: Any = None if answer is None else answer.results.get("equivalence_classes")
    if classes is not None:
        risk = classes.risk.prosecutor
        k = int(float(classes.k))
        one, more = "1 record that fits", "records that fit"
        if classes.unit == "people":
            one, more = "1 person who fits", "people who fit"
        fitting = one if k == 1 else f"at least {k:,} {more}"
        most, average = percent_text(risk.maximum), percent_text(risk.average)
        right = f"{most} of the cases at most and in {average} on average"
        yield (
            f"Residual risk: someone who knows the quasi-identifiers of a person finds {fitting}, "
            f"so that a guess is right in {f'{most} of the cases' if most == average else right}."
        )
    yield from found.causes if found.verdict is Verdict.NOT_SAFE else ()
    if dossier.losses:
        yield dossier.losses[0]


def _what_was_done(dossier: Dossier) -> str:
    removed = [one for one in dossier.columns if one.change == NOT_RELEASED]
    same = [one for one in dossier.columns if one.change == UNCHANGED]
    apart = [one for one in dossier.columns if one.change.startswith(APART)]
    synthetic = [one for one in dossier.columns if one.change == SYNTHETIC]
    known = {one.column for one in (*removed, *same, *apart, *synthetic)}
    changed = [one for one in dossier.columns if one.column not in known]
    own = "a file of its own" if len(apart) == 1 else "files of their own"
    parts = [
        (removed, f"{_are(removed)} not released"),
        (changed, f"{_are(changed)} generalized or masked"),
        (synthetic, f"{'has' if len(synthetic) == 1 else 'have'} synthetic values"),
        (same, f"{_are(same)} released as {'it is' if len(same) == 1 else 'they are'}"),
        (apart, f"{_are(apart)} released apart, in {own}"),
    ]
    said = [(len(some), text) for some, text in parts if some]
    columns = wording.plural(len(dossier.columns), "column")
    noun = people_noun(dossier.assessment)
    if len(said) == 1:
        return (
            f"{'The' if len(dossier.columns) == 1 else 'All'} {columns} about {noun} {said[0][1]}."
        )
    listed = [f"{count:,} {text}" for count, text in said]
    return f"Of the {columns} about {noun}, {', '.join(listed[:-1])} and {listed[-1]}."


def _most_changed(dossier: Dossier) -> Iterator[str]:
    """The released column of which the least is left."""
    changed = [
        (one.kept, place)
        for place, one in enumerate(dossier.columns)
        if one.change not in (NOT_RELEASED, SYNTHETIC, UNCHANGED)
        and one.kept is not None
        and one.kept < 1
    ]
    if changed:
        one = dossier.columns[min(changed)[1]]
        yield f"The least is left of {wording.visible(one.column, 40)}: {wording.visible(one.change, 300)}."


def _are(some: list[Any]) -> str:
    return "is" if len(some) == 1 else "are"


def _not_asked(dossier: Dossier) -> Iterator[str]:
    found = dossier.assessment
    for one in found.answers:
        nothing = one.question == "inference" and without_sensitive(found)
        if (one.status is Status.NOT_ASKED or nothing) and one.question not in found.not_asked:
            yield f"{one.title} {one.headline}".strip()
    for question, why in found.not_asked.items():
        name = wording.SHORT_QUESTIONS[question].capitalize()
        yield f"{name}: not part of this policy. {why}"
    if "releases" not in found.not_asked and found.answer("releases") is None:
        yield "Can it be combined with earlier releases? No earlier release was given."
