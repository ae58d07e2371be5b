"""An assessment as data: the roles, the findings, the answers and the verdict over them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from crypsis.policies.findings import Finding, Reason, Status, Verdict
from crypsis.results import Number, Result


class ColumnRole(Result):
    """A column with its role, decided or guessed."""

    column: str
    kind: str
    role: str
    guessed: bool
    confidence: float
    reason: str
    distinct: Number
    """An estimate if the column has too many values to count."""
    missing: int
    hipaa: str | None
    free_text: bool
    evidence: str = ""
    """What indicates, with a confidence of at least 0.8, that it identifies people by itself."""
    stricter_role: str | None = None
    """The role that name and values strongly indicate, where the decided one is milder."""
    stricter_reason: str = ""
    """What indicates it."""
    override: str = ""
    """The owner's reason for a role that contradicts the evidence."""
    links: bool = False
    """Whether it may link the records of one person, and nobody decided about that."""


class Answer(Result):
    """One of the four questions: the status of its thresholds, a sentence, the results."""

    question: str
    title: str
    status: Status
    headline: str
    results: Mapping[str, Result]
    notes: tuple[str, ...] = ()
    hint: str = ""
    """What to provide if the question was not asked; options are in braces."""


class Change(Result):
    """A number of the original and of the release."""

    measure: str
    before: float
    after: float
    unit: str


class ChecklistAnswer(Result):
    """An item of the policy's checklist, and the owner's signed answer."""

    item: str
    why: str
    source: str
    answer: str
    """Who checked it, and when; empty where it was not answered."""


class AssessmentData(Result):
    """The verdict on a release, with its findings and the results behind them: what a report shows."""

    verdict: Verdict
    statement: str
    """The verdict in a sentence, with the questions that are not part of the policy."""
    complete: bool
    """False if the work was interrupted: the findings are those known by then."""
    reasons: tuple[Reason, ...]
    """Why the verdict is not "safe", and for "cannot tell" what is missing."""
    name: str
    """The name of the release in the report."""
    rows: int
    people: int | None
    """The number of people whose records these are; None where that is not known."""
    policy: Mapping[str, Any]
    columns: tuple[ColumnRole, ...]
    findings: tuple[Finding, ...]
    answers: tuple[Answer, ...]
    changes: tuple[Change, ...]
    not_asked: Mapping[str, str]
    """The questions that are not part of the policy, each with the policy's reason."""
    checklist: tuple[ChecklistAnswer, ...]
    """What a program cannot verify, and the owner's answers."""
    parameters: Mapping[str, Any]
    versions: Mapping[str, str]
    made: str
    """The time in UTC; the only part in which two equal runs differ."""

    @property
    def guessed(self) -> tuple[ColumnRole, ...]:
        """The columns whose role is a guess."""
        return tuple(column for column in self.columns if column.guessed)

    @property
    def exceeded(self) -> tuple[Finding, ...]:
        """The findings that exceed their threshold."""
        return tuple(finding for finding in self.findings if finding.status is Status.EXCEEDED)

    def answer(self, question: str) -> Answer | None:
        """The answer to one of the four questions, such as "linkage"."""
        return next((answer for answer in self.answers if answer.question == question), None)
