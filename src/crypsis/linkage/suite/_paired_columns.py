"""Which released column is which original one: by name and by content."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from crypsis.linkage._ranks import Ints, correlation, ranks
from crypsis.linkage.suite._field_kinds import field_of
from crypsis.linkage.suite._fields import NumberField
from crypsis.linkage.suite._subsets import surviving
from crypsis.results import Result
from crypsis.scientific import stats

_MAX_COMPARED_ROWS = 1_000
"""Rows on which two columns are compared; of more a sample is drawn."""
_MIN_CONTENT_NATS = 0.7
"""What a column paired by content says of the true match, at least."""
_MIN_NAME_NATS = 0.1
"""A column that says less of the true match is not paired by its name, which misleads."""
_MIN_RANK_CORRELATION = 0.9
"""Columns whose ranks correlate more than this fit each other, whatever their values."""
_MIN_SHARED_VALUES = 0.8
"""Categories fit, row by row unknown, if so many masked values are among the original ones."""
_MAX_DISTRIBUTION_DISTANCE = 0.1
"""Numbers fit, row by row unknown, up to this Kolmogorov-Smirnov distance."""


class ProposedColumn(Result):
    """A released column and the original column that it seems to be, by its content."""

    column: str
    original: str


class PairedColumns(Result):
    """The columns of a release and those of the original that they are compared with.

    `proposed` are those whose names differ and whose content fits; `alone` are compared with
    nothing.
    """

    pairs: tuple[tuple[str, str], ...]
    proposed: tuple[ProposedColumn, ...]
    alone: tuple[str, ...]


def paired_columns(
    original: pa.Table, masked: pa.Table, masked_rows: Ints | None, released: Sequence[str]
) -> PairedColumns:
    """Pair the released columns by their names; by content those without a name in the original.

    A column whose name is in the original, but whose content fits another column only, is paired by
    its content: names may be exchanged.
    """
    compare = _Content(original, masked, masked_rows)
    pairs, proposed, alone = [], [], []
    for name in released:
        named = name if name in original.column_names else None
        if named is not None and (masked_rows is None or compare.fit(named, name) >= _MIN_NAME_NATS):
            pairs.append((named, name))
            continue
        fits = {
            column_name: compare.fit(column_name, name)
            for column_name in original.column_names
            if column_name != name
        }
        best = max(fits, key=lambda column_name: fits[column_name], default=None)
        if best is not None and fits[best] >= _MIN_CONTENT_NATS:
            pairs.append((best, name))
            proposed.append(ProposedColumn(name, best))
        elif named is not None:
            pairs.append((named, name))
        else:
            alone.append(name)
    return PairedColumns(tuple(pairs), tuple(proposed), tuple(alone))


class _Content:
    """How well the content of two columns fits, on some of the rows."""

    def __init__(self, original: pa.Table, masked: pa.Table, masked_rows: Ints | None) -> None:
        rng = np.random.default_rng(24)
        if masked_rows is None:
            at = rng.permutation(original.num_rows)[:_MAX_COMPARED_ROWS]
            to = rng.permutation(masked.num_rows)[:_MAX_COMPARED_ROWS]
        else:
            at = rng.permutation(np.flatnonzero(masked_rows >= 0))[:_MAX_COMPARED_ROWS]
            to = masked_rows[at]
        self._aligned = masked_rows is not None
        self._original, self._masked = original.take(pa.array(at)), masked.take(pa.array(to))

    def fit(self, before: str, after: str) -> float:
        """What one column says of the other, in nats; 1 where ranks or distributions agree."""
        x, y = self._original[before].combine_chunks(), self._masked[after].combine_chunks()
        if not len(x) or not len(y):
            return 0.0
        field = field_of(after, x, y)
        if not self._aligned:
            return self._alike(x, y, isinstance(field, NumberField))
        rows = np.arange(len(x))
        surviving_share = surviving(field, rows, rows)
        if isinstance(field, NumberField) and len(x) >= 10:
            present = ~(field.lost | field.lost_masked)
            along = (
                correlation(
                    ranks(field.values[present], ties="average"), ranks(field.middle[present], ties="average")
                )
                if present.sum() > 9
                else None
            )
            if along is not None and abs(along) > _MIN_RANK_CORRELATION:
                surviving_share = max(surviving_share, 1.0)
        return surviving_share

    @staticmethod
    def _alike(x: pa.Array, y: pa.Array, number: bool) -> float:
        """Whether the distributions agree, where nobody knows which record is whose."""
        if x.type != y.type and not number:
            return 0.0
        if number:
            field = field_of("", x, y)
            assert isinstance(field, NumberField)  # noqa: S101 - asked by the caller
            original_values, masked = field.values[~field.lost], field.middle[~field.lost_masked]
            if len(original_values) < 10 or len(masked) < 10:
                return 0.0

            return float(stats.ks_2samp(original_values, masked).statistic < _MAX_DISTRIBUTION_DISTANCE)
        seen = set(x.to_pylist())
        shared = np.mean([value in seen for value in y.to_pylist()])
        return float(shared > _MIN_SHARED_VALUES)
