"""For each person the smallest number of events that singles them out."""

from __future__ import annotations

from typing import Unpack

import numpy as np
import pyarrow as pa

from crypsis.dataset import SAMPLE, Data, as_columns, as_dataset, takes_roles
from crypsis.histories.events import (
    Knowledge,
    as_knowledge,
    checked_events,
    checked_order,
    event_columns,
    histories_of,
    person_of,
)
from crypsis.histories.kernels import alone as kernel
from crypsis.histories.tolerance import Tolerances
from crypsis.options import Columns, Roles
from crypsis.results import Result, percent_text, raw

_MAX_CHOICES_PER_PERSON = 100_000
"""How many choices of events are examined for a person."""


class SmallestEvents(Result, eq=False):
    """The smallest number of known events that singles each person out."""

    person: str
    columns: tuple[str, ...]
    events: int
    """The largest number of known events that was examined."""
    people: int
    counts: tuple[int, ...]
    """How many people are singled out by one event at the least, by two, and so on."""
    not_singled_out: int
    """People whom no choice of so many events singles out."""
    not_proved: int
    """People of whom not all choices were examined: more events than shown are not needed."""
    table: pa.Table = raw()
    """Each person with the `events` that are enough, missing where none are, and `proved`."""

    def __str__(self) -> str:
        lines = [f"The fewest records that single each of {self.people:,} people out, if well chosen"]
        for events, count in enumerate(self.counts, start=1):
            noun = "record " if events == 1 else "records"
            lines.append(f"  {events} {noun}  {count:,} people ({percent_text(count / max(1, self.people))})")
        lines.append(f"  by no {self.events} or fewer: {self.not_singled_out:,} people")
        if self.not_proved:
            lines.append(f"  of {self.not_proved:,} people not all choices were examined")
        return "\n".join(lines)


@takes_roles(without=SAMPLE)
def smallest_events(
    data: Data,
    columns: Columns | None = None,
    *,
    events: int = 6,
    knowledge: Knowledge | str = Knowledge.SET,
    order: str | None = None,
    tolerance: Tolerances | None = None,
    **roles: Unpack[Roles],
) -> SmallestEvents:
    """Find for each person the smallest number of events that singles them out, if well chosen.

    Parameters
    ----------
    data : Dataset, frame or path
        The data, with `person`.
    columns : str or sequence of str, optional
        What is known of an event; by default as in `unicity`.
    events : int
        The largest number of events that is examined.
    knowledge, order, tolerance
        See `unicity`.
    **roles
        See `crypsis.read`.

    Returns
    -------
    SmallestEvents
        How many people need how many events, and the table of all people (data values).

    Notes
    -----
    The worst case of `unicity`: the intruder knows just the events that few others have. All choices
    of one event are examined, then of two, and so on, up to 100,000 for a person; where that was
    not enough, `proved` is false.

    Examples
    --------
    >>> import pyarrow as pa
    >>> visits = pa.table({"who": [1, 1, 2, 2, 3, 3], "ward": ["a", "b", "b", "c", "a", "c"]})
    >>> smallest_events(visits, "ward", person="who").counts
    (0, 3, 0, 0, 0, 0)
    """
    dataset = as_dataset(data, **roles)
    knowledge_kind = as_knowledge(knowledge)
    names = event_columns(dataset, None if columns is None else as_columns(columns))
    dataset = dataset.as_written([name for name in names if name not in (order, *(tolerance or ()))])
    checked_events((events,))
    checked_order(knowledge_kind, order)
    histories = histories_of(dataset, names, ordered=knowledge_kind.ordered, order=order, tolerance=tolerance)
    everybody = np.arange(histories.people)
    smallest, proved = kernel.smallest_choices(
        everybody, events, histories.arrays, knowledge_kind.code, _MAX_CHOICES_PER_PERSON
    )
    table = pa.table(
        {
            "person": histories.persons,
            "events": pa.array(smallest, mask=smallest == 0),
            "proved": pa.array(proved),
        }
    )
    return SmallestEvents(
        person=person_of(dataset),
        columns=names,
        events=events,
        people=histories.people,
        counts=tuple(np.bincount(smallest, minlength=events + 1)[1:].tolist()),
        not_singled_out=int(((smallest == 0) & proved).sum()),
        not_proved=int((~proved).sum()),
        table=table,
    )
