"""Reverse mapping, distances, permuted privacy and links, by all pairs and by SciPy's ranks."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from crypsis import linkage as lk
from tests.linkage import brute

Draw = np.random.Generator
CRITERIA = ("variance", "distinct", "entropy", "t-closeness")


def _pair(draw: Draw, *, ties: bool) -> tuple[np.ndarray, np.ndarray]:
    rows, width = int(draw.integers(3, 25)), int(draw.integers(1, 4))
    if ties:
        return tuple(draw.integers(0, 6, (rows, width)).astype(float) for _ in range(2))  # type: ignore[return-value]
    first = draw.permuted(np.tile(np.arange(rows, dtype=float)[:, None], (1, width)), axis=0)
    second = draw.permuted(np.tile(np.arange(rows, dtype=float)[:, None], (1, width)), axis=0)
    return first * 1.5, second - 7.0


def reverse_mapping(draw: Draw) -> None:
    x, y = _pair(draw, ties=False)
    z = lk.reverse_map(x, y)
    for c in range(x.shape[1]):
        ranks = stats.rankdata(y[:, c]).astype(int) - 1
        assert z[:, c].tolist() == np.sort(x[:, c])[ranks].tolist()


def rank_correlation(draw: Draw) -> None:
    x, y = _pair(draw, ties=False)
    for c, step in enumerate(lk.decompose_noise(x, y)):
        wanted = stats.spearmanr(x[:, c], y[:, c]).statistic
        assert step.rank_correlation == pytest.approx(wanted, abs=1e-12)


def links(draw: Draw) -> None:
    x, y = _pair(draw, ties=bool(draw.integers(2)))
    found = lk.link(x, y)
    least, matches = brute.nearest(brute.average_ranks(x), brute.average_ranks(y))
    assert found.distances == pytest.approx(least, abs=1e-12)
    assert [sorted(one.tolist()) for one in found.matches] == matches
    single = [i for i, one in enumerate(matches) if len(one) == 1]
    assert found.true_matches == sum(matches[i] == [i] for i in single)
    assert found.multiple_matches == len(matches) - len(single)


def _centre(value: float, column: list[float]) -> float:
    """The rank of the masked value nearest to one: the lower of two, the mean of equal ones."""
    line = sorted(column)
    nearest = min(line, key=lambda other: (abs(other - value), other))
    ranks = [place + 1 for place, other in enumerate(line) if other == nearest]
    return sum(ranks) / len(ranks)


def _around(centre: float, d: float, column: list[float]) -> list[float]:
    """S(d): the masked values whose ranks are within d of there; at least the one that is there."""
    line = sorted(column)
    near = [value for place, value in enumerate(line) if abs(place + 1 - centre) <= d]
    return near or [line[math.ceil(centre) - 1]]


def _diversity(near: list[float], column: list[float], criterion: str) -> float:
    counts = Counter(near)
    if criterion == "variance":
        whole = [Fraction(value) for value in near]
        mean = sum(whole) / len(whole)
        return float(sum((value - mean) ** 2 for value in whole) / len(whole))
    if criterion == "distinct":
        return float(len(counts))
    if criterion == "entropy":
        return -math.fsum(c / len(near) * math.log2(c / len(near)) for c in counts.values())
    values, every = sorted(set(column)), Counter(column)
    moved = running = Fraction(0)
    for value in values:
        running += Fraction(counts[value], len(near)) - Fraction(every[value], len(column))
        moved += abs(running)
    return float(moved / (len(values) - 1)) if len(values) > 1 else 0.0


def _given(draw: Draw) -> tuple[np.ndarray, np.ndarray, list[list[float]], np.ndarray, np.ndarray]:
    """Two files; each masked column; its ranks; where each original lies among them."""
    x, y = _pair(draw, ties=bool(draw.integers(2)))
    columns = [column.tolist() for column in y.T]
    centre = np.array(
        [[_centre(v, column) for v, column in zip(row, columns, strict=True)] for row in x.tolist()]
    )
    return x, y, columns, brute.average_ranks(y), centre


def distances(draw: Draw) -> None:
    """Algorithms 2 and 3 of domingo2016: the permutation distances of a record in each column."""
    x, y, columns, ranks, centre = _given(draw)
    row = int(draw.integers(x.shape[0]))
    criterion = str(draw.choice(CRITERIA))
    far = np.abs(ranks - centre[row])
    mapping = int(draw.integers(x.shape[0])) if draw.integers(2) else None
    own = int(far.max(axis=1).argmin()) if mapping is None else mapping
    seen = lk.verify_record(
        y,
        x[row],
        mapping="subject" if mapping is None else mapping,
        criterion=criterion,  # type: ignore[arg-type]
    )
    assert seen.row == own
    assert seen.distances == pytest.approx(far[own].tolist(), abs=1e-12)
    assert seen.record_distance == pytest.approx(far[own].max(), abs=1e-12)
    wanted = [
        _diversity(_around(centre[row, c], far[own, c], column), column, criterion)
        for c, column in enumerate(columns)
    ]
    assert seen.diversities == pytest.approx(wanted, abs=1e-11)


def permuted_privacy(draw: Draw) -> None:
    """Definitions 1 and 2 record by record: the distances, the diversities, and who fails where."""
    x, y, columns, ranks, centre = _given(draw)
    rows, width = x.shape
    criterion, kind = str(draw.choice(CRITERIA)), int(draw.integers(3))
    if kind == 0:
        mapping, own = "protector", np.arange(rows)
    elif kind == 1:
        mapping = "subject"
        own = np.array([np.abs(ranks - here).max(axis=1).argmin() for here in centre])
    else:
        mapping = own = draw.integers(-1, rows, rows)
        own[0] = max(own[0], 0)
    there = own >= 0
    d = draw.integers(0, 8, width) / 2 if draw.integers(4) else None
    v = draw.uniform(0, 4, width) if draw.integers(4) else None
    found = lk.permuted_privacy(x, y, d=d, v=v, mapping=mapping, criterion=criterion)  # type: ignore[arg-type]
    moved = np.abs(ranks[own] - centre)
    asked = moved[there].min(axis=0) if d is None else d
    diverse = np.array(
        [
            [
                _diversity(_around(centre[i, c], asked[c], columns[c]), columns[c], criterion)
                for c in range(width)
            ]
            for i in range(rows)
        ]
    )
    less = criterion == "t-closeness"
    worst = diverse[there].max(axis=0) if less else diverse[there].min(axis=0)
    limit = worst if v is None else v
    near = moved < asked
    uniform = diverse > limit + 1e-9 if less else diverse < limit - 1e-9
    wanted = ~(near | uniform).any(axis=1)
    assert found.distances[there] == pytest.approx(moved[there], abs=1e-12)
    assert np.isnan(found.distances[~there]).all()
    assert found.diversities == pytest.approx(diverse, abs=1e-10)
    assert found.d == pytest.approx(asked.tolist(), abs=1e-12)
    assert found.v == pytest.approx(limit.tolist(), abs=1e-10)
    assert found.meets[there].tolist() == wanted[there].tolist()
    assert (found.satisfied, found.suppressed) == (bool(wanted[there].all()), int((~there).sum()))
    assert found.share == float(Fraction(int(wanted[there].sum()), int(there.sum())))
    failed = [(one.too_near, one.too_uniform) for one in found.columns]
    assert failed == list(zip(near[there].sum(axis=0), uniform[there].sum(axis=0), strict=True))


CHECKS = {
    "reverse mapping": reverse_mapping,
    "rank correlation": rank_correlation,
    "links": links,
    "distances": distances,
    "permuted privacy": permuted_privacy,
}
