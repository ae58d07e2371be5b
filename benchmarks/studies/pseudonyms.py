"""Pseudonyms by the thousand: time, width of the intervals, and what is exact, bounded or sampled.

Each file is attacked as a user would, by `crypsis attack frequencies FILE --error 0.05 --truth names`
in a process of its own. Groceries and the FIMI files are real and are looked for in the folder of
real data (`groceries/groceries.csv`, `fimi/retail.dat`, ...); those that are not there are named and
left out. The largest files are invented: frequencies by a power law.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import measure

ERROR = 0.05
REAL = {
    "groceries": "groceries/groceries.csv",
    **{
        name: f"fimi/{name}.dat"
        for name in ("chess", "mushroom", "BMS-WebView-1", "T10I4D100K", "BMS-WebView-2", "retail")
    },
}
INVENTED = {
    "30,000 items, invented": (30_000, 500_000, 12.0, 1.1, 20.0, 6),
    "100,000 items, invented": (100_000, 1_000_000, 12.0, 1.05, 10.0, 7),
}


def power_law(
    items: int, transactions: int, per_transaction: float, exponent: float, offset: float, seed: int
) -> NDArray[np.int64]:
    """Counts of items whose shares fall with the rank as a power, with so many items each."""
    shares = (np.arange(1, items + 1) + offset) ** -exponent
    shares = np.minimum(shares * per_transaction / shares.sum(), 0.9)
    return np.asarray(np.maximum(1, np.random.default_rng(seed).binomial(transactions, shares)), np.int64)


def write_baskets(path: Path, counts: NDArray[np.int64], transactions: int, seed: int) -> None:
    """Transactions in which item k is `counts[k]` times, in different ones."""
    generator = np.random.default_rng(seed)
    item = np.repeat(np.arange(counts.size), counts)
    # The times of one item are in a row: places in a random order, one turn after the other.
    places = generator.permutation(transactions)
    basket = places[np.arange(item.size) % transactions]
    order = np.argsort(basket, kind="stable")
    ends = np.cumsum(np.bincount(basket, minlength=transactions))[:-1]
    with path.open("w", encoding="utf-8") as file:
        for part in np.split(item[order], ends):
            file.write(" ".join(map(str, part.tolist())) + "\n")


def measured(name: str, path: Path, separator: str) -> dict[str, Any]:
    """Degree of anonymity and expected cracks of one file, with their intervals and the time."""
    command = [
        sys.executable,
        "-m",
        "crypsis",
        "attack",
        "frequencies",
        str(path),
        "--separator",
        separator,
        "--error",
        str(ERROR),
        "--truth",
        "names",
        "--json",
    ]
    before, start = os.times(), time.perf_counter()
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    wall, after = time.perf_counter() - start, os.times()
    used = (after.children_user + after.children_system) - (before.children_user + before.children_system)
    found = json.loads(done.stdout)["result"]["anonymity"]
    answer = {"file": name, "items": found["size"], "possible_pairs": found["possible_pairs"]}
    blocks = found["blocks"]
    answer["largest_block"] = max(block["size"] for block in blocks)
    answer |= {"seconds": wall, "processor_seconds": used}
    for label, number in (("degree", found["degree"]), ("cracks", found["expected_cracks"])):
        if isinstance(number, dict):
            low, high = number["low"], number["high"]
            kind = "bounded" if number["confidence"] == 1 else "sampled"
            number = number["value"]
        else:
            low = high = number
            kind = "exact"
        answer |= {label: number, f"{label}_low": low, f"{label}_high": high}
        answer[f"{label}_is"] = kind
    drawn = [block["convergence"] for block in blocks if block.get("convergence")]
    answer["converged"] = all(one["converged"] for one in drawn)
    answer["bethe_cracks_of_sampled_blocks"] = sum(one["bethe_cracks"] or 0.0 for one in drawn)
    print(json.dumps(answer), flush=True)
    return answer


def main() -> None:
    files, missing = [], []
    for name, place in REAL.items():
        path = measure.DATA / place
        if path.exists():
            files.append((name, path, "," if path.suffix == ".csv" else " "))
        else:
            missing.append(name)
            print(f"{name}: there is no {path}; left out", flush=True)
    measure.WORK.mkdir(exist_ok=True)
    for name, (items, transactions, each, exponent, offset, seed) in INVENTED.items():
        path = measure.WORK / f"baskets_{items}.dat"
        if not path.exists():
            counts = power_law(items, transactions, each, exponent, offset, seed)
            write_baskets(path, counts, transactions, seed)
        files.append((name, path, " "))
    measured(*files[0])  # compiles
    answers = [measured(*file) for file in files]
    measure.write("pseudonyms_study", {"relative_error": ERROR, "files": answers, "not_here": missing})


if __name__ == "__main__":
    main()
