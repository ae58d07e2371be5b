"""The unicity curve of 10^4 to 10^6 people with a hundred events each: `python -m benchmarks.histories`.

Events are a day of a year and one of a thousand places, drawn evenly; every row depends on its number
alone. The Parquet files (about 300 MB for 10^8 events) are made first and deleted afterwards. Each
size is measured in a process of its own, with DuckDB limited to 2 GB; `peak_mb` is that of the process.
With `spark` as an argument the same is asked of Spark on this machine.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.measure import RESULTS

FOLDER = Path(os.environ.get("CRYPSIS_SCALE", Path(tempfile.gettempdir()) / "crypsis_histories"))
PEOPLE = (10**4, 10**5, 10**6)
EVENTS = 100


def generate(people: int) -> Path:
    """The file of so many people."""
    import duckdb

    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / f"events{people}.parquet"
    if not path.exists():
        duckdb.sql("SET enable_progress_bar = false")
        duckdb.sql(
            f"COPY (SELECT (i // {EVENTS})::INTEGER AS person, (hash(i) % 365)::SMALLINT AS day, "
            f"(hash(i + 1000000007) % 1000)::SMALLINT AS place FROM range({people * EVENTS}) t(i)) "
            f"TO '{path}' (FORMAT parquet)"
        )
    return path


def measured(path: Path, engine: str) -> dict[str, object]:
    """The curve of one file, in this process."""
    import crypsis as cr

    started = time.perf_counter()
    duckdb = engine == "duckdb"
    data = cr.read(
        path,
        person="person",
        insensitive=["day", "place"],
        engine=engine,
        memory_limit="2GB" if duckdb else None,
        master=None if duckdb else "local[2]",
    )
    found = cr.singling_out.unicity(data, ["day", "place"])
    seconds = time.perf_counter() - started
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return {
        "people": found.people,
        "records": found.records,
        "engine": engine,
        "seconds": round(seconds, 1),
        "cpu_seconds": round(usage.ru_utime + usage.ru_stime, 1),
        "peak_mb": round(usage.ru_maxrss / 1024),
        "curve": [float(one) for one in found.curve],
    }


def main(words: list[str]) -> None:
    if words[:1] == ["one"]:
        print(json.dumps(measured(Path(words[1]), words[2])))
        return
    engine = "spark" if "spark" in words else "duckdb"
    sizes = [int(float(word)) for word in words if word[0].isdigit()] or list(PEOPLE)
    rows = []
    for people in sizes:
        path = generate(people)
        call = [sys.executable, "-m", "benchmarks.histories", "one", str(path), engine]
        answer = subprocess.run(call, check=True, capture_output=True, text=True)
        rows.append(json.loads(answer.stdout.splitlines()[-1]))
        print(rows[-1], flush=True)
        path.unlink()
    name = "histories.json" if engine == "duckdb" else "histories_spark.json"
    (RESULTS / name).write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
