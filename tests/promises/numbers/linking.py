"""Reverse mapping, distances, permuted privacy and links, by all pairs and by SciPy's ranks."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from crypsis import linkage as lk
from tests.linkage import brute

Draw = np.random.Generator


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
    for c, step in enumerate(lk.two_steps(x, y)):
        wanted = stats.spearmanr(x[:, c], y[:, c]).statistic
        assert step.rank_correlation == pytest.approx(wanted, abs=1e-12)


def links(draw: Draw) -> None:
    x, y = _pair(draw, ties=bool(draw.integers(2)))
    found = lk.link(x, y)
    least, matches = brute.nearest(brute.average_ranks(x), brute.average_ranks(y))
    assert found.distances == pytest.approx(least, abs=1e-12)
    assert [sorted(one.tolist()) for one in found.matches] == matches
    single = [i for i, one in enumerate(matches) if len(one) == 1]
    assert found.correct == sum(matches[i] == [i] for i in single)
    assert found.multiple == len(matches) - len(single)


def distances(draw: Draw) -> None:
    """A subject's view (domingo2016, section 4): how far her masked record is, column by column."""
    x, y = _pair(draw, ties=False)
    row = int(draw.integers(x.shape[0]))
    found = lk.permutation_distances(y[row], y, mapping=row)
    assert found.distances == pytest.approx([0.0] * y.shape[1])
    other = int(draw.integers(x.shape[0]))
    ranks = brute.average_ranks(y)
    seen = lk.permutation_distances(y[row], y, mapping=other)
    assert seen.distances == pytest.approx(np.abs(ranks[row] - ranks[other]).tolist(), abs=1e-12)


def permuted_privacy(draw: Draw) -> None:
    """Definition 1 record by record: rank distance at least d, variance nearby at least v."""
    x, y = _pair(draw, ties=False)
    d, v = float(draw.integers(0, 4)), float(draw.uniform(0, 6))
    found = lk.permuted_privacy(x, x[np.argsort(np.argsort(y[:, 0]))] if False else y, d=d, v=v)
    rows = x.shape[0]
    for c in range(x.shape[1]):
        line = np.sort(y[:, c])
        for i in range(rows):
            gaps = np.abs(line - x[i, c])
            near = np.flatnonzero(gaps == gaps.min()) + 1.0
            centre = near.mean()
            own = float(np.searchsorted(line, y[i, c])) + 1.0
            moved = found.distances[i, c]
            if near.size == 1:
                assert moved == pytest.approx(abs(own - centre), abs=1e-12)
    assert found.meets.mean() == pytest.approx(found.share, abs=1e-12)
    assert found.satisfied == bool(found.meets.all())


CHECKS = {
    "reverse mapping": reverse_mapping,
    "rank correlation": rank_correlation,
    "links": links,
    "distances": distances,
    "permuted privacy": permuted_privacy,
}
