"""What `scan` shows: each column, what it seems to be, and what tells people apart most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from crypsis import progress, roles
from crypsis.cells import Cells, NullPolicy, Subset
from crypsis.engine import Kind, Tally
from crypsis.engine.large import sketches
from crypsis.errors import ParameterError
from crypsis.release import Release, Role, as_release
from crypsis.results import Number, Result
from crypsis.tallies import EXACT_ROWS, EXACT_VALUES, tally_of, unique_of, values_of
from crypsis.tallies import tallies as column_tallies

_COUNTED_HERE = 50_000_000
"""Up to this many coded values the pairs are counted in memory; beyond, by the engine."""
_COLUMNS_PAIRED = 8
"""So many columns, those with the most values, are paired by the engine."""
_NEARLY_A_KEY = 0.95


@dataclass(frozen=True)
class ColumnProfile(Result):
    """One column: its values in numbers, and its role, decided or guessed."""

    column: str
    kind: str
    distinct: Number
    """An estimate where the column has too many values to count."""
    missing: int
    unique_rows: Number
    """Rows whose value no other row has."""
    smallest_group: int | None
    largest_group: int | None
    """None where only some groups were seen."""
    role: Role
    guessed: bool
    reason: str
    confidence: float
    hipaa: str | None
    free_text: bool


@dataclass(frozen=True)
class EstimatedSubset(Result):
    """The groups that a set of columns makes, where they are too many to count."""

    columns: tuple[str, ...]
    rows: int
    distinct: Number
    singletons: Number

    @property
    def unique_fraction(self) -> float:
        """The share of rows that are alone in their group, about."""
        return float(self.singletons) / self.rows if self.rows else 0.0


@dataclass(frozen=True)
class Profile(Result):
    """A release at first sight; `most_identifying`: columns and pairs, most unique rows first."""

    rows: int
    columns: tuple[ColumnProfile, ...]
    most_identifying: tuple[Subset | EstimatedSubset, ...]
    columns_paired: tuple[str, ...]
    """The columns whose pairs were counted."""
    missing: str
    """How missing values count in the pairs."""


def profile(
    data: object, *, most: int = 10, exact: bool = False, seed: int = 0, **keywords: object
) -> Profile:
    """Look at a release: every column, and the columns and pairs that tell people apart most.

    Roles that nobody decided are guessed (`crypsis.roles`) and marked so. Cost: one grouping per
    column in the engine, one scan for the pairs. `data` is a Release or any frame. Of more than 20
    million rows, what has too many values to count is estimated and says so (`crypsis.tallies`);
    `exact` counts everything.

    >>> import pyarrow as pa
    >>> people = pa.table({"age": [30, 30, 41, 41], "sex": ["f", "m", "f", "f"]})
    >>> [(pair.columns, pair.singletons) for pair in profile(people).most_identifying]
    [(('age', 'sex'), 2), (('sex',), 1), (('age',), 0)]
    """
    release = as_release(data, **keywords)
    if most < 1:
        raise ParameterError(f"most is at least 1; {most} was given.")
    flat = [column.name for column in release.rows.columns if column.kind is not Kind.NESTED]
    tallies = column_tallies(release, flat, exact=exact, seed=seed)
    guesses = {g.column: g for g in roles.guess(release, tallies=tallies, seed=seed)}
    columns = tuple(
        _column(release, name, tallies.get(name), guesses[name]) for name in release.names
    )
    paired = _worth_pairing(columns)
    found = _singles(release, flat, tallies) + _pairs(release, paired, tallies, exact, seed)
    found = sorted(
        found, key=lambda s: (-float(s.singletons), -float(s.distinct), len(s.columns), s.columns)
    )
    return Profile(
        rows=release.count,
        columns=columns,
        most_identifying=tuple(found[:most]),
        columns_paired=tuple(paired),
        missing=release.missing.value,
    )


def _column(release: Release, name: str, tally: Tally | None, guess: roles.Guess) -> ColumnProfile:
    known = release.roles.get(name)
    counted = tally or Tally(release.count, 0, 0, 0, 0, 0, 0)
    return ColumnProfile(
        column=name,
        kind=release.rows.column(name).kind.value,
        distinct=values_of(counted),
        missing=counted.missing,
        unique_rows=unique_of(counted),
        smallest_group=None if counted.estimated else counted.smallest,
        largest_group=None if counted.estimated else counted.largest,
        role=guess.role if known is None else known,
        guessed=known is None,
        reason=guess.reason if known is None else "decided",
        confidence=guess.confidence if known is None else 1.0,
        hipaa=None if guess.hipaa is None else guess.hipaa.value,
        free_text=guess.free_text,
    )


def _worth_pairing(columns: Sequence[ColumnProfile]) -> list[str]:
    """Columns that can add something in a pair: no identifiers, no keys, no constants."""
    return [
        column.column
        for column in columns
        if column.role is not Role.IDENTIFIER
        and float(column.distinct) > 1
        and float(column.unique_rows) < _NEARLY_A_KEY * max(1.0, float(column.distinct))
    ]


def _singles(
    release: Release, flat: Sequence[str], tallies: dict[str, Tally]
) -> list[Subset | EstimatedSubset]:
    drop = release.missing is NullPolicy.DROP
    found = []
    for name in flat:
        known = tallies[name]
        again = drop and not known.estimated
        tally = release.rows.tally([name], drop_missing=True) if again else known
        found.append(_subset((name,), tally))
    return found


def _pairs(
    release: Release, names: Sequence[str], tallies: dict[str, Tally], exact: bool, seed: int
) -> list[Subset | EstimatedSubset]:
    if len(names) < 2:
        return []
    if release.count * len(names) <= _COUNTED_HERE:
        table = release.rows.cells(names)
        cells = Cells.from_table(table, names, release.missing)
        return [subset for subset in _counted(cells) if len(subset.columns) == 2]
    chosen = sorted(names, key=lambda name: -tallies[name].distinct)[:_COLUMNS_PAIRED]
    pairs = list(combinations([name for name in names if name in chosen], 2))
    return [
        _subset(pair, _pair(release, pair, tallies, exact, seed))
        for pair in progress.track(pairs, "pairs of columns")
    ]


def _pair(
    release: Release, pair: tuple[str, str], tallies: dict[str, Tally], exact: bool, seed: int
) -> Tally:
    """Two columns together; estimated where there may be too many combinations to count."""
    one, other = (tallies[name] for name in pair)
    most = min(release.count, one.distinct * other.distinct)
    if exact or release.count <= EXACT_ROWS or most <= EXACT_VALUES:
        return release.rows.tally(pair, drop_missing=release.missing is NullPolicy.DROP)
    (look,) = sketches(release.rows, [pair])
    return tally_of(release, pair, look.distinct, look.missing, seed=seed)


def _counted(cells: Cells) -> list[Subset]:
    width = len(cells.columns)
    total = width * (width + 1) / 2
    return list(progress.track(cells.subsets(2), "pairs of columns", total))


def _subset(names: tuple[str, ...], tally: Tally) -> Subset | EstimatedSubset:
    if tally.estimated:
        return EstimatedSubset(names, tally.rows, values_of(tally), unique_of(tally))
    return Subset(
        names,
        tally.rows,
        tally.distinct,
        tally.singletons,
        tally.doubletons,
        tally.smallest,
        tally.largest,
    )
