"""Which values of a file apart an intruder gives back to records, without any common column.

What everybody knows of two attributes is enough: those of higher grade are paid more. The intruder
sorts the values and the records and joins them by rank, or joins values with the groups of records
that are as frequent. What they know is learned from one half of the people and tried on the other,
so that nothing is attributed to it that only these values show.

References
----------
Wong, Fu, Wang and Pei (2007), Minimality attack in privacy preserving data publishing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from crypsis.columns.codes import codes_of
from crypsis.counting.arrays import sums_of
from crypsis.dataset import Dataset
from crypsis.errors import RoleError
from crypsis.results import Result, percent_text
from crypsis.tables.sampling import sample

MAX_REJOINED = 0.5
"""The share of the values, beyond chance, above which a release is refused: with more, most of what
is said of a person by these files is true."""
_MAX_ROWS = 200_000
"""The records of which a sample is taken, beyond which shares hardly change."""
_MAX_GROUPS = 50
"""Released values up to which each is a group of its own."""
_QUANTILE_GROUPS = 20
"""The groups of equal size of a column with more values."""
_PRIOR_RECORDS = 1.0
"""The weight of no effect in a model of all columns, in records."""
_AVERAGING_ROUNDS = 20
"""The rounds of averages, after which orders hardly change."""
_MIN_RECORDS = 40
"""The records below which halves show nothing."""

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]


class Rejoined(Result):
    """How many values of an attribute apart are given back to records of the right group.

    The groups are the values of the columns `by`, or their twentieths in the order of what is
    expected of the attribute; `chance` is the share of a random assignment.
    """

    attribute: str
    by: tuple[str, ...]
    method: str
    share: float
    chance: float

    @property
    def gain(self) -> float:
        """The share of what chance leaves."""
        return (self.share - self.chance) / max(1 - self.chance, 1e-9)

    def __str__(self) -> str:
        names = ", ".join(map(repr, self.by))
        return (
            f"By {self.method} an intruder who knows how {self.attribute!r} depends on {names} "
            f"gives {percent_text(self.share)} of its values back to records of the right group; "
            f"by chance {percent_text(self.chance)}."
        )


def rejoined(
    original: Dataset,
    release: Dataset,
    files: Sequence[Sequence[str]],
    row_map: Sequence[int] | None,
    seed: int = 0,
    columns: Sequence[str] | None = None,
) -> tuple[Rejoined, ...]:
    """The worst intruder of each attribute that is released apart.

    Parameters
    ----------
    original : Dataset
        The attributes and all records.
    release : Dataset
        What is released of the same records, without these attributes.
    files : sequence of sequence of str
        The attributes of each file.
    row_map : sequence of int or None
        The original row of each released record; None if the rows are the same.
    seed : int
        The seed of halves and of the order of equal values.
    columns : sequence of str, optional
        The columns of the release that are tried; by default all.

    Returns
    -------
    tuple of Rejoined
        One for each attribute of which at least 40 values are not missing.

    Examples
    --------
    >>> import crypsis as cr
    >>> pay = cr.Dataset.from_frame(pa.table({"grade": [1, 2] * 50, "pay": list(range(100))}))
    >>> release = cr.Dataset.from_frame(pa.table({"grade": [1, 2] * 50}))
    >>> [result.attribute for result in rejoined(pay, release, [["pay"]], None)]
    ['pay']
    """
    released_apart = [name for names in files for name in names]
    if not released_apart or not original.count:
        return ()
    before, after = _aligned(original, release, released_apart, row_map, seed)
    rng, results = np.random.default_rng((seed, 17)), []
    for names in files:
        released = after.column_names if columns is None else columns
        known_columns = {name: after[name] for name in released if name in after.column_names}
        known_columns |= {name: before[name] for name in released_apart if name not in names}
        known_columns = {n: v for n, v in known_columns.items() if not pa.types.is_nested(v.type)}
        for name in names:
            if not pa.types.is_nested(before[name].type):
                results += _worst(name, before[name], known_columns, rng)
    return tuple(results)


def checked_rejoined(
    original: Dataset, release: Dataset, files: Sequence[Sequence[str]], row_map: Sequence[int] | None
) -> tuple[Rejoined, ...]:
    """The same; raise if most values of an attribute apart find their records again.

    Columns with an `override`, about which the owner gave a reason, count in the numbers only.
    """
    results = rejoined(original, release, files, row_map)
    overridden = {name for name, note in original.notes.items() if note.override}
    refused = results
    if any(overridden & {*result.by} for result in results):
        kept = [name for name in release.names if name not in overridden]
        refused = rejoined(original, release, files, row_map, columns=kept)
    worst = max(refused, key=lambda result: result.gain, default=None)
    if worst is not None and worst.gain > MAX_REJOINED:
        raise RoleError(
            f"Released apart, {worst.attribute!r} would be joined again. {worst}",
            code="rejoined",
            columns=(worst.attribute,),
            determines=(worst.attribute,),
            hint="Set {excluded} for it or for the other column, or release it in the same file, "
            "where requirements protect it.",
        )
    return results


def _aligned(
    original: Dataset,
    release: Dataset,
    released_apart: Sequence[str],
    row_map: Sequence[int] | None,
    seed: int,
) -> tuple[pa.Table, pa.Table]:
    """The attributes and the released columns of the same records; of large tables of a sample."""
    names = list(release.names)
    lost = row_map is not None and len(row_map) == 0
    if not original.rows.local or original.count > 10 * _MAX_ROWS or lost:
        kept = [name for name in names if name in original.names]
        table = sample(original.rows, _MAX_ROWS, seed=seed, names=[*released_apart, *kept])
        return table.select(released_apart), table.select(kept)
    before, after = original.to_arrow(list(released_apart)), release.to_arrow(names)
    if row_map is not None:
        before = before.take(pa.array(np.asarray(row_map, np.int64)))
    return before, after


def _worst(
    name: str, values: pa.ChunkedArray, known_columns: Mapping[str, pa.ChunkedArray], rng: np.random.Generator
) -> list[Rejoined]:
    """The most values that come back by any column, or by all of them together."""
    kept = np.flatnonzero(np.asarray(pc.is_valid(values).combine_chunks().to_numpy(False)))
    if kept.size < _MIN_RECORDS or not known_columns:
        return []
    counted = codes_of(values)[kept]
    numbers = _numbers(values, kept)
    half = rng.permutation(kept.size) % 2 == 0
    codes = {by: codes_of(column)[kept] for by, column in known_columns.items()}
    codes = {by: np.unique(code, return_inverse=True)[1] for by, code in codes.items()}
    results = []
    for by, groups in codes.items():
        ordered = _numbers(known_columns[by], kept)
        if groups.max() >= _MAX_GROUPS and ordered is not None:
            groups = _twentieths(ordered, rng)
        results.append(_by_counts(name, by, counted, groups))
        results.append(_by_rank(name, (by,), numbers, counted, groups, half, rng))
    if len(codes) > 1:
        target = _ranks(numbers, rng) if numbers is not None else None
        if target is not None:
            expected = _expected(target, list(codes.values()), half)
            together = _twentieths(expected, rng)
            results.append(_by_rank(name, tuple(codes), numbers, counted, together, half, rng))
    return [max(results, key=lambda result: result.gain)]


def _numbers(column: pa.ChunkedArray, kept: _Ints) -> _Floats | None:
    """Numbers, dates and times as numbers; None for anything else."""
    if pa.types.is_temporal(column.type):
        column = column.cast(pa.int32() if column.type.bit_width == 32 else pa.int64())
    if not (
        pa.types.is_integer(column.type)
        or pa.types.is_floating(column.type)
        or pa.types.is_decimal(column.type)
    ):
        return None
    numbers = np.asarray(column.cast(pa.float64()).to_numpy(), np.float64)[kept]
    return np.nan_to_num(numbers, nan=-np.inf)


def _ranks(values: _Floats, rng: np.random.Generator) -> _Floats:
    """Ranks from 0 to 1, of equal values in random order."""
    order = np.lexsort((rng.random(values.size), values))
    ranks = np.empty(values.size)
    ranks[order] = np.arange(values.size) / values.size
    return ranks


def _twentieths(values: _Floats, rng: np.random.Generator) -> _Ints:
    return np.asarray(_ranks(values, rng) * _QUANTILE_GROUPS, np.int64)


def _by_counts(name: str, by: str, values: _Ints, groups: _Ints) -> Rejoined:
    """Values joined with the groups that have as many records as they, and no other has."""
    size = values.size
    sizes = [np.bincount(codes) for codes in (values, groups)]
    alone = [dict(zip(*np.unique(class_sizes, return_counts=True), strict=True)) for class_sizes in sizes]
    of_size = {count: group for group, count in enumerate(sizes[1].tolist())}
    once = [
        value
        for value, count in enumerate(sizes[0].tolist())
        if count and alone[0][count] == 1 and alone[1].get(count) == 1
    ]
    target = np.full(sizes[0].size, -1)
    target[once] = [of_size[sizes[0][value]] for value in once]
    share = float((target[values] == groups).mean())
    chance = sum(float(sizes[0][value]) ** 2 for value in once) / size**2
    return Rejoined(name, (by,), "equal counts", share, chance)


def _by_rank(
    name: str,
    by: tuple[str, ...],
    numbers: _Floats | None,
    values: _Ints,
    groups: _Ints,
    half: NDArray[np.bool_],
    rng: np.random.Generator,
) -> Rejoined:
    """Each half in the order that the other half shows: the first values for the first group."""
    right = np.zeros(values.size, bool)
    chance = 0.0
    for test in (half, ~half):
        ranks = _ranks(numbers, rng) if numbers is not None else None
        of_value, of_group = _orders(ranks, values, groups, ~test)
        score = of_value[values[test]] if ranks is None else ranks[test]
        order = np.lexsort((rng.random(int(test.sum())), score))
        mine = groups[test]
        theirs = mine[np.lexsort((mine, of_group[mine]))]
        right[np.flatnonzero(test)[order]] = theirs == mine[order]
        chance += float(((np.bincount(mine) / mine.size) ** 2).sum()) / 2
    return Rejoined(name, by, "rank", float(right.mean()), chance)


def _orders(
    ranks: _Floats | None, values: _Ints, groups: _Ints, learn: NDArray[np.bool_]
) -> tuple[_Floats, _Floats]:
    """A place in one order for each value and for each group: where they occur together."""
    number = int(groups.max()) + 1
    sizes = np.maximum(np.bincount(groups[learn], minlength=number), 1)
    if ranks is not None:
        means = np.bincount(groups[learn], ranks[learn], minlength=number) / sizes
        return ranks, means
    counts = np.maximum(np.bincount(values[learn], minlength=int(values.max()) + 1), 1)
    rng = np.random.default_rng(0)
    of_group = rng.normal(size=number)
    for _ in range(_AVERAGING_ROUNDS):  # the first axis of correspondence analysis, by reciprocal averages
        of_value = np.bincount(values[learn], of_group[groups[learn]], minlength=counts.size) / counts
        of_group = np.bincount(groups[learn], of_value[values[learn]], minlength=number) / sizes
        of_group -= (of_group * sizes).sum() / sizes.sum()
        of_group /= max(float(np.sqrt((of_group**2 * sizes).sum())), 1e-12)
    return of_value, of_group


def _expected(target: _Floats, columns: Sequence[_Ints], half: NDArray[np.bool_]) -> _Floats:
    """What is expected of each record: each half by the effects of all columns in the other."""
    expected = np.full(target.size, float(target.mean()))
    for test in (half, ~half):
        learn = ~test
        for _ in range(_AVERAGING_ROUNDS):
            for codes in columns:  # one column after the other, by what the others leave
                number = int(codes.max()) + 1
                rest = target[learn] - expected[learn]
                counts = np.bincount(codes[learn], minlength=number) + _PRIOR_RECORDS
                expected += (sums_of(codes[learn], rest, number) / counts)[codes]
        if test is half:
            first = expected.copy()
            expected[:] = target.mean()
    return np.where(half, first, expected)
