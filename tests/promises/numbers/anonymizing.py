"""Clustering against every clustering there is, and what a plan promises of its crowds."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import crypsis as cr
from crypsis import protection as an
from crypsis.errors import ParameterError, RequirementsNotMetError

Draw = np.random.Generator


def _cuts(size: int, k: int) -> list[list[int]]:
    """Every way to cut a line of `size` into groups of at least k."""
    if size == 0:
        return [[0]]
    found = []
    for last in range(k, size + 1):
        found += [[*rest, size] for rest in _cuts(size - last, k)] if size - last >= 0 else []
    return found


def clustering(draw: Draw) -> None:
    size, k = int(draw.integers(1, 9)), 1
    k = int(draw.integers(1, size + 1))
    values = np.sort(draw.integers(0, 12, size).astype(float) * 0.75)
    for cost in ("center", "median", "squares", "cellular"):
        best = np.inf
        for cut in _cuts(size, k):
            groups = [values[a:b] for a, b in pairwise(cut)]
            widths = [g[-1] - g[0] for g in groups]
            spent = {
                "center": max(widths),
                "median": sum(np.abs(g - np.median(g)).sum() for g in groups),
                "squares": sum(((g - g.mean()) ** 2).sum() for g in groups),
                "cellular": sum(w / 2 * g.size for w, g in zip(widths, groups, strict=True)),
            }[cost]
            best = min(best, spent)
        found = an.cluster(draw.permutation(values), k, cost=cost)
        assert found.cost == pytest.approx(best, abs=1e-10)
        assert np.bincount(found.labels).min() >= k


def quantile_groups(draw: Draw) -> None:
    size = int(draw.integers(1, 40))
    k = int(draw.integers(1, size + 1))
    found = an.quantile_groups(draw.random(size), k)
    sizes = np.bincount(found.labels)
    assert sizes.size == size // k
    assert sizes.min() >= k
    assert sizes.max() - sizes.min() <= 1


def plan(draw: Draw) -> None:
    """A plan carried out: every crowd as promised, other columns untouched, no row too many."""
    rows, k = int(draw.integers(8, 120)), int(draw.integers(2, 7))
    given = pa.table(
        {
            "age": draw.integers(0, 60, rows),
            "town": draw.choice(["n", "s", "e", "w"], rows),
            "ill": draw.choice(["a", "b", "c"], rows),
            "rank": np.arange(rows),
        }
    )
    release = cr.Dataset.from_frame(
        given, quasi_identifiers=["age", "town"], sensitive=["ill"], insensitive=["rank"]
    )
    more: dict[str, Any] = [{}, {"diversity": 2}, {"closeness": 0.4}, {"best_guess": 0.8}][
        int(draw.integers(4))
    ]
    local = bool(draw.integers(2))
    try:
        made = an.plan(release, k=k, suppression=0.2, **more).apply(
            release, recoding="local" if local else "full-domain"
        )
    except (RequirementsNotMetError, ParameterError):
        # One crowd of everybody has k rows and is as close to all as can be.
        whole = Counter(given["ill"].to_pylist())
        assert rows < k or _falls_short(whole, whole, more)
        return
    table = made.data.to_arrow()
    crowds: dict[tuple[Any, ...], Counter[str]] = defaultdict(Counter)
    for *who, ill in zip(*(table[name].to_pylist() for name in ("age", "town", "ill")), strict=True):
        crowds[tuple(who)][ill] += 1
    assert min(crowd.total() for crowd in crowds.values()) >= k
    every = Counter(table["ill"].to_pylist())
    assert not any(_falls_short(crowd, every, more) for crowd in crowds.values())
    assert made.measured is not None
    assert made.measured.k == min(crowd.total() for crowd in crowds.values())
    kept = table["rank"].to_pylist()
    assert len(kept) >= rows * 0.8
    row_map = made.key.row_map
    assert kept == (list(range(rows)) if row_map is None else list(row_map))
    assert table["ill"].to_pylist() == given["ill"].take(kept).to_pylist()


def _falls_short(crowd: Counter[str], every: Counter[str], promise: dict[str, Any]) -> bool:
    """Whether a crowd breaks what was promised of its secrets."""
    size, rows = crowd.total(), every.total()
    apart = sum(abs(Fraction(crowd[v], size) - Fraction(every[v], rows)) for v in every) / 2
    return (
        len(crowd) < promise.get("diversity", 1)
        or apart > promise.get("closeness", 1) + 1e-12
        or max(crowd.values()) > promise.get("best_guess", 1) * size + 1e-12
    )


CHECKS = {"plan": plan, "clustering": clustering, "quantile groups": quantile_groups}
