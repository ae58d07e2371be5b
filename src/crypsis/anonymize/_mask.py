"""Masking: methods that change values instead of telling them less exactly (domingo2016)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.random import Generator
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from crypsis.anonymize import _perturb as perturb
from crypsis.anonymize._anonymized import Anonymized, Loss, Method
from crypsis.anonymize._key import Key, fresh_seed
from crypsis.anonymize._promise import Promise
from crypsis.anonymize._pseudonyms import new_key, pseudonyms
from crypsis.anonymize._verify import Measured, measure
from crypsis.errors import ColumnError, ParameterError, PromiseBroken, unknown_columns
from crypsis.release import Release, as_release

Floats = NDArray[np.float64]


class _Mask(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    def describe(self) -> str:
        """In a few words."""
        shown = self.model_dump(exclude={"method"})
        return ", ".join(f"{name} {value}" for name, value in shown.items()) or "no parameters"


class _Numeric(_Mask, ABC):
    @abstractmethod
    def masked(self, table: Floats, given: Floats | None, generator: Generator) -> Floats:
        """The columns masked, missing values where they were."""


class Noise(_Numeric):
    """Normal noise of `scale` standard deviations, alike in all columns if `correlated`."""

    method: Literal["noise"] = "noise"
    scale: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    correlated: bool = False

    def masked(self, table: Floats, given: Floats | None, generator: Generator) -> Floats:
        return perturb.noise(table, self.scale, generator, correlated=self.correlated)


class RankSwap(_Numeric):
    """Values swapped with others at most `percent` of the rows away in rank."""

    method: Literal["rank swapping"] = "rank swapping"
    percent: Annotated[float, Field(gt=0, le=100)]

    def masked(self, table: Floats, given: Floats | None, generator: Generator) -> Floats:
        return np.column_stack([perturb.rank_swap(c, self.percent, generator) for c in table.T])


class Shuffle(_Numeric):
    """Values in another order that keeps how columns go together, also with those in `given`."""

    method: Literal["shuffling"] = "shuffling"
    given: tuple[str, ...] = ()

    def masked(self, table: Floats, given: Floats | None, generator: Generator) -> Floats:
        return perturb.shuffle(table, given, generator)


class Microaggregate(_Numeric):
    """Each column's values by the means of optimal groups of at least k."""

    method: Literal["microaggregation"] = "microaggregation"
    k: Annotated[int, Field(ge=1)]

    def masked(self, table: Floats, given: Floats | None, generator: Generator) -> Floats:
        return np.column_stack([perturb.microaggregate(column, self.k) for column in table.T])


class Mdav(_Numeric):
    """Records by the means of groups of k to 2k - 1 near records, over all columns together."""

    method: Literal["mdav"] = "mdav"
    k: Annotated[int, Field(ge=1)]

    def masked(self, table: Floats, given: Floats | None, generator: Generator) -> Floats:
        return perturb.mdav(table, self.k)


class Round(_Numeric):
    """Numbers to the nearest multiple of `base`."""

    method: Literal["rounding"] = "rounding"
    base: Annotated[float, Field(gt=0, allow_inf_nan=False)]

    def masked(self, table: Floats, given: Floats | None, generator: Generator) -> Floats:
        return perturb.rounded(table, self.base)


class TopCode(_Numeric):
    """Numbers above `limit` become `limit`."""

    method: Literal["top coding"] = "top coding"
    limit: float

    def masked(self, table: Floats, given: Floats | None, generator: Generator) -> Floats:
        return np.minimum(table, self.limit)


class BottomCode(_Numeric):
    """Numbers below `limit` become `limit`."""

    method: Literal["bottom coding"] = "bottom coding"
    limit: float

    def masked(self, table: Floats, given: Floats | None, generator: Generator) -> Floats:
        return np.maximum(table, self.limit)


class Pram(_Mask):
    """Categories kept with probability `stay`, otherwise drawn anew from how often each occurs."""

    method: Literal["pram"] = "pram"
    stay: Annotated[float, Field(ge=0, le=1)]


class SuppressRare(_Mask):
    """Values that fewer than `k` rows have become missing."""

    method: Literal["suppression"] = "suppression"
    k: Annotated[int, Field(ge=1)]


class Pseudonym(_Mask):
    """Keyed pseudonyms: equal for equal values, reversible with the owner's key only."""

    method: Literal["pseudonyms"] = "pseudonyms"


Masking = (
    Noise | RankSwap | Shuffle | Microaggregate | Mdav | Round | TopCode | BottomCode | Pram
    | SuppressRare | Pseudonym
)  # fmt: skip
"""Any of the masks."""


def mask(
    data: Any,
    methods: Mapping[str | tuple[str, ...], Masking],
    *,
    seed: int | None = None,
    key: Key | None = None,
    shuffle_rows: bool = False,
    **roles: Any,
) -> Anonymized:
    """Mask columns, each (or several together, as a tuple) by its method, in the order given.

    Missing values stay missing, types and the order of columns stay, and so does that of rows
    unless `shuffle_rows`. Randomness comes from the operating system unless `seed` is given; the
    seed, the keys of pseudonyms and the map from released to original rows are in the result's
    `key` and nowhere else. Give a `key` to use its seed and its pseudonym keys again.

    The table is held in memory, twice for a moment: ranks, groups and frequencies are of all rows
    at once, and a seed gives the same draws only if rows are drawn in one order.

    >>> import pyarrow as pa
    >>> made = mask(pa.table({"x": [1.0, 2.0, None]}), {"x": Round(base=2)})
    >>> made.frame["x"].to_pylist()
    [0.0, 2.0, None]
    """
    release = as_release(data, **roles)
    table = release.to_arrow()
    wanted = {_names(target): method for target, method in methods.items()}
    unknown = [name for names in wanted for name in names if name not in table.column_names]
    if unknown:
        raise unknown_columns(unknown, table.column_names)
    if seed is None and key is not None:
        seed = key.seed
    drawn = fresh_seed() if seed is None else seed
    streams = np.random.SeedSequence(drawn).spawn(len(wanted) + 1)
    keys = dict(key.pseudonyms) if key is not None else {}
    for (names, method), stream in zip(wanted.items(), streams[1:], strict=True):
        table = _masked(table, release, names, method, np.random.default_rng(stream), keys)
        _check_promise(table, names, method)
    order = None
    if shuffle_rows:
        order = np.random.default_rng(streams[0]).permutation(table.num_rows)
        table = table.take(pa.array(order))
    made = Release.from_frame(table)
    made = Release(
        made.rows, dict(release.roles), release.person, release.weight, release.population,
        release.missing,
    )  # fmt: skip
    told = tuple(
        Method(", ".join(names), m.method, m.describe(), m.model_dump(exclude={"method"}))
        for names, m in wanted.items()
    )
    private = Key(drawn, None if order is None else tuple(order.tolist()), keys)
    return Anonymized(made, None, _measured(made), Loss(release.count), private, release, told)


def _names(target: str | Sequence[str]) -> tuple[str, ...]:
    return (target,) if isinstance(target, str) else tuple(target)


def _measured(release: Release) -> Measured:
    if not release.quasi_identifiers or not release.count:
        return Measured(release.count, 0, 0)
    return measure(release, release.quasi_identifiers, Promise())


def _masked(
    table: pa.Table,
    release: Release,
    names: tuple[str, ...],
    method: Masking,
    generator: Generator,
    keys: dict[str, str],
) -> pa.Table:
    if isinstance(method, _Numeric):
        given = method.given if isinstance(method, Shuffle) else ()
        fixed = _numbers(table, given) if given else None
        after = method.masked(_numbers(table, names), fixed, generator)
        for name, column in zip(names, after.T, strict=True):
            table = _with(table, name, _arrow(column, table.schema.field(name).type))
        return table
    for name in names:
        column = table[name].combine_chunks()
        if isinstance(method, Pram):
            coded = column.dictionary_encode()
            codes = np.asarray(coded.indices.fill_null(-1).to_numpy(zero_copy_only=False), np.int64)
            new = perturb.pram(codes, len(coded.dictionary), method.stay, generator)
            column = coded.dictionary.take(pa.array(new, mask=new < 0))
        elif isinstance(method, SuppressRare):
            column = _without_rare(column, method.k)
        else:
            secret = keys.setdefault(name, new_key())
            coded = column.cast(pa.string()).dictionary_encode()
            tokens = pa.array(pseudonyms(coded.dictionary.to_pylist(), secret), pa.string())
            column = tokens.take(coded.indices)
        table = _with(table, name, column)
    return table


def _without_rare(column: pa.Array, k: int) -> pa.Array:
    coded = column.dictionary_encode()
    codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    counts = np.bincount(codes[codes >= 0], minlength=len(coded.dictionary))
    rare = np.append(counts < k, True)[codes]
    return pc.if_else(pa.array(rare), pa.scalar(None, column.type), column)


def _check_promise(table: pa.Table, names: tuple[str, ...], method: Masking) -> None:
    """Microaggregation promises groups of k: counted on what came out."""
    if not isinstance(method, Microaggregate | Mdav | SuppressRare):
        return
    sets = [names] if isinstance(method, Mdav) else [(name,) for name in names]
    for columns in sets:
        counts = table.select(list(columns)).drop_null().group_by(list(columns))
        sizes = counts.aggregate([([], "count_all")])["count_all"]
        if len(sizes) and pc.min(sizes).as_py() < method.k:
            raise PromiseBroken(
                f"A group of fewer than {method.k} rows came out of {method.method}, so the "
                "release is not handed over."
            )


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
        limits = np.iinfo(kind.to_pandas_dtype())
        whole = np.clip(np.rint(np.where(gone, 0, column)), limits.min, limits.max)
        return pa.array(whole.astype(np.int64), mask=gone).cast(kind)
    return pa.array(column, mask=gone).cast(kind)


def _with(table: pa.Table, name: str, column: pa.Array) -> pa.Table:
    place = table.schema.get_field_index(name)
    if place < 0:
        raise ParameterError(f"The column {name!r} is there more than once.")
    return table.set_column(place, name, column)
