"""What every equivalence class must meet: size, l-diversity, t-closeness, (alpha,k)-anonymity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crypsis.counting.cells import Cells
from crypsis.counting.grouping import group
from crypsis.protection._requirements import PrivacyRequirements
from crypsis.protection.recoding.kernels import requirements as kernel
from crypsis.tables import Rows

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class SensitiveColumn:
    """A sensitive column over cells: cell `cell[e]` has `count[e]` rows with the value `code[e]`.

    The last value is the missing one if `missing`.
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
class ClassRequirements:
    """Requirements on every class, with the sensitive columns they refer to.

    The union of classes that meet them meets them too (Machanavajjhala et al. 2007, Li et al.
    2007), so classes whose labels turn out equal do no harm.
    """

    requirements: PrivacyRequirements
    sensitive: tuple[SensitiveColumn, ...] = ()
    closeness_factor: float = 1.0

    @property
    def k(self) -> int:
        """The smallest class allowed."""
        return self.requirements.k or 1

    @property
    def sizes_only(self) -> bool:
        """Whether nothing but the size of a class is required."""
        return not self.requirements.about_sensitive

    def arrays(self, cells: int) -> tuple[Any, ...]:
        """The sensitive columns and their requirements, as the kernels take them."""
        columns = () if self.sizes_only else self.sensitive
        edges = np.cumsum([0, *(one.values for one in columns)])
        owner = np.concatenate([np.zeros(0, np.int64), *(one.cell for one in columns)])
        order = np.argsort(owner, kind="stable")
        shifted = (one.code + edge for one, edge in zip(columns, edges, strict=False))
        values = np.concatenate([np.zeros(0, np.int64), *shifted])[order]
        rows = np.concatenate([np.zeros(0), *(one.count for one in columns)])[order]
        return (
            np.searchsorted(owner[order], np.arange(cells + 1)),
            values.astype(np.int64),
            rows.astype(np.float64),
            edges.astype(np.int64),
            np.array([one.ordered for one in columns], bool),
            np.array([one.missing for one in columns], bool),
            np.concatenate([np.zeros(0), *(one.shares for one in columns)]),
            self._limits(),
        )

    def _limits(self) -> NDArray[np.float64]:
        limits = np.full(6, -1.0)
        asked = self.requirements
        factor, places = asked.recursive_diversity or (None, None)
        closeness = asked.closeness
        for place, limit in (
            (kernel.DISTINCT, asked.diversity),
            (kernel.ENTROPY, asked.entropy_diversity),
            (kernel.RECURSIVE_C, factor),
            (kernel.RECURSIVE_L, places),
            (kernel.CLOSENESS, None if closeness is None else self.closeness_factor * closeness),
            (kernel.BEST_GUESS, asked.best_guess),
        ):
            if limit is not None:
                limits[place] = limit
        return limits


def sensitive_columns(
    cells: Cells, names: Sequence[str], rows: Rows, member: Ints
) -> tuple[SensitiveColumn, ...]:
    """Sensitive columns of cells that were grouped: `member` is the group of each cell."""
    found = []
    for name in names:
        place = cells.columns.index(name)
        values = cells.values[place]
        found.append(
            SensitiveColumn(
                member, cells.codes[place].astype(np.int64), cells.counts, len(values),
                rows.column(name).kind.ordered, len(values) > 0 and not values[-1].is_valid,
            )
        )  # fmt: skip
    return tuple(found)


def grouped_cells(cells: Cells, columns: int) -> tuple[Ints, Ints, Ints]:
    """The first `columns` of the cells grouped: a cell for each group, each cell's group, rows."""
    first, member = group(cells.codes[:columns], cells.domains[:columns])
    rows = np.zeros(first.size, np.int64)
    np.add.at(rows, member, cells.counts)
    return first, member, rows
