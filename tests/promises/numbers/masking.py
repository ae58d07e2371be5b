"""What each masking method promises, held against the plainest way to say it."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from crypsis import protection as an
from crypsis.protection.masking import _perturbation as perturb

Draw = np.random.Generator


def _column(draw: Draw, *, gaps: bool = True) -> np.ndarray:
    column = draw.integers(0, 30, int(draw.integers(4, 40))).astype(float)
    if gaps and draw.random() < 0.5:
        column[draw.integers(column.size)] = np.nan
    return column


def noise(draw: Draw) -> None:
    """Normal draws times the standard deviation, cell by cell; missing stays missing."""
    column, seed = _column(draw)[:, None], int(draw.integers(2**60))
    scale = float(draw.uniform(0.01, 3))
    made = perturb.noise(column, scale, np.random.default_rng(seed), correlated=False)
    assert (np.isnan(made) == np.isnan(column)).all()
    there = ~np.isnan(column[:, 0])
    values = [Fraction(v) for v in column[there, 0].tolist()]
    mean = sum(values) / len(values)
    spread = float(sum((v - mean) ** 2 for v in values) / len(values)) ** 0.5
    drawn = np.random.default_rng(seed).standard_normal(column.shape)
    wanted = column[there] + scale * spread * drawn[there]
    np.testing.assert_allclose(made[there], wanted, rtol=1e-12, atol=1e-12)


def correlated_noise(draw: Draw) -> None:
    """The noise is the draws times a root of scale^2 times the covariance, found by least squares."""
    rows, seed, scale = int(draw.integers(6, 40)), int(draw.integers(2**60)), float(draw.uniform(0.05, 2))
    table = draw.normal(size=(rows, 3)) @ draw.normal(size=(3, 3))
    made = perturb.noise(table, scale, np.random.default_rng(seed), correlated=True)
    drawn = np.random.default_rng(seed).standard_normal(table.shape)
    root, left, *_ = np.linalg.lstsq(drawn, made - table)
    centred = table - table.mean(axis=0)
    np.testing.assert_allclose(left, 0, atol=1e-18 * rows * np.abs(table).max() ** 2 + 1e-20)
    np.testing.assert_allclose(root.T @ root, scale**2 * centred.T @ centred / rows, rtol=1e-7, atol=1e-9)


def rank_swap(draw: Draw) -> None:
    column, percent = _column(draw), float(draw.uniform(1, 100))
    swapped = perturb.rank_swap(column, percent, draw)
    assert Counter(swapped[~np.isnan(swapped)].tolist()) == Counter(column[~np.isnan(column)].tolist())
    there = ~np.isnan(column)
    line = np.sort(column[there])
    reach = int(there.sum() * percent / 100)
    low = np.searchsorted(line, column[there], "left")
    high = np.searchsorted(line, column[there], "right") - 1
    new_low = np.searchsorted(line, swapped[there], "left")
    new_high = np.searchsorted(line, swapped[there], "right") - 1
    assert ((new_low - high <= reach) & (low - new_high <= reach)).all()


def shuffle(draw: Draw) -> None:
    """Every column keeps its values; where the columns that stay tell all, so does the order."""
    table = np.column_stack([_column(draw, gaps=False)] * 2)
    mixed = perturb.shuffle(table, None, draw)
    for c in range(2):
        assert sorted(mixed[:, c]) == sorted(table[:, c])
    rows = int(draw.integers(3, 30))
    column = draw.permutation(rows)[:, None] * 1.0
    assert (perturb.shuffle(column, column * 3 - 5, draw) == column).all()
    assert (perturb.shuffle(column, -column, draw) == column).all()
    gone = column.copy()
    gone[0] = np.nan
    after = perturb.shuffle(gone, None, draw)
    assert np.isnan(after[0])
    assert sorted(after[1:, 0]) == sorted(gone[1:, 0])


def microaggregation(draw: Draw) -> None:
    """Every value is shared by k, sums stay, and no grouping of neighbours errs less."""
    column = _column(draw, gaps=False)[:14]
    k = int(draw.integers(1, column.size + 1))
    made = perturb.microaggregate(column, k)
    assert made.sum() == pytest.approx(column.sum(), rel=1e-12, abs=1e-9)
    assert min(Counter(np.round(made, 9).tolist()).values()) >= k
    line = [Fraction(v) for v in sorted(column.tolist())]
    best: list[Fraction | None] = [Fraction(0)] + [None] * len(line)
    for end in range(k, len(line) + 1):
        for begin in range(end - k + 1):
            before = best[begin]
            if before is not None:
                part = line[begin:end]
                mean = sum(part) / len(part)
                cost = before + sum((v - mean) ** 2 for v in part)
                best[end] = cost if best[end] is None else min(best[end], cost)  # type: ignore[type-var]
    assert ((made - column) ** 2).sum() == pytest.approx(float(best[-1]), abs=1e-9)  # type: ignore[arg-type]


def mdav(draw: Draw) -> None:
    """The groups of Domingo-Ferrer and Torra 2005, by sorting all that are left each time."""
    table = draw.random((int(draw.integers(2, 25)), 2)) * (1, 50)
    k = int(draw.integers(1, table.shape[0] + 1))
    scaled = (table - table.mean(axis=0)) / table.std(axis=0)
    left, groups = list(range(table.shape[0])), []

    def by_distance(point: np.ndarray) -> list[int]:
        return sorted(left, key=lambda i: ((scaled[i] - point) ** 2).sum())

    while len(left) >= 2 * k:
        centre = scaled[by_distance(scaled[left].mean(axis=0))[-1]]
        around = [centre]
        if len(left) >= 3 * k:
            beyond = by_distance(centre)[k:]
            around.append(scaled[beyond[-1]])
        for point in around:
            groups.append(by_distance(point)[:k])
            left = [i for i in left if i not in groups[-1]]
    if left:
        groups.append(left)
    wanted = np.empty_like(table)
    for group in groups:
        wanted[group] = table[group].mean(axis=0)
    np.testing.assert_allclose(perturb.mdav(table, k), wanted, rtol=1e-12)


def pram(draw: Draw) -> None:
    """All stay where none may change; the others are draws by how often each occurs."""
    codes = draw.integers(-1, 4, 30)
    same = perturb.pram(codes, 4, 1.0, draw)
    assert (same == codes).all()
    moved = perturb.pram(codes, 4, float(draw.uniform(0, 1)), draw)
    assert ((moved == -1) == (codes == -1)).all()
    assert set(moved.tolist()) <= set(codes.tolist())
    many, stay = np.repeat(np.arange(3), (600, 300, 100)), float(draw.choice([0.0, 0.5]))
    after = perturb.pram(many, 3, stay, draw)
    # Binomial with the shares that were there, seven standard deviations around.
    wanted, spread = np.array([600, 300, 100]), np.sqrt([240, 210, 90])
    assert (np.abs(np.bincount(after, minlength=3) - wanted) <= 7 * spread).all()
    same = int((after == many).sum())
    chance = stay + (1 - stay) * (0.36 + 0.09 + 0.01)
    assert abs(same - 1000 * chance) <= 7 * np.sqrt(1000 * chance * (1 - chance))


def rounding(draw: Draw) -> None:
    column, base = _column(draw), float(draw.choice([0.5, 2.0, 10.0]))
    made = perturb.rounded(column, base)
    for value, near in zip(column.tolist(), made.tolist(), strict=True):
        if value != value:  # missing
            assert near != near
        else:
            assert near == float(round(Fraction(value) / Fraction(base)) * Fraction(base))


def coding(draw: Draw) -> None:
    column, limit = _column(draw), float(draw.integers(0, 30))
    table = pa.table({"x": column})
    top, bottom = (
        an.mask(table, {"x": method(limit=limit)}).frame["x"].to_numpy()
        for method in (an.masking.TopCode, an.masking.BottomCode)
    )
    for value, high, low in zip(column, top, bottom, strict=True):
        if np.isnan(value):
            assert np.isnan(high)
            assert np.isnan(low)
        else:
            assert (high, low) == (min(value, limit), max(value, limit))


def suppression(draw: Draw) -> None:
    """What fewer than k rows have is missing afterwards, and nothing else."""
    column = [None if v == 0 else f"v{v}" for v in draw.integers(0, 9, 25).tolist()]
    k = int(draw.integers(1, 6))
    made = an.mask(pa.table({"a": column}), {"a": an.masking.SuppressRare(k=k)}, seed=1).frame["a"]
    counts = Counter(column)
    assert made.to_pylist() == [v if counts[v] >= k else None for v in column]


def pseudonym(draw: Draw) -> None:
    key = draw.bytes(32).hex()
    texts = ["".join(map(chr, draw.integers(32, 0x2FFF, int(draw.integers(0, 40))))) for _ in "ab"]
    tokens = [an.masking.pseudonym(text, key) for text in texts]
    assert [an.masking.reverse_pseudonym(token, key) for token in tokens] == texts
    assert (tokens[0] == tokens[1]) == (texts[0] == texts[1])
    assert an.masking.pseudonym(texts[0], draw.bytes(32).hex()) != tokens[0]
    for text, token in zip(texts, tokens, strict=True):
        assert len(text) < 4 or text not in token


CHECKS = {
    "masking: noise": noise,
    "masking: correlated noise": correlated_noise,
    "masking: rank swapping": rank_swap,
    "masking: shuffling": shuffle,
    "masking: microaggregation": microaggregation,
    "masking: MDAV": mdav,
    "masking: PRAM": pram,
    "masking: rounding": rounding,
    "masking: top and bottom coding": coding,
    "masking: suppression": suppression,
    "masking: pseudonyms": pseudonym,
}
