"""Disclosure of values: each value in each class against its prior and against a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Unpack

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from crypsis.array_types import Flags, Floats, Ints
from crypsis.counting import arrays
from crypsis.counting.estimates import CONFIDENCE
from crypsis.dataset import SAMPLE, Data, Dataset, as_seen, takes_roles
from crypsis.errors import ParameterError, RoleError, TooLargeError
from crypsis.hierarchies import Hierarchy
from crypsis.inference._class_states import (
    MODELED_SHARE,
    NEAR_CERTAIN,
    Baselines,
    ClassStates,
    baselines,
    class_states,
    frequent_bins,
    known_members,
    needs_model,
    sure_share,
)
from crypsis.inference._intervals import Numbers, Windows, sensitive_numbers
from crypsis.inference._states import (
    COMPLEMENTS,
    RARE_SHARE,
    THIS_TABLE,
    Prior,
    States,
    attribute_states,
    reads_as_absent,
    value_prior,
)
from crypsis.inference._value_results import AttributeValues, ValueDisclosure, ValueMeasure, WorstClass
from crypsis.inference.conditional import Joint, joint_columns, joint_of
from crypsis.inference.text_numbers import ReadNumbers, read_numbers
from crypsis.options import Roles

_ORDINARY = ("not zero", "kind", "known", "words", "codes", "below zero")
"""The levels of states that are ordinary in a whole table: most scores are not zero, all are in mg."""
_ZERO_NEIGHBORS = 5
"""The nearest numbers that the frequency of zero is compared with."""
_ZERO_RATIO = 3.0
"""Zero stands out if so many times as many records have it as one of those on average."""


@takes_roles(without=SAMPLE)
def value_disclosure(
    data: Data,
    *,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    confidence: float = CONFIDENCE,
    baseline: bool = True,
    **roles: Unpack[Roles],
) -> ValueDisclosure:
    """What the equivalence classes disclose about each value of the sensitive attributes.

    Parameters
    ----------
    data : Data
        A Dataset, a frame or a path.
    hierarchies : mapping of str to Hierarchy, optional
        Hierarchies of sensitive attributes: values under one node are similar, and a class of
        similar values discloses the node. By default those of the roles file.
    confidence : float
        The confidence level of the lower limits of shares in small classes, one-sided.
    baseline : bool
        Whether the model is fitted; without it the prior is the baseline, which is faster. What is
        near-certain does not depend on it.
    **roles
        See `crypsis.read`.

    Returns
    -------
    ValueDisclosure
        For each sensitive attribute the gain over the prior of the same value, the excess over the
        baseline, both also as ratios, the records of near-certain values, intervals of numbers,
        and what presence in the table discloses.

    Raises
    ------
    TooLargeError
        Where there are too many equivalence classes to count.

    Notes
    -----
    The baseline is what a model predicts for the members of a class from the quasi-identifiers
    without them: a penalized logistic regression on the values of each column, where these have an
    order on intervals, and on pairs of columns where that predicts other classes better. Each class
    is left out by one Newton step, and refitted without it where it decides an effect alone. There is
    no seed and nothing is drawn, so the same table has the same baseline. Missing values are a state
    of their own and equal each other, however the dataset compares them. Harmless values, priors and
    hierarchies are those of the roles file. Cost: one scan and a few fits for each value; all counts
    are exact.

    References
    ----------
    Cao and Karras (2012), beta-likeness; Clopper and Pearson (1934); Begg and Gray (1984),
    individualized logistic regressions; Pregibon (1981), leaving out by one step; Cox (1981), the
    p % rule.

    Examples
    --------
    >>> import pyarrow as pa
    >>> people = pa.table({"zip": ["A"] * 8 + ["B"] * 8, "hiv": ["+"] * 8 + ["-"] * 8})
    >>> found = value_disclosure(people, quasi_identifiers="zip", sensitive="hiv")["hiv"]
    >>> found.gain.value, found.excess.value, found.near_certain
    (0.5, 1.0, 16)
    >>> priors = {"hiv": {"+": 0.002}}
    >>> found = value_disclosure(people, quasi_identifiers="zip", sensitive="hiv", priors=priors)
    >>> found["hiv"].near_certain, found["hiv"].gain.worst.prior
    (8, 0.002)
    """
    if not 0 < confidence < 1:
        raise ParameterError(
            f"Parameter 'confidence' must be between 0 and 1; {confidence} was given.", parameter="confidence"
        )
    dataset = as_seen(data, **roles)
    if not dataset.quasi_identifiers or not dataset.sensitive:
        raise RoleError(
            "Disclosure of values needs quasi-identifiers and sensitive attributes.",
            code="roles-missing",
            hint="Set {quasi_identifiers} and {sensitive}.",
        )
    trees = _hierarchies(dataset, hierarchies or {})
    strict = dataset.strict()
    known_columns = list(strict.quasi_identifiers)
    if len(strict.sensitive) > 1:
        with suppress(TooLargeError):
            strict.cells(joint_columns(strict, [*known_columns, *strict.sensitive]))  # kept by the dataset
    attributes = []
    for name in strict.sensitive:
        table = joint_of(strict, name, known_columns)
        attributes.append(_attribute(strict, name, table, trees.get(name), confidence, baseline))
    return ValueDisclosure(tuple(known_columns), confidence, tuple(attributes))


def _hierarchies(dataset: Dataset, trees: Mapping[str, Hierarchy]) -> dict[str, Hierarchy]:
    wrong = [name for name in trees if name not in dataset.sensitive]
    if wrong:
        raise ParameterError(
            f"Parameter 'hierarchies' has column {wrong[0]!r}, which is not a sensitive attribute.",
            parameter="hierarchies",
            columns=tuple(wrong),
        )
    noted = {
        name: Hierarchy.read(note.hierarchy)
        for name, note in dataset.notes.items()
        if note.hierarchy and name in dataset.sensitive and name not in trees
    }
    return {**noted, **trees}


def _attribute(
    dataset: Dataset, name: str, table: Joint, tree: Hierarchy | None, confidence: float, fitted: bool
) -> AttributeValues:
    """One attribute; a model is fitted, or not."""
    best, note = _Best(table), dataset.notes.get(name)
    prior_sources = note.priors if note else None, _population(dataset, name)
    about = note.harmless if note else (), tree, name
    prior, read = value_prior(table, *prior_sources), read_numbers(table.values)
    levels = attribute_states(table, read, prior, *about)
    for reading, classes in table.readings:
        best.classes = classes
        counts = {
            kind: (variant, attribute_states(variant, read, value_prior(variant, *prior_sources), *about))
            for kind, variant in (("having", reading), ("spread", reading.spread))
            if variant is not None
        }
        _add_reading(best, counts, read, confidence, fitted)
    presence, presence_prior = _presence(table, prior, levels)
    certain = np.flatnonzero(best.certain)
    return AttributeValues(
        attribute=name,
        records=int(table.records.sum()),
        unit="record" if table.people is None else "person",
        classes=int(table.starts.size),
        prior_source=prior.source,
        gain=best.measure("gain"),
        ratio=best.measure("ratio"),
        excess=best.measure("excess"),
        excess_ratio=best.measure("excess_ratio"),
        interval=best.measure("interval") if read.mostly else None,
        near_certain=int(table.records[certain].sum()),
        near_certain_people=_people_in(table, certain),
        near_certain_classes=int(certain.size),
        near_certain_class=best.largest_certain(),
        presence=presence,
        presence_prior=presence_prior,
        not_zero=_not_zero(sensitive_numbers(table, read.numbers, False)) if read.mostly else 0.0,
        presence_stated_public=bool(note and note.public_presence),
        _classes=table.classes,
        _certain=best.certain,
    )


def _people_in(table: Joint, classes: Ints) -> int | None:
    """How many people have records in some classes; None where everybody has one record."""
    if table.people is None:
        return None
    return int(np.unique(table.people.person[np.isin(table.people.member, classes)]).size)


def _add_reading(
    best: _Best,
    readings: Mapping[str, tuple[Joint, Sequence[States]]],
    read: ReadNumbers,
    confidence: float,
    fitted: bool,
) -> None:
    """What a table discloses: by who has a value in any record, and by people spread over theirs."""
    table, levels = readings["having"]
    counted = [class_states(table, level, confidence) for level in levels]
    spread = [
        class_states(table, level, confidence)
        for table, levels in [readings[kind] for kind in readings if kind != "having"]
        for level in levels
    ]
    numbers = read.numbers if read.mostly else None
    classes_needed = [level.member[needs_model(level.sure)] for level in (*counted, *spread)]
    if numbers is None:
        intervals, bins = [], frequent_bins(table, counted[0])
    else:
        ordered = sensitive_numbers(table, numbers, not read.dates)
        harmless = np.isin(ordered.distinct, numbers[levels[0].harmless])
        intervals = [_Known(table, ordered, window, harmless, confidence) for window in ordered.windows()]
        classes_needed += [interval.window.member[needs_model(interval.sure)] for interval in intervals]
        bins = ordered.bins_of(numbers)
    wanted = np.zeros(table.starts.size, bool)
    for classes in classes_needed:
        wanted[classes] = True
    model = baselines(table, np.flatnonzero(wanted), bins, fitted)
    for level_states in counted:
        best.add(level_states, model.of(level_states, needs_model(level_states.sure), people=True))
    for level_states in spread:
        best.add(level_states, model.of(level_states, needs_model(level_states.sure)))
    for interval in intervals:
        best.add_interval(interval, model)


class _Known:
    """The intervals of one width in which a number is known; none of one harmless number."""

    def __init__(
        self, table: Joint, numbers: Numbers, window: Windows, harmless: Any, confidence: float
    ) -> None:
        single = window.last - window.first == 1
        self.numbers, self.window = numbers, window.where(~(single & harmless[window.first]))
        known_sizes, enough = known_members(table)
        member = self.window.member
        self.known_only = enough[member]
        trials = np.where(self.known_only, known_sizes[member], table.sizes[member])
        self.shares = self.window.counts / trials
        self.sure = sure_share(self.window.counts, trials, self.window.prior <= RARE_SHARE, confidence)

    def baseline(self, model: Baselines) -> Floats:
        """What the model predicts; 0 where it was not asked."""
        wanted = needs_model(self.sure)
        chances = np.zeros(self.sure.size)
        windows_wanted = self.window.where(wanted)
        rows = model.rows(windows_wanted.member, self.known_only[wanted])
        chance = self.numbers.predicted(windows_wanted, rows)
        if model.repeats is not None:
            share = self.numbers.share(windows_wanted)
            chance = model.repeats.expected(windows_wanted.member, chance, share, windows_wanted.prior)
        chances[wanted] = chance
        return chances


class _Best:
    """The largest of each measure, class by class, over all levels of states."""

    def __init__(self, table: Joint) -> None:
        self.table = table
        self.classes = np.arange(table.starts.size)
        """The class here of each class of what is added."""
        count = table.starts.size
        self.values = {
            name: np.zeros(count) for name in ("gain", "ratio", "excess", "excess_ratio", "interval")
        }
        self.worst: dict[str, tuple[float, int, WorstClass | None]] = dict.fromkeys(
            self.values, (0.0, 0, None)
        )
        self.certain = np.zeros(count, bool)
        self.certain_class: WorstClass | None = None

    def add(self, class_states: ClassStates, base: Floats) -> None:
        """The states of one level, with their baselines."""
        shares, priors = class_states.shares, class_states.priors
        rate = class_states.sure > MODELED_SHARE  # what is surely unlikely is disclosed at no ratio
        floor = np.maximum(priors, 1e-9)
        measures = {
            "gain": shares - priors,
            "ratio": np.where(rate, class_states.sure / floor, 0.0),
            "excess": class_states.sure - base,
            "excess_ratio": np.where(rate, class_states.sure / np.maximum(base, floor), 0.0),
        }
        for name, values in measures.items():
            self.put(
                name,
                values,
                self.classes[class_states.member],
                shares,
                priors,
                base,
                class_states.states.level,
            )
        self.put_certain(
            class_states.disclosed,
            self.classes[class_states.member],
            shares,
            priors,
            base,
            class_states.states.level,
        )

    def add_interval(self, interval: _Known, model: Baselines) -> None:
        """The intervals of one width."""
        base, prior = interval.baseline(model), interval.window.prior
        member = self.classes[interval.window.member]
        self.put("interval", interval.sure - base, member, interval.shares, prior, base, "interval")
        disclosed = (interval.shares >= NEAR_CERTAIN) & (prior <= RARE_SHARE)
        self.put_certain(disclosed, member, interval.shares, prior, base, "interval")

    def put(
        self,
        name: str,
        values: Floats,
        member: Ints,
        shares: Floats,
        priors: Floats,
        base: Floats,
        level: str,
    ) -> None:
        """Keep what is larger than before."""
        if not values.size:
            return
        np.maximum.at(self.values[name], member, values)
        largest = np.flatnonzero(values == values.max())
        sizes = self.table.sizes[member[largest]]
        position = int(largest[np.argmax(sizes)])
        key = (float(values[position]), int(sizes.max()))
        if key > self.worst[name][:2]:
            where = self._class(position, member, shares, priors, base, level)
            self.worst[name] = (*key, where)

    def put_certain(
        self, certain: Flags, member: Ints, shares: Floats, priors: Floats, base: Floats, level: str
    ) -> None:
        """Mark the classes with a near-certain state."""
        places = np.flatnonzero(certain)
        if not places.size:
            return
        self.certain[member[places]] = True
        position = int(places[np.argmax(self.table.sizes[member[places]])])
        size = 0 if self.certain_class is None else self.certain_class.group.size
        if self.table.sizes[member[position]] > size:
            self.certain_class = self._class(position, member, shares, priors, base, level)

    def _class(
        self, position: int, member: Ints, shares: Floats, priors: Floats, base: Floats, level: str
    ) -> WorstClass:
        group = self.table.classes.group(int(member[position]))
        return WorstClass(
            group, float(shares[position]), float(priors[position]), float(base[position]), level
        )

    def measure(self, name: str) -> ValueMeasure:
        """One of the measures as a result."""
        value, _, where = self.worst[name]
        return ValueMeasure(value, where, self.values[name], self.table.records)

    def largest_certain(self) -> WorstClass | None:
        """The largest class with a near-certain state."""
        return self.certain_class


def _population(dataset: Dataset, name: str) -> tuple[pa.Array, Ints] | None:
    """The attribute in the table of the population, where it has it."""
    people = dataset.population
    if not isinstance(people, Dataset) or name not in people.names:
        return None
    cells = people.cells([name])
    return cells.values[0].take(arrays.places(cells.codes[0])), cells.counts


def _presence(table: Joint, prior: Prior, levels: Sequence[States]) -> tuple[float, float | None]:
    """The largest share in all records of a state that presence discloses, and its prior.

    With a given prior only a share that exceeds it counts. Without, nothing is known of people who
    are not in the table: a value that reads as absence (no, none, negative, 0) counts only if every
    record has it, and that a number is not zero, or that a value is known, does not count.
    """
    is_declared = prior.source != THIS_TABLE
    values = table.values.to_pylist()
    best, its_prior = 0.0, None
    for level in levels:
        if not is_declared and level.level in _ORDINARY:
            continue
        totals, everybody = _having_anywhere(table, level)
        known_people = everybody - (totals[level.missing] if level.missing >= 0 else 0)
        for state in np.flatnonzero(~level.harmless & (totals > 0)):
            trials = everybody if state == level.missing else known_people
            share = float(totals[state] / trials)
            if state == level.missing or share <= best:
                continue
            if is_declared and share - level.prior[state] <= 0.2:
                continue
            absent = level.level == "value" and reads_as_absent(values[int(state)])
            if absent and not is_declared and share < 1:
                continue
            best, its_prior = share, float(level.prior[state]) if is_declared else None
    return best, its_prior


def _having_anywhere(table: Joint, level: States) -> tuple[NDArray[Any], float]:
    """How many of the table have each state, and how many they are.

    Of people those count who have a value in any record; what nearly everybody has who was asked
    often, such as another value than the most frequent one, is counted by their records.
    """
    people, states = table.people, level.prior.size
    if people is None or level.level in COMPLEMENTS:
        totals = np.bincount(level.of_value, table.totals, minlength=states)
        return totals, float(totals.sum())
    whose = people.person[people.pair]
    keys = np.unique(whose * states + level.of_value[table.codes[people.cell]])
    person, state = keys // states, keys % states
    if level.missing >= 0:  # missing is who has no value in any class
        has_other = np.bincount(person, state != level.missing, minlength=int(person.max()) + 1) > 0
        state = state[~((state == level.missing) & has_other[person])]
    totals = np.bincount(state, minlength=states)
    return totals, float(np.unique(person).size)


def _not_zero(numbers: Numbers) -> float:
    """The share of numbers other than zero; 0 unless zero stands out from its neighbors.

    It does where three times as many records have it as the nearest numbers on average: no debts,
    not pregnant. Zero on a scale from 0 to 10 is a number like others.
    """
    zero = np.flatnonzero(numbers.distinct == 0)
    if not zero.size or numbers.distinct.size < 2:
        return 0.0
    zero_index = int(zero[0])
    nearest = np.argsort(np.abs(np.arange(numbers.distinct.size) - zero_index), kind="stable")
    neighbors = numbers.totals[nearest[1 : _ZERO_NEIGHBORS + 1]]
    if numbers.totals[zero_index] < _ZERO_RATIO * neighbors.mean():
        return 0.0
    return float(1 - numbers.totals[zero_index] / numbers.totals.sum())
