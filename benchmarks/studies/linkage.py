"""How linking and verifying grow from 10^4 to 10^6 records."""

from __future__ import annotations

from typing import Any

from benchmarks import measure
from benchmarks.tasks.linkage import files

SIZES = ((10_000, 3), (31_623, 3), (100_000, 3), (316_228, 3), (1_000_000, 3), (100_000, 10))


def link_and_verify(n: int, m: int) -> tuple[int, str]:
    """Both, from raw values, with 10,000 random records."""
    from crypsis import linkage

    x, y = files(n, m)
    found = linkage.link(x, y)
    return found.true_matches or 0, linkage.verify_links(x, y, random_records=10_000).verdict


def main() -> None:
    found: list[dict[str, Any]] = []
    for n, m in SIZES:
        run = measure.alone(link_and_verify, n, m)
        found.append(
            {
                "task": "link and verify",
                "records": n,
                "columns": m,
                "seconds": run.seconds,
                "cpu_seconds": run.cpu_seconds,
                "peak_mb": run.peak_mb,
            }
        )
        print(f"{n:,} x {m}: {run.seconds:.2f} s, {run.answer[0]:,} right", flush=True)
    measure.write("linkage_study", {"scaling": found})


if __name__ == "__main__":
    main()
