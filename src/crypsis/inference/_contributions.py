"""What each given column reveals about the target, alone and in addition to the others."""

from __future__ import annotations

from collections.abc import Sequence

from crypsis.counting.cells import Cells
from crypsis.inference.conditional import Conditional, conditional
from crypsis.results import Result


class Contribution(Result):
    """What one given column reveals about the target."""

    column: str
    alone_bits: float
    """I(X; this column)."""
    added_bits: float
    """I(X; all given) - I(X; the others): what removing the column would take away."""
    best_guess_alone: float
    """The average best guess from this column alone."""
    best_guess_added: float
    """What it adds to the average best guess from the others."""


def contributions(
    cells: Cells,
    known_columns: Sequence[str],
    target: str | None,
    conditional: Conditional,
    person: str | None = None,
) -> tuple[Contribution, ...]:
    """Each given column, those that add the most first. `target=None` means a unique one.

    Added information falls short where columns say the same: of two equal ones each adds nothing.
    Cost: two passes over the cells for each column.
    """
    measured = [
        _contribution(cells, known_columns, target, conditional, name, person) for name in known_columns
    ]
    return tuple(
        sorted(
            measured,
            key=lambda contribution: (
                -contribution.added_bits,
                -contribution.alone_bits,
                contribution.column,
            ),
        )
    )


def _contribution(
    cells: Cells,
    known_columns: Sequence[str],
    target: str | None,
    result: Conditional,
    name: str,
    person: str | None,
) -> Contribution:
    if len(known_columns) == 1:
        bits, guess = result.mutual_information, result.average_guess
        return Contribution(name, bits, bits, guess, guess - result.prior_guess)
    alone = conditional(cells, [name], target, person)
    remaining = conditional(cells, [column for column in known_columns if column != name], target, person)
    return Contribution(
        column=name,
        alone_bits=alone.mutual_information,
        added_bits=max(0.0, result.mutual_information - remaining.mutual_information),
        best_guess_alone=alone.average_guess,
        best_guess_added=max(0.0, result.average_guess - remaining.average_guess),
    )
