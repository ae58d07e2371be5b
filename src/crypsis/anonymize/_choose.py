"""The steps that fit a column, from the finest to the coarsest."""

from __future__ import annotations

import numpy as np

from crypsis.anonymize._dates import units_between
from crypsis.anonymize._hierarchy import Hierarchy, as_text
from crypsis.anonymize._quantiles import coarser_intervals, quantile_steps, with_stands
from crypsis.anonymize._shapes import Shape, postal
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
)
from crypsis.engine.base import Kind
from crypsis.errors import ParameterError
from crypsis.release import Release

METHODS = ("keep", "intervals", "date", "prefix", "common", "suppress")
_FINEST_GROUPS = 128
_MANY_VALUES = 1_000


def default_method(shape: Shape) -> str:
    """How a column is generalized when nobody says: by what it holds and what it is called."""
    if shape.kind is Kind.DATE or (shape.kind is Kind.TIME and _dated(shape)):
        return "date"
    if postal(shape.name) and shape.digits and shape.width > 1:
        return "prefix"
    if shape.kind in (Kind.INTEGER, Kind.NUMBER):
        return "intervals"
    return "common" if shape.kind is Kind.TEXT and shape.distinct > 2 else "keep"


def _dated(shape: Shape) -> bool:
    """Whether times have a date: a time of day and a span of time have none."""
    return shape.low is None or hasattr(shape.low, "year")


def check_method(shape: Shape, method: str) -> None:
    """Raise unless the method is known and fits what the column holds."""
    if method not in METHODS:
        raise ParameterError(f"Methods are {', '.join(METHODS)}; {method!r} was given.")
    fits = {
        "intervals": shape.kind in (Kind.INTEGER, Kind.NUMBER),
        "date": shape.kind is Kind.DATE or (shape.kind is Kind.TIME and _dated(shape)),
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
    coarser = coarser_intervals(fine, shape.kind is Kind.INTEGER)
    if representative != "interval":
        coarser = [with_stands(release, shape.name, step, representative) for step in coarser]
    ladder: list[Step] = [fine, *coarser, Suppress()]
    keep_raw = groups is None and shape.distinct <= _MANY_VALUES
    return [first, *ladder] if keep_raw else ladder


def _common(release: Release, shape: Shape, groups: int | None) -> list[Common]:
    cells = release.cells([shape.name])
    order = np.argsort(-cells.counts, kind="stable")
    listed = [cells.values[0][int(cells.codes[0][j])].as_py() for j in order]
    named = [as_text(value) for value in listed if value is not None]
    if groups is not None:
        sizes = [groups - 1]
    else:
        sizes = [size for size in (64, 32, 16, 8, 4, 2, 1) if size < len(named) - 1]
    other = "other"
    while other in named:
        other = f"({other})"
    return [Common(values=tuple(named[:size]), other=other) for size in sizes if size >= 1]


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
