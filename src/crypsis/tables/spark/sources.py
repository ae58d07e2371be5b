"""Sources that Spark opens itself: Parquet, ORC, JSON, CSV, tables of its catalogue, queries."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from crypsis.errors import MissingDependencyError, ParameterError, SourceError, unknown_columns
from crypsis.options import ReadOptions
from crypsis.tables.contents import list_contents, list_titles
from crypsis.tables.csv.dialect import delimiter_and_names
from crypsis.tables.csv.types import PATTERNS
from crypsis.tables.paths import expanded, format_by_name
from crypsis.tables.queries import one_query
from crypsis.tables.rows import Rows
from crypsis.tables.schema import Kind, columns_of, inner_names
from crypsis.tables.spark.backend import SparkBackend, inner_frame, translated
from crypsis.threads import thread_count, thread_limit

_TYPES = {"text": "string", "integer": "bigint", "number": "double", "date": "date", "time": "timestamp_ntz"}
_TYPED = ("parquet", "orc", "json")
"""Formats in which, as Spark reads them, only floating-point numbers have several notations."""
_HEAD_LINES = 200
"""The first lines of a file, which show how it is written."""
_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.log.level": "OFF",
}


def spark_rows(frame: Any, names: Sequence[str]) -> Rows:
    """A Spark frame as Rows under these names."""
    lazy = inner_frame(frame)
    return Rows(columns_of(lazy, names), lambda: lazy, SparkBackend())


def spark_session(master: str | None = None) -> Any:
    """The running session, else one at `master`: local[4], spark://, yarn, k8s:// or sc://.

    A running session is used as it is and never stopped.
    """
    try:
        from pyspark import SparkContext
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession
    except ImportError:
        raise MissingDependencyError(
            "Spark needs PySpark and Java.", hint="pip install 'crypsis[spark]'"
        ) from None
    context = SparkContext._active_spark_context
    active = SparkSession.getActiveSession()
    if active is None and context is not None:  # started in another thread
        active = SparkSession.builder.getOrCreate()
    if active is not None:
        if master is not None and context is not None and context.master != master:
            raise ParameterError(
                f"A Spark session on {context.master!r} is running in this process.",
                parameter="master",
                hint="Remove {master}, or stop that session first.",
            )
        return active
    builder = SparkSession.builder.appName("crypsis")
    if master is not None and master.startswith("sc://"):
        builder = builder.remote(master)
    else:
        for name, value in _SETTINGS.items():
            builder = builder.config(name, value)
        if master is not None:
            builder = _bounded(builder, master)
    try:
        session = builder.getOrCreate()
    except (PySparkException, OSError, RuntimeError) as error:
        if master is None and "MASTER" in str(error).upper():
            raise ParameterError(
                "The Spark master is not set.",
                code="no-master",
                parameter="master",
                hint="Set {master} to local[4], spark://host:7077, yarn, k8s://... or sc://host.",
            ) from None
        raise SourceError(
            f"No Spark session could be started at {master!r} ({type(error).__name__}).",
            code="no-session",
            hint="Check that Java is installed and that the master can be reached.",
        ) from None
    return session


def _bounded(builder: Any, master: str) -> Any:
    """A builder at the master, with as many cores as CRYPSIS_THREADS allows."""
    limit = thread_limit()
    if limit is None:
        return builder.master(master)
    local = re.fullmatch(r"local(?:\[(\*|\d+)\])?", master)
    if local is None:
        return builder.config("spark.cores.max", str(limit)).master(master)
    cores = thread_count() if local[1] == "*" else min(limit, int(local[1] or 1))
    return builder.master(f"local[{cores}]")


def open_spark(
    source: str | Path, reading: ReadOptions, *, master: str | None = None, written: Sequence[str] = ()
) -> Rows:
    """Open a source on Spark; a path must mean the same on this machine and on the executors.

    The columns `written` are as the file has them: see `Rows.written`.
    """
    rows = _opened(source, reading, master, written)
    form = reading.format or format_by_name(str(source)) or "parquet"
    if reading.table is None and reading.query is None:
        rows.written = lambda names: open_spark(source, reading, master=master, written=names)
        if form in _TYPED and not reading.missing_markers:
            rows.notations = [column.name for column in rows.columns if column.kind is Kind.NUMBER]
        path = expanded(str(source))
        if path.exists():
            files = sorted(map(str, path.rglob(f"*.{form}"))) if path.is_dir() else [str(path)]
            rows.contents = partial(list_contents, form, files, str(path), reading)
            rows.titles = partial(list_titles, form, files, str(path), reading)
    return rows


def _opened(source: str | Path, reading: ReadOptions, master: str | None, written: Sequence[str]) -> Rows:
    session = spark_session(master)
    text = str(source)
    form = reading.format or format_by_name(text) or "parquet"
    with translated(repr(text.rstrip("/").rsplit("/", 1)[-1])):
        if reading.table is not None or reading.query is not None:
            reading.check_supported("a table of Spark", ("table", "query"))
            table = reading.table
            frame = session.table(table) if table else session.sql(one_query(reading.query or ""))
        elif form in ("parquet", "orc", "json"):
            reading.check_supported(form, ())
            frame = session.read.format(form).load(_place(text))
        elif form == "csv":
            return _csv(session, _place(text), reading, written)
        else:
            raise ParameterError(
                f"Spark does not read {form}.",
                parameter="format",
                hint="Convert it to Parquet, or remove {engine}.",
            )
        return spark_rows(_marked(frame, reading, written), list(frame.columns))


def _marked(frame: Any, reading: ReadOptions, written: Sequence[str]) -> Any:
    """Missing-value markers as missing values, except in the columns as they are written."""
    from pyspark.sql import functions as f

    markers = list(reading.missing_markers or ())
    if not (markers or written):
        return frame
    parts = []
    for field in frame.schema.fields:
        column = f.col("`" + field.name.replace("`", "``") + "`")
        kind = field.dataType.typeName()
        if field.name in written and kind in ("float", "double"):  # NaN, minus zero
            column = column.cast("string").alias(field.name)
        elif kind == "string" and markers and field.name not in written:
            column = f.when(~f.trim(column).isin(markers), column).alias(field.name)
        parts.append(column)
    return frame.select(*parts)


def _csv(session: Any, address: str, reading: ReadOptions, written: Sequence[str]) -> Rows:
    """A CSV file: all text first, then types that fit every line."""
    from pyspark.sql import functions as f

    reading.check_supported("a CSV file", ("names", "header", "delimiter", "encoding", "types"))
    lines = [row[0] for row in session.read.text(address).limit(_HEAD_LINES).collect()]
    if not any(line.strip() for line in lines):
        raise SourceError("The file is empty.")
    head = "\n".join(lines).removeprefix("\ufeff")
    delimiter, names = delimiter_and_names(head, reading, address)
    inner = inner_names(len(names))
    markers = reading.markers
    fields = session.read.csv(
        address,
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
            f.when(f.col(name) != "", f.col(name)).alias(name)
            if public in written
            else f.when(~f.trim(f.col(name)).isin(list(markers) or ["\x01"]), f.trim(f.col(name))).alias(name)
            for name, public in zip(inner, names, strict=True)
        )
    )
    types = {**reading.types, **dict.fromkeys(written, "text")}
    kinds = _kinds(trimmed, names, replace(reading, types=types))
    typed = [f.col(name).cast(_TYPES[kind]).alias(name) for name, kind in zip(inner, kinds, strict=True)]
    return spark_rows(trimmed.select(*typed), names)


def _kinds(texts: Any, names: Sequence[str], reading: ReadOptions) -> list[str]:
    """The type of each column: the requested one, or the narrowest that fits every line."""
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
    counted = texts.agg(*tests).collect()[0]
    if counted["rows"] == 0:
        raise SourceError("The file has a header and no rows.")
    settled = []
    for i, name in enumerate(names):
        if name in reading.types:
            settled.append(reading.types[name])
            continue
        present = counted[f"n{i}"]
        fit = [kind for kind in kinds if present and counted[f"{kind}{i}"] == present]
        settled.append(fit[0] if fit else "text")
    return settled


def _place(text: str) -> str:
    """A local path as a URI, because Spark's default file system may be another one."""
    if "://" in text or text.startswith("dbfs:/"):
        return text
    path = expanded(text)
    absolute = os.path.abspath(path)  # noqa: PTH100 - keeps the signs of a glob
    if path.exists():  # that one file or folder, whatever signs its name has
        return "file://" + re.sub(r"[*?\[\]{}\\]", lambda sign: f"\\{sign[0]}", absolute)
    if not any(sign in text for sign in "*?[{"):
        raise SourceError(f"File {text!r} does not exist.", code="no-file")
    return f"file://{absolute}"
