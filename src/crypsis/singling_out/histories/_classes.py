"""Equivalence classes of people whose whole histories are equal."""

from __future__ import annotations

from typing import Unpack

import numpy as np

from crypsis.array_types import Ints
from crypsis.dataset import SAMPLE, Data, as_columns, as_dataset, takes_roles
from crypsis.histories.events import Histories, event_columns, histories_of, person_of
from crypsis.options import Columns, Roles
from crypsis.results import Result, percent_text


class HistoryClasses(Result):
    """The equivalence classes of people whose whole histories are equal."""

    person: str
    columns: tuple[str, ...]
    ordered: bool
    """Whether the order of the events counts; otherwise which there are, and how often."""
    people: int
    k: int
    """The smallest number of people with the same history."""
    classes: int
    unique: int
    """People whose history nobody else has."""
    class_sizes: tuple[int, ...]
    class_counts: tuple[int, ...]
    """The sizes of the classes, and how many have each."""

    @property
    def unique_share(self) -> float:
        """The share of people whose history nobody else has."""
        return self.unique / max(1, self.people)

    def __str__(self) -> str:
        return (
            f"k-anonymity of whole histories: k = {self.k:,} of {self.people:,} people\n"
            f"  {self.unique:,} people ({percent_text(self.unique_share)}) have a history that nobody "
            f"else has; {self.classes:,} different histories."
        )


@takes_roles(without=SAMPLE)
def history_classes(
    data: Data,
    columns: Columns | None = None,
    *,
    ordered: bool = False,
    order: str | None = None,
    **roles: Unpack[Roles],
) -> HistoryClasses:
    """Count the equivalence classes of whole histories: k-anonymity of people.

    Parameters
    ----------
    data : Dataset, frame or path
        The data, with `person`.
    columns : str or sequence of str, optional
        What is known of an event; by default as in `unicity`.
    ordered : bool
        Whether the order of the events counts. Otherwise two histories are equal if they have the
        same events equally often.
    order : str, optional
        The column with the time of an event; by default the order of rows.
    **roles
        See `crypsis.read`.

    Returns
    -------
    HistoryClasses
        k, the class sizes, and how many people have a history of their own.

    Notes
    -----
    Missing values equal each other. Cost: one scan, and one sort of the events.

    Examples
    --------
    >>> import pyarrow as pa
    >>> visits = pa.table({"who": [1, 1, 2, 2, 3], "ward": ["a", "b", "b", "a", "a"]})
    >>> found = history_classes(visits, "ward", person="who")
    >>> found.k, found.unique, history_classes(visits, "ward", person="who", ordered=True).unique
    (1, 1, 3)
    """
    dataset = as_dataset(data, **roles)
    names = event_columns(dataset, None if columns is None else as_columns(columns))
    dataset = dataset.as_written([name for name in names if name != order])
    histories = histories_of(dataset, names, ordered=ordered or order is not None, order=order)
    sizes, counts = np.unique(class_sizes_of(histories), return_counts=True)
    classes = counts // sizes
    return HistoryClasses(
        person=person_of(dataset),
        columns=names,
        ordered=ordered or order is not None,
        people=histories.people,
        k=int(sizes[0]) if sizes.size else 0,
        classes=int(classes.sum()),
        unique=int(counts[sizes == 1].sum()),
        class_sizes=tuple(sizes.tolist()),
        class_counts=tuple(classes.tolist()),
    )


def class_sizes_of(histories: Histories) -> Ints:
    """For each person the number of people with the same history.

    People are distinguished event by event; whoever is alone is not compared further.
    """
    lengths, starts, token = histories.sizes, histories.starts[:-1], histories.token
    _, state = np.unique(lengths, return_inverse=True)
    state = state.ravel().astype(np.int64)
    tokens = int(token.max(initial=0)) + 1
    last = int(state.max(initial=-1)) + 1
    active, position = np.arange(histories.people), 0
    while active.size:
        _, member, count = np.unique(state[active], return_inverse=True, return_counts=True)
        active = active[(count[member.ravel()] > 1) & (lengths[active] > position)]
        keys = state[active] * tokens + token[starts[active] + position]
        different, member = np.unique(keys, return_inverse=True)
        state[active] = last + member.ravel()
        last += different.size
        position += 1
    _, member, count = np.unique(state, return_inverse=True, return_counts=True)
    return np.asarray(count[member.ravel()], np.int64)
