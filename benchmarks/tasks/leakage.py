"""What one column reveals of another: raw DuckDB on large tables, dit and pyitlib on Adult.

CRYPSIS_BENCH_ROWS sets the rows of the large table (10^7 unless set); `benchmarks.scale` goes to
10^9 rows through the command line.
"""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Callable
from typing import Any

from benchmarks import data
from benchmarks.measure import Contender, Task
from benchmarks.tasks.cells import ROWS, SIZE

PAPER = "itpr2019, section 5.3: 19 s for 10^9 rows on 4 nodes with 100 workers of one core each"


def inference_ours(path: str) -> Callable[[], Any]:
    """How well the disease can be inferred from the age: everything `leakage` reports."""
    import crypsis as cr
    from crypsis.inference import leakage

    def call() -> list[float]:
        found = leakage(cr.read(path), "disease", ["age"])
        return [found.classes, found.records, found.conditional_entropy_bits]

    return call


def identity_ours(path: str) -> Callable[[], Any]:
    """How well a row is identified by its age; that the id is unique is declared."""
    import crypsis as cr
    from crypsis.inference import leakage

    def call() -> list[float]:
        found = leakage(cr.read(path), "id", ["age"], unique=True)
        return [found.classes, found.records, found.conditional_entropy_bits]

    return call


def command_line_ours(path: str) -> Callable[[], Any]:
    """Both at once, from the command line."""
    from crypsis.cli import run

    arguments = ["leak", path, "--target", "disease", "--target", "id", "--unique", "id"]

    def call() -> list[float]:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            status = run([*arguments, "--given", "age", "--json"])
        assert status == 0
        first = json.loads(printed.getvalue())["result"]["targets"][0]
        return [first["groups"], first["rows"], first["conditional_entropy_bits"]]

    return call


def inference_raw(path: str) -> Callable[[], Any]:
    import numpy as np

    def call() -> list[float]:
        table = _raw(f"SELECT age, disease, count(*) AS n FROM '{path}' GROUP BY age, disease")
        _, member = np.unique(table["age"].to_numpy(), return_inverse=True)
        counts = table["n"].to_numpy()
        sizes = np.bincount(member, counts)
        left = -(counts * np.log2(counts / sizes[member])).sum() / sizes.sum()
        return [sizes.size, int(sizes.sum()), float(left)]

    return call


def identity_raw(path: str) -> Callable[[], Any]:
    import numpy as np

    def call() -> list[float]:
        sizes = _raw(f"SELECT age, count(*) AS n FROM '{path}' GROUP BY age")["n"].to_numpy()
        left = (sizes * np.log2(sizes)).sum() / sizes.sum()
        return [sizes.size, int(sizes.sum()), float(left)]

    return call


def entropy_ours(path: str, target: str, given: list[str]) -> Callable[[], Any]:
    """Entropies of a column, alone and given others, of a frame in memory."""
    import pandas as pd

    from crypsis.inference import leakage

    frame = pd.read_csv(path)

    def call() -> list[float]:
        found = leakage(frame, target, given)
        return [found.conditional_entropy_bits, found.mutual_information]

    return call


def _raw(sql: str) -> Any:
    import duckdb

    connection = duckdb.connect()
    connection.execute("SET enable_progress_bar = false")
    relation = connection.sql(sql)
    assert relation is not None
    return relation.to_arrow_table()


def _ours(function: str) -> Contender:
    return Contender("crypsis", __name__, function)


def _raw_duckdb(function: str) -> Contender:
    return Contender("raw DuckDB group-by", __name__, function)


_TWICE = (
    "the command loads its libraries, half a second at any size, and answers about two targets; "
    "the query about one"
)


def _peer(name: str) -> Contender:
    return Contender(name, f"benchmarks.peers.{name}_peer", "entropies", name)


_TOLD = "entropy and information of income, given 4 columns"


def _income() -> list[Any]:
    return [data.adult(), "income", data.FOUR]


TASKS = (
    Task(_TOLD, "Adult, 32,561 rows", _ours("entropy_ours"), _peer("dit"), _income, warm=True),
    Task(_TOLD, "Adult, 32,561 rows", _ours("entropy_ours"), _peer("pyitlib"), _income, warm=True),
    Task(
        "inference: disease from age",
        SIZE,
        _ours("inference_ours"),
        _raw_duckdb("inference_raw"),
        lambda: [data.people(ROWS)],
        limit=True,
    ),
    Task(
        "re-identification: id from age, id unique",
        SIZE,
        _ours("identity_ours"),
        _raw_duckdb("identity_raw"),
        lambda: [data.people(ROWS)],
        limit=True,
    ),
    Task(
        "both, by `crypsis leak`",
        SIZE,
        _ours("command_line_ours"),
        _raw_duckdb("inference_raw"),
        lambda: [data.people(ROWS)],
        limit=True,
        why=_TWICE,
    ),
)
