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

from crypsis.engine.base import Sketch
from crypsis.errors import ParameterError, TooLarge

if TYPE_CHECKING:
    from crypsis.engine.frames import Rows

LOOK_ROWS = 1_000_000
_HASHES = 2**60


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
