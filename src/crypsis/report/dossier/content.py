"""What a dossier is about."""

from __future__ import annotations

from dataclasses import field

from crypsis.policies.assessed import AssessmentData
from crypsis.report.wording import Phrasing
from crypsis.results import Result, raw


class ReleasedColumn(Result):
    """A column of the original or of the release, and what was done with it."""

    column: str
    role: str
    change: str
    """What recipients get of it, in words."""
    examples: tuple[str, ...] = raw(default=())
    """Frequent values of the release."""
    values_before: int | None = None
    values_after: int | None = None
    kept: float | None = None
    """The share of its entropy that is left, at most."""


class DossierContent(Result):
    """What a dossier says about a release. Example values are frequent values of the release."""

    assessment: AssessmentData
    title: str = ""
    purpose: str = ""
    recipient: str = ""
    author: str = ""
    date: str = ""
    conditions: tuple[str, ...] = ()
    """The conditions of use, as the recipient accepts them."""
    file: str | None = None
    """The name of the released file."""
    sha256: str | None = None
    """Its digest."""
    columns: tuple[ReleasedColumn, ...] = ()
    losses: tuple[str, ...] = ()
    """What the release loses, in sentences."""
    methods: tuple[str, ...] = ()
    """How it was made, where its statement is known."""
    phrasing: Phrasing = field(default_factory=Phrasing)

    def _shown(self, reveal: bool) -> list[tuple[str, object]]:
        return [(name, v) for name, v in super()._shown(reveal) if name != "phrasing"]
