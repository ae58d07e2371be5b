"""How time grows with rows, columns, cells and t: measured, fitted, drawn.

Rows, columns and cells are fitted by a power (the slope of log time on log size), t by a base (time
grows by that factor for each item more). The smallest sizes, where a fixed cost rules, are left out
of the fit: it takes the points above a tenth of the largest time, at least three.
"""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks import data, environments
from benchmarks.measure import RESULTS, ROOT, Contender, Run, run, write

FOLDER = ROOT / "docs" / "_static" / "benchmarks"
RUNS = 3
PATIENCE = 60.0


@dataclass(frozen=True)
class Line:
    """One contender over sizes."""

    axis: str
    title: str
    contender: Contender
    sizes: tuple[int, ...]
    arguments: Callable[[int], Sequence[Any]]
    warm: bool = False


@dataclass(frozen=True)
class Point:
    """The median of a contender at one size."""

    axis: str
    title: str
    contender: str
    size: int
    seconds: float
    cpu_seconds: float
    peak_mb: float


@dataclass(frozen=True)
class Fit:
    """How fast a line grows."""

    axis: str
    contender: str
    exponent: float
    """Of the size; for t the base."""
    points: int


def _cells(function: str, name: str) -> Contender:
    return Contender(name, "benchmarks.tasks.cells", function)


def _subsets(function: str, name: str) -> Contender:
    return Contender(name, __name__, function)


ROWS = (10_000, 100_000, 1_000_000, 10_000_000, 30_000_000)
CELLS = (10_000, 100_000, 1_000_000, 3_000_000, 10_000_000)
COLUMNS = (5, 7, 9, 11, 13)
TITLES = {
    "rows": "Cells of (age, disease) in a Parquet file",
    "cells": "Cells of four columns, 10^7 rows",
    "columns": "Unique rows in every set of columns of Adult (2^columns - 1 sets)",
    "t": "Permanent of a dense t x t matrix",
}
WALRUS = Contender("thewalrus", "benchmarks.peers.thewalrus_peer", "permanent", "thewalrus")


def _lines() -> list[Line]:
    pair = ["age", "disease"]
    rows: Callable[[int], Sequence[Any]] = lambda n: [data.people(n), pair, None]  # noqa: E731
    cells: Callable[[int], Sequence[Any]] = lambda n: [  # noqa: E731
        data.combinations(10_000_000, n),
        list("abcd"),
        None,
    ]
    return [
        Line("rows", "rows", _cells("cells_ours", "crypsis"), ROWS, rows),
        Line("rows", "rows", _cells("cells_raw", "raw DuckDB"), ROWS, rows),
        Line("cells", "cells", _cells("cells_ours", "crypsis"), CELLS, cells),
        Line("cells", "cells", _cells("cells_raw", "raw DuckDB"), CELLS, cells),
        Line(
            "columns",
            "columns",
            _subsets("columns_ours", "crypsis"),
            COLUMNS,
            lambda n: [data.adult(), n],
            warm=True,
        ),
        Line(
            "columns",
            "columns",
            _subsets("columns_pandas", "pandas groupby"),
            COLUMNS[:3],
            lambda n: [data.adult(), n],
        ),
        Line(
            "t",
            "t",
            Contender("crypsis", "benchmarks.tasks.permanents", "permanent_ours"),
            (20, 22, 24, 26, 28),
            lambda n: [n],
            warm=True,
        ),
        Line("t", "t", WALRUS, (18, 20, 22, 24), lambda n: [n], warm=True),
    ]


def columns_ours(path: str, columns: int) -> Callable[[], Any]:
    import pandas as pd

    import crypsis as cr
    from crypsis.counting.partitions import count_column_sets

    frame = pd.read_csv(path)
    names = [*data.TEN, "income", "education-num", "capital-loss", "capital-gain"][:columns]

    def call() -> int:
        cells = cr.Dataset.from_frame(frame).cells(names)
        return sum(int(subset.singletons) for subset in count_column_sets(cells))

    return call


def columns_pandas(path: str, columns: int) -> Callable[[], Any]:
    import itertools

    import pandas as pd

    names = [*data.TEN, "income", "education-num", "capital-loss", "capital-gain"][:columns]
    frame = pd.read_csv(path)[names]

    def call() -> int:
        sets = [s for n in range(1, columns + 1) for s in itertools.combinations(names, n)]
        sizes = (frame.groupby(list(s), sort=False, dropna=False).size() for s in sets)
        return sum(int((size == 1).sum()) for size in sizes)

    return call


def measured(lines: Sequence[Line]) -> list[Point]:
    """All contenders of an axis take turns at each size; one that is stopped is not asked again."""
    found: list[Point] = []
    slow: set[str] = set()
    for size in sorted({size for line in lines for size in line.sizes}):
        here = [line for line in lines if size in line.sizes and line.contender.name not in slow]
        runs: dict[str, list[Run]] = {line.contender.name: [] for line in here}
        for turn in range(RUNS):
            for line in here if turn % 2 == 0 else reversed(here):
                state = "warm" if line.warm else "cold"
                asked = list(line.arguments(size))
                one = run(line.contender, asked, state=state, patience=PATIENCE)
                runs[line.contender.name].append(one)
        for line in here:
            ones = runs[line.contender.name]
            if any(one.stopped for one in ones):
                slow.add(line.contender.name)
                continue
            point = Point(
                line.axis,
                line.title,
                line.contender.name,
                size,
                statistics.median(one.seconds for one in ones),
                statistics.median(one.cpu_seconds for one in ones),
                max(one.peak_mb for one in ones),
            )
            print(f"{point.axis} {size:,}: {point.contender} {point.seconds:.4f} s", flush=True)
            found.append(point)
    return found


def fits(points: Sequence[Point]) -> list[Fit]:
    """One for each contender of each axis."""
    found = []
    for axis in dict.fromkeys(point.axis for point in points):
        for name in dict.fromkeys(point.contender for point in points if point.axis == axis):
            line = [p for p in points if p.axis == axis and p.contender == name]
            found.append(Fit(axis, name, *fitted(line, exponential=axis in ("t", "columns"))))
    return found


def fitted(line: Sequence[Point], *, exponential: bool) -> tuple[float, int]:
    """The power (or, exponential, the base) by least squares, and how many points it is from."""
    ordered = sorted(line, key=lambda point: point.size)
    largest = max(point.seconds for point in ordered)
    kept = [point for point in ordered if point.seconds >= largest / 10]
    if len(kept) < 3:
        kept = ordered[-3:]
    x = [float(p.size) if exponential else math.log(p.size) for p in kept]
    y = [math.log(p.seconds) for p in kept]
    if len(kept) < 2:
        return math.nan, len(kept)
    slope = statistics.linear_regression(x, y).slope
    return (math.exp(slope) if exponential else slope), len(kept)


def main(only: str = "") -> None:
    """Measure every axis (or those whose name contains the text) and keep the others."""
    path = RESULTS / "scaling.json"
    points = recorded()
    lines = _lines()
    for axis in dict.fromkeys(line.axis for line in lines):
        if only not in axis:
            continue
        try:
            fresh = measured([line for line in lines if line.axis == axis])
        except environments.Unavailable as error:
            print(f"{axis}: {error}; left out", flush=True)
            continue
        points = [point for point in points if point.axis != axis] + fresh
        content = {"points": [asdict(p) for p in points], "fits": [asdict(f) for f in fits(points)]}
        write(path.stem, content)


def recorded() -> list[Point]:
    """The points last written."""
    path = RESULTS / "scaling.json"
    if not path.exists():
        return []
    return [Point(**one) for one in json.loads(path.read_text(encoding="utf-8"))["points"]]


def summary() -> str:
    """The fitted exponents as a table, and the plots."""
    points = recorded()
    if not points:
        return "Not measured yet."
    lines = ["| grows with | what | contender | fitted | largest measured |", "|" + " --- |" * 5]
    for fit in fits(points):
        last = max(
            (p for p in points if (p.axis, p.contender) == (fit.axis, fit.contender)), key=lambda p: p.size
        )
        law = (
            f"{fit.exponent:.2f}^{fit.axis}"
            if fit.axis in ("t", "columns")
            else f"{fit.axis}^{fit.exponent:.2f}"
        )
        largest = f"{last.size:,}: {last.seconds:.3g} s"
        lines.append(f"| {fit.axis} | {TITLES[fit.axis]} | {fit.contender} | {law} | {largest} |")
    for axis in dict.fromkeys(point.axis for point in points):
        lines += ["", f"![{TITLES[axis]}: seconds by {axis}](_static/benchmarks/{axis}.svg)"]
    return "\n".join(lines)


def chart(axis: str, points: Sequence[Point]) -> Any:
    """Seconds over size, with the fitted law in the legend."""
    import altair as alt

    laws = {fit.contender: fit.exponent for fit in fits(points)}
    exponential = axis in ("t", "columns")

    def label(name: str) -> str:
        law = f"{laws[name]:.2f}^{axis}" if exponential else f"{axis}^{laws[name]:.2f}"
        return f"{name}: {law}"

    rows = [{"size": p.size, "seconds": p.seconds, "contender": label(p.contender)} for p in points]
    scale = alt.Scale(zero=False) if exponential else alt.Scale(type="log")
    base = alt.Chart(alt.InlineData(values=rows), width=420, height=260)
    names = list(dict.fromkeys(str(row["contender"]) for row in rows))
    colour = alt.Color(
        "contender:N",
        sort=names,
        title=None,
        scale=alt.Scale(domain=names, range=["#0b6e99", "#c4572a", "#6b6b6b"][: len(names)]),
        legend=alt.Legend(orient="top-left", labelLimit=260, fillColor="white", padding=4),
    )
    shape = alt.Shape("contender:N", sort=names, legend=None)
    place = alt.X(
        "size:Q",
        title=axis,
        scale=scale,
        axis=alt.Axis(tickMinStep=1) if exponential else alt.Axis(format="~s", tickCount=5),
    )
    time = alt.Y(
        "seconds:Q", scale=alt.Scale(type="log"), title="seconds", axis=alt.Axis(format="~g", tickCount=6)
    )
    marks = base.mark_line().encode(place, time, colour) + base.mark_point(filled=True, size=55).encode(
        place, time, colour, shape
    )
    described = "; ".join(f"{row['contender']} {row['size']}: {row['seconds']:.3g} s" for row in rows)
    return marks.properties(title=TITLES[axis], description=described)


def draw() -> None:
    """An SVG an axis, for the documentation."""
    import vl_convert

    points = recorded()
    FOLDER.mkdir(parents=True, exist_ok=True)
    for axis in dict.fromkeys(point.axis for point in points):
        drawn = chart(axis, [point for point in points if point.axis == axis])
        svg = vl_convert.vegalite_to_svg(drawn.to_json())
        (FOLDER / f"{axis}.svg").write_text(svg, encoding="utf-8")
