"""The distribution of a target within each equivalence class of the given columns, from cells.

Every measure of this package is a function of these arrays. For a target whose values are all
different the class sizes suffice: the target itself is never counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from crypsis.counting.cells import Cells
from crypsis.counting.distributions import entropy_bits
from crypsis.errors import ColumnError, InputError, ParameterError, unknown_columns
from crypsis.options import MissingValues

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Joint:
    """Counts of (class, target value), class by class.

    Cells `starts[g]` up to `starts[g + 1]` belong to class g; `codes` are places in `values`.
    """

    classes: Cells
    starts: Ints
    codes: NDArray[np.int32]
    counts: Ints
    values: pa.Array
    dropped: int

    @cached_property
    def sizes(self) -> Ints:
        """The records of each class."""
        return np.asarray(np.add.reduceat(self.counts, self.starts))

    @cached_property
    def member(self) -> Ints:
        """The class of each cell."""
        lengths = np.diff(np.append(self.starts, self.counts.size))
        return np.repeat(np.arange(self.starts.size), lengths)

    @cached_property
    def shares(self) -> Floats:
        """The share of each cell in its class: p(x | y)."""
        return self.counts / self.sizes[self.member]

    @cached_property
    def totals(self) -> Ints:
        """The records of each target value."""
        sums = np.bincount(self.codes, weights=self.counts, minlength=len(self.values))
        return sums.astype(np.int64)

    @cached_property
    def prior(self) -> Floats:
        """The share of each target value in all records: p(x)."""
        return np.asarray(self.totals / self.totals.sum())

    @property
    def distinct(self) -> int:
        """How many values the target takes in all records."""
        return int((self.totals > 0).sum())

    @cached_property
    def present(self) -> Joint:
        """Without missing values, which are no diversity; a class of nothing else keeps its one."""
        if not len(self.values) or self.values[-1].is_valid:
            return self
        lengths = np.diff(np.append(self.starts, self.counts.size))
        kept = (self.codes != len(self.values) - 1) | (lengths == 1)[self.member]
        starts = np.searchsorted(self.member[kept], np.arange(self.starts.size))
        return replace(self, starts=starts, codes=self.codes[kept], counts=self.counts[kept])

    @cached_property
    def diversity(self) -> Ints:
        """The values of each class."""
        return np.diff(np.append(self.present.starts, self.present.counts.size))

    def per_class(self, terms: Floats) -> Floats:
        """The sum over each class of one term per cell."""
        return np.asarray(np.add.reduceat(terms, self.starts))


@dataclass(frozen=True, eq=False)
class Conditional:
    """The target in each class: its entropy, its best guess and its distance from all records."""

    classes: Cells
    """The distinct tuples of the given columns; their counts are the class sizes."""
    entropy: float
    """H(X), in bits."""
    entropies: Floats
    """H(X | Y = y), in bits."""
    modes: Ints
    """The records of the class with its most frequent value."""
    guesses: Ints | None
    """That value's place in `values` (the first, of several); None for a unique target."""
    distinct: Ints
    divergences: Floats
    """Kullback-Leibler divergence of the class from all records, in bits."""
    totals: Ints | None
    """The records of each target value; None for a unique target."""
    values: pa.Array | None
    dropped: int

    @property
    def sizes(self) -> Ints:
        """The records of each class."""
        return self.classes.counts

    @cached_property
    def records(self) -> int:
        """The records that count."""
        return int(self.sizes.sum())

    @cached_property
    def shares(self) -> Floats:
        """p(y)."""
        return self.sizes / self.records

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
        """The probability of the best guess in each class."""
        return self.modes / self.sizes

    @property
    def prior_guess(self) -> float:
        """The probability of the best guess without the given columns."""
        top = 1 if self.totals is None else int(self.totals.max())
        return top / self.records

    @property
    def average_guess(self) -> float:
        """The probability of the best guess with them, averaged over the records."""
        return max(int(self.modes.sum()) / self.records, self.prior_guess)

    @cached_property
    def itpr(self) -> float:
        """Formula (10) and Definition 4.2 in the reading that lies in [0, 1]."""
        return max(float(self.itprs.max()), self.discrimination_rate)

    @cached_property
    def itprs(self) -> Floats:
        """Each class's term 1 - |Y| p(y) H(X | Y = y) / H(X); negative for large classes."""
        if self.entropy == 0:
            return np.zeros(len(self.classes))
        return 1 - len(self.classes) * self.weighted / self.entropy

    @property
    def discrimination_rate(self) -> float:
        """1 - H(X | Y) / H(X), formula (5)."""
        return 1 - self.conditional_entropy / self.entropy if self.entropy else 0.0


def joint(cells: Cells, target: str, given: Sequence[str]) -> Joint:
    """Cells of the given columns and the target as a Joint; dropped records are counted."""
    names = (*given, target)
    if cells.columns != names:
        cells = cells.marginal(names)
    kept = _kept(cells, names)
    codes = tuple(code[kept] for code in cells.codes)
    starts = _starts(codes[:-1])
    counts = cells.counts[kept]
    sizes = np.add.reduceat(counts, starts)
    classes = Cells(
        tuple(given), tuple(code[starts] for code in codes[:-1]), cells.values[:-1], sizes
    )
    return Joint(classes, starts, codes[-1], counts, cells.values[-1], cells.dropped)


def conditional(cells: Cells, given: Sequence[str], target: str | None) -> Conditional:
    """The target in each class of the given columns; `target=None` means a unique one."""
    if target is None:
        return unique_conditional(cells if cells.columns == tuple(given) else cells.marginal(given))
    return counted_conditional(joint(cells, target, given))


def counted_conditional(table: Joint) -> Conditional:
    """Class by class, from the counts of each value."""
    surprise = np.log2(table.shares)
    entropies = np.maximum(table.per_class(-table.shares * surprise), 0.0) + 0.0  # no minus zero
    divergences = table.per_class(table.shares * (surprise - np.log2(table.prior[table.codes])))
    modes = np.maximum.reduceat(table.counts, table.starts)
    top = np.where(table.counts == modes[table.member], table.codes, len(table.values))
    return Conditional(
        classes=table.classes,
        entropy=entropy_bits(table.totals),
        entropies=entropies,
        modes=modes,
        guesses=np.minimum.reduceat(top, table.starts).astype(np.int64),
        distinct=table.diversity,
        divergences=np.maximum(divergences, 0.0),
        totals=table.totals,
        values=table.values,
        dropped=table.dropped,
    )


def unique_conditional(cells: Cells) -> Conditional:
    """For a target whose values are all different: every record of a class is as likely."""
    kept = _kept(cells, cells.columns)
    sizes = cells.counts[kept]
    classes = Cells(cells.columns, tuple(code[kept] for code in cells.codes), cells.values, sizes)
    entropies = np.log2(sizes)
    entropy = float(np.log2(float(sizes.sum())))
    return Conditional(
        classes=classes,
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


def checked_columns(target: str, given: str | Sequence[str], available: Sequence[str]) -> list[str]:
    """The given columns as a list; they and the target exist and differ."""
    names = [given] if isinstance(given, str) else list(given)
    if not names:
        raise ColumnError(
            "No given column is set: the columns that the intruder knows.",
            code="no-given-columns",
            hint="Set at least one given column with {given}.",
        )
    unknown = [name for name in (target, *names) if name not in available]
    if unknown:
        raise unknown_columns(unknown, available)
    if target in names:
        raise ColumnError(
            f"The target {target!r} is among the given columns.",
            code="target-given",
            columns=(target,),
            hint="Remove the target from {given}.",
        )
    if len(set(names)) < len(names):
        raise ColumnError("A given column is named twice.", hint="Name each column once.")
    return names


def check_at_least(name: str, value: int, least: int) -> None:
    """Raise unless a parameter has its smallest value."""
    if value < least:
        raise ParameterError(
            f"Parameter {name!r} must be at least {least}; {value} was given.", parameter=name
        )


def no_wildcards() -> ParameterError:
    """The error for missing values that match any value."""
    return ParameterError(
        "Missing values that match any value make equivalence classes overlap, so that a class "
        "has no distribution.",
        code="wildcards-have-no-distribution",
        hint="Set {missing=value} or {missing=drop}.",
    )


def no_records() -> InputError:
    """The error for data without a record that counts."""
    return InputError("There are no records, so nothing can be measured.", code="no-records")


def _kept(cells: Cells, names: Sequence[str]) -> NDArray[np.bool_]:
    if len(cells) == 0:
        raise no_records()
    blank = any(len(value) and not value[-1].is_valid for value in cells.values)
    if cells.missing is MissingValues.WILDCARD and blank:
        raise no_wildcards()
    kept = cells.class_sizes > 0
    if not kept.any():
        raise InputError(
            "Every record has a missing value in " + ", ".join(map(repr, names)) + ", so that no "
            "record is left when these are dropped.",
            code="no-records",
            hint="Set {missing=value}.",
        )
    return np.asarray(kept)


def _starts(codes: tuple[NDArray[np.int32], ...]) -> Ints:
    """Where a new class begins; cells are in the order of their codes."""
    new = np.zeros(codes[0].size, bool)
    new[0] = True
    for code in codes:
        new[1:] |= code[1:] != code[:-1]
    return np.flatnonzero(new)
