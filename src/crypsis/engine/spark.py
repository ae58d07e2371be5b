"""Apache Spark: the engine for rows on a cluster. The user's session is used and never stopped."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw
import pyarrow as pa

from crypsis import progress
from crypsis.engine.arrow_files import batches_of
from crypsis.errors import OutputError, SourceError


@contextmanager
def translated(what: str) -> Iterator[None]:
    """Turn Spark's errors into ours; Spark's own text may quote data, so it is not passed on."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError) as error:
        raise SourceError(
            f"{what}: Spark refused ({type(error).__name__}); its own log says why."
        ) from None


class SparkBackend:
    """The thin part for Spark."""

    name = "spark"

    def batches(self, frame: nw.LazyFrame[Any], what: str) -> Iterator[pa.RecordBatch]:
        """Carry out `frame` and bring its rows to the driver as Arrow."""
        with translated(what), progress.step(what):
            table = frame.to_native().toArrow()
        yield from batches_of(table)

    def with_hash(
        self, frame: nw.LazyFrame[Any], key: str | None, seed: int, name: str
    ) -> nw.LazyFrame[Any]:
        """By MD5 with a key; without one by Spark's hash of the row's place in its partition."""
        from pyspark.sql import functions as f

        if key is None:
            place = f.monotonically_increasing_id()
            value = f.shiftrightunsigned(f.xxhash64(place, f.lit(seed)), 4)
        else:
            digest = f.md5(f.concat(f.lit(f"{seed}:"), f.col(key).cast("string")))
            value = f.conv(f.substring(digest, 1, 15), 16, 10).cast("long")
        hashed: nw.LazyFrame[Any] = nw.from_native(frame.to_native().withColumn(name, value))
        return hashed

    def quantiles(
        self, frame: nw.LazyFrame[Any], columns: Sequence[str], probabilities: Sequence[float]
    ) -> dict[str, pa.Array]:
        """From the cumulated counts of the distinct values: Spark's own take numbers only."""
        found = {}
        for column in columns:
            counts = frame.select(column).drop_nulls().group_by(column).agg(nw.len().alias("n"))
            steps = counts.with_columns(nw.col("n").cum_sum().over(order_by=column).alias("upto"))
            total_table = next(self.batches(counts.select(nw.col("n").sum()), "quantiles"))
            total = int(total_table.column(0)[0].as_py() or 0)
            picks = [
                nw.when(nw.col("upto") >= max(1, math.ceil(share * total)))
                .then(nw.col(column))
                .min()
                .alias(f"q{i}")
                for i, share in enumerate(probabilities)
            ]
            row = next(self.batches(steps.select(*picks), "quantiles"))
            values = pa.concat_arrays([row.column(i) for i in range(len(picks))])
            found[column] = values if total else values[:0]
        return found

    def named(self, frame: nw.LazyFrame[Any], names: Sequence[str]) -> Any:
        """A Spark frame with the public names."""
        return frame.to_native().toDF(*names)

    def write(self, frame: nw.LazyFrame[Any], names: Sequence[str], path: Path, form: str) -> None:
        """Write a folder of part files from the executors."""
        rows = self.named(frame, names)
        try:
            with translated(f"writing {path.name}"), _capitals_matter(rows.sparkSession, names):
                target = path.absolute().as_uri()
                if form == "parquet":
                    rows.write.parquet(target)
                else:
                    rows.write.csv(target, header=True, quote='"', escape='"')
        except SourceError as error:
            raise OutputError(str(error)) from None


@contextmanager
def _capitals_matter(session: Any, names: Sequence[str]) -> Iterator[None]:
    """Let columns that differ only in capitals be written; the session's setting comes back."""
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
