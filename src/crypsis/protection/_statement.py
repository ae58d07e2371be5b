"""The statement of a release: every method and parameter, no seed and no original value.

domingo2016, Definition 4 (transparency): everyone who gets the release may know all about how it
was made, except the randomness; a protection that needs more secrecy than that protects nobody.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any, Literal

from pydantic import ConfigDict, ValidationError

from crypsis import __version__
from crypsis.documents import Document
from crypsis.errors import SourceError
from crypsis.protection._loss import STOPPED, InformationLoss, cell
from crypsis.protection._measured import Measured
from crypsis.protection._not_required import NotRequired
from crypsis.protection._rejoined import Rejoined
from crypsis.protection._requirements import PrivacyRequirements
from crypsis.protection.recoding._choice import ColumnPlan
from crypsis.protection.recoding._levels import Recoding
from crypsis.protection.recoding._steps import FrequentValues, HierarchyLevel, Intervals, Step, Suppress
from crypsis.results import Result, percent_text


class Method(Result):
    """One method that was applied to a column, with its parameters but no seed."""

    __pydantic_config__ = ConfigDict(extra="forbid")
    column: str
    method: str
    description: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    columns: tuple[str, ...] = ()
    """The columns one by one, if several are masked together."""


class ApartFile(Result):
    """A file with sensitive attributes that are released apart."""

    __pydantic_config__ = ConfigDict(extra="forbid")
    columns: tuple[str, ...]
    records: int
    file: str | None = None
    sha256: str | None = None
    rejoined: tuple[Rejoined, ...] = ()
    """How many values of each attribute an intruder gives back to records of the right group."""


_RECODINGS = {
    "local": (
        "local recoding and suppression",
        "each record on the finest levels found that meet the requirements",
    ),
    "subtree": (
        "full-subtree recoding",
        "each value of a column generalized to the same label in all records",
    ),
    "full-domain": ("full-domain recoding", "all records on the same generalization levels"),
}


def recoding_methods(
    columns: Sequence[ColumnPlan], removed: Sequence[str], recoding: Recoding | None, kind: str
) -> tuple[Method, ...]:
    """The methods of all columns, the columns removed, and the recoding of single rows."""
    methods = []
    for c, column in enumerate(columns):
        rows = () if recoding is None else recoding.rows_on[c]
        methods.append(_on_levels(column, rows) if any(rows[1:]) else _on_one_level(column))
    methods += [Method(name, "removed", "not released") for name in removed]
    if recoding is not None and recoding.changes:
        methods.append(Method("all quasi-identifiers", *_RECODINGS[kind]))
    return tuple(methods)


def _on_one_level(column_plan: ColumnPlan) -> Method:
    parameters = _parameters(column_plan.step)
    if isinstance(column_plan.step, Intervals):
        parameters["labels"] = list(column_plan.step.labels)
    return Method(column_plan.name, column_plan.step.method, column_plan.step.describe(), parameters)


def _on_levels(column_plan: ColumnPlan, rows: tuple[int, ...]) -> Method:
    """A column whose records are on several levels, or on another one than planned."""
    coarser = [step for step in column_plan.coarser if not isinstance(step, Suppress)]
    steps: list[Step] = [column_plan.step, *coarser, Suppress()]
    used = [(step, count) for step, count in zip(steps, rows, strict=True) if count]
    how = "; ".join(f"{step.describe()} ({_counted(count, 'record')})" for step, count in used)
    levels = [{"method": step.method, "rows": count, **_parameters(step)} for step, count in used]
    name = used[0][0].method if len(used) == 1 else "levels"
    return Method(column_plan.name, name, how, {"levels": levels})


def _parameters(step: Step) -> dict[str, Any]:
    """The parameters of a step that show no value that only the original has.

    A step has more than the release shows: the values below a label of a hierarchy, the frequent
    values, the bounds of intervals that one number represents.
    """
    if isinstance(step, HierarchyLevel):
        return {"level": step.level, "labels": len(step.groups)}
    if isinstance(step, FrequentValues):
        return {"values_kept": len(step.values), "other": step.other}
    if isinstance(step, Intervals):
        return {"groups": len(step.labels)}
    return step.model_dump(mode="json", exclude={"method"})


class Statement(Document):
    """A statement of a release: readable as Markdown, valid as JSON by a schema.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from crypsis import anonymize
    >>> people = pa.table({"age": [30, 30, 41, 41]})
    >>> anonymize(people, k=2, quasi_identifiers=["age"], person="each record").statement.measured.k
    2
    """

    format: Literal["crypsis statement 1"] = "crypsis statement 1"
    made_with: str = f"crypsis {__version__}"
    records_before: int
    records_after: int
    quasi_identifiers: tuple[str, ...] = ()
    """Records equal in all of them form an equivalence class."""
    requirements: PrivacyRequirements
    measured: Measured
    methods: tuple[Method, ...]
    unchanged: tuple[str, ...] = ()
    """Columns that are released as they were."""
    apart: tuple[ApartFile, ...] = ()
    """Files with sensitive attributes that are released apart."""
    information_loss: InformationLoss
    row_order: Literal["random", "original"] = "original"
    """Whether the rows are in random order or in that of the original."""
    order_notes: tuple[str, ...] = ()
    """What the order of the original shows."""
    not_required: NotRequired | None = None
    """What was not required, and what was found of it."""
    file: str | None = None
    """The name of the released file."""
    sha256: str | None = None
    """Its digest, by which a recipient verifies that it is this file."""

    def to_json(self) -> str:
        """The statement as JSON."""
        return json.dumps(self.model_dump(mode="json", exclude_none=True), indent=2) + "\n"

    @staticmethod
    def paths(release: str | Path) -> tuple[Path, Path]:
        """The Markdown and the JSON file of the statement of a release.

        >>> [path.name for path in Statement.paths("safe.csv")]
        ['safe.csv.statement.md', 'safe.csv.statement.json']
        """
        file = Path(release)
        markdown, data = (f"{file.name}.statement.{form}" for form in ("md", "json"))
        return file.with_name(markdown), file.with_name(data)

    @classmethod
    def schema_json(cls) -> str:  # type: ignore[override]
        """The JSON Schema of statements."""
        return json.dumps(cls.model_json_schema(), indent=2) + "\n"

    @classmethod
    def load(cls, path: str | Path) -> Statement:
        """Read a `.statement.json` file, checked field by field."""
        source = Path(path)
        try:
            return cls.model_validate_json(source.read_text(encoding="utf-8"))
        except OSError as error:
            raise SourceError(f"{str(source)!r} could not be read ({error.strerror}).") from None
        except (ValidationError, UnicodeDecodeError):
            raise SourceError(f"{str(source)!r} is not a valid statement.", code="not-a-statement") from None

    def to_markdown(self) -> str:
        """The statement as Markdown."""
        loss = self.information_loss
        lines = ["# How this release was made", ""]
        people = self.measured.people
        whose = "" if people is None else f" They are those of {_counted(people, *_PERSON)}."
        released = f"{self.records_after:,} of the {self.records_before:,} records are released."
        lines += [released + whose]
        if self.sha256 is not None:
            lines += ["", f"File `{cell(self.file or '')}`, SHA-256 `{self.sha256}`."]
        lines += ["", "## Methods", "", "| column | method | description |", "| --- | --- | --- |"]
        lines += [
            f"| {cell(method.column)} | {cell(method.method)} | {cell(method.description)} |"
            for method in self.methods
        ]
        lines += ["", _ORDERS[self.row_order], *self.order_notes]
        if self.unchanged:
            lines += ["", f"Released unchanged: {_names(self.unchanged)}."]
        lines += self._apart_lines()
        lines += ["", "## Requirements and what was measured in the release", ""]
        lines += self._requirement_lines()
        left = self.not_required
        if left is not None:
            lines += ["", "## Not required", ""]
            lines += [f"- {cell(line)}" for line in left.lines(self.requirements.k)]
        lines += ["", "## Information loss", ""]
        if loss.ncp is not None:
            lines.append(f"- information loss (NCP): {percent_text(loss.ncp)}")
        lines += [
            f"- suppressed records: {self.records_before - self.records_after - loss.dropped_records:,}",
            f"- suppressed values: {loss.suppressed_values:,}",
            f"- generalized records: {loss.generalized_records:,}",
        ]
        if loss.fully_generalized_columns:
            lines.append(f"- fully generalized columns: {_names(loss.fully_generalized_columns)}")
        if loss.dropped_records:
            lines.append(f"- records dropped of people with many: {loss.dropped_records:,}")
        lines += [
            f"- sensitive attribute {cell(name)} changed, information loss (NCP): {percent_text(lost)}"
            for name, lost in loss.changed_sensitive.items()
        ]
        lines += [
            f"- information for {cell(use)} that is left: {percent_text(share)}"
            for use, share in loss.preserved.items()
        ]
        if loss.apart:
            lines.append(f"- released apart: {_names(loss.apart)} ({loss.separation})")
        if loss.links_kept is not None:
            lines.append(
                f"- links between the records of a person that are left: "
                f"{percent_text(loss.links_kept)} ({loss.records_per_pseudonym:.2f} records of each "
                f"pseudonym, {loss.records_per_person:.2f} of each person before, on average)"
            )
        if loss.search_stopped:
            lines.append(f"- {STOPPED[0].lower()}{STOPPED[1:]}")
        lines += [
            "",
            "A missing value was missing in the original or was suppressed; the release does not "
            "show which. If a method draws random numbers, their seed is not published.",
            "",
            f"Made with {self.made_with}. The JSON file of the same name has the same content.",
        ]
        return "\n".join(lines) + "\n"

    def _apart_lines(self) -> list[str]:
        """The files of attributes that are released apart."""
        if not self.apart:
            return []
        lines = ["", "## Released apart", ""]
        for apart_file in self.apart:
            file = (
                ""
                if apart_file.file is None
                else f"File `{cell(apart_file.file)}`, SHA-256 `{apart_file.sha256}`: "
            )
            lines.append(f"- {file}{_names(apart_file.columns)} of {_counted(apart_file.records, 'record')}.")
        joined = [f"- {result}" for file in self.apart for result in file.rejoined]
        return [
            *lines,
            "",
            "These files have no column of the release, and each is in a random order of its own: "
            "no column and no order connects their records with those of the release, so that the "
            "association with the other columns cannot be tabulated. What everybody knows of it "
            "still connects values and records, by rank or by how frequent they are"
            + (", as was tried:" if joined else "; too few records to measure it."),
            *(["", *joined] if joined else []),
        ]

    def _requirement_lines(self) -> list[str]:
        lines = []
        if self.quasi_identifiers:
            summary = f"Quasi-identifiers: {_names(self.quasi_identifiers)}."
            if self.requirements.each_column is None:
                summary += (
                    " Records equal in all of them form an equivalence class. There are "
                    f"{_counted(self.measured.classes, 'class', 'classes')}; the smallest has "
                    f"{self._size()} (k = {self.measured.k:,})."
                )
            lines += [summary, ""]
        rows = [
            f"| {meaning} |{bound and ' '}{bound} | {measured} |"
            for meaning, bound, measured in self.compared()
        ]
        if rows:
            lines += ["| | required | measured |", "| --- | --- | --- |", *rows]
        elif self.requirements.population is None:
            lines.append("Nothing is required of equivalence classes.")
        people = self.measured.population
        if people is not None:
            lines += [
                *([""] if rows else []),
                f"In a population of {people.population:,} people, each class is required to have "
                f"at least {people.k:,} people with probability {1 - people.beta:g} if all cells "
                "are equally likely. By the cells of this release (lower bounds, each at "
                f"{people.confidence * 100:g} % confidence), {people.rows_meeting_k * 100:.1f} % "
                "of the records are in a class that meets this, "
                f"{people.rows_expecting_k * 100:.1f} % in one with an expected size of at least "
                f"{people.k:,}, and the smallest class has an expected size of "
                f"{people.smallest_expected:,.1f}.",
            ]
        return lines

    def _size(self) -> str:
        """The size of the smallest class; of people only where they were counted."""
        k = self.measured.k
        return _counted(k, "record") if self.measured.people is None else _counted(k, *_PERSON)

    def compared(self) -> Iterator[tuple[str, str, str]]:
        """What each requirement means, the bound that was required (or ""), and what was measured."""
        requirements = self.requirements
        for words, bound in ((_LOWER, "at least"), (_UPPER, "at most")):
            for name, meaning in words.items():
                if name == "k" and requirements.people:
                    meaning = "k-anonymity: people in every class"
                if name == "combination_k" and requirements.combinations is not None:
                    meaning = (
                        f"k-anonymity of every combination of {requirements.combinations} quasi-identifiers"
                    )
                if name == "journalist_risk" and requirements.weighted:
                    meaning = f"{meaning}, its expectation by the survey weights"
                limit, measured = getattr(requirements, name), getattr(self.measured, name)
                if limit is not None:
                    yield meaning, f"{bound} {_number(limit)}", _number(measured)
                elif measured is not None and name != "k":
                    yield meaning, "", _number(measured)
        if requirements.about_classes or requirements.combinations is not None:
            share = f"at most {requirements.suppression * 100:.4g} %"
            measured = 100 * self.information_loss.withheld_share
            yield "records removed or without any value left", share, f"{measured:.4g} %"


_PERSON = ("person", "people")
_LOWER = {
    "k": "k-anonymity: records in every class",
    "diversity": "l-diversity: values of each sensitive attribute in every class",
    "entropy_diversity": "entropy l-diversity",
    "recursive_diversity": "recursive (c,l)-diversity: c and l required, l measured",
    "each_column": "records with each value of each quasi-identifier",
    "k_map": "k-map: people of the population that match a class",
    "combination_k": "k-anonymity of every combination of some quasi-identifiers",
}
_UPPER = {
    "closeness": "t-closeness: distance of a class's sensitive values from those of all records",
    "best_guess": "share of the most frequent sensitive value in a class",
    "beta_likeness": "beta-likeness: relative gain of a sensitive value in a class",
    "delta_disclosure": "delta-disclosure privacy: change of the share of a sensitive value, in bits",
    "presence": "delta-presence: probability that a person of the population is in the release",
    "average_risk": "average re-identification risk of the records",
    "journalist_risk": "journalist risk: one over the people of the population who match a class",
    "unicity": "unicity: people singled out by the known records",
    "inferred": "sensitive values that the known records make almost certain",
    "excess": "excess of the share of a sensitive value in a class over what a model without the "
    "class predicts",
}


_ORDERS = {
    "random": "The records are in random order; the order of the original is not published.",
    "original": "The records are in the order of the original. Whoever knows that order, such as "
    "an order by name or by date, knows about where a record is.",
}


def _names(columns: tuple[str, ...]) -> str:
    return ", ".join(f"`{cell(name)}`" for name in columns)


def _counted(count: int, singular: str, several: str = "") -> str:
    return f"{count:,} {singular if count == 1 else several or singular + 's'}"


def _number(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, tuple):
        return ", ".join(map(_number, value))
    return f"{value:,}" if isinstance(value, int) else f"{value:.6g}"
