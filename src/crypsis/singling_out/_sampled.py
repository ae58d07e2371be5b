"""Crowds too many to count: some of them in full, and what they say of all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from crypsis.engine.large import SampledSizes, sampled_sizes, sketches
from crypsis.errors import ParameterError, RoleError
from crypsis.estimates import CONFIDENCE, group_total, over, rows_in_small, singleton_total
from crypsis.release import NullPolicy, as_release
from crypsis.results import Number, Result

_GROUPS = 1_000_000


@dataclass(frozen=True)
class SampledCrowds(Result):
    """The crowds that some columns make, from a part of the combinations counted in full."""

    columns: tuple[str, ...]
    rows: int
    left_out: int
    """Rows not counted because a value is missing and missing values are dropped."""
    share: float
    """The share of the combinations that was seen."""
    seen: int
    """So many combinations."""
    classes: Number
    singletons: Number
    unique_fraction: Number
    crowd: int
    in_small_crowds: Number
    """The share of rows in crowds of fewer than `crowd`."""
    smallest_seen: int
    """The smallest crowd seen. There may be smaller ones, unless it is 1."""
    sizes_seen: tuple[int, ...]
    """The sizes of the crowds seen, in ascending order ..."""
    crowds_seen: tuple[int, ...]
    """... and how many of those seen have each."""
    confidence: float = CONFIDENCE

    def in_crowds_below(self, crowd: int) -> Number:
        """The share of rows in crowds of fewer than `crowd`."""
        sizes, groups = (np.array(x, np.int64) for x in (self.sizes_seen, self.crowds_seen))
        sample = SampledSizes(self.share, sizes, groups)
        return over(rows_in_small(sample, crowd, confidence=self.confidence), self.rows)


def sampled_crowds(
    release: Any,
    columns: Sequence[str] | None = None,
    *,
    crowd: int = 5,
    groups: int = _GROUPS,
    confidence: float = CONFIDENCE,
    seed: int = 0,
    **roles: Any,
) -> SampledCrowds:
    """The crowds of some columns (default: the quasi-identifiers) where they are too many to count.

    About `groups` of the combinations are drawn by a hash of their values and counted in full, so
    each crowd seen has its true size; all numbers about all crowds are estimates with intervals,
    unless there are so few that all are seen. Missing values count as the release says, but not as
    wildcards. Cost: two passes, one for a sketch of how many combinations there are, and memory for
    the groups. The sample depends on the seed and the engine.

    >>> import pyarrow as pa
    >>> found = sampled_crowds(pa.table({"age": [30, 30, 41]}), ["age"])
    >>> found.classes, found.singletons, found.share
    (2, 1, 1.0)
    """
    given = as_release(release, **roles)
    names = given.quasi_identifiers if columns is None else tuple(columns)
    if not names:
        raise RoleError("No quasi-identifiers are named; say which columns others may know (--qi).")
    if given.missing is NullPolicy.WILDCARD or given.person is not None:
        raise ParameterError(
            "Sampled crowds count rows, with missing values alike or left out; persons and "
            "wildcards need all the combinations."
        )
    if crowd < 2 or groups < 1:
        raise ParameterError("A small crowd is of at least 2, and groups are at least 1.")
    drop = given.missing is NullPolicy.DROP
    (look,) = sketches(given.rows, [names])
    share = min(1.0, groups / max(1.0, look.distinct))
    sample = sampled_sizes(given.rows, names, share, drop_missing=drop, seed=seed)
    left_out = look.missing if drop else 0
    return _told(names, sample, look.rows - left_out, left_out, crowd, confidence)


def _told(
    names: Sequence[str], sample: SampledSizes, rows: int, left_out: int, crowd: int, sure: float
) -> SampledCrowds:
    alone = singleton_total(sample, confidence=sure)
    small = rows_in_small(sample, crowd, confidence=sure)
    sizes, groups = (tuple(x.tolist()) for x in (sample.sizes, sample.groups))
    return SampledCrowds(
        columns=tuple(names),
        rows=rows,
        left_out=left_out,
        share=sample.share,
        seen=sample.seen,
        classes=group_total(sample, confidence=sure),
        singletons=alone,
        unique_fraction=over(alone, rows),
        crowd=crowd,
        in_small_crowds=over(small, rows),
        smallest_seen=int(sample.sizes[0]) if sample.seen else rows,
        sizes_seen=sizes,
        crowds_seen=groups,
        confidence=sure,
    )
