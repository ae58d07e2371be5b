"""How often a measure reads the data: by DuckDB's plans, by what scans of Spark put out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from crypsis.tables.duckdb.backend import DuckBackend

PYTHON_IN_PLANS = ("PythonUDF", "EvalPython", "InPandas", "InArrow", "InPython")


@contextmanager
def duckdb_passes(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """The scans of Parquet in the plan of every query asked inside."""
    seen: list[int] = []
    plain = DuckBackend.batches

    def batches(self: DuckBackend, frame: Any, what: str, rows: int | None = None) -> Any:
        seen.append(frame.to_native().explain().count("PARQUET"))
        return plain(self, frame, what, rows)

    with monkeypatch.context() as patched:
        patched.setattr(DuckBackend, "batches", batches)
        yield seen


@contextmanager
def spark_passes(session: Any, rows: int) -> Iterator[list[float]]:
    """The rows that scans of Parquet put out, over the rows there are, query by query.

    What Spark has cached and reads again is not read from the data again, and does not count; nor
    does a scan that reads no column, for that is a look at footers.
    """
    store = session._jsparkSession.sharedState().statusStore()
    before = _executions(session, store)
    seen: list[float] = []
    yield seen
    for execution in _executions(session, store)[len(before) :]:
        number = execution.executionId()
        plan = execution.physicalPlanDescription()
        assert not any(sign in plan for sign in PYTHON_IN_PLANS), plan
        metrics = store.executionMetrics(number)
        for node in _items(store.planGraph(number).allNodes()):
            if not node.name().startswith("Scan parquet") or "ReadSchema: struct<>" in node.desc():
                continue
            for metric in _items(node.metrics()):
                if metric.name() == "number of output rows":
                    told = metrics.get(metric.accumulatorId())
                    count = told.get().replace(",", "") if told.isDefined() else "0"
                    seen.append(int(count) / rows)


def _executions(session: Any, store: Any) -> list[Any]:
    session.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
    return _items(store.executionsList())


def _items(sequence: Any) -> list[Any]:
    return [sequence.apply(i) for i in range(sequence.size())]
