"""Linkage against brute force in NumPy, and how it grows from 10^4 to 10^6 records."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks import measure

Floats = NDArray[np.float64]


def files(n: int, m: int, noise: float = 0.5) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(n + m)
    x = rng.normal(size=(n, m))
    return x, x + noise * rng.normal(size=(n, m))


def link_ours(n: int, m: int) -> tuple[float, int, int, int]:
    from crypsis import linkage

    found = linkage.link(*files(n, m))
    return float(found.distances.sum()), found.correct or 0, found.multiple, found.wrong or 0


def link_brute(n: int, m: int) -> tuple[float, int, int, int]:
    """All pairs in NumPy, in blocks that fit the cache, all ties counted."""
    x, y = (np.argsort(np.argsort(v, axis=0), axis=0).astype(np.float64) for v in files(n, m))
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
    return total, correct, multiple, wrong


def link_and_verify(n: int, m: int) -> tuple[int, str]:
    """Both, from raw values, with 10,000 random records."""
    from crypsis import linkage

    x, y = files(n, m)
    found = linkage.link(x, y)
    return found.correct or 0, linkage.verify(x, y, random_records=10_000).verdict


@dataclass(frozen=True)
class Timing:
    task: str
    records: int
    columns: int
    seconds: float
    cpu_seconds: float
    peak_mb: float


def time_one(n: int, m: int) -> Timing:
    run = measure.run(link_and_verify, n, m)
    found = Timing("link and verify", n, m, run.seconds, run.cpu_seconds, run.peak_mb)
    print(
        f"{found.task}, {n:,} x {m}: {found.seconds:.2f} s ({found.cpu_seconds:.2f} s CPU), "
        f"peak {found.peak_mb:.0f} MB ({run.answer[0]:,} right, {run.answer[1]})",
        flush=True,
    )
    return found


def main() -> None:
    found = [
        measure.side_by_side(
            "link every record, all ties",
            "10^4 records x 3 columns",
            link_ours,
            link_brute,
            10_000,
            3,
            theirs_is="brute force in NumPy",
            runs=5,
            warm=True,
        )
    ]
    sizes = [(10_000, 3), (31_623, 3), (100_000, 3), (316_228, 3), (1_000_000, 3), (100_000, 10)]
    scaling = [time_one(n, m) for n, m in sizes]
    measure.save("linkage", found, scaling=[asdict(timing) for timing in scaling])


if __name__ == "__main__":
    main()
