"""Clustering against every clustering there is; what each masking method promises."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

import crypsis as cr
from crypsis import anonymize as an
from crypsis.anonymize import _perturb as perturb
from crypsis.errors import ParameterError, PromiseBroken

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


def _column(draw: Draw, *, gaps: bool = True) -> np.ndarray:
    column = draw.integers(0, 30, int(draw.integers(4, 40))).astype(float)
    if gaps and draw.random() < 0.5:
        column[draw.integers(column.size)] = np.nan
    return column


def noise(draw: Draw) -> None:
    """Repeatable by its seed, of its scale, and missing stays missing."""
    column, seed = _column(draw)[:, None], int(draw.integers(2**60))
    first, again = (
        perturb.noise(column, 0.5, np.random.default_rng(seed), correlated=False) for _ in range(2)
    )
    np.testing.assert_array_equal(first, again)
    assert (np.isnan(first) == np.isnan(column)).all()
    there = column[~np.isnan(column)]
    moved = (first - column)[~np.isnan(column)]
    assert np.abs(moved).max(initial=0) <= 0.5 * there.std() * 6.5


def rank_swap(draw: Draw) -> None:
    column, percent = _column(draw), float(draw.uniform(1, 100))
    swapped = perturb.rank_swap(column, percent, draw)
    assert Counter(swapped[~np.isnan(swapped)].tolist()) == Counter(
        column[~np.isnan(column)].tolist()
    )
    there = ~np.isnan(column)
    line = np.sort(column[there])
    reach = int(there.sum() * percent / 100)
    low = np.searchsorted(line, column[there], "left")
    high = np.searchsorted(line, column[there], "right") - 1
    new_low = np.searchsorted(line, swapped[there], "left")
    new_high = np.searchsorted(line, swapped[there], "right") - 1
    assert ((new_low - high <= reach) & (low - new_high <= reach)).all()


def shuffle(draw: Draw) -> None:
    table = np.column_stack([_column(draw, gaps=False)] * 2)
    mixed = perturb.shuffle(table, None, draw)
    for c in range(2):
        assert sorted(mixed[:, c]) == sorted(table[:, c])


def microaggregation(draw: Draw) -> None:
    """Every value is shared by k, and sums stay."""
    column = _column(draw, gaps=False)
    k = int(draw.integers(1, column.size + 1))
    made = perturb.microaggregate(column, k)
    assert made.sum() == pytest.approx(column.sum(), rel=1e-12, abs=1e-9)
    assert min(Counter(np.round(made, 9).tolist()).values()) >= k


def mdav(draw: Draw) -> None:
    table = draw.random((int(draw.integers(2, 25)), 2))
    k = int(draw.integers(1, table.shape[0] + 1))
    made = perturb.mdav(table, k)
    counts = Counter(map(tuple, np.round(made, 9).tolist()))
    assert min(counts.values()) >= k
    assert max(counts.values()) <= max(2 * k - 1, k)
    assert made.sum(axis=0) == pytest.approx(table.sum(axis=0), rel=1e-11)


def pram(draw: Draw) -> None:
    codes = draw.integers(-1, 4, 30)
    same = perturb.pram(codes, 4, 1.0, draw)
    assert (same == codes).all()
    moved = perturb.pram(codes, 4, 0.3, draw)
    assert ((moved == -1) == (codes == -1)).all()
    assert set(moved.tolist()) <= set(codes.tolist())


def rounding(draw: Draw) -> None:
    column, base = _column(draw), float(draw.choice([0.5, 2.0, 10.0]))
    made = perturb.rounded(column, base)
    there = ~np.isnan(column)
    assert (np.abs(made - column)[there] <= base / 2).all()
    assert (np.remainder(made[there], base) == 0).all()


def coding(draw: Draw) -> None:
    column, limit = _column(draw)[:, None], float(draw.integers(0, 30))
    top, bottom = (
        an.mask(pa.table({"x": column[:, 0]}), {"x": method(limit=limit)})
        .frame["x"]
        .to_numpy()[:, None]
        for method in (an.TopCode, an.BottomCode)
    )
    for value, high, low in zip(column[:, 0], top[:, 0], bottom[:, 0], strict=True):
        if np.isnan(value):
            assert np.isnan(high)
            assert np.isnan(low)
        else:
            assert (high, low) == (min(value, limit), max(value, limit))


def pseudonym(draw: Draw) -> None:
    key = draw.bytes(32).hex()
    texts = ["".join(map(chr, draw.integers(32, 0x2FFF, int(draw.integers(0, 40))))) for _ in "ab"]
    tokens = [an.pseudonym(text, key) for text in texts]
    assert [an.original(token, key) for token in tokens] == texts
    assert (tokens[0] == tokens[1]) == (texts[0] == texts[1])
    for text, token in zip(texts, tokens, strict=True):
        assert len(text) < 4 or text not in token


def plan(draw: Draw) -> None:
    """A plan carried out: every row in a crowd of k, other columns untouched, no row too many."""
    rows, k = int(draw.integers(8, 120)), int(draw.integers(2, 7))
    given = pa.table(
        {
            "age": draw.integers(0, 60, rows),
            "town": draw.choice(["n", "s", "e", "w"], rows),
            "rank": np.arange(rows),
        }
    )
    release = cr.Release.from_frame(given, quasi_identifiers=["age", "town"])
    try:
        made = an.plan(release, k=k, suppression=0.2).apply(release)
    except (PromiseBroken, ParameterError):
        assert rows < 5 * k * 8  # with many rows a crowd can always be found
        return
    table = made.release.to_arrow()
    counts = Counter(zip(*(table[name].to_pylist() for name in ("age", "town")), strict=True))
    assert min(counts.values()) >= k
    assert made.measured is not None
    assert made.measured.k == min(counts.values())
    kept = table["rank"].to_pylist()
    assert len(kept) >= rows * 0.8
    row_map = made.key.row_map
    assert kept == (list(range(rows)) if row_map is None else list(row_map))


SLOW = {"plan": 10}
"""Checks that ask an engine many things; they run on a tenth of the cases in `make test`."""
CHECKS = {
    "plan": plan,
    "clustering": clustering,
    "quantile groups": quantile_groups,
    "masking: noise": noise,
    "masking: rank swapping": rank_swap,
    "masking: shuffling": shuffle,
    "masking: microaggregation": microaggregation,
    "masking: MDAV": mdav,
    "masking: PRAM": pram,
    "masking: rounding": rounding,
    "masking: top and bottom coding": coding,
    "masking: pseudonyms": pseudonym,
}
