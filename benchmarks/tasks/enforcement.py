"""Making a release: ANJANA, ARX, crowds and anonypy on the same hierarchies, sdcMicro, the limits.

The releases differ, so what is compared are the requirements (measured apart, in `losses.py`) and what
was lost for it: the normalized certainty penalty from 0 (nothing) to 1 (everything).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks import data
from benchmarks.measure import WORK, Agreement, Contender, Task

K = 10


def release_ours(path: str, requirements: dict[str, Any], local: bool) -> Any:
    """Plan, apply and measure, from a frame in memory to a frame in memory."""
    import pandas as pd

    import crypsis as cr
    from benchmarks.losses import worth
    from crypsis.hierarchies import Hierarchy
    from crypsis.protection import plan

    columns = list(data.TREES)
    frame = pd.read_csv(path)[[*columns, "income"]]
    trees = {name: Hierarchy.read(file) for name, file in data.trees().items()}
    asked = {name: value for name, value in requirements.items() if name != "suppression_percent"}
    asked["suppression"] = requirements["suppression_percent"] / 100

    def call() -> Any:
        release = cr.Dataset.from_frame(frame, quasi_identifiers=columns, sensitive=["income"])
        made = plan(release, hierarchies=trees, **asked).apply(
            release, recoding="local" if local else "full-domain"
        )
        return made.frame

    return call, lambda made: worth(made, len(frame))


def clusters_ours(values: int, k: int) -> Callable[[], Any]:
    """The clusters themselves, with their centres; the sum of squares comes with them."""
    from crypsis.protection import cluster

    column = _sorted(values)
    return lambda: cluster(column, k, cost="squares").cost


def clusters_input(values: int) -> Any:
    return _sorted(values)


def sampled_ours(path: str, out: str) -> Callable[[], Any]:
    """One column in 20 sampled quantile groups, written and measured."""
    import crypsis as cr
    from crypsis.protection import plan

    def call() -> int:
        release = cr.read(path, quasi_identifiers=["x"], memory_limit="1GB")
        k = release.count // 25
        made = plan(release, k=k, each_column=True, representative="median", rank_error=0.005)
        made.apply(release, verify=False).write(out, overwrite=True)
        return int(cr.read(out).count)

    return call


def scan_and_write(path: str, out: str) -> Callable[[], Any]:
    import duckdb

    def call() -> int:
        connection = duckdb.connect(config={"memory_limit": "1GB"})
        rows = connection.sql(f"SELECT * FROM read_parquet('{path}')")
        rows.write_parquet(out, compression="zstd")
        found = connection.execute(f"SELECT count(*) FROM read_parquet('{out}')").fetchall()
        return int(found[0][0])

    return call


def keeps(k: int, *, l: int = 1, t: float = 1.0) -> Callable[[Any, Any], Agreement]:  # noqa: E741
    """Both meet the requirements; never the same release, so never equal."""

    def agree(ours: Any, theirs: Any) -> Agreement:
        def kept(found: Any) -> bool:
            return bool(found["k"] >= k and found["l"] >= l and found["t"] <= t + 1e-9)

        note = (
            f"requirements met: {'yes' if kept(ours) else 'NO'} / {'yes' if kept(theirs) else 'NO'}; "
            f"rows {ours['rows']:,} / {theirs['rows']:,}; "
            f"NCP {ours['ncp']:.3f} / {theirs['ncp']:.3f}"
        )
        return Agreement(False, note)

    return agree


def removed_ours(path: str, k: int) -> Any:
    """The values that local suppression removes, a missing one standing for any."""
    import pyarrow.csv

    from crypsis.protection import masking

    table = pyarrow.csv.read_csv(path)
    before = sum(table[name].null_count for name in data.TESTDATA_KEYS)

    def answer(made: Any) -> dict[str, int]:
        return {"removed": sum(made[name].null_count for name in data.TESTDATA_KEYS) - before}

    keys = data.TESTDATA_KEYS
    return lambda: masking.local_suppression(table, keys, k=k, missing="wildcard"), answer


def removes(ours: Any, theirs: Any) -> Agreement:
    """Which values are removed differs; fewer is better."""
    pair = ours["removed"], theirs["removed"]
    return Agreement(pair[0] == pair[1], f"values removed {pair[0]:,} / {pair[1]:,}")


def _sorted(values: int) -> Any:
    import numpy as np

    return np.sort(np.random.default_rng(0).normal(size=values))


def _ours(function: str = "release_ours") -> Contender:
    return Contender("crypsis", __name__, function)


def _anjana(function: str) -> Contender:
    return Contender("ANJANA", "benchmarks.peers.anjana_peer", function, "anjana")


ARX = Contender("ARX", "benchmarks.peers.arx_peer", "release", "arx")
SDC = Contender("sdcMicro", "benchmarks.peers.sdcmicro_peer", "removed", "sdcmicro")
OLA = Contender("crowds (OLA)", "benchmarks.peers.crowds_peer", "k_anonymity", "crowds")
MONDRIAN = Contender("anonypy (Mondrian)", "benchmarks.peers.anonypy_peer", "k_anonymity", "anonypy")
PYX = Contender("anonypyx (Mondrian)", "benchmarks.peers.anonypyx_peer", "k_anonymity", "anonypyx")
DYNAMIC = Contender(
    "microaggregation (C++)", "benchmarks.peers.microaggregation_peer", "squares", "microaggregation"
)
WRITE = Contender("DuckDB scan and write", __name__, "scan_and_write")
_WRITTEN = "a count, a sample for the quantiles, the write, and reading the file back to measure it"
ADULT, MILLION = "Adult, 30,162 complete rows", "Adult scaled to 10^6 complete rows"
HALF: dict[str, Any] = {"k": K, "suppression_percent": 50}
MANY = {**HALF, "k": 300}  # each row is drawn about 33 times
TWO = {**HALF, "diversity": 2}
CLOSE = {**HALF, "closeness": 0.5}


def _adult(requirements: dict[str, Any], local: bool = True) -> Callable[[], list[Any]]:
    return lambda: [data.adult_complete(), requirements, local]


def _million(requirements: dict[str, Any], local: bool = True) -> Callable[[], list[Any]]:
    return lambda: [data.adult_complete_million(), requirements, local]


TASKS = (
    Task(
        "make it 10-anonymous",
        ADULT,
        _ours(),
        _anjana("k_anonymity"),
        _adult(HALF),
        agree=keeps(K),
        warm=True,
        quick=True,
    ),
    Task(
        "make it 10-anonymous and 2-diverse",
        ADULT,
        _ours(),
        _anjana("l_diversity"),
        _adult(TWO),
        agree=keeps(K, l=2),
        warm=True,
    ),
    Task(
        "make it 10-anonymous and 0.5-close",
        ADULT,
        _ours(),
        _anjana("t_closeness"),
        _adult(CLOSE),
        agree=keeps(K, t=0.5),
        warm=True,
    ),
    Task(
        "make it 300-anonymous",
        MILLION,
        _ours(),
        _anjana("k_anonymity"),
        _million(MANY),
        agree=keeps(300),
        patience=90,
    ),
    Task("make it 10-anonymous", ADULT, _ours(), MONDRIAN, _adult(HALF), agree=keeps(K), patience=60),
    Task("make it 10-anonymous", ADULT, _ours(), PYX, _adult(HALF), agree=keeps(K), patience=120),
    Task(
        "make it 10-anonymous, the same levels for all rows",
        ADULT,
        _ours(),
        OLA,
        _adult({"k": K, "suppression_percent": 4}, local=False),
        agree=keeps(K),
        patience=90,
    ),
    Task("make it 10-anonymous", ADULT, _ours(), ARX, _adult(HALF), agree=keeps(K)),
    Task("make it 10-anonymous and 2-diverse", ADULT, _ours(), ARX, _adult(TWO), agree=keeps(K, l=2)),
    Task("make it 10-anonymous and 0.5-close", ADULT, _ours(), ARX, _adult(CLOSE), agree=keeps(K, t=0.5)),
    Task(
        "make it 10-anonymous, the same levels for all rows",
        ADULT,
        _ours(),
        ARX,
        _adult({"k": K, "suppression_percent": 4}, local=False),
        agree=keeps(K),
    ),
    Task(
        "3-anonymous by local suppression",
        "testdata of sdcMicro, 4,580 rows",
        _ours("removed_ours"),
        SDC,
        lambda: [data.testdata(), 3],
        agree=removes,
    ),
    Task(
        "optimal clusters of one column, k = 10",
        "10^5 numbers",
        _ours("clusters_ours"),
        DYNAMIC,
        lambda: [100_000, 10],
        warm=True,
        quick=True,
    ),
    Task(
        "optimal clusters of one column, k = 1,000",
        "10^5 numbers",
        _ours("clusters_ours"),
        DYNAMIC,
        lambda: [100_000, 1_000],
        warm=True,
    ),
    Task(
        "sampled quantile groups of one column, written",
        "10^8 rows, Parquet",
        _ours("sampled_ours"),
        WRITE,
        lambda: [data.numbers(100_000_000), str(WORK / "sampled.parquet")],
        limit=True,
        why=_WRITTEN,
    ),
)
