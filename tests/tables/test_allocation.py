"""A cluster as a scheduler runs it: executors that come and go, and an external shuffle service."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import crypsis as cr
from crypsis import singling_out as so
from tests.cluster import Cluster, free_port

pytestmark = [pytest.mark.heavy, pytest.mark.xdist_group("allocation")]
ROWS = 20_000


def _people() -> pa.Table:
    return pa.table({"age": [i * 7 % 97 for i in range(ROWS)], "zip": [i * i % 89 for i in range(ROWS)]})


def _smallest(frame: object, *columns: str) -> int:
    data = cr.Dataset.from_frame(frame, quasi_identifiers=list(columns))
    return so.equivalence_classes(data).k


def test_the_same_numbers_with_executors_that_come_and_go(tmp_path: Path) -> None:
    """Idle executors are given back; what they shuffled stays with the service of the worker."""
    pq.write_table(_people(), tmp_path / "people.parquet")
    command = [sys.executable, "-m", "tests.tables.test_allocation", str(tmp_path)]
    asked = subprocess.run(command, check=True, capture_output=True, text=True, timeout=400)
    found = json.loads(asked.stdout.splitlines()[-1])
    assert found["before"] == _smallest(_people(), "age", "zip")
    assert found["executors"] == [True, False, True]
    assert found["after"] == ROWS // 97


def _ask(folder: Path) -> dict[str, object]:
    """Count on a cluster until all executors are gone, and once more."""
    from pyspark.sql import SparkSession

    service = free_port()
    os.environ["SPARK_WORKER_OPTS"] = (
        f"-Dspark.shuffle.service.enabled=true -Dspark.shuffle.service.port={service}"
    )
    cluster = Cluster(folder)
    cluster.start(workers=1)  # one service a machine: they would share its port
    settings = {
        "spark.dynamicAllocation.enabled": "true",
        "spark.dynamicAllocation.minExecutors": "0",
        "spark.dynamicAllocation.executorIdleTimeout": "3s",
        "spark.shuffle.service.enabled": "true",
        "spark.shuffle.service.port": str(service),
        "spark.executor.memory": "512m",
        "spark.driver.host": "127.0.0.1",
        "spark.ui.enabled": "false",
    }
    builder = SparkSession.builder.master(cluster.master)
    for name, value in settings.items():
        builder = builder.config(name, value)
    try:
        session = builder.getOrCreate()
        context = session.sparkContext._jsc.sc()
        frame = session.read.parquet(str(folder / "people.parquet"))
        before = _smallest(frame, "age", "zip")
        there = [not context.getExecutorIds().isEmpty()]
        end = time.monotonic() + 120
        while not context.getExecutorIds().isEmpty() and time.monotonic() < end:
            time.sleep(0.2)
        there.append(not context.getExecutorIds().isEmpty())
        after = _smallest(frame, "age")
        there.append(not context.getExecutorIds().isEmpty())
        session.stop()
    finally:
        cluster.stop()
    return {"before": before, "executors": there, "after": after}


if __name__ == "__main__":
    print(json.dumps(_ask(Path(sys.argv[1]))))
