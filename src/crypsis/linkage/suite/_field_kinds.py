"""Which kind of field a column is: from the values of both files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from crypsis.counting import arrays
from crypsis.hierarchies import Hierarchy
from crypsis.hierarchies.cover import covered, ends_of
from crypsis.hierarchies.labels import TOP, UNITS, as_text, date_label
from crypsis.linkage._orders import Order
from crypsis.linkage._ranks import Floats, Ints
from crypsis.linkage.suite._fields import CategoryField, Field, NumberField, TextField

_MAX_COVER_PAIRS = 400_000
"""Pairs of a value and a label; of more it is not sought which labels cover which values."""
_MAX_TABLE_CELLS = 8_000_000
"""Pairs of categories in a table of 64 MB; more are compared as texts."""
_MAX_CATEGORIES = 50
"""Up to so many distinct values are categories, never texts."""
_MAX_CATEGORY_SHARE = 0.3
"""Up to this share of distinct values they are categories: texts hardly repeat."""
_TEXT_DIMENSIONS = 6
"""Main directions of the weights of texts, which the search for near records uses."""
_MIN_PARSED_SHARE = 0.8
"""Where fewer of the labels are intervals, the column is not read as numbers."""


def field_of(name: str, x: pa.Array, y: pa.Array, order: Order | None = None) -> Field:
    """The column of both files as a field.

    Numbers and times are compared as such, also with intervals of them; a list as its order; other
    values as categories, by the hierarchy or by what the masked labels cover; texts that hardly
    repeat by their similarity.
    """
    if order is None and _is_number(x.type) and _is_number(y.type):
        values, masked = _as_numbers(x), _as_numbers(y)
        return _number_field(name, values, masked, masked)
    first, second = _coded(x), _coded(y)
    if isinstance(order, Sequence) and not isinstance(order, str):
        rank_of = {as_text(value): float(i) for i, value in enumerate(order)}
        has_ranks = all(text in rank_of for text in (*first.texts, *second.texts))
        if has_ranks:
            values, masked = (
                np.append([rank_of[text] for text in coded.texts], np.nan)[coded.codes]
                for coded in (first, second)
            )
            return _number_field(name, values, masked, masked)
    if _is_number(x.type):
        interval_field = _intervals(name, x, first, second)
        if interval_field is not None:
            return interval_field
    hierarchy = order if isinstance(order, Hierarchy) else None
    if hierarchy is None and _is_text(first, second):
        return _text_field(name, first, second)
    return _category_field(name, first, second, hierarchy)


class _Coded:
    """The distinct values of a column, and which each record has; the last code is missing."""

    def __init__(self, column: pa.Array) -> None:
        if isinstance(column, pa.ChunkedArray):
            column = column.combine_chunks()
        encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
        self.values: list[Any] = encoded.dictionary.to_pylist()
        self.texts = [as_text(value) for value in self.values]
        filled = encoded.indices.fill_null(len(self.values))
        self.codes: Ints = np.asarray(arrays.numbers(filled), dtype=np.int64)
        self.lost = self.codes == len(self.values)


def _coded(column: pa.Array) -> _Coded:
    return _Coded(column)


def _is_number(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_decimal(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_temporal(kind)
    )


def _as_numbers(column: pa.Array) -> Floats:
    """Numbers as they are, times in microseconds; missing values are NaN."""
    if pa.types.is_temporal(column.type):
        if pa.types.is_date32(column.type):
            column = column.cast(pa.int32())
        elif not (pa.types.is_time(column.type) or pa.types.is_duration(column.type)):
            column = column.cast(pa.timestamp("us"), safe=False)
        column = column.cast(pa.int64(), safe=False)
    column = pc.fill_null(column.cast(pa.float64(), safe=False), float("nan"))
    return np.asarray(arrays.numbers(column), dtype=np.float64)


def _number_field(name: str, values: Floats, low: Floats, high: Floats) -> NumberField:
    finite = [np.nan_to_num(bounds, posinf=np.inf, neginf=-np.inf) for bounds in (values, low, high)]
    lost, gone = np.isnan(values), np.isnan(low) | np.isnan(high)
    largest = np.abs(values[np.isfinite(values)]).max(initial=0.0)
    finite[0] = np.clip(finite[0], -10 * largest - 1, 10 * largest + 1)  # infinite originals
    return NumberField(name, lost, gone, *finite)


def _intervals(name: str, x: pa.Array, first: _Coded, second: _Coded) -> NumberField | None:
    """Labels of the masked file as intervals of numbers or of dates; None if few of them are."""
    values = _as_numbers(x)
    temporal = pa.types.is_date(x.type) or pa.types.is_timestamp(x.type)
    day_intervals = _date_intervals(first, values) if temporal else {}
    ends = []
    for text in second.texts:
        interval = day_intervals.get(text) if temporal else ends_of(text)
        ends.append(interval if text != TOP else (-np.inf, np.inf))
    parsed = sum(end is not None for end in ends)
    if not ends or parsed < _MIN_PARSED_SHARE * len(ends):
        return None
    table = np.array([end or (-np.inf, np.inf) for end in ends] + [(np.nan, np.nan)])
    return _number_field(name, values, *table[second.codes].T)


def _date_intervals(first: _Coded, values: Floats) -> dict[str, tuple[float, float]]:
    """For each label of a unit of time the first and the last original date that has it."""
    numbers = np.full(len(first.values) + 1, np.nan)
    numbers[first.codes] = values
    intervals: dict[str, tuple[float, float]] = {}
    months: dict[tuple[int, int], tuple[Any, float, float]] = {}
    for value, text, number in zip(first.values, first.texts, numbers.tolist(), strict=False):
        intervals[text] = (number, number)
        month = (value.year, value.month)
        _, low, high = months.get(month, (value, number, number))
        months[month] = (value, min(low, number), max(high, number))
    for unit in UNITS:
        for value, first_day, last_day in months.values():
            label = date_label(value, unit)
            low, high = intervals.get(label, (first_day, last_day))
            intervals[label] = (min(low, first_day), max(high, last_day))
    return intervals


def _is_text(first: _Coded, second: _Coded) -> bool:
    """Texts that hardly repeat and are mostly not in the other file as they are."""
    distinct = len(second.texts)
    if distinct <= _MAX_CATEGORIES or distinct <= _MAX_CATEGORY_SHARE * len(second.codes):
        return False
    original_texts = set(first.texts)
    shared = sum(text in original_texts for text in second.texts)
    long = np.mean([len(text) for text in second.texts])
    return bool(long >= 4 and shared < 0.9 * distinct and not _prefixes(first, second))


def _prefixes(first: _Coded, second: _Coded) -> Mapping[str, list[int]]:
    """The labels that are beginnings of original values, if nearly all are; else nothing."""
    original_texts = set(first.texts)
    lengths = {len(text) for text in second.texts if text not in original_texts}
    if not lengths or len(lengths) > 6:
        return {}
    starts: dict[str, list[int]] = {}
    for position, text in enumerate(first.texts):
        for size in lengths:
            if len(text) > size:
                starts.setdefault(text[:size], []).append(position)
    hits = sum(text in starts or text in original_texts for text in second.texts)
    return starts if hits >= 0.9 * len(second.texts) else {}


def _category_field(name: str, first: _Coded, second: _Coded, hierarchy: Hierarchy | None) -> Field:
    wide, many = len(first.texts), len(second.texts)
    if wide * many > _MAX_TABLE_CELLS:
        return _text_field(name, first, second)  # too many for a table
    table = np.ones((wide + 1, many + 1))
    code_of = {text: i for i, text in enumerate(first.texts)}
    equal = [(code_of[text], j) for j, text in enumerate(second.texts) if text in code_of]
    if equal:
        table[tuple(np.array(equal).T)] = 0.0
    unknown = [j for j, text in enumerate(second.texts) if text not in code_of]
    if unknown and hierarchy is None:
        starts = _prefixes(first, second)
        if starts:
            for j in unknown:
                table[starts.get(second.texts[j], []), j] = 0.0
        elif wide * len(unknown) <= _MAX_COVER_PAIRS:
            contained = covered(second.values, first.values, any_other=True)
            table[:wide, :many][contained.T] = 0.0
    if hierarchy is not None:
        _by_hierarchy(table, first, second, hierarchy)
    return CategoryField(name, first.lost, second.lost, first.codes, second.codes, table)


def _by_hierarchy(table: Floats, first: _Coded, second: _Coded, hierarchy: Hierarchy) -> None:
    """How far up the tree two categories meet; a label covers what is below it."""
    contained = covered(second.values, first.values, hierarchy, any_other=True)
    table[: len(first.texts), : len(second.texts)][contained.T] = 0.0
    paths = {text: _path(hierarchy, text) for text in {*first.texts, *second.texts}}
    for i, original_text in enumerate(first.texts):
        for j, masked_text in enumerate(second.texts):
            mine, theirs = paths[original_text], paths[masked_text]
            if table[i, j] == 0 or not mine or not theirs:
                continue
            meet = next((k for k, node in enumerate(mine) if node in theirs), len(mine))
            table[i, j] = min(1.0, meet / max(len(mine) - 1, 1))


def _path(hierarchy: Hierarchy, text: str) -> tuple[str, ...]:
    return hierarchy.labels(text) if not hierarchy.unknown([text]) else ()


def _text_field(name: str, first: _Coded, second: _Coded) -> TextField:
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    reader = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 3), dtype=np.float32)
    padded = [f" {text} " for text in (*first.texts, *second.texts, "?")]
    weights = reader.fit_transform(padded)
    size = min(_TEXT_DIMENSIONS, weights.shape[1] - 1)
    main = np.zeros((len(padded), 1))
    if size >= 1:
        main = TruncatedSVD(size, n_iter=3, random_state=0).fit_transform(weights)
    last = len(padded) - 1
    at = np.where(first.lost, last, first.codes)
    to = np.where(second.lost, last, len(first.texts) + second.codes)
    return TextField(
        name,
        first.lost,
        second.lost,
        weights[at],
        weights[to],
        main[at].astype(np.float64),
        main[to].astype(np.float64),
    )
