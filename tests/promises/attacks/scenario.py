"""A scenario: a release with a known fault, an attack that was carried out, and the verdict.

A scenario is a function of a seeded generator and an empty folder. It makes the release, attacks it
with the code of `attackers` (which shares nothing with crypsis), asks crypsis through `judge`, and
returns a `Trial`. Its docstring says what is released, its decorator what the attacker does.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

Draw = np.random.Generator
CAUGHT = ("not safe", "cannot tell", "refused")
"""The verdicts that keep a release back; "refused" is status 2 of a command."""
CHANGED = "changed"
"""crypsis wrote a release of its own, and the same attack on it hardly succeeds."""


@dataclass(frozen=True)
class Trial:
    """What came of one scenario."""

    success: float
    """The share of the targeted people of whom the attacker's claim is true."""
    verdict: str
    """What crypsis says of the release: its verdict, "refused", or "changed"."""
    chance: float = 0.0
    """The share without the release."""
    after: float | None = None
    """The share on what `anonymize` wrote instead."""
    control: str | None = None
    """The verdict on the same release without the fault."""


@dataclass(frozen=True)
class Scenario:
    """A release, its attacker, and how to try both."""

    group: str
    name: str
    release: str
    attacker: str
    least: float
    """The least success of the attack; below it the scenario would prove nothing."""
    run: Callable[[Draw, Path], Trial]

    def trial(self, folder: Path) -> Trial:
        """Carry out the attack and ask for the verdict."""
        return self.run(np.random.default_rng(zlib.crc32(self.name.encode())), folder)


class Scenarios(list[Scenario]):
    """The scenarios of one class of faults."""

    def __init__(self, group: str) -> None:
        super().__init__()
        self.group = group

    def add(
        self, attacker: str, least: float = 0.9
    ) -> Callable[[Callable[[Draw, Path], Trial]], Callable[[Draw, Path], Trial]]:
        """Register a function as a scenario."""

        def registered(run: Callable[[Draw, Path], Trial]) -> Callable[[Draw, Path], Trial]:
            name = run.__name__.replace("_", " ")
            what = " ".join((run.__doc__ or "").split()).rstrip(".")
            assert what, f"{name} does not describe its release"
            self.append(Scenario(self.group, name, what, attacker, least, run))
            return run

        return registered


def kept_back(trial: Trial, least: float) -> str | None:
    """None if the attack is real and the release was kept back; otherwise what is wrong."""
    if trial.success < least:
        return f"the attack succeeds for {trial.success:.3f} only, not {least}: nothing is shown"
    if trial.success < trial.chance + 0.05:
        return f"the attack ({trial.success:.3f}) is no better than chance ({trial.chance:.3f})"
    if trial.control not in (None, "safe"):
        return f"without the fault the verdict is {trial.control!r}: nothing is shown"
    if trial.verdict == CHANGED:
        limit = max(trial.chance, 0.0) + 0.1
        if trial.after is None or trial.after > limit:
            return f"the attack still succeeds for {trial.after} of what was written"
        return None
    return None if trial.verdict in CAUGHT else f"the verdict is {trial.verdict!r}"
