"""The distribution of a target within each group of the given columns, from Cells, in one pass.

Everything in this package is a function of these few arrays. For a target whose values are all
different nothing but the sizes of the groups is needed: the target itself is never grouped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from crypsis.cells import Cells, NullPolicy
from crypsis.distributions import entropy_bits
from crypsis.errors import ColumnError, InputError, ParameterError, unknown_columns

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Joint:
    """Counts of (group, target value), group by group.

    Cells `starts[g]` up to `starts[g + 1]` belong to group g; `codes` are places in `values`.
    """

    groups: Cells
    starts: Ints
    codes: NDArray[np.int32]
    counts: Ints
    values: pa.Array
    dropped: int

    @cached_property
    def sizes(self) -> Ints:
        """The rows of each group."""
        return np.asarray(np.add.reduceat(self.counts, self.starts))

    @cached_property
    def member(self) -> Ints:
        """The group of each cell."""
        lengths = np.diff(np.append(self.starts, self.counts.size))
        return np.repeat(np.arange(self.starts.size), lengths)

    @cached_property
    def shares(self) -> Floats:
        """The share of each cell in its group: p(x | y)."""
        return self.counts / self.sizes[self.member]

    @cached_property
    def totals(self) -> Ints:
        """The rows of each target value."""
        sums = np.bincount(self.codes, weights=self.counts, minlength=len(self.values))
        return sums.astype(np.int64)

    @cached_property
    def prior(self) -> Floats:
        """The share of each target value in all rows: p(x)."""
        return np.asarray(self.totals / self.totals.sum())

    def per_group(self, terms: Floats) -> Floats:
        """The sum over each group of one term per cell."""
        return np.asarray(np.add.reduceat(terms, self.starts))


@dataclass(frozen=True, eq=False)
class Conditional:
    """What is known of the target in each group: how uncertain it is and what the best guess is."""

    groups: Cells
    """The distinct tuples of the given columns; their counts are the sizes."""
    entropy: float
    """H(X), in bits."""
    entropies: Floats
    """H(X | Y = y), in bits."""
    modes: Ints
    """How many rows of the group hold its most frequent value."""
    guesses: Ints | None
    """That value's place in `values` (the first, of several); None for a unique target."""
    distinct: Ints
    divergences: Floats
    """Kullback-Leibler divergence of the group from all rows, in bits."""
    totals: Ints | None
    """The rows of each target value; None for a unique target."""
    values: pa.Array | None
    dropped: int

    @property
    def sizes(self) -> Ints:
        """The rows of each group."""
        return self.groups.counts

    @cached_property
    def rows(self) -> int:
        """The rows that count."""
        return int(self.sizes.sum())

    @cached_property
    def shares(self) -> Floats:
        """p(y)."""
        return self.sizes / self.rows

    @cached_property
    def weighted(self) -> Floats:
        """p(y) H(X | Y = y): what itpr2019 writes as H(X | Y = y) in formulas (8) to (10)."""
        return self.shares * self.entropies

    @cached_property
    def conditional_entropy(self) -> float:
        """H(X | Y); at most H(X), also after rounding."""
        return min(float(self.weighted.sum()), self.entropy)

    @property
    def mutual_information(self) -> float:
        """I(X; Y), in bits."""
        return self.entropy - self.conditional_entropy

    @cached_property
    def best_guesses(self) -> Floats:
        """The probability of the best guess in each group."""
        return self.modes / self.sizes

    @property
    def prior_guess(self) -> float:
        """The probability of the best guess without the given columns."""
        top = 1 if self.totals is None else int(self.totals.max())
        return top / self.rows

    @property
    def average_guess(self) -> float:
        """The probability of the best guess with them, averaged over the rows."""
        return max(int(self.modes.sum()) / self.rows, self.prior_guess)

    @cached_property
    def itpr(self) -> float:
        """Formula (10) and Definition 4.2 in the reading that lies in [0, 1]."""
        return max(float(self.itprs.max()), self.discrimination_rate)

    @cached_property
    def itprs(self) -> Floats:
        """Each group's term 1 - |Y| p(y) H(X | Y = y) / H(X); negative for large groups."""
        if self.entropy == 0:
            return np.zeros(len(self.groups))
        return 1 - len(self.groups) * self.weighted / self.entropy

    @property
    def discrimination_rate(self) -> float:
        """1 - H(X | Y) / H(X), formula (5)."""
        return 1 - self.conditional_entropy / self.entropy if self.entropy else 0.0


def joint(cells: Cells, target: str, given: Sequence[str]) -> Joint:
    """Cells of the given columns and the target as a Joint; rows left out are counted."""
    names = (*given, target)
    if cells.columns != names:
        cells = cells.marginal(names)
    kept = _kept(cells, names)
    codes = tuple(code[kept] for code in cells.codes)
    starts = _starts(codes[:-1])
    counts = cells.counts[kept]
    sizes = np.add.reduceat(counts, starts)
    groups = Cells(
        tuple(given), tuple(code[starts] for code in codes[:-1]), cells.values[:-1], sizes
    )
    return Joint(groups, starts, codes[-1], counts, cells.values[-1], cells.dropped)


def conditional(cells: Cells, given: Sequence[str], target: str | None) -> Conditional:
    """The target in each group of the given columns; `target=None` stands for a unique one."""
    if target is None:
        return unique_conditional(cells if cells.columns == tuple(given) else cells.marginal(given))
    return counted_conditional(joint(cells, target, given))


def counted_conditional(table: Joint) -> Conditional:
    """Group by group, from the counts of each value."""
    surprise = np.log2(table.shares)
    entropies = np.maximum(table.per_group(-table.shares * surprise), 0.0) + 0.0  # no minus zero
    divergences = table.per_group(table.shares * (surprise - np.log2(table.prior[table.codes])))
    modes = np.maximum.reduceat(table.counts, table.starts)
    top = np.where(table.counts == modes[table.member], table.codes, len(table.values))
    return Conditional(
        groups=table.groups,
        entropy=entropy_bits(table.totals),
        entropies=entropies,
        modes=modes,
        guesses=np.minimum.reduceat(top, table.starts).astype(np.int64),
        distinct=np.diff(np.append(table.starts, table.counts.size)),
        divergences=np.maximum(divergences, 0.0),
        totals=table.totals,
        values=table.values,
        dropped=table.dropped,
    )


def unique_conditional(cells: Cells) -> Conditional:
    """For a target whose values are all different: every row of a group is as likely."""
    kept = _kept(cells, cells.columns)
    sizes = cells.counts[kept]
    groups = Cells(cells.columns, tuple(code[kept] for code in cells.codes), cells.values, sizes)
    entropies = np.log2(sizes)
    entropy = float(np.log2(float(sizes.sum())))
    return Conditional(
        groups=groups,
        entropy=entropy,
        entropies=entropies,
        modes=np.ones_like(sizes),
        guesses=None,
        distinct=sizes,
        divergences=entropy - entropies,
        totals=None,
        values=None,
        dropped=cells.dropped,
    )


def checked_columns(target: str, given: str | Sequence[str], there: Sequence[str]) -> list[str]:
    """The given columns as a list; they and the target exist and differ."""
    names = [given] if isinstance(given, str) else list(given)
    if not names:
        raise ColumnError(
            "Name at least one given column: what the attacker knows (given=[...], --given)."
        )
    unknown = [name for name in (target, *names) if name not in there]
    if unknown:
        raise unknown_columns(unknown, there)
    if target in names:
        raise ColumnError(
            f"The target {target!r} is among the given columns, so it would be known; take it out."
        )
    if len(set(names)) < len(names):
        raise ColumnError("A given column is named twice; name each once.")
    return names


def _kept(cells: Cells, names: Sequence[str]) -> NDArray[np.bool_]:
    if len(cells) == 0:
        raise InputError("There are no rows, so nothing can be measured.")
    blank = any(len(value) and not value[-1].is_valid for value in cells.values)
    if cells.missing is NullPolicy.WILDCARD and blank:
        raise ParameterError(
            "When missing values match anything, groups overlap and have no distribution; read the "
            "data with missing values as a value of their own ('value') or dropped ('drop')."
        )
    kept = cells.class_sizes > 0
    if not kept.any():
        listed = ", ".join(repr(name) for name in names)
        raise InputError(
            f"Every row misses a value in {listed}; with missing='drop' none is left. "
            "Use missing='value'."
        )
    return np.asarray(kept)


def _starts(codes: tuple[NDArray[np.int32], ...]) -> Ints:
    """Where a new group begins; cells are in the order of their codes."""
    new = np.zeros(codes[0].size, bool)
    new[0] = True
    for code in codes:
        new[1:] |= code[1:] != code[:-1]
    return np.flatnonzero(new)
