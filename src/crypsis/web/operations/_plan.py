"""The way to a safe release, while it is still a plan."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from crypsis import protection as an
from crypsis.dataset import Dataset
from crypsis.errors import InputError, ParameterError
from crypsis.hierarchies import Hierarchy
from crypsis.hierarchies.labels import TOP, as_text
from crypsis.report.charts.utility import risk_and_loss
from crypsis.report.figures import figure
from crypsis.web.operations._figures import figure_view
from crypsis.web.operations._notation import ValueNotation
from crypsis.web.operations._session import TableSession
from crypsis.web.options import PEOPLE, advanced

_MAX_LINES_SHOWN = 12
"""Lines of a hierarchy that the page shows: the first ones."""
_MAX_VALUES_SHOWN = 300
"""Values of a column that the page offers for groups: the most frequent."""
_OF_POPULATION = ("k_map", "presence")
_CLASS_SIZES = (2, 3, 5, 10, 20, 50, 100)
"""The class sizes for which the share of records below is stated."""
_ASKED = (
    "k",
    "beta",
    "population",
    "diversity",
    "closeness",
    "best_guess",
    "excess",
    "journalist_risk",
    "recursive_diversity",
    "k_map",
    "presence",
    "preserve",
    "each_column",
    "weights",
    "keep",
    "may_change",
    "apart",
    "top_code",
    "suppression",
    "representative",
    *(name for name in advanced() if name not in PEOPLE),
)


def asked_options(options: dict[str, Any], hierarchies: dict[str, str]) -> dict[str, Any]:
    """The options of `plan` and `anonymize` that are set, without the methods."""
    plan_options = {name: options[name] for name in _ASKED if options.get(name) not in (None, {}, [])}
    for name in ("recursive_diversity", "preserve"):
        if name in plan_options:  # JSON has lists only
            parts = plan_options[name]
            plan_options[name] = tuple(parts) if name != "preserve" else [tuple(part) for part in parts]
    trees = {name: Hierarchy.read(path) for name, path in hierarchies.items()}
    return {**plan_options, "hierarchies": trees}


def of_people(options: dict[str, Any]) -> dict[str, Any]:
    """The options of `anonymize` for people with several records that are set."""
    return {name: options[name] for name in PEOPLE if options.get(name) is not None}


def with_population(session: TableSession, release: Dataset, options: dict[str, Any]) -> Dataset:
    """The dataset with the table of its population, where a requirement is about that table."""
    if all(options.get(name) is None for name in _OF_POPULATION):
        return release
    file = options.get("population_table")
    if file is None:
        raise InputError("k-map and delta-presence need the table of the population: upload it.")
    return replace(release, population=session.release(file))


def without_excluded(roles: dict[str, str], options: dict[str, Any]) -> dict[str, str]:
    """The roles, with the columns excluded that the options exclude."""
    return {**roles, **dict.fromkeys(options.get("exclude") or (), "excluded")}


def planned(release: Dataset, options: dict[str, Any], hierarchies: dict[str, str]) -> an.Plan:
    """The plan that these options ask for."""
    plan_options = asked_options(options, hierarchies)
    return an.plan(release, methods=options.get("methods"), **plan_options)


def preview(
    session: TableSession,
    *,
    file: dict[str, Any],
    roles: dict[str, str],
    options: dict[str, Any],
    hierarchies: dict[str, str],
) -> dict[str, Any]:
    """Count the cells once; returns the generalization levels of each column."""
    with session.engine:
        release = session.release(
            file,
            without_excluded(roles, options),
            person=options.get("person"),
            weight=options.get("weight"),
            household=options.get("household"),
        )
        shape = ("methods", "top_code", "representative")  # what the levels depend on
        shape_options = {"k": options["k"], **{name: options[name] for name in shape if name in options}}
        release_plan = planned(release, shape_options, hierarchies)
        session.preview = an.Preview(release, release_plan)
    drawn = session.preview
    return {
        "rows": drawn.rows,
        "cells": drawn.cells,
        "columns": [
            {
                "column": column.name,
                "values": column.values_before,
                "kind": release.rows.column(column.name).kind.value,
                "methods": list(drawn.methods(column.name)),
                "hierarchy": column.name in hierarchies,
                "levels": [
                    {"description": step.describe(), "values": drawn.values(column.name, level)}
                    for level, step in enumerate(drawn.steps[column.name])
                ],
            }
            for column in release_plan.columns
        ],
    }


def remaining(anonymized: an.Anonymized) -> list[dict[str, Any]]:
    """What is left of each column that changes, in plain words, and whether that is nothing."""
    records = max(1, anonymized.loss.released_records)
    words, columns = anonymized.released_values, []
    for method in anonymized.methods:
        for name in method.columns or (method.column,):
            masked = f"{name}: {method.description}" if name in anonymized.data.names else None
            text = words.get(name, masked)
            if text is None:
                continue
            levels = method.parameters.get("levels", ())
            gone = sum(level["rows"] for level in levels if level["method"] == "suppress")
            lost = 1.0 if method.method in ("not released", "suppress") else gone / records
            columns.append({"column": name, "words": text, "lost": lost})
    return columns


def unchanged(anonymized: an.Anonymized) -> list[str]:
    """The columns that are released as they are."""
    changed = {column["column"] for column in remaining(anonymized)}
    return [name for name in anonymized.data.names if name not in changed]


def _ready(session: TableSession) -> an.Preview:
    if session.preview is None:
        raise InputError("The cells are not counted yet; start with the preview.")
    return session.preview


def what_if(
    session: TableSession,
    *,
    k: int,
    levels: dict[str, int] | None = None,
    population: int | None = None,
    beta: float = 0.05,
    weights: dict[str, float] | None = None,
) -> dict[str, Any]:
    """What a choice comes to, from the cells alone."""
    drawn = _ready(session)
    choice = drawn.outcome(levels, k=k)
    choice_view = {
        **choice.to_dict(),
        "share_below": choice.share_below,
        "by_class_size": [
            {"k": size, "share": share}
            for size, share in zip(_CLASS_SIZES, drawn.shares_below(levels, _CLASS_SIZES), strict=True)
        ],
        "allowed": [],
    }
    if population is not None:
        allowed = an.allowed_values(
            drawn.plan, population=population, k=k, beta=beta, weights=weights or None
        )
        choice_view["allowed"] = [step.to_dict() for step in allowed]
    return choice_view


def curve(session: TableSession, *, k: int, levels: dict[str, int] | None = None) -> dict[str, Any]:
    """Risk against loss, from these levels up."""
    path = _ready(session).trade_off(k=k, levels=levels)
    return {
        "points": [
            {
                "levels": dict(step.levels),
                "loss": step.loss,
                "share_below": step.share_below,
                "smallest": step.smallest,
                "rows_below": step.rows_below,
            }
            for step in path
        ],
        "figure": figure_view(figure(risk_and_loss(path))),
    }


def plan(
    session: TableSession,
    *,
    file: dict[str, Any],
    roles: dict[str, str],
    options: dict[str, Any],
    hierarchies: dict[str, str],
    levels: dict[str, int] | None = None,
) -> dict[str, Any]:
    """The plan itself, column by column."""
    release_plan = chosen(session, file, roles, options, hierarchies, levels or {})
    return {
        "columns": [list(row) for row in release_plan.rows()],
        "cells_allowed": release_plan.cells_allowed,
    }


def chosen(
    session: TableSession,
    file: dict[str, Any],
    roles: dict[str, str],
    options: dict[str, Any],
    hierarchies: dict[str, str],
    levels: dict[str, int],
) -> an.Plan:
    """The plan with the levels chosen by hand; against a population it chooses them itself."""
    with session.engine:
        release = session.release(
            file,
            without_excluded(roles, options),
            person=options.get("person"),
            weight=options.get("weight"),
            household=options.get("household"),
        )
        release = with_population(session, release, options)
        release_plan = planned(release, options, hierarchies)
        if not any(levels.values()):
            return release_plan
        if (
            release_plan.requirements.population is not None
            or release_plan.requirements.each_column is not None
        ):
            raise ParameterError(
                "Levels are chosen by hand for k of the release; against a population, or for each "
                "column alone, the plan chooses them."
            )
        return an.Preview(release, release_plan).plan_with(levels)


def hierarchy(
    session: TableSession,
    *,
    file: dict[str, Any],
    roles: dict[str, str],
    column: str,
    build: str,
    steps: list[int] | None = None,
    groups: dict[str, list[str]] | None = None,
    reveal: bool = False,
    path: str | None = None,
    to: str = "",
) -> dict[str, Any]:
    """Build a hierarchy for a column, or read one that was uploaded; both are checked against it.

    It is written to the table's folder as CSV, so that it can be downloaded, edited and given back.
    """
    with session.engine:
        release = session.release(file, roles)
        values = release.cells([column]).values[0].drop_null().to_pylist()
    if build == "file":
        tree = Hierarchy.read(path or "")
    elif build == "intervals":
        tree = Hierarchy.intervals([_integer(value) for value in values], widths=steps or [])
    elif build == "prefixes":
        tree = Hierarchy.prefixes([str(value) for value in values], lengths=steps or [])
    elif build == "masking":
        tree = Hierarchy.redaction([str(value) for value in values])
    elif build == "dates":
        tree = Hierarchy.dates(_days(values))
    elif build == "groups":
        tree = _grouped(values, groups or {})
    else:
        raise ParameterError("A hierarchy is built by intervals, prefixes, masking, dates or groups.")
    tree.check(values, column)
    target = session.folder / Path(to).name
    tree.write(target, overwrite=True)
    hierarchy_view = {"column": column, "path": str(target), "counts": list(tree.level_sizes)}
    if reveal:
        hierarchy_view["first"] = [[cell[:60] for cell in line] for line in tree.rows[:_MAX_LINES_SHOWN]]
    return hierarchy_view


def _grouped(values: list[Any], groups: dict[str, list[str]]) -> Hierarchy:
    """Values in groups, and all groups as one; a value of no group stays as it is."""
    of = {value: name for name, members in groups.items() for value in members}
    texts = [as_text(value) for value in values]
    unknown = len(set(of) - set(texts))
    if not of or unknown:
        raise ParameterError(
            f"{unknown} of the grouped values are not in the column." if of else "No value is in a group."
        )
    return Hierarchy([(text, of.get(text, text), TOP) for text in texts])


def values(
    session: TableSession, *, file: dict[str, Any], roles: dict[str, str], column: str
) -> dict[str, Any]:
    """The values of a column with their counts, the most frequent first; not all if they are many."""
    with session.engine:
        release = session.release(file, roles)
        cells = release.cells([column])
    notation = ValueNotation.of(release)
    pairs = sorted(
        (
            (int(n), as_text(value := cells.values[0][int(code)].as_py()), notation.text(column, value))
            for n, code in zip(cells.counts, cells.codes[0], strict=True)
            if cells.values[0][int(code)].is_valid
        ),
        key=lambda pair: (-pair[0], pair[1]),
    )
    return {
        "column": column,
        "distinct": len(pairs),
        "values": [
            {"value": text, "text": shown, "count": n} for n, text, shown in pairs[:_MAX_VALUES_SHOWN]
        ],
    }


def _integer(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float) or value != int(value):
        raise InputError("Intervals are built for columns of whole numbers.")
    return int(value)


def _days(values: list[Any]) -> list[Any]:
    if not all(hasattr(value, "year") for value in values):
        raise InputError("Months, quarters and years are built for columns of dates.")
    return values
