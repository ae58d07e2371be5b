"""What was done, for everyone to read: every method and parameter, no seed and no original value.

domingo2016, Definition 4 (transparency): whoever gets the release may know all about how it was
made, except the randomness; a protection that needs more secrecy than that is none.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from crypsis import __version__
from crypsis.anonymize._promise import Promise
from crypsis.errors import SourceError

if TYPE_CHECKING:
    from crypsis.anonymize._anonymized import Anonymized
    from crypsis.anonymize._verify import Measured


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class Done(_Part):
    """One thing that was done to a column."""

    column: str
    method: str
    how: str
    """The same in words."""
    parameters: dict[str, Any] = {}


class InPopulation(_Part):
    """What the released cells say of the crowds in the population (lodha2007, Theorem 4)."""

    population: int
    k: int
    beta: float
    confidence: float
    """Of the bounds below, one-sided."""
    smallest_expected: float
    """At least so many people are expected in the smallest cell."""
    rows_expecting_k: float
    """The share of rows whose cell is expected to hold k people, by the lower bound."""
    rows_meeting_k: float
    """The share whose cell holds k people with probability 1 - beta, by the lower bound."""


class Counted(_Part):
    """What was counted in the release."""

    rows: int
    k: int
    """The rows of the smallest group."""
    classes: int
    """The number of groups."""
    diversity: int | None = None
    entropy_diversity: float | None = None
    recursive_diversity: int | None = None
    closeness: float | None = None
    best_guess: float | None = None
    each_column: int | None = None
    population: InPopulation | None = None


class Statement(_Part):
    """A statement of a release: readable as Markdown, checkable as JSON with a schema."""

    format: Literal["crypsis statement 1"] = "crypsis statement 1"
    made_with: str = f"crypsis {__version__}"
    rows_before: int
    rows_after: int
    quasi_identifiers: tuple[str, ...] = ()
    """What others may know of a person: rows that agree in all of them make a group."""
    promised: Promise
    measured: Counted
    done: tuple[Done, ...]
    untouched: tuple[str, ...] = ()
    """Columns that are released as they were."""
    rows_suppressed: int
    cells_suppressed: int
    rows_generalized: int
    columns_emptied: tuple[str, ...] = ()
    information_loss: float | None = None
    """NCP: the share of variety lost, 0 to 1; rows left out count in full."""

    def to_json(self) -> str:
        """As JSON."""
        return json.dumps(self.model_dump(mode="json", exclude_none=True), indent=2) + "\n"

    @classmethod
    def schema_json(cls) -> str:  # type: ignore[override]
        """The JSON Schema that statements keep to."""
        return json.dumps(cls.model_json_schema(), indent=2) + "\n"

    @classmethod
    def load(cls, path: str | Path) -> Statement:
        """Read a `.statement.json` file, checked field by field."""
        source = Path(path)
        try:
            return cls.model_validate_json(source.read_text(encoding="utf-8"))
        except OSError as error:
            raise SourceError(f"{str(source)!r} cannot be read ({error.strerror}).") from None
        except (ValidationError, UnicodeDecodeError):
            raise SourceError(f"{str(source)!r} is no statement of a release.") from None

    def to_markdown(self) -> str:
        """As Markdown."""
        lines = ["# How this release was made", ""]
        left = self.rows_before - self.rows_after
        lines += [f"It has {self.rows_after:,} of the {self.rows_before:,} rows of the original."]
        lines += ["", "## What was done", "", "| column | method | how |", "| --- | --- | --- |"]
        lines += [
            f"| {_cell(one.column)} | {_cell(one.method)} | {_cell(one.how)} |" for one in self.done
        ]
        if self.untouched:
            lines += ["", f"Released as they were: {_names(self.untouched)}."]
        lines += ["", "## What is promised, and what was counted in the release", ""]
        lines += _promises(self)
        lines += ["", "## What it cost", ""]
        lines += [
            f"- rows left out: {left:,}",
            f"- cells emptied: {self.cells_suppressed:,}",
            f"- rows with a value told less exactly: {self.rows_generalized:,}",
        ]
        if self.columns_emptied:
            lines.append(f"- columns emptied: {_names(self.columns_emptied)}")
        if self.information_loss is not None:
            lines.append(f"- information loss (NCP, 0 none to 1 all): {self.information_loss:.4f}")
        lines += [
            "",
            "An empty cell was empty in the original or was emptied; the release does not say "
            "which. Where a method draws random numbers, their seed is secret and is not here.",
            "",
            f"Made with {self.made_with}. The JSON file beside this one says the same.",
        ]
        return "\n".join(lines) + "\n"


_LEAST = {
    "k": "rows in every group",
    "diversity": "values of each sensitive column in every group",
    "entropy_diversity": "entropy l-diversity",
    "recursive_diversity": "recursive (c, l)-diversity: c, l promised; l counted",
    "each_column": "rows that share each value of each quasi-identifier",
}
_MOST = {
    "closeness": "distance of a group's sensitive values from those of all rows (t)",
    "best_guess": "share of the likeliest sensitive value in a group",
}


def _promises(told: Statement) -> list[str]:
    """What was promised beside what was counted."""
    lines = []
    if told.quasi_identifiers:
        known = f"What others may know of a person: {_names(told.quasi_identifiers)}."
        if told.promised.each_column is None:
            size = f"{told.measured.k:,} row{'' if told.measured.k == 1 else 's'}"
            known += (
                " Rows that agree in all of that make a group. There are "
                f"{told.measured.classes:,} groups; the smallest has {size}."
            )
        lines += [known, ""]
    rows = list(_compared(told))
    if rows:
        lines += ["| | promised | counted |", "| --- | --- | --- |", *rows]
    elif told.promised.population is None:
        lines.append("Nothing is promised of groups.")
    people = told.measured.population
    if people is not None:
        lines += [
            *([""] if rows else []),
            f"Against a population of {people.population:,}: in each cell at least {people.k:,} "
            f"people with probability {1 - people.beta:g}, were all cells equally likely. By the "
            "cells of this release (lower bounds, each at "
            f"{people.confidence * 100:g} % confidence) {people.rows_meeting_k * 100:.1f} % of the "
            f"rows are in a cell that meets this, {people.rows_expecting_k * 100:.1f} % in one "
            f"where {people.k:,} people are expected, and {people.smallest_expected:,.1f} people "
            "are expected in the smallest cell.",
        ]
    return lines


def _compared(told: Statement) -> Iterator[str]:
    for words, bound in ((_LEAST, "at least"), (_MOST, "at most")):
        for name, meaning in words.items():
            asked, found = getattr(told.promised, name), getattr(told.measured, name)
            if asked is not None:
                yield f"| {meaning} | {bound} {_told(asked)} | {_told(found)} |"
            elif found is not None and name != "k":
                yield f"| {meaning} | | {_told(found)} |"
    if told.promised.k is not None or told.promised.about_secrets:
        touched = "rows left out or with a cell emptied"
        yield f"| {touched} | at most {told.promised.suppression * 100:.4g} % | |"


def statement_of(made: Anonymized, found: Measured) -> Statement:
    """The statement of a release."""
    changed = {name for one in made.methods for name in (one.columns or (one.column,))}
    return Statement(
        rows_before=made.loss.rows,
        rows_after=found.rows,
        quasi_identifiers=tuple(one.name for one in made.plan.columns)
        if made.plan is not None
        else made.release.quasi_identifiers,
        promised=made.promise,
        measured=Counted(**found.to_dict()),
        done=tuple(
            Done(column=m.column, method=m.method, how=m.how, parameters=dict(m.parameters))
            for m in made.methods
        ),
        untouched=tuple(name for name in made.release.names if name not in changed),
        rows_suppressed=made.loss.rows_suppressed,
        cells_suppressed=made.loss.cells_suppressed,
        rows_generalized=made.loss.rows_generalized,
        columns_emptied=made.loss.columns_emptied,
        information_loss=made.loss.ncp,
    )


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


def _names(columns: tuple[str, ...]) -> str:
    return ", ".join(f"`{_cell(name)}`" for name in columns)


def _told(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, tuple):
        return ", ".join(map(_told, value))
    return f"{value:,}" if isinstance(value, int) else f"{value:.6g}"
