"""What a data subject can verify with their own record and the release (domingo2016, Sec. 4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa

from crypsis.dataset import Data, Dataset, as_dataset
from crypsis.errors import ColumnError, InputError
from crypsis.linkage._comparable import ExcludedColumn, comparable_columns
from crypsis.linkage._diversity import Criterion
from crypsis.linkage._nearest import PointIndex
from crypsis.linkage._neighborhoods import neighborhoods
from crypsis.linkage._null_distribution import random_records as draw_records
from crypsis.linkage._orders import Orders
from crypsis.linkage._pair import Pair, pair, to_frame
from crypsis.linkage._ranks import Floats, Ints, Ties
from crypsis.linkage._search import share
from crypsis.linkage._verification import check_random_records
from crypsis.options import Columns
from crypsis.results import Estimate, Result, number_text, raw

_PLAUSIBLE_SHARE = 0.05
"""From this share of other records with a record as near on, a match is not unusual."""


class RecordColumn(Result):
    """One column of a verified record.

    `distance` is in ranks, from the released value nearest to the original one to that of the
    record that f gives; `diversity` that of the values within this distance, `column_diversity`
    that of the released column.
    """

    column: str
    distance: float
    diversity: float
    column_diversity: float
    nearest_rank: float = raw()


class RecordVerification(Result):
    """What a data subject learns from their record and a release.

    `record_distance` is the largest rank difference to the nearest released record, `candidates`
    the number of released records that near (None where the row was given). For releases that only
    permute the original values, `chance` is how often other released records have a record that
    near, which keeps the dependence between columns, `chance_independent` the same for random
    records (as in the paper), and `plausible` whether `chance` is at least 5 %: then the distance
    is safe in the sense of domingo2016, Sec. 5.2. `row` is the released record.
    """

    reasons: tuple[str, ...]
    records: int
    record_distance: float
    candidates: int | None
    criterion: str
    columns: tuple[RecordColumn, ...]
    excluded: tuple[ExcludedColumn, ...]
    by_frequency: tuple[str, ...]
    plausible: bool | None
    chance: Estimate | None
    chance_independent: Estimate | None
    row: int = raw()

    def __str__(self) -> str:
        return "\n".join(self.reasons)

    @property
    def distances(self) -> tuple[float, ...]:
        """The permutation distance of each column."""
        return tuple(column.distance for column in self.columns)

    @property
    def diversities(self) -> tuple[float, ...]:
        """The diversity within the permutation distance of each column."""
        return tuple(column.diversity for column in self.columns)

    @property
    def nearest_ranks(self) -> tuple[float, ...]:
        """The rank of the released value nearest to the value of each column."""
        return tuple(column.nearest_rank for column in self.columns)


def verify_record(
    release: Data,
    record: Data,
    *,
    permutation_only: bool = False,
    random_records: int = 10_000,
    criterion: Criterion = "variance",
    mapping: Literal["subject"] | int = "subject",
    columns: Columns | None = None,
    orders: Orders | None = None,
    ties: Ties = "average",
    seed: int = 0,
) -> RecordVerification:
    """What a data subject can verify with their own record and the release.

    Parameters
    ----------
    release : Data
        The released file.
    record : Data
        The record: a mapping of values or texts, a frame or file of one row, or a sequence if the
        release is an array.
    permutation_only : bool
        Whether the release consists of the original values in another order (swapping, shuffling,
        reverse mapping). Only then can chance be computed, because the released columns are the
        original ones.
    random_records : int
        How many random records to draw.
    criterion : {"variance", "distinct", "entropy", "t-closeness"}
        The diversity, see `permuted_privacy`.
    mapping : "subject" or int
        The nearest released record (domingo2016, Algorithm 3; of several the first), or the row of
        the record's masked record, which the protector knows.
    columns : str or sequence of str, optional
        The columns to compare; by default all that can be compared.
    orders : mapping, optional
        The order of each column of categories, see `PairOptions`; by default the frequency in the
        release.
    ties : {"average", "random"}
        The ranks of equal values, see `RankOptions`.
    seed : int
        The seed of every random choice.

    Returns
    -------
    RecordVerification
        The permutation distances of the record, the diversity near it, and whether such a match is
        plausible as chance.

    References
    ----------
    domingo2016, Algorithms 2 and 3, Table 3 and the end of Sec. 5.2.

    Examples
    --------
    >>> found = verify_record({"age": [28, 33, 61, 40], "income": [12, 90, 51, 47]},
    ...                       {"age": 30, "income": 50})
    >>> found.distances, found.record_distance, found.row
    ((1.0, 1.0), 1.0, 1)
    """
    check_random_records(random_records)
    if isinstance(release, str | Path):
        release = as_dataset(release)
    target = _one_record(record, release)
    kept = comparable_columns(target, release, columns=columns, orders=orders, categories="frequency")
    both = pair(
        target,
        to_frame(release, kept.columns).to_native(),
        columns=kept.columns,
        orders=kept.orders(orders),
        row_map="unknown",
        ties=ties,
        seed=seed,
        order_from="masked",
    )
    f = mapping if isinstance(mapping, str) else np.array([mapping], dtype=np.int64)
    neighborhood = neighborhoods(both, f, criterion)
    parts = zip(
        both.names,
        neighborhood.moved[0].tolist(),
        neighborhood.diversities(neighborhood.moved)[0].tolist(),
        neighborhood.column_diversities().tolist(),
        neighborhood.center[0].tolist(),
        strict=True,
    )
    verified = tuple(RecordColumn(*part) for part in parts)
    distance = max(column.distance for column in verified)
    candidates = None if neighborhood.candidates is None else int(neighborhood.candidates[0])
    chance = independent = None
    if permutation_only:
        _check_permutation(both)
        chance, independent = _chance(both, distance, random_records)
    return RecordVerification(
        reasons=_reasons(verified, both.masked_records, candidates, chance),
        records=both.masked_records,
        record_distance=distance,
        candidates=candidates,
        criterion=criterion,
        columns=verified,
        excluded=kept.excluded,
        by_frequency=kept.by_frequency,
        plausible=None if chance is None else chance.value >= _PLAUSIBLE_SHARE,
        chance=chance,
        chance_independent=independent,
        row=int(neighborhood.rows[0]),
    )


def _reasons(
    columns: tuple[RecordColumn, ...], records: int, candidates: int | None, chance: Estimate | None
) -> tuple[str, ...]:
    least = min(columns, key=lambda column: column.distance)
    largest = max(column.distance for column in columns)
    many = "" if candidates is None else f" {candidates:,} released records are that near."
    lines = [
        f"The released record nearest to your record differs by up to {largest:,.4g} of "
        f"{records:,} ranks." + (" 1 released record is that near." if candidates == 1 else many),
        f"The column that moved least is {least.column!r} ({least.distance:,.4g} ranks).",
    ]
    if chance is not None:
        plausible = chance.value >= _PLAUSIBLE_SHARE
        verdict = "not unusual" if plausible else "unusual: it is probably your record"
        lines.append(
            f"{number_text(chance, '.1%')} of the other records have a record that near, so such a "
            f"match is {verdict}."
        )
    return tuple(lines)


def _one_record(record: Any, release: Any) -> Any:
    """The record as a frame of one row, with texts as the types of the release."""
    if isinstance(record, Mapping):
        stated = {name: value for name, value in record.items() if str(value).strip()}
        released = to_frame(release, [name for name in stated if name in _names(release)])
        record = {name: _column_of_one(name, value, released) for name, value in stated.items()}
        if not record:
            raise InputError("The record is empty.", code="one-record")
    elif isinstance(release, np.ndarray):
        record = np.atleast_2d(np.asarray(record))
    frame = to_frame(record)
    if len(frame) != 1:
        raise InputError(f"One record is expected; {len(frame):,} were given.", code="one-record")
    return frame.to_native()


def _names(release: Any) -> Sequence[str]:
    return release.names if isinstance(release, Dataset) else to_frame(release).columns


def _column_of_one(name: str, value: Any, release: nw.DataFrame[Any]) -> Any:
    """A value as a column; a text takes the type of the released column, and is never quoted."""
    if not isinstance(value, str):
        return value if isinstance(value, list | tuple | np.ndarray | pa.Array) else [value]
    kind = release[name].to_arrow().type if name in release.columns else pa.string()
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    try:
        return pa.array([value.strip()]).cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise ColumnError(
            f"The value given for column {name!r} is not a valid {kind}, the type of the released column.",
            code="different-types",
            columns=(name,),
        ) from None


def _check_permutation(both: Pair) -> None:
    absent = [c.name for c in both.columns if not np.isin(c.original[0], c.masked)]
    if absent:
        raise InputError(
            f"The record's value does not occur in the released {', '.join(map(repr, absent))}: "
            "the release is not a permutation of the original values, or the record is not in it.",
            code="not-a-permutation",
            hint="Verify without {permutation_only}.",
            columns=tuple(absent),
        )


def _chance(both: Pair, distance: float, wanted: int) -> tuple[Estimate, Estimate]:
    """How often other released records, and random records, have a record that near."""
    y = both.masked_ranks()
    index, rng = PointIndex(y), np.random.default_rng((both.seed, 6))
    sampled = np.arange(len(y)) if len(y) <= wanted else rng.choice(len(y), wanted, replace=False)
    nearest_distances = _nearest_other(index, sampled)
    drawn, exhaustive = draw_records(y, wanted, rng)
    drawn_within = float((index.distances(drawn, "random records") <= distance).sum())
    independent = share(drawn_within, len(drawn))
    if exhaustive:
        value = independent.value
        independent = Estimate(value, value, value, 1.0, "all combinations")
    return share(float((nearest_distances <= distance).sum()), len(nearest_distances)), independent


def _nearest_other(index: PointIndex, rows: Ints) -> Floats:
    """The distance from released records to the nearest other one."""
    if len(index.place_of) < 2:
        return np.full(len(rows), np.inf)
    point = index.place_of[rows]
    distance = np.zeros(len(rows))
    alone = np.flatnonzero(index.sizes[point] == 1)
    if len(alone):
        distance[alone] = index.some(index.points[point[alone]], 2)[0][:, 1]
    return distance
