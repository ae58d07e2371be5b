"""Questions about more equivalence classes than can be fetched: sketches, and some classes in full.

The results are counts and their share; `crypsis.counting.estimates` makes intervals of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from crypsis.counting.cells import ColumnSetCounts
from crypsis.counting.estimates import DistinctSketch, SampledClassSizes
from crypsis.errors import ParameterError
from crypsis.tables.backend import Frame
from crypsis.tables.draws import HASHES, smallest_hashes
from crypsis.tables.rows import Rows
from crypsis.tables.sampling import sample
from crypsis.tables.schema import Column, Kind, listed
from crypsis.tables.values import any_missing

CERTAIN = "\0drawn for certain"
"""The column of `sample_classes` that marks the classes drawn whatever their hash."""
_SAMPLED_ROWS = 200_000
"""Rows of the sample that shows which classes are large."""
_MIN_TIMES_DRAWN = 5
"""A class that is drawn so often is large; smaller ones are seldom."""
_MAX_CERTAIN_CLASSES = 5_000
"""Large classes that are drawn for certain: the largest."""


def sketches(rows: Rows, sets: Sequence[Sequence[str]]) -> list[DistinctSketch]:
    """The approximate combinations of each set of columns, and its missing rows: one pass."""
    inner = [rows.comparable(names) for names in sets]
    inner_names = list(dict.fromkeys(name for names in inner for name in names))
    return rows.backend.sketch(rows.cleaned(inner_names), inner)


def sample_class_sizes(
    rows: Rows, names: Sequence[str], share: float, *, drop_missing: bool = False, seed: int = 0
) -> SampledClassSizes:
    """The sizes of a `share` of the classes of some columns: one pass, memory for the share.

    Missing values are equal to each other, or with `drop_missing` their rows are dropped (and of a
    single column counted). The hash is the engine's own: the same seed repeats the sample on the
    same engine only.
    """
    if not 0 < share <= 1:
        raise ParameterError(f"The share must be above 0 and at most 1; {share} was given.")
    inner = rows.comparable(names)
    frame, missing = rows.cleaned(inner), any_missing(inner)
    count_missing = drop_missing and len(inner) == 1  # one class more, so it costs nothing
    if drop_missing and not count_missing:
        frame = frame.filter(~missing)
    if share < 1:
        drawn = nw.col("h") < int(share * HASHES)
        hashed = rows.backend.with_class_hash(frame, inner, seed, "h")
        frame = hashed.filter(drawn | missing if count_missing else drawn).select(*inner)
    classes = frame.group_by(*inner).agg(nw.len().cast(nw.Int64).alias("n"))
    classes = classes.with_columns((missing if count_missing else nw.lit(False)).alias("missing"))
    sizes = classes.group_by("n", "missing").agg(nw.len().cast(nw.Int64).alias("classes"))
    table = rows.fetch(sizes, "sampling classes of " + listed(names)).sort_by("n")
    dropped = np.array(table["missing"].to_pylist(), bool)
    size, number = (np.array(table[name].to_pylist(), np.int64) for name in ("n", "classes"))
    missing_rows = int(size[dropped] @ number[dropped]) if count_missing else None
    chance = int(share * HASHES) / HASHES if share < 1 else 1.0
    return SampledClassSizes(chance, size[~dropped], number[~dropped], missing_rows)


def tally_in_parts(rows: Rows, names: Sequence[str], parts: int) -> ColumnSetCounts:
    """The classes of some columns, counted a part at a time: a pass and less memory for each.

    A class is in one part, by a hash of its values.
    """
    inner = rows.comparable(names)
    columns = [rows.column(name) for name in names]
    hashed = rows.backend.with_class_hash(rows.cleaned(inner), inner, 0, "h")
    counted = []
    for part in range(parts):
        low, high = (HASHES * end // parts for end in (part, part + 1))
        cells = hashed.filter((nw.col("h") >= low) & (nw.col("h") < high)).select(*inner)
        counted.append(rows.derive(columns, partial(_instead, cells)).tally(names))
    nonempty = [counts for counts in counted if counts.rows]
    return ColumnSetCounts(
        tuple(names),
        rows=sum(counts.rows for counts in counted),
        distinct=sum(int(counts.distinct) for counts in counted),
        singletons=sum(int(counts.singletons) for counts in counted),
        doubletons=sum(counts.doubletons for counts in counted),
        smallest=min((counts.smallest for counts in nonempty), default=0),
        largest=max((counts.largest for counts in nonempty), default=0),
        missing=sum(counts.missing for counts in counted),
    )


def _instead(frame: Frame, _: Frame) -> Frame:
    return frame


def large_classes(rows: Rows, names: Sequence[str], *, seed: int = 0) -> NDArray[np.int64]:
    """The hashes of the classes that a sample of 200,000 rows contains five times or more.

    One pass. A class with more than a ten-thousandth of all rows is missed once in a hundred
    thousand times; at most the 5,000 largest are returned.
    """
    inner = rows.comparable(names)
    hashed = rows.backend.with_class_hash(rows.cleaned(inner), inner, seed, "h")
    hashes = hashed.select(nw.col("h").cast(nw.Int64).alias("class"))
    column = Column("class", Kind.INTEGER, "class")
    drawn = sample(rows.derive([column], lambda _: hashes, rows.count), _SAMPLED_ROWS, seed=seed)
    classes, times = np.unique(drawn["class"].to_numpy(), return_counts=True)
    often = np.argsort(-times, kind="stable")[: int((times >= _MIN_TIMES_DRAWN).sum())]
    return np.asarray(classes[often[:_MAX_CERTAIN_CLASSES]], np.int64)


def sample_classes(
    rows: Rows,
    names: Sequence[str],
    keep: Sequence[str],
    share: float,
    certain: NDArray[np.int64],
    *,
    seed: int = 0,
) -> Rows:
    """All the rows of a `share` of the classes of `names`, with the columns to `keep` as well.

    Drawn by a hash as in `sample_class_sizes`; classes whose hash is among the `certain` ones are
    all drawn, and marked in the column `CERTAIN`. Nothing is run yet.
    """
    inner = rows.comparable(names)
    columns = [rows.column(name) for name in (*names, *keep)]
    frame = rows.cleaned([column.inner for column in columns])
    hashed = rows.backend.with_class_hash(frame, inner, seed, "h")
    hashed = hashed.with_columns(nw.col("h").cast(nw.Int64))
    sure = nw.lit(False)
    if certain.size:
        table = pa.table({"sure": certain, "hit": pa.array([True] * certain.size)})
        small = rows.backend.small_table(rows.frame, table)
        hashed = hashed.join(small, left_on="h", right_on="sure", how="left")
        sure = ~nw.col("hit").is_null()
    drawn = nw.col("hit") | (nw.col("h") < int(share * HASHES))
    picked = hashed.with_columns(sure.alias("hit")).filter(drawn)
    picked = picked.select(*(column.inner for column in columns), "hit")
    return rows.derive([*columns, Column(CERTAIN, Kind.BOOLEAN, "hit")], lambda _: picked)


def sample_values(rows: Rows, name: str, size: int, *, seed: int = 0) -> tuple[pa.Array, int]:
    """`size` of the values of a column, drawn with equal chances, and the number of all values.

    Those with the smallest hash of seed and value, on every engine the same. One pass.
    """
    (inner,) = rows.comparable([name])
    values = rows.cleaned([inner]).filter(~nw.col(inner).is_null()).group_by(inner).agg()
    column = Column(name, rows.column(name).kind, inner)
    all_values = rows.derive([column], lambda _: values)
    count = all_values.count
    hashed = rows.backend.with_hash(values, inner, seed, "h")
    drawn = smallest_hashes(rows.backend, hashed.select(inner, "h"), "h", count, size)
    return drawn[inner].combine_chunks(), count


def without_missing(rows: Rows, names: Sequence[str], count: int) -> Rows:
    """The `count` rows that have a value in each of some columns; those columns alone."""
    inner = rows.comparable(names)
    complete = rows.cleaned(inner).filter(~any_missing(inner))
    return rows.derive([rows.column(name) for name in names], lambda _: complete, count)


@dataclass(frozen=True)
class ClassProfiles:
    """All classes of some columns, counted in the engine: how many there are of each profile.

    There are `classes` classes with equal numbers in `sizes`, `modes` (rows of the most frequent
    value of the target) and `distinct` (values of the target); `cells` counts the (class, value)
    pairs of each of the sizes `cell_sizes`.
    """

    sizes: NDArray[np.int64]
    modes: NDArray[np.int64]
    distinct: NDArray[np.int64]
    classes: NDArray[np.int64]
    cell_sizes: NDArray[np.int64]
    cells: NDArray[np.int64]
    min_uncertainty_bits: float
    """The smallest n H(X | Y = y) of a class."""


def class_profiles(rows: Rows, names: Sequence[str], target: str) -> ClassProfiles:
    """Every class of `names` and its values of the target, without fetching any: two passes."""
    inner, (target_column,) = rows.comparable(names), rows.comparable([target])
    pairs = rows.cleaned([*inner, target_column]).group_by(*inner, target_column)
    cells = pairs.agg(nw.len().cast(nw.Int64).alias("n"))
    n = nw.col("n")
    classes = (
        cells.with_columns(_n_log_n("n").alias("nlogn"))
        .group_by(*inner)
        .agg(
            n.sum().cast(nw.Int64).alias("size"),
            n.max().alias("mode"),
            nw.col(target_column).count().cast(nw.Int64).alias("values"),  # missing is not a value
            nw.col("nlogn").sum(),
        )
        .with_columns((_n_log_n("size") - nw.col("nlogn")).alias("left"))
    )
    profiles = classes.group_by("size", "mode", "values").agg(
        nw.len().cast(nw.Int64).alias("groups"), nw.col("left").min()
    )
    what = "counting all classes of " + listed(names)
    fetched = rows.fetch(profiles, what)
    sizes = rows.fetch(cells.group_by("n").agg(nw.len().cast(nw.Int64).alias("cells")), what)
    columns = [fetched[name] for name in ("size", "mode", "values", "groups")]
    columns += [sizes["n"], sizes["cells"]]
    size, mode, distinct, count, cell_size, cell = (
        np.array(column.to_pylist(), np.int64) for column in columns
    )
    least = min(fetched["left"].to_pylist(), default=0.0) / np.log(2)
    uncertainty = max(0.0, float(least))
    distinct = np.maximum(distinct, 1)
    return ClassProfiles(size, mode, distinct, count, cell_size, cell, uncertainty)


def _n_log_n(name: str) -> nw.Expr:
    number = nw.col(name).cast(nw.Float64)
    return number * number.log()
