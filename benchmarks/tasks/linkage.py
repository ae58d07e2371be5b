"""Every record's nearest masked records by rank, all ties: brute force, and k-d and ball trees."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.measure import Contender, Task


def files(n: int, m: int, noise: float = 0.5) -> tuple[Any, Any]:
    """Correlated normal columns, and the same with noise."""
    import numpy as np

    rng = np.random.default_rng(n + m)
    x = rng.normal(size=(n, m))
    return x, x + noise * rng.normal(size=(n, m))


def ranks(n: int, m: int) -> tuple[Any, Any]:
    """The columns of both files as ranks, which is what the intruder compares."""
    import numpy as np

    x, y = files(n, m)
    first, second = (np.argsort(np.argsort(v, axis=0), axis=0).astype(np.float64) for v in (x, y))
    return first, second


def link_ours(n: int, m: int) -> Callable[[], Any]:
    """Links of all records with their distances: right, several at once, wrong."""
    from crypsis import linkage

    x, y = files(n, m)

    def call() -> list[float]:
        found = linkage.link(x, y)
        correct, wrong = found.true_matches or 0, found.false_matches or 0
        return [float(found.distances.sum()), correct, found.multiple_matches, wrong]

    return call


def link_brute(n: int, m: int) -> Callable[[], Any]:
    """All pairs in NumPy, in blocks that fit the cache, all ties counted."""
    import numpy as np

    def call() -> list[float]:
        x, y = ranks(n, m)
        total, correct, multiple, wrong = 0.0, 0, 0, 0
        block = 256
        for begin in range(0, n, block):
            some = x[begin : begin + block]
            table = np.abs(some[:, :1] - y[:, 0])
            for j in range(1, m):
                np.maximum(table, np.abs(some[:, j : j + 1] - y[:, j]), out=table)
            least = table.min(axis=1)
            tied = (table == least[:, None]).sum(axis=1)
            right = table.argmin(axis=1) == np.arange(begin, begin + len(some))
            total += float(least.sum())
            multiple += int((tied > 1).sum())
            correct += int((right & (tied == 1)).sum())
            wrong += int((~right & (tied == 1)).sum())
        return [total, correct, multiple, wrong]

    return call


def link_scipy(n: int, m: int) -> Callable[[], Any]:
    """A k-d tree of SciPy: the distance to the nearest, then all within it."""
    import numpy as np
    from scipy.spatial import KDTree

    def call() -> list[float]:
        x, y = ranks(n, m)
        tree = KDTree(y)
        least, first = tree.query(x, p=np.inf)
        tied = tree.query_ball_point(x, least, p=np.inf, return_length=True)
        right = first == np.arange(n)
        correct, wrong = (right & (tied == 1)).sum(), (~right & (tied == 1)).sum()
        return [float(least.sum()), int(correct), int((tied > 1).sum()), int(wrong)]

    return call


def _ours() -> Contender:
    return Contender("crypsis", __name__, "link_ours")


BRUTE = Contender("brute force in NumPy", __name__, "link_brute")
KD = Contender("k-d tree of SciPy", __name__, "link_scipy")
SKLEARN = Contender("scikit-learn", "benchmarks.peers.sklearn_peer", "link", "scikit-learn")
LINK = "link every record by ranks, all ties"

TASKS = (
    Task(LINK, "10^4 records x 3 columns", _ours(), BRUTE, lambda: [10_000, 3], warm=True, quick=True),
    Task(LINK, "10^4 records x 3 columns", _ours(), SKLEARN, lambda: [10_000, 3], warm=True, quick=True),
    Task(LINK, "10^4 records x 3 columns", _ours(), KD, lambda: [10_000, 3], warm=True, quick=True),
    Task(LINK, "10^4 records x 10 columns", _ours(), SKLEARN, lambda: [10_000, 10], warm=True),
    Task(LINK, "10^5 records x 3 columns", _ours(), SKLEARN, lambda: [100_000, 3], warm=True),
    Task(LINK, "10^5 records x 3 columns", _ours(), KD, lambda: [100_000, 3], warm=True),
)
