"""Apache Spark: the engine for rows on a cluster. The user's session is used and never stopped.

Work is given to Spark as its own expressions and runs on the cluster; no row passes through Python
there, and only counts, quantiles and summaries are fetched to the driver.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn

import narwhals.stable.v2 as nw
import pyarrow as pa

from crypsis import progress
from crypsis.counting.estimates import DistinctSketch
from crypsis.errors import InputError, OutputError, SourceError, TooLargeError
from crypsis.files import replacing_files
from crypsis.tables.arrow_files import batches_of
from crypsis.tables.backend import Frame
from crypsis.tables.draws import smallest_hashes
from crypsis.tables.schema import inner_names

_TOO_MUCH = ("maxResultSize", "MAX_RESULT_SIZE", "OutOfMemoryError")


@contextmanager
def translated(what: str) -> Iterator[None]:
    """Turn Spark's errors into ours; Spark's own text may quote data, so it is not shown."""
    from pyspark.errors import PySparkException

    kinds: tuple[type[Exception], ...] = (PySparkException,)
    with suppress(ImportError):  # Spark Connect alone comes without it
        from py4j.protocol import Py4JError

        kinds = (PySparkException, Py4JError)
    try:
        yield
    except kinds as error:
        text = f"{error} {getattr(error, 'java_exception', '')}"
        if any(sign in text for sign in _TOO_MUCH):
            raise TooLargeError(
                f"{what}: the result is too large for the Spark driver.",
                code="out-of-memory",
                hint="Use fewer columns, or raise spark.driver.maxResultSize and spark.driver.memory.",
            ) from None
        raise SourceError(
            f"{what}: Spark refused ({type(error).__name__}).",
            code="spark",
            hint="The log of Spark has the reason.",
        ) from None


class SparkBackend:
    """A Spark cluster."""

    local = False
    sketch_error = 0.01
    max_values: int | None = 200_000_000

    def batches(self, frame: Frame, what: str, rows: int | None = None) -> Iterator[pa.RecordBatch]:
        """Run `frame` and fetch its rows to the driver as Arrow."""
        with translated(what), progress.step(what):
            table = frame.to_native().toArrow()
        yield from batches_of(table)

    def bounded(
        self, frame: Frame, what: str, at_most: int, refusal: TooLargeError
    ) -> Iterator[pa.RecordBatch]:
        """Counted on the cluster before anything is fetched; the cache is released."""
        with translated(what), progress.step(what):
            kept = frame.to_native().persist()
            try:
                if kept.count() > at_most:
                    raise refusal
                table = kept.toArrow()
            finally:
                kept.unpersist()
        yield from batches_of(table)

    def sample(self, frame: Frame, count: int, size: int, seed: int) -> pa.Table:
        """By a hash of the row's place in its partition."""
        from pyspark.sql import functions as f

        row_id = f.monotonically_increasing_id()
        value = f.shiftrightunsigned(f.xxhash64(row_id, f.lit(seed)), 4)
        hashed = _lazy(frame.to_native().withColumn("h", value))
        return smallest_hashes(self, hashed, "h", count, size)

    def with_hash(self, frame: Frame, key: str, seed: int, name: str) -> Frame:
        """By MD5."""
        from pyspark.sql import functions as f

        digest = f.md5(f.concat(f.lit(f"{seed}:"), f.col(key).cast("string")))
        value = f.conv(f.substring(digest, 1, 15), 16, 10).cast("long")
        return _lazy(frame.to_native().withColumn(name, value))

    def with_class_hash(self, frame: Frame, columns: Sequence[str], seed: int, name: str) -> Frame:
        """By xxHash64, which skips missing values, so a flag for them is hashed as well."""
        from pyspark.sql import functions as f

        value = f.shiftrightunsigned(f.xxhash64(f.lit(seed), *_tuple(columns)), 4)
        return _lazy(frame.to_native().withColumn(name, value))

    def sketch(self, frame: Frame, sets: Sequence[Sequence[str]]) -> list[DistinctSketch]:
        """Missing rows and HyperLogLog++ of all sets in one pass."""
        from pyspark.sql import functions as f

        parts = [f.count(f.lit(1)).alias("n")]
        for i, columns in enumerate(sets):
            is_present = ~f.col(columns[0]).isNull()
            for column in columns[1:]:
                is_present = is_present & ~f.col(column).isNull()
            value = f.col(columns[0]) if len(columns) == 1 else f.xxhash64(*_tuple(columns))
            counted = f.approx_count_distinct(f.when(is_present, value), self.sketch_error)
            parts += [f.count(f.when(is_present, f.lit(1))).alias(f"t{i}"), counted.alias(f"d{i}")]
        sketched = _lazy(frame.to_native().select(*parts))
        row = next(self.batches(sketched, "sketching columns")).to_pylist()[0]
        return [
            DistinctSketch(row["n"], row["n"] - row[f"t{i}"], float(row[f"d{i}"]), self.sketch_error)
            for i in range(len(sets))
        ]

    def value_counts(
        self, frame: Frame, columns: Sequence[str], at_most: int, refusal: TooLargeError
    ) -> list[tuple[list[Any], list[int]]]:
        """One grouping of (column, value) pairs, all columns in one pass."""
        counts, slots = _counted_values(frame, columns)
        batches = self.bounded(_lazy(counts), "counting values", at_most, refusal)
        table = pa.Table.from_batches(list(batches))
        counts_by_column: list[tuple[list[Any], list[int]]] = [([], []) for _ in columns]
        keys, size = table["k"].to_pylist(), table["n"].to_pylist()
        slotted = [table[f"v{slot}"].to_pylist() for slot in range(max(slots) + 1)]
        for i, (k, n) in enumerate(zip(keys, size, strict=True)):
            counts_by_column[k][0].append(slotted[slots[k]][i])
            counts_by_column[k][1].append(n)
        return counts_by_column

    def quantiles(
        self, frame: Frame, columns: Sequence[str], probabilities: Sequence[float]
    ) -> dict[str, pa.Array]:
        """From the cumulated counts of distinct values, all columns in one pass.

        Spark's own quantiles take numbers only, and round large ones. Of each column only the
        values that a probability falls on are fetched.
        """
        from pyspark.sql import Window
        from pyspark.sql import functions as f

        counts, slots = _counted_values(frame, columns)
        window = Window.partitionBy("k")
        order = [f"v{slot}" for slot in range(max(slots) + 1)]
        upto = f.sum("n").over(window.orderBy(*order))
        steps = counts.withColumn("upto", upto).withColumn("total", f.sum("n").over(window))
        shares = f.array(*(f.lit(float(share)) for share in probabilities))
        below, total = f.col("upto") - f.col("n"), f.col("total")

        def falls_on(share: Any) -> Any:
            rank = f.greatest(f.lit(1), f.ceil(share * total))
            return (rank > below) & (rank <= f.col("upto"))

        picked = _lazy(steps.filter(f.exists(shares, falls_on)))
        table = pa.Table.from_batches(list(self.batches(picked, "quantiles")))
        return {column: _picked(table, k, f"v{slots[k]}", probabilities) for k, column in enumerate(columns)}

    def small_table(self, frame: Frame, table: pa.Table) -> Frame:
        """A small table sent from the driver."""
        return _lazy(frame.to_native().sparkSession.createDataFrame(table))

    def named(self, frame: Frame, names: Sequence[str]) -> Any:
        """A Spark frame with the public names."""
        return frame.to_native().toDF(*names)

    def with_row_number(self, frame: Frame, name: str) -> Frame:
        """Rows of a cluster have no order."""
        return frame

    @contextmanager
    def replacing(
        self, frame: Frame, paths: Sequence[str | Path], overwrite: bool
    ) -> Iterator[tuple[Path | str, ...]]:
        """Files of this machine, or one folder in any file system that the session has."""
        if "://" not in str(paths[0]):
            with replacing_files(paths, overwrite=overwrite) as partials:
                yield partials
            return
        session = frame.to_native().sparkSession
        with _replacing_remote(session, str(paths[0]), overwrite) as partial:
            yield (partial,)

    def write(self, frame: Frame, names: Sequence[str], path: Path | str, form: str, delimiter: str) -> None:
        """Write a folder of part files from the executors."""
        rows = self.named(frame, names)
        target = path.absolute().as_uri() if isinstance(path, Path) else path
        what = f"writing {target.rsplit('/', 1)[-1]}"
        try:
            with translated(what), _capitals_matter(rows.sparkSession, names):
                if form == "parquet":
                    rows.write.parquet(target)
                else:
                    rows.write.csv(target, header=True, sep=delimiter, quote='"', escape='"')
        except SourceError as error:
            raise OutputError(error.message, hint=error.hint) from None

    def read_back(
        self, frame: Frame, names: Sequence[str], path: Path | str, form: str
    ) -> tuple[SparkBackend, Frame]:
        """By the same session."""
        address = path.absolute().as_uri() if isinstance(path, Path) else path
        reader = frame.to_native().sparkSession.read
        try:
            with translated("reading the release back"):
                if form == "parquet":
                    return self, inner_frame(reader.parquet(address))
                return self, inner_frame(reader.csv(address, header=True, quote='"', escape='"'))
        except SourceError as error:
            raise OutputError(error.message, hint=error.hint) from None

    @property
    def loader(self) -> NoReturn:
        """An error: another process has no part in the session."""
        raise InputError(
            "Rows on a Spark cluster cannot be pickled.",
            code="not-picklable",
            hint="Write them to a file, and read that in the other process.",
        )


def inner_frame(native: Any) -> Frame:
    """A Spark frame with the columns c0, c1, ...; columns without a type are text."""
    inner = native.toDF(*inner_names(len(native.columns)))
    for field in inner.schema.fields:
        if field.dataType.typeName() == "void":
            inner = inner.withColumn(field.name, inner[field.name].cast("string"))
    return _lazy(inner)


def _lazy(native: Any) -> Frame:
    frame: Frame = nw.from_native(native)
    return frame


def _tuple(columns: Sequence[str]) -> list[Any]:
    """Columns for a hash that skips missing values: each with a flag for them."""
    from pyspark.sql import functions as f

    return [part for column in columns for part in (f.col(column), f.col(column).isNull())]


def _counted_values(frame: Frame, columns: Sequence[str]) -> tuple[Any, list[int]]:
    """The counts of the values of each column: k (which column), v0, v1, ..., and n.

    Each row becomes one row per column, so that one pass serves them all; a value is in the slot of
    its type. Returned too: the slot of each column. Missing values do not count.
    """
    from pyspark.sql import functions as f

    native = frame.to_native()
    kinds = [native.schema[column].dataType for column in columns]
    texts = [kind.simpleString() for kind in kinds]
    distinct = list(dict.fromkeys(texts))
    slots = [distinct.index(text) for text in texts]
    types = [kinds[texts.index(text)] for text in distinct]
    pairs = []
    for k, column in enumerate(columns):
        fields = [
            (f.col(column) if slots[k] == slot else f.lit(None).cast(kind)).alias(f"v{slot}")
            for slot, kind in enumerate(types)
        ]
        pairs.append(f.struct(f.lit(k).alias("k"), *fields))
    long = native.select(f.explode(f.array(*pairs)).alias("pair")).select("pair.*")
    values = [f.col(f"v{slot}") for slot in range(len(types))]
    any_present = values[0].isNotNull()
    for value in values[1:]:
        any_present = any_present | value.isNotNull()
    return long.filter(any_present).groupBy("k", *values).agg(f.count(f.lit(1)).alias("n")), slots


def _picked(table: pa.Table, k: int, value: str, probabilities: Sequence[float]) -> pa.Array:
    """The value that each probability of column k falls on."""
    row_indices = [i for i, key in enumerate(table["k"].to_pylist()) if key == k]
    row_indices.sort(key=table["upto"].to_pylist().__getitem__)
    upto = [table["upto"][i].as_py() for i in row_indices]
    total = table["total"][row_indices[0]].as_py() if row_indices else 0
    picks = [
        next(i for i, end in zip(row_indices, upto, strict=True) if end >= max(1, math.ceil(p * total)))
        for p in (probabilities if row_indices else ())
    ]
    return table[value].combine_chunks().take(pa.array(picks, pa.int64()))


@contextmanager
def _capitals_matter(session: Any, names: Sequence[str]) -> Iterator[None]:
    """Allow columns that differ only in capitals; the session's setting is restored."""
    if len({name.lower() for name in names}) == len(names):
        yield
        return
    setting = "spark.sql.caseSensitive"
    before = session.conf.get(setting)
    session.conf.set(setting, "true")
    try:
        yield
    finally:
        session.conf.set(setting, before)


_PERMISSIONS = "Check the permissions."


@contextmanager
def _replacing_remote(session: Any, uri: str, overwrite: bool = False) -> Iterator[str]:
    """A folder next to `uri` to write to, renamed to it when the block ends without an error.

    Executors write part files into the folder; one rename by the driver makes it the release. On
    HDFS and on disks that is atomic. An object store copies on renaming, and a reader may then see
    a part of the files: readers should wait for the statement, which is written last.
    """
    store, path = _store(session, uri)
    partial = path(f".{uri.rstrip('/').rsplit('/', 1)[-1][:100]}.{secrets.token_hex(4)}.partial")
    target, old = path(""), path(f".{secrets.token_hex(8)}.old")
    try:
        if not store.exists(target.getParent()):
            raise OutputError("The folder to write to does not exist.", code="no-folder")
        if store.exists(target) and not overwrite:
            raise OutputError("The output exists already.", code="exists", hint="Set {overwrite=True}.")
        yield str(partial.toString())
        exists = store.exists(target)
        if exists and not store.rename(target, old):
            raise OutputError("The existing output could not be replaced.", hint=_PERMISSIONS)
        if not store.rename(partial, target):
            if exists:
                store.rename(old, target)
            raise OutputError("The release could not be put in its place.", hint=_PERMISSIONS)
        store.delete(old, True)
    finally:
        store.delete(partial, True)


def _store(session: Any, uri: str) -> tuple[Any, Any]:
    """The Hadoop file system of a URI, and a function from a sibling's name to its path."""
    from py4j.protocol import Py4JError

    try:
        java = session._jvm
        target = java.org.apache.hadoop.fs.Path(uri)
        store = target.getFileSystem(session._jsc.hadoopConfiguration())
    except (AttributeError, Py4JError):
        raise OutputError(
            "This Spark session has no file system of that kind; a Spark Connect session has none.",
            code="no-file-system",
            hint="Write to a path that this machine and the executors share.",
        ) from None

    def path(name: str) -> Any:
        return java.org.apache.hadoop.fs.Path(target.getParent(), name) if name else target

    return store, path
