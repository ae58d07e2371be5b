"""The four questions: an answer each, and one picture that says something, or none."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from crypsis.policies.findings import Finding, Status
from crypsis.report import wording
from crypsis.report.dossier.blocks import Bar, Bars, Block, Bullets, Heading, Section, Text
from crypsis.report.dossier.content import DossierContent
from crypsis.results import percent_text

_TONES = {Status.EXCEEDED: "bad", Status.MET: "good", Status.NOT_EVALUATED: "unknown"}
_ALIKE = {Status.EXCEEDED: "The threshold is exceeded for", Status.NOT_EVALUATED: "It is not evaluated for"}
_CLASS_SIZE_EDGES = (1, 2, 3, 5, 10, 20, 50, 100, 1000, math.inf)
"""Between these the sizes of equivalence classes are grouped in a picture."""
_SHOWN_ATTRIBUTES = 4
"""A picture shows so many inferred attributes."""
_SHOWN_ATTACKS = 5
"""A picture shows so many attacks that link records."""
_SHOWN_NOTES = 6
"""So many notes of a question are shown."""


def questions(dossier: DossierContent) -> Section | None:
    """Every question that was asked."""
    assessment = dossier.assessment
    blocks: list[Block] = []
    about_columns = [finding for finding in assessment.exceeded if finding.question == "columns"]
    if about_columns:
        blocks.append(Heading("Are there direct identifiers or free text?", "threshold exceeded", "bad"))
        blocks.append(Bullets(tuple(map(_with_names, about_columns))))
    for answer in assessment.answers:
        if answer.status is Status.NOT_ASKED and not answer.results:
            continue
        status = wording.STATUSES[answer.status]
        blocks += [
            Heading(answer.title, status, _TONES.get(answer.status, "plain")),
            Text(wording.TERMS[answer.question], "soft"),
            Text(answer.headline),
        ]
        picture = _PICTURES[answer.question](dossier, answer) if answer.question in _PICTURES else None
        if picture is not None and picture.bars:
            blocks.append(picture)
        worse = [
            _with_others(same)
            for same in wording.by_threshold(
                finding
                for finding in assessment.findings
                if finding.question == answer.question
                and finding.status in (Status.EXCEEDED, Status.NOT_EVALUATED)
                and finding.statement not in answer.headline
            )
        ]
        all_notes = list(dict.fromkeys([*worse, *answer.notes]))
        notes = [
            note
            for note in all_notes
            if not any(longer != note and longer.startswith(note) for longer in all_notes)
        ][:_SHOWN_NOTES]
        if notes:
            blocks.append(Bullets(tuple(wording.visible(note, 500) for note in notes)))
    return Section("questions", "The questions", tuple(blocks)) if blocks else None


def _with_names(finding: Finding) -> str:
    """A statement about columns, and which they are."""
    if not finding.columns:
        return finding.statement
    return f"{finding.statement.removesuffix('.')}: {wording.named(finding.columns)}."


def _with_others(findings: Sequence[Finding]) -> str:
    """The statement of the worst of some columns, and what is true of the others."""
    worst, *remaining = findings
    text = worst.statement
    for status in (Status.EXCEEDED, Status.NOT_EVALUATED):
        names = [finding.columns[0] for finding in remaining if finding.columns and finding.status is status]
        if names:
            text += f" {_ALIKE[status]} {wording.named(names)}."
    return text


def _class_sizes(dossier: DossierContent, answer: Any) -> Bars | None:
    """The share of records by the size of their class; of histories by the records known."""
    histories: Any = answer.results.get("unicity")
    if histories is not None:
        curve_bars = tuple(
            Bar(f"{many} known {'record' if many == 1 else 'records'}", float(share), percent_text(share))
            for many, share in zip(histories.events, histories.curve, strict=True)
        )
        return Bars(f"People singled out by known records{histories.besides}", curve_bars)
    classes: Any = answer.results.get("equivalence_classes")
    if classes is None or classes.sampled_fraction < 1:
        return None
    pairs = list(zip(classes.class_sizes, classes.unit_counts, strict=True))
    limits = [
        finding.k
        for finding in dossier.assessment.findings
        if finding.measure == "singling_out.records_in_small_classes" and finding.k
    ]
    k = max(limits, default=5)
    bars: list[Bar] = []
    for first, beyond in pairwise(_CLASS_SIZE_EDGES):
        share = sum(units for size, units in pairs if first <= size < beyond) / classes.units
        if share or first < k:
            tone = "bad" if first < k and share else "plain"
            bars.append(Bar(_range(first, beyond), share, percent_text(share), tone))
    if sum(bar.share > 0 for bar in bars) < 2:  # the sentence above says it
        return None
    title = f"Share of the {classes.unit} by how many are alike in all quasi-identifiers"
    return Bars(title, tuple(bars))


def _range(first: float, beyond: float) -> str:
    if beyond == math.inf:
        return f"{first:,.0f} or more"
    return f"{first:.0f}" if beyond == first + 1 else f"{first:.0f} to {beyond - 1:.0f}"


def _guesses(dossier: DossierContent, answer: Any) -> Bars | None:
    """How well each sensitive attribute is guessed without the release and with it."""
    leaks: list[Any] = [result for name, result in answer.results.items() if name.startswith("leakage")]
    leaks.sort(key=lambda leakage: -float(leakage.best_guess.worst_gain))
    bars = []
    for leak in leaks[:_SHOWN_ATTRIBUTES]:
        guess, name = leak.best_guess, wording.visible(leak.target, 30)
        shown = {"without the release": guess.prior, "on average": guess.average}
        if percent_text(guess.worst) != percent_text(guess.average):
            shown["worst class"] = guess.worst
        for label, value in shown.items():
            bars.append(Bar(f"{name}, {label}", float(value), percent_text(value)))
    return Bars("How often the best guess of a sensitive attribute is right", tuple(bars))


def _links(dossier: DossierContent, answer: Any) -> Bars | None:
    """The share of correct links of each intruder, and by chance."""
    suite: Any = answer.results.get("suite")
    if suite is None or suite.correct_share is None:
        return None
    measured_attacks = [attack for attack in suite.attacks if attack.correct_share is not None]
    bars = [
        Bar(attack.method, float(attack.correct_share.value), percent_text(attack.correct_share.value))
        for attack in measured_attacks[:_SHOWN_ATTACKS]
    ]
    chance = Bar("by chance", suite.chance, percent_text(suite.chance))
    return Bars("Share of records linked correctly, by intruder", (*bars, chance))


def _cracks(dossier: DossierContent, answer: Any) -> Bars | None:
    """How many pseudonyms are expected to be resolved."""
    anonymity: Any = answer.results.get("anonymity")
    if anonymity is None or anonymity.expected_cracks is None or not anonymity.size:
        return None
    share = float(anonymity.expected_cracks) / anonymity.size
    return Bars(
        f"Pseudonyms that are expected to be resolved, of {anonymity.size:,}",
        (Bar("resolved", share, percent_text(share)),),
    )


_PICTURES: dict[str, Callable[[DossierContent, Any], Bars | None]] = {
    "singling_out": _class_sizes,
    "inference": _guesses,
    "linkage": _links,
    "pseudonyms": _cracks,
}
