"""Sensitive values of a person that are inferred from other records of the same person."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Unpack

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from crypsis import progress
from crypsis.array_types import Floats, Ints
from crypsis.counting.cells import Cells
from crypsis.counting.estimates import mean_estimate, share_estimate
from crypsis.dataset import SAMPLE, Data, Dataset, as_columns, as_dataset, takes_roles
from crypsis.errors import ParameterError
from crypsis.histories.events import (
    Histories,
    Knowledge,
    as_knowledge,
    checked_events,
    checked_order,
    event_columns,
    histories_in,
    history_cells,
    person_of,
    tolerance_rules,
)
from crypsis.histories.tolerance import Tolerances
from crypsis.options import Columns, Roles
from crypsis.results import Number, Result, percent_text

_CERTAIN_SHARE = 0.9
"""From this share of the matching histories on a value is nearly certain."""
_COMMON_SHARE = 0.5
"""A value that more of the people have discloses nothing."""
_DRAWN = "draws of a sensitive value and of known records"
_MAX_CHOICES = 300_000
"""About so many choices of events are counted; of more some are drawn."""
_MAX_COMPARED_EVENTS = 20_000_000
"""About so many events are compared with those choices; of more choices some are drawn."""


class HistoryDisclosure(Result):
    """What an intruder who knows m records of a person infers of a sensitive attribute."""

    target: str
    person: str
    columns: tuple[str, ...]
    """What is known of a record."""
    knowledge: str
    tolerance: tuple[tuple[str, str], ...]
    people: int
    holders: int
    """The people with a value of the target that at most half of the people have."""
    pairs: int
    """The pairs of a person and a sensitive value."""
    events: tuple[int, ...]
    """The numbers m of known records."""
    inferred: tuple[Number, ...]
    """The share of these pairs that are nearly certain: at least 90 % of the people whose records
    match have the value."""
    confidence: tuple[Number, ...]
    """The mean share of the people whose records match that have the value."""
    baseline: float
    """The mean share of all people that have the value: what is known without other records."""
    worst: tuple[float, ...]
    """Of the value that is nearly certain most often the share of those who have it, for each m."""
    worst_holders: tuple[int, ...]
    """How many people have that value."""

    def at(self, events: int) -> Number:
        """The share of sensitive values that so many known records make nearly certain."""
        if events not in self.events:
            raise ParameterError(
                f"The curve has {', '.join(map(str, self.events))} events; {events} was given.",
                parameter="events",
            )
        return self.inferred[self.events.index(events)]

    def text_at(self, events: int, *, unit: str = "person") -> str:
        """What an intruder with so many records infers, in a sentence."""
        index = self.events.index(events)
        what = f"{events} {'record' if events == 1 else 'records'} of a {unit}"
        text = (
            f"Anyone who knows {what} infers {self.target!r} almost certainly in "
            f"{percent_text(self.at(events))} of cases. On average {percent_text(self.confidence[index])} "
            f"of the people who match have the value, of all people {percent_text(self.baseline)} "
            f"({self.pairs:,} values, of which each is that of at most half of the people)."
        )
        if self.worst[index] > float(self.at(events)):
            text += (
                f" One value, which {self.worst_holders[index]:,} people have, is inferred in "
                f"{percent_text(self.worst[index])} of cases."
            )
        return text

    def __str__(self) -> str:
        lines = [
            f"Inference of {self.target!r} from records of {self.people:,} people in "
            f"{', '.join(self.columns)} (knowledge: {self.knowledge})",
            f"  {self.pairs:,} sensitive values of {self.holders:,} people; without records: "
            f"{percent_text(self.baseline)} on average",
        ]
        for events, share, mean in zip(self.events, self.inferred, self.confidence, strict=True):
            noun = "record " if events == 1 else "records"
            lines.append(
                f"  {events} known {noun}  {percent_text(share)} almost certain, "
                f"{percent_text(mean)} on average"
            )
        return "\n".join(lines)


@takes_roles(without=SAMPLE)
def history_disclosure(
    data: Data,
    target: str,
    columns: Columns | None = None,
    *,
    events: int | Sequence[int] = 6,
    knowledge: Knowledge | str = Knowledge.SET,
    order: str | None = None,
    tolerance: Tolerances | None = None,
    exact: bool | None = None,
    draws: int = 4_000,
    confidence: float = 0.95,
    seed: int = 0,
    **roles: Unpack[Roles],
) -> HistoryDisclosure:
    """Infer a sensitive value of a person, such as a rare diagnosis, from other records of theirs.

    Parameters
    ----------
    data : Dataset, frame or path
        The data, with `person`: the column by which the records of a person can be linked.
    target : str
        The column with the sensitive values.
    columns : str or sequence of str, optional
        What is known of a record; by default all released columns that an intruder may know,
        without sensitive attributes. If the target is one of them, its values in other records are
        known, and records with the sensitive value are not.
    events : int or sequence of int
        The largest number of known records, the curve then has 1 to so many; or the numbers.
    knowledge, order, tolerance
        See `crypsis.singling_out.unicity`.
    exact : bool, optional
        True counts all choices of records of all people, False draws some. By default they are
        counted where they are few enough.
    draws : int
        How many sensitive values and choices are drawn otherwise.
    confidence : float
        The confidence of the intervals of drawn choices.
    seed : int
        The seed of the draws.
    **roles
        See `crypsis.read`.

    Returns
    -------
    HistoryDisclosure
        For each number of records how often a value is nearly certain, and with which probability
        it is inferred on average, beside the baseline without these records.

    Notes
    -----
    A value of the target counts that a person has in one of their records, if at most half of the
    people have it and it is not declared harmless. The intruder knows m records of the person, drawn
    with equal probability, finds all people who have such records, and infers what most of them have
    in any of their records; the person is one of them, so whoever is singled out is inferred for
    certain. People with such a value have equal weight, and the values of one person, too. Missing
    values do not count. That a value follows from others in nature (a drug, a disease) counts as
    well: near-certainty is disclosure, however it arises.

    Cost: one scan; then for each choice the records that equal its rarest record.

    References
    ----------
    Machanavajjhala, Kifer, Gehrke & Venkitasubramaniam (2007), l-diversity, ACM TKDD 1: the
    homogeneity attack, here on the histories that match. Clopper & Pearson (1934), Hoeffding (1963):
    the intervals of drawn shares and means.

    Examples
    --------
    >>> import pyarrow as pa
    >>> visits = pa.table(
    ...     {
    ...         "who": [1, 1, 2, 2, 3, 3, 4, 4],
    ...         "ward": ["a", "b", "a", "b", "a", "c", "a", "c"],
    ...         "ill": ["flu", "gout", "flu", "gout", "flu", "flu", "flu", "cold"],
    ...     }
    ... )
    >>> found = history_disclosure(visits, "ill", "ward", person="who", events=2)
    >>> [round(share, 3) for share in found.inferred], round(found.baseline, 3)
    ([0.333, 0.667], 0.417)
    """
    dataset = as_dataset(data, **roles)
    knowledge_kind = as_knowledge(knowledge)
    names = event_columns(dataset, None if columns is None else as_columns(columns))
    dataset = dataset.as_written([name for name in names if name != order])
    numbers = checked_events(events, draws, confidence)
    checked_order(knowledge_kind, order)
    if knowledge_kind is Knowledge.ENDS and target in names:
        raise ParameterError(
            f"The first and the last record are known, and {target!r} of records with the sensitive value "
            "value is not: the two contradict each other.",
            parameter="knowledge",
            hint="Remove the target from {columns}, or set another {knowledge}.",
        )
    rules = tolerance_rules(dataset, names, tolerance)
    cells, position = history_cells(dataset, names, ordered=knowledge_kind.ordered, order=order)
    histories = histories_in(cells, rules, ordered=knowledge_kind.ordered, positions=position)
    pairs = _PersonValues.of(dataset, target, histories)
    values = np.zeros(0, np.int64)
    if target in names:
        target_values = cells.values[1 + names.index(target)]
        pair_value = np.asarray(pc.index_in(target_values, value_set=pairs.values).fill_null(-1), np.int64)
        values = pair_value[cells.codes[1 + names.index(target)][histories.cell]]
    attack = _Attack(pairs, values, histories, knowledge_kind)
    curve = [
        attack.counted(many)
        if exact or (exact is None and attack.countable(many))
        else attack.drawn(many, draws, confidence, seed)
        for many in progress.track(list(numbers), "inferring from known records")
    ]
    return HistoryDisclosure(
        target=target,
        person=person_of(dataset),
        columns=names,
        knowledge=knowledge_kind.value,
        tolerance=tuple((name, str(value)) for name, value in (tolerance or {}).items()),
        people=histories.people,
        holders=int(np.unique(pairs.person).size),
        pairs=int(pairs.person.size),
        events=numbers,
        inferred=tuple(point.inferred for point in curve),
        confidence=tuple(point.confidence for point in curve),
        baseline=pairs.baseline,
        worst=tuple(point.worst for point in curve),
        worst_holders=tuple(point.worst_holders for point in curve),
    )


@dataclass(frozen=True, eq=False)
class _PersonValues:
    """Pairs of a person and a sensitive value that they have, in the order of the values."""

    person: Ints
    value: Ints
    weight: Floats
    """People are equal, and the sensitive values of one person, too; 1 in all."""
    holders: Ints
    first: Ints
    """The people who have value v are `holders[first[v]:first[v + 1]]`."""
    values: pa.Array
    baseline: float

    @classmethod
    def of(cls, data: Dataset, target: str, histories: Histories) -> _PersonValues:
        """The values of the target that at most half of the people have, and who has them."""
        names = [person_of(data), target]
        cells = Cells.from_table(data.rows.cells(names), names)
        who = np.asarray(pc.index_in(cells.values[0], value_set=histories.persons).fill_null(-1), np.int64)
        person, value = who[cells.codes[0]], cells.codes[1].astype(np.int64)
        is_present = (person >= 0) & (value != cells.missing_codes[1])
        person, value = person[is_present], value[is_present]
        order = np.lexsort((person, value))
        person, value = person[order], value[order]
        size = len(cells.values[1])
        first = np.searchsorted(value, np.arange(size + 1)).astype(np.int64)
        prior = np.diff(first) / max(1, histories.people)
        note = data.notes.get(target)
        harmless = {str(value_text) for value_text in note.harmless} if note is not None else set()
        named = [str(text) in harmless for text in cells.values[1].to_pylist()]
        counts = ((prior <= _COMMON_SHARE) & ~np.array(named, bool))[value]
        holder, of_it = person[counts], value[counts]
        _, holder_index, number = np.unique(holder, return_inverse=True, return_counts=True)
        weight = 1 / (number[holder_index.ravel()] * max(1, number.size))
        baseline = math.fsum(weight * prior[of_it])
        return cls(holder, of_it, weight, person, first, cells.values[1], baseline)


@dataclass(frozen=True)
class _Found:
    inferred: Number
    confidence: Number
    worst: float
    worst_holders: int


@dataclass(frozen=True, eq=False)
class _Attack:
    """The attack on all sensitive values, or on some that are drawn."""

    pairs: _PersonValues
    values: Ints
    histories: Histories
    knowledge: Knowledge

    def counted(self, events: int) -> _Found:
        """Over all choices of so many records of all sensitive values."""
        from crypsis.histories.kernels import person_values as kernel

        pairs = self.pairs
        often, mean = kernel.counted_values(
            pairs.person,
            pairs.value,
            pairs.holders,
            pairs.first,
            self.values,
            events,
            self.histories.arrays,
            self.knowledge.code,
            _CERTAIN_SHARE,
        )
        shares = (min(1.0, math.fsum(pairs.weight * chances)) for chances in (often, mean))
        inferred, confidence = shares
        return _Found(inferred, confidence, *self._worst(pairs.value, often))

    def drawn(self, events: int, draws: int, confidence: float, seed: int) -> _Found:
        """Of some sensitive values, each with one choice of records."""
        from crypsis.histories.kernels import person_values as kernel

        pairs = self.pairs
        if not pairs.person.size:
            return _Found(0.0, 0.0, 0.0, 0)
        random = np.random.default_rng(seed)
        drawn = np.sort(random.choice(pairs.person.size, draws, p=pairs.weight / pairs.weight.sum()))
        shares = kernel.drawn_values(
            pairs.person[drawn],
            pairs.value[drawn],
            pairs.holders,
            pairs.first,
            self.values,
            events,
            self.histories.arrays,
            self.knowledge.code,
            random.random((draws, events)),
        )
        certain = shares >= _CERTAIN_SHARE
        return _Found(
            share_estimate(int(certain.sum()), draws, _DRAWN, confidence=confidence),
            mean_estimate(float(shares.mean()), draws, _DRAWN, confidence=confidence),
            0.0,
            0,
        )

    def _worst(self, value: Ints, often: Floats) -> tuple[float, int]:
        """The value that is nearly certain most often; of several the one that most people have."""
        if not value.size:
            return 0.0, 0
        holders = np.diff(self.pairs.first)
        shares = np.bincount(value, often, holders.size) / np.maximum(
            np.bincount(value, minlength=holders.size), 1
        )
        worst = np.lexsort((holders, shares.round(12)))[-1]
        return float(shares[worst]), int(holders[worst])

    def countable(self, events: int) -> bool:
        """Whether all choices of so many records can be counted in seconds."""
        sizes = self.histories.sizes[self.pairs.person]
        fixed = 2 if self.knowledge is Knowledge.ENDS else 0
        choices = np.array(
            [
                math.comb(max(size - fixed, 0), max(min(events, size) - fixed, 0))
                for size in range(int(sizes.max(initial=0)) + 1)
            ],
            np.float64,
        )[sizes]
        if choices.sum() > _MAX_CHOICES:
            return False
        equal_records = np.bincount(self.histories.key)[self.histories.key].astype(np.float64)
        rarest = np.minimum.reduceat(equal_records, self.histories.starts[:-1])
        return float(choices @ rarest[self.pairs.person]) <= _MAX_COMPARED_EVENTS
