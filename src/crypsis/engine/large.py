"""Questions about more groups than can be counted: sketches of all, and some groups in full.

What comes back is counts and their share; intervals are made of them in `crypsis.estimates`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from crypsis.engine.base import Column, Kind, Sketch
from crypsis.errors import ParameterError, TooLarge

if TYPE_CHECKING:
    from crypsis.engine.frames import Rows

LOOK_ROWS = 1_000_000
CERTAIN = "\0drawn for certain"
"""The column of `whole_groups` that says which groups are there whatever their hash."""
_HASHES = 2**60
_LOOKED_AT = 200_000
_SEEN_OFTEN = 5
_MOST_CERTAIN = 5_000


@dataclass(frozen=True)
class SampledSizes:
    """The sizes of some of the groups of equal rows, each of them counted in full.

    A group is in the sample if a hash of its values falls below a threshold, whatever its size, so
    every group has the same chance `share`, and the size of each one seen is exact.
    """

    share: float
    sizes: NDArray[np.int64]
    """The sizes that occur among the groups seen, in ascending order ..."""
    groups: NDArray[np.int64]
    """... and how many groups seen have each."""
    missing: int | None = None
    """Rows left out because a value is missing; None where none were, or nobody counted them."""

    @property
    def seen(self) -> int:
        """The number of groups seen."""
        return int(self.groups.sum())


def sketches(rows: Rows, sets: Sequence[Sequence[str]]) -> list[Sketch]:
    """About how many combinations each set of columns has, and its missing rows, in one pass."""
    inner = [rows._groupable(names) for names in sets]
    every = list(dict.fromkeys(name for names in inner for name in names))
    return rows.backend.sketch(rows._clean(every), inner)


def sampled_sizes(
    rows: Rows, names: Sequence[str], share: float, *, drop_missing: bool = False, seed: int = 0
) -> SampledSizes:
    """The sizes of a `share` of the groups that some columns make: one pass, memory for the share.

    Missing values are alike to each other, or with `drop_missing` their rows are left out (and of a
    single column counted). The hash is the engine's own: the same seed repeats the sample on the
    same engine only.
    """
    if not 0 < share <= 1:
        raise ParameterError(f"The share of groups is above 0 and at most 1; {share} was given.")
    inner = rows._groupable(names)
    frame = rows._clean(inner)
    blank = nw.any_horizontal(*(nw.col(c).is_null() for c in inner), ignore_nulls=False)
    count_missing = drop_missing and len(inner) == 1  # one group more, so it costs nothing
    if drop_missing and not count_missing:
        frame = frame.filter(~blank)
    if share < 1:
        drawn = nw.col("h") < int(share * _HASHES)
        hashed = rows.backend.with_cell_hash(frame, inner, seed, "h")
        frame = hashed.filter(drawn | blank if count_missing else drawn).select(*inner)
    groups = frame.group_by(*inner).agg(nw.len().cast(nw.Int64).alias("n"))
    groups = groups.with_columns((blank if count_missing else nw.lit(False)).alias("blank"))
    sizes = groups.group_by("n", "blank").agg(nw.len().cast(nw.Int64).alias("groups"))
    what = "sampling groups of " + ", ".join(repr(name) for name in names)
    table = pa.Table.from_batches(list(rows.backend.batches(sizes, what))).sort_by("n")
    left_out = np.array(table["blank"].to_pylist(), bool)
    size, group = (np.array(table[name].to_pylist(), np.int64) for name in ("n", "groups"))
    missing = int(size[left_out] @ group[left_out]) if count_missing else None
    chance = int(share * _HASHES) / _HASHES if share < 1 else 1.0
    return SampledSizes(chance, size[~left_out], group[~left_out], missing)


def large_groups(rows: Rows, names: Sequence[str], *, seed: int = 0) -> NDArray[np.int64]:
    """The hashes of the groups that a sample of 200,000 rows meets five times or more.

    One pass. A group with more than a ten-thousandth of all rows is missed once in a hundred
    thousand times; at most the 5,000 largest are told.
    """
    from crypsis.engine.frames import Rows

    inner = rows._groupable(names)
    hashed = rows.backend.with_cell_hash(rows._clean(inner), inner, seed, "h")
    hashes = hashed.select(nw.col("h").cast(nw.Int64).alias("cell"))
    column = Column("cell", Kind.INTEGER, "cell")
    some = Rows([column], lambda: hashes, rows.backend, rows.count).sample(_LOOKED_AT, seed=seed)
    met, times = np.unique(some["cell"].to_numpy(), return_counts=True)
    often = np.argsort(-times, kind="stable")[: int((times >= _SEEN_OFTEN).sum())]
    return np.asarray(met[often[:_MOST_CERTAIN]], np.int64)


def whole_groups(
    rows: Rows,
    names: Sequence[str],
    keep: Sequence[str],
    share: float,
    certain: NDArray[np.int64],
    *,
    seed: int = 0,
) -> Rows:
    """All the rows of a `share` of the groups of `names`, with the columns to `keep` besides.

    Drawn by a hash as in `sampled_sizes`; groups whose hash is among the `certain` ones are all
    there. The column `CERTAIN` tells those. Nothing is carried out yet.
    """
    from crypsis.engine.frames import Rows

    inner = rows._groupable(names)
    columns = [rows.column(name) for name in (*names, *keep)]
    frame = rows._clean([column.inner for column in columns])
    hashed = rows.backend.with_cell_hash(frame, inner, seed, "h")
    hashed = hashed.with_columns(nw.col("h").cast(nw.Int64))
    drawn = nw.col("h") < int(share * _HASHES)
    if certain.size:
        table = pa.table({"sure": certain, "hit": pa.array([True] * certain.size)})
        small = rows.backend.beside(rows.frame, table)
        hashed = hashed.join(small, left_on="h", right_on="sure", how="left")
        sure = ~nw.col("hit").is_null()
    else:
        sure = nw.lit(False)
    picked = hashed.with_columns(sure.alias("hit")).filter(nw.col("hit") | drawn)
    picked = picked.select(*(column.inner for column in columns), "hit")
    told = [*columns, Column(CERTAIN, Kind.BOOLEAN, "hit")]
    return Rows(told, lambda: picked, rows.backend)


def without_missing(rows: Rows, names: Sequence[str], count: int) -> Rows:
    """The `count` rows that have a value in each of some columns; those columns alone."""
    from crypsis.engine.frames import Rows

    inner = rows._groupable(names)
    blank = nw.any_horizontal(*(nw.col(c).is_null() for c in inner), ignore_nulls=False)
    frame = rows._clean(inner).filter(~blank)
    return Rows([rows.column(name) for name in names], lambda: frame, rows.backend, count)


@dataclass(frozen=True)
class GroupProfiles:
    """All groups of some columns, counted where they are: how many are of each make.

    Of groups with equal numbers in `sizes`, `modes` (rows of the commonest value of the target) and
    `distinct` (values of the target) there are `groups`; `cells` counts the (group, value) pairs of
    each of the sizes `cell_sizes`.
    """

    sizes: NDArray[np.int64]
    modes: NDArray[np.int64]
    distinct: NDArray[np.int64]
    groups: NDArray[np.int64]
    cell_sizes: NDArray[np.int64]
    cells: NDArray[np.int64]
    least_left_bits: float
    """The smallest n H(X | Y = y) of a group."""


def group_profiles(rows: Rows, names: Sequence[str], target: str) -> GroupProfiles:
    """Every group of `names` and what it holds of the target, without fetching any: two passes."""
    inner, (secret,) = rows._groupable(names), rows._groupable([target])
    pairs = rows._clean([*inner, secret]).group_by(*inner, secret)
    cells = pairs.agg(nw.len().cast(nw.Int64).alias("n"))
    n = nw.col("n")
    groups = (
        cells.with_columns(_n_log_n("n").alias("nlogn"))
        .group_by(*inner)
        .agg(
            n.sum().cast(nw.Int64).alias("size"),
            n.max().alias("mode"),
            nw.len().cast(nw.Int64).alias("values"),
            nw.col("nlogn").sum(),
        )
        .with_columns((_n_log_n("size") - nw.col("nlogn")).alias("left"))
    )
    makes = groups.group_by("size", "mode", "values").agg(
        nw.len().cast(nw.Int64).alias("groups"), nw.col("left").min()
    )
    what = "counting all groups of " + ", ".join(repr(name) for name in names)
    found = pa.Table.from_batches(list(rows.backend.batches(makes, what)))
    sizes = cells.group_by("n").agg(nw.len().cast(nw.Int64).alias("cells"))
    counted = pa.Table.from_batches(list(rows.backend.batches(sizes, what)))
    told = [found[name] for name in ("size", "mode", "values", "groups")]
    told += [counted[name] for name in ("n", "cells")]
    least = min(found["left"].to_pylist(), default=0.0) / np.log(2)
    make = [np.array(column.to_pylist(), np.int64) for column in told]
    return GroupProfiles(
        make[0], make[1], make[2], make[3], make[4], make[5], max(0.0, float(least))
    )


def _n_log_n(name: str) -> nw.Expr:
    number = nw.col(name).cast(nw.Float64)
    return number * number.log()


def check_explosion(rows: Rows, names: Sequence[str], at_most: int, refusal: TooLarge) -> None:
    """Raise before counting where a table of known size has far too many combinations.

    The first million rows say whether that can be at all: what is unique among n of N rows stands
    for at most about N/n combinations that are still to come (Good and Toulmin 1956). If it can,
    one pass with HyperLogLog tells, in little memory.
    """
    known = rows.known_count
    if known is None or known <= max(at_most, LOOK_ROWS):
        return
    look = rows.tally_first(names, LOOK_ROWS)
    if look.distinct + look.singletons * (known / LOOK_ROWS) <= at_most:
        return
    inner = rows._groupable(names)
    (found,) = rows.backend.sketch(rows._clean(inner), [inner])
    if found.distinct * (1 - 4 * found.error) > at_most:
        raise refusal
