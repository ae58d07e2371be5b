"""Findings: a measure compared with a policy's threshold, and the verdict over all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from typing import Any

from crypsis.results import Number, Result


class Verdict(StrEnum):
    """Whether the release is safe under the policy."""

    SAFE = "safe"
    NOT_SAFE = "not safe"
    CANNOT_TELL = "cannot tell"


class Status(StrEnum):
    """Whether a threshold is met."""

    EXCEEDED = "exceeded"
    NOT_EVALUATED = "not evaluated"
    MET = "met"
    NOT_ASKED = "not asked"


class Severity(StrEnum):
    """How severe it is that a threshold is exceeded, as the policy has it."""

    CRITICAL = "critical"
    HIGH = "high"
    MODERATE = "moderate"
    NONE = "none"


class Reason(Result):
    """Why the verdict is what it is: a code for programs, a sentence, and a hint what to do.

    Options in the hint are in braces, as in `crypsis.errors`.
    """

    code: str
    text: str
    hint: str = ""


EXCEEDED = "threshold-exceeded"
"""The code of the reason that thresholds are exceeded."""
NOT_TRIED = "Not tried on this release."
"""The outcome of a remedy that was not tried."""


class Remedy(Result):
    """What to do about a finding: an action with its parameters, and its measured effect.

    The core names no command and no call; the command line and Python render `action` and
    `parameters` in their own words.
    """

    action: str
    """`anonymize`, `rank_swap`, `suppress_items`, `exclude_columns`, `recode` or `redact`."""
    description: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    tried: bool = False
    """Whether it was applied to this release in memory and measured."""
    value_after: Number | None = None
    """The value of the measure after it was tried."""
    outcome: str = ""
    """The measured effect in words, or that it was not tried."""
    loss: str = ""
    """What the release that was tried loses; the end of `outcome`."""
    alternatives: tuple[Remedy, ...] = ()
    """Other remedies with the same effect that were tried too, the cheapest first."""


class Finding(Result):
    """A measure compared with its threshold: the value, the records affected, and the remedy."""

    question: str
    measure: str
    status: Status
    severity: Severity
    statement: str
    value: Number | None
    comparison: str
    threshold: float
    unit: str
    k: int | None
    """The class size that the measure refers to, where it has one."""
    why: str
    source: str
    columns: tuple[str, ...] = ()
    affected: int | None = None
    """How many records (of pseudonyms: items) are affected, where that can be counted."""
    hint: str = ""
    """What to provide where the threshold was not evaluated; options are in braces."""
    remedy: Remedy | None = None
