"""The bound of the loss against the best of all partitions of a few records."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from benchmarks.studies.least_loss_bound import bounds, classes_of
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@pytest.mark.parametrize("seed", range(6))
def test_no_partition_loses_less(seed: int) -> None:
    draw = np.random.default_rng(seed)
    size, k = 7, int(draw.integers(2, 5))
    rows = draw.integers(1, 3, size)
    values = [draw.integers(0, 4, size), draw.integers(0, 4, size)]
    codes = [[own, own // 2, np.zeros(size, np.int64)] for own in values]
    losses = [[np.zeros(size), np.full(size, 0.5), np.ones(size)] for _ in values]
    least = min(_loss(parts, rows, codes, losses, k) for parts in _partitions(list(range(size))))
    least /= 2 * rows.sum()
    found = list(bounds(classes_of(codes, losses, rows, k), k, least, 200))
    assert found == sorted(found)
    assert found[-1] <= least + 1e-12
    assert found[-1] >= 0.6 * least


def _partitions(records: list[int]) -> Iterator[list[list[int]]]:
    if not records:
        yield []
        return
    first, *others = records
    for parts in _partitions(others):
        yield [[first], *parts]
        for place, part in enumerate(parts):
            yield [*parts[:place], [first, *part], *parts[place + 1 :]]


def _loss(
    parts: list[list[int]],
    rows: NDArray[np.int64],
    codes: list[list[NDArray[np.int64]]],
    losses: list[list[Floats]],
    k: int,
) -> float:
    """The loss of the records, those of too small parts suppressed."""
    total = 0.0
    for part in parts:
        each = len(codes) * 1.0
        if rows[part].sum() >= k:
            each = sum(
                min(
                    float(lost[part[0]])
                    for code, lost in zip(own, loss, strict=True)
                    if np.unique(code[part]).size == 1
                )
                for own, loss in zip(codes, losses, strict=True)
            )
        total += each * float(rows[part].sum())
    return total
