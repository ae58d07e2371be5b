"""Masks fitted to all rows, then applied part by part: one seed, one release, for any parts.

A mask first computes what it needs of all rows (standard deviations, frequencies, ranks). Then it
takes the rows in their order, in parts of any size. Noise and PRAM need little memory; rank
swapping, data shuffling and microaggregation keep the columns that they mask in memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.random import SeedSequence

from crypsis.array_types import Floats, Ints
from crypsis.columns.safe_harbor import Recoding, recoded
from crypsis.errors import ColumnError, RequirementsNotMetError, TooLargeError
from crypsis.protection.masking import _masks as m
from crypsis.protection.masking import _perturbation as perturb
from crypsis.protection.masking._local_suppression import without_values
from crypsis.protection.masking._pseudonyms import day_shift, new_key, pseudonyms
from crypsis.protection.masking._transition import transition_matrix
from crypsis.protection.recoding._representatives import rounded_means

Parts = Callable[[Sequence[str]], Iterator[pa.Table]]
"""The rows of some columns, from the first, in parts."""
Apply = Callable[[pa.Table], pa.Table]
Make = Callable[[], Apply]
"""Starts at the first row; the function it returns takes one part after the other."""

DATE_SHIFTS = "date shifts"
"""The name of the key of date shifts among those of pseudonyms."""
_MAX_VALUES = 200_000_000
"""A mask that keeps its columns in memory takes at most so many values."""
_MAX_CATEGORIES = 20_000_000
"""A mask that counts the values of a column takes at most so many different ones."""


def fitted(
    method: m.Mask, names: tuple[str, ...], parts: Parts, stream: SeedSequence, keys: MutableMapping[str, str]
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
    if isinstance(method, m.PramMatrix):
        return _pram_matrix(method, names, parts, stream)
    if isinstance(method, m.LocalSuppression):
        return _locally_suppressed(method, names, parts)
    if isinstance(method, m.SuppressRare):
        return _without_rare(method, names, parts)
    if isinstance(method, m.Pseudonym):
        for name in names:
            keys.setdefault(name, new_key())
        return lambda: _pseudonymized({name: keys[name] for name in names})
    if isinstance(method, m.ShiftDates):
        keys.setdefault(DATE_SHIFTS, new_key())
        return _shifted(method, names, keys[DATE_SHIFTS])
    if isinstance(method, m.YearOfDate | m.PostalArea | m.TopAge):
        return _safe_harbor(method, names, parts)
    return _in_memory(method, names, parts, stream)


def _safe_harbor(method: m.Mask, names: tuple[str, ...], parts: Parts) -> Make:
    """Each distinct value recoded to what the HIPAA Safe Harbor allows."""
    recoding: Recoding = (
        "year" if isinstance(method, m.YearOfDate) else "zip3" if isinstance(method, m.PostalArea) else "age"
    )
    small = method.small if isinstance(method, m.PostalArea) else ()
    new: dict[str, tuple[pa.Array, pa.Array]] = {}
    for name in names:
        values, _ = frequencies(parts, name)
        texts = [str(text).strip() for text in pc.cast(values, pa.string()).to_pylist()]
        numeric = pa.types.is_integer(values.type) or pa.types.is_floating(values.type)
        after = recoded(name, texts, "number" if numeric else "text", recoding, small)
        kind = values.type if numeric and recoding == "age" else pa.string()
        if recoding == "year":
            kind = pa.int64()
        new[name] = values, pa.array([_typed(text, kind) for text in after], kind)

    def apply(part: pa.Table) -> pa.Table:
        for name, (values, after) in new.items():
            column = _decoded(part[name].combine_chunks())
            part = _with(part, name, after.take(pc.index_in(column, value_set=values)))
        return part

    return lambda: apply


def _typed(text: str | None, kind: pa.DataType) -> Any:
    if text is None or pa.types.is_string(kind):
        return text
    return int(float(text)) if pa.types.is_integer(kind) else float(text)


def _noise(method: m.Noise, names: tuple[str, ...], parts: Parts, stream: SeedSequence) -> Make:
    tables = (numbers(part, names) for part in parts(names))
    spread = perturb.spread(perturb.blocks(tables), correlated=method.correlated)
    if not np.isfinite(spread).all():
        raise ColumnError(
            f"Column {', '.join(map(repr, names))} has no standard deviation, because a value is "
            "infinite or almost. Top code or suppress it first.",
            code="no-standard-deviation",
            columns=names,
        )

    def make() -> Apply:
        generator = np.random.default_rng(stream)
        scaled = method.scale * spread
        return _numeric(names, lambda table: perturb.with_noise(table, scaled, generator))

    return make


def _pram(method: m.Pram, names: tuple[str, ...], parts: Parts, stream: SeedSequence) -> Make:
    counted = [frequencies(parts, name) for name in names]
    streams = stream.spawn(len(names))

    def make() -> Apply:
        generators = [np.random.default_rng(stream) for stream in streams]

        def apply(part: pa.Table) -> pa.Table:
            for name, (values, counts), generator in zip(names, counted, generators, strict=True):
                column = part[name].combine_chunks()
                plain = _decoded(column)
                present = np.asarray(_present(plain))
                change, codes = perturb.redrawn(present, counts, method.stay, generator)
                if change.any():
                    drawn = values.take(pa.array(np.where(change, codes, 0)))
                    column = pc.if_else(pa.array(change), drawn, plain).cast(column.type)
                part = _with(part, name, column)
            return part

        return apply

    return make


def _pram_matrix(method: m.PramMatrix, names: tuple[str, ...], parts: Parts, stream: SeedSequence) -> Make:
    streams = stream.spawn(len(names))
    matrices = []
    for name in names:
        values, counts = frequencies(parts, name)
        texts = pc.cast(values, pa.string()).to_pylist()
        matrices.append((values, transition_matrix(method, name, texts, counts)))

    def make() -> Apply:
        generators = [np.random.default_rng(stream) for stream in streams]

        def apply(part: pa.Table) -> pa.Table:
            for name, (values, matrix), generator in zip(names, matrices, generators, strict=True):
                column = part[name].combine_chunks()
                codes = np.asarray(pc.fill_null(pc.index_in(_decoded(column), values), -1))
                drawn = perturb.pram_by_matrix(codes, matrix, generator)
                new = values.take(pa.array(drawn, mask=drawn < 0))
                part = _with(part, name, new.cast(column.type))
            return part

        return apply

    return make


def _without_rare(method: m.SuppressRare, names: tuple[str, ...], parts: Parts) -> Make:
    frequent = {}
    for name in names:
        values, counts = frequencies(parts, name)
        frequent[name] = values.filter(pa.array(counts >= method.k))

    def apply(part: pa.Table) -> pa.Table:
        for name, values in frequent.items():
            column = part[name].combine_chunks()
            kept = pc.is_in(_decoded(column), value_set=values)
            gone = pa.scalar(None, _decoded(column).type)
            column = pc.if_else(kept, _decoded(column), gone).cast(column.type)
            part = _with(part, name, column)
        return part

    return lambda: apply


def _locally_suppressed(method: m.LocalSuppression, names: tuple[str, ...], parts: Parts) -> Make:
    used_names = list(dict.fromkeys((*names, *(ghost for more in method.ghosts.values() for ghost in more))))
    before = pa.concat_tables([part.select(used_names) for part in parts(used_names)])
    if before.num_rows * len(used_names) > _MAX_VALUES:
        raise TooLargeError(
            f"The mask {method.method} keeps its columns in memory, at most {_MAX_VALUES:,} values.",
            columns=names,
        )
    after = without_values(
        before, method.k, method.importance, wildcards=method.missing == "wildcard", ghosts=method.ghosts
    )
    return _in_parts(tuple(used_names), after.columns)


def _pseudonymized(keys: Mapping[str, str]) -> Apply:
    def apply(part: pa.Table) -> pa.Table:
        for name, key in keys.items():
            coded = _decoded(part[name].combine_chunks()).cast(pa.string()).dictionary_encode()
            tokens = pa.array(pseudonyms(coded.dictionary.to_pylist(), key), pa.string())
            part = _with(part, name, tokens.take(coded.indices))
        return part

    return apply


def _shifted(method: m.ShiftDates, names: tuple[str, ...], key: str) -> Make:
    """Dates of a person shifted by a number of days that follows from the key and the person."""

    def apply(part: pa.Table) -> pa.Table:
        coded = _decoded(part[method.person].combine_chunks()).cast(pa.string()).dictionary_encode()
        shifts = [day_shift(value, key, method.days) for value in coded.dictionary.to_pylist()]
        missing_shift = day_shift("", key, method.days)
        days = pa.array([*shifts, missing_shift], pa.int64()).take(coded.indices.fill_null(len(shifts)))
        for name in names:
            dates = _decoded(part[name].combine_chunks())
            if not (pa.types.is_date(dates.type) or pa.types.is_timestamp(dates.type)):
                raise ColumnError(
                    f"Column {name!r} has no dates or times. A date shift needs them.",
                    code="not-dates",
                    columns=(name,),
                    hint="Set {types} to read it as a date.",
                )
            by = pc.multiply(days, 86_400_000_000).cast(pa.duration("us"))
            after = pc.add(dates.cast(_microseconds(dates.type)), by)
            part = _with(part, name, after.cast(dates.type))
        return part

    return lambda: apply


def _microseconds(kind: pa.DataType) -> pa.DataType:
    return pa.timestamp("us", tz=kind.tz if pa.types.is_timestamp(kind) else None)


def _in_memory(method: m.Mask, names: tuple[str, ...], parts: Parts, stream: SeedSequence) -> Make:
    """Masks that need the order of all rows: their columns are computed at once in memory."""
    unchanged = method.given if isinstance(method, m.Shuffle) else ()
    within = method.within if isinstance(method, m.Mdav | m.Microaggregate) else ()
    tables, kinds, size = [], [], 0
    strata = []
    for part in parts([*names, *unchanged, *within]):
        size += part.num_rows * len(part.column_names)
        if size > _MAX_VALUES:
            raise TooLargeError(
                f"The mask {method.method} keeps its columns in memory, at most {_MAX_VALUES:,} "
                "values; these have more.",
                hint="Mask fewer columns together or a sample, or use noise addition or rounding.",
                columns=names,
            )
        kinds = [part.schema.field(name).type for name in names]
        tables.append(numbers(part, [*names, *unchanged]))
        strata.append(part.select(list(within)))
    table = np.concatenate(tables)
    values, fixed = table[:, : len(names)], table[:, len(names) :] if unchanged else None
    after = values.copy()
    generator = np.random.default_rng(stream)
    for rows in _strata(pa.concat_tables(strata), method, len(values)):
        after[rows] = _in_order(method, values[rows], fixed, generator)
    columns = [_arrow(column, kind) for column, kind in zip(after.T, kinds, strict=True)]
    _check_groups(pa.table(columns, names=list(map(str, range(len(names))))), method)
    return _in_parts(names, columns)


def _in_parts(names: tuple[str, ...], columns: Sequence[Any]) -> Make:
    """Columns that were computed at once, given out part by part."""

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


def _strata(table: pa.Table, method: m.Mask, rows: int) -> list[Any]:
    """The rows of each stratum; without columns of strata all rows."""
    if not table.column_names:
        return [slice(None)]
    codes = np.zeros(rows, np.int64)
    for column in table.columns:
        coded = column.combine_chunks().dictionary_encode(null_encoding="encode")
        stratum_codes = np.asarray(coded.indices, np.int64)
        _, codes = np.unique(codes * (stratum_codes.max(initial=0) + 1) + stratum_codes, return_inverse=True)
    order = np.argsort(codes, kind="stable")
    sizes = np.bincount(codes)
    k = getattr(method, "k", 1)
    if sizes.size and sizes.min() < k:
        small = int((sizes < k).sum())
        raise RequirementsNotMetError(
            f"{small:,} of {sizes.size:,} strata {'has' if small == 1 else 'have'} fewer than {k} "
            "records, so no group of that size can be formed in them.",
            columns=tuple(table.column_names),
        )
    return np.split(order, np.cumsum(sizes)[:-1])


def _in_order(
    method: m.Mask, table: Floats, unchanged: Floats | None, generator: np.random.Generator
) -> Floats:
    if isinstance(method, m.Shuffle):
        return perturb.shuffle(table, unchanged, generator)
    if isinstance(method, m.Mdav):
        means = perturb.mdav(table, method.k)
        return means if method.exact else rounded_means(table, means)
    if isinstance(method, m.Microaggregate):
        columns = [table[:, [position]] for position in range(table.shape[1])]
        by_column = [perturb.microaggregate(column[:, 0], method.k)[:, None] for column in columns]
        if not method.exact:
            by_column = list(map(rounded_means, columns, by_column))
        return np.hstack(by_column)
    assert isinstance(method, m.RankSwap)  # noqa: S101 - the last of the masks
    swapped = [perturb.rank_swap(column, method.percent, generator) for column in table.T]
    return np.column_stack(swapped)


def _check_groups(table: pa.Table, method: m.Mask) -> None:
    """Groups of microaggregation have k records: counted in the masked columns."""
    if not isinstance(method, m.Microaggregate | m.Mdav):
        return
    column_names = table.column_names
    for columns in [column_names] if isinstance(method, m.Mdav) else [[name] for name in column_names]:
        counts = table.select(columns).drop_null().group_by(columns)
        sizes = counts.aggregate([([], "count_all")])["count_all"]
        if len(sizes) and pc.min(sizes).as_py() < method.k:
            raise RequirementsNotMetError(
                f"A group of {method.method} has fewer than {method.k} records, so the release is "
                "not returned."
            )


def frequencies(parts: Parts, name: str) -> tuple[pa.Array, Ints]:
    """The values of a column in their order with the count of each; NaN is missing."""
    counts: Counter[Any] = Counter()
    kind = pa.null()
    for part in parts([name]):
        column = _decoded(part[name].combine_chunks())
        kind = column.type
        counted = pc.value_counts(column.filter(_present(column)))
        values, sizes = counted.field("values").to_pylist(), counted.field("counts").to_pylist()
        counts.update(dict(zip(values, sizes, strict=True)))
        if len(counts) > _MAX_CATEGORIES:
            raise TooLargeError(
                f"Column {name!r} has more than {_MAX_CATEGORIES:,} values, too many for the mask.",
                hint="Use pseudonymization or remove the column.",
                columns=(name,),
            )
    values = pa.array(list(counts), kind)
    order = pc.array_sort_indices(values) if len(values) else pa.nulls(0, pa.uint64())
    return values.take(order), np.array(list(counts.values()), np.int64)[np.asarray(order)]


def _present(column: pa.Array) -> pa.Array:
    present = column.is_valid()
    if pa.types.is_floating(column.type):
        present = pc.and_(present, pc.invert(pc.fill_null(pc.is_nan(column), False)))
    return present


def _decoded(column: pa.Array) -> pa.Array:
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def _numeric(names: Sequence[str], change: Callable[[Floats], Floats]) -> Apply:
    """Numbers changed row by row; a number that the change keeps stays exactly as it is."""

    def apply(part: pa.Table) -> pa.Table:
        before = numbers(part, names)
        after = change(before)
        for c, name in enumerate(names):
            column = part[name].combine_chunks()
            new = _arrow(after[:, c], column.type)
            same = pa.array(before[:, c] == after[:, c])
            part = _with(part, name, pc.if_else(same, column, new))
        return part

    return apply


def numbers(table: pa.Table, names: Sequence[str]) -> Floats:
    columns = []
    for name in names:
        kind = table.schema.field(name).type
        if not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
            raise ColumnError(
                f"Column {name!r} is not numeric. This mask needs a numeric column.",
                code="not-numeric",
                hint="Use PRAM or the suppression of rare values for categories.",
                columns=(name,),
            )
        column = table[name].cast(pa.float64(), safe=False)
        columns.append(column.combine_chunks().to_numpy(zero_copy_only=False).astype(float))
    return np.column_stack(columns)


def _arrow(column: Floats, kind: pa.DataType) -> pa.Array:
    """Numbers in the type they had; integers are rounded."""
    gone = np.isnan(column)
    if pa.types.is_integer(kind):
        integer = kind.to_pandas_dtype()
        limits = np.iinfo(integer)
        # The largest float that is not above the largest integer: 2^63 - 1 is not a float.
        most = float(limits.max) if limits.bits < 64 else np.nextafter(float(limits.max), 0.0)
        rounded = np.clip(np.rint(np.where(gone, 0, column)), float(limits.min), most)
        return pa.array(rounded.astype(integer), kind, mask=gone)
    return pa.array(column, mask=gone).cast(kind)


def _with(table: pa.Table, name: str, column: pa.Array) -> pa.Table:
    return table.set_column(table.schema.get_field_index(name), name, column)
