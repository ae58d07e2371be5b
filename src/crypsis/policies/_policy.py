"""Policies: TOML files with thresholds on measures, each with its source and its reason."""

from __future__ import annotations

import math
import tomllib
from datetime import date
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator

from crypsis.documents import Document
from crypsis.errors import ParameterError
from crypsis.files import read_toml
from crypsis.policies._context import RECIPIENTS, Context, Recipient
from crypsis.policies._measures import IF_GIVEN, MEASURES, QUESTIONS, measure
from crypsis.policies.findings import Severity

PRESETS = (
    "default",
    "hipaa-safe-harbor",
    "hipaa-expert",
    "ema-0070",
    "cms-small-cells",
    "wp216",
    "ehds-secondary-use",
    "nist-800-188",
    "strict-research",
    "public-use-file",
    "scientific-use-file",
)
"""The names of the policies that come with crypsis."""


class Threshold(Document):
    """The most or the least that is allowed of a measure."""

    measure: Annotated[str, Field(json_schema_extra={"enum": [*MEASURES]})]
    """What is limited; one of the measures."""
    unit: str
    """The unit of the measure, so that 0.2 is never taken for 0.2 %."""
    at_most: float | None = None
    """The limit of a measure of risk."""
    at_least: float | None = None
    """The limit of a measure of protection."""
    k: Annotated[int, Field(ge=2)] | None = None
    """The class size of `singling_out.records_in_small_classes`; of records or households at risk,
    those above 1/k."""
    events: Annotated[int, Field(ge=1, le=12)] | None = None
    """The number of known records of a person, of measures of linked records: unicity, inference."""
    required: bool = True
    """Whether the verdict is "cannot tell" if this could not be measured."""
    severity: Severity = Severity.HIGH
    """How severe it is to exceed it: critical, high or moderate."""
    why: Annotated[str, Field(min_length=1)]
    """The reason, shown with every finding."""
    source: str = ""
    """Where it comes from; by default the source of the policy."""

    @model_validator(mode="after")
    def _known(self) -> Threshold:
        try:
            definition = measure(self.measure)
        except ParameterError as error:
            raise ValueError(str(error)) from None
        if self.unit != definition.unit:
            raise ValueError(f"{self.measure} is measured in {definition.unit!r}, not in {self.unit!r}")
        stated = [way for way in ("at_most", "at_least") if getattr(self, way) is not None]
        if stated != [definition.limit]:
            raise ValueError(f"{self.measure} needs a threshold {definition.limit}, and no other")
        for name, given_one in (("k", self.k), ("events", self.events)):
            if (definition.parameter == name) != (given_one is not None):
                has = "needs" if definition.parameter == name else "has no"
                raise ValueError(f"{self.measure} {has} {name!r}")
        limit = self.limit
        if not math.isfinite(limit):  # every number would meet a threshold that is infinite
            raise ValueError(f"the threshold of {self.measure} must be a number")
        if limit < 0 or (definition.unit == "fraction" and limit > 1):
            raise ValueError(f"{limit:g} is out of the range of {self.measure} ({definition.unit})")
        return self

    @property
    def limit(self) -> float:
        """The number of the threshold."""
        return float(self.at_most if self.at_most is not None else self.at_least or 0.0)

    @property
    def comparison(self) -> Literal["at most", "at least"]:
        """The direction of the threshold."""
        return "at most" if self.at_most is not None else "at least"


class QuestionScope(Document):
    """Whether a policy asks a question, and why it may leave it out."""

    asked: bool
    """Whether the question is part of the policy."""
    why: Annotated[str, Field(min_length=1)]
    """Why it is asked, or why it need not be."""


class ChecklistItem(Document):
    """A statement that a program cannot verify: the owner answers it in the roles file."""

    item: Annotated[str, Field(min_length=1)]
    """The statement; the key of its answer in the table [answers] of the roles file."""
    why: Annotated[str, Field(min_length=1)]
    """What to check, and why a program cannot."""
    source: str = ""
    """Where it comes from; by default the source of the policy."""
    when: Literal["always", "postal-codes"] = "always"
    """When it is asked: always, or if postal codes are judged by a list of the policy."""


class Policy(Document):
    """A set of thresholds with their sources."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]*$")]
    """Small letters, digits and hyphens."""
    title: str
    """The name in reports."""
    jurisdiction: str
    """Where it applies."""
    source: str
    """The law, guidance or decision it comes from."""
    date: date
    """The date of the source, or of the decision."""
    summary: str
    """What it requires, in a sentence or two."""
    small_zip3: tuple[Annotated[str, Field(pattern=r"^\d{3}$")], ...] = ()
    """Three-digit postal codes whose area has 20,000 people or fewer."""
    small_zip3_source: str = ""
    """Where these codes were counted, and when."""
    context: Context | None = None
    """The release context that it is meant for; with it, `in_context` can adapt its thresholds."""
    questions: dict[str, QuestionScope] = Field(default_factory=dict)
    """Each question: whether the policy asks it, and the reason."""
    checklist: tuple[ChecklistItem, ...] = ()
    """Statements that the owner of the data answers in the roles file."""
    thresholds: Annotated[tuple[Threshold, ...], Field(min_length=1)]
    """The thresholds, at least one."""

    @model_validator(mode="after")
    def _once(self) -> Policy:
        keys = [(threshold.measure, threshold.k, threshold.events) for threshold in self.thresholds]
        if len(set(keys)) < len(keys):
            raise ValueError("a measure has two thresholds; it may have one")
        if self.small_zip3 and not self.small_zip3_source:
            raise ValueError("small_zip3 needs small_zip3_source: a dated source")
        items = [entry.item for entry in self.checklist]
        if len(set(items)) < len(items):
            raise ValueError("the checklist has an item twice")
        return self

    @model_validator(mode="after")
    def _in_its_context(self) -> Policy:
        """The class sizes are those of the context; without any, they follow from it."""
        if self.context is None:
            return self
        k = self.context.k
        sizes = [threshold for threshold in self.of("singling_out") if _class_size(threshold) is not None]
        weak = next((threshold for threshold in sizes if (_class_size(threshold) or k) < k), None)
        if weak is not None:
            raise ValueError(f"the context requires k = {k}; {weak.measure} has less")
        if all(threshold.measure == _ON_ALL_COLUMNS for threshold in sizes):
            why = "The class size that the acceptable risk requires in this context."
            threshold = Threshold(
                measure="singling_out.records_in_small_classes",
                unit="fraction",
                at_most=0.0,
                k=k,
                why=why,
                source=self.context.describe(),
            )
            object.__setattr__(self, "thresholds", (*self.thresholds, threshold))
        return self

    @model_validator(mode="after")
    def _scope(self) -> Policy:
        for name, scope in self.questions.items():
            if name not in QUESTIONS:
                raise ValueError(f"{name!r} is not a question; these are: {', '.join(QUESTIONS)}")
            if scope.asked != bool(self.of(name)):
                state = "asked but has no threshold" if scope.asked else "not asked but has one"
                raise ValueError(f"question {name!r} is {state}")
        return self

    @property
    def not_asked(self) -> dict[str, str]:
        """The questions that are not part of the policy, each with the reason."""
        why = {name: scope.why for name, scope in self.questions.items()}
        return {
            name: why.get(name, "The policy gives no reason.")
            for name in QUESTIONS
            if name not in IF_GIVEN and not self.of(name)
        }

    def in_context(self, recipient: Recipient | str) -> Policy:
        """The policy for another recipient: class sizes follow from the acceptable risk.

        Parameters
        ----------
        recipient : str
            One of `RECIPIENTS`: public, registered, contract or internal.

        Returns
        -------
        Policy
            The policy with the class size (`k`) and the highest risks of that context; its other
            thresholds stay.

        Raises
        ------
        ParameterError
            If there is no such recipient, or if the policy has fixed thresholds (no `context`).

        Examples
        --------
        >>> adapted = load_policy("default").in_context("public")
        >>> sorted({one.k for one in adapted.of("singling_out") if one.k})
        [11]
        """
        if recipient not in RECIPIENTS:
            raise ParameterError(
                f"{recipient!r} is not a context. The contexts are: {', '.join(RECIPIENTS)}.",
                code="unknown-context",
                parameter="context",
            )
        if self.context is None:
            raise ParameterError(
                f"The thresholds of policy {self.name!r} are fixed by its source; a context does "
                "not change them.",
                code="fixed-policy",
                hint="Remove {context}, or set {policy} to one with a context.",
                parameter="context",
            )
        risk = self.context.acceptable_risk
        context = (
            self.context
            if recipient == self.context.recipient
            else Context(recipient=recipient, acceptable_risk=risk)
        )
        adapted = tuple(_adapted(threshold, context) for threshold in self.thresholds)
        return self.model_copy(update={"context": context, "thresholds": adapted})

    def of(self, question: str) -> tuple[Threshold, ...]:
        """The thresholds that belong to a question."""
        return tuple(
            threshold for threshold in self.thresholds if threshold.measure.split(".")[0] == question
        )


_ON_ALL_COLUMNS = "singling_out.small_classes_on_released_columns"


def _class_size(threshold: Threshold) -> int | None:
    """The class size that a threshold of singling out requires, if it does."""
    if threshold.measure == "singling_out.records_in_small_classes":
        return threshold.k
    return int(threshold.limit) if threshold.measure == "singling_out.k_anonymity" else None


def _adapted(threshold: Threshold, context: Context) -> Threshold:
    """A threshold of singling out with the risk that a context allows."""
    new: dict[str, float] = {
        "singling_out.records_in_small_classes": context.k,
        _ON_ALL_COLUMNS: context.k,
        "singling_out.k_anonymity": context.k,
        "singling_out.prosecutor_risk": 1 / context.k,
        "singling_out.marketer_risk": 1 / context.k,
        "releases.joint_small_classes": context.k,
        "releases.small_differences": context.k,
    }
    if threshold.measure not in new:
        return threshold
    definition = measure(threshold.measure)
    changed = {definition.parameter or definition.limit: new[threshold.measure]}
    return threshold.model_copy(update={**changed, "source": context.describe()})


def load_policy(policy: str | Path | Policy) -> Policy:
    """A policy by the name of a preset, or from a TOML file.

    Parameters
    ----------
    policy : str, Path or Policy
        One of `PRESETS`, the path of a `.toml` file, or a policy, which is returned as it is.

    Returns
    -------
    Policy

    Raises
    ------
    ParameterError
        If it is neither a preset nor a `.toml` file.
    SourceError
        If the file cannot be read or is not a valid policy; every mistake is named.

    Examples
    --------
    >>> load_policy("default").thresholds[0].measure
    'columns.direct_identifiers'
    """
    if isinstance(policy, Policy):
        return policy
    if str(policy) in PRESETS:
        return Policy.model_validate(tomllib.loads(preset_text(str(policy))))
    path = Path(policy)
    if path.suffix.lower() != ".toml":
        raise _unknown(str(policy), "neither a preset nor a .toml file")
    return read_toml(path, "policy", Policy.model_validate)


def preset_text(name: str) -> str:
    """The TOML text of a preset, to start a policy from.

    Parameters
    ----------
    name : str
        One of `PRESETS`.

    Returns
    -------
    str

    Examples
    --------
    >>> preset_text("default").splitlines()[1]
    'name = "default"'
    """
    if name not in PRESETS:
        raise _unknown(name, "not a preset")
    return (files("crypsis.policies") / "presets" / f"{name}.toml").read_text(encoding="utf-8")


def _unknown(name: str, what: str) -> ParameterError:
    return ParameterError(
        f"{name!r} is {what}. The presets are: {', '.join(PRESETS)}.",
        code="unknown-policy",
        hint="Set {policy} to a preset or to a .toml file.",
        parameter="policy",
    )
