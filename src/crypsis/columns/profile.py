"""The scan of a dataset: the role of each column, and the most identifying columns and pairs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Unpack

from crypsis import progress
from crypsis.columns.counts import count_columns, count_pair
from crypsis.columns.records import UNDECIDED_RECORD, record_evidence
from crypsis.columns.roles import Guess, guess, linking_columns, stricter_role
from crypsis.counting.cells import Cells, ColumnSetCounts
from crypsis.counting.partitions import count_column_sets
from crypsis.dataset import ColumnNote, Data, Dataset, as_dataset, takes_roles
from crypsis.errors import ParameterError
from crypsis.options import MissingValues, Role, Roles
from crypsis.results import Number, Result, number_text, without_control
from crypsis.tables import Kind

_COUNTED_IN_MEMORY = 50_000_000
"""Up to so many coded values, pairs are counted in memory; beyond, by the engine."""
_COLUMNS_PAIRED = 8
"""So many columns, those with the most values, are paired by the engine."""
_MOST_PAIRED = 300
"""So many columns, those with the most values, are paired in memory: 45,000 pairs take seconds."""
_MIN_KEY_SHARE = 0.95
"""A column of which so many values occur once identifies by itself, and is not paired."""


class ColumnProfile(Result):
    """One column: its values in numbers, and its role, decided or guessed."""

    column: str
    kind: str
    distinct: Number
    """The number of values, the missing value excluded."""
    missing: int
    unique_rows: Number
    """The number of records whose value no other record has."""
    smallest_class: int | None
    largest_class: int | None
    """The sizes of the classes of this column alone; None where only some were sampled."""
    role: Role
    guessed: bool
    reason: str
    confidence: float
    hipaa: str | None
    """The identifier of the HIPAA Safe Harbor that it seems to contain."""
    free_text: bool
    evidence: str = ""
    """What indicates, with a confidence of at least 0.8, that it identifies people by itself."""
    stricter_role: str | None = None
    """The role that name and values strongly indicate, where the decided one is milder."""
    stricter_reason: str = ""
    """What indicates it."""
    override: str = ""
    """The owner's reason for a role that contradicts the evidence."""
    links: bool = False
    """Whether it seems to identify people and repeats, so that it links the records of one person,
    and nobody decided about that."""


class Profile(Result):
    """The result of a scan."""

    rows: int
    columns: tuple[ColumnProfile, ...]
    most_identifying: tuple[ColumnSetCounts, ...]
    """Columns and pairs of columns, those with the most unique records first."""
    columns_paired: tuple[str, ...]
    """The columns whose pairs were counted."""
    missing: str
    """How missing values are compared in the pairs."""
    person: str | None = None
    """The column that identifies the person of a record, if it was decided."""
    people: Number | None = None
    """The number of persons, where that column is known."""
    person_decided: bool = False
    """Whether it was decided what a record is: one person, or an event of one."""
    record_evidence: tuple[str, ...] = ()
    """What indicates that records are not of one person each, in sentences."""
    encoding: str | None = None
    """The encoding that a text file was read in, where it is not UTF-8."""

    @property
    def proposals(self) -> tuple[str, ...]:
        """What is open about the records, in sentences: what they are, and the evidence."""
        open_question = () if self.person_decided else (UNDECIDED_RECORD,)
        return (*open_question, *self.record_evidence)

    def __str__(self) -> str:
        guessed = sum(column.guessed for column in self.columns)
        of_people = "" if self.people is None else f" of {number_text(self.people, ',')} people"
        lines = [
            f"{self.rows:,} records{of_people}, {len(self.columns)} columns ({guessed} roles guessed)",
            *([] if self.encoding is None else [f"  read as {self.encoding}"]),
            *(f"  {text}" for text in self.proposals),
        ]
        for role in Role:
            names = [column.column for column in self.columns if column.role is role]
            lines += [f"  {role.value}: {', '.join(names)}"] if names else []
        if self.most_identifying:
            first = self.most_identifying[0]
            share = f"{100 * first.unique_fraction:.1f} % unique records"
            lines.append(f"  most identifying: {', '.join(first.columns)} ({share})")
        return without_control("\n".join(lines))


@takes_roles()
def scan(
    data: Data, *, limit: int = 10, exact: bool = False, seed: int = 0, **roles: Unpack[Roles]
) -> Profile:
    """Profile a dataset: the role of each column, and the most identifying columns and pairs.

    Parameters
    ----------
    data : Dataset, frame or path
        The data.
    limit : int
        The number of columns and pairs in `most_identifying`.
    exact : bool
        Whether everything is counted, also in tables of more than 20 million rows.
    seed : int
        The seed of the samples that roles are guessed from.
    **roles
        See `crypsis.read`. Roles that are not given are guessed (`crypsis.columns.roles.guess`).

    Returns
    -------
    Profile
        The columns with their roles, and the columns and pairs with the most unique records.

    Notes
    -----
    Cost: one grouping for each column and one scan for the pairs. In tables of more than 20 million
    rows, columns with too many values to count have estimates. Direct identifiers, keys and
    constants are not paired, nor, of more than 300 columns, those with the fewest values
    (`columns_paired` has those that are).

    Examples
    --------
    >>> import pyarrow as pa
    >>> people = pa.table({"age": [30, 30, 41, 41], "sex": ["f", "m", "f", "f"]})
    >>> [(pair.columns, pair.singletons) for pair in scan(people).most_identifying]
    [(('age', 'sex'), 2), (('sex',), 1), (('age',), 0)]
    """
    dataset = as_dataset(data, **roles)
    if limit < 1:
        raise ParameterError(f"Parameter 'limit' must be at least 1; {limit} was given.", parameter="limit")
    columns, counts = profile_columns(dataset, exact=exact, seed=seed)
    paired = _pairable(columns)
    if len(paired) > _MOST_PAIRED:
        most = {*sorted(paired, key=lambda name: -counts[name].distinct)[:_MOST_PAIRED]}
        paired = [name for name in paired if name in most]
    column_sets = _singles(dataset, counts) + _pairs(dataset, paired, counts, exact, seed)
    links = [column.column for column in columns if column.links]
    judged = dataset.with_roles({column.column: column.role for column in columns})
    evidence = record_evidence(judged, identifiers=links, seed=seed)
    column_sets.sort(
        key=lambda column_set: (
            -column_set.singletons,
            -column_set.distinct,
            len(column_set.columns),
            column_set.columns,
        )
    )
    return Profile(
        rows=dataset.count,
        columns=columns,
        most_identifying=tuple(column_sets[:limit]),
        columns_paired=tuple(paired),
        missing=dataset.missing.value,
        person=dataset.person,
        people=next((column.distinct for column in columns if column.column == dataset.person), None),
        person_decided=dataset.person_decided,
        record_evidence=tuple(reason.text for reason in evidence),
        encoding=dataset.rows.legacy_encoding,
    )


def profile_columns(
    dataset: Dataset, *, exact: bool = False, seed: int = 0
) -> tuple[tuple[ColumnProfile, ...], dict[str, ColumnSetCounts]]:
    """Each column with its role, and the classes of each column that can be counted."""
    flat = [column.name for column in dataset.rows.columns if column.kind is not Kind.NESTED]
    counts = count_columns(dataset, flat, exact=exact, seed=seed)
    guesses = guess(dataset, counts=counts, seed=seed)
    return tuple(_profile(dataset, guess, counts.get(guess.column)) for guess in guesses), counts


def _profile(dataset: Dataset, guess: Guess, counts: ColumnSetCounts | None) -> ColumnProfile:
    decided = None if guess.column in dataset.undecided else dataset.roles[guess.column]
    counted = counts or ColumnSetCounts((guess.column,), dataset.count, 0, 0, 0, 0, 0)
    kind = dataset.rows.column(guess.column).kind
    stricter = stricter_role(guess, decided, kind, float(counted.values))
    return ColumnProfile(
        column=guess.column,
        kind=kind.value,
        distinct=counted.values,
        missing=counted.missing,
        unique_rows=counted.singletons,
        smallest_class=None if counted.estimated else counted.smallest,
        largest_class=None if counted.estimated else counted.largest,
        role=guess.role if decided is None else decided,
        guessed=decided is None,
        reason=guess.reason if decided is None else _decided_reason(guess, decided),
        confidence=guess.confidence if decided is None else 1.0,
        hipaa=None if guess.hipaa is None else guess.hipaa.value,
        free_text=guess.free_text,
        evidence=guess.reason if guess.identifies else "",
        stricter_role=None if stricter is None else stricter.value,
        stricter_reason="" if stricter is None else guess.reason,
        override=dataset.notes.get(guess.column, ColumnNote()).override,
        links=bool(linking_columns(dataset, [guess])),
    )


def _decided_reason(guess: Guess, role: Role) -> str:
    """What a column would have been guessed as, beside the role that was decided."""
    if guess.role is Role.UNDECIDED:
        return f"not guessed: {guess.reason}"
    same = "the same" if guess.role is role else guess.role.value
    return f"the guess was {same}: {guess.reason}"


def _pairable(columns: Sequence[ColumnProfile]) -> list[str]:
    """Columns that can identify more in a pair: no direct identifiers, keys or constants."""
    return [
        column.column
        for column in columns
        if column.role is not Role.IDENTIFIER
        and column.distinct > 1
        and column.unique_rows < _MIN_KEY_SHARE * max(1.0, float(column.distinct))
    ]


def _singles(dataset: Dataset, counts: dict[str, ColumnSetCounts]) -> list[ColumnSetCounts]:
    if dataset.missing is not MissingValues.DROP:
        return list(counts.values())
    return [
        count if count.estimated else dataset.rows.tally([name], drop_missing=True)
        for name, count in counts.items()
    ]


def _pairs(
    dataset: Dataset, names: Sequence[str], counts: dict[str, ColumnSetCounts], exact: bool, seed: int
) -> list[ColumnSetCounts]:
    if len(names) < 2:
        return []
    if dataset.count * len(names) <= _COUNTED_IN_MEMORY:
        cells = Cells.from_table(dataset.rows.cells(names), names, dataset.missing)
        total = len(names) * (len(names) + 1) / 2
        sets = progress.track(count_column_sets(cells, 2), "counting pairs of columns", total)
        return [column_set for column_set in sets if len(column_set.columns) == 2]
    chosen = sorted(names, key=lambda name: -counts[name].distinct)[:_COLUMNS_PAIRED]
    pairs = list(combinations([name for name in names if name in chosen], 2))
    return [
        count_pair(
            dataset,
            (first, second),
            float(counts[first].distinct) * float(counts[second].distinct),
            exact=exact,
            seed=seed,
        )
        for first, second in progress.track(pairs, "counting pairs of columns")
    ]
