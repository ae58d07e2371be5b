"""Sums over all groups of the given columns: from groups drawn by a hash, or all of them counted.

Groups of the same make (rows, rows of the commonest value, values) may stand together: `times` says
how many there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from crypsis.cells import Cells
from crypsis.distributions import entropy_bits
from crypsis.engine import Rows
from crypsis.engine.large import CERTAIN, group_profiles, large_groups, sampled_sizes, whole_groups
from crypsis.errors import ParameterError
from crypsis.estimates import CONFIDENCE, mapped, row_mean, scaled_total
from crypsis.inference._conditional import (
    Conditional,
    Joint,
    counted_conditional,
    joint,
    unique_conditional,
)
from crypsis.inference._grounds import distances, ground_of
from crypsis.inference._groups import ranking
from crypsis.inference._uniqueness import Uniqueness
from crypsis.release import Release
from crypsis.results import Group, Number, Result, raw

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_RISKIEST_SHOWN = 20


@dataclass(frozen=True)
class SeenGroup(Result):
    """One of the groups seen; all of it is exact."""

    group: Group
    share: float
    """Its share of all rows, p(y)."""
    entropy_bits: float
    """What is left uncertain in it, H(X | Y = y)."""
    distinct: int
    """How many values the target takes in it."""
    divergence_bits: float
    """How far the target's distribution in it is from that in all rows."""
    best_guess: float
    """The probability of its most frequent value."""
    guess: Any = raw(default=None)
    """That value; None for a unique target, of which each value is as likely."""


@dataclass(frozen=True)
class Information:
    """H(X|Y) and what follows from it."""

    conditional_entropy: Number
    mutual_information: Number
    discrimination_rate: Number
    conditional_privacy: Number


@dataclass(frozen=True, eq=False)
class Sums:
    """The groups seen, each with a chance `share`, the `certain` ones for sure."""

    rows: int
    """All rows that count, seen or not."""
    entropy: float
    """H(X), in bits."""
    values: int
    """The values that the target has."""
    top: int
    """The rows of its commonest value."""
    share: float
    confidence: float
    sizes: Ints
    modes: Ints
    distinct: Ints
    times: Ints
    certain: NDArray[np.bool_]
    left: Floats
    """n H(X|Y=y) of each group, in bits; where all groups were counted, perhaps their sum alone."""
    least_left: float
    """The smallest of a single group."""
    closeness: float | None = None
    riskiest: tuple[SeenGroup, ...] = ()

    @property
    def seen(self) -> int:
        """How many groups were seen."""
        return int(self.times.sum())

    @property
    def prior_guess(self) -> float:
        """The best guess without the given columns."""
        return self.top / self.rows

    @property
    def smallest(self) -> int:
        """The rows of the smallest group seen."""
        return int(self.sizes.min())

    @property
    def fewest_values(self) -> int:
        """The fewest values of the target in a group seen."""
        return int(self.distinct.min())

    @cached_property
    def guesses(self) -> Floats:
        """The best guess in each group."""
        return self.modes / self.sizes

    @property
    def worst_guess(self) -> float:
        """The best guess of all groups seen."""
        return float(self.guesses.max())

    def groups(self) -> Number:
        """How many groups there are."""
        if self.share == 1:
            return self.seen
        sure = int(self.times[self.certain].sum())
        drawn = scaled_total(
            [1], [self.seen - sure], self.share, largest=1, confidence=self.confidence
        )
        return mapped(drawn, lambda count: count + sure)

    def information(self) -> Information:
        """H(X|Y) and its kin."""
        whole = self.entropy
        most = float(np.log2(max(self.values, 1)))
        left = _within(self._mean(self.left, (0.0, most)), 0.0, whole)
        gained = mapped(left, lambda bits: whole - bits)
        rate = mapped(left, lambda bits: 1 - bits / whole) if whole else 0.0
        return Information(left, gained, rate, mapped(gained, lambda bits: 1 - 2.0**-bits))

    def average_guess(self) -> Number:
        """The best guess with the given columns, averaged over the rows."""
        right = (self.modes * self.times).astype(np.float64)
        return _within(self._mean(right, (0.0, 1.0)), self.prior_guess, 1.0)

    def gain(self, guess: Number) -> Number:
        """What a guess is above the one without the given columns."""
        return mapped(guess, lambda right: right - self.prior_guess)

    def told_outright(self) -> Number:
        """The share of rows in groups that hold one value of the target alone."""
        return self._rows_where(self.distinct == 1)

    def in_groups_above(self, guess: float) -> Number:
        """The share of rows in groups where the best guess is above `guess`."""
        return self._rows_where(self.guesses > guess)

    def _rows_where(self, chosen: NDArray[np.bool_]) -> Number:
        return self._mean(np.where(chosen, self.sizes * self.times, 0.0), (0.0, 1.0))

    def _mean(self, totals: Floats, limits: tuple[float, float]) -> Number:
        """The mean over all rows of what the groups add up to."""
        if self.share == 1:
            return float(totals.sum() / self.rows)
        sure = self.certain
        return row_mean(
            totals[~sure],
            self.sizes[~sure],
            self.share,
            self.rows,
            certain=(float(totals[sure].sum()), int(self.sizes[sure].sum())),
            limits=limits,
            confidence=self.confidence,
        )


def _within(number: Number, low: float, high: float) -> Number:
    return mapped(number, lambda value: min(max(value, low), high))


def counted_sums(rows: Rows, names: Sequence[str], target: str | None) -> Sums:
    """All groups, counted by the engine; `target=None` stands for a unique one."""
    if target is None:
        sample = sampled_sizes(rows, names, 1.0)
        bits = sample.sizes * np.log2(sample.sizes)
        count = values = int(sample.sizes @ sample.groups)
        entropy, top = float(np.log2(count)), 1
        make = (sample.sizes, np.ones_like(sample.sizes), sample.sizes, sample.groups)
        left = np.asarray(bits * sample.groups, np.float64)
        least = float(bits.min())
    else:
        counts = Cells.from_table(rows.cells([target]), [target]).counts
        count, values, top = int(counts.sum()), counts.size, int(counts.max())
        found = group_profiles(rows, names, target)
        make = (found.sizes, found.modes, found.distinct, found.groups)
        entropy = entropy_bits(counts)
        inside = found.cells * found.cell_sizes * np.log2(found.cell_sizes)
        whole = found.groups * found.sizes * np.log2(found.sizes)
        left = np.array([max(0.0, float(whole.sum() - inside.sum()))])  # of all makes together
        least = 0.0 if (found.distinct == 1).any() else found.least_left_bits
    size, modes, distinct, times = make
    certain = np.ones(size.size, bool)
    return Sums(
        count, entropy, values, top, 1.0, CONFIDENCE, size, modes, distinct, times, certain, left,
        least,
    )  # fmt: skip


def drawn_sums(
    release: Release, rows: Rows, names: list[str], target: str, how: Uniqueness,
    share: float, confidence: float, seed: int,
) -> Sums:  # fmt: skip
    """A share of the groups, in full."""
    certain = large_groups(rows, names, seed=seed) if share < 1 else np.array([], np.int64)
    counted = [] if how.unique else [target]
    picked = whole_groups(rows, names, counted, share, certain, seed=seed)
    order = [*names, CERTAIN, *counted]
    cells = Cells.from_table(picked.cells(order), order)
    if not len(cells):
        raise ParameterError("No group was drawn; ask for more (groups=...).")
    place = len(names)  # groups agree in it, so the order of the cells is the same without it
    sure = np.array(cells.values[place].to_pylist(), bool)[cells.codes[place]]
    plain = Cells(
        (*names, *counted),
        cells.codes[:place] + cells.codes[place + 1 :],
        cells.values[:place] + cells.values[place + 1 :],
        cells.counts,
    )
    if how.unique:
        known, all_rows = _unique(plain, rows.count), rows.count
        values, top, closeness, firsts = all_rows, 1, None, np.arange(len(plain))
    else:
        table = _rebased(joint(plain, target, names), rows, target)
        known, all_rows = counted_conditional(table), int(table.totals.sum())
        values, top, firsts = int((table.totals > 0).sum()), int(table.totals.max()), table.starts
        ground, tree = ground_of(release, target, None, None)
        closeness = float(distances(table, ground, tree).max())
    left = known.sizes * known.entropies
    chance = int(share * 2**60) / 2**60 if share < 1 else 1.0
    return Sums(
        all_rows, known.entropy, values, top, chance, confidence,
        known.sizes, known.modes, known.distinct, np.ones_like(known.sizes), sure[firsts],
        left, float(left.min()), closeness, _riskiest(known, all_rows),
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class _Rebased(Joint):
    """Some groups, beside the target in all rows."""

    overall: Ints

    @cached_property
    def totals(self) -> Ints:
        """The rows of each target value, in all groups, seen or not."""
        return self.overall


def _rebased(table: Joint, rows: Rows, target: str) -> _Rebased:
    every = Cells.from_table(rows.cells([target]), [target])
    overall = np.zeros(len(every.values[0]), np.int64)
    overall[every.codes[0]] = every.counts
    place = np.asarray(pc.index_in(table.values, value_set=every.values[0]), np.int32)
    return _Rebased(
        table.groups, table.starts, place[table.codes], table.counts, every.values[0],
        table.dropped, overall,
    )  # fmt: skip


def _unique(cells: Cells, rows: int) -> Conditional:
    known = unique_conditional(cells)
    entropy = float(np.log2(rows))
    return replace(known, entropy=entropy, divergences=entropy - known.entropies)


def _riskiest(known: Conditional, rows: int) -> tuple[SeenGroup, ...]:
    return tuple(
        _seen_group(known, int(i), rows) for i in ranking(known, "best_guess")[:_RISKIEST_SHOWN]
    )


def _seen_group(known: Conditional, place: int, rows: int) -> SeenGroup:
    guess = None
    if known.guesses is not None and known.values is not None:
        guess = known.values[int(known.guesses[place])].as_py()
    return SeenGroup(
        group=known.groups.group(place),
        share=float(known.sizes[place] / rows),
        entropy_bits=float(known.entropies[place]),
        distinct=int(known.distinct[place]),
        divergence_bits=float(known.divergences[place]),
        best_guess=float(known.best_guesses[place]),
        guess=guess,
    )
