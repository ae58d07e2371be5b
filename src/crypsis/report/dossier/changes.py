"""The second page: what was changed, column by column, and who can still do what."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from crypsis.policies.findings import Status
from crypsis.report import wording
from crypsis.report.dossier.blocks import NOT_RELEASED, Block, Bullets, Grid, Heading, Section, Text
from crypsis.report.dossier.content import DossierContent, ReleasedColumn
from crypsis.results import Number, percent_text

_SHOWN_COLUMNS = 60
"""The changes of so many columns are shown; the others are counted."""
_MAX_NAME_CHARACTERS = 40
"""Longer names of columns are cut."""
_MAX_EXAMPLE_CHARACTERS = 24
"""Longer examples of values are cut."""


def changed_columns(dossier: DossierContent) -> Section | None:
    """What was changed, what that costs, and who can still do what; None if nothing of it is known."""
    columns = dossier.columns
    rows = tuple(_attackers(dossier))
    if not columns and not rows:
        return None
    title = "What was changed, and who can still do what" if columns else "Who can do what"
    blocks: list[Block] = []
    if columns:
        released = [column for column in columns if column.change != NOT_RELEASED]
        changed = tuple(_row(column) for column in released[:_SHOWN_COLUMNS])
        blocks += _grid(changed)
        if len(released) > _SHOWN_COLUMNS:
            blocks.append(Text(f"And {len(released) - _SHOWN_COLUMNS} more columns.", "soft"))
        removed = [
            wording.visible(column.column, _MAX_NAME_CHARACTERS)
            for column in columns
            if column not in released
        ]
        if removed:
            blocks.append(Text(f"Not released: {', '.join(removed)}."))
        blocks += [Heading("What it cost"), Bullets(dossier.losses)] if dossier.losses else []
    else:
        blocks.append(
            Text(
                "Neither the original nor a statement of how the file was made is known, so what "
                "was changed is not part of this dossier.",
                "soft",
            )
        )
    if rows:
        if columns:
            blocks.append(Heading("Who can still do what"))
        blocks.append(Grid(("Who", "What they know", "What they can do"), rows))
    return Section("changes", title, tuple(blocks), new_page=True)


def _grid(rows: tuple[tuple[str, ...], ...]) -> list[Block]:
    """The columns; what is left of their values only if the original is known."""
    head = ("Column", "Role", "What recipients get", "Frequent values", "Values", "Left")
    if all(row[4:] == ("–", "–") for row in rows):
        return [Grid(head[:4], tuple(row[:4] for row in rows))]
    text = (
        "Values: how many different ones, before and after. Left: the share of the column's "
        "information (entropy) that the release can have at most."
    )
    return [Text(text, "soft"), Grid(head, rows, (4, 5))]


def _row(released_column: ReleasedColumn) -> tuple[str, ...]:
    values = "–"
    if released_column.values_after is not None:
        after = f"{released_column.values_after:,}"
        values = (
            after if released_column.values_before is None else f"{released_column.values_before:,} → {after}"
        )
        values = after if released_column.values_before == released_column.values_after else values
    examples = ", ".join(wording.visible(text, _MAX_EXAMPLE_CHARACTERS) for text in released_column.examples)
    kept = "–" if released_column.kept is None else percent_text(released_column.kept)
    name = wording.visible(released_column.column, _MAX_NAME_CHARACTERS)
    return (
        name,
        released_column.role or "–",
        wording.visible(released_column.change, 300),
        examples or "–",
        values,
        kept,
    )


def _attackers(dossier: DossierContent) -> Iterator[tuple[str, str, str]]:
    """Every intruder that was measured, with what they know and how often they succeed."""
    assessment = dossier.assessment
    answer = assessment.answer("singling_out")
    classes: Any = None if answer is None else answer.results.get("equivalence_classes")
    if classes is not None:
        by, risk = _columns(classes.columns), classes.risk
        yield (
            "Prosecutor: a neighbor, an employer",
            f"that a person is in the release, and {by}",
            "recognizes the person with a probability of "
            f"{_most(risk.prosecutor.maximum, risk.prosecutor.average)}",
        )
        if risk.journalist is not None:
            yield (
                "Journalist: wants to show that anybody can be recognized",
                f"{by}, and the population, not who of it is in the release",
                f"recognizes a person with a probability of {percent_text(risk.journalist.maximum)} at most",
            )
        yield (
            "Marketer: wants as many people as possible",
            f"{by} of everybody",
            f"recognizes {percent_text(risk.marketer.average)} of the {classes.unit}, not knowing which",
        )
    yield from _inferring(dossier)
    for question, who, knows in (
        ("linkage", "Maximum-knowledge intruder", "all original values"),
        ("pseudonyms", "Intruder who resolves pseudonyms", "how often values occur"),
        ("releases", "Recipient of earlier releases", "this release and the earlier ones"),
        ("synthetic", "Intruder of the training data", "values of people in the training data"),
    ):
        question_answer = assessment.answer(question)
        if question_answer is not None and question_answer.status is not Status.NOT_ASKED:
            yield who, knows, wording.visible(question_answer.headline, 400)


def _most(highest: Number, average: Number) -> str:
    most, mean = percent_text(highest), percent_text(average)
    return most if most == mean else f"{most} at most, {mean} on average"


def _inferring(dossier: DossierContent) -> Iterator[tuple[str, str, str]]:
    answer = dossier.assessment.answer("inference")
    if answer is None:
        return
    leaks: list[Any] = [result for name, result in answer.results.items() if name.startswith("leakage")]
    for leak_result in sorted(leaks, key=lambda leak: -float(leak.best_guess.worst))[:3]:
        guess = leak_result.best_guess
        name = wording.visible(leak_result.target, _MAX_NAME_CHARACTERS)
        yield (
            f"Someone who wants to know {name}",
            _columns(leak_result.given),
            f"guesses it right in {percent_text(guess.average)} of the cases, "
            + (
                ""
                if percent_text(guess.worst) == percent_text(guess.average)
                else f"in the worst class in {percent_text(guess.worst)}, "
            )
            + f"without the release in {percent_text(guess.prior)}",
        )


def _columns(names: tuple[str, ...]) -> str:
    shown = [wording.visible(name, _MAX_NAME_CHARACTERS) for name in names]
    if len(shown) > 6:
        shown = [*shown[:6], f"{len(shown) - 6} more"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
