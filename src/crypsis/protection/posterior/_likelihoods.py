"""The sparse matrix of likelihoods: how likely each masked record is, given each original."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from crypsis.array_types import Floats, Ints
from crypsis.counting import arrays
from crypsis.counting.grouping import numbered
from crypsis.linkage.suite import Field, field_of
from crypsis.protection.masking import Transition
from crypsis.protection.posterior._coordinates import coordinates
from crypsis.scientific import csgraph, sparse, spatial

_MAX_ALL_PAIRS = 1_000_000
"""Up to so many pairs of records all are compared; of more, those that are near."""
_SAMPLED_OTHERS = 48
"""Masked records at random, for the likelihood of those that are not near."""
_MIN_BELIEF = 1e-4
"""Pairs with a smaller share of a record, after scaling, are dropped."""
_SCALING_SWEEPS = 30
"""How often rows and columns are scaled, after which they are nearly doubly stochastic."""
_LAST_RESORT_LIKELIHOOD = 1e-9
"""The likelihood, relative to the best pair, of a pair of records that have no other partner."""
_UNMASKED_WEIGHT = 10.0
"""The weight of columns that no mask changed in the distance of two records."""
_MAX_LOG_RATIO = 50.0
"""The largest logarithm of how much more likely it is that a record has no partner."""


@dataclass(frozen=True, eq=False)
class Likelihoods:
    """Pairs with their log-likelihood, and the share of each original's likelihood that they have."""

    rows: Ints
    columns: Ints
    logs: Floats
    captured: Floats
    shape: tuple[int, int]

    def belief_matrix(self) -> tuple[sparse.csr_array, Floats]:
        """Cells that are nearly doubly stochastic, without negligible ones; the share that is kept.

        Multiplying rows and columns changes no probability. Where one file has fewer records, the
        others may have no partner, each as likely as any: it is filled up with records that fit all.
        Where the pairs have no perfect matching the records that are left over are paired, as very
        unlikely.
        """
        originals, masked = self.shape
        size = max(self.shape)
        best = np.full(originals, -np.inf)
        np.maximum.at(best, self.rows, self.logs)
        likely = np.exp(self.logs - best[self.rows])
        added_rows, filled, fits = self._without_partner(best)
        cells = sparse.csr_array(
            (np.append(likely, fits), (np.append(self.rows, added_rows), np.append(self.columns, filled))),
            (size, size),
        )
        cells.eliminate_zeros()
        cells = _completed(cells)
        factor, back = np.ones(size), cells.T.tocsr()
        for _ in range(_SCALING_SWEEPS):
            column_factor = 1.0 / np.maximum(back @ factor, 1e-280)
            factor = 1.0 / np.maximum(cells @ column_factor, 1e-280)
        row = np.repeat(np.arange(size), np.diff(cells.indptr))
        scaled = cells.data * factor[row] * column_factor[cells.indices]
        kept = (scaled > _MIN_BELIEF) | (row >= originals) | (cells.indices >= masked)
        share = np.bincount(row, scaled * kept, minlength=size)[:originals]
        pruned = sparse.csr_array((scaled[kept], (row[kept], cells.indices[kept])), (size, size))
        return _completed(pruned), np.clip(share * self.captured, 0.0, 1.0)

    def _without_partner(self, best: Floats) -> tuple[Ints, Ints, Floats]:
        """The pairs with the records that fill up the smaller file: their rows, columns, likelihood.

        Rows are relative to their best pair, so these are too.
        """
        originals, masked = self.shape
        fill = np.arange(min(self.shape), max(self.shape))
        if originals <= masked:
            columns = np.tile(np.arange(masked), fill.size)
            return np.repeat(fill, masked), columns, np.ones(columns.size)
        possible = np.isfinite(best)
        typical = np.median(best[possible]) if possible.any() else 0.0
        deviation = np.where(possible, np.clip(typical - best, -_MAX_LOG_RATIO, _MAX_LOG_RATIO), 0.0)
        rows = np.repeat(np.arange(originals), fill.size)
        return rows, np.tile(fill, originals), np.exp(deviation)[rows]


def _completed(cells: sparse.csr_array) -> sparse.csr_array:
    """The matrix with a perfect matching: what has no partner gets one, very unlikely."""
    short = (part.astype(np.int32) for part in (cells.indices, cells.indptr))  # for old versions
    graph = sparse.csr_array((cells.data, *short), shape=cells.shape)
    matched = csgraph.maximum_bipartite_matching(graph, perm_type="column")
    rows = np.flatnonzero(matched < 0)
    if not len(rows):
        return cells
    columns = np.setdiff1d(np.arange(cells.shape[1]), matched[matched >= 0])
    more = sparse.csr_array((np.full(len(rows), _LAST_RESORT_LIKELIHOOD), (rows, columns)), shape=cells.shape)
    return sparse.csr_array(cells + more)


class Pairs:
    """Both files, the models of the masks, and the likelihood of any pair of records."""

    def __init__(
        self, original: pa.Table, masked: pa.Table, models: Sequence[Transition], unmasked: Sequence[str]
    ) -> None:
        self.models = tuple(models)
        self.shape = original.num_rows, masked.num_rows
        used = {name for model in models for name in (*model.columns, *model.given)}
        self._original = {name: _values(original[name]) for name in used}
        self._masked = {name: _values(masked[name]) for name in used if name in masked.column_names}
        # Columns without a mask are unchanged, or generalized: the label covers the value.
        self._fields: list[Field] = [
            field_of(name, original[name].combine_chunks(), masked[name].combine_chunks())
            for name in unmasked
        ]

    def logs(self, rows: Ints, columns: Ints) -> Floats:
        """The log-likelihood of pairs of original and masked records."""
        total = np.zeros(len(rows))
        for model in self.models:
            total += self._of_model(model, rows, columns)
        for field in self._fields:
            level = field.level(rows, columns)
            fits = (level == 0) | (level == field.steps) | (level == field.steps + 2)
            total = np.where(fits, total, -np.inf)
        return total

    def _of_model(self, model: Transition, rows: Ints, columns: Ints) -> Floats:
        before = {name: self._original[name] for name in model.given}
        after = {name: self._masked[name] for name in model.columns}
        if all(side.dtype.kind == "f" for side in (*before.values(), *after.values())):
            return model.likelihood(
                {name: values[rows] for name, values in before.items()},
                {name: values[columns] for name, values in after.items()},
            )
        # Texts: the likelihood of each pair of different values once.
        before_codes, after_codes = _tuples(before), _tuples(after)
        wide = int(after_codes.max(initial=0)) + 1
        keys, first, which = np.unique(
            before_codes[rows] * wide + after_codes[columns], return_index=True, return_inverse=True
        )
        at, to = rows[first], columns[first]
        logs = model.likelihood(
            {name: values[at] for name, values in before.items()},
            {name: values[to] for name, values in after.items()},
        )
        return np.asarray(logs)[which.ravel()] if len(keys) else np.zeros(0)

    @cached_property
    def points(self) -> tuple[Floats, Floats]:
        """Both files as points: likely pairs are near."""
        parts = [coordinates(model, self._original, self._masked) for model in self.models]
        for i, field in enumerate(self._fields):
            x, y = field.points(i)
            parts.append((_UNMASKED_WEIGHT * x, _UNMASKED_WEIGHT * y))
        x, y = (np.column_stack([part[side] for part in parts]) for side in (0, 1))
        if not x.shape[1]:
            return np.zeros((len(x), 1)), np.zeros((len(y), 1))
        return x, y

    def near(self, nearest: int, seed: int) -> Likelihoods:
        """The likely pairs: all, where they are few, else the nearest of each record both ways."""
        originals, masked = self.shape
        if originals * masked <= _MAX_ALL_PAIRS or nearest >= min(self.shape):
            rows, columns = np.divmod(np.arange(originals * masked), masked)
            logs = self.logs(rows, columns)
            possible = np.isfinite(logs)
            return Likelihoods(
                rows[possible], columns[possible], logs[possible], np.ones(originals), self.shape
            )
        x, y = self.points
        to = spatial.cKDTree(y).query(x, k=nearest, workers=-1)[1].astype(np.int64)
        back = spatial.cKDTree(x).query(y, k=nearest // 2, workers=-1)[1].astype(np.int64)
        keys = np.unique(
            np.concatenate(
                [
                    (np.arange(originals)[:, None] * masked + to).ravel(),
                    (back * masked + np.arange(masked)[:, None]).ravel(),
                ]
            )
        )
        rows, columns = keys // masked, keys % masked
        logs = self.logs(rows, columns)
        possible = np.isfinite(logs)
        rows, columns, logs = rows[possible], columns[possible], logs[possible]
        return Likelihoods(rows, columns, logs, self._captured(keys, rows, logs, seed), self.shape)

    def _captured(self, keys: Ints, rows: Ints, logs: Floats, seed: int) -> Floats:
        """The share of each original's likelihood that its near records have, by a sample of all."""
        originals, masked = self.shape
        best = np.full(originals, -np.inf)
        np.maximum.at(best, rows, logs)
        near_share = np.bincount(rows, np.exp(logs - best[rows]), minlength=originals)
        rng = np.random.default_rng((seed, 32))
        drawn = rng.integers(masked, size=(originals, _SAMPLED_OTHERS))
        row = np.repeat(np.arange(originals), _SAMPLED_OTHERS)
        sampled = row * masked + drawn.ravel()
        position = np.minimum(np.searchsorted(keys, sampled), len(keys) - 1)
        outside = keys[position] != sampled
        level = np.where(np.isfinite(best), best, 0.0)[row]
        weight = np.zeros(len(row))
        weight[outside] = np.exp(
            np.minimum(self.logs(row[outside], drawn.ravel()[outside]) - level[outside], 50.0)
        )
        beyond = np.bincount(row, weight, minlength=originals) * masked / _SAMPLED_OTHERS
        return np.asarray(
            np.divide(near_share, near_share + beyond, out=np.zeros(originals), where=near_share > 0)
        )


def _values(column: pa.ChunkedArray) -> NDArray[Any]:
    """Numbers with NaN, dates as such, other values as texts with None."""
    kind = column.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind):
        numbers = column.cast(pa.float64(), safe=False).fill_null(float("nan"))
        return np.asarray(arrays.numbers(numbers), np.float64)
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        whole = column.cast(pa.timestamp("us"), safe=False).cast(pa.int64())
        days = np.asarray(arrays.numbers(whole.fill_null(np.iinfo(np.int64).min)), np.int64)
        return days.view("datetime64[us]")
    return np.array(column.to_pylist(), dtype=object)


def _tuples(columns: dict[str, NDArray[Any]]) -> Ints:
    """A number for each different tuple of values."""
    code = np.zeros(len(next(iter(columns.values()))), np.int64)
    for values in columns.values():
        if values.dtype.kind == "O":
            encoded = pa.array(values, from_pandas=True).dictionary_encode()
            number = np.asarray(encoded.indices.fill_null(len(encoded.dictionary)), np.int64)
        else:
            number = numbered(values.view(np.int64) if values.dtype.kind == "M" else values)
        code = numbered(code * (int(number.max(initial=0)) + 1) + number)
    return code
