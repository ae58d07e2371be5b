"""The classes of a release: searched, recoded, and measured where the search only knows a part."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np

from crypsis.array_types import Flags, Ints
from crypsis.counting.cells import Cells
from crypsis.counting.grouping import group
from crypsis.dataset import SAMPLE_KEYWORDS, Dataset
from crypsis.errors import RequirementsNotMetError
from crypsis.hierarchies import Hierarchy
from crypsis.hierarchies.labels import as_text
from crypsis.inference import value_disclosure
from crypsis.inference.conditional import Joint, joint, joint_of
from crypsis.inference.rules import MAX_RATIO, classes_exceeding, disclosure_rules
from crypsis.options import MissingValues
from crypsis.protection._measured import disclosed_values, measure, meets_excess
from crypsis.protection._requirements import PrivacyRequirements
from crypsis.protection.recoding._average import average_risk, within_average_risk
from crypsis.protection.recoding._choice import ColumnPlan
from crypsis.protection.recoding._class_requirements import (
    ClassRequirements,
    PeopleOfCells,
    grouped_cells,
    sensitive_columns,
)
from crypsis.protection.recoding._combinations import recoding_of_combinations
from crypsis.protection.recoding._deadline import time_left
from crypsis.protection.recoding._full_domain import full_domain_recoding
from crypsis.protection.recoding._levels import CellLevels, Recoding, column_levels
from crypsis.protection.recoding._local_search import improved
from crypsis.protection.recoding._merge import compared_with_released, with_merged_classes
from crypsis.protection.recoding._population import population_cells, population_table
from crypsis.protection.recoding._population_risk import fewest_matches, matching_people
from crypsis.protection.recoding._purpose import Purpose, purposes_of
from crypsis.protection.recoding._rows import RecodedRows, recode_rows
from crypsis.protection.recoding._search import local_recoding
from crypsis.protection.recoding._steps import Keep
from crypsis.protection.recoding._subtree import subtree_recoding
from crypsis.tables import Rows

RecodingKind = Literal["local", "subtree", "full-domain"]
"""How rows are recoded; see `crypsis.protection.Plan.apply`."""
_SEARCHES: dict[str, Callable[[CellLevels, ClassRequirements, int], Recoding]] = {
    "local": local_recoding,
    "subtree": subtree_recoding,
    "full-domain": full_domain_recoding,
}
_AT_LEAST = ("diversity", "entropy_diversity")
"""The requirements of which a class needs as much; of the others at most as much."""
_REQUIREMENT_FACTORS = (1.0, 0.95, 0.9, 0.8, 0.65, 0.5)
"""Which parts of a required closeness or excess the search tries, until it is met."""
_EXCESS_FACTOR = 0.65
"""The first of them for an excess: the baseline of released classes differs from that of others."""
_MERGING_ROUNDS = 2
"""In so many rounds classes that disclose a value are merged; later they are removed if possible."""
_MAX_ROUNDS = 14
"""After so many rounds the search ends, whether or not a class still discloses a value."""
_MAX_DISCLOSING_SHARE = 0.2
"""If more of the records are still in such classes after merging, further rounds do not end it."""


def recode_classes(
    data: Dataset,
    columns: Sequence[ColumnPlan],
    rows: Rows,
    requirements: PrivacyRequirements,
    recoding: RecodingKind,
    persons: Rows | None,
    distances: Mapping[str, Hierarchy],
    preserve: Sequence[Purpose],
) -> tuple[RecodedRows, Recoding, Rows | None]:
    """Every row in an equivalence class that meets the requirements; `persons` recoded alike.

    Closeness refers to the records that are released, and the baseline of an excess is that of
    the released classes: both are measured again, and a little more is required if one was missed.
    """
    names = [column.name for column in columns]
    sensitive = list(with_rows(data, rows).sensitive) if requirements.about_sensitive else []
    if all(isinstance(column.step, Keep) for column in columns):  # counted before the plan was made
        cells = replace(data.cells([*names, *sensitive]), missing=MissingValues.VALUE)
    else:
        cells = Cells.from_table(rows.cells([*names, *sensitive]), [*names, *sensitive])
    first, _, totals = grouped_cells(cells, len(names))
    places = tuple(cells.codes[c][first] for c in range(len(names)))
    values = [cells.values[c].to_pylist() for c in range(len(names))]
    before = [_originals(data, column) for column in columns]
    everyone = None
    if requirements.about_population:
        before = [
            [v for v in value if v is not None] if previous is None else previous
            for value, previous in zip(values, before, strict=True)
        ]
        everyone, values = population_cells(population_table(data), columns, values, places)
    leveled_columns = tuple(
        column_levels(column.name, value, column.step, column.coarser, original, column.keep)
        for column, value, original in zip(columns, values, before, strict=True)
    )
    levels = CellLevels(leveled_columns, places, totals)
    purposes = purposes_of(rows, levels, preserve)
    weighted = purposes.aimed(levels).weighted([column.weight for column in columns])
    tables = _sensitive_tables(data, cells, persons, names, sensitive)
    class_requirements = ClassRequirements(
        requirements, sensitive_columns(tables, rows, distances), population=everyone
    )
    weight, people = data.weight if requirements.weighted else None, None
    if requirements.people and persons is not None:
        people = PeopleOfCells.of(persons, names, str(data.person), weight)
        class_requirements = replace(class_requirements, people=people)
    if requirements.weighted:
        class_requirements = replace(
            class_requirements,
            matches=matching_people(with_rows(data, persons or rows), names)
            if people is None
            else people.matches,
            fewest_matches=fewest_matches(requirements),
        )

    def made(recoded: RecodedRows, recoding: Recoding) -> tuple[RecodedRows, Recoding, Rows | None]:
        recoded_people = None
        if persons is not None:
            recoded_people = recode_rows(persons, cells, first, levels, recoding).rows
        kept = purposes.preserved(levels, recoding.levels)
        return recoded, replace(recoding, preserved=kept), recoded_people

    if requirements.excess is not None:
        rules = tuple(disclosure_rules(data, table, name) for name, table in tables.items())
        class_requirements = replace(class_requirements, disclosure=rules)
    budget = int(requirements.suppression * data.count + 1e-9)
    local, search = recoding == "local", _SEARCHES[recoding]
    if requirements.combinations is not None:
        chosen = recoding_of_combinations(weighted, class_requirements, budget, local=local)
        chosen = levels.recoding(chosen.levels)
        return made(recode_rows(rows, cells, first, levels, chosen), chosen)
    of_people = requirements.people and requirements.about_values
    release = _Release(data, persons, names, requirements, distances)
    table = (rows, cells, first, levels, weighted)
    enough = _EXCESS_FACTOR if requirements.excess is not None else 1.0
    for factor in _REQUIREMENT_FACTORS:
        if factor > max(enough, _REQUIREMENT_FACTORS[-1]):
            continue
        chosen = within_average_risk(search, weighted, replace(class_requirements, factor=factor), budget)
        if local and requirements.compared_later and chosen.suppressed_records and everyone is None:
            closer = compared_with_released(weighted, class_requirements, chosen)
            chosen = closer if closer.rows_touched <= budget else chosen
        chosen = levels.recoding(chosen.levels)
        recoded, met = recode_rows(rows, cells, first, levels, chosen), False
        if local and (requirements.excess is not None or of_people):
            recoded, chosen, met = _without_disclosure(
                release, table, replace(class_requirements, factor=factor), budget, recoded, chosen
            )
        reached = _reached(release.after(table, recoded, chosen), release, chosen, met)
        if reached <= 1:
            if local and time_left():
                further = _further(table, replace(class_requirements, factor=factor), budget, recoded, chosen)
                after = release.after(table, *further)
                if _reached(after, release, further[1], False) <= 1:
                    recoded, chosen = further
            return made(recoded, chosen)
        enough = min(factor / reached, 0.99 * factor)
    if local and requirements.excess is not None and not requirements.compared_later:
        raise _excess_error(release.after(table, recoded, chosen), requirements.excess)
    if not local:
        raise RequirementsNotMetError(
            "Generalizing changes what classes are compared with (the distribution of the records "
            "that remain, the baseline of their classes), and no generalization levels were found "
            "that meet the requirements on sensitive attributes.",
            code="closeness-not-met",
            hint="Relax the requirements or set {recoding=local}.",
        )
    search = partial(local_recoding, suppress=False)
    chosen = levels.recoding(within_average_risk(search, weighted, class_requirements, budget).levels)
    return made(recode_rows(rows, cells, first, levels, chosen), chosen)


_Table = tuple[Rows, Cells, Ints, CellLevels, CellLevels]
"""The rows, their cells, a cell of each class, and the levels of these; weighted."""


@dataclass(frozen=True, eq=False)
class _Release:
    """What a release is measured by: its rows, with their people where people are counted."""

    data: Dataset
    persons: Rows | None
    names: Sequence[str]
    requirements: PrivacyRequirements
    distances: Mapping[str, Hierarchy]

    def after(self, table: _Table, recoded: RecodedRows, recoding: Recoding) -> Dataset:
        """The release as it is measured."""
        if not self.requirements.people or self.persons is None:
            return with_rows(self.data, recoded.rows)
        _, cells, first, levels, _ = table
        return with_rows(self.data, recode_rows(self.persons, cells, first, levels, recoding).rows)

    def missed(self, after: Dataset) -> list[tuple[Cells, Flags]]:
        """The classes of a release, and which of them disclose what they may not."""
        requirements, exceeding = self.requirements, []
        if requirements.excess is not None:
            exceeding = [
                attribute.classes_above(requirements.excess, MAX_RATIO)
                for attribute in value_disclosure(after).attributes
            ]
        if requirements.people and requirements.about_values:
            limits = {name: getattr(requirements, name) for name in requirements.values_required}
            recursive = limits.pop("recursive_diversity", None)
            least = {name: limits.pop(name) for name in _AT_LEAST if name in limits}
            strict = after.strict()
            exceeding += classes_exceeding(
                strict, self.names, least=least, most=limits, recursive=recursive, distances=self.distances
            )
        return exceeding


def _sensitive_tables(
    data: Dataset, cells: Cells, persons: Rows | None, names: Sequence[str], sensitive: list[str]
) -> dict[str, Joint]:
    """Each sensitive attribute in the cells: of people where these are counted."""
    counted = data.strict()
    if persons is not None and data.person in persons.names:
        counted = replace(with_rows(data, persons), missing=MissingValues.VALUE)
        return {name: joint_of(counted, name, names) for name in sensitive}
    return {name: joint(replace(cells, missing=MissingValues.VALUE), name, names) for name in sensitive}


def _further(
    table: tuple[Rows, Cells, Ints, CellLevels, CellLevels],
    class_requirements: ClassRequirements,
    budget: int,
    recoded: RecodedRows,
    recoding: Recoding,
) -> tuple[RecodedRows, Recoding]:
    """The local search continued for the time that is left."""
    rows, cells, first, levels, weighted = table
    better = improved(weighted, class_requirements, weighted.recoding(recoding.levels), to_the_end=True)
    better = levels.recoding(better.levels)
    limit = class_requirements.requirements.average_risk
    if better.rows_touched > budget or (
        limit is not None and average_risk(levels, better, class_requirements.people) > limit
    ):
        return recoded, recoding
    return recode_rows(rows, cells, first, levels, better), better


def _excess_error(data: Dataset, limit: float) -> RequirementsNotMetError:
    """The error that names the sensitive attributes whose values would be disclosed."""
    disclosed = [
        attribute.attribute
        for attribute in value_disclosure(data).attributes
        if attribute.classes_above(limit, MAX_RATIO)[1].any()
    ]
    return RequirementsNotMetError(
        f"No recoding was found in which no class discloses a value of {_quoted(disclosed)}, so no "
        "release is returned.",
        code="excess-not-met",
        hint="Raise {excess} or {suppression}, declare values as harmless ({note=harmless}), or "
        "set {excluded}.",
        columns=tuple(disclosed),
        requirements=("excess",),
    )


def _without_disclosure(
    release: _Release,
    table: _Table,
    class_requirements: ClassRequirements,
    budget: int,
    recoded: RecodedRows,
    recoding: Recoding,
) -> tuple[RecodedRows, Recoding, bool]:
    """Recode again what discloses a value, measured by the baseline of the release itself.

    Where people are counted, so are classes that miss what is required of their values: the search
    adds up the people of cells, and who is in several of them counts in each. The search knows the
    baseline of the original classes. Where that of the released ones is lower, less of it is
    granted in the next round, and such classes are merged with others; in the end, or where merged
    classes disclose more, what still discloses one is suppressed. The last part of the result is
    whether nothing discloses one.
    """
    rows, cells, first, levels, weighted = table
    counts = levels.counts
    before: tuple[Recoding, Flags] | None = None
    merge = True
    for turn in range(_MAX_ROUNDS):
        again = _disclosing(release, release.after(table, recoded, recoding), levels, recoding)
        if not again.any():
            return recoded, recoding, True
        if before is not None and counts[again].sum() >= counts[before[1]].sum():
            suppressed = levels.recoding(np.where(before[1][:, None], np.int16(-1), before[0].levels))
            if suppressed.rows_touched <= budget:  # merging disclosed more, so it is not done
                (recoding, again), merge = before, False
        scale = np.where(again, 0.5, 1.0)[:, None]
        rules = tuple(replace(rule, chances=rule.chances * scale) for rule in class_requirements.disclosure)
        class_requirements = replace(class_requirements, disclosure=rules)
        if turn >= _MERGING_ROUNDS and counts[again].sum() > _MAX_DISCLOSING_SHARE * counts.sum():
            break
        candidate, before = (levels.recoding(np.where(again[:, None], np.int16(-1), recoding.levels)), None)
        if merge and (turn < _MERGING_ROUNDS or candidate.rows_touched > budget):
            before = recoding, again
            candidate = levels.recoding(
                with_merged_classes(weighted, class_requirements, recoding.levels, again)
            )
        if candidate.rows_touched > budget:
            break
        recoding = candidate
        recoded = recode_rows(rows, cells, first, levels, recoding)
    return recoded, recoding, False


def _disclosing(release: _Release, after: Dataset, levels: CellLevels, recoding: Recoding) -> Flags:
    """The cells in classes of the release that disclose a value."""
    count = levels.counts.size
    again = np.zeros(count, bool)
    numbers: list[dict[str, int]] = []
    class_codes: list[Ints] = []
    for level_labels, label_index in levels.labels(recoding.levels):
        number: dict[str, int] = {}
        labels = [number.setdefault(_label(label), len(number)) for label in level_labels]
        class_codes.append(np.array(labels, np.int64)[label_index])
        numbers.append(number)
    for classes, above in release.missed(after):
        at = np.flatnonzero(above)
        if not at.size:
            continue
        other_codes = [
            np.array([number.get(_label(value), -1) for value in values.to_pylist()], np.int64)[codes[at]]
            for values, codes, number in zip(classes.values, classes.codes, numbers, strict=True)
        ]
        has_all_codes = np.all([codes >= 0 for codes in other_codes], axis=0)
        both = (
            np.concatenate([cell, code[has_all_codes]])
            for cell, code in zip(class_codes, other_codes, strict=True)
        )
        _, member = group(tuple(both), tuple(map(len, numbers)))
        again |= np.isin(member[:count], member[count:])
    return again & (recoding.levels[:, 0] >= 0)


def _label(value: object) -> str:
    return "" if value is None else as_text(value)


def _reached(data: Dataset, release: _Release, recoding: Recoding, met: bool) -> float:
    """How many times distances to all records and the excess exceed what is required; at most 1 if
    they do not. That the classes are `met` is known already.
    """
    ratios, requirements = [0.0], release.requirements
    limits = requirements.compared_later
    measured_again = recoding.suppressed_records or requirements.people
    if limits and measured_again and not (met and requirements.people):
        required = PrivacyRequirements(people=requirements.people).model_copy(update=limits)
        measured = measure(data, release.names, required, data, release.distances)
        for name, limit in limits.items():
            value = getattr(measured, name) or 0.0
            ratios.append(value / limit if limit else value)
    if requirements.people and requirements.about_values and not met:
        ratios += [1.01 * bool(above.any()) for _, above in release.missed(data)]
    if requirements.excess is not None and not met:
        values = disclosed_values(data)
        if not meets_excess(values, requirements.excess):
            ratios.append(max(1.01, values["excess"] / max(requirements.excess, 1e-9)))
    return max(ratios)


def _originals(data: Dataset, column_plan: ColumnPlan) -> list[Any] | None:
    """The values of a column before its step; None where it has none."""
    if isinstance(column_plan.step, Keep):
        return None
    return data.cells([column_plan.name]).values[0].drop_null().to_pylist()  # type: ignore[no-any-return]


def with_rows(data: Dataset, rows: Rows) -> Dataset:
    """Other rows, with the roles of the columns that are still there."""
    remaining = set(rows.names)
    parts: dict[str, Any] = {
        part: name if (name := getattr(data, part)) in remaining else None for part in SAMPLE_KEYWORDS
    }
    return replace(
        data,
        rows=rows,
        roles={name: role for name, role in data.roles.items() if name in remaining},
        notes={name: note for name, note in data.notes.items() if name in remaining},
        **parts,
    )


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names))
