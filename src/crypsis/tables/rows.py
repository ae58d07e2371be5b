"""Rows: the questions asked of them, answered once for every engine."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw
import pyarrow as pa

from crypsis.counting.cells import ColumnSetCounts
from crypsis.errors import ColumnError, CrypsisError, TooLargeError, unknown_columns
from crypsis.tables import summation
from crypsis.tables.backend import Backend, Frame
from crypsis.tables.contents._content import Content
from crypsis.tables.csv.formulas import neutral_name, neutral_text
from crypsis.tables.forms import FileForm
from crypsis.tables.schema import Column, Kind, columns_of, listed
from crypsis.tables.values import (
    any_missing,
    check_years,
    clean_counts,
    clean_expression,
    dictionary_coded,
    not_a_number,
    outside_calendar,
)

COUNT = "n"
MAX_CELLS = 20_000_000
"""Cells that are counted unless the caller states how many; with more the count is refused."""
PART_ROWS = 1_000_000
"""Rows of a part of a table, about."""
FIRST_ROWS = 1_000_000
"""The rows from which it is judged whether a column set has too many combinations to count."""


class Rows:
    """Rows in an engine, and the questions they answer there.

    NaN counts as missing everywhere. Results are Arrow; no row passes through Python.

    Parameters
    ----------
    columns : Sequence[Column]
        The columns.
    load : Callable
        Opens the frame of the rows, when it is first needed.
    backend : Backend
        The engine.
    known_count : int, optional
        The number of rows, where the source states it without being read.
    reopen : Callable, optional
        Opens the same rows in another process; without it they are pickled as an Arrow table.
    """

    def __init__(
        self,
        columns: Sequence[Column],
        load: Callable[[], Frame],
        backend: Backend,
        known_count: int | None = None,
        reopen: Callable[[], Rows] | None = None,
    ) -> None:
        self.columns = tuple(columns)
        self.backend, self.known_count, self.reopen = backend, known_count, reopen
        self.form: FileForm | None = None
        """The form of the file that the rows are from."""
        self.written: Callable[[Sequence[str]], Rows] | None = None
        """Opens the same rows with some columns as their texts in the file."""
        self.notations: Collection[str] | None = None
        """The columns of floating-point numbers, where only these have several notations."""
        self.finer: dict[str, bool] = {}
        """Whether what is written distinguishes more than is read, by column, as far as it is known."""
        self._as_written: dict[tuple[str, ...], Rows] = {}
        self.contents: Callable[[], tuple[Content, ...]] | None = None
        """Lists what the file has besides the rows."""
        self.titles: Callable[[], tuple[str, ...]] | None = None
        """The names that a recipient sees with the rows: of files, the sheet, the table."""
        self.records = object()
        """What rows of the same records in another order share: every count of them is the same."""
        self.computed = False
        """Whether code of a database file, such as a view, computes the values at each reading."""
        self._load = load
        self._by_name = {column.name: column for column in self.columns}
        self._too_many: dict[frozenset[str], int] = {}  # column sets with more combinations

    def __reduce__(self) -> tuple[Any, ...]:
        load = self.backend.loader
        if self.reopen is not None:
            return self.reopen, ()
        return _from_arrow, (load, self.to_arrow())

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(column.name for column in self.columns)

    @property
    def legacy_encoding(self) -> str | None:
        """The encoding of a text file that is not in a form of Unicode."""
        encoding = "utf-8" if self.form is None else self.form.encoding
        return None if encoding.startswith("utf") else encoding

    @property
    def local(self) -> bool:
        """Whether the rows are on this machine, in an order of their own."""
        return self.backend.local

    def column(self, name: str) -> Column:
        """The column of that name."""
        if name not in self._by_name:
            raise unknown_columns([name], self.names)
        return self._by_name[name]

    @cached_property
    def frame(self) -> Frame:
        """The rows, with the engine's names for the columns; opened when first used."""
        return self._load()

    @cached_property
    def count(self) -> int:
        """The number of rows."""
        if self.known_count is not None:
            return self.known_count
        table = self.fetch(self.frame.select(nw.len().alias(COUNT)), "counting rows")
        return int(table[COUNT][0].as_py())

    @cached_property
    def _floats(self) -> dict[str, Any]:
        """The types of the columns in which NaN and minus zero can occur."""
        if not any(column.kind is Kind.NUMBER for column in self.columns):
            return {}
        schema = self.frame.collect_schema()
        return {name: dtype for name, dtype in schema.items() if dtype.is_float()}

    def cell(self, inner: str) -> nw.Expr:
        """A column of the frame, with NaN as missing and minus zero as zero."""
        dtype = self._floats.get(inner)
        return nw.col(inner) if dtype is None else clean_expression(inner, dtype)

    def cleaned(self, inner: Sequence[str], keep: Sequence[str] = ()) -> Frame:
        """Columns of the frame with NaN as missing and minus zero as zero; others as they are."""
        kept = [name for name in dict.fromkeys(keep) if name not in inner]
        return self.frame.select(*map(self.cell, inner), *kept)

    def comparable(self, names: Sequence[str]) -> list[str]:
        """The engine's names of columns whose values can be compared."""
        columns = [self.column(name) for name in names]
        if not columns:
            raise ColumnError("At least one column is needed.")
        if len(set(names)) < len(columns):
            raise ColumnError(f"A column is named twice: {listed(names)}.")
        nested = tuple(column.name for column in columns if column.kind is Kind.NESTED)
        if nested:
            raise ColumnError(
                f"Column {listed(nested)} has lists, structures or bytes: they have no equality.",
                code="nested-column",
                columns=nested,
                hint="Split it into plain columns, or exclude it.",
            )
        return [column.inner for column in columns]

    def fetch(self, frame: Frame, what: str) -> pa.Table:
        """The rows of a frame of the same engine, under its own column names."""
        return pa.Table.from_batches(list(self.backend.batches(frame, what)))

    def fetch_bounded(self, what: str, at_most: int, refusal: TooLargeError) -> pa.Table:
        """All rows, if they are at most so many; more raise `refusal`."""
        batches = self.backend.bounded(self.frame, what, at_most, refusal)
        return pa.Table.from_batches(list(batches)).rename_columns(list(self.names))

    def batches(self, what: str) -> Iterator[pa.RecordBatch]:
        """The rows in their order, batch by batch."""
        for batch in self.backend.batches(self.frame, what):
            yield batch.rename_columns(list(self.names))

    def parts(self, what: str) -> Iterator[pa.Table]:
        """The rows in their order, about a million at a time."""
        waiting: list[pa.RecordBatch] = []
        for batch in self.batches(what):
            waiting.append(batch)
            if sum(part.num_rows for part in waiting) >= PART_ROWS:
                yield pa.Table.from_batches(waiting)
                waiting = []
        if waiting:
            yield pa.Table.from_batches(waiting)

    def derive(
        self, columns: Sequence[Column], build: Callable[[Frame], Frame], known_count: int | None = None
    ) -> Rows:
        """Other rows of the same engine, made of the frame by `build` when first used."""
        return Rows(columns, lambda: build(self.frame), self.backend, known_count)

    def finer_as_written(self, names: Sequence[str], at_most: int = MAX_CELLS) -> tuple[str, ...]:
        """The columns in which what is written distinguishes more than the values that are read.

        In a text file that is 70 and 70.0, or NA and ?; in a frame or a typed file zero and minus
        zero, or NaN and a missing value.
        """
        if self.written is None:
            return ()
        new = [name for name in names if name not in self.finer]
        if self.notations is not None:
            self.finer.update(self._floats_in_two_notations([n for n in new if n in self.notations]))
        elif new:
            read, texts = (rows._distinct(new, at_most) for rows in (self, self.written(new)))
            self.finer.update({name: texts[name] > read[name] for name in new})
        return tuple(name for name in names if self.finer.get(name))

    def _floats_in_two_notations(self, names: Sequence[str]) -> dict[str, bool]:
        """Whether columns of numbers have both zeros, or NaN beside another NaN or a missing value.

        Other numbers have one notation each. One pass, and none where there are no floats.
        """
        inner = {name: self.column(name).inner for name in names}
        inner = {name: cell for name, cell in inner.items() if cell in self._floats}
        if not inner:
            return {}
        parts: list[nw.Expr] = []
        for i, inner_name in enumerate(inner.values()):
            value, text = nw.col(inner_name), nw.col(inner_name).cast(nw.String)
            zero = nw.when(value == 0).then(text)
            nan = nw.when(not_a_number(value)).then(text)
            parts += [
                zero.min().alias(f"lowest{i}"),
                zero.max().alias(f"highest{i}"),
                nan.min().alias(f"first{i}"),
                nan.max().alias(f"last{i}"),
                value.is_null().cast(nw.Int64).sum().alias(f"missing{i}"),
            ]
        table = self.fetch(self.frame.select(*parts), "comparing the notations of numbers")
        (row,) = table.to_pylist()
        return {
            name: row[f"lowest{i}"] != row[f"highest{i}"]
            or row[f"first{i}"] != row[f"last{i}"]
            or (row[f"first{i}"] is not None and row[f"missing{i}"] > 0)
            for i, name in enumerate(inner)
        }

    def _distinct(self, names: Sequence[str], at_most: int) -> dict[str, int]:
        """The number of values of each column, a missing one included."""
        return {
            name: len(counts) + (sum(counts.values()) < self.count)
            for name, counts in self.value_counts(names, at_most=at_most).items()
        }

    def as_written(self, names: Sequence[str]) -> Rows:
        """The same rows with some columns as they are written; opened once."""
        chosen = tuple(names)
        if self.written is None or not chosen:
            return self
        if chosen not in self._as_written:
            rows = self._as_written[chosen] = self.written(chosen)
            rows.written = None  # no column of them is written in another way
        return self._as_written[chosen]

    def numbered(self, name: str) -> Frame:
        """The frame with the number of each row, where rows have an order."""
        return self.backend.with_row_number(self.frame, name)

    def cells(self, names: Sequence[str], *, weight: str | None = None, at_most: int = MAX_CELLS) -> pa.Table:
        """The distinct combinations of some columns, each with the `count` of its rows.

        The columns are dictionary-coded; with `weight` the table has the summed `weight` too. One
        scan. More than `at_most` combinations raise `TooLargeError` instead of filling the memory.
        """
        inner = self.comparable(names)
        table = self._counted(names, inner, weight, at_most)
        for name, inner_name in zip(names, inner, strict=True):
            check_years(table[inner_name].chunk(0).dictionary, name)
        sums = ["count"] if weight is None else ["count", "weight"]
        table = table.select([*inner, COUNT, *(["w"] if weight else [])])
        return table.rename_columns([f"c{i}" for i in range(len(inner))] + sums)

    def _counted(self, names: Sequence[str], inner: list[str], weight: str | None, at_most: int) -> pa.Table:
        """The distinct combinations, dictionary-coded under their inner names."""
        parts, extra = [nw.len().alias(COUNT)], []
        in_pieces = weight is not None and self.local
        if weight is not None:
            extra = [self.column(weight).inner]
            added = nw.col(*extra).cast(nw.Float64)
            # Spark's floor gives integers of 64 bits, too few for the pieces.
            parts += summation.sums(added, "w") if in_pieces else [added.sum().alias("w")]
        grouped = self.cleaned(inner, extra).group_by(*inner).agg(*parts)
        refusal = TooLargeError(
            f"The columns {listed(names)} have more than {at_most:,} distinct combinations.",
            code="too-many-combinations",
            columns=tuple(names),
            hint="Use fewer columns, exclude those that are nearly unique, or use estimates: "
            "singling_out.equivalence_classes, inference.leakage.",
        )
        if any(refused <= set(names) and most >= at_most for refused, most in self._too_many.items()):
            raise refusal
        try:
            if self._explodes(names, inner, at_most):
                raise refusal
            batches = self.backend.bounded(grouped, "counting " + listed(names), at_most, refusal)
            coded = [dictionary_coded(batch, inner) for batch in batches]
        except TooLargeError as error:
            if error is refusal:
                self._too_many[frozenset(names)] = at_most
            raise
        table = pa.Table.from_batches(coded).unify_dictionaries()
        return summation.total(table, "w") if in_pieces else table

    def _explodes(self, names: Sequence[str], inner: list[str], at_most: int) -> bool:
        """Whether a table of known size surely has more combinations than can be counted.

        The first million rows show whether that is possible: what is unique among n of N rows
        stands for at most about N/n combinations that are still to come (Good and Toulmin 1956).
        If it is, one pass with HyperLogLog decides, in little memory.
        """
        known_count = self.known_count
        if known_count is None or known_count <= max(at_most, FIRST_ROWS):
            return False
        first = self.tally_first(names, FIRST_ROWS)
        if first.distinct + first.singletons * (known_count / FIRST_ROWS) <= at_most:
            return False
        (sketch,) = self.backend.sketch(self.cleaned(inner), [inner])
        return sketch.distinct * (1 - 4 * sketch.error) > at_most

    def tally(self, names: Sequence[str], *, drop_missing: bool = False) -> ColumnSetCounts:
        """The equivalence classes of some columns, counted without fetching them."""
        inner = self.comparable(names)
        classes = self.cleaned(inner).group_by(*inner).agg(nw.len().cast(nw.Int64).alias(COUNT))
        classes = classes.with_columns(
            nw.when(any_missing(inner)).then(nw.col(COUNT)).otherwise(nw.lit(0)).alias("missing")
        )
        counted = classes.filter(nw.col("missing") == 0) if drop_missing else classes
        n = nw.col(COUNT)
        table = self.fetch(
            counted.select(
                n.sum().alias("rows"),
                nw.len().alias("distinct"),
                (n == 1).cast(nw.Int64).sum().alias("singletons"),
                (n == 2).cast(nw.Int64).sum().alias("doubletons"),
                n.min().alias("smallest"),
                n.max().alias("largest"),
                nw.col("missing").sum(),
            ),
            "grouping by " + listed(names),
        )
        values = {name: int(value or 0) for name, value in table.to_pylist()[0].items()}
        if drop_missing:
            values["missing"] = self.count - values["rows"]
        return ColumnSetCounts(tuple(names), **values)

    def tally_first(self, names: str | Sequence[str], rows: int) -> ColumnSetCounts:
        """The equivalence classes among the first `rows` rows: no scan."""
        column_names = [names] if isinstance(names, str) else list(names)
        inner = self.comparable(column_names)
        columns = [self.column(name) for name in column_names]
        return self.derive(columns, lambda frame: frame.select(*inner).head(rows)).tally(column_names)

    def value_counts(self, names: Sequence[str], *, at_most: int = MAX_CELLS) -> dict[str, dict[Any, int]]:
        """The values of each column with their counts, in one pass; missing values do not count."""
        inner = self.comparable(names)
        refusal = TooLargeError(
            f"The columns have more than {at_most:,} distinct values in total.",
            code="too-many-values",
            hint="Use fewer columns, or exclude those that are nearly unique.",
        )
        try:
            raw_counts = self.backend.value_counts(self.frame.select(*inner), inner, at_most, refusal)
        except (OverflowError, ValueError) as error:
            dates = [name for name in names if self.column(name).kind in (Kind.DATE, Kind.TIME)]
            if isinstance(error, CrypsisError | pa.ArrowException) or not dates:
                raise
            raise outside_calendar(dates) from None
        return {name: clean_counts(*counted) for name, counted in zip(names, raw_counts, strict=True)}

    def values_like(self, name: str, pattern: str, limit: int) -> pa.Array:
        """The distinct values of a column, as texts, in which a regular expression is found.

        At most `limit` of them. The engine searches; the expression must be of RE2 and of Java.
        """
        column = self.column(name)
        value = nw.col(column.inner)
        if column.kind is Kind.NUMBER:  # 4.9e9 as 4900000000; fractions have no format
            value = nw.when(value % 1 == 0).then(value).otherwise(None).cast(nw.Int64)
        texts = self.frame.select(value.cast(nw.String).alias("text"))
        matching = texts.filter(nw.col("text").str.contains(pattern)).group_by("text").agg()
        table = self.fetch(matching.head(limit), f"searching {listed([name])}")
        return table["text"].combine_chunks().cast(pa.string())

    def to_arrow(self, names: Sequence[str] | None = None) -> pa.Table:
        """All rows as an Arrow table; from a cluster only a limited number."""
        chosen = self.names if names is None else tuple(names)
        inner = [self.column(name).inner for name in chosen]
        most = self.backend.max_values
        if most is not None and self.count * len(inner) > most:
            raise TooLargeError(
                f"{self.count:,} rows of {len(inner)} columns are too many to fetch to one machine "
                f"(at most {most:,} values).",
                code="too-many-rows",
                hint="Use the frame itself, write() the rows, use fewer columns, or draw a sample.",
            )
        return self.fetch(self.frame.select(*inner), "reading rows").rename_columns(list(chosen))

    def first(self, rows: int, names: Sequence[str]) -> pa.Table:
        """The first rows, in the order of the file."""
        columns = [self.column(name) for name in names]
        inner = [column.inner for column in columns]
        return self.derive(columns, lambda frame: frame.select(*inner).head(rows)).to_arrow()

    def select(self, names: Sequence[str]) -> Rows:
        """The same rows with some of the columns."""
        columns = [self.column(name) for name in names]
        inner = [column.inner for column in columns]
        return self.derive(columns, lambda frame: frame.select(*inner))

    def named_frame(self) -> Any:
        """The engine's own lazy frame, with the public names."""
        return self.backend.named(self.frame, self.names)

    def replacing(
        self, paths: Sequence[str | Path], *, overwrite: bool = False
    ) -> AbstractContextManager[tuple[Path | str, ...]]:
        """Places to write to, which become `paths` together when the block ends without an error.

        Spark writes to hdfs://, s3a:// and the like, too, one file at a time.
        """
        return self.backend.replacing(self.frame, paths, overwrite)

    def in_order(self) -> Rows:
        """The same rows as the engine's frame has them, in the order in which they are released."""
        return self

    def with_texts(self, texts: Mapping[str, nw.Expr], names: Sequence[str] | None = None) -> Rows:
        """The rows, in order, with some columns as the texts of expressions, under other names."""
        rows = self.in_order()
        parts = [
            texts[column.name].alias(column.inner) if column.name in texts else nw.col(column.inner)
            for column in rows.columns
        ]
        columns = [
            Column(name, Kind.TEXT if column.name in texts else column.kind, column.inner)
            for name, column in zip(names or rows.names, rows.columns, strict=True)
        ]
        return rows.derive(columns, lambda frame: frame.select(*parts))

    def without_formulas(self) -> Rows:
        """The rows for a CSV file that a spreadsheet may open: texts and names are not formulas."""
        texts = {c.name: neutral_text(c.inner) for c in self.columns if c.kind is Kind.TEXT}
        return self.with_texts(texts, [neutral_name(name) for name in self.names])

    def write_file(self, path: Path | str, form: str, delimiter: str = ",") -> None:
        """Write the rows to `path`, which does not exist yet, as `csv` or `parquet`."""
        self.backend.write(self.frame, self.names, path, form, delimiter)

    def read_back(self, path: Path | str, form: str, names: Sequence[str] | None = None) -> Rows:
        """The rows of a file just written for these, under `names`; of CSV all columns as text."""
        chosen = self.names if names is None else tuple(names)
        backend, frame = self.backend.read_back(self.frame, chosen, path, form)
        return Rows(columns_of(frame, chosen), lambda: frame, backend)


def _from_arrow(load: Callable[[pa.Table], tuple[Backend, Frame]], table: pa.Table) -> Rows:
    backend, frame = load(table)
    return Rows(columns_of(frame, table.column_names), lambda: frame, backend, table.num_rows)
