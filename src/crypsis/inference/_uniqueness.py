"""Whether a target's values are all different: declared, proved, seen by counting, or assumed."""

from __future__ import annotations

from enum import Enum

from crypsis.errors import ColumnError, ParameterError
from crypsis.release import Release

LOOK_ROWS = 1_000_000
"""Up to so many rows a target is simply counted; of more, the first so many are looked at."""


class Uniqueness(Enum):
    """How it is known whether the values of the target are all different."""

    COUNTED = "counted"
    """The target was grouped with the given columns; nothing was taken for granted."""
    DECLARED = "declared"
    PROVED = "proved"
    ASSUMED = "assumed"

    @property
    def unique(self) -> bool:
        """Whether the target is treated as unique, so that it need not be grouped."""
        return self is not Uniqueness.COUNTED


def uniqueness(release: Release, target: str, unique: bool | None, prove: bool) -> Uniqueness:
    """How to treat the target.

    `prove` counts its distinct values (memory for each of them). With neither a declaration nor a
    proof a target that repeats nowhere in the first million rows of a longer table is assumed to
    repeat nowhere; grouping it would take memory for every row.
    """
    if unique is False:
        if prove:
            raise ParameterError("unique=False says not unique; there is nothing to prove.")
        return Uniqueness.COUNTED
    if prove:
        tally = release.rows.tally([target])
        if tally.distinct == tally.rows and not tally.missing:
            return Uniqueness.PROVED
        if unique:
            raise ColumnError(
                f"The column {target!r} is declared unique, but it has {tally.distinct:,} values "
                f"in {tally.rows:,} rows ({tally.missing:,} missing). Leave out unique=True."
            )
        return Uniqueness.COUNTED
    if unique:
        return Uniqueness.DECLARED
    look = release.rows.tally_first(target, LOOK_ROWS + 1)
    if look.rows <= LOOK_ROWS or look.distinct < look.rows or look.missing:
        return Uniqueness.COUNTED
    return Uniqueness.ASSUMED


def assumption(target: str, known: Uniqueness) -> str:
    """What a result takes for granted, in words; nothing unless it was assumed."""
    if known is not Uniqueness.ASSUMED:
        return ""
    return (
        f"that no two rows share a value of {target!r}: none of the first {LOOK_ROWS:,} do. "
        "Declare it with unique=True or have it proved with prove=True."
    )
