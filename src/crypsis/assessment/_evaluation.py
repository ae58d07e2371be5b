"""The questions of an assessment, asked one after the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from crypsis import progress, singling_out
from crypsis.assessment import _questions as questions
from crypsis.assessment._columns import measure_columns
from crypsis.assessment._container import (
    as_written,
    file_texts,
    measure_contents,
    open_contents,
    written_text,
)
from crypsis.assessment._questions import QuestionOutcome
from crypsis.assessment._request import Request
from crypsis.errors import CancelledError, InputError, TooLargeError
from crypsis.inference.conditional import joint_columns
from crypsis.policies import Measurement
from crypsis.policies.assessed import Change
from crypsis.tables import Content

_TRIED_WORK = 1_000_000
"""The most classes, times the square of the columns, whose anonymization takes seconds."""
_BY_VALUES = ("linkage", "pseudonyms", "releases", "synthetic")
"""The questions that compare with values of another table; the others see the texts of the file."""


class Evaluation:
    """The questions, asked one after the other; what is known if the work is interrupted."""

    def __init__(self, request: Request) -> None:
        self.request = self.judged = request
        self.written: tuple[str, ...] = ()
        self.contents: list[Content] = []
        self.measured: list[Measurement] = []
        self.outcomes: dict[str, QuestionOutcome] = {}
        self.changes: tuple[Change, ...] = ()
        self.complete = True

    def run(self) -> None:
        """Ask all questions, or as many as there is time for."""
        asks: dict[str, Callable[[Request], QuestionOutcome]] = {
            "singling_out": questions.ask_singling_out,
            "inference": questions.ask_inference,
            "linkage": questions.ask_linkage,
            "pseudonyms": questions.ask_pseudonyms,
        }
        if self.request.earlier:
            asks["releases"] = questions.ask_releases
        if self.request.synthetic:
            asks = {"synthetic": questions.ask_synthetic}
            self.measured += questions.not_of_synthetic(self.request.policy)
        try:
            with progress.step("assessing", total=len(asks)) as step:
                self._count_cells()
                for name, ask in asks.items():
                    self._ask(name, ask)
                    step.advance()
                self.changes = _changes(self.request)
        except (KeyboardInterrupt, CancelledError):
            self.complete = False

    def _ask(self, name: str, ask: Callable[[Request], QuestionOutcome]) -> None:
        judged = self.request if name in _BY_VALUES else self.judged
        try:
            outcome = ask(judged)
        except (InputError, TooLargeError) as error:
            outcome = questions.not_evaluated(
                name, self.request.policy, error.message, hint=error.hint, requested=True
            )
        self.outcomes[name] = outcome
        encoding = self.request.data.rows.legacy_encoding
        if name == "singling_out" and encoding is not None:
            outcome.notes.append(f"The file is not UTF-8; it was read as {encoding}.")
        if self.written and judged is self.judged:
            outcome.notes.insert(0, written_text(self.written))
        self.measured += self._dropped_alone(name, outcome)
        if outcome.stopped:  # a search that is interrupted returns what it has
            raise CancelledError

    def _dropped_alone(self, name: str, outcome: QuestionOutcome) -> list[Measurement]:
        """Of records that are dropped nothing is measured, so a threshold cannot be met."""
        if name != "inference":
            return outcome.measured
        first = self.outcomes["singling_out"].results.get("equivalence_classes")
        if not getattr(first, "dropped", 0):
            return outcome.measured
        outcome.notes.append("Records with missing values are not part of the inference.")
        return [replace(measurement, lower_bound=True) for measurement in outcome.measured]

    def _count_cells(self) -> None:
        """One scan for the cells that singling out and inference share."""
        texts = file_texts(self.request.data)
        self.contents = open_contents(self.request.data, texts)
        self.measured += measure_columns(self.request)
        self.measured.append(measure_contents(self.request.data, self.contents))
        data, self.written = as_written(self.request.data)
        self.judged = replace(self.request, data=data)
        counted = self.judged.of_people.data
        names = (*data.quasi_identifiers, *data.sensitive)
        if names:
            try:
                counted.cells(joint_columns(counted, names))
            except (InputError, TooLargeError):
                return  # each question then counts what it needs, and reports if it cannot

    @property
    def tried_in_seconds(self) -> bool:
        """Whether a remedy takes seconds: the time grows with the classes and faster with columns."""
        outcome = self.outcomes.get("singling_out")
        class_sizes: Any = None if outcome is None else outcome.results.get("equivalence_classes")
        if class_sizes is None:
            return False
        return bool(class_sizes.classes * len(self.judged.data.quasi_identifiers) ** 2 <= _TRIED_WORK)


def _changes(request: Request) -> tuple[Change, ...]:
    """Equivalence classes of the original and of the release, in their common columns."""
    original, data = request.original, request.of_people.data
    if original is None or request.synthetic:
        return ()
    if original.person is None or data.person is None:  # they are compared in the same unit
        original, data = (replace(dataset, person=None) for dataset in (original, data))
    names = [name for name in data.quasi_identifiers if name in original.names]
    if not names:
        return ()
    try:
        before, after = (singling_out.equivalence_classes(dataset, names) for dataset in (original, data))
    except (InputError, TooLargeError):
        return ()
    pairs: tuple[tuple[str, Callable[[Any], float], str], ...] = (
        ("k-anonymity", lambda result: result.k, before.unit),
        ("records at a risk above 20 %", lambda result: result.risk.prosecutor.share_above, "fraction"),
        ("average risk (prosecutor)", lambda result: result.risk.prosecutor.average, "fraction"),
        ("equivalence classes", lambda result: result.classes, "classes"),
        ("entropy of the quasi-identifiers", _entropy_bits, "bits"),
    )
    return (
        *(Change(name, value(before), value(after), unit) for name, value, unit in pairs),
        Change("records", original.count, data.count, "records"),
    )


def _entropy_bits(classes: Any) -> float:
    """The entropy of the quasi-identifiers together, from the class sizes."""
    sizes, counts = np.array(classes.class_sizes, float), np.array(classes.class_counts, float)
    shares = sizes / (sizes * counts).sum()
    return float(-(counts * shares * np.log2(shares)).sum())
