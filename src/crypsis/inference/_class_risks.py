"""The risk in each equivalence class of the given columns."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from crypsis.counting.arrays import places
from crypsis.errors import ParameterError
from crypsis.inference.conditional import Conditional
from crypsis.results import Group, Number, Result, raw

Order = Literal["best_guess", "itpr", "divergence"]


class ClassRisk(Result):
    """One equivalence class of the given columns: its size and what can be inferred in it."""

    group: Group
    share: float
    """Its share of the records, p(y)."""
    entropy_bits: float
    """The entropy of the target in it, H(X | Y = y)."""
    distinct: int
    """How many values the target takes in it."""
    itpr: Number
    """Its term in ITPR, 1 - |Y| p(y) H(X | Y = y) / H(X)."""
    divergence_bits: float
    """The divergence of the target's distribution in it from that in all records."""
    best_guess: float
    """The probability of its most frequent value."""
    guess: Any = raw(default=None)
    """That value; None for a unique target, of which each value is as likely."""


def ranking(conditional: Conditional, by: Order) -> NDArray[np.int64]:
    """The classes by falling risk; of equal ones the larger first, then in the order of values."""
    if by not in get_args(Order):
        choices = ", ".join(repr(name) for name in get_args(Order))
        raise ParameterError(
            f"Parameter 'by' is one of {choices}; {by!r} is not a valid value.", parameter="by"
        )
    risks = {
        "best_guess": conditional.best_guesses,
        "itpr": -conditional.weighted,
        "divergence": conditional.divergences,
    }[by]
    return np.lexsort((-conditional.sizes, -risks))


def worst(risks: NDArray[np.float64], sizes: NDArray[np.int64]) -> int:
    """The class with the highest risk; of several the largest, then the first."""
    tied = np.flatnonzero(risks == risks.max())
    return int(tied[np.argmax(sizes[tied])])


def class_table(conditional: Conditional, by: Order) -> pa.Table:
    """All classes as a table: the given columns, then what is known of each class.

    Where a given column has the name of a measure, the measure is called "NAME (class)".
    """
    order = ranking(conditional, by)
    classes = conditional.classes
    columns: dict[str, Any] = {
        name: value.take(places(code[order]))
        for name, value, code in zip(classes.columns, classes.values, classes.codes, strict=True)
    }
    measures: dict[str, Any] = {
        "size": conditional.sizes[order],
        "best_guess": conditional.best_guesses[order],
        "distinct": conditional.distinct[order],
        "entropy_bits": conditional.entropies[order],
        "itpr": conditional.itprs[order],
        "divergence_bits": conditional.divergences[order],
    }
    if conditional.guesses is not None and conditional.values is not None:
        measures["guess"] = conditional.values.take(places(conditional.guesses[order]))
    arrays = [*columns.values(), *map(pa.array, measures.values())]
    named = [f"{name} (class)" if name in columns else name for name in measures]
    return pa.table(arrays, names=[*columns, *named])
