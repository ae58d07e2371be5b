"""Who is at risk: each group of the given columns, and its own part in the measures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from crypsis.arrays import places
from crypsis.errors import ParameterError
from crypsis.inference._conditional import Conditional
from crypsis.results import Group, Result, raw

Order = Literal["best_guess", "itpr", "divergence"]


@dataclass(frozen=True)
class GroupRisk(Result):
    """One group of the given columns: how large it is and what can be guessed in it."""

    group: Group
    share: float
    """Its share of the rows, p(y)."""
    entropy_bits: float
    """What is left uncertain in it, H(X | Y = y)."""
    distinct: int
    """How many values the target takes in it."""
    itpr: float
    """Its term in ITPR, 1 - |Y| p(y) H(X | Y = y) / H(X)."""
    divergence_bits: float
    """How far the target's distribution in it is from that in all rows."""
    best_guess: float
    """The probability of its most frequent value."""
    guess: Any = raw(default=None)
    """That value; None for a unique target, of which each value is as likely."""


def group_risk(known: Conditional, place: int) -> GroupRisk:
    """One group as a result."""
    guess = None
    if known.guesses is not None and known.values is not None:
        guess = known.values[int(known.guesses[place])].as_py()
    return GroupRisk(
        group=known.groups.group(place),
        share=float(known.shares[place]),
        entropy_bits=float(known.entropies[place]),
        distinct=int(known.distinct[place]),
        itpr=float(known.itprs[place]),
        divergence_bits=float(known.divergences[place]),
        best_guess=float(known.best_guesses[place]),
        guess=guess,
    )


def ranking(known: Conditional, by: Order) -> NDArray[np.int64]:
    """The groups by falling risk; of equal ones the larger first, then in the order of values."""
    if by not in get_args(Order):
        choices = ", ".join(repr(name) for name in get_args(Order))
        raise ParameterError(f"Groups are ordered by {choices}; {by!r} was given.")
    risks = {
        "best_guess": known.best_guesses,
        "itpr": -known.weighted,
        "divergence": known.divergences,
    }[by]
    return np.lexsort((-known.sizes, -risks))


def worst(risks: NDArray[np.float64], sizes: NDArray[np.int64]) -> int:
    """The group with the highest risk; of several the largest, then the first."""
    tied = np.flatnonzero(risks == risks.max())
    return int(tied[np.argmax(sizes[tied])])


def group_table(known: Conditional, by: Order) -> pa.Table:
    """All groups as a table: the given columns, then what is known of each group.

    Where a given column has the name of a measure, the measure is called "NAME (group)".
    """
    order = ranking(known, by)
    groups = known.groups
    columns: dict[str, Any] = {
        name: value.take(places(code[order]))
        for name, value, code in zip(groups.columns, groups.values, groups.codes, strict=True)
    }
    measures: dict[str, Any] = {
        "size": known.sizes[order],
        "best_guess": known.best_guesses[order],
        "distinct": known.distinct[order],
        "entropy_bits": known.entropies[order],
        "itpr": known.itprs[order],
        "divergence_bits": known.divergences[order],
    }
    if known.guesses is not None and known.values is not None:
        measures["guess"] = known.values.take(places(known.guesses[order]))
    arrays = [*columns.values(), *map(pa.array, measures.values())]
    named = [f"{name} (group)" if name in columns else name for name in measures]
    return pa.table(arrays, names=[*columns, *named])
