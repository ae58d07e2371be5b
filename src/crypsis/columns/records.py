"""What a record is: evidence that records are not of one person each."""

from __future__ import annotations

from collections.abc import Sequence

from crypsis.columns.combinations import repeated_combinations
from crypsis.columns.roles import copies, guess, linking_columns, linking_values, panel
from crypsis.columns.row_order import neighbors_alike
from crypsis.dataset import Dataset
from crypsis.results import Result, number_text, percent_text
from crypsis.tables import Kind

FIRST_ROWS = 20_000
"""Of so many rows the order is examined."""
UNDECIDED_RECORD = (
    "It was not decided what a record is: one person each, or an event of a person who may have several."
)
DECIDE_RECORD = (
    "Set {person=each record} if each is of another person, or {person} to the column that identifies "
    "the person."
)
_COUNTED = "what is measured counts records"
_REASON = "or write why each record is of one person: {person_reason}."


class RecordEvidence(Result):
    """Why records may not be of one person each: a code for programs, a sentence, and what to do."""

    code: str
    text: str
    hint: str
    columns: tuple[str, ...] = ()
    """The columns that identify the person, if it is evidence that some do."""


def record_evidence(
    data: Dataset, original: Dataset | None = None, *, identifiers: Sequence[str] | None = None, seed: int = 0
) -> tuple[RecordEvidence, ...]:
    """What indicates that records are not of one person each, the strongest first.

    Parameters
    ----------
    data : Dataset
        The data with its roles; nothing indicates it where the column of the person is known.
    original : Dataset, optional
        What the data were made from: their quasi-identifiers have their full detail there.
    identifiers : sequence of str, optional
        The identifiers that repeat, where they are known (`linking_columns`).
    seed : int
        The seed of the samples.

    Returns
    -------
    tuple of RecordEvidence
        Identifiers that repeat; else columns that divide the records by the quasi-identifiers,
        copies of records, far fewer combinations than independent people have, values that hardly
        ever occur twice in a wave, and rows that are like the row before.

    Examples
    --------
    >>> import pyarrow as pa
    >>> visits = pa.table({"patient_nbr": [712, 712, 815] * 9, "ward": ["a", "b", "a"] * 9})
    >>> [one.columns for one in record_evidence(Dataset.from_frame(visits))]
    [('patient_nbr',)]
    """
    if data.person is not None:
        return ()
    if identifiers is None:
        identifiers = linking_columns(data, guess(data, seed=seed))
    if identifiers:
        return tuple(_repeats(data, column) for column in identifiers)
    key = linking_values(data, seed=seed)
    if key:
        return (_divides(data, key),)
    evidence = (_copied(data, original), _combinations(data, original), _waves(data, seed), _row_order(data))
    return tuple(reason for reason in evidence if reason is not None)


def _repeats(data: Dataset, column: str) -> RecordEvidence:
    text = (
        f"Column {column!r} repeats: if it identifies people, there are "
        f"{number_text(data.rows.tally([column]).values, ',')} people in {data.count:,} records, and "
        f"{_COUNTED}."
    )
    hint = "Set {person} (or {household}) to it, or write whose it is: {note=several_people}."
    return RecordEvidence("person-against-evidence", text, hint, (column,))


def _divides(data: Dataset, key: tuple[str, ...]) -> RecordEvidence:
    people = int(data.rows.tally(key).values)
    text = (
        f"{_listed(key)} {'divides' if len(key) == 1 else 'together divide'} the records into "
        f"{people:,} groups, each with the same quasi-identifiers in all of its records: if these are "
        f"people, they have several records, and {_COUNTED}."
    )
    hint = (
        "Set {person} (or {household}) to the column, or to one made of both, or write whose records "
        "these are: {note=several_people}."
    )
    return RecordEvidence("person-against-evidence", text, hint, key)


def _copied(data: Dataset, original: Dataset | None) -> RecordEvidence | None:
    """Records that are all in the data several times, without anything that differs between them.

    Records of an original that are one record of the release, as after microaggregation, are no
    copies.
    """
    times = copies(data)
    if times < 2:
        return None
    if original is not None and original.count >= data.count:
        shared = [name for name in data.released if name in original.names]
        if copies(original, shared) < 2:
            return None
    text = (
        f"Every record is in the data {times:,} times, or a multiple of that: if these are copies, as "
        f"after a join, classes have {times:,} times fewer people than records."
    )
    hint = f"Remove the copies, set {{person}}, compare it with its {{original}}, {_REASON}"
    return RecordEvidence("copied-records", text, hint)


def _combinations(data: Dataset, original: Dataset | None) -> RecordEvidence | None:
    """Far fewer combinations of quasi-identifiers than independent people would have."""
    detailed = data
    if original is not None:
        shared = {name: role for name, role in data.roles.items() if name in original.names}
        detailed = original.with_roles(shared)
    repeated = repeated_combinations(detailed)
    if repeated is None:
        return None
    text = (
        f"The {repeated.records:,} records have {repeated.combinations:,} combinations of "
        f"{_listed(repeated.columns)}; independent people would have about "
        f"{round(repeated.expected):,}: if the records of one person are alike in them, all records "
        f"of a class may be of one person, and {_COUNTED}."
    )
    return RecordEvidence("person-against-evidence", text, f"Set {{person}}, {_REASON}")


def _waves(data: Dataset, seed: int) -> RecordEvidence | None:
    """A column that links the records of a person in several waves, in which other values change."""
    columns = panel(data, seed=seed)
    if columns is None:
        return None
    column, wave = columns
    text = (
        f"Records with the same value of {column!r} hardly ever have the same value of {wave!r}, "
        "though by chance they would: if they are records of one person at several times, what these "
        f"disclose together is not measured, and {_COUNTED}."
    )
    hint = "Set {person}, exclude the column, or write whose records these are: {note=several_people}."
    return RecordEvidence("person-against-evidence", text, hint, columns)


def _row_order(data: Dataset) -> RecordEvidence | None:
    """Rows that follow each other and are alike: those of one person, if the file has several."""
    names = [
        name
        for name in data.quasi_identifiers
        if name in data.released and data.rows.column(name).kind is not Kind.NESTED
    ]
    if not names or not data.rows.local:
        return None
    neighbors = neighbors_alike(data.rows.first(FIRST_ROWS, names))
    if neighbors is None:
        return None
    columns, share, chance = neighbors
    text = (
        f"{percent_text(share)} of the rows have the same {_listed(columns)} as the row before, by "
        f"chance {percent_text(chance)} would, and the file is not sorted by this: if rows of one "
        f"person or household follow each other, their order links them, and {_COUNTED}."
    )
    hint = f"Release the rows in random order, set {{person}}, {_REASON}"
    return RecordEvidence("kept-order", text, hint)


def _listed(names: Sequence[str]) -> str:
    quoted = [repr(name) for name in names]
    return " and ".join(filter(None, [", ".join(quoted[:-1]), quoted[-1]]))
