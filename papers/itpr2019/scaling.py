"""Fig. 6 of itpr2019: how long ITPR takes as rows grow, on this machine."""

from __future__ import annotations

import time

import numpy as np
import pyarrow as pa

from crypsis.inference import leakage
from papers import charts as common
from papers.comparison import NOTHING, number, underivable
from papers.results import Drawn, RunSettings, paper_item

_AGES, _DISEASES = 120, 100
_PAPER = ((10**5, 1.0), (10**9, 19.0))


@paper_item(
    "Figure 6", "Time to compute ITPR by the number of rows", figure="time over rows, with the paper's line"
)
def figure_6(settings: RunSettings) -> Drawn:
    sizes = [10**power for power in range(5, 12) if 10**power <= settings.max_rows]
    if sizes[-1] != settings.max_rows:
        sizes.append(settings.max_rows)
    points, groups = [], []
    for rows in sizes:
        seconds, found = _timed(rows)
        points.append((rows, seconds))
        groups.append(found)
    why = (
        "A time of another machine: the paper used a Spark cluster of 4 nodes, 100 workers with a "
        "core each; ours is DuckDB on the machine at hand, the table in memory."
    )
    rate = points[-1][0] / points[-1][1]
    cells = (
        number("values of Age", str(_AGES), groups[-1][0]),
        number("values of Disease", str(_DISEASES), groups[-1][1]),
        *(
            underivable(
                f"{rows:,} rows",
                {r: f"{s:g} s" for r, s in _PAPER}.get(rows, NOTHING),
                f"{seconds:.2g} s",
                note=why,
                group="time",
                timed=True,
            )
            for rows, seconds in points
        ),
        *(
            [
                underivable(
                    "1,000,000,000 rows",
                    "19 s",
                    f"about {10**9 / rate:.0f} s",
                    timed=True,
                    group="time",
                    note="Not run: the rate of our largest table, extended. "
                    "With --rows 1000000000 it is run.",
                )
            ]
            if points[-1][0] < 10**9
            else []
        ),
    )

    return cells, lambda: common.scaling(points, _PAPER, title="Time to compute ITPR (Fig. 6)")


def _timed(rows: int) -> tuple[float, tuple[int, int]]:
    """Seconds for one table; making the table does not count."""
    generator = np.random.default_rng(6)
    people = pa.table(
        {
            "age": generator.integers(0, _AGES, rows, dtype=np.uint8),
            "disease": generator.integers(0, _DISEASES, rows, dtype=np.uint8),
        }
    )
    started = time.perf_counter()
    found = leakage(people, "disease", ["age"])
    seconds = time.perf_counter() - started
    return seconds, (int(found.classes), round(2**found.entropy_bits))
