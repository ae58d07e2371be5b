"""What the joint test compares: all columns that originals, controls and masked records share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from crypsis.dataset import Data, Dataset
from crypsis.hierarchies.labels import as_text
from crypsis.linkage._alignment import missing_values
from crypsis.linkage._columns import KIND_WORDS, coded_values, score_kind, scores
from crypsis.linkage._pair import Pair, to_frame
from crypsis.linkage._ranks import Floats

_MIN_SHARED_CATEGORIES = 0.5
"""The share of masked records whose category people have; with fewer it was replaced by another."""


@dataclass(frozen=True, eq=False)
class JointFiles:
    """Records by columns, as numbers or codes of categories; NaN is a missing value.

    `untested` are the released columns that cannot be compared, or that the caller left out.
    """

    names: tuple[str, ...]
    nominal: tuple[bool, ...]
    originals: Floats
    controls: Floats
    masked: Floats
    untested: tuple[str, ...]


def joint_files(
    original: Data,
    masked: Data,
    controls: Data,
    ranked: tuple[Pair, Pair],
    wanted: Sequence[str] | None,
    on: str | None,
) -> JointFiles:
    """All columns that the three files share, or those wanted.

    Ranked columns have the scores of their pairs (originals with controls, and with masked records);
    others are compared as numbers with missing values, or as categories.
    """
    before, after, control_frame = to_frame(original), to_frame(masked), to_frame(controls)
    columns: dict[str, tuple[Floats, ...]] = {
        first.name: (first.original, first.masked, second.masked)
        for first, second in zip(ranked[0].columns, ranked[1].columns, strict=True)
    }
    identifiers = original.identifiers if isinstance(original, Dataset) else ()
    nominal = dict.fromkeys(columns, False)
    untested = []
    for name in after.columns:
        if name == on or name in columns or name in identifiers:
            continue
        shared = name in before.columns and name in control_frame.columns
        if not shared or (wanted is not None and name not in wanted):
            untested.append(name)
            continue
        series = before[name], control_frame[name], after[name]
        words = {KIND_WORDS[score_kind(sery)] for sery in series}
        if len(words) > 1:
            untested.append(name)
            continue
        nominal[name] = words == {"categories"}
        columns[name] = _codes(series) if nominal[name] else tuple(map(_numbers, series))
        people = np.concatenate(columns[name][:2])
        if nominal[name] and np.isin(columns[name][2], people).mean() < _MIN_SHARED_CATEGORIES:
            del columns[name], nominal[name]
            untested.append(name)
    originals, unrelated, released = (
        np.column_stack([np.asarray(column[side], dtype=np.float64) for column in columns.values()])
        for side in range(3)
    )
    return JointFiles(
        tuple(columns), tuple(nominal.values()), originals, unrelated, released, tuple(untested)
    )


def _numbers(series: Any) -> Floats:
    """Numbers or times; a missing value is NaN."""
    if not missing_values(series):
        return np.asarray(scores(series, score_kind(series)), dtype=np.float64)
    if series.dtype == nw.Duration:
        series = series.dt.total_microseconds()
    elif series.dtype.is_temporal() and series.dtype != nw.Time:
        series = series.dt.timestamp("us")
    return np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)


def _codes(columns: Sequence[Any]) -> tuple[Floats, ...]:
    """The category of each record, the same code in all files; a missing value is one, too."""
    position: dict[str | None, int] = {None: 0}
    code_arrays = []
    for series in columns:
        values, which = coded_values(series)
        texts = [None if value is None else as_text(value) for value in values]
        codes = np.array([position.setdefault(text, len(position)) for text in texts])
        code_arrays.append(codes[which].astype(np.float64))
    return tuple(code_arrays)
