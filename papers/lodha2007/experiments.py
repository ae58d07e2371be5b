"""Figs. 4 to 7 of lodha2007: how long masking takes, and what it loses.

The paper masked a bank's table and a census sample with a commercial tool. Neither is public, so
that times are ours on values of our own; the paper's stand beside them.
"""

from __future__ import annotations

import time
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from crypsis.protection import quantile_groups
from crypsis.utility import NormalizedError, normalized_error
from papers import charts as common
from papers.charts import titled
from papers.comparison import claim, critique, erratum, number, same, underivable
from papers.lodha2007.trade_off import trade_off, trade_off_chart
from papers.results import ComparedValue, Drawn, RunSettings, paper_item

_ROWS, _K = 250_000, 10_000
_BUCKETS = (1, 2, 5, 10, 25, 50, 100, 200, 500)
_WHY = (
    "A time of another machine (2.66 GHz, Windows XP, a database) and of a table that is not "
    "public; ours is on random values in memory."
)


@cache
def _values() -> NDArray[np.float64]:
    return np.random.default_rng(4).random((10, _ROWS))


def _seconds(columns: int, rows: int, k: int) -> float:
    """How long it takes to mask so many columns and rows: the shortest of three runs."""
    spent = []
    for _ in range(3):
        started = time.perf_counter()
        for values in _values()[:columns, :rows]:
            quantile_groups(values, k).transformed()
        spent.append(time.perf_counter() - started)
    return min(spent)


def _time(name: str, paper: str, seconds: float) -> ComparedValue:
    return underivable(name, paper, f"{seconds:.2g} s", note=_WHY, group="time", timed=True)


@paper_item("Figure 4", "Time by the number of rows", figure="time over rows")
def figure_4(_: RunSettings) -> Drawn:
    sizes = [_ROWS * i // 10 for i in range(1, 11)]
    _seconds(1, 1_000, 10)  # the first call compiles
    points = [(n, _seconds(1, n, _K)) for n in sizes]
    groups = quantile_groups(_values()[0], _K).groups
    cells = (
        same("quantiles for k = 10,000", 25, groups),
        _time("250,000 rows", "about 10 s", points[-1][1]),
        _time("25,000 rows", "linearly", points[0][1]),
    )

    return cells, lambda: common.times(
        points, [(n, 10 * n / _ROWS) for n in sizes], "rows", title="Time by the number of rows (Fig. 4)"
    )


@paper_item("Figure 5", "Time by the number of columns", figure="time over columns")
def figure_5(_: RunSettings) -> Drawn:
    points = [(columns, _seconds(columns, _ROWS, _K)) for columns in (1, 4, 7, 10)]
    cells = (_time("10 columns", "about 100 s", points[-1][1]), _time("1 column", "about 10 s", points[0][1]))

    return cells, lambda: common.times(
        points, [(c, 10.0 * c) for c, _ in points], "columns", title="Time by the number of columns (Fig. 5)"
    )


@paper_item("Figure 6", "Time by the number of buckets", figure="time over buckets")
def figure_6(_: RunSettings) -> Drawn:
    column = _values()[0]
    points = [(b, _seconds(1, _ROWS, _ROWS // b)) for b in _BUCKETS]
    cells = (
        same("buckets made when 500 are asked for", 500, quantile_groups(column, _ROWS // 500).groups),
        _time("500 buckets", "slight increase", points[-1][1]),
        _time("1 bucket", "nC, 10 s", points[0][1]),
        *_footnote_3(),
    )

    return cells, lambda: common.times(
        points, [(b, 10.0) for b in _BUCKETS], "buckets", title="Time by the number of buckets (Fig. 6)"
    )


def _footnote_3() -> tuple[ComparedValue, ...]:
    """Footnote 3: what C is, from the transfer rate and the size of a row."""
    rate, table = 50e6, 1e9
    note = (
        "Footnote 3 has C = 1/50000 s a row, from 50 MB a second and rows of 1 KB, and the text "
        f"nC = 10 s. But {_ROWS:,} C is 5 s; and {_ROWS:,} rows of a table of 1 GB are of 4 KB, "
        f"which makes C = 4/50000 and nC = {_ROWS * (table / _ROWS) / rate:.0f} s."
    )
    return (
        number("C, rows of 1 KB at 50 MB a second", "1/50000", 1e3 / rate, group="footnote 3"),
        erratum("nC in seconds", "10", _ROWS * 1e3 / rate, correct="5", note=note, group="footnote 3"),
        erratum(
            "KB of a row, 1 GB and 250,000 rows",
            "1",
            table / _ROWS / 1e3,
            correct="4",
            note=note,
            group="footnote 3",
        ),
    )


def _errors(values: NDArray[np.float64], buckets: tuple[int, ...]) -> list[NormalizedError]:
    return [
        normalized_error(values, quantile_groups(values, len(values) // b).transformed("mean"))
        for b in buckets
    ]


@paper_item("Figure 7", "Error by the number of buckets", figure="error over buckets")
def figure_7(_: RunSettings) -> Drawn:
    even = _values()[0, :100_000]
    bell = np.random.default_rng(70).standard_normal(100_000)
    buckets = (1, 2, 5, 10, 25, 50, 100)
    found, other = _errors(even, buckets), _errors(bell, (100,))[0]
    exact = _normal_error(100)
    equation = trade_off(_ROWS, _K)
    cells = (
        *(
            claim(
                f"error with {one.groups} buckets",
                f"1/{one.groups}^2",
                abs(one.ratio - 1) < 0.05,
                f"{one.ratio:.3f}/{one.groups}^2",
                group="evenly spread values",
            )
            for one in found
        ),
        critique(
            "error times b^2 with 100 buckets",
            "1/b^2",
            other.ratio,
            correct=f"{exact:.0f}",
            group="normal values",
            note="The paper says that 1/b^2 could be proven. For evenly spread values, yes. Values "
            "with tails lose more: for the normal distribution the error of 100 equally full "
            f"buckets is {exact:.1f} times 1/b^2, by integration, and the factor grows with b.",
        ),
        number(
            "(1-p)^2 (1-u)", f"{1 / _ROWS**2:.15g}", equation.constant, text="1/n^2", group="the trade-off"
        ),
        claim(
            "u = 1 - k^2/n^2 and 1 - 1/b^2",
            "the same",
            abs(equation.utility - (1 - 1 / 25**2)) < 1e-12,
            "the same",
            group="the trade-off",
        ),
    )

    return cells, lambda: titled(
        trade_off_chart(found), "Error by buckets: points measured, line 1/b² (Fig. 7)"
    )


def _normal_error(buckets: int) -> float:
    """b^2 times the normalized error of equally full buckets of a normal column, exactly."""
    edges = stats.norm.ppf(np.linspace(0, 1, buckets + 1))
    means = buckets * -np.diff(stats.norm.pdf(edges))
    return float(buckets**2 * (1 - (means**2).mean()))
