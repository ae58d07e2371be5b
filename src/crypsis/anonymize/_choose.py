"""The steps that fit a column, from the finest to the coarsest."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from crypsis import progress
from crypsis.anonymize._dates import units_between
from crypsis.anonymize._hierarchy import Hierarchy, as_text
from crypsis.anonymize._steps import (
    DATE_STEPS,
    Common,
    DateUnit,
    Intervals,
    Keep,
    Level,
    Prefix,
    Step,
    Suppress,
    Top,
    intervals,
    merged,
)
from crypsis.engine.base import Kind
from crypsis.errors import ColumnError, ParameterError, TooLarge
from crypsis.release import Release

Floats = NDArray[np.float64]

METHODS = ("keep", "intervals", "date", "prefix", "common", "suppress")
_POSTAL = ("zip", "postal", "postcode", "plz", "postleitzahl", "pincode")
_FINEST_GROUPS = 128
_MANY_VALUES = 1_000
_SORTED_IN_MEMORY = 32_000_000
_VALUES_FETCHED = 2_000_000
NUMBERS = (Kind.INTEGER, Kind.NUMBER)


@dataclass(frozen=True)
class Shape:
    """What is known of a column before anything is done to it."""

    name: str
    kind: Kind
    distinct: int
    low: Any
    high: Any
    width: int
    """Characters of the longest value, for codes."""
    digits: bool
    """Whether all values are made of digits and, as text, equally long."""


def shapes(
    release: Release, names: Sequence[str], *, count_numbers: bool = True
) -> dict[str, Shape]:
    """The columns' kinds, numbers of values, extremes and widths, in one scan.

    Counting the values of many columns of numbers is most of the work; without `count_numbers` a
    column of numbers is taken to have as many as there are rows.
    """
    rows = release.rows
    parts = []
    for i, name in enumerate(names):
        column = rows.column(name)
        if column.kind is Kind.NESTED:
            raise ColumnError(
                f"The column {name!r} holds lists or structures; flatten it or leave it out."
            )
        cell = nw.col(column.inner)
        if not count_numbers and column.kind in NUMBERS and not _postal(name):
            continue
        if count_numbers or column.kind not in NUMBERS:
            parts += [cell.n_unique().alias(f"n{i}"), cell.is_null().any().alias(f"m{i}")]
        if column.kind.ordered:
            parts += [cell.min().alias(f"a{i}"), cell.max().alias(f"b{i}")]
        if column.kind is Kind.TEXT:
            length = cell.cast(nw.String).str.len_chars()
            odd = cell.cast(nw.String).str.contains("[^0-9]")
            parts += [length.max().alias(f"w{i}"), length.min().alias(f"v{i}")]
            parts.append(odd.any().alias(f"d{i}"))
    found: dict[str, Any] = {}
    if parts:
        found = rows._fetch(rows.frame.select(*parts), "looking at columns").to_pylist()[0]
    return {name: _shape(rows.column(name), i, found, rows.count) for i, name in enumerate(names)}


def counted_shapes(release: Release, names: Sequence[str]) -> dict[str, Shape]:
    """The same from cells that were counted already: no scan."""
    return {name: _counted_shape(release, name) for name in names}


def _counted_shape(release: Release, name: str) -> Shape:
    kind = release.rows.column(name).kind
    values = release.cells([name]).values[0].drop_null()  # in their order
    low = high = None
    width, digits = 0, False
    if kind.ordered and len(values):
        low, high = values[0].as_py(), values[-1].as_py()
    if kind is Kind.TEXT and len(values):
        lengths = pc.utf8_length(values)
        width = pc.max(lengths).as_py()
        odd = pc.any(pc.match_substring_regex(values, "[^0-9]")).as_py()
        digits = not odd and width == pc.min(lengths).as_py()
    if kind is Kind.INTEGER and low is not None:
        width, digits = len(str(high)), low >= 0
    return Shape(name, kind, len(values), low, high, width, bool(digits))


def _shape(column: Any, i: int, found: Mapping[str, Any], rows: int) -> Shape:
    low, high = found.get(f"a{i}"), found.get(f"b{i}")
    distinct = rows
    if f"n{i}" in found:
        distinct = int(found[f"n{i}"]) - bool(found[f"m{i}"])
    width = int(found.get(f"w{i}") or 0)
    digits = column.kind is Kind.TEXT and not found[f"d{i}"] and width == int(found[f"v{i}"] or 0)
    if column.kind is Kind.INTEGER and low is not None:
        width, digits = len(str(high)), low >= 0
    return Shape(column.name, column.kind, distinct, low, high, width, bool(digits))


def default_method(shape: Shape) -> str:
    """How a column is generalized when nobody says: by what it holds and what it is called."""
    if shape.kind is Kind.DATE or (shape.kind is Kind.TIME and hasattr(shape.low, "year")):
        return "date"
    if _postal(shape.name) and shape.digits and shape.width > 1:
        return "prefix"
    if shape.kind in (Kind.INTEGER, Kind.NUMBER):
        return "intervals"
    return "common" if shape.kind is Kind.TEXT and shape.distinct > 2 else "keep"


def _postal(name: str) -> bool:
    return any(word in name.lower() for word in _POSTAL)


def check_method(shape: Shape, method: str) -> None:
    """Raise unless the method is known and fits what the column holds."""
    if method not in METHODS:
        raise ParameterError(f"Methods are {', '.join(METHODS)}; {method!r} was given.")
    fits = {
        "intervals": shape.kind in (Kind.INTEGER, Kind.NUMBER),
        "date": shape.kind in (Kind.DATE, Kind.TIME),
        "prefix": shape.kind in (Kind.INTEGER, Kind.TEXT),
        "common": shape.kind in (Kind.TEXT, Kind.INTEGER, Kind.BOOLEAN),
    }
    if not fits.get(method, True):
        raise ParameterError(
            f"The method {method!r} does not fit the column {shape.name!r}, which holds "
            f"{shape.kind.value}."
        )


def steps(
    release: Release,
    shape: Shape,
    method: str,
    *,
    hierarchy: Hierarchy | None = None,
    groups: int | None = None,
    limit: float | None = None,
    representative: str = "interval",
    rank_error: float | None = None,
) -> list[Step]:
    """Every step that makes sense, finest first, `Suppress` last."""
    first: Step = Keep() if limit is None else Top(limit=limit)
    if hierarchy is not None:
        inner = [
            Level(level=level, groups=hierarchy.groups(level))
            for level in range(1, hierarchy.height)
        ]
        return [first, *inner, Suppress()]
    if shape.distinct <= 1 or method in ("keep", "suppress"):
        return [first, Suppress()]
    if method == "date":
        return [first, *DATE_STEPS, Suppress()]
    if method == "prefix":
        inner_lengths = range(shape.width - 1, 0, -1)
        return [first, *(Prefix(length=n, width=shape.width) for n in inner_lengths), Suppress()]
    if method == "common":
        return [first, *_common(release, shape, groups), Suppress()]
    fine = quantile_steps(
        release,
        {shape.name: groups or min(shape.distinct, _FINEST_GROUPS)},
        whole={shape.name: shape.kind is Kind.INTEGER},
        representative=representative,
        rank_error=rank_error,
        limits={} if limit is None else {shape.name: limit},
    )[shape.name]
    ladder: list[Step] = [fine, *coarser_intervals(fine, shape.kind is Kind.INTEGER), Suppress()]
    keep_raw = groups is None and shape.distinct <= _MANY_VALUES
    return [first, *ladder] if keep_raw else ladder


def coarser_intervals(step: Intervals, whole: bool) -> list[Intervals]:
    """The groups merged two by two, again and again."""
    found = []
    above = merged(step, whole=whole)
    while above is not None:
        found.append(above)
        above = merged(above, whole=whole)
    return found


def _common(release: Release, shape: Shape, groups: int | None) -> list[Common]:
    cells = release.cells([shape.name])
    order = np.argsort(-cells.counts, kind="stable")
    listed = [cells.values[0][int(cells.codes[0][j])].as_py() for j in order]
    named = [as_text(value) for value in listed if value is not None]
    if groups is not None:
        sizes = [groups - 1]
    else:
        sizes = [size for size in (64, 32, 16, 8, 4, 2) if size < len(named) - 1]
    other = "other"
    while other in named:
        other = f"({other})"
    return [Common(values=tuple(named[:size]), other=other) for size in sizes if size >= 1]


def quantile_steps(
    release: Release,
    groups: Mapping[str, int],
    *,
    whole: Mapping[str, bool],
    representative: str = "interval",
    rank_error: float | None = None,
    limits: Mapping[str, float] | None = None,
    least: int = 1,
) -> dict[str, Intervals]:
    """Quantile groups of several columns: lodha2007, Definition 9, with equal values together.

    Columns with the same number of groups are asked in one scan; with `rank_error` the quantiles
    come from a sample (see `Rows.sampled_quantiles`). The number that stands for a group is its
    middle quantile. Groups that ties leave with fewer than `least` rows join a neighbour, where the
    columns were sorted here.
    """
    if representative not in ("interval", "median", "mean"):
        raise ParameterError(
            "The representative of a group is 'interval', 'median' or 'mean'; "
            f"{representative!r} was given."
        )
    made: dict[str, Intervals] = {}
    for count in sorted(set(groups.values())):
        names = [name for name, wanted in groups.items() if wanted == count]
        if count < 2:
            made.update({name: intervals((), whole=True) for name in names})
            continue
        # Twice as many as there are groups: every second one is the middle of a group.
        shares = [j / (2 * count) for j in range(1, 2 * count)]
        for name, numbers, ordered in _quantiles(release, names, shares, rank_error):
            limit = (limits or {}).get(name)
            cuts = _cuts(numbers, whole[name], limit)
            if ordered is not None:
                cuts = _large_enough(cuts, ordered, least)
            made[name] = _from_quantiles(numbers, cuts, whole[name], representative != "interval")
    if representative == "mean":
        made = {name: _with_means(release, name, step) for name, step in made.items()}
    return made


def _quantiles(
    release: Release, names: Sequence[str], shares: Sequence[float], rank_error: float | None
) -> Iterator[tuple[str, list[float], Floats | None]]:
    """The quantiles of each column; a few columns at a time are sorted here, if they fit.

    Handed over too: the sorted column, where it was sorted here.

    Sorting in NumPy takes a tenth of the time of the engine's quantiles.
    """
    if rank_error is not None:
        sampled = release.rows.sampled_quantiles(names, shares, rank_error=rank_error)
        yield from ((name, [float(v) for v in sampled[name].to_pylist()], None) for name in names)
        return
    lined_up = None if release.count > _SORTED_IN_MEMORY else _sorted_columns(release, names)
    if lined_up is None:
        exact = release.rows.quantiles(names, shares)
        yield from ((name, [float(v) for v in exact[name].to_pylist()], None) for name in names)
        return
    for name, ordered in lined_up:
        size = ordered.size - int(np.isnan(ordered).sum())
        places = [max(0, math.ceil(share * size - 1e-9) - 1) for share in shares]
        yield name, ordered[places].tolist() if size else [], ordered[:size]


def _sorted_columns(release: Release, names: Sequence[str]) -> Iterator[tuple[str, Floats]] | None:
    """Each column sorted here; from a cluster come its values with their counts, if few enough."""
    if release.rows.backend.name != "spark":
        return _read_and_sorted(release, names)
    try:
        counted = release.rows.value_counts(names, at_most=_VALUES_FETCHED)
    except TooLarge:
        return None
    return ((name, _repeated(counts)) for name, counts in counted.items())


def _repeated(counts: Mapping[Any, int]) -> Floats:
    values = np.array([float(value) for value in counts])
    order = np.argsort(values)
    return np.repeat(values[order], np.array(list(counts.values()), np.int64)[order])


def _read_and_sorted(release: Release, names: Sequence[str]) -> Iterator[tuple[str, Floats]]:
    """A few columns at a time; NaN comes last."""
    many = max(1, _SORTED_IN_MEMORY // max(1, release.count))
    for start in progress.track(range(0, len(names), many), "quantiles"):
        table = release.to_arrow(names[start : start + many])
        for name in table.column_names:
            column = table[name].cast(pa.float64(), safe=False).combine_chunks()
            yield name, np.sort(column.drop_null().to_numpy(zero_copy_only=False))


def _cuts(numbers: Sequence[float], whole: bool, limit: float | None) -> list[tuple[float, int]]:
    """`numbers[j-1]` is the quantile at j of 2q; cuts at even j, a cut that repeats is one cut."""
    cuts: list[tuple[float, int]] = []
    for j in range(2, len(numbers) + 1, 2):
        if not cuts or numbers[j - 1] > cuts[-1][0]:
            cuts.append((numbers[j - 1], j))
    if limit is not None and numbers:
        below = limit - 1 if whole else float(np.nextafter(limit, -np.inf))
        cuts = [cut for cut in cuts if cut[0] < below] + [(below, len(numbers))]
    return cuts


def _large_enough(
    cuts: Sequence[tuple[float, int]], ordered: Floats, least: int
) -> list[tuple[float, int]]:
    """The cuts that leave at least so many values on either side, up to the next cut."""
    below = np.searchsorted(ordered, [cut for cut, _ in cuts], "right")
    kept, before = [], 0
    for cut, upto in zip(cuts, below.tolist(), strict=True):
        if upto - before >= least and ordered.size - upto >= least:
            kept.append(cut)
            before = upto
    return kept


def _from_quantiles(
    numbers: Sequence[float], cuts: Sequence[tuple[float, int]], whole: bool, stands: bool
) -> Intervals:
    upper = [cut for cut, _ in cuts]
    if not stands or not numbers:
        return intervals(upper, whole=whole)
    edges = [0, *(j for _, j in cuts), len(numbers) + 1]
    middles = [numbers[max(0, (a + b) // 2 - 1)] for a, b in pairwise(edges)]
    bounds = [-np.inf, *upper, np.inf]
    held = [
        min(max(middle, np.nextafter(low, np.inf)), high)
        for middle, (low, high) in zip(middles, pairwise(bounds), strict=True)
    ]
    return intervals(upper, whole=whole, stands=held)


def _with_means(release: Release, name: str, step: Intervals) -> Intervals:
    rows, column = release.rows, release.rows.column(name)
    value = nw.col(column.inner)
    grouped = (
        rows.frame.select(value, step.expression(value, column.kind).alias("g"))
        .group_by("g")
        .agg(nw.col(column.inner).cast(nw.Float64).mean().alias("mean"))
    )
    table = rows._fetch(grouped, f"means of {name!r}").to_pylist()
    means = {row["g"]: row["mean"] for row in table if row["g"] is not None}
    stands = tuple(float(means.get(label, label)) for label in step.labels)
    return Intervals(upper=step.upper, labels=stands)


def step_count(step: Step, shape: Shape, domain: float) -> float:
    """How many different values a column can have in the population after a step."""
    if isinstance(step, DateUnit):
        return units_between(shape.low, shape.high, step.unit)
    if isinstance(step, Prefix):
        return float(min(domain, 10.0**step.length if shape.digits else domain))
    if isinstance(step, Intervals):
        return len(step.labels)
    if isinstance(step, Level):
        return len(step.groups)
    if isinstance(step, Common):
        return len(step.values) + 1
    if isinstance(step, Suppress):
        return 1
    return domain


def population_domain(shape: Shape, hierarchy: Hierarchy | None) -> float:
    """How many values a column can have in the population, which a sample may not all show.

    Days between the extremes for dates, all codes of that length for codes of digits, all values of
    a hierarchy; otherwise the values that occur.
    """
    if hierarchy is not None:
        return max(1, len(hierarchy.rows))
    method = default_method(shape)
    if method == "date" and shape.low is not None:
        return float((shape.high - shape.low).days + 1)
    if method == "prefix":
        return 10.0**shape.width
    return float(max(1, shape.distinct))
