"""Roles guessed from the name, the type, the counts and a sample of the values of each column."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from weakref import WeakKeyDictionary

import pyarrow as pa

from crypsis import progress
from crypsis.columns.roles._evidence import Evidence
from crypsis.columns.roles._identifier_search import find_identifiers
from crypsis.columns.roles._rules import Guess, judge, nested
from crypsis.counting.cells import ColumnSetCounts
from crypsis.dataset import ColumnNote, Data, Dataset, as_columns, as_dataset
from crypsis.errors import unknown_columns
from crypsis.options import Columns, Role
from crypsis.tables import Kind, Rows
from crypsis.tables.sampling import sample as draw_sample

SAMPLE_ROWS = 2_000
"""The rows of the sample that roles are guessed from."""
_MAX_FETCHED_VALUES = 2_000_000
"""Tables with at most so many values are fetched at once, so that the engine need not search each column."""
RELEASED = (Role.QUASI_IDENTIFIER, Role.SENSITIVE, Role.INSENSITIVE)
"""The roles of columns that are released."""
_GUESSED: WeakKeyDictionary[Rows, dict[tuple[str, int], Guess]] = WeakKeyDictionary()
"""What was guessed of the columns of some rows, by name and seed: rows do not change."""


def guess(
    data: Data,
    *,
    columns: Columns | None = None,
    counts: Mapping[str, ColumnSetCounts] | None = None,
    seed: int = 0,
) -> tuple[Guess, ...]:
    """Guess the role of every column; undecided where neither name nor values indicate one.

    Parameters
    ----------
    data : Dataset, frame or path
        The data; roles that it has are not used.
    columns : str or sequence of str, optional
        The columns to guess; by default all.
    counts : mapping of str to ColumnSetCounts, optional
        The classes of columns that were counted before; each other column costs a scan.
    seed : int
        The seed of the sample of 2,000 records that patterns are matched with.

    Returns
    -------
    tuple of Guess
        One for each column, in their order.

    Notes
    -----
    Missing values are evidence neither for nor against a role.

    Examples
    --------
    >>> people = pa.table({"zip": [10115, 10117] * 9, "disease": ["flu", "gout"] * 9})
    >>> [(g.column, g.role.value, g.reason) for g in guess(people)]
    [('zip', 'quasi-identifier', 'The name indicates a postal code; 100 % of the values match.'),
     ('disease', 'sensitive', 'The name indicates health.')]
    """
    dataset = as_dataset(data)
    rows = dataset.rows
    known_counts = dict(counts or {})
    if not set(known_counts) <= set(rows.names):
        raise unknown_columns(known_counts, rows.names)
    requested = rows.columns if columns is None else [rows.column(n) for n in as_columns(columns)]
    before = {} if known_counts else _GUESSED.setdefault(rows, {})
    new = [column for column in requested if (column.name, seed) not in before]
    flat = [column.name for column in new if column.kind is not Kind.NESTED]
    sample = draw_sample(rows, SAMPLE_ROWS, seed=seed, names=flat) if flat else pa.table({})
    all_rows: pa.Table | None = sample
    if flat and sample.num_rows < rows.count:
        all_rows = rows.to_arrow(flat) if rows.count * len(flat) <= _MAX_FETCHED_VALUES else None
    for column in progress.track(new, "guessing roles"):
        if column.kind is Kind.NESTED:
            before[column.name, seed] = nested(column)
            continue
        classes = known_counts.get(column.name) or rows.tally([column.name])
        values, all_values = sample[column.name], None if all_rows is None else all_rows[column.name]
        identifiers = find_identifiers(rows, column, values, all_values, round(classes.values))
        before[column.name, seed] = judge(Evidence(column, classes, values, identifiers))
    guesses = [before[column.name, seed] for column in requested]
    return tuple(_of_units(dataset, guess) for guess in guesses)


def _of_units(data: Dataset, guess: Guess) -> Guess:
    """The person and the household of each record identify them, whatever they look like."""
    for unit in ("person", "household"):
        if guess.column == getattr(data, unit) and guess.role is not Role.IDENTIFIER:
            reason = f"It names the {unit} of each record."
            return replace(guess, role=Role.IDENTIFIER, reason=reason, confidence=0.99)
    return guess


def linking_columns(data: Dataset, guesses: Iterable[Guess]) -> tuple[str, ...]:
    """The columns that may link the records of one person, if nobody decided about persons.

    Parameters
    ----------
    data : Dataset
        The data; if it has a person, that was decided.
    guesses : iterable of Guess
        What is known of its columns: a direct identifier that repeats, or codes that look like one.

    Returns
    -------
    tuple of str
        Their names. A column of which the owner wrote `several_people` is not among them.

    Examples
    --------
    >>> visits = pa.table({"patient_nbr": [712, 712, 815] * 9, "ward": ["a", "b", "a"] * 9})
    >>> linking_columns(Dataset.from_frame(visits), guess(visits))
    ('patient_nbr',)
    """
    if data.person is not None:
        return ()
    return tuple(
        guess.column
        for guess in guesses
        if _links(data, guess)
        and not data.notes.get(guess.column, ColumnNote()).several_people
        and guess.column != data.household
    )


def _links(data: Dataset, guess: Guess) -> bool:
    """Of a column that is excluded, codes alone are not evidence: they may be of anything."""
    if guess.column in data.excluded:
        return guess.links and guess.role is Role.IDENTIFIER
    return guess.links or (guess.repeats and guess.column in data.identifiers)


def contradictions(data: Dataset, *, seed: int = 0) -> dict[str, str]:
    """The released columns that identify people by strong evidence, without a written reason.

    Parameters
    ----------
    data : Dataset
        The data with its roles. A column that is a direct identifier, excluded or undecided
        contradicts nothing.
    seed : int
        The seed of the samples.

    Returns
    -------
    dict of str to str
        The evidence of each column.

    Examples
    --------
    >>> people = pa.table({"ssn": ["123-45-6789", "321-54-9876"], "age": [30, 41]})
    >>> contradictions(Dataset.from_frame(people, insensitive=["ssn", "age"]))
    {'ssn': 'The name indicates a social security number; 100 % of the values match.'}
    """
    decided = [
        name
        for name, role in data.roles.items()
        if role in RELEASED and not data.notes.get(name, ColumnNote()).override
    ]
    rows = Dataset(data.rows)  # by what the columns look like, not by what was said of them
    guesses = guess(rows, columns=decided, seed=seed) if decided else ()
    return {guess.column: guess.reason for guess in guesses if guess.identifies and not guess.free_text}
