"""The few questions asked of rows, answered once for every engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw
import pyarrow as pa
import pyarrow.compute as pc

from crypsis.engine import exact
from crypsis.engine.base import Backend, Column, Kind, Tally
from crypsis.engine.large import check_explosion
from crypsis.engine.sampling import sample_size, smallest_hashes, table_quantiles
from crypsis.errors import ColumnError, OutputError, ParameterError, TooLarge, unknown_columns
from crypsis.files import form_of, written_together

COUNT = "n"
_KEY_KINDS = (Kind.INTEGER, Kind.TEXT, Kind.DATE)
MOST_CELLS = 20_000_000


class Rows:
    """Rows somewhere, and the questions they answer without leaving it.

    NaN counts as missing everywhere. Results come back as Arrow; no row passes through Python.
    """

    def __init__(
        self,
        columns: Sequence[Column],
        load: Callable[[], nw.LazyFrame[Any]],
        backend: Backend,
        known_count: int | None = None,
    ) -> None:
        self.known_count = known_count
        """The number of rows, where the source tells it without being read."""
        self.columns = tuple(columns)
        self.backend = backend
        self._load = load
        self._by_name = {column.name: column for column in self.columns}
        self._exploded: dict[frozenset[str], int] = {}  # what has more combinations than that

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(column.name for column in self.columns)

    def column(self, name: str) -> Column:
        """The column of that name."""
        if name not in self._by_name:
            raise unknown_columns([name], self.names)
        return self._by_name[name]

    @cached_property
    def frame(self) -> nw.LazyFrame[Any]:
        """The rows, with the engine's names for the columns; opened when first asked."""
        return self._load()

    @cached_property
    def count(self) -> int:
        """The number of rows."""
        if self.known_count is not None:
            return self.known_count
        table = self._fetch(self.frame.select(nw.len().alias(COUNT)), "counting rows")
        return int(table[COUNT][0].as_py())

    def cells(
        self, names: Sequence[str], *, weight: str | None = None, at_most: int = MOST_CELLS
    ) -> pa.Table:
        """The distinct tuples of some columns with the `count` of rows that hold each.

        The columns are dictionary-coded; with `weight` the table has the summed `weight` too. One
        scan. More than `at_most` tuples raise `TooLarge` instead of filling the memory.
        """
        inner = self._groupable(names)
        table = self._counted(names, inner, weight, at_most)
        for name, own in zip(names, inner, strict=True):
            _check_years(table[own].chunk(0).dictionary, name)
        sums = ["count"] if weight is None else ["count", "weight"]
        table = table.select([*inner, COUNT, *(["w"] if weight else [])])
        return table.rename_columns([f"c{i}" for i in range(len(inner))] + sums)

    def _counted(
        self, names: Sequence[str], inner: list[str], weight: str | None, at_most: int
    ) -> pa.Table:
        """The distinct tuples, dictionary-coded under their inner names, as the engine counts."""
        parts = [nw.len().alias(COUNT)]
        in_pieces = weight is not None and self.frame.implementation.is_duckdb()
        if weight is not None:
            added = nw.col(self.column(weight).inner).cast(nw.Float64)
            # Spark's floor gives whole numbers of 64 bits, too few for the pieces.
            parts += exact.sums(added, "w") if in_pieces else [added.sum().alias("w")]
        extra = [] if weight is None else [self.column(weight).inner]
        grouped = self._clean(inner, extra).group_by(*inner).agg(*parts)
        refusal = TooLarge(
            f"The columns {_list(names)} have more than {at_most:,} distinct combinations. "
            "Ask about fewer columns, leave out those that are nearly unique, or have them "
            "estimated from a sample (singling_out.sampled_crowds, inference.sampled_leakage)."
        )
        if any(known <= set(names) and most >= at_most for known, most in self._exploded.items()):
            raise refusal
        try:
            check_explosion(self, names, at_most, refusal)
            batches = self.backend.bounded(grouped, "counting " + _list(names), at_most, refusal)
            coded = [_dictionary_coded(batch, inner) for batch in batches]
        except TooLarge as error:
            if error is refusal:
                self._exploded[frozenset(names)] = at_most
            raise
        table = pa.Table.from_batches(coded).unify_dictionaries()
        return exact.total(table, "w") if in_pieces else table

    def tally(self, names: Sequence[str], *, drop_missing: bool = False) -> Tally:
        """How many groups of equal rows some columns make and how large, without fetching them."""
        inner = self._groupable(names)
        rows = self._clean(inner)
        blank = nw.any_horizontal(*(nw.col(c).is_null() for c in inner), ignore_nulls=False)
        groups = rows.group_by(*inner).agg(nw.len().cast(nw.Int64).alias(COUNT))
        groups = groups.with_columns(
            nw.when(blank).then(nw.col(COUNT)).otherwise(nw.lit(0)).alias("blank")
        )
        counted = groups.filter(nw.col("blank") == 0) if drop_missing else groups
        n = nw.col(COUNT)
        table = self._fetch(
            counted.select(
                n.sum().alias("rows"),
                nw.len().alias("distinct"),
                (n == 1).cast(nw.Int64).sum().alias("singletons"),
                (n == 2).cast(nw.Int64).sum().alias("doubletons"),
                n.min().alias("smallest"),
                n.max().alias("largest"),
                nw.col("blank").sum().alias("missing"),
            ),
            "grouping by " + _list(names),
        )
        values = {name: int(value or 0) for name, value in table.to_pylist()[0].items()}
        if drop_missing:
            values["missing"] = self.count - values["rows"]
        return Tally(**values)

    def tally_first(self, names: str | Sequence[str], rows: int) -> Tally:
        """The groups of equal values among the first `rows` rows: a look, not a scan."""
        asked = [names] if isinstance(names, str) else list(names)
        some = self.frame.select(*self._groupable(asked)).head(rows)
        return Rows([self.column(n) for n in asked], lambda: some, self.backend).tally(asked)

    def value_counts(
        self, names: Sequence[str], *, at_most: int = MOST_CELLS
    ) -> dict[str, dict[Any, int]]:
        """How many rows hold each value of each column, in one pass; missing values left out."""
        inner = self._groupable(names)
        refusal = TooLarge(
            f"The columns have more than {at_most:,} values between them. Ask about fewer columns, "
            "or leave out those that are nearly unique."
        )
        found = self.backend.value_counts(self.frame.select(*inner), inner, at_most, refusal)
        return {name: _merged(*counted) for name, counted in zip(names, found, strict=True)}

    def ranks(self, names: Sequence[str], *, keep: Sequence[str] = ()) -> Rows:
        """The columns as average ranks from 1 to the number of values; missing stays missing.

        Rows come back in no particular order: `keep` a key to know them by. The values are counted,
        cumulated and joined back, so that only distinct values are ever sorted in one place.
        """
        plain = self._clean(self._groupable(names), [self.column(name).inner for name in keep])
        frame = plain
        for name in names:
            column = self.column(name).inner
            steps = self._cumulated(plain, column)
            # The average of the ranks below+1 .. below+n that n equal values share.
            average = nw.col("below") + (nw.col(COUNT) + 1) / 2
            steps = steps.select(nw.col(column).alias("value"), average.alias("rank"))
            joined = frame.join(steps, left_on=column, right_on="value", how="left")
            frame = joined.with_columns(nw.col("rank").alias(column)).drop("rank")
        order = [*(self.column(name) for name in names), *(self.column(name) for name in keep)]
        frame = frame.select(*(column.inner for column in order))
        ranked = [Column(c.name, Kind.NUMBER, c.inner) for c in order[: len(names)]]
        return Rows([*ranked, *order[len(names) :]], lambda: frame, self.backend)

    def quantiles(
        self, names: Sequence[str], probabilities: Sequence[float]
    ) -> dict[str, pa.Array]:
        """For each probability the smallest value with that share of the values at or below it.

        Exact, always a value that occurs, for numbers, dates and times alike. Missing values do not
        count.
        """
        self._ordered(names)
        if not probabilities or not all(0 <= p <= 1 for p in probabilities):
            raise ParameterError("Quantiles need probabilities between 0 and 1.")
        inner = [self.column(name).inner for name in names]
        found = self.backend.quantiles(self._clean(inner), inner, probabilities)
        return dict(zip(names, found.values(), strict=True))

    def sampled_quantiles(
        self,
        names: Sequence[str],
        probabilities: Sequence[float],
        *,
        rank_error: float,
        confidence: float = 0.95,
        seed: int = 0,
        key: str | None = None,
    ) -> dict[str, pa.Array]:
        """Quantiles from a sample: each within `rank_error` of its share of the rows.

        The sample has ln(2/(1-confidence)) / (2 rank_error^2) rows; by the inequality of Dvoretzky,
        Kiefer, Wolfowitz and Massart (1990) all quantiles of a column are then right together with
        the given confidence. (lodha2007, section 4.1, takes (1/error) log(1/delta): too few.)
        """
        size = sample_size(rank_error, confidence)
        table = self.sample(size, seed=seed, key=key, names=names)
        return table_quantiles(table, names, probabilities)

    def sample(
        self,
        size: int,
        *,
        seed: int = 0,
        key: str | None = None,
        names: Sequence[str] | None = None,
    ) -> pa.Table:
        """`size` rows drawn at random without replacement (all rows, if there are fewer).

        With a `key` column that identifies the rows the sample is the same on every engine and for
        every order of the rows; without one it is repeatable on the same engine and source.
        """
        if size < 1:
            raise ParameterError(f"A sample needs a size of at least 1; {size} was given.")
        chosen = self.names if names is None else tuple(names)
        columns = [self.column(name) for name in chosen]
        inner = [column.inner for column in columns]
        if key is None:
            table = self.backend.sample(self.frame.select(*inner), self.count, size, seed)
            return table.rename_columns(list(chosen))
        if self.column(key).kind not in _KEY_KINDS:
            raise ColumnError(
                f"The column {key!r} is no key for a sample: it must hold integers, text or "
                "dates, which read the same on every engine."
            )
        hashed = self.backend.with_hash(self.frame, self.column(key).inner, seed, "h")
        picked = hashed.select(*inner, "h")
        table = smallest_hashes(self.backend, picked, "h", self.count, size)
        return table.rename_columns(list(chosen))

    def to_arrow(self, names: Sequence[str] | None = None) -> pa.Table:
        """The rows themselves, all of them, as an Arrow table; of a cluster only so many."""
        chosen = self.names if names is None else tuple(names)
        inner = [self.column(name).inner for name in chosen]
        most = self.backend.most_values
        if most is not None and self.count * len(inner) > most:
            raise TooLarge(
                f"{self.count:,} rows of {len(inner)} columns are too many to bring to one machine "
                f"(at most {most:,} values). Leave them on the cluster: use the frame itself, "
                "write() them, ask about fewer columns, or draw a sample."
            )
        return self._fetch(self.frame.select(*inner), "reading rows").rename_columns(list(chosen))

    def only(self, names: Sequence[str]) -> Rows:
        """The same rows with some of the columns."""
        columns = [self.column(name) for name in names]
        inner = [column.inner for column in columns]
        return Rows(columns, lambda: self.frame.select(*inner), self.backend)

    def named_frame(self) -> Any:
        """The engine's own lazy frame, with the public names."""
        return self.backend.named(self.frame, self.names)

    def write(
        self, path: str | Path, *, overwrite: bool = False, neutralize_formulas: bool = False
    ) -> Path:
        """Write the rows to a `.csv` or `.parquet` file that appears whole or not at all."""
        form = form_of(path)
        rows = self.neutral(form) if neutralize_formulas else self
        with self.written_together([path], overwrite=overwrite) as (partial,):
            rows.write_file(partial, form)
        return Path(path)

    @contextmanager
    def written_together(
        self, paths: Sequence[str | Path], *, overwrite: bool = False
    ) -> Iterator[tuple[Path | str, ...]]:
        """Places to write to, which become `paths` together when the writing ended well.

        Spark writes to hdfs://, s3a:// and the like, too, one file at a time.
        """
        if "://" not in str(paths[0]):
            with written_together(paths, overwrite=overwrite) as partials:
                yield partials
            return
        if self.backend.name != "spark":
            raise OutputError("Only Spark writes to other machines; name a file of this one.")
        from crypsis.engine.spark_files import written_whole_there

        session = self.frame.to_native().sparkSession
        with written_whole_there(session, str(paths[0]), overwrite) as partial:
            yield (partial,)

    def neutral(self, form: str) -> Rows:
        """The rows as they go into a CSV file that a spreadsheet may open: no formulas."""
        from crypsis.engine.formulas import without_formulas

        if form != "csv":
            raise ParameterError(
                "Formulas are neutralized in CSV; Parquet has types and needs none."
            )
        return without_formulas(self)

    def write_file(self, path: Path | str, form: str) -> None:
        """Write the rows to `path`, which does not exist yet, as `csv` or `parquet`."""
        self.backend.write(self.frame, self.names, path, form)

    def _clean(self, inner: Sequence[str], extra: Sequence[str] = ()) -> nw.LazyFrame[Any]:
        """The columns asked about, with NaN turned into missing and minus zero into zero."""
        numbers = {column.inner for column in self.columns if column.kind is Kind.NUMBER}
        schema = self.frame.collect_schema() if numbers.intersection(inner) else {}
        parts = []
        for name in inner:
            column = nw.col(name)
            if name in schema and schema[name].is_float():
                whole = (column + 0.0).cast(schema[name])  # -0.0 and 0.0 are one value
                column = nw.when(~column.is_nan()).then(whole).alias(name)
            parts.append(column)
        others = [name for name in dict.fromkeys(extra) if name not in inner]
        return self.frame.select(*parts, *others)

    def _cumulated(self, frame: nw.LazyFrame[Any], column: str) -> nw.LazyFrame[Any]:
        """Each value of a column with its count and the number of rows below it."""
        counts = frame.select(column).drop_nulls().group_by(column).agg(nw.len().alias(COUNT))
        upto = nw.col(COUNT).cum_sum().over(order_by=column)
        return counts.with_columns((upto - nw.col(COUNT)).alias("below"))

    def _groupable(self, names: Sequence[str]) -> list[str]:
        columns = [self.column(name) for name in names]
        if not columns:
            raise ColumnError("At least one column is needed.")
        if len(set(names)) < len(columns):
            raise ColumnError(f"A column is named twice: {_list(names)}.")
        nested = [column.name for column in columns if column.kind is Kind.NESTED]
        if nested:
            raise ColumnError(
                f"{_list(nested)} holds lists, structures or bytes, which cannot be compared. "
                "Flatten it into plain columns, or leave it out."
            )
        return [column.inner for column in columns]

    def _ordered(self, names: Sequence[str]) -> None:
        for name in names:
            kind = self.column(name).kind
            if not kind.ordered:
                raise ColumnError(
                    f"The column {name!r} holds {kind.value}, which has no order; quantiles need "
                    "numbers, dates or times."
                )

    def _fetch(self, frame: nw.LazyFrame[Any], what: str) -> pa.Table:
        return pa.Table.from_batches(list(self.backend.batches(frame, what)))


def _merged(values: Iterable[Any], counts: Iterable[int]) -> dict[Any, int]:
    """Counts by value: NaN is missing, minus zero is zero. Values are fewer than rows."""
    found: dict[Any, int] = {}
    for value, count in zip(values, counts, strict=True):
        if value == value:  # all but NaN
            plain = value + 0.0 if isinstance(value, float) else value
            found[plain] = found.get(plain, 0) + count
    return found


def _dictionary_coded(batch: pa.RecordBatch, inner: Iterable[str]) -> pa.RecordBatch:
    """A batch whose columns `inner` are dictionary-coded."""
    for name in inner:
        place = batch.schema.get_field_index(name)
        column = batch.column(place)
        if not pa.types.is_dictionary(column.type):
            column = column.dictionary_encode()
        batch = batch.set_column(place, name, column)
    return batch


def _check_years(values: pa.Array, name: str) -> None:
    """Refuse dates that calendars of programs do not have: before the year 1, after 9999."""
    if not (pa.types.is_date(values.type) or pa.types.is_timestamp(values.type)):
        return
    ends = pc.min_max(values)
    try:
        ends["min"].as_py(), ends["max"].as_py()
    except (OverflowError, ValueError):
        raise ColumnError(
            f"The column {name!r} has dates outside the years 1 to 9999. Mend them, or leave the "
            "column out."
        ) from None


def _list(names: Iterable[str]) -> str:
    return ", ".join(repr(name) for name in names)
