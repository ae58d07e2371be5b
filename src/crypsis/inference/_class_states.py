"""Each state in each class: its share, how sure it is, and its baseline."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crypsis.array_types import Flags, Floats, Ints
from crypsis.counting.arrays import sums_of
from crypsis.counting.grouping import sorted_values
from crypsis.inference._baseline import baseline
from crypsis.inference._people import Repeats
from crypsis.inference._states import States
from crypsis.inference.conditional import Joint
from crypsis.scientific import special

NEAR_CERTAIN = 0.9
"""A state that so many members of a class share is known of each of them."""
MODELED_SHARE = 0.1
"""A state whose share may be below this needs no model: all of it counts as excess."""
_MAX_MODELED_VALUES = 8
"""So many values are modeled one by one, the others together."""


@dataclass(frozen=True, eq=False)
class ClassStates:
    """The states that occur in each class and are not harmless."""

    states: States
    member: Ints
    state: Ints
    counts: Ints
    trials: Ints
    """The members of the class that can have the state: those whose value is known, or all."""
    known_only: Flags
    """Whether these are the members whose value is known."""
    sure: Floats
    """The share: itself where a rare or declared state is near-certain, else its lower limit."""

    @property
    def shares(self) -> Floats:
        """The share of the state in the class."""
        return self.counts / self.trials

    @property
    def priors(self) -> Floats:
        """The prior of each cell's state."""
        return self.states.prior[self.state]

    @property
    def disclosed(self) -> Flags:
        """Where a rare or declared state is near-certain: nothing excuses that."""
        return (self.shares >= NEAR_CERTAIN) & self.states.rare[self.state]


def sure_share(counts: Ints, trials: Ints, rare: Flags, confidence: float) -> Floats:
    """The share that is not due to the size of the class.

    That is the lower confidence limit of the share (Clopper and Pearson 1934, one-sided): of five
    people all share what most people have by chance. Where nearly all members share a rare or
    declared state it is known of each of them, and that is not an estimate.
    """
    share = counts / trials
    width = int(trials.max(initial=0)) + 1  # few pairs of counts are different
    pairs, inverse = sorted_values(counts * width + trials)
    count, trial = pairs // width, pairs % width
    lower = special.betaincinv(count, trial - count + 1, 1 - confidence)[inverse]
    return np.where(rare & (share >= NEAR_CERTAIN), share, lower)


def class_states(table: Joint, states: States, confidence: float) -> ClassStates:
    """Count the states in each class.

    The share of a state is that among the members whose value is known, so that missing values
    hide nothing; but if more than half are missing, that among all.
    """
    member, state, counts = table.having(states.of_value, int(states.of_value.max()) + 1)
    known_sizes, enough = known_members(table)
    known_only = enough[member] & ~states.of_all[state]
    trials = np.where(known_only, known_sizes[member], table.sizes[member])
    kept = ~states.harmless[state]
    member, state, counts = member[kept], state[kept], counts[kept]
    trials, known_only = trials[kept], known_only[kept]
    sure = sure_share(counts, trials, states.rare[state], confidence)
    return ClassStates(states, member, state, counts, trials, known_only, sure)


def known_members(table: Joint) -> tuple[Ints, Flags]:
    """The members of each class whose value is known, and whether they are at least half."""
    sizes = table.sizes
    if len(table.values) and not table.values[-1].is_valid:
        empty = table.codes == len(table.values) - 1
        lost = np.bincount(table.member[empty], table.counts[empty], minlength=sizes.size)
        sizes = sizes - lost.astype(np.int64)
    return sizes, (2 * sizes >= table.sizes) & (sizes > 0)


@dataclass(frozen=True, eq=False)
class Baselines:
    """The baseline of every state in the classes asked for, from one model of bins of values."""

    wanted: Ints
    """The classes, in ascending order."""
    chances: Floats
    """The predicted probability of each bin (columns) in each class (rows)."""
    within: Floats
    """The share of each value among the records of its bin."""
    bin_of: Ints
    """The bin of each value."""
    missing: int
    """The bin of missing values; -1 if there are none."""
    table: Joint
    """The table that it is fitted to."""
    repeats: Repeats | None
    """What several records of people make of it: the model predicts one record."""

    def rows(self, member: Ints, known_only: Flags) -> Floats:
        """The predicted bins of some classes, given that the value is known where that is asked."""
        chances = self.chances[np.searchsorted(self.wanted, member)]
        if self.missing >= 0:
            known_chances = np.where(known_only, 1 - chances[:, self.missing], 1.0)
            chances = np.minimum(chances / np.maximum(known_chances, 1e-9)[:, None], 1.0)
        return chances

    def of(self, class_states: ClassStates, wanted: Flags, *, people: bool = False) -> Floats:
        """The baseline of each state in each class; 0 where it is not asked for.

        With `people` that to have the state in any record, otherwise in one.
        """
        states = class_states.states
        weight = np.zeros((self.chances.shape[1], states.prior.size))
        np.add.at(weight, (self.bin_of, states.of_value), self.within)
        rows = self.rows(class_states.member[wanted], class_states.known_only[wanted])
        chance = (rows * weight.T[class_states.state[wanted]]).sum(axis=1)
        if people and self.repeats is not None:
            count, state = states.prior.size, class_states.state[wanted]
            share = sums_of(states.of_value, self.table.prior, count)[state]
            having = self.table.prior_having(states.of_value, count)[state]
            chance = self.repeats.expected(class_states.member[wanted], chance, share, having)
        result = np.zeros(class_states.member.size)
        result[wanted] = chance
        return result


def needs_model(sure: Floats) -> Flags:
    """Which shares are not surely small."""
    return np.asarray(sure > MODELED_SHARE)


def baselines(table: Joint, wanted: Ints, bins: Ints, fitted: bool) -> Baselines:
    """Fit the baseline of an attribute for the classes wanted; `bins` is the bin of each value.

    Unless it is to be fitted it is the share in all records.
    """
    count = int(bins.max()) + 1
    totals = sums_of(bins, table.totals, count)
    chances: Floats = np.zeros((0, count))
    if wanted.size and fitted:
        state = bins[table.codes]
        chances = baseline(table.classes, table.member, state, table.in_table, count, wanted)
    elif wanted.size:
        chances = np.tile(totals / totals.sum(), (wanted.size, 1))
    missing = int(bins[-1]) if len(table.values) and not table.values[-1].is_valid else -1
    within = table.totals / np.maximum(totals, 1e-300)[bins]
    repeats = None if table.people is None else Repeats.of(table.people)
    return Baselines(wanted, chances, within, bins, missing, table, repeats)


def frequent_bins(table: Joint, single: ClassStates) -> Ints:
    """A bin for each value that decides most classes, one for missing, and one for all others."""
    wanted = needs_model(single.sure)
    weight = sums_of(single.state[wanted], single.counts[wanted], len(table.values)) + table.prior
    bins = np.full(weight.size, _MAX_MODELED_VALUES)
    first = np.argsort(-weight, kind="stable")[:_MAX_MODELED_VALUES]
    bins[first] = np.arange(first.size)
    if not table.values[-1].is_valid:
        bins[-1] = _MAX_MODELED_VALUES + 1
    return np.unique(bins, return_inverse=True)[1].astype(np.int64)
