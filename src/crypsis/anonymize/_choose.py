"""The steps that fit a column, from the finest to the coarsest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

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
from crypsis.errors import ColumnError, ParameterError
from crypsis.release import Release

METHODS = ("keep", "intervals", "date", "prefix", "common", "suppress")
_POSTAL = ("zip", "postal", "postcode", "plz", "postleitzahl", "pincode")
_FINEST_GROUPS = 128
_MANY_VALUES = 1_000


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


def shapes(release: Release, names: Sequence[str]) -> dict[str, Shape]:
    """The columns' kinds, numbers of values, extremes and widths, in one scan."""
    rows = release.rows
    parts = []
    for i, name in enumerate(names):
        column = rows.column(name)
        if column.kind is Kind.NESTED:
            raise ColumnError(
                f"The column {name!r} holds lists or structures; flatten it or leave it out."
            )
        cell, text = nw.col(column.inner), nw.col(column.inner).cast(nw.String)
        length = text.str.len_chars()
        parts += [cell.n_unique().alias(f"n{i}"), cell.is_null().any().alias(f"m{i}")]
        if column.kind.ordered:
            parts += [cell.min().alias(f"a{i}"), cell.max().alias(f"b{i}")]
        parts += [length.max().alias(f"w{i}"), length.min().alias(f"v{i}")]
        odd = text.str.contains("[^0-9]") if column.kind is Kind.TEXT else cell.is_null()
        parts.append(odd.any().alias(f"d{i}"))
    found = rows._fetch(rows.frame.select(*parts), "looking at columns").to_pylist()[0]
    return {name: _shape(rows.column(name), i, found) for i, name in enumerate(names)}


def _shape(column: Any, i: int, found: Mapping[str, Any]) -> Shape:
    distinct = int(found[f"n{i}"]) - bool(found[f"m{i}"])
    low, high = found.get(f"a{i}"), found.get(f"b{i}")
    width = int(found[f"w{i}"] or 0)
    digits = not found[f"d{i}"] and width == int(found[f"v{i}"] or 0)
    if column.kind is Kind.INTEGER:
        digits = low is not None and low >= 0
    return Shape(column.name, column.kind, distinct, low, high, width, bool(digits))


def default_method(shape: Shape) -> str:
    """How a column is generalized when nobody says: by what it holds and what it is called."""
    if shape.kind is Kind.DATE or (shape.kind is Kind.TIME and hasattr(shape.low, "year")):
        return "date"
    postal = any(word in shape.name.lower() for word in _POSTAL)
    if postal and shape.digits and shape.width > 1:
        return "prefix"
    if shape.kind in (Kind.INTEGER, Kind.NUMBER):
        return "intervals"
    return "common" if shape.kind is Kind.TEXT and shape.distinct > 2 else "keep"


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
) -> dict[str, Intervals]:
    """Quantile groups of several columns: lodha2007, Definition 9, with equal values together.

    Columns with the same number of groups are asked in one scan; with `rank_error` the quantiles
    come from a sample (see `Rows.sampled_quantiles`). The number that stands for a group is its
    middle quantile.
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
        if rank_error is None:
            found = release.rows.quantiles(names, shares)
        else:
            found = release.rows.sampled_quantiles(names, shares, rank_error=rank_error)
        for name in names:
            numbers = [float(value) for value in found[name].to_pylist()]
            limit = (limits or {}).get(name)
            made[name] = _from_quantiles(numbers, whole[name], representative != "interval", limit)
    if representative == "mean":
        made = {name: _with_means(release, name, step) for name, step in made.items()}
    return made


def _from_quantiles(
    numbers: Sequence[float], whole: bool, stands: bool, limit: float | None
) -> Intervals:
    """`numbers[j-1]` is the quantile at j of 2q; cuts at even j, a cut that repeats is one cut."""
    cuts: list[tuple[float, int]] = []
    for j in range(2, len(numbers) + 1, 2):
        if not cuts or numbers[j - 1] > cuts[-1][0]:
            cuts.append((numbers[j - 1], j))
    if limit is not None:
        below = limit - 1 if whole else float(np.nextafter(limit, -np.inf))
        cuts = [cut for cut in cuts if cut[0] < below] + [(below, len(numbers))]
    upper = [cut for cut, _ in cuts]
    if not stands:
        return intervals(upper, whole=whole)
    edges = [0, *(j for _, j in cuts), len(numbers) + 1]
    middles = [numbers[max(0, (a + b) // 2 - 1)] for a, b in pairwise(edges)]
    bounds = [-np.inf, *upper, np.inf]
    held = [
        min(max(m, np.nextafter(a, np.inf)), b)
        for m, a, b in zip(middles, bounds, bounds[1:], strict=False)
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
