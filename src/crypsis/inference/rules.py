"""The disclosure of values as rules for a search: what groups of classes may not share.

`value_disclosure` measures classes that are there. A search that makes classes asks the same of
many groups; here is all that it needs of one sensitive attribute, in arrays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from crypsis.array_types import Flags, Floats, Ints
from crypsis.counting.cells import Cells
from crypsis.dataset import Dataset
from crypsis.hierarchies import Hierarchy
from crypsis.inference._attribute_disclosure import AttributeCounts
from crypsis.inference._class_states import baselines, class_states, frequent_bins
from crypsis.inference._closeness import ground_distances
from crypsis.inference._intervals import INTERVAL_WIDTH, Numbers, sensitive_numbers
from crypsis.inference._states import States, attribute_states, value_prior
from crypsis.inference.conditional import Joint, joint_of
from crypsis.inference.text_numbers import read_numbers

MAX_RATIO = 30.0
"""A value may become so many times likelier than its baseline."""
_MAX_NUMBERS = 400
"""More distinct numbers are grouped into narrow intervals."""
_FREQUENT_SHARE = 0.005
"""A number that so many of the records have is an interval of its own."""


@dataclass(frozen=True, eq=False)
class StateRules:
    """The states of one level: the state of each slot, and what is known of each state."""

    of_slot: Ints
    prior: Floats
    rare: Flags
    harmless: Flags
    of_all: Flags
    """The states that are shares of all rows of a class, not of those with a known value."""


@dataclass(frozen=True, eq=False)
class DisclosureRules:
    """One attribute. A slot is a value, or an interval of a number that has many values."""

    cell: Ints
    """The class of each entry: so many of it, records or people, have a value."""
    code: Ints
    count: Ints
    slot_of: Ints
    """The slot of each value."""
    prior: Floats
    """The share of each slot in all records."""
    bin_of: Ints
    """The bin of each slot that the model predicts."""
    within: Floats
    """The share of each slot among the records of its bin."""
    chances: Floats
    """The predicted probability of each bin (columns) in each class (rows), without the class."""
    missing: int
    """The slot of missing values; -1 if there are none."""
    missing_bin: int
    states: tuple[StateRules, ...]
    windows: tuple[Ints, ...]
    """For each slot where the interval that begins there ends; none unless these are numbers."""
    harmless: Flags
    """The slots that may become known."""


def disclosure_rules(dataset: Dataset, table: Joint, name: str) -> DisclosureRules:
    """The rules of one sensitive attribute, counted in classes.

    The rows of `chances` are in the order of the classes.
    """
    note = dataset.notes.get(name)
    tree = Hierarchy.read(note.hierarchy) if note and note.hierarchy else None
    prior = value_prior(table, note.priors if note else None, None)
    read = read_numbers(table.values)
    levels = attribute_states(table, read, prior, note.harmless if note else (), tree, name)
    numbers = read.numbers if read.mostly else None
    if numbers is None:
        bins = frequent_bins(table, class_states(table, levels[0], 0.95))
        slot_of, order = np.arange(len(table.values)), None
    else:
        order = sensitive_numbers(table, numbers, not read.dates)
        bins = order.bins_of(numbers)
        slot_of = _slots(table, numbers, order, levels[0], bins)
    all_classes = np.arange(table.starts.size)
    model = baselines(table, all_classes, bins, True)
    count = int(slot_of.max()) + 1
    first = np.zeros(count, np.int64)
    first[slot_of[::-1]] = np.arange(slot_of.size)[::-1]
    missing = -1 if table.values[-1].is_valid else int(slot_of[-1])
    grouped = count < slot_of.size
    return DisclosureRules(
        cell=table.member,
        code=table.codes.astype(np.int64),
        count=table.counts,
        slot_of=slot_of,
        prior=_sums(slot_of, table.prior, count),
        bin_of=bins[first],
        within=_sums(slot_of, model.within, count),
        chances=model.chances,
        missing=missing,
        missing_bin=model.missing,
        states=tuple(
            _states(level, slot_of, first) for level in levels if not (grouped and level.level == "group")
        ),
        windows=() if order is None or numbers is None else _windows(order, numbers, slot_of),
        harmless=levels[0].harmless[first],
    )


def classes_exceeding(
    dataset: Dataset,
    names: Sequence[str],
    *,
    least: Mapping[str, float],
    most: Mapping[str, float],
    recursive: tuple[float, int] | None,
    distances: Mapping[str, Hierarchy],
) -> list[tuple[Cells, Flags]]:
    """The classes of each sensitive attribute, and which of them miss a requirement on its values.

    `least` and `most` are the limits of measures of a class, by the name of the requirement.
    """
    sensitive_trees = {name: tree for name, tree in distances.items() if name in dataset.sensitive}
    ground, classes_above = ground_distances(dataset, sensitive_trees), []
    for name in dataset.sensitive:
        table = joint_of(dataset, name, names)
        counts = AttributeCounts(name, table)
        above = counts.classes_exceeding(least, most, recursive, ground[name])
        classes_above.append((table.classes, above))
    return classes_above


def _sums(slot_of: Ints, shares: Floats, count: int) -> Floats:
    return np.asarray(np.bincount(slot_of, shares, minlength=count), np.float64)


def _states(level: States, slot_of: Ints, first: Ints) -> StateRules:
    """The states of a level by slot; where slots are intervals, a state each."""
    if level.level != "value" or first.size == slot_of.size:
        return StateRules(level.of_value[first], level.prior, level.rare, level.harmless, level.of_all)
    prior = _sums(slot_of, level.prior, first.size)
    rare, harmless, of_all = (flags[first] for flags in (level.rare, level.harmless, level.of_all))
    return StateRules(np.arange(first.size), prior, rare, harmless, of_all)


def _slots(table: Joint, numbers: Floats, order: Numbers, single: States, bins: Ints) -> Ints:
    """The slot of each value, in the order of the numbers; values that are none come last.

    Many numbers are grouped into intervals so narrow that those of `windows` are hardly wider. A
    frequent number, zero, a harmless one, and one at the edge of a bin have slots of their own.
    """
    rank = np.lexsort((np.arange(numbers.size), numbers))  # NaN is last
    sorted_numbers = numbers[rank]
    present = int(np.count_nonzero(~np.isnan(numbers)))
    new = np.ones(numbers.size, bool)
    if present > _MAX_NUMBERS:
        shares = table.prior[rank]
        alone = (shares >= _FREQUENT_SHARE) | single.harmless[rank] | (sorted_numbers == 0)
        edge = np.diff(bins[rank], prepend=-1) != 0
        upto = np.cumsum(order.totals) / order.totals.sum()
        low, high = (order.distinct[np.searchsorted(upto, part)] for part in (0.05, 0.95))
        width = INTERVAL_WIDTH * (high - low) / 4
        start = -np.inf
        for i in range(present):
            number = sorted_numbers[i]
            step = min(width, 0.01 * abs(start)) if order.relative else width
            new[i] = edge[i] or alone[i] or (i > 0 and alone[i - 1]) or number - start > step
            start = number if new[i] else start
    slot_of = np.empty(numbers.size, np.int64)
    slot_of[rank] = np.cumsum(new) - 1
    return slot_of


def _windows(order: Numbers, numbers: Floats, slot_of: Ints) -> tuple[Ints, ...]:
    """For each slot and each kind of interval the slot where it ends, exclusively."""
    is_number = ~np.isnan(numbers)
    count = int(slot_of.max()) + 1
    slot = np.full(order.distinct.size, -1, np.int64)
    slot[np.searchsorted(order.distinct, numbers[is_number])] = slot_of[is_number]
    last = int(slot.max()) + 1
    sums = []
    for ends in order.widths():
        end = np.append(slot, last)[ends]
        by_slot = np.arange(count)  # what is not a number begins no interval
        np.maximum.at(by_slot, slot, end)
        sums.append(by_slot)
    return tuple(sums)
