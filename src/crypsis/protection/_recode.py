"""A dataset recoded by column plans: columns first, then the rows of classes that are too small."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from crypsis.counting.cells import Cells
from crypsis.dataset import SAMPLE_KEYWORDS, Dataset
from crypsis.errors import (
    ColumnError,
    ParameterError,
    RequirementsNotMetError,
    RoleError,
    TooLargeError,
    unknown_columns,
)
from crypsis.hierarchies import Hierarchy, HierarchyGapError
from crypsis.hierarchies.labels import as_text
from crypsis.inference import value_disclosure
from crypsis.inference.rules import MAX_RATIO, disclosure_rules
from crypsis.options import MissingValues
from crypsis.protection._measured import Measured, disclosed_values, measure, meets_excess
from crypsis.protection._requirements import PrivacyRequirements
from crypsis.protection._statement import InformationLoss
from crypsis.protection.recoding._average import within_average_risk
from crypsis.protection.recoding._choice import ColumnPlan
from crypsis.protection.recoding._class_requirements import (
    ClassRequirements,
    PeopleOfCells,
    grouped_cells,
    sensitive_columns,
)
from crypsis.protection.recoding._columns import (
    column_counts,
    merge_small_groups,
    min_count,
    recoded_columns,
)
from crypsis.protection.recoding._combinations import recoding_of_combinations
from crypsis.protection.recoding._levels import CellLevels, Recoding, column_levels
from crypsis.protection.recoding._merge import with_merged_classes
from crypsis.protection.recoding._population import (
    population_cells,
    population_table,
    without_rest,
)
from crypsis.protection.recoding._purpose import Purpose, purposes_of
from crypsis.protection.recoding._rows import RecodedRows, recode_rows
from crypsis.protection.recoding._search import (
    full_domain_recoding,
    local_recoding,
)
from crypsis.protection.recoding._steps import HierarchyLevel, Keep, Suppress
from crypsis.tables import Rows

RecodingKind = Literal["local", "full-domain"]
Ints = NDArray[np.int64]
_EXCESS_FACTOR = 0.65
"""The first of them for an excess: the baseline of released classes differs from that of others."""
_MERGED, _ROUNDS = 2, 14
"""How often classes that disclose a value are merged with others, and then removed if possible."""
_HOPELESS = 0.2
"""If so many records are still in such classes, merging does not end it."""
_FACTORS = (1.0, 0.95, 0.9, 0.8, 0.65, 0.5)
"""Which parts of a required closeness or excess the search tries, until it is met."""


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
    """The same rows in the recoded columns and that of the person, where k is of people."""


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
    if recoding not in ("local", "full-domain"):
        raise ParameterError(
            f"Parameter 'recoding' must be 'local' or 'full-domain'; {recoding!r} was given.",
            parameter="recoding",
        )
    _check_columns(data, columns, removed)
    if requirements.about_population:
        columns = without_rest(columns)
    rows = recoded_columns(data.rows, {one.name: one.step for one in columns}, removed)
    names = [one.name for one in columns]
    recoded, found, measured, persons = RecodedRows(rows), None, None, None
    if requirements.people:
        persons = _persons(data, columns)
    if requirements.each_column is not None:
        counts = column_counts(rows, names)
        least = min(map(min_count, counts.values()))
        if least >= requirements.each_column:
            measured = Measured(data.count, 1, 0, each_column=least)
        else:
            columns = merge_small_groups(columns, data.rows, counts, requirements.each_column)
            steps = {one.name: one.step for one in columns}
            recoded = RecodedRows(recoded_columns(data.rows, steps, removed))
    elif requirements.about_classes or requirements.combinations is not None:
        recoded, found, persons = _recode_classes(
            data,
            columns,
            rows,
            requirements,
            recoding == "local",
            persons,
            distances or {},
            preserve,
        )
    after = with_rows(data, recoded.rows)
    with_person = None if persons is None else with_rows(data, persons)
    return RecodedData(after, tuple(columns), recoded.row_map, found, measured, with_person)


def _persons(data: Dataset, columns: Sequence[ColumnPlan]) -> Rows:
    """The rows in the columns of the plan, after their steps, and that of the person."""
    if data.person is None:
        raise RoleError(
            "The plan requires k of people, and the column that identifies them is not known.",
            code="plan-needs-person",
            hint="Set {person}.",
        )
    steps = {one.name: one.step for one in columns}
    if data.person in steps:
        raise RoleError(
            f"Column {data.person!r} identifies the person of a record; it cannot be a "
            "quasi-identifier as well.",
            code="person-is-quasi-identifier",
            columns=(data.person,),
        )
    return recoded_columns(data.rows.select([*steps, data.person]), steps)


def _check_columns(data: Dataset, columns: Sequence[ColumnPlan], removed: Sequence[str]) -> None:
    """Raise unless the plan covers the quasi-identifiers, and each step fits its column."""
    names = [*(one.name for one in columns), *removed]
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
    for one in columns:
        kind = data.rows.column(one.name).kind
        steps = (one.step, *one.coarser)
        if not all(step.suits(kind) for step in steps):
            raise ColumnError(
                f"The steps of column {one.name!r} in the plan do not fit its type, {kind.value}.",
                code="plan-does-not-fit",
                hint="Make a new plan for this table.",
                columns=(one.name,),
            )
        _check_hierarchy(data, one, [step for step in steps if isinstance(step, HierarchyLevel)])


def _check_hierarchy(data: Dataset, one: ColumnPlan, levels: Sequence[HierarchyLevel]) -> None:
    """Every value of a column with a hierarchy must be in it."""
    if not levels:
        return
    known = {value for values in levels[0].groups.values() for value in values}
    values = data.cells([one.name]).values[0].to_pylist()
    gaps = tuple(text for v in values if v is not None and (text := as_text(v)) not in known)
    if gaps:
        raise HierarchyGapError(one.name, gaps)


def _recode_classes(
    data: Dataset,
    columns: Sequence[ColumnPlan],
    rows: Rows,
    requirements: PrivacyRequirements,
    local: bool,
    persons: Rows | None,
    distances: Mapping[str, Hierarchy],
    preserve: Sequence[Purpose],
) -> tuple[RecodedRows, Recoding, Rows | None]:
    """Every row in an equivalence class that meets the requirements; `persons` recoded alike.

    Closeness refers to the records that are released, and the baseline of an excess is that of
    the released classes: both are measured again, and a little more is required if one was missed.
    """
    names = [one.name for one in columns]
    sensitive = list(with_rows(data, rows).sensitive) if requirements.about_sensitive else []
    if all(isinstance(one.step, Keep) for one in columns):  # counted before the plan was made
        cells = replace(data.cells([*names, *sensitive]), missing=MissingValues.VALUE)
    else:
        cells = Cells.from_table(rows.cells([*names, *sensitive]), [*names, *sensitive])
    first, member, totals = grouped_cells(cells, len(names))
    places = tuple(cells.codes[c][first] for c in range(len(names)))
    values = [cells.values[c].to_pylist() for c in range(len(names))]
    before = [_originals(data, one) for one in columns]
    everyone = None
    if requirements.about_population:
        before = [
            [v for v in own if v is not None] if found is None else found
            for own, found in zip(values, before, strict=True)
        ]
        everyone, values = population_cells(population_table(data), columns, values, places)
    every = tuple(
        column_levels(one.name, own, one.step, one.coarser, original, one.keep)
        for one, own, original in zip(columns, values, before, strict=True)
    )
    levels = CellLevels(every, places, totals)
    purposes = purposes_of(rows, levels, preserve)
    weighted = purposes.aimed(levels).weighted([one.weight for one in columns])
    people = None if persons is None else PeopleOfCells.of(persons, first.size)
    asked = ClassRequirements(
        requirements, sensitive_columns(cells, sensitive, rows, member, distances), people=people,
        population=everyone,
    )  # fmt: skip

    def made(recoded: RecodedRows, found: Recoding) -> tuple[RecodedRows, Recoding, Rows | None]:
        alike = None
        if persons is not None:
            alike = recode_rows(persons, cells, first, levels, found).rows
        kept = purposes.preserved(levels, found.levels)
        return recoded, replace(found, preserved=kept), alike

    if requirements.excess is not None:
        rules = tuple(disclosure_rules(data, cells, name, names) for name in sensitive)
        asked = replace(asked, disclosure=rules)
    budget = int(requirements.suppression * data.count + 1e-9)
    if requirements.combinations is not None:
        found = recoding_of_combinations(weighted, asked, budget, local=local)
        found = levels.recoding(found.levels)
        return made(recode_rows(rows, cells, first, levels, found), found)
    search = local_recoding if local else full_domain_recoding
    enough = _EXCESS_FACTOR if requirements.excess is not None else 1.0
    for factor in _FACTORS:
        if factor > max(enough, _FACTORS[-1]):
            continue
        found = within_average_risk(search, weighted, replace(asked, factor=factor), budget)
        found = levels.recoding(found.levels)
        recoded = recode_rows(rows, cells, first, levels, found)
        if local and requirements.excess is not None:
            recoded, found = _without_excess(
                data, (rows, cells, first, levels, weighted), replace(asked, factor=factor), budget,
                recoded, found,
            )  # fmt: skip
        reached = _reached(with_rows(data, recoded.rows), names, requirements, found, distances)
        if reached <= 1:
            return made(recoded, found)
        enough = min(factor / reached, 0.99 * factor)
    if local and requirements.excess is not None and not requirements.compared_later:
        raise _excess_error(with_rows(data, recoded.rows), requirements.excess)
    if not local:
        raise RequirementsNotMetError(
            "Generalizing changes what classes are compared with (the distribution of the records "
            "that remain, the baseline of their classes), and no generalization levels were found "
            "that meet the requirements on sensitive attributes.",
            code="closeness-not-met",
            hint="Relax the requirements or set {recoding=local}.",
        )
    search = partial(local_recoding, suppress=False)
    found = levels.recoding(within_average_risk(search, weighted, asked, budget).levels)
    return made(recode_rows(rows, cells, first, levels, found), found)


def _excess_error(data: Dataset, limit: float) -> RequirementsNotMetError:
    """The error that names the sensitive attributes whose values would be disclosed."""
    disclosed = [
        one.attribute
        for one in value_disclosure(data).attributes
        if one.classes_above(limit, MAX_RATIO)[1].any()
    ]
    return RequirementsNotMetError(
        f"No recoding was found in which no class discloses a value of {_quoted(disclosed)}, so no "
        "release is returned.",
        code="excess-not-met",
        hint="Set a larger {excess} or {suppression}, declare harmless values in the roles file, or "
        "set {excluded}.",
        columns=tuple(disclosed),
        requirements=("excess",),
    )


def _without_excess(
    data: Dataset, table: tuple[Rows, Cells, Ints, CellLevels, CellLevels],
    asked: ClassRequirements, budget: int, recoded: RecodedRows, found: Recoding,
) -> tuple[RecodedRows, Recoding]:  # fmt: skip
    """Recode again what discloses a value, measured by the baseline of the release itself.

    The search knows the baseline of the original classes. Where that of the released ones is lower,
    less of it is granted in the next round; in the end, what still discloses one is suppressed.
    """
    rows, cells, first, levels, weighted = table
    limit = asked.requirements.excess or 0.0
    for turn in range(_ROUNDS):
        again = _disclosing(with_rows(data, recoded.rows), levels, found, limit)
        if not again.any():
            break
        scale = np.where(again, 0.5, 1.0)[:, None]
        rules = tuple(replace(one, chances=one.chances * scale) for one in asked.disclosure)
        asked = replace(asked, disclosure=rules)
        if turn >= _MERGED and levels.counts[again].sum() > _HOPELESS * levels.counts.sum():
            break
        other = levels.recoding(np.where(again[:, None], np.int16(-1), found.levels))
        if turn < _MERGED or other.rows_touched > budget:
            other = levels.recoding(with_merged_classes(weighted, asked, found.levels, again))
        if other.rows_touched > budget:
            break
        found = other
        recoded = recode_rows(rows, cells, first, levels, found)
    return recoded, found


def _disclosing(
    data: Dataset, levels: CellLevels, found: Recoding, limit: float
) -> NDArray[np.bool_]:
    """The cells in classes of the release that disclose a value."""
    again = np.zeros(levels.counts.size, bool)
    own = [
        np.array(["" if label is None else as_text(label) for label in every], object)[place]
        for every, place in levels.labels(found.levels)
    ]
    names = {key: place for place, key in enumerate(zip(*own, strict=True))}
    _, member = np.unique([names[key] for key in zip(*own, strict=True)], return_inverse=True)
    for one in value_disclosure(data).attributes:
        classes, above = one.classes_above(limit, MAX_RATIO)
        at = np.flatnonzero(above)
        labels = [
            [
                "" if value is None else as_text(value)
                for value in values.take(pa.array(codes[at])).to_pylist()
            ]
            for values, codes in zip(classes.values, classes.codes, strict=True)
        ]
        bad = [names[key] for key in zip(*labels, strict=True) if key in names]
        again |= np.isin(member, member[bad])
    return again & (found.levels[:, 0] >= 0)


def _reached(
    data: Dataset,
    names: Sequence[str],
    requirements: PrivacyRequirements,
    found: Recoding,
    distances: Mapping[str, Hierarchy],
) -> float:
    """How many times distances to all records and the excess exceed what is required; at most 1 if
    they do not.
    """
    ratios = [0.0]
    limits = requirements.compared_later
    if limits and found.suppressed_records:
        asked = PrivacyRequirements().model_copy(update=limits)
        measured = measure(data, names, asked, hierarchies=distances)
        for name, limit in limits.items():
            value = getattr(measured, name) or 0.0
            ratios.append(value / limit if limit else value)
    if requirements.excess is not None:
        values = disclosed_values(data)
        if not meets_excess(values, requirements.excess):
            ratios.append(max(1.01, values["excess"] / max(requirements.excess, 1e-9)))
    return max(ratios)


def _originals(data: Dataset, one: ColumnPlan) -> list[Any] | None:
    """The values of a column before its step; None where it has none."""
    if isinstance(one.step, Keep):
        return None
    return data.cells([one.name]).values[0].drop_null().to_pylist()  # type: ignore[no-any-return]


def columns_loss(data: Dataset, columns: Sequence[ColumnPlan]) -> float | None:
    """The information loss of the steps of all columns, counted from the original values.

    None where the columns have too many values to count; they are counted in one pass.
    """
    changed = [one for one in columns if not isinstance(one.step, Keep)]
    if not changed:
        return 0.0
    try:
        counted = column_counts(data.rows, [one.name for one in changed])
    except TooLargeError:
        return None
    total = 0.0
    for one in changed:
        counts = [*counted[one.name].values()]
        levels = column_levels(one.name, [*counted[one.name], None], Keep(), [one.step])
        top = levels.top if isinstance(one.step, Suppress) else 1
        rows = np.array([*counts, data.count - sum(counts)], np.int64)
        total += float(levels.average_loss(rows)[top])
    return total / max(1, len(columns))


def with_steps(
    loss: InformationLoss, data: Dataset, columns: Sequence[ColumnPlan], searched: bool
) -> InformationLoss:
    """The loss with that of columns whose step suppresses every value, before rows are searched."""
    if all(isinstance(one.step, Keep) for one in columns):
        return loss
    released = loss.records - loss.suppressed_records
    gone = [one.name for one in columns if isinstance(one.step, Suppress)]
    # Values of records that were removed are counted with these: their share is that of all.
    there = [data.count - data.rows.tally([name]).missing for name in gone]
    shares = [count / max(1, data.count) for count in there]
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


def with_rows(data: Dataset, rows: Rows) -> Dataset:
    """Other rows, with the roles of the columns that are still there."""
    there = set(rows.names)
    parts: dict[str, Any] = {
        part: name if (name := getattr(data, part)) in there else None for part in SAMPLE_KEYWORDS
    }
    return replace(
        data,
        rows=rows,
        roles={name: role for name, role in data.roles.items() if name in there},
        notes={name: note for name, note in data.notes.items() if name in there},
        **parts,
        given=None,
        _cells={},
    )


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names))
