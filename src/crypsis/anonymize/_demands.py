"""What every group of a release must meet: size, diversity, closeness, best guess."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crypsis.anonymize.kernels import crowds

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

_DENSE = 4_000_000


@dataclass(frozen=True, eq=False)
class Secret:
    """A sensitive column over the cells: entry e says that cell `cell[e]` has `count[e]` rows with
    the value `code[e]`.
    """

    cell: Ints
    code: Ints
    count: Ints
    values: int
    ordered: bool

    @property
    def overall(self) -> NDArray[np.float64]:
        """How often each value occurs in all rows."""
        return np.bincount(self.code, self.count, self.values).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Demands:
    """k rows a group; at least `diversity` values, `closeness` to the whole table, and no value
    more likely than `best_guess` in each sensitive column.
    """

    k: int
    diversity: int | None = None
    closeness: float | None = None
    best_guess: float | None = None
    secrets: tuple[Secret, ...] = ()

    @property
    def about_secrets(self) -> bool:
        """Whether more than the size of a group is asked."""
        asked = (self.diversity, self.closeness, self.best_guess)
        return any(limit is not None for limit in asked)

    def met(self, group: Ints, totals: Ints, cells: Ints) -> Flags:
        """Which groups meet the demands; `group` says where each of the `cells` belongs."""
        good = totals >= self.k
        if not self.about_secrets or not good.any():
            return good
        place = np.full(totals.size, -1, np.int64)
        asked = np.flatnonzero(good)
        place[asked] = np.arange(asked.size)
        for secret in self.secrets:
            where = np.full(int(secret.cell.max(initial=0)) + 1, -1, np.int64)
            where[cells] = place[group]
            good[asked] &= self._secret_kept(secret, where, totals[asked])
        return good

    def _secret_kept(self, secret: Secret, where: Ints, totals: Ints) -> Flags:
        owner = where[secret.cell]
        kept = np.ones(totals.size, bool)
        chunk = max(1, _DENSE // secret.values)
        overall = secret.overall / secret.overall.sum()
        for start in range(0, totals.size, chunk):
            end = min(totals.size, start + chunk)
            inside = (owner >= start) & (owner < end)
            key = (owner[inside] - start) * secret.values + secret.code[inside]
            flat = np.bincount(key, secret.count[inside], (end - start) * secret.values)
            table = flat.astype(np.float64).reshape(end - start, secret.values)
            kept[start:end] = self._rows_kept(table, totals[start:end], overall, secret.ordered)
        return kept

    def _rows_kept(
        self,
        table: NDArray[np.float64],
        totals: Ints,
        overall: NDArray[np.float64],
        ordered: bool,
    ) -> Flags:
        kept = np.ones(totals.size, bool)
        if self.diversity is not None:
            kept &= (table > 0).sum(axis=1) >= self.diversity
        if self.best_guess is not None:
            kept &= table.max(axis=1) <= self.best_guess * totals
        if self.closeness is not None:
            kept &= distances(table, overall, ordered) <= self.closeness
        return kept


def distances(
    table: NDArray[np.float64], overall: NDArray[np.float64], ordered: bool
) -> NDArray[np.float64]:
    """The earth mover's distance of each row of counts to the whole (Li et al. 2007).

    Half the sum of differences where all values are equally far apart; for ordered values the sum
    of cumulated differences over the number of steps.
    """
    gap = table / np.maximum(table.sum(axis=1, keepdims=True), 1) - overall
    if ordered and overall.size > 1:
        return np.asarray(np.abs(np.cumsum(gap, axis=1)).sum(axis=1) / (overall.size - 1))
    return np.asarray(np.abs(gap).sum(axis=1) / 2)


def groups_of(
    codes: Sequence[NDArray[np.int32]], domains: Sequence[int], counts: Ints
) -> tuple[Ints, Ints]:
    """Equal tuples of codes as groups with their summed counts."""
    from crypsis.grouping import group_keys

    keys, _ = group_keys(tuple(codes), tuple(domains))
    found: tuple[Ints, Ints] = crowds.group_totals(keys, counts)
    return found
