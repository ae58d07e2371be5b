"""The six metrics of itpr2019 side by side over data whose risk is known to rise (Figs. 1 to 5).

A metric is any function of a contingency table: rows are the values of what is given, columns those
of the target. The paper prints the data of Figs. 1 and 2 only as sizes and that of Figs. 3 to 5 not
at all; the data here has every trend that its text describes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from crypsis import Cells, Result
from crypsis.errors import ParameterError
from crypsis.inference.conditional import Conditional, Joint, counted_conditional

Metric: TypeAlias = Callable[[NDArray[np.int64]], float]
_FINE = 10_000


class Sweep(Result):
    """Metrics over data in which one thing grows, and the risk with it."""

    title: str
    parameter: str
    at: tuple[float, ...]
    """The values of the parameter, rising."""
    metrics: Mapping[str, tuple[float, ...]]
    """For each metric its value at each of them."""


class Surface(Result):
    """One metric over two parameters."""

    title: str
    metric: str
    epsilon: tuple[float, ...]
    variation: tuple[float, ...]
    values: tuple[tuple[float, ...], ...]
    """A row for each epsilon, a column for each variation."""


def of_table(counts: ArrayLike) -> Conditional:
    """The distribution of the columns of a contingency table within its rows."""
    table = np.asarray(counts)
    if table.ndim != 2 or not np.issubdtype(table.dtype, np.integer) or np.any(table < 0):
        raise ParameterError("A contingency table has two dimensions and whole counts >= 0.")
    table = table[table.sum(axis=1) > 0]
    if table.size == 0:
        raise ParameterError("A contingency table needs a count above 0.")
    member, codes = np.nonzero(table)
    starts = np.flatnonzero(np.diff(member, prepend=-1))
    classes = Cells(
        ("given",),
        (np.arange(len(table), dtype=np.int32),),
        (pa.array(range(len(table))),),
        table.sum(axis=1, dtype=np.int64),
    )
    values = pa.array(range(table.shape[1]))
    found = table[member, codes].astype(np.int64)
    return counted_conditional(Joint(classes, starts, codes.astype(np.int32), found, values, 0))


METRICS: Mapping[str, Metric] = {
    "ITPR": lambda table: of_table(table).itpr,
    "DR": lambda table: of_table(table).discrimination_rate,
    "MI": lambda table: of_table(table).mutual_information,
    "CP": lambda table: 1 - 2.0 ** -of_table(table).mutual_information,
    "MIL": lambda table: _max_information_leakage(of_table(table)),
    "ELD": lambda table: float(2.0 ** -of_table(table).entropies.min()),
}
"""The metrics that itpr2019 compares, each a function of a contingency table."""


def _max_information_leakage(known: Conditional) -> float:
    return known.entropy - float(known.weighted.min())


def epsilon_sweep(
    values: int = 2, *, rows: int = 10_000, points: int = 41, metrics: Mapping[str, Metric] = METRICS
) -> Sweep:
    """Re-identification (Figs. 1 and 2): one value grows at the cost of the others.

    epsilon, formula (11), is the difference between the most and the least frequent value.

    >>> sweep = epsilon_sweep(points=3)
    >>> sweep.at, [round(value, 4) for value in sweep.metrics["ITPR"]]
    ((0.0, 5000.0, 9998.0), [0.0753, 0.5753, 1.0])
    """
    if values < 2 or rows < values or points < 2:
        raise ParameterError("A sweep needs two values, a row for each, and two points.")
    sizes = np.unique(np.linspace(rows // values, 1, points).round().astype(np.int64))[::-1]
    at = [rows - values * int(size) for size in sizes]
    tables = [_identified([rows - (values - 1) * int(s), *([int(s)] * (values - 1))]) for s in sizes]
    title = f"Re-identification from a column of {values} values"
    return _sweep(title, "epsilon", at, tables, metrics)


def lambda_sweep(
    *, ages: int = 5, diseases: int = 10, points: int = 41, metrics: Mapping[str, Metric] = METRICS
) -> Sweep:
    """Inference (Fig. 3): every age leans to one disease, and one age leans most.

    lambda, formula (12), is the difference between the most and the least frequent disease of an
    age. 2,000 rows of each age; the other ages lean half as much as the one that leans most.
    """
    leans = 20 * np.unique(np.linspace(0, 100, points).round().astype(np.int64))
    tables = [_leaning([lean, *([lean // 2] * (ages - 1))], 2000, diseases) for lean in leans]
    return _sweep("Inference as all lean to one value", "lambda", leans.tolist(), tables, metrics)


def variation_sweep(
    *, ages: int = 5, diseases: int = 10, points: int = 41, metrics: Mapping[str, Metric] = METRICS
) -> Sweep:
    """Inference (Fig. 4): one age leans as ever while all the others stop leaning.

    theta, formula (13), is H(X) less the smallest entropy of an age: it grows since the one age
    differs more and more from all rows, though what is known of it alone stays the same.
    """
    leans = 20 * np.unique(np.linspace(0, 75, points).round().astype(np.int64))[::-1]
    tables = [_leaning([1500, *([lean] * (ages - 1))], 2000, diseases) for lean in leans]
    known = [of_table(table) for table in tables]
    at = [max(0.0, one.entropy - float(one.entropies.min())) for one in known]
    return _sweep("Inference as one group stands out", "theta", at, tables, metrics)


def risk_surface(metric: Metric | None = None, *, name: str = "ITPR", points: int = 13) -> Surface:
    """Fig. 5: 10 ages and 20 diseases, epsilon from 0 to 1200, theta from 0 to 0.9.

    One age has epsilon rows more than each of the others; the first of those leans to one disease
    so much that theta is as asked.
    """
    measure = METRICS[name] if metric is None else metric
    epsilons = np.linspace(0, 1200, points)
    variations = np.linspace(0, 0.9, points)
    values = tuple(
        tuple(measure(_with_variation(float(epsilon), float(theta))) for theta in variations)
        for epsilon in epsilons
    )
    title = f"{name} over the spread of sizes and the variation of the worst group"
    return Surface(title, name, tuple(epsilons.tolist()), tuple(variations.tolist()), values)


def _with_variation(epsilon: float, theta: float) -> NDArray[np.int64]:
    least = round((10_000 - epsilon) / 10 * _FINE)
    sizes = [least] * 9 + [round(least + epsilon * _FINE)]

    def table(lean: float) -> NDArray[np.int64]:
        leaning = _leaning([round(lean * sizes[0])], sizes[0], 20)
        rest = [np.full(20, size // 20, np.int64) for size in sizes[1:]]
        return np.vstack([leaning, *rest])

    low, high = 0.0, 1.0
    for _ in range(30):
        middle = (low + high) / 2
        known = of_table(table(middle))
        if known.entropy - float(known.entropies.min()) < theta:
            low = middle
        else:
            high = middle
    return table(high if theta else 0.0)


def _identified(sizes: list[int]) -> NDArray[np.int64]:
    """Each row a person of its own: a table with a column for every one of them."""
    return np.repeat(np.eye(len(sizes), dtype=np.int64), sizes, axis=1)


def _leaning(leans: list[Any], rows: int, values: int) -> NDArray[np.int64]:
    """Groups of equal size whose first value has `lean` rows more than each of the others."""
    table = np.array([[(rows - int(lean)) // values] * values for lean in leans], np.int64)
    table[:, 0] += rows - table.sum(axis=1)
    return table


def _sweep(
    title: str, parameter: str, at: list[Any], tables: list[NDArray[np.int64]], metrics: Mapping[str, Metric]
) -> Sweep:
    values = {name: tuple(float(of(table)) for table in tables) for name, of in metrics.items()}
    return Sweep(title, parameter, tuple(map(float, at)), values)
