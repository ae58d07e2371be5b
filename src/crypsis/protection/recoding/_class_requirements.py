"""What every class must meet: its size, its sensitive values, its people of the population."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

import numpy as np

from crypsis.array_types import Flags, Floats, Ints
from crypsis.counting.cells import Cells
from crypsis.counting.grouping import group
from crypsis.counting.match_probability import check_weights
from crypsis.hierarchies import Hierarchy
from crypsis.inference.conditional import Joint
from crypsis.inference.rules import MAX_RATIO, DisclosureRules
from crypsis.protection._requirements import PrivacyRequirements
from crypsis.protection.recoding._levels import CellLevels
from crypsis.protection.recoding._population import PopulationCells
from crypsis.protection.recoding.kernels import requirements as kernel
from crypsis.scientific import special
from crypsis.tables import Rows

MAX_VALUES = 1_000
"""A search merges neighboring values of a sensitive attribute until it has so many."""
_MAX_MERGED_SHARE = 0.02
"""Values are not merged if one of them would then be more common."""


@dataclass(frozen=True, eq=False)
class SensitiveColumn:
    """A sensitive column over cells: cell `cell[e]` has `count[e]` rows with the value `code[e]`.

    The last value is the missing one if `missing`. In a hierarchy `nodes[l]` are the nodes of the
    values on level l.
    """

    cell: Ints
    code: Ints
    count: Ints
    values: int
    ordered: bool
    missing: bool = False
    nodes: Ints | None = None
    released: Flags | None = None
    """The cells whose rows are those that classes are compared with; all if it is not set."""

    @property
    def kind(self) -> int:
        """How far values are apart, as the kernels take it."""
        if self.nodes is not None:
            return len(self.nodes) - 1
        return kernel.ORDERED if self.ordered else 1

    @property
    def shares(self) -> Floats:
        """The share of each value in all rows that classes are compared with."""
        count = self.count if self.released is None else self.count * self.released[self.cell]
        rows = np.bincount(self.code, count, self.values).astype(np.float64)
        return np.asarray(rows / max(1.0, rows.sum()))

    def merged(self) -> SensitiveColumn:
        """The column with neighboring values merged, so that at most `MAX_VALUES` are left.

        A class has at most as many different values as before. With B values left, its earth
        mover's distance among ordered values is at most 2 / B more than what is counted after: cumulated
        shares differ from those at the end of a merged value by no more than its own share.
        """
        value_count = self.values - self.missing
        if value_count <= MAX_VALUES or self.nodes is not None:
            return self
        to = np.append(np.arange(value_count) * MAX_VALUES // value_count, MAX_VALUES)
        coarser = replace(self, code=to[self.code], values=MAX_VALUES + self.missing)
        return self if coarser.shares[:MAX_VALUES].max() > _MAX_MERGED_SHARE else coarser


@dataclass(frozen=True, eq=False)
class PeopleOfCells:
    """Who is in each cell: `people[first[c]:first[c + 1]]`.

    `counted` are those who are counted in a cell, each in the smallest of their own: any cells have
    at least as many people together as are counted in them. `matches` are the people of the
    population whom those represent, each by the least of their weights.
    """

    first: Ints
    people: Ints
    counted: Ints
    members: Ints
    """All people of each cell, and the records there without a person."""
    matches: Floats | None = None

    @classmethod
    def of(cls, rows: Rows, names: Sequence[str], person: str, weight: str | None = None) -> PeopleOfCells:
        """From rows with the columns of the cells, that of the person and that of the weights."""
        columns = [*names, person]
        person_cells = Cells.from_table(rows.cells(columns, weight=weight), columns)
        firsts, member = group(person_cells.codes[:-1], person_cells.domains[:-1])
        cells = firsts.size
        has_person = person_cells.codes[-1] != person_cells.missing_codes[-1]
        times = np.where(has_person, 1, person_cells.counts)
        members = np.bincount(member, times, cells).astype(np.int64)
        member, who = member[has_person], person_cells.codes[-1][has_person].astype(np.int64)
        sizes = np.bincount(member, minlength=cells)
        order = np.lexsort((member, sizes[member], who))
        starts = np.flatnonzero(np.diff(who[order], prepend=-1))
        counted = np.bincount(member[order[starts]], minlength=cells).astype(np.int64)
        matches = None
        if weight is not None:
            check_weights(person_cells)
            each = (np.asarray(person_cells.weights) / person_cells.counts)[has_person][order]
            least = np.minimum.reduceat(each, starts) if starts.size else each
            matches = np.asarray(np.bincount(member[order[starts]], least, cells), np.float64)
        by_cell = np.argsort(member, kind="stable")
        first = np.searchsorted(member[by_cell], np.arange(cells + 1))
        return cls(first.astype(np.int64), who[by_cell], counted, members, matches)

    def first_of(self, cells: int) -> Ints:
        """The first person of each cell; those behind the cells of the release have none."""
        return np.pad(self.first, (0, cells + 1 - self.first.size), mode="edge")


@dataclass(frozen=True, eq=False)
class ClassRequirements:
    """Requirements on every class, with the sensitive columns they refer to.

    The union of classes that meet them meets them too (Machanavajjhala et al. 2007, Li et al.
    2007), so classes whose labels turn out equal do no harm.
    """

    requirements: PrivacyRequirements
    sensitive: tuple[SensitiveColumn, ...] = ()
    factor: float = 1.0
    """Which part of the closeness and of the excess that are required the search allows itself."""
    disclosure: tuple[DisclosureRules, ...] = ()
    """For each sensitive column, where an excess is required."""
    people: PeopleOfCells | None = None
    """Who is in each cell, where k is of people. `sensitive` and `disclosure` count them, too."""
    population: PopulationCells | None = None
    """The people of the population, where something is required against it."""
    matches: Floats | None = None
    """At least how many people of the population match each cell, where a risk is required."""
    fewest_matches: float = 0.0
    """How many of them a class needs."""

    @property
    def k(self) -> int:
        """The smallest class allowed."""
        return self.requirements.k or 1

    @property
    def sizes_only(self) -> bool:
        """Whether nothing but the size of a class is required."""
        return (
            not self.requirements.about_sensitive
            and self.people is None
            and self.population is None
            and self.matches is None
        )

    def compared_with(self, released: Flags) -> ClassRequirements:
        """The same, with the distances of classes to the rows of these cells alone."""
        columns = tuple(replace(column, released=released) for column in self.sensitive)
        return replace(self, sensitive=columns, factor=1.0)

    def wider(self, cells: CellLevels) -> CellLevels:
        """The cells with those behind them that have people of the population and no records."""
        return cells if self.population is None else self.population.wider(cells)

    def arrays(self, cells: int) -> tuple[Any, ...] | None:
        """The sensitive columns and their requirements, as the kernels take them.

        None if nothing but the size of a class is required.
        """
        if self.sizes_only:
            return None
        columns = self._counted_columns
        edges = np.cumsum([0, *(column.values for column in columns)])
        rules = _flat_rules(self.disclosure, self.factor * (self.requirements.excess or 0.0))
        parts = [
            (column.cell, column.code + edge, column.count.astype(np.float64))
            for column, edge in zip(columns, edges, strict=False)
        ]
        parts += self._disclosure_entries(int(edges[-1]), rules)
        first, people, *counted = self._counted(cells)
        last = int(edges[-1] + rules[0][-1] + rules[1][-1])
        for number in (counts for counts in counted if counts is not None):
            parts.append((np.arange(number.size), np.full(number.size, last), number))
            last += 1
        owner, values, rows = (np.concatenate([np.zeros(0), *(part[i] for part in parts)]) for i in range(3))
        order = np.argsort(owner, kind="stable")
        return (
            np.searchsorted(owner[order], np.arange(cells + 1)),
            values[order].astype(np.int64),
            rows[order],
            edges.astype(np.int64),
            np.array([column.kind for column in columns], np.int64),
            np.array([column.missing for column in columns], bool),
            np.concatenate([np.zeros(0), *(column.shares for column in columns)]),
            self._limits(),
            rules,
            first,
            people,
            _flat_nodes(columns, edges),
        )

    @cached_property
    def _counted_columns(self) -> tuple[SensitiveColumn, ...]:
        """The columns of which values are counted; merged values where that is sound, and faster."""
        requirements = self.requirements
        if not requirements.about_values:
            return ()
        only = requirements.values_required <= {"closeness", "diversity"} and not self.disclosure
        return tuple(
            column.merged() if only and (column.ordered or requirements.closeness is None) else column
            for column in self.sensitive
        )

    @property
    def _closeness(self) -> float | None:
        """The closeness that the search requires: less if distances are of merged values."""
        required, pairs = self.requirements, zip(self._counted_columns, self.sensitive, strict=False)
        if required.closeness is None or all(counted is original for counted, original in pairs):
            return required.closeness
        return max(required.closeness - 2 / MAX_VALUES, required.closeness / 2)

    def _counted(self, cells: int) -> tuple[Ints, Ints, *tuple[Floats | None, ...]]:
        """Who is in each cell, how many of them are counted there, all, and of the population.

        The counts are at most what any cells have together, so sums are safe.
        """
        matches = self.matches if self.population is None else self.population.every[:cells]
        if self.people is None:
            return np.zeros(cells + 1, np.int64), np.zeros(0, np.int64), matches
        counted, members = (
            values.astype(np.float64) for values in (self.people.counted, self.people.members)
        )
        return self.people.first_of(cells), self.people.people, counted, members, matches

    def _disclosure_entries(self, start: int, rules: Any) -> list[tuple[Any, Any, Any]]:
        """The rows of each cell in each slot, and those that the model expects in each bin."""
        slot_edges, bin_edges = rules[0], rules[1]
        entries = []
        for a, rule in enumerate(self.disclosure):
            slots = start + slot_edges[a] + rule.slot_of[rule.code]
            entries.append((rule.cell, slots, rule.count.astype(np.float64)))
            cells, bins = rule.chances.shape
            rows = np.bincount(rule.cell, rule.count, minlength=cells)
            at = start + slot_edges[-1] + bin_edges[a] + np.arange(bins)
            expected = (rows[:, None] * rule.chances).ravel()
            entries.append((np.repeat(np.arange(cells), bins), np.tile(at, cells), expected))
        return entries

    def _limits(self) -> Floats:
        limits = np.full(kernel.LIMITS, -1.0)
        requirements = self.requirements
        factor, places = requirements.recursive_diversity or (None, None)
        for position, limit in (
            (kernel.DISTINCT, requirements.diversity),
            (kernel.ENTROPY, self._more_than(requirements.entropy_diversity)),
            (kernel.RECURSIVE_C, factor),
            (kernel.RECURSIVE_L, places),
            (kernel.CLOSENESS, self._part_of(self._closeness)),
            (
                kernel.BEST_GUESS,
                requirements.best_guess if self.people is None else self._part_of(requirements.best_guess),
            ),
            (kernel.PEOPLE, None if self.people is None else self.k),
            (kernel.LIKENESS, self._part_of(requirements.beta_likeness)),
            (kernel.DISCLOSURE, self._part_of(requirements.delta_disclosure)),
            (kernel.MAP, requirements.k_map if self.matches is None else self.fewest_matches),
            (kernel.PRESENCE, requirements.presence),
        ):
            if limit is not None:
                limits[position] = limit
        return limits

    def _more_than(self, limit: float | None) -> float | None:
        """More than a class needs, where people of several cells are counted in each."""
        return limit if limit is None or self.people is None else limit / self.factor

    def _part_of(self, limit: float | None) -> float | None:
        """The part of a limit that the search requires, because the release is compared later."""
        return None if limit is None else self.factor * limit


def sensitive_columns(
    tables: Mapping[str, Joint], rows: Rows, distances: Mapping[str, Hierarchy] | None = None
) -> tuple[SensitiveColumn, ...]:
    """Sensitive columns counted in cells; a person counts by one value.

    `distances` are the hierarchies by which values are far apart.
    """
    attributes = []
    for name, table in tables.items():
        values, once = table.values, table.by_one_value
        tree = (distances or {}).get(name)
        nodes = None if tree is None else tree.nodes(values.to_pylist(), name)
        attributes.append(
            SensitiveColumn(
                once.member,
                once.codes.astype(np.int64),
                once.counts,
                len(values),
                rows.column(name).kind.ordered,
                len(values) > 0 and not values[-1].is_valid,
                nodes,
            )
        )
    return tuple(attributes)


def grouped_cells(cells: Cells, columns: int) -> tuple[Ints, Ints, Ints]:
    """The first `columns` of the cells grouped: a cell for each group, each cell's group, rows."""
    first, member = group(cells.codes[:columns], cells.domains[:columns])
    rows = np.zeros(first.size, np.int64)
    np.add.at(rows, member, cells.counts)
    return first, member, rows


def _flat_nodes(columns: Sequence[SensitiveColumn], edges: Ints) -> Ints:
    """The nodes of all values on each level, zero where a hierarchy has fewer levels."""
    height = max([1, *(column.kind for column in columns)])
    flat = np.zeros((height + 1, int(edges[-1])), np.int64)
    for attribute, edge in zip(columns, edges, strict=False):
        if attribute.nodes is not None:
            flat[: len(attribute.nodes), edge : edge + attribute.values] = attribute.nodes
    return flat


def _flat_rules(rules: Sequence[DisclosureRules], excess: float) -> tuple[Any, ...]:
    """The rules of all attributes in arrays, as `kernels.disclosure` takes them."""
    slots = np.cumsum([0, *(rule.bin_of.size for rule in rules)])
    bins = np.cumsum([0, *(rule.chances.shape[1] for rule in rules)])
    levels = [level for rule in rules for level in rule.states]
    kinds = np.cumsum([0, *(len(rule.windows) for rule in rules)])
    windows = np.zeros((int(kinds[-1]), int(slots[-1])), np.int64)
    missing = np.full((len(rules), 2), -1, np.int64)
    for a, disclosure_rules in enumerate(rules):
        windows[kinds[a] : kinds[a + 1], slots[a] : slots[a + 1]] = [
            window + slots[a] for window in disclosure_rules.windows
        ] or 0
        if disclosure_rules.missing >= 0:
            missing[a] = slots[a] + disclosure_rules.missing, bins[a] + disclosure_rules.missing_bin
    about = [np.column_stack([level.prior, level.rare, level.harmless, level.of_all]) for level in levels]
    return (
        slots,
        bins,
        np.cumsum([0, *(len(rule.states) for rule in rules)]),
        np.cumsum([0, *(level.prior.size for level in levels)]),
        kinds,
        missing,
        _joined([rule.bin_of + bins[a] for a, rule in enumerate(rules)], np.int64),
        _joined([rule.within for rule in rules], np.float64),
        _joined([level.of_slot for level in levels], np.int64),
        np.cumsum([0, *(level.of_slot.size for level in levels)]),
        np.concatenate([np.zeros((0, 4)), *about]),
        windows,
        np.concatenate([np.zeros((0, 2)), *(np.column_stack([rule.harmless, rule.prior]) for rule in rules)]),
        _lower_limits(),
        np.array([excess, MAX_RATIO]),
    )


def _joined(parts: Sequence[Any], kind: Any) -> Any:
    return np.concatenate([np.zeros(0, kind), *parts]).astype(kind)


@cache
def _lower_limits(most: int = 100) -> Floats:
    """The lower limit of x of n at 95 %, one-sided (Clopper and Pearson 1934), for n up to 100."""
    n, x = np.mgrid[: most + 1, : most + 1]
    inner = (x > 0) & (x <= n)
    lower = np.zeros(n.shape)
    lower[inner] = special.betaincinv(x[inner], n[inner] - x[inner] + 1, 0.05)
    return lower
