"""Sources that Spark opens itself: Parquet, ORC, JSON, CSV, tables of its catalogue, queries."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw

from crypsis.engine import layout
from crypsis.engine.base import columns_of
from crypsis.engine.duck import inner_names
from crypsis.engine.frames import Rows
from crypsis.engine.kinds import PATTERNS
from crypsis.engine.reading import MISSING_MARKERS, Reading
from crypsis.engine.spark import SparkBackend, translated
from crypsis.errors import MissingPart, ParameterError, SourceError, unknown_columns

_TYPES = {
    "text": "string",
    "integer": "bigint",
    "number": "double",
    "date": "date",
    "time": "timestamp_ntz",
}
_HEAD_LINES = 200
_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.log.level": "OFF",
}


def spark_rows(frame: Any, names: Sequence[str]) -> Rows:
    """A Spark frame as Rows under these names; columns without a type are text."""
    inner = frame.toDF(*inner_names(len(names)))
    for field in inner.schema.fields:
        if field.dataType.typeName() == "void":
            inner = inner.withColumn(field.name, inner[field.name].cast("string"))
    lazy: nw.LazyFrame[Any] = nw.from_native(inner)
    return Rows(columns_of(lazy, names), lambda: lazy, SparkBackend())


def spark_session(master: str | None = None) -> Any:
    """The session that is there, else one at `master`: local[4], spark://, yarn, k8s:// or sc://.

    A session that is there is used as it is and never stopped.
    """
    try:
        from pyspark import SparkContext
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession
    except ImportError:
        raise MissingPart("Spark needs: pip install 'crypsis[spark]', and Java.") from None
    context = SparkContext._active_spark_context
    active = SparkSession.getActiveSession()
    if active is None and context is not None:  # started in another thread
        active = SparkSession.builder.getOrCreate()
    if active is not None:
        if master is not None and context is not None and context.master != master:
            raise ParameterError(
                f"A Spark session on {context.master!r} is running in this process; leave out "
                "master, or stop that session first."
            )
        return active
    builder = SparkSession.builder.appName("crypsis")
    if master is not None and master.startswith("sc://"):
        builder = builder.remote(master)
    else:
        for name, value in _SETTINGS.items():
            builder = builder.config(name, value)
        builder = builder if master is None else builder.master(master)
    try:
        session = builder.getOrCreate()
    except (PySparkException, OSError, RuntimeError) as error:
        if master is None and "MASTER" in str(error).upper():
            raise ParameterError(
                "Say where Spark runs: --master local[4], spark://host:7077, yarn, k8s://... or "
                "sc://host (master=... in Python)."
            ) from None
        raise SourceError(
            f"No Spark session could be started at {master!r} ({type(error).__name__}). Check that "
            "Java is installed and that the master can be reached."
        ) from None
    return session


def open_spark(source: str | Path, reading: Reading, *, master: str | None = None) -> Rows:
    """Open a source on Spark; a path must mean the same on this machine and on the executors."""
    session = spark_session(master)
    text = str(source)
    form = reading.format or _format(text)
    with translated(repr(text.rstrip("/").rsplit("/", 1)[-1])):
        if reading.table is not None or reading.query is not None:
            reading.only("a table of Spark", ("table", "query"))
            asked = reading.table
            frame = session.table(asked) if asked else session.sql(reading.query)
        elif form in ("parquet", "orc", "json"):
            reading.only(form, ())
            frame = session.read.format(form).load(_place(text))
        elif form == "csv":
            return _csv(session, _place(text), reading)
        else:
            raise ParameterError(
                f"Spark does not read {form}; convert it to Parquet, or leave out engine='spark' "
                "(--engine)."
            )
        return spark_rows(_marked(frame, reading), list(frame.columns))


def _marked(frame: Any, reading: Reading) -> Any:
    """Texts that mean missing as missing."""
    from pyspark.sql import functions as f

    markers = list(reading.missing_markers or ())
    if not markers:
        return frame
    parts = []
    for field in frame.schema.fields:
        column = f.col("`" + field.name.replace("`", "``") + "`")
        if field.dataType.typeName() == "string":
            column = f.when(~f.trim(column).isin(markers), column).alias(field.name)
        parts.append(column)
    return frame.select(*parts)


def _csv(session: Any, place: str, reading: Reading) -> Rows:
    """A CSV file by the rules of `delimited`: all text first, then types that fit every line."""
    from pyspark.sql import functions as f

    reading.only("a CSV file", ("names", "header", "delimiter", "encoding", "types"))
    lines = [row[0] for row in session.read.text(place).limit(_HEAD_LINES).collect()]
    if not any(line.strip() for line in lines):
        raise SourceError("The file is empty.")
    head = "\n".join(lines).removeprefix("\ufeff")
    delimiter, names = layout.by_head(head, reading, place)
    inner = inner_names(len(names))
    markers = MISSING_MARKERS if reading.missing_markers is None else reading.missing_markers
    fields = session.read.csv(
        place,
        schema=", ".join(f"{name} string" for name in inner),
        header=reading.names is None,
        enforceSchema=True,
        sep=delimiter,
        encoding=reading.encoding or "UTF-8",
        quote='"',
        escape='"',
        mode="FAILFAST",
        nullValue="\x01",
        emptyValue="",
    )
    trimmed = fields.select(
        *(
            f.when(~f.trim(f.col(name)).isin(list(markers) or ["\x01"]), f.trim(f.col(name))).alias(
                name
            )
            for name in inner
        )
    )
    kinds = _kinds(trimmed, names, reading)
    typed = [
        f.col(name).cast(_TYPES[kind]).alias(name) for name, kind in zip(inner, kinds, strict=True)
    ]
    return spark_rows(trimmed.select(*typed), names)


def _kinds(texts: Any, names: Sequence[str], reading: Reading) -> list[str]:
    """The type of each column: what was asked for, or the narrowest that fits every line."""
    from pyspark.sql import functions as f

    for name in reading.types:
        if name not in names:
            raise unknown_columns([name], names)
    tests, kinds = [f.count(f.lit(1)).alias("rows")], list(PATTERNS)
    for i, name in enumerate(names):
        if name in reading.types:
            continue
        column = f.col(f"c{i}")
        tests.append(f.count(column).alias(f"n{i}"))
        for kind in kinds:
            fits = column.rlike(f"^(?:{PATTERNS[kind]})$")
            if kind != "integer":
                fits = fits & column.try_cast(_TYPES[kind]).isNotNull()
            tests.append(f.count(f.when(fits, f.lit(1))).alias(f"{kind}{i}"))
    found = texts.agg(*tests).collect()[0]
    if found["rows"] == 0:
        raise SourceError("The file has a header and no rows.")
    settled = []
    for i, name in enumerate(names):
        if name in reading.types:
            settled.append(reading.types[name])
            continue
        there = found[f"n{i}"]
        fit = [kind for kind in kinds if there and found[f"{kind}{i}"] == there]
        settled.append(fit[0] if fit else "text")
    return settled


def _format(text: str) -> str:
    name = text.lower().rstrip("/").removesuffix(".gz").removesuffix(".zst")
    for form, suffixes in {
        "csv": (".csv", ".tsv", ".txt", ".data"),
        "json": (".json", ".jsonl", ".ndjson"),
        "orc": (".orc",),
    }.items():
        if name.endswith(suffixes):
            return form
    return "parquet"


def _place(text: str) -> str:
    """A local path as a URI, so that Spark does not look for it in its default file system."""
    if "://" in text or text.startswith("dbfs:/"):
        return text
    path = Path(text).expanduser()
    if not path.exists() and not any(sign in text for sign in "*?[{"):
        raise SourceError(f"There is no file {text!r}.")
    return "file://" + os.path.abspath(path)  # noqa: PTH100 - keeps the signs of a glob
