"""10^5 to 10^9 rows of (id, age, disease) on this machine, through the command line.

itpr2019, section 5.3 (Fig. 6): 10^9 rows with 120 ages and 100 diseases took 19 s on 100 one-core
workers. Here `crypsis leak` and `crypsis assess` run as a user runs them, each in a process of its
own, beside DuckDB asked the same by hand. The Parquet files (1.8 GB for 10^9 rows) are made first
and deleted afterwards; `python -m benchmarks.scale generate|leak|assess|save|delete` does one part.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import measure

FOLDER = Path(os.environ.get("CRYPSIS_SCALE", Path(tempfile.gettempdir()) / "crypsis_scale"))
DOCS = Path(__file__).parents[1] / "docs"
PART = 100_000_000
SIZES = (10**5, 10**6, 10**7, 10**8, 10**9)
PAPER_SECONDS, PAPER_WORKERS = 19.0, 100
RUNS = 3
_LEAK = ["leak", "--target", "disease", "--given", "age", "--json"]
_ASSESS = [
    "assess",
    "--id",
    "id",
    "--qi",
    "age",
    "--sensitive",
    "disease",
    "--person",
    "each record",
    "--json",
    "--no-try",
]


@dataclass(frozen=True)
class Timed:
    """One process from start to end."""

    task: str
    rows: int
    who: str
    seconds: float
    cpu_seconds: float
    peak_mb: float
    answer: float


def part(rows: int) -> Path:
    """Where the rows are: a file, for 10^9 a folder of ten."""
    return FOLDER / (f"people{rows}.parquet" if rows <= PART else f"people{rows}")


def generate() -> None:
    """Files for all sizes; each row depends on its number alone."""
    import duckdb

    duckdb.sql("SET enable_progress_bar = false")
    for rows in SIZES:
        files = {part(rows): (0, rows)}
        if rows > PART:
            part(rows).mkdir(parents=True, exist_ok=True)
            starts = range(0, rows, PART)
            files = {part(rows) / f"part{a // PART}.parquet": (a, a + PART) for a in starts}
        for path, (first, last) in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.exists():
                duckdb.sql(f"{_select(first, last)} TO '{path}.tmp' (FORMAT parquet, {_V2})")
                Path(f"{path}.tmp").rename(path)


_V2 = "PARQUET_VERSION v2"


def _select(first: int, last: int) -> str:
    return f"""COPY (SELECT i AS id, (hash(i) % 120)::UTINYINT AS age,
        'd' || (hash(i * 7 + 1) % 100) AS disease FROM range({first}, {last}) t(i))"""


def _glob(rows: int) -> str:
    return str(part(rows) if rows <= PART else part(rows) / "*.parquet")


def raw_leak(rows: int) -> float:
    """The mutual information of age and disease by hand: one grouping, then arithmetic."""
    import duckdb

    sql = f"SELECT age, disease, count(*) FROM '{_glob(rows)}' GROUP BY ALL"
    return _mutual_information(duckdb.connect().execute(sql).fetchnumpy())


def raw_assess(rows: int) -> float:
    """What an assessment asks of the rows, by hand: every column sketched, and the same grouping.

    An exact distinct count of the unique id is out of reach of one machine's memory, so that DuckDB
    gives its own estimate, too.
    """
    import duckdb

    connection = duckdb.connect()
    each = ", ".join(f"count({c}), approx_count_distinct({c})" for c in ("id", "age", "disease"))
    connection.execute(f"SELECT count(*), {each} FROM '{_glob(rows)}'").fetchall()
    sql = f"SELECT age, disease, count(*) FROM '{_glob(rows)}' GROUP BY ALL"
    return _mutual_information(connection.execute(sql).fetchnumpy())


def _mutual_information(found: dict[str, Any]) -> float:
    _, x = np.unique(found["age"], return_inverse=True)
    _, y = np.unique(found["disease"], return_inverse=True)
    joint = np.zeros((x.max() + 1, y.max() + 1))
    joint[x, y] = found["count_star()"]
    joint /= joint.sum()
    there = joint > 0
    apart = np.outer(joint.sum(1), joint.sum(0))
    return float((joint[there] * np.log2(joint[there] / apart[there])).sum())


def timed(task: str, rows: int, who: str) -> Timed:
    """Run one contender in a process of its own and read its clock, processor and peak."""
    if who in ("crypsis", "spark"):
        words = [sys.executable, "-m", "crypsis", *(_LEAK if task == "leak" else _ASSESS)]
        words.insert(4, str(part(rows)))
        if who == "spark":
            words += ["--engine", "spark", "--master", f"local[{os.cpu_count()}]"]
    else:
        words = [sys.executable, "-m", "benchmarks.scale", "raw", task, str(rows)]
    with tempfile.TemporaryFile() as out:
        start = time.perf_counter()
        process = subprocess.Popen(words, stdout=out)
        _, status, usage = os.wait4(process.pid, 0)  # the usage of this one process
        seconds = time.perf_counter() - start
        out.seek(0)
        text = out.read()
    if os.waitstatus_to_exitcode(status) not in (0, 1):  # 1: a verdict other than safe
        raise RuntimeError(f"{words} ended badly")
    cpu, peak = usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024
    return Timed(task, rows, who, seconds, cpu, peak, _answer(task, who, text))


def _answer(task: str, who: str, out: bytes) -> float:
    found = json.loads(out)
    if who == "duckdb":
        return float(found)
    if task == "leak":
        return float(found["result"]["targets"][0]["mutual_information"])
    answers = {one["question"]: one for one in found["result"]["answers"]}
    leak = answers["inference"]["results"]["leakage of disease"]
    return float(leak["mutual_information"])


def compare(task: str, rows: int, runs: int = RUNS) -> None:
    """Take turns, ours and DuckDB by hand."""
    for turn in range(runs):
        for who in ("crypsis", "duckdb") if turn % 2 == 0 else ("duckdb", "crypsis"):
            note(timed(task, rows, who))


def note(one: Timed) -> None:
    """Keep a run until all are there."""
    print(one, flush=True)
    with (FOLDER / "timed.jsonl").open("a") as notes:
        notes.write(json.dumps(asdict(one)) + "\n")


def save() -> None:
    """Medians, ratios, the exponent of time against rows beyond 10^6, and the paper's figures."""
    lines = (FOLDER / "timed.jsonl").read_text().splitlines()
    runs = [Timed(**json.loads(line)) for line in lines]
    found, curve = [], []
    for task in ("leak", "assess"):
        points = []
        for rows in sorted({one.rows for one in runs if one.task == task}):
            ours, raw = (
                [one for one in runs if (one.task, one.rows, one.who) == (task, rows, who)]
                for who in ("crypsis", "duckdb")
            )
            found.append(_comparison(task, rows, ours, raw))
            points.append(_point(rows, ours, raw))
        curve.append(_curve(task, points))
    spark = [
        {**asdict(one), "rows_per_second_per_core": one.rows / one.seconds / (os.cpu_count() or 1)}
        for one in runs
        if one.who == "spark"
    ]
    measure.save("scale", found, curves=curve, spark=spark, paper=_paper(found))
    (DOCS / "_static" / "scale.svg").write_text(chart(curve))


def chart(curves: list[dict[str, Any]]) -> str:
    """Seconds against rows, both logarithmic (the paper's Fig. 6), as SVG."""
    import altair as alt
    import vl_convert

    rows = [
        {"rows": point["rows"], "seconds": point[field], "who": who}
        for curve in curves
        for point in curve["points"]
        for who, field in (
            (f"crypsis {curve['task']}", "processor_seconds"),
            (f"DuckDB by hand, as for {curve['task']}", "duckdb_processor_seconds"),
        )
    ]
    paper = PAPER_SECONDS * PAPER_WORKERS
    rows.append({"rows": 10**9, "seconds": paper, "who": "itpr2019, 100 workers together"})
    drawn = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_line(point=alt.OverlayMarkDef(size=45))
        .encode(
            x=alt.X("rows:Q", scale=alt.Scale(type="log"), axis=alt.Axis(format="~s")),
            y=alt.Y("seconds:Q", scale=alt.Scale(type="log"), title="processor seconds"),
            color=alt.Color("who:N", title=None, scale=alt.Scale(range=_COLOURS)),
            strokeDash=alt.StrokeDash("who:N", title=None),
        )
        .properties(
            width=460,
            height=300,
            title="Processor time against rows of (id, age, disease)",
            description="Processor seconds, crypsis beside DuckDB by hand, 10^5 to 10^9 rows.",
        )
    )
    return str(vl_convert.vegalite_to_svg(drawn.to_dict()))


_COLOURS = ["#D55E00", "#E69F00", "#0072B2", "#56B4E9", "#000000"]


def _comparison(task: str, rows: int, ours: list[Timed], raw: list[Timed]) -> measure.Comparison:
    mine, theirs = (statistics.median(one.seconds for one in side) for side in (ours, raw))
    cpu, raw_cpu = (statistics.median(one.cpu_seconds for one in side) for side in (ours, raw))
    equal = all(abs(one.answer - raw[0].answer) <= 1e-9 * abs(raw[0].answer) for one in ours)
    compared = measure.Comparison(
        f"crypsis {task} through the command line",
        f"10^{len(str(rows)) - 1} rows, Parquet",
        "DuckDB asked by hand",
        mine,
        theirs,
        mine / theirs,
        equal,
        max(one.peak_mb for one in ours),
        max(one.peak_mb for one in raw),
        len(ours),
        False,
        cpu / raw_cpu,
    )
    print(compared.line(), flush=True)
    return compared


def _point(rows: int, ours: list[Timed], raw: list[Timed]) -> dict[str, float]:
    """Medians of one size; processor seconds are steadier where others use the machine."""
    found: dict[str, float] = {"rows": rows}
    for who, runs in (("", ours), ("duckdb_", raw)):
        found[f"{who}seconds"] = statistics.median(one.seconds for one in runs)
        found[f"{who}processor_seconds"] = statistics.median(one.cpu_seconds for one in runs)
    found["rows_per_second_per_core"] = rows / found["seconds"] / (os.cpu_count() or 1)
    found["rows_per_processor_second"] = rows / found["processor_seconds"]
    return found


def _curve(task: str, points: list[dict[str, float]]) -> dict[str, Any]:
    """Time against rows, and the slope of the logarithms from 10^6 rows on."""
    beyond = [point for point in points if point["rows"] >= 10**6]
    rows = np.log([point["rows"] for point in beyond])
    slopes = {
        f"exponent_of_{field}": float(np.polyfit(rows, np.log([p[field] for p in beyond]), 1)[0])
        for field in ("seconds", "processor_seconds")
        if len(beyond) > 1
    }
    last = beyond[-2:]
    steepest = {
        f"exponent_of_{field}_of_the_last_step": float(
            np.log(last[1][field] / last[0][field]) / np.log(last[1]["rows"] / last[0]["rows"])
        )
        for field in ("processor_seconds",)
        if len(last) > 1
    }
    return {"task": task, "points": points, **slopes, **steepest}


def _paper(found: list[measure.Comparison]) -> dict[str, Any]:
    """itpr2019's 10^9 rows in 19 s on 100 one-core workers, per core beside ours."""
    ours = [one for one in found if "leak" in one.task and one.size.startswith("10^9")]
    told: dict[str, Any] = {"seconds": PAPER_SECONDS, "workers": PAPER_WORKERS}
    told["rows_per_second_per_core"] = 10**9 / PAPER_SECONDS / PAPER_WORKERS
    if ours:
        speed = 10**9 / ours[0].ours_seconds / (os.cpu_count() or 1)
        told["ours_per_core_over_paper"] = speed / told["rows_per_second_per_core"]
    return told


def main(words: list[str] | None = None) -> None:
    """Everything, or one part: `generate`, `leak ROWS`, `assess ROWS`, `spark ROWS`, `save`."""
    what, *rest = (words or []) + ["all"] * (not words)
    if what == "raw":
        print(json.dumps({"leak": raw_leak, "assess": raw_assess}[rest[0]](int(rest[1]))))
    elif what == "spark":
        note(timed("leak", int(float(rest[0])), "spark"))
    elif what in ("leak", "assess"):
        compare(what, int(float(rest[0])), int(rest[1]) if len(rest) > 1 else RUNS)
    elif what in ("generate", "save"):
        {"generate": generate, "save": save}[what]()
    elif what == "delete":
        shutil.rmtree(FOLDER, ignore_errors=True)
    else:
        generate()
        try:
            for rows in SIZES:
                compare("leak", rows)
                compare("assess", rows)
            note(timed("leak", PART, "spark"))
            save()
        finally:
            shutil.rmtree(FOLDER, ignore_errors=True)


if __name__ == "__main__":
    main(sys.argv[1:])
