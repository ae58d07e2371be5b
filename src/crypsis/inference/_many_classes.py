"""Classes that are too many to fetch.

Some are drawn by a hash of their values and counted in full, so that each of these is exact and
sums over all classes are estimates with intervals; or, on request, the engine counts all of them
and returns how many there are of each size, mode and number of target values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from crypsis.counting.cells import Cells
from crypsis.counting.distributions import entropy_bits
from crypsis.dataset import Dataset
from crypsis.errors import ParameterError, TooLargeError
from crypsis.inference._closeness import class_distances
from crypsis.inference._counted_classes import CountedClasses, classes_of
from crypsis.inference._uniqueness import UniquenessBasis
from crypsis.inference.conditional import (
    Joint,
    counted_conditional,
    joint,
    no_records,
    no_wildcards,
    several_records,
    unique_conditional,
)
from crypsis.options import MissingValues
from crypsis.tables import Rows
from crypsis.tables.class_samples import (
    CERTAIN,
    class_profiles,
    large_classes,
    sample_class_sizes,
    sample_classes,
    sketches,
    without_missing,
)

DRAWN_CLASSES = 1_000_000
"""Classes that are counted in full unless the caller states how many."""
_MAX_CELLS = 5_000_000
"""Cells of classes and the target that are fetched; with more, fewer classes are drawn."""


def many_classes(
    dataset: Dataset,
    names: list[str],
    target: str,
    basis: UniquenessBasis,
    *,
    sample: int,
    exact: bool,
    confidence: float,
    seed: int,
) -> CountedClasses:
    """Classes that are too many to fetch: some of them in full, or all counted by the engine.

    Both count records, so where people have several there is no answer.
    """
    if several_records(dataset):
        raise TooLargeError(
            "There are too many equivalence classes to count their people.",
            code="too-many-people",
            columns=tuple(names),
            hint="Generalize the columns, or set fewer.",
        )
    if dataset.missing is MissingValues.WILDCARD:
        raise no_wildcards()
    needed = names if basis.unique else [*names, target]
    classes, pairs = sketches(dataset.rows, [names, needed])
    dropped = pairs.missing if dataset.missing is MissingValues.DROP else 0
    if pairs.rows == dropped:
        raise no_records()
    rows = without_missing(dataset.rows, needed, pairs.rows - dropped) if dropped else dataset.rows
    if exact:
        counted = _engine_classes(rows, names, None if basis.unique else target)
    else:
        share = min(1.0, sample / max(1.0, classes.distinct), _MAX_CELLS / max(1.0, pairs.distinct))
        ordered = dataset.rows.column(target).kind.ordered
        counted = _drawn_classes(rows, names, target, basis, ordered, share, confidence, seed)
    return replace(counted, dropped=dropped)


def _engine_classes(rows: Rows, names: Sequence[str], target: str | None) -> CountedClasses:
    """All classes, counted by the engine; `target=None` means a unique one."""
    if target is None:
        counted = sample_class_sizes(rows, names, 1.0)
        sizes, times = counted.sizes, counted.classes
        records = values = int(sizes @ times)
        entropy, top, modes, distinct = float(np.log2(records)), 1, np.ones_like(sizes), sizes
        bits = sizes * np.log2(sizes)
        weighted = np.asarray(bits * times / records, np.float64)
        least = float(bits.min())
        least_entropy: float | None = float(np.log2(sizes.min()))
    else:
        counts = Cells.from_table(rows.cells([target]), [target]).counts
        records, values, top = int(counts.sum()), counts.size, int(counts.max())
        profiles = class_profiles(rows, names, target)
        sizes, modes, times = profiles.sizes, profiles.modes, profiles.classes
        distinct, entropy = profiles.distinct, entropy_bits(counts)
        inside = profiles.cells * profiles.cell_sizes * np.log2(profiles.cell_sizes)
        total = times * sizes * np.log2(sizes)
        weighted = np.array([max(0.0, float(total.sum() - inside.sum())) / records])
        homogeneous = bool((modes == sizes).any())
        least = 0.0 if homogeneous else profiles.min_uncertainty_bits
        least_entropy = 0.0 if homogeneous else None
    return CountedClasses(
        records,
        0,
        entropy,
        values,
        top,
        sizes,
        modes,
        distinct,
        weighted,
        least / records,
        least_entropy,
        times,
        np.ones(sizes.size, bool),
    )


def _drawn_classes(
    rows: Rows,
    names: list[str],
    target: str,
    basis: UniquenessBasis,
    ordered: bool,
    share: float,
    confidence: float,
    seed: int,
) -> CountedClasses:
    """A share of the classes, in full."""
    certain = large_classes(rows, names, seed=seed) if share < 1 else np.array([], np.int64)
    counted = [] if basis.unique else [target]
    drawn = sample_classes(rows, names, counted, share, certain, seed=seed)
    order = [*names, CERTAIN, *counted]
    cells = Cells.from_table(drawn.cells(order), order)
    if not len(cells):
        raise ParameterError("No class was drawn.", parameter="sample", hint="Raise {sample}.")
    sure_column = len(names)  # classes agree in it, so the order of the cells is the same without it
    sure = np.array(cells.values[sure_column].to_pylist(), bool)[cells.codes[sure_column]]
    plain = Cells(
        (*names, *counted),
        cells.codes[:sure_column] + cells.codes[sure_column + 1 :],
        cells.values[:sure_column] + cells.values[sure_column + 1 :],
        cells.counts,
    )
    if basis.unique:
        conditional, records = unique_conditional(plain), rows.count
        entropy = float(np.log2(records))
        conditional = replace(conditional, entropy=entropy, divergences=entropy - conditional.entropies)
        classes = classes_of(conditional, records, records, None)
    else:
        table = _of_all_records(joint(plain, target, names), rows, target)
        distances = class_distances(table, "ordered" if ordered else "equal")
        records, sure = int(table.totals.sum()), sure[table.starts]
        classes = classes_of(counted_conditional(table), records, table.distinct, distances)
    chance = int(share * 2**60) / 2**60 if share < 1 else 1.0
    return replace(classes, share=chance, confidence=confidence, certain=sure)


@dataclass(frozen=True, eq=False)
class _Drawn(Joint):
    """Some classes, with the target's distribution in all records."""

    overall: NDArray[np.int64] = field(kw_only=True)

    @cached_property
    def totals(self) -> NDArray[np.int64]:
        """The records of each target value, in all classes, counted or not."""
        return self.overall


def _of_all_records(table: Joint, rows: Rows, target: str) -> _Drawn:
    value_cells = Cells.from_table(rows.cells([target]), [target])
    overall = np.zeros(len(value_cells.values[0]), np.int64)
    overall[value_cells.codes[0]] = value_cells.counts
    value_index = np.asarray(pc.index_in(table.values, value_set=value_cells.values[0]), np.int32)
    return _Drawn(
        table.classes,
        table.starts,
        value_index[table.codes],
        table.counts,
        value_cells.values[0],
        table.dropped,
        overall=overall,
    )
