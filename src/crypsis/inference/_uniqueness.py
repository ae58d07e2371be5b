"""Whether a target's values are all different: declared, proved or counted."""

from __future__ import annotations

from enum import StrEnum

from crypsis.dataset import Dataset
from crypsis.errors import ColumnError, ParameterError

FIRST_RECORDS = 1_000_000
"""Up to so many records a target is counted; of a longer table so many are checked first."""


class UniquenessBasis(StrEnum):
    """How it is known whether the values of the target are all different."""

    COUNTED = "counted"
    """The target was counted with the given columns."""
    DECLARED = "declared"
    PROVED = "proved"

    @property
    def unique(self) -> bool:
        """Whether the target is treated as unique, so that it need not be counted."""
        return self is not UniquenessBasis.COUNTED


def uniqueness_basis(
    dataset: Dataset, target: str, unique: bool | None = None, prove: bool = False
) -> UniquenessBasis:
    """How to treat the target.

    `prove` counts its distinct values (memory for each of them). With neither a declaration nor a
    proof a target without a repeated value in the first million records of a longer table is
    proved as well: later records may repeat a value, so nothing is assumed. Where the proof fails,
    the target is counted.
    """
    if unique is False:
        if prove:
            raise ParameterError(
                "The target is declared not unique, so there is nothing to prove.",
                hint="Set either {unique} or {prove}.",
            )
        return UniquenessBasis.COUNTED
    if prove:
        tally = dataset.rows.tally([target])
        if tally.distinct == tally.rows and not tally.missing:
            return UniquenessBasis.PROVED
        if unique:
            raise ColumnError(
                f"Column {target!r} is declared unique, but it has {tally.distinct:,} values in "
                f"{tally.rows:,} records ({tally.missing:,} missing).",
                code="not-unique",
                columns=(target,),
                hint="Remove it from {unique}.",
            )
        return UniquenessBasis.COUNTED
    if unique:
        return UniquenessBasis.DECLARED
    first = dataset.rows.tally_first(target, FIRST_RECORDS + 1)
    if first.rows <= FIRST_RECORDS or first.distinct < first.rows or first.missing:
        return UniquenessBasis.COUNTED
    return uniqueness_basis(dataset, target, prove=True)
