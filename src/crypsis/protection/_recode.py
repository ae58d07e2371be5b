"""A dataset recoded by column plans: columns first, then the rows of classes that are too small."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import get_args

import numpy as np

from crypsis.dataset import Dataset
from crypsis.errors import ColumnError, ParameterError, RoleError, TooLargeError, unknown_columns
from crypsis.hierarchies import Hierarchy, HierarchyGapError
from crypsis.hierarchies.labels import as_text
from crypsis.protection._loss import InformationLoss
from crypsis.protection._measured import Measured
from crypsis.protection._recode_classes import RecodingKind, recode_classes, with_rows
from crypsis.protection._requirements import PrivacyRequirements
from crypsis.protection.recoding._choice import ColumnPlan
from crypsis.protection.recoding._columns import column_counts, merge_small_groups, min_count, recoded_columns
from crypsis.protection.recoding._levels import Recoding, column_levels
from crypsis.protection.recoding._population import without_rest
from crypsis.protection.recoding._purpose import Purpose
from crypsis.protection.recoding._rows import RecodedRows
from crypsis.protection.recoding._steps import HierarchyLevel, Keep, Suppress
from crypsis.tables import Rows


@dataclass(frozen=True, eq=False)
class RecodedData:
    """A recoded dataset, the column plans that were applied, and the recoding of its rows."""

    data: Dataset
    columns: tuple[ColumnPlan, ...]
    row_map: tuple[int, ...] | None
    recoding: Recoding | None
    measured: Measured | None = None
    """If it is known from the recoding."""
    persons: Dataset | None = None
    """The same rows in the recoded columns, those that something is required of, and that of the
    person, where people are counted."""


def recode(
    data: Dataset,
    columns: Sequence[ColumnPlan],
    removed: Sequence[str],
    requirements: PrivacyRequirements,
    recoding: RecodingKind,
    distances: Mapping[str, Hierarchy] | None = None,
    preserve: Sequence[Purpose] = (),
) -> RecodedData:
    """Apply column plans, then recode single rows until the requirements on classes are met.

    `distances` are the hierarchies of sensitive attributes, by which their values are far apart;
    `preserve` is what the release is to be used for.
    """
    if recoding not in get_args(RecodingKind):
        raise ParameterError(
            f"Parameter 'recoding' must be 'local', 'subtree' or 'full-domain'; {recoding!r} was given.",
            parameter="recoding",
        )
    _check_columns(data, columns, removed)
    if requirements.about_population:
        columns = without_rest(columns)
    rows = recoded_columns(data.rows, {column.name: column.step for column in columns}, removed)
    names = [column.name for column in columns]
    recoded, recoded_classes, measured, persons = RecodedRows(rows), None, None, None
    if requirements.people or requirements.weighted:
        sensitive = with_rows(data, rows).sensitive if requirements.about_sensitive else ()
        persons = _with_sample(data, columns, requirements, sensitive)
    if requirements.each_column is not None:
        counts = column_counts(rows, names)
        least = min(map(min_count, counts.values()))
        if least >= requirements.each_column:
            measured = Measured(data.count, 1, 0, each_column=least)
        else:
            columns = merge_small_groups(columns, data.rows, counts, requirements.each_column)
            steps = {column.name: column.step for column in columns}
            recoded = RecodedRows(recoded_columns(data.rows, steps, removed))
    elif requirements.about_classes or requirements.combinations is not None:
        recoded, recoded_classes, persons = recode_classes(
            data, columns, rows, requirements, recoding, persons, distances or {}, preserve
        )
    after = _without_person(data, with_rows(data, recoded.rows))
    with_person = None if persons is None else with_rows(data, persons)
    return RecodedData(after, tuple(columns), recoded.row_map, recoded_classes, measured, with_person)


def _without_person(data: Dataset, release: Dataset) -> Dataset:
    """The release with what a record is, where the column of the person is not in it."""
    if data.person is None or data.person in release.names:
        return replace(release, absent={})
    counted = data.rows.tally([data.person])
    if counted.estimated or counted.values < counted.rows - counted.missing:
        return replace(release, absent={"person": data.person})
    return replace(release, absent={}, each_record=True)


def _with_sample(
    data: Dataset, columns: Sequence[ColumnPlan], requirements: PrivacyRequirements, sensitive: Sequence[str]
) -> Rows:
    """The rows in the columns of the plan, after their steps, and those of person and weight.

    With them are the sensitive attributes of which something is required.
    """
    steps = {column.name: column.step for column in columns}
    extra = [*sensitive]
    if requirements.people:
        extra.append(_person(data, steps))
    if requirements.weighted:
        extra.append(_weight(data, steps))
    return recoded_columns(data.rows.select([*steps, *extra]), steps)


def _person(data: Dataset, recoded: Collection[str]) -> str:
    if data.person is None:
        raise RoleError(
            "The plan requires k of people, and the column that identifies them is not known.",
            code="plan-needs-person",
            hint="Set {person}.",
        )
    if data.person in recoded:
        raise RoleError(
            f"Column {data.person!r} identifies the person of a record; it cannot be a "
            "quasi-identifier as well.",
            code="person-is-quasi-identifier",
            columns=(data.person,),
        )
    return data.person


def _weight(data: Dataset, recoded: Collection[str]) -> str:
    if data.weight is None or data.weight in recoded:
        raise RoleError(
            "The plan requires a journalist risk by the weights of the sample, and no column has "
            "them besides the quasi-identifiers.",
            code="plan-needs-weight",
            hint="Set {weight}.",
        )
    return data.weight


def _check_columns(data: Dataset, columns: Sequence[ColumnPlan], removed: Sequence[str]) -> None:
    """Raise unless the plan covers the quasi-identifiers, and each step fits its column."""
    names = [*(column.name for column in columns), *removed]
    if any(name not in data.names for name in names):
        raise unknown_columns(names, data.names)
    twice = tuple(sorted({name for name in names if names.count(name) > 1}))
    if twice:
        raise RoleError(f"The plan names {_quoted(twice)} twice.", columns=twice)
    left = tuple(name for name in data.quasi_identifiers if name not in names)
    if left:  # k over fewer columns than the quasi-identifiers would not be k-anonymity
        raise RoleError(
            f"The plan does not cover the quasi-identifier{'s' * (len(left) > 1)} {_quoted(left)}.",
            code="plan-incomplete",
            hint="Add them to the plan or make a new plan.",
            columns=left,
        )
    for column_plan in columns:
        kind = data.rows.column(column_plan.name).kind
        steps = (column_plan.step, *column_plan.coarser)
        if not all(step.suits(kind) for step in steps):
            raise ColumnError(
                f"The steps of column {column_plan.name!r} in the plan do not fit its type, {kind.value}.",
                code="plan-does-not-fit",
                hint="Make a new plan for this table.",
                columns=(column_plan.name,),
            )
        _check_hierarchy(data, column_plan, [step for step in steps if isinstance(step, HierarchyLevel)])


def _check_hierarchy(data: Dataset, column_plan: ColumnPlan, levels: Sequence[HierarchyLevel]) -> None:
    """Every value of a column with a hierarchy must be in it."""
    if not levels:
        return
    covered = {value for values in levels[0].groups.values() for value in values}
    values = data.cells([column_plan.name]).values[0].to_pylist()
    gaps = tuple(text for v in values if v is not None and (text := as_text(v)) not in covered)
    if gaps:
        raise HierarchyGapError(column_plan.name, gaps)


def columns_loss(data: Dataset, columns: Sequence[ColumnPlan]) -> float | None:
    """The information loss of the steps of all columns, counted from the original values.

    None where the columns have too many values to count; they are counted in one pass.
    """
    changed = [column for column in columns if not isinstance(column.step, Keep)]
    if not changed:
        return 0.0
    try:
        counted = column_counts(data.rows, [column.name for column in changed])
    except TooLargeError:
        return None
    total = 0.0
    for column_plan in changed:
        counts = [*counted[column_plan.name].values()]
        levels = column_levels(
            column_plan.name, [*counted[column_plan.name], None], Keep(), [column_plan.step]
        )
        top = levels.top if isinstance(column_plan.step, Suppress) else 1
        rows = np.array([*counts, data.count - sum(counts)], np.int64)
        total += float(levels.average_loss(rows)[top])
    return total / max(1, len(columns))


def with_steps(
    loss: InformationLoss, data: Dataset, columns: Sequence[ColumnPlan], searched: bool
) -> InformationLoss:
    """The loss with that of columns whose step suppresses every value, before rows are searched."""
    if all(isinstance(column.step, Keep) for column in columns):
        return loss
    released = loss.released_records
    gone = [column.name for column in columns if isinstance(column.step, Suppress)]
    # Values of records that were removed are counted with these: their share is that of all.
    present = [data.count - data.rows.tally([name]).missing for name in gone]
    shares = [count / max(1, data.count) for count in present]
    values = sum(round(share * released) for share in shares)
    ncp = loss.ncp
    if searched and ncp is not None:
        ncp += sum(shares) * released / max(1, loss.records) / len(columns)
    return replace(
        loss,
        ncp=ncp,
        suppressed_values=loss.suppressed_values + values,
        records_with_suppressed_values=max(
            [loss.records_with_suppressed_values, *(round(share * released) for share in shares)]
        ),
        generalized_records=released,
        fully_generalized_columns=(*loss.fully_generalized_columns, *gone),
    )


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names))
