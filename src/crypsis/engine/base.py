"""What is asked of rows, and the few things an engine must bring itself.

The questions are the methods of `crypsis.engine.frames.Rows`, written once with Narwhals. Narwhals
has no hash, discrete quantile or writer for lazy frames; a `Backend` brings those.
Inside the engine columns are called c0, c1, ...: names with quotes, dots, emoji or capitals that
differ in nothing else are common in real files, and every engine has its own trouble with them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, ClassVar, Protocol

import narwhals.stable.v2 as nw
import pyarrow as pa

from crypsis.errors import TooLarge


class Kind(Enum):
    """What a column holds, as far as its type tells."""

    INTEGER = "integer"
    NUMBER = "number"
    TEXT = "text"
    BOOLEAN = "boolean"
    DATE = "date"
    TIME = "time"
    NESTED = "nested"

    @property
    def ordered(self) -> bool:
        """Whether the values have an order of their own."""
        return self in (Kind.INTEGER, Kind.NUMBER, Kind.DATE, Kind.TIME)

    @property
    def numeric(self) -> bool:
        """Whether the values are numbers."""
        return self in (Kind.INTEGER, Kind.NUMBER)


@dataclass(frozen=True)
class Column:
    """A column as the engine knows it: its name, its kind, and its name inside the engine."""

    name: str
    kind: Kind
    inner: str


@dataclass(frozen=True)
class Tally:
    """The groups of equal rows in some columns, counted in the engine without fetching them."""

    rows: int
    distinct: int
    singletons: int
    doubletons: int
    smallest: int
    largest: int
    missing: int
    """Rows with a missing value in at least one of the columns."""
    estimated: ClassVar[bool] = False


@dataclass(frozen=True)
class Sketch:
    """A column, or several together, from one pass in little memory: HyperLogLog."""

    rows: int
    missing: int
    """Rows with a missing value in at least one of the columns."""
    distinct: float
    """About how many combinations occur, missing values left out; off by `error` as a rule."""
    error: float
    """The relative standard error of the engine's sketch."""


class Backend(Protocol):
    """The thin part that each engine answers in its own language."""

    name: str
    sketch_error: float
    """The relative standard error of the engine's approximate distinct counts."""
    most_values: int | None
    """The most values that `to_arrow` may bring here; None: as many as the memory holds."""

    def batches(
        self, frame: nw.LazyFrame[Any], what: str, rows: int | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Carry out `frame` and hand its rows over in Arrow batches, announced as `what`.

        No batch has more than `rows`, where the engine can be told.
        """
        ...

    def bounded(
        self, frame: nw.LazyFrame[Any], what: str, at_most: int, refusal: TooLarge
    ) -> Iterator[pa.RecordBatch]:
        """The same for at most so many rows; more raise `refusal` before they fill the memory."""
        ...

    def with_cell_hash(
        self, frame: nw.LazyFrame[Any], columns: Sequence[str], seed: int, name: str
    ) -> nw.LazyFrame[Any]:
        """Add a number below 2**60 that depends on `seed` and the values of the columns alone.

        By the engine's own hash, which is fast, and another one on every engine.
        """
        ...

    def sketch(self, frame: nw.LazyFrame[Any], sets: Sequence[Sequence[str]]) -> list[Sketch]:
        """For each set of columns its missing rows and about its distinct tuples, in one pass."""
        ...

    def value_counts(
        self, frame: nw.LazyFrame[Any], columns: Sequence[str], at_most: int, refusal: TooLarge
    ) -> list[tuple[list[Any], list[int]]]:
        """For each column its values and how many rows hold each, in one pass over all columns."""
        ...

    def beside(self, frame: nw.LazyFrame[Any], table: pa.Table) -> nw.LazyFrame[Any]:
        """A small Arrow table as a frame where the rows of `frame` are."""
        ...

    def sample(self, frame: nw.LazyFrame[Any], count: int, size: int, seed: int) -> pa.Table:
        """`size` of the `count` rows of a frame, drawn at random; the same ones for a seed."""
        ...

    def with_hash(
        self, frame: nw.LazyFrame[Any], key: str, seed: int, name: str
    ) -> nw.LazyFrame[Any]:
        """Add a number below 2**60 that depends on `seed` and `key` alone.

        It is the beginning of the MD5 of "seed:key", on every engine the same.
        """
        ...

    def quantiles(
        self, frame: nw.LazyFrame[Any], columns: Sequence[str], probabilities: Sequence[float]
    ) -> dict[str, pa.Array]:
        """The smallest values at or below which lies at least each share of the rows."""
        ...

    def named(self, frame: nw.LazyFrame[Any], names: Sequence[str]) -> Any:
        """The engine's own frame with the columns under their public names."""
        ...

    def write(
        self, frame: nw.LazyFrame[Any], names: Sequence[str], path: Path | str, form: str
    ) -> None:
        """Write the rows to `path`, which does not exist yet, as `csv` or `parquet`."""
        ...


_KINDS: dict[type, Kind] = {
    nw.String: Kind.TEXT,
    nw.Categorical: Kind.TEXT,
    nw.Enum: Kind.TEXT,
    nw.Boolean: Kind.BOOLEAN,
    nw.Date: Kind.DATE,
    nw.Datetime: Kind.TIME,
    nw.Time: Kind.TIME,
    nw.Duration: Kind.TIME,
}


def kind_of(dtype: Any) -> Kind:
    """The kind of a Narwhals data type."""
    if dtype.is_integer():
        return Kind.INTEGER
    if dtype.is_numeric():
        return Kind.NUMBER
    if dtype.is_nested():
        return Kind.NESTED
    return _KINDS.get(type(dtype), _KINDS.get(dtype, Kind.NESTED))


def columns_of(lazy: nw.LazyFrame[Any], names: Sequence[str]) -> list[Column]:
    """The columns of a frame, c0, c1, ..., under their public names."""
    schema = lazy.collect_schema()
    return [
        Column(name, kind_of(dtype), inner)
        for name, (inner, dtype) in zip(names, schema.items(), strict=True)
    ]
