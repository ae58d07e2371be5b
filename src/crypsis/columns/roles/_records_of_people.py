"""Several records of one person: columns that link them by what their values do, and mere copies."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import chain, combinations

import numpy as np

from crypsis.array_types import Ints
from crypsis.columns.codes import codes_of
from crypsis.counting.grouping import numbered
from crypsis.dataset import ColumnNote, Dataset
from crypsis.errors import InputError, TooLargeError
from crypsis.tables import Kind
from crypsis.tables.sampling import sample

_SAMPLE_RECORDS = 20_000
"""The records of the sample in which a key of people, or a panel, is sought."""
_FIRST_RECORDS = 1_000
"""A key is tried in so many records of the sample first."""
_MAX_COLUMNS = 60
"""So many columns, the first, may be keys or have waves: they are compared in pairs."""
_MIN_KEY_VALUES = 20
"""A key of people has so many values or more."""
_MAX_RECORDS_PER_VALUE = 200
"""A key of people has so many records of one value, on average, or fewer."""
_MAX_LOG_CHANCE = math.log(1e-9)
"""The logarithm of the chance below which records that are alike are not so by accident."""
_MIN_COPIED_RECORDS = 200
"""Fewer different records may occur equally often by design."""
_MAX_COUNTED_RECORDS = 2_000_000
"""More different records are not counted."""
_MIN_PANEL_PEOPLE = 100
"""A column with fewer values does not link the records of the people of a panel."""
_MAX_WAVES = 40
"""A column with more values is not one of waves."""
_CLEAR_DEVIATIONS = 8.0
"""Standard deviations by which records of one value share a wave less often than by chance."""


def linking_values(data: Dataset, *, seed: int = 0) -> tuple[str, ...]:
    """The column, or two, that seem to be of people, if nobody decided about persons.

    Parameters
    ----------
    data : Dataset
        The data with its roles.
    seed : int
        The seed of the sample, of more than 20,000 records.

    Returns
    -------
    tuple of str
        The columns: each of their values, or pairs of values, has several records, and in all of
        them the same quasi-identifiers, more finely than these divide the records and far more
        often than by chance, as a site and the number of a subject have. A column of which the
        owner wrote `several_people` is not among them, nor one of the design of a survey.

    Examples
    --------
    >>> import pyarrow as pa
    >>> person = [n % 40 for n in range(240)]
    >>> visits = pa.table({
    ...     "site": [n // 8 for n in person], "subject": [n % 8 for n in person],
    ...     "age": [30 + n % 3 for n in person], "sex": ["fm"[n % 5 > 2] for n in person],
    ... })
    >>> linking_values(Dataset.from_frame(visits, quasi_identifiers=["age", "sex"]))
    ('site', 'subject')
    """
    flat = [column.name for column in data.rows.columns if column.kind is not Kind.NESTED]
    quasi_identifiers = [name for name in flat if name in data.quasi_identifiers]
    decided = (*quasi_identifiers, *data.sensitive, data.household, data.weight, data.stratum, data.cluster)
    rest = [
        name for name in flat if name not in decided and not data.notes.get(name, ColumnNote()).several_people
    ]
    if data.person is not None or len(quasi_identifiers) < 2 or not rest:
        return ()
    table = sample(data.rows, _SAMPLE_RECORDS, seed=seed, names=[*quasi_identifiers, *rest])
    codes = {name: numbered(codes_of(table[name])) for name in table.column_names}
    links = _linking(codes, quasi_identifiers, rest)
    return next((key for key in links if _in_all_records(data, key, quasi_identifiers)), ())


def copies(data: Dataset, columns: Sequence[str] | None = None) -> int:
    """How often every record is in the data, as after a join that multiplied them.

    Parameters
    ----------
    data : Dataset
        The data with its roles.
    columns : Sequence of str, optional
        The columns that make a record; without it, the released ones.

    Returns
    -------
    int
        The greatest number that divides how often each record occurs in these columns; 1 of fewer
        than 200 different records, or if the person of a record is known. Of so many numbers some
        are odd, unless each record was copied.

    Examples
    --------
    >>> import pyarrow as pa
    >>> people = pa.table({"age": [n % 250 for n in range(1_000)]})
    >>> copies(Dataset.from_frame(people, quasi_identifiers="age"))
    4
    """
    names = data.released if columns is None else columns
    flat = [name for name in names if data.rows.column(name).kind is not Kind.NESTED]
    quasi_identifiers = [name for name in flat if name in data.quasi_identifiers]
    if data.person is not None or not flat or (columns is None and not quasi_identifiers):
        return 1
    try:
        if quasi_identifiers and int(np.gcd.reduce(data.cells(quasi_identifiers).counts, initial=0)) < 2:
            return 1
        counts = data.rows.cells(flat, at_most=_MAX_COUNTED_RECORDS)["count"].to_numpy()
    except (InputError, TooLargeError):  # the classes are not evaluated either
        return 1
    return int(np.gcd.reduce(counts)) if counts.size >= _MIN_COPIED_RECORDS else 1


def panel(data: Dataset, *, seed: int = 0) -> tuple[str, str] | None:
    """The column of people and that of waves, if the data seem to be a panel nobody named.

    Parameters
    ----------
    data : Dataset
        The data with its roles.
    seed : int
        The seed of the sample, of more than 20,000 records.

    Returns
    -------
    tuple of str or None
        A column of a hundred values or more whose equal values hardly ever are in one wave, though
        by chance they would be: whatever it measures, it links the records of a person, whose
        quasi-identifiers may change. And the column of the wave. None if there are no such columns,
        if the person of a record is known, or if the owner wrote `several_people`.

    Examples
    --------
    >>> import pyarrow as pa
    >>> person = [n % 200 for n in range(1_200)]
    >>> waves = pa.table({
    ...     "year": [2020 + n // 200 for n in range(1_200)], "town": [n % 7 for n in range(1_200)],
    ...     "pension": [n * 37 % 9_000 for n in person],
    ... })
    >>> roles = {"quasi_identifiers": ["year", "town"], "sensitive": "pension"}
    >>> panel(Dataset.from_frame(waves, **roles))
    ('pension', 'year')
    """
    design = (data.household, data.weight, data.stratum, data.cluster)
    flat = [
        name
        for name in data.released
        if data.rows.column(name).kind is not Kind.NESTED and name not in design
    ][:_MAX_COLUMNS]
    if data.person is not None or len(flat) < 2:
        return None
    table = sample(data.rows, _SAMPLE_RECORDS, seed=seed, names=flat)
    codes = {name: numbered(codes_of(table[name])) for name in flat}
    values = {name: _distinct(code) for name, code in codes.items()}
    waves = [column for column in flat if 1 < values[column] <= _MAX_WAVES and column not in data.sensitive]
    for name in flat:
        decided = data.notes.get(name, ColumnNote()).several_people
        if name in data.quasi_identifiers or decided or values[name] < _MIN_PANEL_PEOPLE:
            continue
        records = np.bincount(codes[name])[codes[name]]
        for wave in waves:
            chosen_codes = {column: codes[column][records <= values[wave]] for column in (name, wave)}
            shares = np.bincount(codes[wave]) / table.num_rows
            expected = _pairs(chosen_codes[name]) * float((shares**2).sum())
            repeated = _pairs(_joint(chosen_codes, (name, wave))) if expected else 0
            if repeated < expected / 2 and expected - repeated > _CLEAR_DEVIATIONS * math.sqrt(expected):
                return name, wave
    return None


def _pairs(codes: Ints) -> int:
    """How many pairs of records have the same value."""
    counts = np.bincount(codes)
    return int((counts * (counts - 1) // 2).sum())


def _linking(
    codes: dict[str, Ints], quasi_identifiers: list[str], columns: list[str]
) -> Iterator[tuple[str, ...]]:
    """Single columns and pairs, of which one may be a quasi-identifier, that determine the others."""
    values = {name: _distinct(code) for name, code in codes.items()}
    rows = len(codes[columns[0]])
    candidates = [name for name in columns if 1 < values[name] < rows][:_MAX_COLUMNS]
    first = {name: numbered(code[:_FIRST_RECORDS]) for name, code in codes.items()}
    some_rests: dict[tuple[str, ...], Ints] = {}
    alone: set[str] = set()  # a column that determines them by itself does so with any other one
    keys = chain(
        ((name,) for name in candidates),
        combinations(candidates, 2),
        ((n, name) for n in candidates for name in quasi_identifiers),
    )
    for key in keys:
        rest = tuple(name for name in quasi_identifiers if name not in key)
        if not alone.isdisjoint(key):
            continue
        if rest not in some_rests:
            some_rests[rest] = _joint(first, rest)
        if not (_same(first, key, some_rests[rest]) and _same(codes, key, _joint(codes, rest))):
            continue
        if len(key) == 1:
            alone.add(key[0])
        classes, people = _joint(codes, rest), _distinct(_joint(codes, key))
        finest = max(values[name] for name in rest)
        fine = max(_MIN_KEY_VALUES - 1, _distinct(classes)) < people
        if fine and finest < _distinct(classes) and _by_chance(classes, rows - people) < _MAX_LOG_CHANCE:
            yield key


def _same(codes: dict[str, Ints], key: tuple[str, ...], rest: Ints) -> bool:
    """Whether records that are alike in the key are alike in the rest."""
    joint = codes[key[0]]
    for name in key[1:]:
        joint = joint * _distinct(codes[name]) + codes[name]
    if _distinct(joint) > _FIRST_RECORDS**2:
        joint = numbered(joint)
    last = np.empty(_distinct(joint), np.int64)
    last[joint] = rest
    return bool((last[joint] == rest).all())


def _by_chance(classes: Ints, pairs: int) -> float:
    """The logarithm of how probable it is that so many pairs of records are alike."""
    shares = np.bincount(classes) / len(classes)
    return pairs * math.log(float((shares**2).sum()))


def _in_all_records(data: Dataset, key: tuple[str, ...], quasi_identifiers: list[str]) -> bool:
    """Whether it is so in all records, of which every value has two or more on average."""
    people = data.rows.tally(key)
    if people.estimated or not 2 * people.values <= data.count <= _MAX_RECORDS_PER_VALUE * people.values:
        return False
    both = data.rows.tally(list(dict.fromkeys([*key, *quasi_identifiers])))
    return not both.estimated and both.values == people.values


def _joint(codes: dict[str, Ints], names: Sequence[str]) -> Ints:
    """The combinations of some columns as codes."""
    joint = codes[names[0]]
    for name in names[1:]:
        joint = numbered(joint * _distinct(codes[name]) + codes[name])
    return joint


def _distinct(codes: Ints) -> int:
    return int(codes.max(initial=-1)) + 1
