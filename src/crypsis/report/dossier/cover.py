"""The first page: what it is about, the verdict, the risk before and after, what was not asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from crypsis.policies.findings import Status, Verdict
from crypsis.report import wording
from crypsis.report.dossier.blocks import (
    UNCHANGED,
    Bar,
    Bars,
    Block,
    Bullets,
    Facts,
    Section,
    Text,
    VerdictBox,
)
from crypsis.report.explanation import people_noun
from crypsis.results import percent_text

if TYPE_CHECKING:
    from crypsis.report.dossier.content import Dossier

TONES = {Verdict.SAFE: "good", Verdict.NOT_SAFE: "bad", Verdict.CANNOT_TELL: "unknown"}
_HIGHEST, _AVERAGE = "k-anonymity", "average risk (prosecutor)"


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
        VerdictBox(wording.head(found), found.explanation, TONES[found.verdict]),
    ]
    guessed = wording.guesses(found)
    if guessed:
        blocks.append(Text(guessed, "warn"))
    gauge = risk_gauge(dossier)
    if gauge is not None:
        blocks.append(gauge)
    blocks += [Text(sentence) for sentence in _sentences(dossier)]
    left = list(_not_asked(dossier))
    if left:
        blocks += [Text("What was not asked, and why:"), Bullets(tuple(left))]
    title = dossier.title or f"Release of {wording.visible(found.name)}"
    return Section("summary", title, tuple(blocks))


def _of_policy(policy: Mapping[str, Any]) -> Iterator[str]:
    if not str(policy["jurisdiction"]).startswith("none"):
        yield str(policy["jurisdiction"])
    yield str(policy["date"])


def risk_gauge(dossier: Dossier) -> Bars | None:
    """How likely a person is recognized, in the original where it is known and in the release."""
    found = dossier.assessment
    answer = found.answer("singling_out")
    classes: Any = None if answer is None else answer.results.get("equivalence_classes")
    if classes is None:
        return None
    changes = {one.measure: one for one in found.changes}
    limit = _risk_limit(dossier)
    bars = []
    for label, now, change in (
        ("most exposed", float(classes.risk.prosecutor.maximum), changes.get(_HIGHEST)),
        ("on average", float(classes.risk.prosecutor.average), changes.get(_AVERAGE)),
    ):
        if change is not None:
            before = 1 / max(1.0, change.before) if change.measure == _HIGHEST else change.before
            bars.append(Bar(f"Original, {label}", before, percent_text(before)))
        tone = "plain"
        if limit is not None and label == "most exposed":
            tone = "bad" if now > limit * (1 + 1e-9) else "good"
        name = f"Release, {label}" if change is not None else label.capitalize()
        bars.append(Bar(name, now, percent_text(now), tone))
    text = "" if limit is None else f"the line is the highest risk allowed, {percent_text(limit)}"
    title = "How likely a person is recognized by someone who knows the quasi-identifiers"
    return Bars(title, tuple(bars), limit, text)


def _risk_limit(dossier: Dossier) -> float | None:
    """The highest risk of a record that the policy allows, where it limits class sizes."""
    sizes = []
    for one in dossier.assessment.findings:
        if one.measure == "singling_out.k_anonymity":
            sizes.append(one.threshold)
        elif one.measure == "singling_out.records_in_small_classes" and one.threshold == 0:
            sizes.append(float(one.k or 1))
    return 1 / max(sizes) if sizes and max(sizes) >= 1 else None


def _sentences(dossier: Dossier) -> Iterator[str]:
    """What was done, what an intruder can do, and what is lost."""
    found = dossier.assessment
    if dossier.columns:
        yield _what_was_done(dossier)
    answer = found.answer("singling_out")
    classes: Any = None if answer is None else answer.results.get("equivalence_classes")
    if classes is not None:
        risk = classes.risk.prosecutor
        k = int(float(classes.k))
        records = "1 record" if k == 1 else f"at least {k:,} records"
        yield (
            f"Residual risk: someone who knows the quasi-identifiers of a person finds {records} "
            f"that fit, so that a guess is right in {percent_text(risk.maximum)} of the cases at "
            f"most and in {percent_text(risk.average)} on average."
        )
    yield from found.causes if found.verdict is Verdict.NOT_SAFE else ()
    if dossier.losses:
        yield dossier.losses[0]


def _what_was_done(dossier: Dossier) -> str:
    removed = [one for one in dossier.columns if one.change == "not released"]
    same = [one for one in dossier.columns if one.change == UNCHANGED]
    changed = len(dossier.columns) - len(removed) - len(same)
    noun = people_noun(dossier.assessment)
    return (
        f"Of the {wording.plural(len(dossier.columns), 'column')} about {noun}, {len(removed):,} "
        f"{_are(removed)} not released, {changed:,} {'is' if changed == 1 else 'are'} generalized or "
        f"masked, and {len(same):,} {_are(same)} released as {'it is' if len(same) == 1 else 'they are'}."
    )


def _are(some: list[Any]) -> str:
    return "is" if len(some) == 1 else "are"


def _not_asked(dossier: Dossier) -> Iterator[str]:
    found = dossier.assessment
    for one in found.answers:
        if one.status is Status.NOT_ASKED and one.question not in found.not_asked:
            yield f"{one.title} {one.headline}".strip()
    for question, why in found.not_asked.items():
        name = wording.SHORT_QUESTIONS[question].capitalize()
        yield f"{name}: not part of this policy. {why}"
    if "releases" not in found.not_asked and found.answer("releases") is None:
        yield "Can it be combined with earlier releases? No earlier release was given."
