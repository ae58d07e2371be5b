"""The distribution of the values of each column: histograms from one sample."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from crypsis.dataset import Data, Dataset, as_dataset, takes_roles
from crypsis.errors import ParameterError
from crypsis.options import Roles
from crypsis.results import Result, raw
from crypsis.tables import Kind
from crypsis.tables.sampling import sample as draw_sample

_SAMPLE_RECORDS = 20_000
"""The records of the sample that bars are drawn of, where no number is set."""


class Histogram(Result):
    """The histogram of one column.

    Bars of an ordered column are equally wide, from the smallest to the largest value of all
    records; those of others are the most frequent values, and `rest` counts all further ones.
    """

    column: str
    ordered: bool
    rows: int
    """The number of sampled records; all of them where `sampled` is False."""
    sampled: bool
    counts: tuple[int, ...]
    rest: int
    missing: int
    labels: tuple[str, ...] = raw(default=())
    """The values; of an ordered column where each bar begins and the last one ends, unless every bar
    is one value."""


@takes_roles()
def histograms(
    data: Data, *, bars: int = 12, rows: int = _SAMPLE_RECORDS, seed: int = 0, **roles: Unpack[Roles]
) -> tuple[Histogram, ...]:
    """The histogram of each column, from a random sample.

    Parameters
    ----------
    data : Dataset, frame or path
        The data.
    bars : int
        The largest number of bars.
    rows : int
        The largest number of records in the sample.
    seed : int
        The seed of the sample.
    **roles
        See `crypsis.read`.

    Returns
    -------
    tuple of Histogram
        One for each column; those of lists or structures have no bars. Missing values are counted
        apart.

    Notes
    -----
    Cost: one scan for all columns.

    Examples
    --------
    >>> people = pa.table({"age": [30, 30, 41], "sex": ["f", "m", "f"]})
    >>> [(one.column, one.counts) for one in histograms(people, bars=2)]
    [('age', (2, 1)), ('sex', (2, 1))]
    """
    dataset = as_dataset(data, **roles)
    if bars < 1 or rows < 1:
        raise ParameterError("A histogram needs at least one bar and one record.")
    columns = dataset.rows.columns
    flat = [column.name for column in columns if column.kind is not Kind.NESTED]
    sampled = dataset.count > rows
    if not flat:
        table = pa.table({})
    elif sampled:
        table = draw_sample(dataset.rows, rows, seed=seed, names=flat)
    else:
        table = dataset.to_arrow(flat)
    ends = _extremes(dataset, [column.name for column in columns if column.kind.ordered]) if sampled else {}
    results = []
    for column in columns:
        if column.kind is Kind.NESTED:
            results.append(Histogram(column.name, False, 0, sampled, (), 0, 0))
            continue
        values = _present(table[column.name])
        missing = table.num_rows - len(values)
        if column.kind.ordered and len(values):
            both = pa.chunked_array([*values.chunks, *ends.get(column.name, values[:0]).chunks])
            counts, labels, rest = *_equally_wide(values, both, bars), 0
        else:
            counts, labels, rest = _most_frequent(values, bars)
        results.append(
            Histogram(
                column.name, column.kind.ordered, table.num_rows, sampled, counts, rest, missing, labels
            )
        )
    return tuple(results)


def _present(column: pa.ChunkedArray) -> pa.ChunkedArray:
    values = column.drop_null()
    if pa.types.is_floating(values.type):
        values = values.filter(pc.is_finite(values))
    return values


def _extremes(dataset: Dataset, names: Sequence[str]) -> dict[str, pa.ChunkedArray]:
    """The smallest and the largest value of each column, which a sample may lack."""
    rows = dataset.rows
    cells = [rows.cell(rows.column(name).inner) for name in names]
    if not cells:
        return {}
    expressions = [cell.min().alias(f"low{i}") for i, cell in enumerate(cells)]
    expressions += [cell.max().alias(f"high{i}") for i, cell in enumerate(cells)]
    extremes = rows.fetch(rows.frame.select(*expressions), "smallest and largest values")
    return {
        name: _present(pa.chunked_array([*extremes[f"low{i}"].chunks, *extremes[f"high{i}"].chunks]))
        for i, name in enumerate(names)
    }


def _equally_wide(
    values: pa.ChunkedArray, with_ends: pa.ChunkedArray, bars: int
) -> tuple[tuple[int, ...], tuple[str, ...]]:
    numbers, ends = _numbers(values), _numbers(with_ends)
    low, high = ends.min(), ends.max()
    if not pa.types.is_floating(values.type) and high - low < bars:  # one bar for each value
        bars = int(high - low) + 1
        counts = np.bincount((numbers - low).astype(np.int64), minlength=bars)
        edges: Sequence[float] = (low + np.arange(bars)).tolist()
    else:
        counts, cuts = np.histogram(
            numbers, bins=bars if high > low else 1, range=(low, high) if high > low else None
        )
        edges = cuts.tolist() if high > low else [low]
    return tuple(int(count) for count in counts), tuple(_edge_text(edge, values.type) for edge in edges)


def _numbers(values: pa.ChunkedArray) -> np.ndarray[Any, np.dtype[np.float64]]:
    kind = values.type
    if pa.types.is_date(kind):
        values = values.cast(pa.date32()).cast(pa.int32())
    elif pa.types.is_temporal(kind):
        values = values.cast(pa.int64() if kind.bit_width == 64 else pa.int32())
    plain = values.cast(pa.float64(), safe=False).combine_chunks()
    return np.asarray(np.from_dlpack(plain), np.float64)


def _edge_text(edge: float, kind: pa.DataType) -> str:
    if pa.types.is_date(kind):
        return str(pa.scalar(round(edge), pa.int32()).cast(pa.date32()).as_py())
    if pa.types.is_timestamp(kind):
        return str(pa.scalar(round(edge), pa.int64()).cast(kind).as_py())[:16]
    return f"{edge:.6g}"


def _most_frequent(values: pa.ChunkedArray, bars: int) -> tuple[tuple[int, ...], tuple[str, ...], int]:
    counted = pc.value_counts(values.combine_chunks())
    texts = [str(value) for value in counted.field("values").to_pylist()]
    pairs = sorted(zip(counted.field("counts").to_pylist(), texts, strict=True), key=lambda p: (-p[0], p[1]))
    top = pairs[:bars]
    rest = sum(count for count, _ in pairs[bars:])
    return tuple(count for count, _ in top), tuple(text for _, text in top), rest
