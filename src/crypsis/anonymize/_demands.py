"""What every group of a release must meet: size, diversity, closeness, best guess."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crypsis.anonymize.kernels import crowds
from crypsis.anonymize.kernels import demands as kernel

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Secret:
    """A sensitive column over the cells: entry e says that cell `cell[e]` has `count[e]` rows with
    the value `code[e]`. The last value is the missing one if `missing`.
    """

    cell: Ints
    code: Ints
    count: Ints
    values: int
    ordered: bool
    missing: bool = False

    @property
    def shares(self) -> NDArray[np.float64]:
        """The share of each value in all rows."""
        rows = np.bincount(self.code, self.count, self.values).astype(np.float64)
        return np.asarray(rows / max(1.0, rows.sum()))


@dataclass(frozen=True, eq=False)
class Demands:
    """k rows a group, and in each sensitive column: at least `diversity` values, an entropy of at
    least log2(`entropy`), recursive (c,l)-diversity, `closeness` to the whole table, and no value
    more likely than `best_guess`.

    All of them survive the union of groups that meet them (Machanavajjhala et al. 2007, Li et al.
    2007), so groups that happen to be told alike do no harm.
    """

    k: int
    diversity: int | None = None
    entropy: float | None = None
    recursive: tuple[float, int] | None = None
    closeness: float | None = None
    best_guess: float | None = None
    secrets: tuple[Secret, ...] = ()

    @property
    def about_secrets(self) -> bool:
        """Whether more than the size of a group is asked."""
        limits = (self.diversity, self.entropy, self.recursive, self.closeness, self.best_guess)
        return any(limit is not None for limit in limits)

    def arrays(self, cells: int) -> tuple[Any, ...]:
        """The sensitive columns and what is asked of them, as the kernels take them."""
        secrets = self.secrets if self.about_secrets else ()
        edges = np.cumsum([0, *(one.values for one in secrets)])
        owner = np.concatenate([np.zeros(0, np.int64), *(one.cell for one in secrets)])
        order = np.argsort(owner, kind="stable")
        shifted = (one.code + edge for one, edge in zip(secrets, edges, strict=False))
        values = np.concatenate([np.zeros(0, np.int64), *shifted])[order]
        rows = np.concatenate([np.zeros(0), *(one.count for one in secrets)])[order]
        asked = np.full(6, -1.0)
        factor, least = self.recursive or (None, None)
        for place, limit in (
            (kernel.DISTINCT, self.diversity),
            (kernel.ENTROPY, self.entropy),
            (kernel.RECURSIVE_C, factor),
            (kernel.RECURSIVE_L, least),
            (kernel.CLOSENESS, self.closeness),
            (kernel.BEST_GUESS, self.best_guess),
        ):
            if limit is not None:
                asked[place] = limit
        return (
            np.searchsorted(owner[order], np.arange(cells + 1)),
            values.astype(np.int64),
            rows.astype(np.float64),
            edges.astype(np.int64),
            np.array([one.ordered for one in secrets], bool),
            np.array([one.missing for one in secrets], bool),
            np.concatenate([np.zeros(0), *(one.shares for one in secrets)]),
            asked,
        )


def groups_of(
    codes: Sequence[NDArray[np.int32]], domains: Sequence[int], counts: Ints
) -> tuple[Ints, Ints]:
    """Equal tuples of codes as groups with their summed counts."""
    from crypsis.grouping import group_keys

    keys, _ = group_keys(tuple(codes), tuple(domains))
    found: tuple[Ints, Ints] = crowds.group_totals(keys, counts)
    return found
