"""What was done, for everyone to read: every method and parameter, no seed and no original value.

domingo2016, Definition 4 (transparency): whoever gets the release may know all about how it was
made, except the randomness; a protection that needs more secrecy than that is none.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict

from crypsis import __version__

if TYPE_CHECKING:
    from crypsis.anonymize._anonymized import Anonymized
    from crypsis.anonymize._verify import Measured


class Done(BaseModel):
    """One thing that was done to a column."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    column: str
    method: str
    how: str
    parameters: dict[str, Any] = {}


class Statement(BaseModel):
    """A statement of a release: readable as Markdown, checkable as JSON with a schema."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    format: str = "crypsis statement 1"
    made_with: str = f"crypsis {__version__}"
    rows_before: int
    rows_after: int
    promised: dict[str, Any]
    measured: dict[str, Any]
    done: tuple[Done, ...]
    rows_suppressed: int
    cells_suppressed: int
    rows_generalized: int
    columns_emptied: tuple[str, ...] = ()
    information_loss: float | None = None

    def to_json(self) -> str:
        """As JSON."""
        return json.dumps(self.model_dump(mode="json", exclude_none=True), indent=2) + "\n"

    @classmethod
    def schema_json(cls) -> str:  # type: ignore[override]
        """The JSON Schema that statements keep to."""
        return json.dumps(cls.model_json_schema(), indent=2) + "\n"

    def to_markdown(self) -> str:
        """As Markdown."""
        lines = ["# How this release was made", ""]
        lines += [f"{self.rows_after:,} of {self.rows_before:,} rows are released.", ""]
        lines += ["## What was done", "", "| column | method | how |", "| --- | --- | --- |"]
        lines += [
            f"| {_cell(one.column)} | {_cell(one.method)} | {_cell(one.how)} |" for one in self.done
        ]
        lines += ["", "## What was promised, and what was measured", ""]
        lines += [f"- promised {_words(name)}: {_told(v)}" for name, v in self.promised.items()]
        lines += [f"- measured {_words(name)}: {_told(v)}" for name, v in self.measured.items()]
        lines += ["", "## What it cost", ""]
        lines += [
            f"- rows left out: {self.rows_suppressed:,}",
            f"- cells emptied: {self.cells_suppressed:,}",
            f"- rows told less exactly than their column: {self.rows_generalized:,}",
        ]
        if self.columns_emptied:
            lines.append(f"- columns emptied: {', '.join(map(_cell, self.columns_emptied))}")
        if self.information_loss is not None:
            lines.append(f"- information loss (NCP, 0 none to 1 all): {self.information_loss:.4f}")
        lines += [
            "",
            "Random numbers were drawn with a secret seed where a method needs them. Neither the "
            "seed nor any original row can be found from this statement.",
        ]
        return "\n".join(lines) + "\n"


def statement_of(made: Anonymized, found: Measured) -> Statement:
    """The statement of a release."""
    measured = {k: v for k, v in found.to_dict().items() if v is not None}
    promised = made.promise.model_dump(mode="json", exclude_none=True)
    return Statement(
        rows_before=made.loss.rows,
        rows_after=found.rows,
        promised=promised,
        measured=measured,
        done=tuple(
            Done(column=m.column, method=m.method, how=m.how, parameters=dict(m.parameters))
            for m in made.methods
        ),
        rows_suppressed=made.loss.rows_suppressed,
        cells_suppressed=made.loss.cells_suppressed,
        rows_generalized=made.loss.rows_generalized,
        columns_emptied=made.loss.columns_emptied,
        information_loss=made.loss.ncp,
    )


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _words(name: str) -> str:
    return name.replace("_", " ")


def _told(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{_words(name)} {_told(item)}" for name, item in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_told, value))
    return f"{value:,}" if isinstance(value, int) else f"{value:.6g}"
