"""What-if answers of the page, asked over HTTP, for a table of 10^6 rows.

    python -m benchmarks.serve

The claim: everything that depends only on cells answers in under 200 ms. Levels are drawn at random
so that hardly a question is asked twice; the time is that of the whole request, page part included.
"""

from __future__ import annotations

import statistics
import tempfile
import threading
import time
from pathlib import Path

import httpx
import numpy as np
import pyarrow as pa
import pyarrow.parquet

from crypsis.web import GivenSource, Settings, listen

ROWS = 1_000_000
QUESTIONS = 60


def people(rows: int = ROWS) -> pa.Table:
    """People with three quarters of a million combinations of four columns."""
    rng = np.random.default_rng(0)
    return pa.table(
        {
            "age": rng.integers(18, 90, rows),
            "zip": [f"{code:05d}" for code in rng.integers(10_000, 10_400, rows)],
            "sex": pa.array(["f", "m"]).take(pa.array(rng.integers(0, 2, rows))),
            "occupation": pa.array([f"o{i}" for i in range(30)]).take(pa.array(rng.integers(0, 30, rows))),
        }
    )


def measure(path: Path, folder: Path) -> list[float]:
    """The seconds of each question."""
    server = listen(Settings(given=(GivenSource(str(path), path.name),), folder=folder))
    thread = threading.Thread(target=server.run)
    thread.start()
    headers = {"Authorization": f"Bearer {server.token}"}
    base = f"http://127.0.0.1:{server.port}"
    try:
        with httpx.Client(base_url=base, headers=headers, timeout=300) as client:
            table = _done(client, client.post("/api/v1/tables/given", json={"place": 0}))
            roles = dict.fromkeys(("age", "zip", "sex", "occupation"), "quasi-identifier")
            client.put(f"/api/v1/tables/{table}/roles", json={"roles": roles})
            _done(client, client.post(f"/api/v1/tables/{table}/sketch", json={}))
            rng = np.random.default_rng(1)
            found = []
            for _ in range(QUESTIONS):
                levels = {
                    "age": int(rng.integers(0, 9)),
                    "zip": int(rng.integers(0, 6)),
                    "occupation": int(rng.integers(0, 6)),
                }
                asked = {"k": int(rng.integers(2, 100)), "levels": levels, "population": 10**8}
                start = time.perf_counter()
                answer = client.post(f"/t/{table}/what-if", json=asked)
                found.append(time.perf_counter() - start)
                answer.raise_for_status()
            return found
    finally:
        server.stop()
        thread.join()


def _done(client: httpx.Client, answer: httpx.Response) -> str:
    job = answer.json()
    while job["state"] in ("waiting", "running"):
        time.sleep(0.1)
        job = client.get(f"/api/v1/jobs/{job['id']}").json()
    if job["state"] != "done":
        raise RuntimeError(job["error"])
    return str(job["table"])


def main() -> None:
    """Print the times."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "people.parquet"
        pyarrow.parquet.write_table(people(), path)
        found = sorted(measure(path, Path(name)))
    median, worst = statistics.median(found), found[-1]
    print(f"what-if over HTTP, {ROWS:,} rows, {len(found)} questions:")
    print(
        f"  median {1000 * median:.0f} ms, 95 % under {1000 * found[int(0.95 * len(found))]:.0f} "
        f"ms, slowest {1000 * worst:.0f} ms"
    )


if __name__ == "__main__":
    main()
