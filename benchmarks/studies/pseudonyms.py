"""Pseudonyms by the thousand: time, width of the intervals, and what is exact, bounded or sampled.

The FIMI files are not part of this repository, so their stand-ins are invented: as many items and
transactions, and frequencies of a similar distribution (a power law for baskets and clicks, an
exponential one for the Quest generator, an even spread for the tables of chess and mushroom).
Groceries is real. The intruder knows each frequency to a relative error of 5 %.
"""

from __future__ import annotations

import json
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import measure

ERROR = 0.05


def power_law(
    items: int, transactions: int, per_transaction: float, exponent: float, offset: float, seed: int
) -> NDArray[np.int64]:
    """Counts of items whose shares fall with the rank as a power, with so many items each."""
    shares = (np.arange(1, items + 1) + offset) ** -exponent
    shares = np.minimum(shares * per_transaction / shares.sum(), 0.9)
    return np.asarray(
        np.maximum(1, np.random.default_rng(seed).binomial(transactions, shares)), np.int64
    )


def quest(items: int, transactions: int, per_transaction: float, seed: int) -> NDArray[np.int64]:
    """Counts with exponential shares, as the Quest generator of T10I4D100K has about."""
    generator = np.random.default_rng(seed)
    shares = generator.exponential(per_transaction / items, items)
    return np.maximum(1, generator.binomial(transactions, np.minimum(shares, 0.9)))


def spread_out(items: int, transactions: int, seed: int) -> NDArray[np.int64]:
    """Counts with shares between 0 and 1, as the values of attributes have."""
    generator = np.random.default_rng(seed)
    return np.maximum(1, generator.binomial(transactions, generator.beta(0.6, 0.9, items)))


INVENTED: dict[str, tuple[int, NDArray[np.int64]]] = {
    "chess, invented": (3_196, spread_out(75, 3_196, 1)),
    "mushroom, invented": (8_124, spread_out(119, 8_124, 2)),
    "T10I4D100K, invented": (100_000, quest(870, 100_000, 10.1, 3)),
    "BMS-WebView-2, invented": (77_512, power_law(3_340, 77_512, 4.6, 1.1, 120, 4)),
    "retail, invented": (88_162, power_law(16_470, 88_162, 10.3, 1.3, 30, 5)),
    "30,000 items, invented": (500_000, power_law(30_000, 500_000, 12, 1.1, 20, 6)),
    "100,000 items, invented": (1_000_000, power_law(100_000, 1_000_000, 12, 1.05, 10, 7)),
}


def measured(name: str, observed: Any) -> dict[str, Any]:
    """Degree of anonymity and expected cracks of one file, with their intervals and the time."""
    from crypsis import pseudonyms as ps
    from crypsis.results import Estimate

    start, cpu = time.perf_counter(), time.process_time()
    shares = zip(observed.pseudonyms, observed.shares.tolist(), strict=True)
    ranges = {item: (share * (1 - ERROR), share * (1 + ERROR)) for item, share in shares}
    belief = ps.frequency_attack(observed, ranges, truth="names")
    found = ps.anonymity(belief)
    answer: dict[str, Any] = {
        "file": name,
        "items": belief.size,
        "kinds_of_rows": int(belief.kinds.rows.size),
        "possible_pairs": found.possible_pairs,
        "largest_block": max(block.size for block in found.blocks),
        "seconds": time.perf_counter() - start,
        "processor_seconds": time.process_time() - cpu,
    }
    for label, number in (("degree", found.degree), ("cracks", found.expected_cracks)):
        if number is None:
            continue
        exact = Estimate(number, number, number, method="exact")
        shown = number if isinstance(number, Estimate) else exact
        answer |= {
            label: float(shown),
            f"{label}_low": shown.low,
            f"{label}_high": shown.high,
            f"{label}_method": shown.method,
        }
    drawn = [block.convergence for block in found.blocks if block.convergence is not None]
    answer["sampled_blocks"] = len(drawn)
    answer["bethe_cracks_of_sampled_blocks"] = sum(one.bethe_cracks or 0.0 for one in drawn)
    answer["converged"] = all(one.converged for one in drawn)
    print(json.dumps(answer), flush=True)
    return answer


def main() -> None:
    from crypsis import pseudonyms as ps

    text = (measure.DATA / "groceries" / "groceries.csv").read_text(encoding="utf-8")
    baskets = [[n.strip() for n in line.split(",") if n.strip()] for line in text.splitlines()]
    groceries = ps.frequencies(baskets)
    measured("groceries", groceries)  # compiles
    answers = [measured("groceries", groceries)]
    for name, (transactions, counts) in INVENTED.items():
        names = tuple(f"item {k}" for k in range(counts.size))
        answers.append(measured(name, ps.Frequencies(names, np.sort(counts), transactions)))
    measure.write("pseudonyms_study", {"relative_error": ERROR, "files": answers})


if __name__ == "__main__":
    main()
