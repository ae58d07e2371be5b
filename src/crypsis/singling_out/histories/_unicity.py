"""The unicity curve: how many people some known events of theirs single out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Unpack

import numpy as np

from crypsis import progress
from crypsis.array_types import Ints
from crypsis.counting.estimates import share_estimate
from crypsis.dataset import SAMPLE, Data, as_columns, as_dataset, takes_roles
from crypsis.errors import ParameterError
from crypsis.histories.events import (
    Histories,
    Knowledge,
    as_knowledge,
    checked_events,
    checked_order,
    event_columns,
    histories_of,
    person_of,
    tolerance_rules,
)
from crypsis.histories.kernels import alone as kernel
from crypsis.histories.tolerance import Tolerances
from crypsis.options import Columns, Roles
from crypsis.results import Number, Result, percent_text
from crypsis.singling_out.histories._sampled import drawn_people

_MAX_FETCHED_ROWS = 5_000_000
"""Of more records only the events that are known of some people are fetched."""
_DRAWN = "draws of a person and of known records"
_MAX_CHOICES = 3_000_000
"""About so many choices of events are counted; of more some are drawn."""
_MAX_COMPARED_EVENTS = 400_000_000
"""About so many events are compared with those choices; of more choices some are drawn."""


class Unicity(Result):
    """The share of people whom m known events single out, for each m."""

    person: str
    columns: tuple[str, ...]
    """What is known of an event."""
    knowledge: str
    """What is known besides the events: nothing (set), their order, the number of records, or that
    one is the first and one the last (ends)."""
    tolerance: tuple[tuple[str, str], ...]
    """How exactly events are known, by column; the others exactly."""
    people: int
    records: int
    unlinked: int
    """Records without a person, which are not part of it."""
    events: tuple[int, ...]
    """The numbers m of known events."""
    curve: tuple[Number, ...]
    """The share of people singled out by so many events, exact or with an interval."""

    def at(self, events: int) -> Number:
        """The share of people whom so many known events single out."""
        if events not in self.events:
            raise ParameterError(
                f"The curve has {', '.join(map(str, self.events))} events; {events} was given.",
                parameter="events",
            )
        return self.curve[self.events.index(events)]

    @property
    def besides(self) -> str:
        """What is known besides the events, in words; empty if nothing is."""
        return _BESIDES[Knowledge(self.knowledge)]

    def text_at(self, events: int, *, unit: str = "person") -> str:
        """What an intruder with so many events finds, in a sentence."""
        what = f"{events} {'record' if events == 1 else 'records'} of a {unit}"
        whom, all_of_them = ("them", "people") if unit == "person" else ("it", f"{unit}s")
        return (
            f"Anyone who knows {what}{self.besides} singles {whom} out in "
            f"{percent_text(self.at(events))} of cases ({self.people:,} {all_of_them} with "
            f"{self.records:,} records)."
        )

    def text_besides(self, events: int) -> str:
        """How many are singled out by who knows more than the events, in a sentence."""
        what = self.besides.strip(" ,").removeprefix("and ")
        return f"Who knows {what} too: {percent_text(self.at(events))}."

    def __str__(self) -> str:
        lines = [
            f"Unicity of {self.people:,} people in {', '.join(self.columns)} (knowledge: {self.knowledge})"
        ]
        for events, share in zip(self.events, self.curve, strict=True):
            noun = "record " if events == 1 else "records"
            lines.append(f"  {events} known {noun}  {percent_text(share)} singled out")
        return "\n".join(lines)


_BESIDES = {
    Knowledge.SET: "",
    Knowledge.ORDER: " and their order",
    Knowledge.NUMBER: " and how many there are",
    Knowledge.ENDS: " and which is the first and the last",
}


@takes_roles(without=SAMPLE)
def unicity(
    data: Data,
    columns: Columns | None = None,
    *,
    events: int | Sequence[int] = 6,
    knowledge: Knowledge | str = Knowledge.SET,
    order: str | None = None,
    tolerance: Tolerances | None = None,
    exact: bool | None = None,
    draws: int = 10_000,
    confidence: float = 0.95,
    seed: int = 0,
    **roles: Unpack[Roles],
) -> Unicity:
    """Measure unicity: the share of people whom m known events of their history single out.

    Parameters
    ----------
    data : Dataset, frame or path
        The data, with `person`: the column by which the records of a person can be linked.
    columns : str or sequence of str, optional
        What is known of an event; by default all released columns that an intruder may know,
        without sensitive attributes.
    events : int or sequence of int
        The largest number of known events, the curve then has 1 to so many; or the numbers.
    knowledge : {"set", "order", "number", "ends"}
        What the intruder knows besides the events: nothing, their order, how many records the
        person has, or that the first known event is the first of all and the second the last.
    order : str, optional
        The column with the time of an event, for "order" and "ends"; by default the order of rows.
    tolerance : mapping of str to str or number, optional
        How exactly a column is known: "1 day" or "2 weeks" of dates and times, "10 %" or a number
        of numbers, "prefix 3" of texts. Without it exactly.
    exact : bool, optional
        True counts all choices of events of all people, False draws some. By default they are
        counted where they are few enough.
    draws : int
        How many people and choices are drawn otherwise.
    confidence : float
        The confidence of the intervals of drawn choices.
    seed : int
        The seed of the draws.
    **roles
        See `crypsis.read`.

    Returns
    -------
    Unicity
        The curve; a number is exact, or an estimate with its interval.

    Notes
    -----
    The intruder knows m events of a person, drawn with equal probability from their different
    events, and looks for histories that have them all, each by an event of its own. The person is
    singled out if no other history does. Of people with fewer than m events all are known. A share
    of 0 at m is 2^m-anonymity (Terrovitis et al. 2008). Drawn choices have intervals of Clopper and
    Pearson (1934), which cover at least as often as they say. Missing values equal each other.

    Cost: one scan; then for each choice the events that equal its rarest event. Of more than 5
    million records, people are drawn by a hash, and of all others only the events are fetched that
    may match a known one, on every engine the same: three scans, one more for each column with a
    tolerance, and a sort of all records where the first and the last are known. The order of so many
    records must be that of a column.

    References
    ----------
    de Montjoye, Hidalgo, Verleysen & Blondel (2013), Scientific Reports 3:1376 (four points single
    out 95 % of people). Terrovitis, Mamoulis & Kalnis (2008), Privacy-preserving
    anonymization of set-valued data, VLDB.

    Examples
    --------
    >>> import pyarrow as pa
    >>> visits = pa.table({"who": [1, 1, 2, 2, 3, 3], "ward": ["a", "b", "b", "c", "a", "c"]})
    >>> unicity(visits, "ward", person="who", events=2).curve
    (0.0, 1.0)
    """
    dataset = as_dataset(data, **roles)
    knowledge_kind = as_knowledge(knowledge)
    names = event_columns(dataset, None if columns is None else as_columns(columns))
    dataset = dataset.as_written([name for name in names if name not in (order, *(tolerance or ()))])
    numbers = checked_events(events, draws, confidence)
    checked_order(knowledge_kind, order)
    curve: tuple[Number, ...]
    in_rows = knowledge_kind.ordered and order is None  # the engine has no order of its own
    if not exact and not in_rows and dataset.count > _MAX_FETCHED_ROWS:
        rules = tolerance_rules(dataset, names, tolerance)
        drawn = drawn_people(dataset, rules, knowledge_kind, order, numbers, draws, seed)
        curve = tuple(
            share_estimate(alone_count, drawn.drawn, _DRAWN, confidence=confidence)
            for alone_count in drawn.alone
        )
        people, unlinked = drawn.people, dataset.rows.tally([person_of(dataset)]).missing
    else:
        histories = histories_of(
            dataset, names, ordered=knowledge_kind.ordered, order=order, tolerance=tolerance
        )
        if not histories.people:
            raise ParameterError("No record has a person.", code="no-records", columns=names)
        curve = curve_of(
            histories, knowledge_kind, numbers, exact=exact, draws=draws, confidence=confidence, seed=seed
        )
        people, unlinked = histories.people, histories.unlinked
    return Unicity(
        person=person_of(dataset),
        columns=names,
        knowledge=knowledge_kind.value,
        tolerance=tuple((name, str(value)) for name, value in (tolerance or {}).items()),
        people=people,
        records=dataset.count - unlinked,
        unlinked=unlinked,
        events=numbers,
        curve=curve,
    )


def curve_of(
    histories: Histories,
    knowledge: Knowledge,
    events: Sequence[int],
    *,
    exact: bool | None = None,
    draws: int = 10_000,
    confidence: float = 0.95,
    seed: int = 0,
) -> tuple[Number, ...]:
    """The share of people singled out by each number of events, counted or estimated."""
    shares_by_events: list[Number] = []
    drawn: tuple[Ints, Ints] | None = None
    everybody = np.arange(histories.people)
    for many in progress.track(list(events), "singling out by known records"):
        if exact or (exact is None and _countable(histories, knowledge, many)):
            shares = kernel.shares_alone(everybody, many, histories.arrays, knowledge.code)
            shares_by_events.append(math.fsum(shares) / histories.people)
            continue
        if drawn is None:
            drawn = _draw(histories, knowledge, max(events), draws, seed)
        alone = kernel.drawn_alone(*drawn, many, histories.arrays, knowledge.code)
        shares_by_events.append(share_estimate(int(alone.sum()), draws, _DRAWN, confidence=confidence))
    return tuple(shares_by_events)


def _countable(histories: Histories, knowledge: Knowledge, events: int) -> bool:
    """Whether all choices of so many events can be counted in seconds."""
    sizes, number = np.unique(histories.sizes, return_counts=True)
    fixed = 2 if knowledge is Knowledge.ENDS else 0
    choices = {
        int(size): math.comb(max(int(size) - fixed, 0), max(min(events, int(size)) - fixed, 0))
        for size in sizes
    }
    if sum(choices[int(s)] * int(n) for s, n in zip(sizes, number, strict=True)) > _MAX_CHOICES:
        return False
    equal_records = np.bincount(histories.key)[histories.key].astype(np.float64)
    rarest = np.minimum.reduceat(equal_records, histories.starts[:-1])
    of_each = np.array([choices[int(size)] for size in histories.sizes], np.float64)
    return float(rarest @ of_each) <= _MAX_COMPARED_EVENTS


def _draw(
    histories: Histories, knowledge: Knowledge, events: int, draws: int, seed: int
) -> tuple[Ints, Ints]:
    """People, and places of their events in random order, as many as are needed."""
    random = np.random.default_rng(seed)
    people = random.integers(0, histories.people, draws)
    fixed = 2 if knowledge is Knowledge.ENDS else 0
    sizes = histories.sizes[people] - fixed
    places = np.zeros((draws, events), np.int64)
    for i, size in enumerate(sizes.tolist()):
        if size > 0:
            chosen = random.choice(size, min(events, size), replace=False)
            places[i, : chosen.size] = chosen
    return people, places
