"""The way to a safe release, while it is still a plan."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from crypsis import anonymize as an
from crypsis.engine import Kind
from crypsis.errors import InputError, ParameterError
from crypsis.release import Release
from crypsis.report.charts.utility import risk_and_loss
from crypsis.report.figures import figure
from crypsis.web.operations._assessing import figure_told
from crypsis.web.operations._desk import Desk

_CROWDS = (2, 3, 5, 10, 20, 50, 100)
_ASKED = (
    "k", "beta", "population", "release_k", "diversity", "closeness", "best_guess", "each_column",
    "weights", "methods", "top_code", "suppression", "representative",
)  # fmt: skip


def planned(
    release: Release, options: dict[str, Any], hierarchies: dict[str, str] | None = None
) -> an.Plan:
    """The plan that these options ask for."""
    asked = {name: options[name] for name in _ASKED if options.get(name) is not None}
    trees = {name: an.Hierarchy.read(path) for name, path in (hierarchies or {}).items()}
    return an.plan(release, hierarchies=trees, **asked)


def sketch(
    desk: Desk,
    *,
    file: dict[str, Any],
    roles: dict[str, str],
    options: dict[str, Any],
    hierarchies: dict[str, str],
) -> dict[str, Any]:
    """Count the cells once and say which levels each column has."""
    with desk.engine:
        release = desk.release(file, roles)
        own = {**options, "population": None, "release_k": None, "each_column": False}
        made = planned(release, own, hierarchies)
        desk.sketch = an.Sketch(release, made)
    drawn = desk.sketch
    return {
        "rows": drawn.rows,
        "cells": drawn.cells,
        "columns": [
            {
                "column": one.name,
                "values": one.values_before,
                "kind": release.rows.column(one.name).kind.value,
                "methods": _fitting(release.rows.column(one.name).kind),
                "hierarchy": one.name in hierarchies,
                "levels": [
                    {"told": step.describe(), "values": drawn.values(one.name, level)}
                    for level, step in enumerate(drawn.steps[one.name])
                ],
            }
            for one in made.columns
        ],
    }


def _fitting(kind: Kind) -> list[str]:
    fitting = ["keep"]
    if kind in (Kind.INTEGER, Kind.NUMBER):
        fitting.append("intervals")
    if kind in (Kind.DATE, Kind.TIME):
        fitting.append("date")
    if kind in (Kind.INTEGER, Kind.TEXT):
        fitting.append("prefix")
    if kind in (Kind.INTEGER, Kind.TEXT, Kind.BOOLEAN):
        fitting.append("common")
    return [*fitting, "suppress"]


def _ready(desk: Desk) -> an.Sketch:
    if desk.sketch is None:
        raise InputError("Nothing is counted yet; begin with a sketch.")
    return desk.sketch


def what_if(
    desk: Desk,
    *,
    k: int,
    levels: dict[str, int] | None = None,
    population: int | None = None,
    beta: float = 0.05,
    weights: dict[str, float] | None = None,
) -> dict[str, Any]:
    """What a choice comes to, from the cells alone."""
    drawn = _ready(desk)
    told = drawn.told(levels, k=k)
    found = {
        **told.to_dict(),
        "share_below": told.share_below,
        "by_crowd": [
            {"k": size, "share": share}
            for size, share in zip(_CROWDS, drawn.by_crowd(levels, _CROWDS), strict=True)
        ],
        "allowed": [],
    }
    if population is not None:
        allowed = an.allowances(
            drawn.plan, population=population, k=k, beta=beta, weights=weights or None
        )
        found["allowed"] = [one.to_dict() for one in allowed]
    return found


def curve(desk: Desk, *, k: int, levels: dict[str, int] | None = None) -> dict[str, Any]:
    """Risk against loss, from these levels up."""
    path = _ready(desk).curve(k=k, levels=levels)
    return {
        "points": [
            {
                "levels": dict(one.levels), "loss": one.loss, "share_below": one.share_below,
                "smallest": one.smallest, "rows_below": one.rows_below,
            }
            for one in path
        ],
        "figure": figure_told(figure(risk_and_loss(path))),
    }  # fmt: skip


def plan(
    desk: Desk,
    *,
    file: dict[str, Any],
    roles: dict[str, str],
    options: dict[str, Any],
    hierarchies: dict[str, str],
    levels: dict[str, int] | None = None,
) -> dict[str, Any]:
    """The plan itself, column by column."""
    made = chosen(desk, file, roles, options, hierarchies, levels or {})
    return {"columns": [list(row) for row in made.rows()], "cells_allowed": made.cells_allowed}


def chosen(
    desk: Desk,
    file: dict[str, Any],
    roles: dict[str, str],
    options: dict[str, Any],
    hierarchies: dict[str, str],
    levels: dict[str, int],
) -> an.Plan:
    """The plan with the levels that somebody chose; against a population it chooses them itself."""
    with desk.engine:
        release = desk.release(file, roles)
        made = planned(release, options, hierarchies)
        if not any(levels.values()):
            return made
        if made.promise.population is not None or made.promise.each_column is not None:
            raise ParameterError(
                "Levels are chosen by hand for k of the release; against a population, or for each "
                "column alone, the plan chooses them."
            )
        return an.Sketch(release, made).chosen_plan(levels)


def hierarchy(
    desk: Desk,
    *,
    file: dict[str, Any],
    roles: dict[str, str],
    column: str,
    build: str,
    steps: list[int] | None = None,
    path: str | None = None,
    to: str = "",
) -> dict[str, Any]:
    """Build a hierarchy for a column, or read one that was uploaded; both are checked against it.

    It is written to the table's folder as CSV, so that it can be downloaded, edited and given back.
    """
    with desk.engine:
        release = desk.release(file, roles)
        values = release.cells([column]).values[0].drop_null().to_pylist()
    if build == "file":
        tree = an.Hierarchy.read(path or "")
    elif build == "intervals":
        tree = an.Hierarchy.intervals([_whole(value) for value in values], widths=steps or [])
    elif build == "prefixes":
        tree = an.Hierarchy.prefixes([str(value) for value in values], lengths=steps or [])
    elif build == "masking":
        tree = an.Hierarchy.masking([str(value) for value in values])
    elif build == "dates":
        tree = an.Hierarchy.dates(_days(values))
    else:
        raise ParameterError("A hierarchy is built by intervals, prefixes, masking or dates.")
    try:
        tree.check(values, column)
    except an.HierarchyGap as gap:
        raise InputError(
            f"{len(gap.missing):,} values of the column {column!r} are not in the hierarchy; add a "
            "line for each."
        ) from None
    target = desk.folder / Path(to).name
    tree.write(target, overwrite=True)
    return {"column": column, "path": str(target), "counts": list(tree.counts)}


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float) or value != int(value):
        raise InputError("Intervals are built for columns of whole numbers.")
    return int(value)


def _days(values: list[Any]) -> list[Any]:
    if not all(hasattr(value, "year") for value in values):
        raise InputError("Months, quarters and years are built for columns of dates.")
    return values
