"""What the remedies are about, and what trying one came to."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from crypsis.policy import Policy
from crypsis.release import Release
from crypsis.results import ColumnRole, Finding, Remedy

if TYPE_CHECKING:
    from crypsis.pseudonyms import Belief


@dataclass(frozen=True)
class Setting:
    """A release, what it is held against, and the words that name its files in commands."""

    release: Release
    columns: tuple[ColumnRole, ...]
    policy: Policy
    source: tuple[str, ...]
    """The words of a command line that name the data and say how to read it."""
    seed: int
    original: Release | None = None
    original_source: tuple[str, ...] = ()
    belief: Belief | None = None
    attack: str = "attack.toml"

    @property
    def guessed(self) -> bool:
        """Whether somebody must still decide on roles."""
        return any(one.guessed for one in self.columns)

    def limit(self, measure: str) -> float | None:
        """What the policy allows of a measure."""
        limits = [one.limit for one in self.policy.thresholds if one.measure == measure]
        return limits[0] if limits else None


def line(words: Iterable[str]) -> str:
    """Words as a line that can be pasted into a shell."""
    return " ".join(map(shlex.quote, words))


def seen(text: str, command: str | None, finding: Finding, after: Finding, lost: str) -> Remedy:
    """A remedy that was carried out, and what it brought the number to."""
    value: Any = after.value
    number = float(value or 0.0)
    told = f"{100 * number:.3g} %" if finding.unit == "fraction" else f"{number:g} {finding.unit}"
    outcome = f"Tried: it brings this to {told}, {after.status.value} the policy. {lost}"
    return Remedy(text, command, True, value, outcome.rstrip())
