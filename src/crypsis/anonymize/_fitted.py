"""Masks fitted to all rows, then done part by part: one seed, one release, whatever the parts.

A mask first looks at what it needs of all rows (spread, frequencies, ranks). After that it takes
the rows in their order, in parts of any size. Noise and redrawn categories need little of all rows;
swapping, shuffling and microaggregation hold the columns that they mask in memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.random import SeedSequence
from numpy.typing import NDArray

from crypsis.anonymize import _masks as m
from crypsis.anonymize import _perturb as perturb
from crypsis.anonymize._pseudonyms import new_key, pseudonyms
from crypsis.errors import ColumnError, PromiseBroken, TooLarge

Floats = NDArray[np.float64]
Parts = Callable[[Sequence[str]], Iterator[pa.Table]]
"""The rows of some columns, from the first, in parts."""
Apply = Callable[[pa.Table], pa.Table]
Make = Callable[[], Apply]
"""Begins at the first row; what it makes takes one part after the other."""

_HELD_VALUES = 200_000_000
_MOST_VALUES = 20_000_000


def fitted(
    method: m.Masking,
    names: tuple[str, ...],
    parts: Parts,
    stream: SeedSequence,
    keys: MutableMapping[str, str],
) -> Make:
    """The mask of some columns, fitted to all rows."""
    if isinstance(method, m.Noise):
        return _noise(method, names, parts, stream)
    if isinstance(method, m.Round):
        base = method.base
        return lambda: _numeric(names, lambda table: perturb.rounded(table, base))
    if isinstance(method, m.TopCode | m.BottomCode):
        low, high = -np.inf, method.limit
        if isinstance(method, m.BottomCode):
            low, high = method.limit, np.inf
        return lambda: _numeric(names, lambda table: np.clip(table, low, high))
    if isinstance(method, m.Pram):
        return _pram(method, names, parts, stream)
    if isinstance(method, m.SuppressRare):
        return _without_rare(method, names, parts)
    if isinstance(method, m.Pseudonym):
        for name in names:
            keys.setdefault(name, new_key())
        return lambda: _pseudonymized({name: keys[name] for name in names})
    return _held(method, names, parts, stream)


def _noise(method: m.Noise, names: tuple[str, ...], parts: Parts, stream: SeedSequence) -> Make:
    tables = (_numbers(part, names) for part in parts(names))
    spread = perturb.spread(perturb.blocks(tables), correlated=method.correlated)
    if not np.isfinite(spread).all():
        raise ColumnError(
            f"{', '.join(map(repr, names))}: there is no standard deviation, because a value is "
            "infinite or as good as that. Top-code or suppress it first."
        )

    def make() -> Apply:
        generator = np.random.default_rng(stream)
        scaled = method.scale * spread
        return _numeric(names, lambda table: perturb.with_noise(table, scaled, generator))

    return make


def _pram(method: m.Pram, names: tuple[str, ...], parts: Parts, stream: SeedSequence) -> Make:
    known = [_frequencies(parts, name) for name in names]
    streams = stream.spawn(len(names))

    def make() -> Apply:
        generators = [np.random.default_rng(one) for one in streams]

        def apply(part: pa.Table) -> pa.Table:
            for name, (values, counts), generator in zip(names, known, generators, strict=True):
                column = part[name].combine_chunks()
                plain = _decoded(column)
                there = np.asarray(_there(plain))
                change, place = perturb.redrawn(there, counts, method.stay, generator)
                if change.any():
                    drawn = values.take(pa.array(np.where(change, place, 0)))
                    column = pc.if_else(pa.array(change), drawn, plain).cast(column.type)
                part = _with(part, name, column)
            return part

        return apply

    return make


def _without_rare(method: m.SuppressRare, names: tuple[str, ...], parts: Parts) -> Make:
    common = {}
    for name in names:
        values, counts = _frequencies(parts, name)
        common[name] = values.filter(pa.array(counts >= method.k))

    def apply(part: pa.Table) -> pa.Table:
        for name, values in common.items():
            column = part[name].combine_chunks()
            kept = pc.is_in(_decoded(column), value_set=values)
            gone = pa.scalar(None, _decoded(column).type)
            column = pc.if_else(kept, _decoded(column), gone).cast(column.type)
            part = _with(part, name, column)
        return part

    return lambda: apply


def _pseudonymized(keys: Mapping[str, str]) -> Apply:
    def apply(part: pa.Table) -> pa.Table:
        for name, secret in keys.items():
            coded = _decoded(part[name].combine_chunks()).cast(pa.string()).dictionary_encode()
            tokens = pa.array(pseudonyms(coded.dictionary.to_pylist(), secret), pa.string())
            part = _with(part, name, tokens.take(coded.indices))
        return part

    return apply


def _held(method: m.Masking, names: tuple[str, ...], parts: Parts, stream: SeedSequence) -> Make:
    """Masks that need the order of all rows: their columns are held, and handed out row by row."""
    given = method.given if isinstance(method, m.Shuffle) else ()
    tables, kinds, size = [], [], 0
    for part in parts([*names, *given]):
        size += part.num_rows * len(part.column_names)
        if size > _HELD_VALUES:
            raise TooLarge(
                f"{method.method.capitalize()} holds its columns in memory, at most "
                f"{_HELD_VALUES:,} values; these have more. Mask fewer columns together, mask a "
                "sample, or take noise, rounding or quantile groups, which need not hold them."
            )
        kinds = [part.schema.field(name).type for name in names]
        tables.append(_numbers(part, [*names, *given]))
    table = np.concatenate(tables)
    own, fixed = table[:, : len(names)], table[:, len(names) :] if given else None
    after = _in_order(method, own, fixed, np.random.default_rng(stream))
    columns = [_arrow(column, kind) for column, kind in zip(after.T, kinds, strict=True)]
    _check_groups(pa.table(columns, names=list(map(str, range(len(names))))), method)

    def make() -> Apply:
        start = 0

        def apply(part: pa.Table) -> pa.Table:
            nonlocal start
            for name, column in zip(names, columns, strict=True):
                part = _with(part, name, column.slice(start, part.num_rows))
            start += part.num_rows
            return part

        return apply

    return make


def _in_order(
    method: m.Masking, table: Floats, given: Floats | None, generator: np.random.Generator
) -> Floats:
    if isinstance(method, m.Shuffle):
        return perturb.shuffle(table, given, generator)
    if isinstance(method, m.Mdav):
        return perturb.mdav(table, method.k)
    if isinstance(method, m.Microaggregate):
        return np.column_stack([perturb.microaggregate(column, method.k) for column in table.T])
    assert isinstance(method, m.RankSwap)  # noqa: S101 - the last of the masks
    swapped = [perturb.rank_swap(column, method.percent, generator) for column in table.T]
    return np.column_stack(swapped)


def _check_groups(table: pa.Table, method: m.Masking) -> None:
    """Microaggregation promises groups of k: counted on what came out."""
    if not isinstance(method, m.Microaggregate | m.Mdav):
        return
    every = table.column_names
    for columns in [every] if isinstance(method, m.Mdav) else [[name] for name in every]:
        counts = table.select(columns).drop_null().group_by(columns)
        sizes = counts.aggregate([([], "count_all")])["count_all"]
        if len(sizes) and pc.min(sizes).as_py() < method.k:
            raise PromiseBroken(
                f"A group of fewer than {method.k} rows came out of {method.method}, so the "
                "release is not handed over."
            )


def _frequencies(parts: Parts, name: str) -> tuple[pa.Array, NDArray[np.int64]]:
    """The values of a column in their order with the rows of each; NaN is missing."""
    counts: Counter[Any] = Counter()
    kind = pa.null()
    for part in parts([name]):
        column = _decoded(part[name].combine_chunks())
        kind = column.type
        found = pc.value_counts(column.filter(_there(column)))
        values, sizes = found.field("values").to_pylist(), found.field("counts").to_pylist()
        counts.update(dict(zip(values, sizes, strict=True)))
        if len(counts) > _MOST_VALUES:
            raise TooLarge(
                f"The column {name!r} has more than {_MOST_VALUES:,} values, too many to count "
                "for this mask; use pseudonyms, or leave the column out."
            )
    values = pa.array(list(counts), kind)
    order = pc.array_sort_indices(values) if len(values) else pa.array([], pa.uint64())
    return values.take(order), np.array(list(counts.values()), np.int64)[np.asarray(order)]


def _there(column: pa.Array) -> pa.Array:
    there = column.is_valid()
    if pa.types.is_floating(column.type):
        there = pc.and_(there, pc.invert(pc.fill_null(pc.is_nan(column), False)))
    return there


def _decoded(column: pa.Array) -> pa.Array:
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def _numeric(names: Sequence[str], change: Callable[[Floats], Floats]) -> Apply:
    """Numbers changed row by row; what the change leaves alone stays exactly as it is."""

    def apply(part: pa.Table) -> pa.Table:
        before = _numbers(part, names)
        after = change(before)
        for c, name in enumerate(names):
            own = part[name].combine_chunks()
            new = _arrow(after[:, c], own.type)
            same = pa.array(before[:, c] == after[:, c])
            part = _with(part, name, pc.if_else(same, own, new))
        return part

    return apply


def _numbers(table: pa.Table, names: Sequence[str]) -> Floats:
    columns = []
    for name in names:
        kind = table.schema.field(name).type
        if not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
            raise ColumnError(
                f"The column {name!r} does not hold numbers, which this method needs; use Pram or "
                "SuppressRare for categories."
            )
        column = table[name].cast(pa.float64(), safe=False)
        columns.append(column.combine_chunks().to_numpy(zero_copy_only=False).astype(float))
    return np.column_stack(columns)


def _arrow(column: Floats, kind: pa.DataType) -> pa.Array:
    """Numbers in the type they came in; whole numbers are rounded."""
    gone = np.isnan(column)
    if pa.types.is_integer(kind):
        whole = kind.to_pandas_dtype()
        limits = np.iinfo(whole)
        # The largest float that is not above the largest number: 2^63 - 1 is no float.
        most = float(limits.max) if limits.bits < 64 else np.nextafter(float(limits.max), 0.0)
        rounded = np.clip(np.rint(np.where(gone, 0, column)), float(limits.min), most)
        return pa.array(rounded.astype(whole), kind, mask=gone)
    return pa.array(column, mask=gone).cast(kind)


def _with(table: pa.Table, name: str, column: pa.Array) -> pa.Table:
    return table.set_column(table.schema.get_field_index(name), name, column)
