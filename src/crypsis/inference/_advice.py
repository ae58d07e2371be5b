"""Advice for raw data (itpr2019, section 5.4): which columns are risky to publish as they are, and
which single values make them so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from crypsis import progress
from crypsis.errors import ColumnError, ParameterError, TooLarge, unknown_columns
from crypsis.inference._conditional import Conditional, conditional, unique_conditional
from crypsis.inference._suspects import Suspect, suspects
from crypsis.inference._uniqueness import assumption, uniqueness
from crypsis.release import Release, as_release
from crypsis.results import Result

_ONE_SCAN_ROWS = 1_000_000


@dataclass(frozen=True)
class ColumnAdvice(Result):
    """How risky one column is to publish as it is."""

    column: str
    risk: float
    """The larger of `identity_guess` and `inference_gain`: what the columns are ranked by."""
    distinct: int
    identity_guess: float
    """The average probability of naming the row from this column alone."""
    identity_itpr: float
    """ITPR of re-identification from this column alone."""
    identity_itpr_mended: float
    """The same without the suspect values."""
    inferred_from: str | None
    """The one other column that tells the most about this one; None where none tells anything."""
    inference_gain: float
    """How much of the doubt it takes away: (best guess with it - without) / (1 - without)."""
    discrimination_rate: float
    """That column's discrimination rate for this one."""
    inference_itpr: float
    """Its ITPR for this one: high for rare groups too, so read it beside the gain."""
    suspects: tuple[Suspect, ...]
    """Values that stand out or look like errors, and raise the risk by themselves."""
    assumes: str = ""


@dataclass(frozen=True)
class Advice(Result):
    """The columns by how risky they are to publish, the riskiest first."""

    rows: int
    rare: int
    columns: tuple[ColumnAdvice, ...]
    skipped: tuple[tuple[str, str], ...]
    """Pairs of columns with too many combinations to be counted."""

    def __getitem__(self, column: str) -> ColumnAdvice:
        for one in self.columns:
            if one.column == column:
                return one
        raise unknown_columns([column], [one.column for one in self.columns])


def advise(
    data: Any, columns: Sequence[str] | None = None, *, rare: int = 5, **roles: Any
) -> Advice:
    """Rank columns (default: all) by how risky they are to publish, and flag suspect values.

    A column is risky if it tells who a row is, or if another column tells what it holds. Groups of
    fewer than `rare` rows agree by chance, so they count as telling nothing in `inference_gain`.
    A value is suspect if fewer than `rare` rows hold it and it lies far out (Tukey 1977: three
    quartile ranges beyond the quartiles), is spelled almost as a frequent one, is no number among
    numbers, or is rare in a column where that is unusual.

    Missing values count as the release says. Cost: one scan of the rows up to a million of them,
    beyond that one for each pair of columns.

    >>> import pyarrow as pa
    >>> ages = [30, 31, 32, 33] * 25 + [999]
    >>> places = ["north", "south"] * 50 + ["Nroth"]
    >>> found = advise(pa.table({"age": ages, "place": places}))
    >>> [(one.column, one.suspects[0].kind.value) for one in found.columns]
    [('place', 'misspelled'), ('age', 'far out')]
    """
    release = as_release(data, **roles)
    names = list(release.names if columns is None else columns)
    unknown = [name for name in names if name not in release.names]
    if unknown:
        raise unknown_columns(unknown, release.names)
    if not names or len(set(names)) < len(names):
        raise ColumnError("Name at least one column, and each only once.")
    if rare < 2:
        raise ParameterError(f"rare is at least 2 rows; {rare} was given.")
    unique = {name: how for name in names if (how := uniqueness(release, name, None, False)).unique}
    counted = [name for name in names if name not in unique]
    if counted and release.count <= _ONE_SCAN_ROWS:
        release.cells(counted)  # kept by the release: the pairs come from it
    best, skipped = _predictors(release, counted, rare)
    found = [_column(release, name, best.get(name), rare) for name in counted]
    found += [_unique(release, name, assumption(name, how)) for name, how in unique.items()]
    found.sort(key=lambda one: (-one.risk, -one.identity_itpr, one.column))
    return Advice(release.count, rare, tuple(found), tuple(skipped))


def _predictors(
    release: Release, names: Sequence[str], rare: int
) -> tuple[dict[str, tuple[str, Conditional, float]], list[tuple[str, str]]]:
    """For each column the other one that tells the most about it, and how much."""
    best: dict[str, tuple[str, Conditional, float]] = {}
    skipped = []
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    for a, b in progress.track(pairs, "pairs of columns"):
        try:
            cells = release.cells([a, b])
        except TooLarge:
            skipped.append((a, b))
            continue
        for target, given in ((a, b), (b, a)):
            known = conditional(cells, [given], target)
            gain = _gain(known, rare)
            if gain > (best[target][2] if target in best else 0.0):
                best[target] = (given, known, gain)
    return best, skipped


def _gain(known: Conditional, rare: int) -> float:
    prior = known.prior_guess
    if prior == 1:
        return 0.0
    right = np.where(known.sizes >= rare, known.modes, known.sizes * prior)
    return max(0.0, (float(right.sum()) / known.rows - prior) / (1 - prior))


def _column(
    release: Release, name: str, best: tuple[str, Conditional, float] | None, rare: int
) -> ColumnAdvice:
    identity = unique_conditional(release.cells([name]))
    found = suspects(identity, name, release.rows.column(name).kind, rare)
    given, known, gain = best if best is not None else (None, None, 0.0)
    guess = len(identity.groups) / identity.rows
    return ColumnAdvice(
        column=name,
        risk=max(guess, gain),
        distinct=len(identity.groups),
        identity_guess=guess,
        identity_itpr=identity.itpr,
        identity_itpr_mended=_mended(identity, [one.place for one in found]),
        inferred_from=given,
        inference_gain=gain,
        discrimination_rate=known.discrimination_rate if known is not None else 0.0,
        inference_itpr=known.itpr if known is not None else 0.0,
        suspects=tuple(one.suspect for one in found),
    )


def _mended(identity: Conditional, places: Sequence[int]) -> float:
    """ITPR of re-identification when the rows of some values are left out."""
    sizes = np.delete(identity.sizes, places)
    if sizes.size < 2:
        return 0.0
    rows = float(sizes.sum())
    return float(max(0.0, 1 - sizes.size * (sizes / rows * np.log2(sizes)).min() / np.log2(rows)))


def _unique(release: Release, name: str, assumes: str) -> ColumnAdvice:
    """A column that names every row by itself; there is nothing to count."""
    return ColumnAdvice(
        column=name,
        risk=1.0,
        distinct=release.count,
        identity_guess=1.0,
        identity_itpr=1.0,
        identity_itpr_mended=1.0,
        inferred_from=None,
        inference_gain=0.0,
        discrimination_rate=0.0,
        inference_itpr=0.0,
        suspects=(),
        assumes=assumes,
    )
