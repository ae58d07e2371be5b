"""The release context of ISO/IEC 27559: who receives the data, and how likely an attempt is.

A record is re-identified if an intruder attempts it and succeeds, so the risk of a release is the
probability of an attempt times the risk given an attempt (El Emam 2013, Guide to the
De-Identification of Personal Health Information, part on threat modeling; ISO/IEC 27559:2022,
clauses on the context assessment, gives the factors and no numbers). An acceptable risk divided by
the probability of an attempt is therefore the highest risk that a record may have in that context.
"""

from __future__ import annotations

import math
from typing import Annotated, Literal, get_args

from pydantic import Field, model_validator

from crypsis.documents import Document

Recipient = Literal["public", "registered", "contract", "internal"]
"""Who receives the release."""
RECIPIENTS: tuple[Recipient, ...] = get_args(Recipient)
"""The recipients that a context can have, the most open first."""
SMALLEST_K = 3
"""No context allows smaller equivalence classes (custom: the smallest minimum cell in use)."""

_PROBABILITIES: dict[Recipient, tuple[float, str, str]] = {
    "public": (
        1.0,
        "None: anybody can download it and keep it.",
        "El Emam (2013) and the Information and Privacy Commissioner of Ontario (De-identification "
        "Guidelines for Structured Data, 2016 and 2025): of public data an attempt is assumed",
    ),
    "registered": (
        0.6,
        "Users are known and accept terms of use; nobody checks what they do.",
        "custom: the probability of an attempt by registered users",
    ),
    "contract": (
        0.4,
        "A contract that forbids re-identification, named users, a secure place, audits.",
        "custom: the probability of an attempt under a contract",
    ),
    "internal": (
        0.2,
        "The holder's own staff under its own controls; no copy is taken out.",
        "custom: the probability of an attempt by the holder's own staff",
    ),
}


class Context(Document):
    """Who receives a release, under which controls, and how likely an attempt is.

    The probability, the controls and the source that are not given are those of the recipient.
    """

    recipient: Recipient
    """public, registered (users who accept terms), contract, or internal."""
    controls: str = ""
    """What keeps recipients from an attempt, in a sentence."""
    probability_of_attempt: Annotated[float, Field(gt=0, le=1)] | None = None
    """How likely it is that a recipient attempts a re-identification."""
    acceptable_risk: Annotated[float, Field(gt=0, le=0.5)] = 1 / 11
    """The highest acceptable probability that a record is re-identified, attempt included."""
    source: str = ""
    """Where the probability and the acceptable risk come from."""

    @model_validator(mode="after")
    def _complete(self) -> Context:
        probability, controls, source = _PROBABILITIES[self.recipient]
        if self.probability_of_attempt is None:
            object.__setattr__(self, "probability_of_attempt", probability)
        elif not self.source:
            raise ValueError("a probability of an attempt of your own needs a source")
        if self.recipient == "public" and self.probability_of_attempt != 1:
            raise ValueError("of public data an attempt is certain: its probability is 1")
        for name, value in (("controls", controls), ("source", source)):
            if not getattr(self, name):
                object.__setattr__(self, name, value)
        return self

    @property
    def highest_risk(self) -> float:
        """The highest re-identification risk of a record, given an attempt."""
        return min(1.0, self.acceptable_risk / (self.probability_of_attempt or 1.0))

    @property
    def k(self) -> int:
        """The smallest equivalence class of that risk.

        >>> [Context(recipient=one).k for one in RECIPIENTS]
        [11, 7, 5, 3]
        >>> [Context(recipient=one, acceptable_risk=0.05).k for one in RECIPIENTS]
        [20, 12, 8, 4]
        """
        return max(SMALLEST_K, math.ceil(1 / self.highest_risk - 1e-6))

    def describe(self) -> str:
        """The threshold with its derivation, for a finding."""
        return (
            f"context {self.recipient}: an acceptable risk of {self.acceptable_risk:.2g} divided by "
            f"a probability of an attempt of {self.probability_of_attempt:g} is "
            f"{self.highest_risk:.2g}, k = {self.k} ({self.source})"
        )
